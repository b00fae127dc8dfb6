"""Quick ways to read `a * b`: for each operator two functions, made when it is first used.

They are for one and for two operands that need no conversion; everything else takes the way that
`recorder` shows. Both end in the same lines, which fill a node; a function of their own would cost
as much as they do.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Any

import numpy as np

from minigrad import ops
from minigrad.backprop.rules import Pullback
from minigrad.core import (
    READERS,
    STOPS,
    Array,
    Attrs,
    Op,
    apply,
    context,
    events,
    float32,
    float64,
    next_order,
    silence,
)
from minigrad.diagnostics.errors import GraphError
from minigrad.diagnostics.source import INSIDE, caller
from minigrad.dynamic.changes import share
from minigrad.dynamic.quick.descent import descend
from minigrad.dynamic.quick.ready import MIXED, Ready, kernel_of, prepared
from minigrad.dynamic.recorder import NONE, TapeReader, as_view, looks_at
from minigrad.dynamic.tape import TapeNode
from minigrad.ops.methods import Value

LEFT, RIGHT, BOTH = (0,), (1,), (0, 1)
NUMBERS = frozenset({float, int})  # these take the data type of the tensor beside them
FLOATS = frozenset({float32, float64})
FAILURES = (GraphError, *STOPS)
Way = Callable[..., Any]
# Methods of `Value` that go straight to the function made for their operator.
PAIRS = {"truediv": ops.div} | {x: getattr(ops, x) for x in ("add", "sub", "mul", "pow", "matmul")}
PLAIN = ("abs", "exp", "log", "sqrt", "sin", "cos", "tanh", "sigmoid", "relu")
SINGLES = {"__neg__": ops.neg, "__abs__": ops.abs} | {x: getattr(ops, x) for x in PLAIN}

ndarray, array, new = np.ndarray, np.array, object.__new__
getframe, listeners = sys._getframe, events.listeners


class QuickReader(TapeReader):
    """Reads operators on tensors of the class that it is made for, and whose methods it replaces.

    Nothing is run before it is known that nobody listens and that the tape is on: whoever wants to
    read tensors in another way finds all operands in `general`.
    """

    sweep = staticmethod(descend)

    def __init__(self, tensor: type[Any]) -> None:
        super().__init__(tensor)
        self.general = super().apply
        for name, op in PAIRS.items():
            self._install(f"__{name}__", self.pair(op))
            self._install(f"__r{name}__", self.reversed_pair(op))
        for name, op in SINGLES.items():
            self._install(name, self.single(op))
        transposed = self._single(ops.transpose, attrgetter("T"))
        tensor.T = property(transposed, doc=Value.T.__doc__)

    def _install(self, name: str, method: Any) -> None:
        general = getattr(Value, name)
        if not name.startswith("__"):
            method.__name__, method.__doc__ = name, general.__doc__
            plain = inspect.signature(general).replace(return_annotation=inspect.Signature.empty)
            method.__signature__ = plain  # "Self" is unknown where the method is made
        setattr(self.tensor, name, method)

    def apply(self, op: Op, operands: Sequence[Any], attrs: Attrs) -> Any:
        count = len(operands)
        if count == 1:
            return self.single(op)(operands[0], attrs)
        if count == 2:
            return self.pair(op)(operands[0], operands[1], attrs)
        return self.general(op, operands, attrs)

    def single(self, op: Op) -> Way:
        """The function for one operand."""
        return op.quick.get((self.tensor,)) or self._single(op)

    def pair(self, op: Op) -> Way:
        """The function for two operands, of which one may be a Python number."""
        return op.quick.get((self.tensor, self.tensor)) or self._pair(op)

    def reversed_pair(self, op: Op) -> Way:
        """The same with the operands exchanged: behind `__radd__` and the like."""
        pair = self.pair(op)
        return lambda self, other: pair(other, self)

    def pullback(
        self, op: Op, mask: tuple[bool, ...], y: Array, arrays: Sequence[Array], attrs: Attrs
    ) -> Ready:
        return prepared(op, mask, y, arrays, attrs, kind_of(arrays))

    def record(
        self,
        kept: Pullback,
        attrs: Attrs,
        tensors: Sequence[Any],
        arrays: Sequence[Array],
        mask: Sequence[bool],
        y: Array,
    ) -> TapeNode:
        if isinstance(kept, Ready) and kept.stretched is not None:
            which = [i for i, a in enumerate(arrays) if a.shape != y.shape]
            kept = kept.stretched[tuple(which)] if which else kept
        return super().record(kept, attrs, tensors, arrays, mask, y)

    def _single(self, op: Op, kernel: Callable[..., Array] | None = None) -> Way:
        tensor, general, around = self.tensor, self.general, self.tensor._around
        may_view, own = not op.elementwise, kernel is not None
        kernel = kernel or kernel_of(op)
        plain: Any = None  # the pullbacks met last: without attributes, and with
        special: Any = None
        user = None  # the code that called last, known to be the user's

        def bare(x: Any, attrs: Attrs) -> Any:
            a = x._array
            if type(x) is not tensor or a.dtype not in FLOATS:
                return general(op, (x,), attrs)
            try:
                y = silence().run(kernel, a, **attrs)
            except FAILURES:
                return general(op, (x,), attrs)
            return as_view(around(y), (x,)) if may_view else around(y)

        def way(x: Any, attrs: Attrs = NONE) -> Any:
            nonlocal plain, special, user
            now = context.now
            if listeners or not now.quick or not x.requires_grad:
                if now.taker is not None:
                    return now.taker.apply(op, (x,), attrs)
                if listeners:
                    return general(op, (x,), attrs)
                return bare(x, attrs)
            a = x._array
            kind: Any = type(a)
            if kind is ndarray:
                kind = a.dtype
            try:
                if attrs:
                    y = silence().run(kernel, a, **attrs)
                    kept = special
                else:
                    y = silence().run(kernel, a)
                    kept = plain
            except FAILURES:
                return general(op, (x,), attrs)  # which says what is wrong
            if (
                kept is None
                or kept.kind is not kind
                or (kept.ranks and kept.ranks != (a.ndim,))
                or (attrs and kept.attrs and kept.attrs != attrs)
            ):
                kept = prepared(op, (True,), y, (a,), attrs, kind)
                if attrs:
                    special = kept
                else:
                    plain = kept
            if not kept.wanted:
                return as_view(around(y), (x,))
            node = TapeNode()
            node._source = x.creator or x
            keeps_y, keeps_a = kept.keeps
            node._result = y if keeps_y else None
            node._operand = a if keeps_a else None
            node._kept = kept
            node._attrs = attrs
            node._shape = y.shape
            node._dtype = y.dtype if attrs else kept.dtype
            node._order = next_order()
            node._scope = now.scope
            frame = getframe(1)
            code = frame.f_code
            if code is user or not INSIDE[code.co_filename]:
                node._code = user = code
                node._lasti = frame.f_lasti
            else:
                node._code, node._lasti = now.place or caller(frame)
            result = new(tensor)
            result._array = y
            result.creator = node
            result.requires_grad = True
            result._grad = result.name = None
            if may_view and looks_at(y, a):
                share(result, x)
            return result

        if not _takes_floats_as_they_are(op, 1):
            way = _general_way(general, op, 1)
        if not own:
            op.quick[tensor,] = way
        return way

    def _pair(self, op: Op) -> Way:
        tensor, general, around = self.tensor, self.general, self.tensor._around
        kernel, may_view = kernel_of(op), not op.elementwise
        kernels = _Kernels(op)
        takes_numbers = op.symbol is not None  # on scalars
        converts = op.inputs is not None  # operands to one data type
        kept_both: Any = None  # the pullbacks met last, by which operands want a gradient
        kept_left: Any = None
        kept_right: Any = None
        user = None  # the code that called last, known to be the user's

        def bare(x: Any, z: Any, attrs: Attrs) -> Any:
            a: Any = None
            b: Any = None
            if type(x) is tensor:
                a = x._array
                b = z._array if type(z) is tensor else _beside(a, z)
            elif type(z) is tensor:
                b = z._array
                a = _beside(b, x)
            if a is None or b is None or a.dtype is not b.dtype or a.dtype not in FLOATS:
                return _read(general, op, (x, z), attrs)
            try:
                y = silence().run(kernels[a.ndim, b.ndim] if not attrs else kernel, a, b, **attrs)
            except FAILURES:
                return general(op, (x, z), attrs)  # which says what is wrong
            return as_view(around(y), (x, z)) if may_view and y.base is not None else around(y)

        def way(x: Any, z: Any, attrs: Attrs = NONE) -> Any:
            nonlocal kept_both, kept_left, kept_right, user
            now = context.now
            if listeners or not now.quick:
                if now.taker is not None:
                    return now.taker.apply(op, (x, z), attrs)
                if listeners:
                    return _read(general, op, (x, z), attrs)
                return bare(x, z, attrs)
            kind: Any
            x_kind, z_kind = type(x), type(z)
            if x_kind is z_kind:
                if x_kind is not tensor:
                    return _read(general, op, (x, z), attrs)
                a, b = x._array, z._array
                kind = type(a)
                if kind is ndarray or kind is not type(b):
                    kind = a.dtype
                    if kind is not b.dtype:
                        if converts:
                            return general(op, (x, z), attrs)
                        kind = MIXED[kind, b.dtype]
                x_wants, z_wants = x.requires_grad, z.requires_grad
                if x_wants:
                    kept = kept_both if z_wants else kept_left
                elif z_wants:
                    kept = kept_right
                else:
                    return bare(x, z, attrs)
            elif z_kind in NUMBERS and x_kind is tensor and x.requires_grad:
                a, x_wants, z_wants, kept = x._array, True, False, kept_left
                kind = type(a)
                try:
                    if kind is ndarray:
                        b = array(z, kind := a.dtype)  # an array without axes is quickest
                    else:
                        b = z if takes_numbers else kind(z)
                except OverflowError:
                    return general(op, (x, z), attrs)
            elif x_kind in NUMBERS and z_kind is tensor and z.requires_grad:
                b, x_wants, z_wants, kept = z._array, False, True, kept_right
                kind = type(b)
                try:
                    if kind is ndarray:
                        a = array(x, kind := b.dtype)
                    else:
                        a = x if takes_numbers else kind(x)
                except OverflowError:
                    return general(op, (x, z), attrs)
            else:
                return bare(x, z, attrs)
            fits = (
                kept is not None
                and kept.kind is kind
                and not (kept.ranks and kept.ranks != (a.ndim, b.ndim))
                and (kept.attrs is attrs or kept.attrs is None or kept.attrs == attrs)
            )
            run = kept.kernel if fits else kernel
            try:
                y = silence().run(run, a, b, **attrs) if attrs else silence().run(run, a, b)
            except FAILURES:
                return general(op, (x, z), attrs)  # which says what is wrong
            if not fits:
                kept = prepared(op, (x_wants, z_wants), y, (a, b), attrs, kind)
                if not x_wants:
                    kept_right = kept
                elif z_wants:
                    kept_both = kept
                else:
                    kept_left = kept
            if not kept.wanted:
                return as_view(around(y), (x, z))
            shape = y.shape
            if shape and kept.stretched is not None:
                if shape != a.shape:
                    kept = kept.stretched[LEFT if shape == b.shape else BOTH]
                elif shape != b.shape:
                    kept = kept.stretched[RIGHT]
            node = TapeNode()
            if x_wants:
                node._source = x.creator or x
            elif x_kind is tensor:  # what `stub` gives
                node._source = (a.shape, a.dtype, x.name) if type(a) is ndarray else a
            else:
                node._source = x
            if z_wants:
                node._source2 = z.creator or z
            elif z_kind is tensor:
                node._source2 = (b.shape, b.dtype, z.name) if type(b) is ndarray else b
            else:
                node._source2 = z
            keeps_y, keeps_a, keeps_b = kept.keeps
            node._result = y if keeps_y else None
            node._operand = a if keeps_a else None
            node._operand2 = b if keeps_b else None
            node._kept = kept
            node._attrs = attrs
            node._shape = shape
            node._dtype = y.dtype if attrs else kept.dtype
            node._order = next_order()
            node._scope = now.scope
            frame = getframe(1)
            code = frame.f_code
            if code is user or not INSIDE[code.co_filename]:
                node._code = user = code
                node._lasti = frame.f_lasti
            else:
                node._code, node._lasti = now.place or caller(frame)
            result = new(tensor)
            result._array = y
            result.creator = node
            result.requires_grad = True
            result._grad = result.name = None
            return as_view(result, (x, z)) if may_view and y.base is not None else result

        if not _takes_floats_as_they_are(op, 2):
            way = _general_way(general, op, 2)
        op.quick[tensor, tensor] = way
        return way


def _takes_floats_as_they_are(op: Op, count: int) -> bool:
    """Whether operands of one floating type need no conversion."""
    return op.inputs is None or all(op.inputs(*[d] * count) == d for d in (float32, float64))


def _general_way(general: Way, op: Op, count: int) -> Way:
    """In the place of a quick way that there is not: attributes may come last."""

    def way(*operands: Any) -> Any:
        attrs = operands[count] if len(operands) > count else NONE
        return _read(general, op, operands[:count], attrs)

    return way


def _read(general: Way, op: Op, operands: tuple[Any, ...], attrs: Attrs) -> Any:
    """The general way, unless another operand has a reader of a higher level: a node does."""
    if all(READERS[type(x)].level <= TapeReader.level for x in operands):
        return general(op, operands, attrs)
    return apply(op, operands, attrs)


class _Kernels(dict[tuple[int, ...], Way]):
    """The quickest kernels of an operator, by the ranks of operands without attributes."""

    def __init__(self, op: Op) -> None:
        super().__init__()
        self._op = op

    def __missing__(self, ranks: tuple[int, ...]) -> Way:
        kernel = self[ranks] = kernel_of(self._op, ranks, NONE)
        return kernel


def _beside(a: Array, number: Any) -> Any:
    """A Python number in the type of the floats beside it; None for anything else."""
    if type(number) not in NUMBERS or a.dtype not in FLOATS:
        return None
    try:
        return array(number, a.dtype) if type(a) is ndarray else a.dtype.type(number)
    except OverflowError:
        return None


def kind_of(arrays: Sequence[Array]) -> Any:
    """The data type, or NumPy's scalar class, that all of these have in common; else None."""
    kind = type(arrays[0])
    if all(type(a) is kind for a in arrays) and kind is not ndarray:
        return kind if issubclass(kind, np.generic) else None
    dtype = getattr(arrays[0], "dtype", None)
    return dtype if all(getattr(a, "dtype", None) is dtype for a in arrays) else None

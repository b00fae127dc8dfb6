"""Fast paths for `a * b`: for each operator two functions, made when it is first used.

They are for one and for two operands that need no conversion; everything else goes through
`recorder`. Both end in the same lines, which fill a node: in a shared function they make
`x * x + 3` and its gradient 7 % slower, a chain of scalar operations 5 %.
"""

from __future__ import annotations

import functools
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
from minigrad.dynamic.fast_paths.inplace_sweep import sweep_in_place
from minigrad.dynamic.fast_paths.prepared_ops import (
    PreparedPullback,
    interned_pair,
    kernel_of,
    prepared,
)
from minigrad.dynamic.recorder import NONE, TapeReader, as_view, is_view_of
from minigrad.dynamic.tape import TapeNode
from minigrad.ops.methods import Value

LEFT, RIGHT, BOTH = (0,), (1,), (0, 1)
NUMBERS = frozenset({float, int})  # these take the data type of the tensor beside them
FLOATS = frozenset({float32, float64})
FAILURES = (GraphError, *STOPS)
Method = Callable[..., Any]
# Methods of `Value` that go straight to the function made for their operator.
PAIRS = {"truediv": ops.div} | {x: getattr(ops, x) for x in ("add", "sub", "mul", "pow", "matmul")}
PLAIN = ("abs", "exp", "log", "sqrt", "sin", "cos", "tanh", "sigmoid", "relu")
SINGLES = {"__neg__": ops.neg, "__abs__": ops.abs} | {x: getattr(ops, x) for x in PLAIN}

ndarray, array, new = np.ndarray, np.array, object.__new__
getframe, listeners = sys._getframe, events.listeners


class FastReader(TapeReader):
    """Reads operators on tensors of one class by a function for each operator.

    These functions run nothing before they know that there are no listeners, that no other reader
    is active and that the tape is on; otherwise they hand all operands to `general`.
    """

    sweep = staticmethod(sweep_in_place)

    def __init__(self, tensor: type[Any]) -> None:
        super().__init__(tensor)
        self.general = super().apply
        transposed = self._single(ops.transpose, attrgetter("T"))
        self.methods: dict[str, Any] = {"T": property(transposed, doc=Value.T.__doc__)}
        for name, op in PAIRS.items():
            self.methods[f"__{name}__"] = self.pair(op)
            self.methods[f"__r{name}__"] = _reversed(self.pair(op))
        for name, op in SINGLES.items():
            self.methods[name] = self.single(op)
            if not name.startswith("__"):
                functools.update_wrapper(self.methods[name], getattr(Value, name))

    def install(self) -> None:
        """Install the fast functions in place of the tensor's methods and `Op.__call__`."""
        for name, method in self.methods.items():
            setattr(self.tensor, name, method)
        Op.__call__ = _call  # type: ignore[method-assign, assignment]

    def remove(self) -> None:
        """Remove the fast functions, so that the tensor's own methods and `Op.__call__` apply."""
        for name in self.methods.keys() & vars(self.tensor).keys():
            delattr(self.tensor, name)
        Op.__call__ = PLAIN_CALL  # type: ignore[method-assign]

    def apply(self, op: Op, operands: Sequence[Any], attrs: Attrs) -> Any:
        count = len(operands)
        if count == 1:
            return self.single(op)(operands[0], attrs)
        if count == 2:
            return self.pair(op)(operands[0], operands[1], attrs)
        return self.general(op, operands, attrs)

    def single(self, op: Op) -> Method:
        """Return the function for one operand."""
        return op.memo.get((self.tensor,)) or self._single(op)

    def pair(self, op: Op) -> Method:
        """Return the function for two operands, of which one may be a Python number."""
        return op.memo.get((self.tensor, self.tensor)) or self._pair(op)

    def pullback(
        self, op: Op, mask: tuple[bool, ...], y: Array, arrays: Sequence[Array], attrs: Attrs
    ) -> PreparedPullback:
        return prepared(op, mask, y, arrays, attrs, kind_of(arrays))

    def record(
        self,
        pullback: Pullback,
        attrs: Attrs,
        tensors: Sequence[Any],
        arrays: Sequence[Array],
        mask: Sequence[bool],
        y: Array,
    ) -> TapeNode:
        if isinstance(pullback, PreparedPullback) and pullback.stretched is not None:
            which = [i for i, a in enumerate(arrays) if a.shape != y.shape]
            pullback = pullback.stretched[tuple(which)] if which else pullback
        return super().record(pullback, attrs, tensors, arrays, mask, y)

    def _single(self, op: Op, kernel: Callable[..., Array] | None = None) -> Method:
        tensor, general, around = self.tensor, self.general, self.tensor._around
        may_view, own = not op.elementwise, kernel is not None
        kernel = kernel or kernel_of(op)
        plain: Any = None  # the pullbacks met last: without attributes, and with
        special: Any = None
        user = None  # the code that called last, known to be the user's

        def unrecorded(x: Any, attrs: Attrs) -> Any:
            a = x._array
            if a.dtype not in FLOATS:
                return general(op, (x,), attrs)
            try:
                y = silence().run(kernel, a, **attrs)
            except FAILURES:
                return general(op, (x,), attrs)
            return as_view(around(y), (x,)) if may_view else around(y)

        def method(x: Any, attrs: Attrs = NONE) -> Any:
            nonlocal plain, special, user
            now = context.now
            if now.active_reader is not None or listeners or type(x) is not tensor:
                return _read(general, op, (x,), attrs)
            if not (now.recording and x.requires_grad):
                return unrecorded(x, attrs)
            a = x._array
            kind: Any = type(a)
            if kind is ndarray:
                kind = a.dtype
            try:
                if attrs:
                    y = silence().run(kernel, a, **attrs)
                    pullback = special
                else:
                    y = silence().run(kernel, a)
                    pullback = plain
            except FAILURES:
                return general(op, (x,), attrs)  # which says what is wrong
            if (
                pullback is None
                or pullback.kind is not kind
                or (pullback.ranks and pullback.ranks != (a.ndim,))
                or (attrs and pullback.attrs and pullback.attrs != attrs)
            ):
                pullback = prepared(op, (True,), y, (a,), attrs, kind)
                if attrs:
                    special = pullback
                else:
                    plain = pullback
            if not pullback.wrt:
                return as_view(around(y), (x,))
            node = TapeNode()
            node._source = x.creator or x
            keeps_y, keeps_a = pullback.keeps
            node._result = y if keeps_y else None
            node._operand = a if keeps_a else None
            node._pullback = pullback
            node._attrs = attrs
            node._shape = y.shape
            node._dtype = y.dtype if attrs else pullback.dtype
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
            if may_view and is_view_of(y, a):
                share(result, x)
            return result

        if not _takes_floats_as_they_are(op, 1):
            method = _general_method(general, op, 1)
        if not own:
            op.memo[tensor,] = method
        return method

    def _pair(self, op: Op) -> Method:
        tensor, general, around = self.tensor, self.general, self.tensor._around
        kernel, may_view = kernel_of(op), not op.elementwise
        kernels = functools.cache(lambda *ranks: kernel_of(op, ranks, NONE))
        takes_numbers = op.symbol is not None  # on scalars
        converts = op.inputs is not None  # operands to one data type
        both: Any = None  # the pullbacks met last, by which operands want a gradient
        left: Any = None
        right: Any = None
        user = None  # the code that called last, known to be the user's

        def unrecorded(x: Any, z: Any, attrs: Attrs) -> Any:
            a: Any = None
            b: Any = None
            if type(x) is tensor:
                a = x._array
                b = z._array if type(z) is tensor else _as_dtype_of(a, z)
            elif type(z) is tensor:
                b = z._array
                a = _as_dtype_of(b, x)
            if a is None or b is None or a.dtype is not b.dtype or a.dtype not in FLOATS:
                return _read(general, op, (x, z), attrs)
            try:
                y = silence().run(kernels(a.ndim, b.ndim) if not attrs else kernel, a, b, **attrs)
            except FAILURES:
                return general(op, (x, z), attrs)  # which says what is wrong
            return as_view(around(y), (x, z)) if may_view and y.base is not None else around(y)

        def method(x: Any, z: Any, attrs: Attrs = NONE) -> Any:
            nonlocal both, left, right, user
            now = context.now
            if now.active_reader is not None or listeners:
                return _read(general, op, (x, z), attrs)
            if not now.recording:
                return unrecorded(x, z, attrs)
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
                        kind = interned_pair(kind, b.dtype)
                x_wants, z_wants = x.requires_grad, z.requires_grad
                if x_wants:
                    pullback = both if z_wants else left
                elif z_wants:
                    pullback = right
                else:
                    return unrecorded(x, z, attrs)
            elif z_kind in NUMBERS and x_kind is tensor and x.requires_grad:
                a, x_wants, z_wants, pullback = x._array, True, False, left
                kind = type(a)
                try:
                    if kind is ndarray:
                        b = array(z, kind := a.dtype)  # an array without axes is quickest
                    else:
                        b = z if takes_numbers else kind(z)
                except OverflowError:
                    return general(op, (x, z), attrs)
            elif x_kind in NUMBERS and z_kind is tensor and z.requires_grad:
                b, x_wants, z_wants, pullback = z._array, False, True, right
                kind = type(b)
                try:
                    if kind is ndarray:
                        a = array(x, kind := b.dtype)
                    else:
                        a = x if takes_numbers else kind(x)
                except OverflowError:
                    return general(op, (x, z), attrs)
            else:
                return unrecorded(x, z, attrs)
            fits = (
                pullback is not None
                and pullback.kind is kind
                and not (pullback.ranks and pullback.ranks != (a.ndim, b.ndim))
                and (pullback.attrs is attrs or pullback.attrs is None or pullback.attrs == attrs)
            )
            run = pullback.kernel if fits else kernel
            try:
                y = silence().run(run, a, b, **attrs) if attrs else silence().run(run, a, b)
            except FAILURES:
                return general(op, (x, z), attrs)  # which says what is wrong
            if not fits:
                pullback = prepared(op, (x_wants, z_wants), y, (a, b), attrs, kind)
                if not x_wants:
                    right = pullback
                elif z_wants:
                    both = pullback
                else:
                    left = pullback
            if not pullback.wrt:
                return as_view(around(y), (x, z))
            shape = y.shape
            if shape and pullback.stretched is not None:
                if shape != a.shape:
                    pullback = pullback.stretched[LEFT if shape == b.shape else BOTH]
                elif shape != b.shape:
                    pullback = pullback.stretched[RIGHT]
            node = TapeNode()
            if x_wants:
                node._source = x.creator or x
            elif x_kind is tensor:  # what `operand_stub` gives
                node._source = (a.shape, a.dtype, x.name) if type(a) is ndarray else a
            else:
                node._source = x
            if z_wants:
                node._source2 = z.creator or z
            elif z_kind is tensor:
                node._source2 = (b.shape, b.dtype, z.name) if type(b) is ndarray else b
            else:
                node._source2 = z
            keeps_y, keeps_a, keeps_b = pullback.keeps
            node._result = y if keeps_y else None
            node._operand = a if keeps_a else None
            node._operand2 = b if keeps_b else None
            node._pullback = pullback
            node._attrs = attrs
            node._shape = shape
            node._dtype = y.dtype if attrs else pullback.dtype
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
            method = _general_method(general, op, 2)
        op.memo[tensor, tensor] = method
        return method


def _call(op: Op, *operands: Any, **attrs: Any) -> Any:
    """Call the function made for such operands; without one, do as `Op.__call__` does."""
    if len(operands) == 1:
        method = op.memo.get((type(operands[0]),))
        if method is not None:
            return method(operands[0], attrs) if attrs else method(operands[0])
    elif len(operands) == 2:
        x, z = operands
        method = op.memo.get((type(x), type(z)))
        if method is not None:
            return method(x, z, attrs) if attrs else method(x, z)
    return apply(op, operands, attrs)


PLAIN_CALL = Op.__call__


def _reversed(pair: Method) -> Method:
    """Return the function with the operands exchanged: for `__radd__` and the like."""
    return lambda x, other: pair(other, x)


def _takes_floats_as_they_are(op: Op, count: int) -> bool:
    """Return whether operands of one floating type need no conversion."""
    return op.inputs is None or all(op.inputs(*[d] * count) == d for d in (float32, float64))


def _general_method(general: Method, op: Op, count: int) -> Method:
    """Return a function for operands that need a conversion; attributes may come last."""

    def method(*operands: Any) -> Any:
        attrs = operands[count] if len(operands) > count else NONE
        return _read(general, op, operands[:count], attrs)

    return method


def _read(general: Method, op: Op, operands: tuple[Any, ...], attrs: Attrs) -> Any:
    """Apply the operator the general way, or by an operand's reader of a higher level."""
    if all(READERS[type(x)].level <= TapeReader.level for x in operands):
        return general(op, operands, attrs)
    return apply(op, operands, attrs)


def _as_dtype_of(a: Array, number: Any) -> Any:
    """Return a Python number in the float type of array a; None for anything else."""
    if type(number) not in NUMBERS or a.dtype not in FLOATS:
        return None
    try:
        return array(number, a.dtype) if type(a) is ndarray else a.dtype.type(number)
    except OverflowError:
        return None


def kind_of(arrays: Sequence[Array]) -> Any:
    """Return the data type, or NumPy's scalar class, that all have in common; else None."""
    kind = type(arrays[0])
    if all(type(a) is kind for a in arrays) and kind is not ndarray:
        return kind if issubclass(kind, np.generic) else None
    dtype = getattr(arrays[0], "dtype", None)
    return dtype if all(getattr(a, "dtype", None) is dtype for a in arrays) else None

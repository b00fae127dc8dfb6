"""A tensor whose operation was noted and has not run."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from minigrad import events, ops
from minigrad.core import READERS, REGISTRY, Attrs, Dtype, Op, apply, context
from minigrad.dynamic.quick.ways import NOTED, NOTED_PAIR
from minigrad.eager import Tensor
from minigrad.errors import GraphError
from minigrad.graph import Node
from minigrad.lazy.gathering import value_of
from minigrad.lazy.groups import WHOLE, Group
from minigrad.recorder import TapeReader
from minigrad.source import INSIDE, caller
from minigrad.tape import at_once, recording
from minigrad.values import Size, size_of

PARTS = ("data", "creator", "requires_grad", "grad", "name")  # what a tensor always has
NONE: Attrs = {}
getframe, listeners = sys._getframe, events.listeners


class Pending(Tensor):
    """A tensor of known shape and data type without values: the result of a noted operation.

    It is laid out like a tensor, so that it can turn into one (`settle`). Until then the memory of
    `data` and `creator` holds the group that it is noted in, and which member of it.
    """

    __slots__ = ()
    __init__ = object.__init__
    group: Any = Tensor.__dict__["data"]
    row: Any = Tensor.__dict__["creator"]

    @property
    def shape(self) -> tuple[int, ...]:
        shape: tuple[int, ...] = self.group.signature.shape
        return shape

    @property
    def dtype(self) -> Dtype:
        dtype: Dtype = self.group.signature.dtype
        return dtype

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> Size:
        return size_of(self.shape)

    def __len__(self) -> int:
        return self.shape[0] if self.shape else len(self.data)  # which says what is wrong

    def detach(self) -> Tensor:
        """The same values without their history; still noted."""
        return self._alone(ops.stop_gradient)


def settle(pending: Pending) -> None:
    """Turn it into an ordinary tensor; what it needs is run first."""
    group, row = pending.group, pending.row
    run_first(group)
    with at_once(), recording(group.signature.requires_grad):
        value = value_of(group, row)
    pending.__class__ = Tensor  # type: ignore[assignment]
    for name in PARTS:
        setattr(pending, name, getattr(value, name))
    if group.single and group.count > 1:  # one result serves several, each with its own memory
        pending.data = np.array(pending.data)[()]


def run_first(group: Group) -> None:
    """Have the group run, if it has not."""
    if not group.ran:
        if group.owner is None:
            raise GraphError("lazy_dropped", op=group.signature.op, defined=group.place)
        group.owner.run([group])


def _settling(name: str) -> property:
    """A part of a tensor that it has only when it is one."""

    def read(self: Pending) -> Any:
        settle(self)
        return getattr(self, name)

    def write(self: Pending, value: Any) -> None:
        settle(self)
        setattr(self, name, value)

    return property(read, write)


KNOWN: dict[str, Callable[[Pending], Any]] = {
    "requires_grad": lambda self: self.group.signature.requires_grad,
    "grad": lambda self: None,
    "name": lambda self: None,
}
for _name in PARTS:
    _part = _settling(_name)
    setattr(Pending, _name, _part.getter(KNOWN[_name]) if _name in KNOWN else _part)


# ---- Operators on it ------------------------------------------------------------------------


class PendingReader(TapeReader):
    """How operators read such a tensor: noted in turn, or as what it has become."""

    def apply(self, op: Op, operands: Sequence[Any], attrs: Attrs) -> Any:
        taker = context.taker
        if taker is not None:
            return taker.apply(op, tuple(operands), attrs)
        for x in operands:
            if type(x) is Pending:
                settle(x)
        return apply(op, tuple(operands), attrs)


Pending.reader = PendingReader(Tensor)


def seen(x: Tensor) -> Any:
    """What counts of a tensor at hand for the group of its reader.

    A matrix, and a leaf that requires a gradient, look like a parameter: the tensor itself counts.
    """
    data, wants = x.data, x.requires_grad
    shape = data.shape
    if (len(shape) > 1 and shape[0] > 1) or (wants and shape and x.creator is None):
        return x
    return shape, data.dtype, wants


def _single(op: Op, depth: int) -> Callable[[Pending], Any]:
    """What `note` does for one operand, without the detours.

    The same operator on another member of the same group goes to the same group again. Whoever
    asked is `depth` calls away.
    """

    def way(x: Pending, attrs: Attrs = NONE) -> Any:
        now = context.now
        lazy = now.taker
        if lazy is None or lazy.builds or listeners or attrs:
            return apply(op, (x,), attrs)
        if type(x) is Pending:
            left = source = x.group
            row = x.row
        else:
            left, source, row = seen(x), x, WHOLE
        frame = getframe(depth)
        known = (op, now.recording, left)
        group = lazy.known.get(known) or lazy.group_for(known, (source,), NONE)
        if group is None:
            return lazy.run_now(op, (x,), NONE)
        code, lasti = frame.f_code, frame.f_lasti
        if INSIDE[code.co_filename]:
            code, lasti = caller(frame)
        group.members += (source, row, code, lasti)
        result = Pending()
        result.group, result.row = group, group.count
        group.count += 1
        return result

    return way


def _pair(op: Op, depth: int) -> Callable[[Any, Any], Any]:
    """The same for two operands, one of which may be a tensor at hand, or a Python number."""

    def way(x: Any, z: Any, attrs: Attrs = NONE) -> Any:
        now = context.now
        lazy = now.taker
        if lazy is None or lazy.builds or listeners or attrs:
            return apply(op, (x, z), attrs)
        kind, x_row, z_row = type(x), WHOLE, WHOLE
        if kind is Pending:
            left = source = x.group
            x_row = x.row
        elif kind is Tensor:
            left, source = seen(x), x
        elif kind is float or kind is int:
            left, source = kind, x
        else:
            return _otherwise(op, (x, z), lazy)
        kind = type(z)
        if kind is Pending:
            right = other = z.group
            z_row = z.row
        elif kind is Tensor:
            right, other = seen(z), z
        elif kind is float or kind is int:
            right, other = kind, z
        else:
            return _otherwise(op, (x, z), lazy)
        frame = getframe(depth)
        known = (op, now.recording, left, right)
        group = lazy.known.get(known) or lazy.group_for(known, (source, other), NONE)
        if group is None:
            return lazy.run_now(op, (x, z), NONE)
        code, lasti = frame.f_code, frame.f_lasti
        if INSIDE[code.co_filename]:
            code, lasti = caller(frame)
        group.members += (source, x_row, other, z_row, code, lasti)
        result = Pending()
        result.group, result.row = group, group.count
        group.count += 1
        return result

    return way


def _otherwise(op: Op, operands: tuple[Any, ...], lazy: Any) -> Any:
    """Operands of other kinds: arrays are noted, too, and nodes of a graph read for themselves."""
    if all(READERS[type(x)].level <= Pending.reader.level for x in operands):
        return lazy.apply(op, operands, NONE)
    return apply(op, operands, NONE)


def _turned(pair: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    return lambda self, other: pair(other, self)


def _in_place(op: Op, name: str) -> Callable[[Pending, Any], Any]:
    """`x += y` and the like: x stands for the new result from here on.

    Whoever read x before has read the old one, as nothing noted shares memory.
    """
    pair = _pair(op, depth=2)

    def method(self: Pending, other: Any) -> Any:
        if isinstance(other, Node):
            return NotImplemented
        taker = context.now.taker
        if taker is not None and not taker.builds and type(self) is Pending:
            result = pair(self, other)
            same = result.shape == self.shape and result.dtype == self.dtype
            if same and type(result) is Pending:
                self.group, self.row = result.group, result.row
                return self
        settle(self)
        return getattr(self, name)(other)

    return method


for _op in REGISTRY.values():
    if not (_op.effect or _op.impure):
        _op.quick[Pending,] = _op.quick[NOTED] = _single(_op, depth=2)
        _op.quick[NOTED_PAIR] = _pair(_op, depth=2)
        for _kinds in ((Pending, Pending), (Pending, Tensor), (Tensor, Pending)):
            _op.quick[_kinds] = _op.quick[NOTED_PAIR]
for _name, _op in (
    ("add", ops.add),
    ("sub", ops.sub),
    ("mul", ops.mul),
    ("truediv", ops.div),
    ("pow", ops.pow),
    ("matmul", ops.matmul),
):
    setattr(Pending, f"__{_name}__", _pair(_op, depth=1))
    setattr(Pending, f"__r{_name}__", _turned(_pair(_op, depth=2)))
    for _method in (f"__i{_name}__", f"{_name.removeprefix('true')}_"):
        if hasattr(Tensor, _method):
            setattr(Pending, _method, _in_place(_op, _method))
for _name in ("abs", "exp", "log", "sqrt", "sin", "cos", "tanh", "sigmoid", "relu"):
    setattr(Pending, _name, _single(getattr(ops, _name), depth=1))
setattr(Pending, "__neg__", _single(ops.neg, depth=1))  # noqa: B010

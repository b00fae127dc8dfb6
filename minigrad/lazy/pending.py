"""A tensor whose operation was noted and has not run."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from minigrad import events, ops
from minigrad.core import Attrs, Dtype, Op, apply, context
from minigrad.eager import Tensor
from minigrad.errors import GraphError
from minigrad.lazy.gathering import value_of
from minigrad.lazy.groups import WHOLE, Group
from minigrad.source import INSIDE, caller
from minigrad.tape import at_once, recording

SLOTS = tuple(name for name in Tensor.__slots__ if name != "__weakref__")
NONE: Attrs = {}


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
    def size(self) -> int:
        return int(np.prod(self.shape, dtype=int))

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
    for name in SLOTS:
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
for _name in SLOTS:
    _slot = _settling(_name)
    setattr(Pending, _name, _slot.getter(KNOWN[_name]) if _name in KNOWN else _slot)


class PendingReader:
    """How operators read such a tensor: noted in turn, or as what it has become."""

    level = 1.5  # after plain tensors, before nodes of a graph

    def apply(self, op: Op, operands: tuple[Any, ...], attrs: Attrs) -> Any:
        lazy = context.lazy
        if lazy is not None:
            frame = sys._getframe(1)
            if len(operands) == 1 and not attrs:
                x = operands[0]
                group = lazy.known.get((op, context.grad, x.group))
                if group is not None and not events.listeners:
                    return lazy.enter(group, (x.group, x.row), frame)
            return lazy.note(op, operands, attrs, frame)
        for x in operands:
            if type(x) is Pending:
                settle(x)
        return apply(op, operands, attrs)


Pending.reader = PendingReader()


def _infix(op: Op) -> Callable[[Pending, Any], Any]:
    """The method behind an operator such as `*`: what `note` does, without the detours.

    The same operator on members of the same groups goes to the same group again.
    """

    def method(self: Pending, other: Any) -> Any:
        lazy = context.lazy
        if lazy is None or events.listeners:
            return apply(op, (self, other), NONE)
        left = self.group
        if type(other) is Pending:
            right, row = other.group, other.row
        elif type(other) is Tensor:
            right, row = other, WHOLE
        else:
            return apply(op, (self, other), NONE)
        group = lazy.known.get((op, context.grad, left, right))
        frame = sys._getframe(1)
        if group is None:
            return lazy.note(op, (self, other), NONE, frame)
        code, lasti = frame.f_code, frame.f_lasti
        if INSIDE[code.co_filename]:
            code, lasti = caller(frame)
        group.members += (left, self.row, right, row, code, lasti)
        result = Pending()
        result.group, result.row = group, group.count
        group.count += 1
        return result

    return method


for _name, _op in (
    ("__add__", ops.add),
    ("__sub__", ops.sub),
    ("__mul__", ops.mul),
    ("__truediv__", ops.div),
    ("__matmul__", ops.matmul),
):
    setattr(Pending, _name, _infix(_op))

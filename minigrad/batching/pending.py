"""Tensors whose operations were recorded and haven't run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from minigrad import ops
from minigrad.batching.gathering import value_of
from minigrad.batching.groups import Group
from minigrad.core import Dtype, Op, context
from minigrad.diagnostics.errors import GraphError
from minigrad.dynamic.recording import at_once, recording
from minigrad.dynamic.tensor import Tensor
from minigrad.ops.methods import Size, size_of
from minigrad.static import Node

PARTS = ("_array", "creator", "requires_grad", "grad", "name")  # what a tensor always has


class PendingTensor(Tensor):
    """A tensor of known shape and data type without values: a recorded operation's result.

    `compute_pending` makes it a `Tensor` by assigning `__class__`: users and the tape hold this
    very object, and the recorder's fast paths take no subclass. Python allows that only between
    equal layouts, so there is no slot to add: `_array` and `creator` hold the group and the member.
    """

    __slots__ = ()
    __init__ = object.__init__
    reader = Tensor.reader
    group: Any = Tensor.__dict__["_array"]
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
        return self.shape[0] if self.shape else len(self._array)  # which says what is wrong

    def detach(self) -> Tensor:
        """Return the same values without history, still pending."""
        return self._unary(ops.stop_gradient)


def compute_pending(pending: PendingTensor) -> None:
    """Turn a pending tensor into an ordinary one, after running what it depends on."""
    group, row = pending.group, pending.row
    run_first(group)
    with at_once(), recording(group.signature.requires_grad):
        value = value_of(group, row)
    pending.__class__ = Tensor  # type: ignore[assignment]
    for name in PARTS:
        setattr(pending, name, getattr(value, name))
    if group.single and group.count > 1:  # one result serves several, each with its own memory
        pending._array = np.array(pending._array)[()]


def run_first(group: Group) -> None:
    """Run the group if it hasn't run yet."""
    if not group.ran:
        if group.owner is None:
            raise GraphError("lazy_dropped", op=group.signature.op, defined=group.place)
        group.owner.run([group])


def _computing(name: str) -> property:
    """Make a property that first computes the pending tensor."""

    def read(self: PendingTensor) -> Any:
        compute_pending(self)
        return getattr(self, name)

    def write(self: PendingTensor, value: Any) -> None:
        compute_pending(self)
        setattr(self, name, value)

    return property(read, write)


KNOWN: dict[str, Callable[[PendingTensor], Any]] = {
    "requires_grad": lambda self: self.group.signature.requires_grad,
    "grad": lambda self: None,
    "name": lambda self: None,
}
for _name in PARTS:
    _part = _computing(_name)
    setattr(PendingTensor, _name, _part.getter(KNOWN[_name]) if _name in KNOWN else _part)
PendingTensor.data = vars(PendingTensor)["_array"]


def operand_form(x: Tensor) -> Any:
    """Return what matters of a computed tensor for the group of its reader.

    A matrix, and a leaf that requires a gradient, look like a parameter: the tensor itself counts.
    """
    data, wants = x._array, x.requires_grad
    shape = data.shape
    if (len(shape) > 1 and shape[0] > 1) or (wants and shape and x.creator is None):
        return x
    return shape, data.dtype, wants


# ---- Operators on it ------------------------------------------------------------------------


def _in_place(op: Op, name: str) -> Callable[[PendingTensor, Any], Any]:
    """Make `x += y` and the like: x is the new result from here on.

    Earlier readers of x have read the old value, as recorded operations share no memory.
    """

    def method(self: PendingTensor, other: Any) -> Any:
        if isinstance(other, Node):
            return NotImplemented
        active_reader = context.now.active_reader
        if active_reader is not None and not active_reader.builds and type(self) is PendingTensor:
            result = op(self, other)
            same = result.shape == self.shape and result.dtype == self.dtype
            if same and type(result) is PendingTensor:
                self.group, self.row = result.group, result.row
                return self
        compute_pending(self)
        return getattr(self, name)(other)

    return method


for _name, _op in (
    ("add", ops.add),
    ("sub", ops.sub),
    ("mul", ops.mul),
    ("truediv", ops.div),
    ("pow", ops.pow),
    ("matmul", ops.matmul),
):
    for _method in (f"__i{_name}__", f"{_name.removeprefix('true')}_"):
        if hasattr(Tensor, _method):
            setattr(PendingTensor, _method, _in_place(_op, _method))

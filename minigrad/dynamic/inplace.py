"""Changing a tensor in place: what is allowed, what is recorded, and what is reported.

A change is an operator whose kernel writes into the memory of the tensor. It is recorded like any
other, and the tensor then belongs to the new node. The version counter tells the nodes that saved
what was there before.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, ClassVar, Self

import numpy as np

from minigrad import ops
from minigrad.core import (
    STOPS,
    Array,
    Attrs,
    BaseNode,
    Op,
    as_array,
    as_operand,
    as_weak,
    context,
    events,
    explain,
    in_body,
    is_weak,
    promote,
    show_shape,
    show_shapes,
    silently,
    spec_of,
)
from minigrad.diagnostics.arguments import bound
from minigrad.diagnostics.errors import DtypeError, GradientError, ShapeError, TraceError, located
from minigrad.diagnostics.source import here
from minigrad.dynamic.changes import changes, owner_of
from minigrad.dynamic.recorder import TapeReader
from minigrad.dynamic.recording import at_once
from minigrad.ops.indexing import numpy_key
from minigrad.ops.methods import Value
from minigrad.ops.placing import put, put_item, put_slice

FILLING = ("fill_", "zero_")  # every element gets the same number


def change(
    x: Any, op: Op, operands: tuple[Any, ...], attrs: Attrs, who: str, convert: bool = False
) -> Any:
    """Replace the values of x by the result of an operator of which x is an operand.

    Everything that can be wrong is looked for before anything is changed. With `convert`, floats
    may become integers.
    """
    _expect_at_once(x, who)
    active_reader = context.now.active_reader
    if active_reader is not None:
        active_reader.run_all()  # what was noted reads the values as they are now
        with at_once():
            return change(x, op, operands, attrs, who, convert)
    for z in (x, *operands):
        getattr(z, "_array", None)  # a promise of a tensor becomes one when it is looked at
    tensors = [_cast_operand(op, i, z, x, who, convert) for i, z in enumerate(operands)]
    arrays = [z._array if isinstance(z, InPlace) else z for z in tensors]
    spec = op.spec([spec_of(a) for a in arrays], attrs)
    if spec.shape != x.shape:
        found = show_shape(spec.shape)
        raise ShapeError("in_place_shape", op=who, shape=x.shape, found=found)
    if spec.dtype.kind != x.dtype.kind:
        raise DtypeError("in_place_type", op=who, dtype=x.dtype, found=spec.dtype)
    mask = tuple([isinstance(z, InPlace) and z.requires_grad for z in tensors])
    tracked = context.now.recording and (x.requires_grad or True in mask)
    if tracked:
        _expect_own(x, who)
    array = changes.array_of(x)
    make_writable(x, who, None if tracked else _changed_part(array, op, attrs, who))
    memory = owner_of(x._array)
    reader: TapeReader = x.reader
    pullback = None
    saved = arrays
    if tracked and True in mask:
        pullback = reader.pullback(op, mask, x._array, arrays, attrs)
        saved = [  # what is needed of the old values has to be copied
            np.array(a) if keeps and owner_of(a) is memory else a
            for a, keeps in zip(arrays, pullback.keeps[1:], strict=True)
        ]
    changes.note(x._array)
    _write(
        op,
        x._array,
        [x._array if z is x else a for z, a in zip(tensors, arrays, strict=True)],
        attrs,
    )
    node = None
    if pullback is not None and pullback.wrt:
        node = reader.record(pullback, attrs, tensors, saved, mask, x._array)
    if tracked:
        x.creator, x.requires_grad = node, node is not None
    if events.listeners:
        if node is not None:
            events.emit("built", op, node, None, tuple(tensors))
        events.emit("run", op, node, np.array(x._array)[()], tuple(arrays))
    return x


def _cast_operand(op: Op, position: int, z: Any, x: Any, who: str, convert: bool) -> Any:
    """Cast an operand to the data type of x, whose own can't change."""
    if z is x or position in op.shape_only:
        return z
    if issubclass(type(z), BaseNode):
        z = z.numpy()  # a TraceError: a node of a graph has none
    if not isinstance(z, InPlace):
        z = as_operand(op, as_weak(op, z))
    if position in op.selectors:
        return z
    weak = is_weak(z)
    dtype = np.dtype(type(z)) if weak else z.dtype
    if dtype == x.dtype:
        return x.dtype.type(z) if weak else z
    if promote(x.dtype, dtype).kind != x.dtype.kind and not convert:
        raise DtypeError("in_place_type", op=who, dtype=x.dtype, found=dtype)
    if not weak:
        return ops.cast(z, dtype=x.dtype)
    if x.dtype.kind in "iu" and not math.isfinite(z):
        raise DtypeError("in_place_type", op=who, dtype=x.dtype, found=z)
    return x.dtype.type(z)


def _expect_at_once(x: Any, who: str) -> None:
    """Raise TraceError in a graph: the change would happen now, not when the graph runs."""
    if in_body():
        raise TraceError("tensor_in_place", op=who, name=x.name or x.shape, defined=here())


def _expect_own(x: Any, who: str) -> None:
    """Raise GradientError if changing x would make the history of another tensor wrong."""
    if x.creator is None and x.requires_grad:
        raise GradientError("leaf_in_place", op=who)
    sharing = getattr(x, "_sharing", None)
    if sharing is None:
        return
    if sharing.of_leaf:
        raise GradientError("view_of_leaf", op=who)
    if sharing.others(x):
        raise GradientError("view_in_place", op=who)


def make_writable(x: Any, who: str, changed: Array | None = None) -> None:
    """Raise ShapeError if elements that would change share one number in memory.

    An expanded tensor is such a view. `changed` is the part of its array that is written to, by
    default all of it.
    """
    array = changes.array_of(x)
    if array.flags.writeable:
        return
    memory = owner_of(array)
    if is_repeated(array if changed is None else changed) or not memory.flags.writeable:
        raise ShapeError("in_place_expanded", op=who, shape=x.shape, defined=here())
    start = array.__array_interface__["data"][0] - memory.__array_interface__["data"][0]
    flat = memory.ravel("K")
    x._array = np.ndarray(array.shape, array.dtype, flat, start, array.strides)


def _changed_part(array: Array, op: Op, attrs: Attrs, who: str) -> Array:
    """Return the elements that are written to, if it matters that none is written twice."""
    if op is put or who in FILLING:  # named one by one, or all to become the same number
        return np.empty(0)
    return np.asarray(array[numpy_key(attrs["key"])]) if op is put_slice else array


def is_repeated(array: Array) -> bool:
    """Return whether some elements are the same number in memory."""
    steps = zip(array.shape, array.strides, strict=True)
    return array.size > 1 and any(n > 1 and not step for n, step in steps)


def _write(op: Op, out: Array, arrays: list[Array], attrs: Attrs) -> None:
    try:
        silently(op.run, out, *arrays, **attrs)
    except STOPS as reason:
        raise explain(op, [spec_of(a) for a in arrays], attrs, reason) from None


def _in_place_method(op: Op, name: str) -> Callable[..., Any]:
    """Make the method that applies a binary operator in place."""

    def method(self: Any, other: Any) -> Any:
        return change(self, op, (self, other), {}, name)

    method.__name__, method.__doc__ = name, f"Put {op.formula.format('x', 'other')} in the place."
    return located(method)


def _augmented_method(op: Op, name: str) -> Callable[..., Any]:
    """Make the method behind `+=` and the like; with a graph's node nothing changes in place."""

    def method(self: Any, other: Any) -> Any:
        if isinstance(other, BaseNode):
            return NotImplemented
        return change(self, op, (self, other), {}, name)

    return located(method)


def _unary_method(op: Op, name: str) -> Callable[..., Any]:
    """Make the method that applies a unary operator in place."""

    def method(self: Any) -> Any:
        return change(self, op, (self,), {}, name)

    method.__name__, method.__doc__ = name, f"Put {op.formula.format('x')} in the place of x."
    return located(method)


class InPlace(Value):
    """The methods that change a tensor instead of making a new one.

    While operations are recorded, a leaf that requires a gradient cannot be changed, nor can a
    view of one; under `no_grad` both can. Raises GradientError, ShapeError, DtypeError.
    """

    __slots__ = ()
    reader: ClassVar[TapeReader]
    _array: Array
    requires_grad: bool

    add_, __iadd__ = _in_place_method(ops.add, "add_"), _augmented_method(ops.add, "+=")
    sub_, __isub__ = _in_place_method(ops.sub, "sub_"), _augmented_method(ops.sub, "-=")
    mul_, __imul__ = _in_place_method(ops.mul, "mul_"), _augmented_method(ops.mul, "*=")
    div_, __itruediv__ = _in_place_method(ops.div, "div_"), _augmented_method(ops.div, "/=")
    pow_, __ipow__ = _in_place_method(ops.pow, "pow_"), _augmented_method(ops.pow, "**=")
    neg_ = _unary_method(ops.neg, "neg_")
    exp_ = _unary_method(ops.exp, "exp_")
    sqrt_ = _unary_method(ops.sqrt, "sqrt_")
    tanh_ = _unary_method(ops.tanh, "tanh_")
    sigmoid_ = _unary_method(ops.sigmoid, "sigmoid_")
    relu_ = _unary_method(ops.relu, "relu_")

    @located
    def clip_(self, low: float | None = None, high: float | None = None) -> Self:
        """Clip the elements to the range from `low` to `high`, in place."""
        bounds = {"low": bound("clip_", "low", low), "high": bound("clip_", "high", high)}
        result: Self = change(self, ops.clip, (self,), bounds, "clip_")
        return result

    clamp_ = clip_  # PyTorch's word

    @located
    def copy_(self, value: Any) -> Self:
        """Take the values of another tensor or array, broadcast to the shape of this one.

        What this one was computed from gets gradients of 0, as in PyTorch.
        """
        return self._replaced(value, "copy_")

    def _replaced(self, value: Any, who: str) -> Self:
        target: Any = self
        _expect_at_once(target, who)
        if issubclass(type(value), BaseNode):
            value = value.numpy()  # a TraceError: a node of a graph has none
        elif not hasattr(value, "shape") and not is_weak(value):
            value = as_array(value, None, who)
        shape = value.shape if hasattr(value, "shape") else ()
        if not _can_broadcast(shape, target.shape):
            raise ShapeError("broadcast", op=who, shapes=show_shapes(target.shape, shape))
        result: Self = change(self, *put_item(self, ..., value), who, convert=True)
        return result

    @located
    def fill_(self, value: Any) -> Self:
        """Set every element to one number."""
        return self._replaced(value, "fill_")

    @located
    def zero_(self) -> Self:
        """Set every element to 0."""
        return self._replaced(0, "zero_")

    @located
    def __setitem__(self, key: Any, value: Any) -> None:
        """Assign x[key] = value for each key that x[key] takes; broadcast `value` to its shape.

        Gradients flow to the value, and to what is left of the old ones.
        """
        op, operands, attrs = put_item(self, key, value)
        change(self, op, operands, attrs, "x[…] =")


def _can_broadcast(shape: tuple[int, ...], target: tuple[int, ...]) -> bool:
    """Return whether an array can be broadcast to this shape."""
    if len(shape) > len(target):
        return False
    pairs = zip(shape[::-1], target[::-1], strict=False)
    return all(m in (1, n) for m, n in pairs)

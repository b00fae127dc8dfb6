"""Operators that add or drop axes, turn them round, repeat elements or surround them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from minigrad.core import (
    Array,
    Dim,
    Sample,
    Shape,
    as_array,
    into,
    operator,
    public_shape,
    show_shape,
)
from minigrad.diagnostics import arguments
from minigrad.diagnostics.errors import ShapeError, located
from minigrad.diagnostics.messages import fill
from minigrad.ops.indexing import FULL, numpy_key, slice_
from minigrad.ops.shape import (
    Axis,
    positive_axes,
    positive_axis,
    repeated,
    reshape,
    reshape_like,
    sum_like,
    transpose,
)

__all__ = ["broadcast_to", "expand_dims", "full_like", "pad", "squeeze"]


def as_operand(x: Any) -> Any:
    """Return a tensor, node or array unchanged; convert numbers and nested lists to an array."""
    return x if hasattr(x, "shape") else as_array(x, None, "operand")


def _as_scalar(x: Array) -> Array:
    """Return an array without axes as a NumPy scalar."""
    return x if x.ndim else x[()]


# ---- Axes -----------------------------------------------------------------------------------


def _expand_shape(x: Shape, axis: int) -> Shape:
    axis = positive_axis("ExpandDims", axis, (*x, 1))
    return (*x[:axis], 1, *x[axis:])


def _expand(out: Array, x: Array, axis: int) -> Array:
    key = (*(FULL,) * axis, None) if axis >= 0 else ("...", None, *(FULL,) * (-1 - axis))
    return into(out, x[numpy_key(key)])


expand_dims = operator(
    "ExpandDims",
    shape=_expand_shape,
    run=_expand,
    vjp=(lambda g, y, x, axis: reshape_like(g, x),),
    inputs=None,
    title=("insert an axis of length 1", "插入长度为 1 的轴"),
    formula="expand({0})",
    samples=(
        Sample([(2, 3)], {"axis": 0}),
        Sample([(2, 3)], {"axis": -1}),
        Sample([()], {"axis": 0}),
    ),
)


def _squeeze_shape(x: Shape, axis: Axis = None) -> Shape | None:
    axes = positive_axes("Squeeze", axis, x)
    if axis is None:
        if any(isinstance(n, Dim) for n in x):
            return None  # an open axis may turn out to have length 1
        axes = tuple(i for i in axes if x[i] == 1)
    for i in axes:
        if x[i] != 1 and not isinstance(x[i], Dim):
            raise ShapeError("squeeze", op="Squeeze", axis=i, shape=show_shape(public_shape(x)))
    return tuple(n for i, n in enumerate(x) if i not in axes)


squeeze = operator(
    "Squeeze",
    shape=_squeeze_shape,
    run=lambda out, x, axis=None: into(out, _as_scalar(np.squeeze(x, axis))),
    vjp=(lambda g, y, x, axis=None: reshape_like(g, x),),
    inputs=None,
    title=("drop axes of length 1", "去掉长度为 1 的轴"),
    formula="squeeze({0})",
    samples=(
        Sample([(1, 3, 1)]),
        Sample([(1, 3, 1)], {"axis": -1}),
        Sample([(1, 2, 1)], {"axis": (0, 2)}),
        Sample([(1,)]),
    ),
)


@located
def flatten(x: Any, start_axis: int = 0, end_axis: int = -1) -> Any:
    """Merge the axes from `start_axis` to `end_axis` into one."""
    x = as_operand(x)
    if start_axis == 0 and end_axis == -1:
        return reshape(x, shape=(-1,))
    lengths = tuple(x.shape if x.shape is not None else x.ndim)
    first, last = (positive_axis("Flatten", a, lengths) for a in (start_axis, end_axis))
    if first > last:
        raise arguments.refuse("Flatten", "end_axis", end_axis, fill("expect_axis"))
    merged = lengths[first : last + 1]
    size = None if None in merged else int(np.prod(merged, dtype=np.int64))
    shape = (*lengths[:first], size, *lengths[last + 1 :])
    return reshape(x, shape=tuple(-1 if n is None else n for n in shape))


@located
def swapaxes(x: Any, axis1: int, axis2: int) -> Any:
    """Exchange two axes."""
    x = as_operand(x)
    order, shape = list(range(x.ndim)), getattr(x, "spec", x).shape
    a, b = (positive_axis("Transpose", axis, shape) for axis in (axis1, axis2))
    order[a], order[b] = b, a
    return transpose(x, axes=tuple(order))


def transposed(x: Any, axes: tuple[Any, ...]) -> Any:
    """Exchange two axes (PyTorch), or put all axes in this order (NumPy: a tuple, or more)."""
    if len(axes) == 2:
        return swapaxes(x, *axes)
    order = axes[0] if len(axes) == 1 and isinstance(axes[0], (tuple, list)) else axes
    return transpose(x, axes=arguments.axes("Transpose", order) if order else None)


def known_lengths(x: Any, lengths: Any) -> Any:
    """Return lengths for `reshape` in which None, as from x.size(0), keeps x's open axis.

    With it -1 stands for what is left of the others, which are known.
    """
    if not isinstance(lengths, (tuple, list)) or lengths.count(None) != 1:
        return lengths
    shape, i = getattr(x, "shape", None) or (), lengths.index(None)
    if shape.count(None) != 1 or i >= len(shape) or shape[i] is not None:
        return lengths
    others = [n for n in lengths if n is not None]
    if -1 in others:
        rest = math.prod(n for n in shape if n is not None)
        others[others.index(-1)] = rest // max(-math.prod(others), 1)
    return (*others[:i], -1, *others[i:])


@located
def flip(x: Any, axis: Axis = None) -> Any:
    """Reverse the elements along some axes, or all."""
    x = as_operand(x)
    ndim = x.ndim
    axes = positive_axes("Flip", axis, getattr(x, "spec", x).shape)
    return slice_(x, key=tuple((None, None, -1) if i in axes else FULL for i in range(ndim)))


# ---- More elements --------------------------------------------------------------------------


def _broadcast_to_shape(x: Shape, shape: Shape) -> Shape:
    lead = len(shape) - len(x)
    result = list(shape)
    for i, n in enumerate(x):
        expected = shape[lead + i] if lead >= 0 else -1
        if lead < 0 or (n not in (1, expected) and expected != -1 and not isinstance(n, Dim)):
            shown = show_shape(public_shape(x))
            raise ShapeError("broadcast_to", op="BroadcastTo", shape=shown, target=shape)
        result[lead + i] = n if expected == -1 else expected
    return tuple(result)


def _broadcast_to(out: Array, x: Array, shape: Shape) -> Array:
    whole: Any = _broadcast_to_shape(x.shape, shape) if -1 in shape else shape
    return into(out, _as_scalar(repeated(x, whole)))


broadcast_to = operator(
    "BroadcastTo",
    shape=_broadcast_to_shape,
    run=_broadcast_to,
    vjp=(lambda g, y, x, shape: sum_like(g, x),),
    inputs=None,
    title=("repeat to a shape", "重复成指定形状"),
    formula="repeat({0})",
    samples=(
        Sample([(3,)], {"shape": (2, 3)}),
        Sample([(3, 1)], {"shape": (5, -1, 2)}),
        Sample([(2, 3)], {"shape": (3, -1, 3)}),
        Sample([()], {"shape": (3,)}),
    ),
)


def _pad_shape(x: Shape, widths: Any, value: float = 0.0) -> Shape:
    if len(widths) != len(x) or any(len(pair) != 2 or min(pair) < 0 for pair in widths):
        raise ShapeError("pad", op="Pad", widths=widths, shape=show_shape(public_shape(x)))
    return tuple(
        n if pair == (0, 0) else Dim() if isinstance(n, Dim) else n + sum(pair)
        for n, pair in zip(x, widths, strict=True)
    )


def _interior(widths: Any) -> tuple[Any, ...]:
    """Return the slices of the padded result that hold the operand."""
    return tuple((before or None, -after or None, None) for before, after in widths)


def _pad(out: Array, x: Array, widths: Any, value: float = 0.0) -> Array:
    if out is None:
        out = np.full(_pad_shape(x.shape, widths), value, x.dtype)
    else:
        out[...] = value
    out[tuple(slice(*item) for item in _interior(widths))] = x
    return out


pad = operator(
    "Pad",
    shape=_pad_shape,
    run=_pad,
    vjp=(lambda g, y, x, widths, value=0.0: slice_(g, key=_interior(widths)),),
    inputs=None,
    title=("surround with a constant", "在四周填充常数"),
    formula="pad({0})",
    samples=(
        Sample([(2, 3)], {"widths": ((1, 1), (0, 2))}),
        Sample([(3,)], {"widths": ((0, 1),), "value": 1.0}),
    ),
)


def as_widths(x: Any, widths: Any) -> tuple[tuple[int, int], ...]:
    """Expand widths to a pair for each axis: from a number, pairs, or one axis's pair."""
    if arguments.is_whole(widths):
        return ((int(widths), int(widths)),) * int(x.ndim)
    pairs = widths
    if isinstance(pairs, (tuple, list)) and pairs and all(map(arguments.is_whole, pairs)):
        if len(pairs) > 2 or x.ndim != 1:
            each = f"mg.pad(x, ({', '.join([str(tuple(pairs[:2]))] * int(x.ndim))},))"
            last = f"mg.nn.functional.pad(x, {tuple(pairs)})"
            form = f"pad(x, {tuple(pairs)})"
            raise arguments.two_readings(form, "PyTorch", last, "NumPy", each)
        pairs = (pairs,)
    try:
        return tuple((int(before), int(after)) for before, after in pairs)
    except (TypeError, ValueError, OverflowError):
        raise arguments.refuse("Pad", "widths", widths, fill("expect_widths")) from None


def _full_like(out: Array, x: Any, value: Any, dtype: Any = None) -> Array:
    dtype = dtype or x.dtype
    if out is None:
        return np.full(x.shape, value, dtype) if x.shape else dtype.type(value)
    out[...] = value
    return out


full_like = operator(
    "FullLike",
    shape=lambda x, value, dtype=None: x,
    run=_full_like,
    vjp=(None,),
    inputs=None,
    shape_only=(0,),
    title=("a constant in the shape of", "与另一操作数同形状的常数"),
    formula="full({0})",
    samples=(
        Sample([(2, 3)], {"value": 1.5}),
        Sample([()], {"value": 0, "dtype": np.dtype(np.float64)}),
    ),
)

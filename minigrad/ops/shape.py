"""Operators that rearrange elements, stretch axes or add them up again."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from minigrad.core import (
    Array,
    Dim,
    Op,
    Sample,
    Shape,
    as_float,
    into,
    operator,
    public_shape,
    show_shape,
)
from minigrad.diagnostics import arguments
from minigrad.diagnostics.errors import IndexRangeError, ShapeError
from minigrad.diagnostics.messages import fill
from minigrad.ops.define import summed

__all__ = [
    "broadcast_like",
    "count",
    "mean",
    "reshape",
    "reshape_like",
    "sum",
    "sum_like",
    "transpose",
]

Axis = int | tuple[int, ...] | None
FLAGS: Any = (bool, np.bool_)


def positive_axes(name: str, axis: Axis, shape: Shape) -> tuple[int, ...]:
    """Return the axes counted from 0; None means all of them."""
    n = len(shape)
    axes = tuple(range(n)) if axis is None else arguments.axes(name, axis)
    for a in axes:
        if not n:
            raise ShapeError("axis_of_number", op=name, axis=a)
        if not -n <= a < n:
            shown = show_shape(public_shape(shape))
            raise IndexRangeError("axis", op=name, axis=a, shape=shown, low=-n, high=n - 1)
    if len({a % n for a in axes}) < len(axes):
        raise ShapeError("axis_twice", op=name, axis=axis, shape=show_shape(public_shape(shape)))
    return tuple(a % n for a in axes)


def positive_axis(name: str, axis: int, shape: Shape) -> int:
    """Return the axis counted from 0."""
    if not arguments.is_whole(axis):
        raise arguments.refuse(name, "axis", axis, fill("expect_axis"))
    return positive_axes(name, axis, shape)[0]


def reduced_shape(name: str) -> Callable[..., Shape]:
    """Make the shape rule of a reduction."""

    def shape(x: Shape, axis: Axis = None, keepdims: bool = False) -> Shape:
        axes = positive_axes(name, axis, x)
        if keepdims:
            return tuple(1 if i in axes else n for i, n in enumerate(x))
        return tuple(n for i, n in enumerate(x) if i not in axes)

    return shape


def as_axes(axis: Axis) -> Axis:
    """Convert axes to what NumPy takes: a tuple, not a list."""
    return tuple(axis) if isinstance(axis, list) else axis


def axes_of(x: Array, axis: Axis) -> Axis:
    """Return an axis argument as NumPy takes it; TypeError if a 0-d array is given one.

    The shape rule says then what is wrong.
    """
    if axis is not None and not x.ndim:
        raise TypeError(axis)
    return tuple(axis) if isinstance(axis, list) else axis


def over(op: str, axis: Axis, keepdims: bool) -> dict[str, Any]:
    """Return the attributes of a reduction; ArgumentError if frameworks disagree on it."""
    if not isinstance(keepdims, FLAGS):
        raise arguments.refuse(op, "keepdims", keepdims, fill("expect_keepdims"))
    if axis is not None and not axis and isinstance(axis, (tuple, list)):
        raise arguments.two_readings(f"{op}: axis=()", "PyTorch", "axis=None", "NumPy", "x")
    return {"axis": as_axes(axis), "keepdims": bool(keepdims)}


REDUCTIONS = (
    Sample([(2, 3)]),
    Sample([(2, 3)], {"axis": 0}),
    Sample([(2, 3)], {"axis": 1}),
    Sample([(2, 3, 2)], {"axis": (0, -1), "keepdims": True}),
    Sample([()]),
)


def _sum(out: Array, x: Array, axis: Axis = None, keepdims: bool = False) -> Array:
    if isinstance(axis, tuple) and axis == tuple(range(len(axis))) and not keepdims:
        rest = x.shape[len(axis) :]
        if single_axes_first(x.shape, len(axis)):  # as for a bias and a batch of one
            return into(out, x.reshape(rest).copy())
    # dtype: NumPy would widen small integers and turn bools into counts; we keep the rule's type
    return np.add.reduce(x, axis=axes_of(x, axis), out=out, keepdims=keepdims, dtype=x.dtype)


def single_axes_first(shape: Shape, count: int) -> bool:
    """Return whether the first `count` axes have length 1, so that a sum adds nothing.

    Then −0 stays −0, which a sum that begins with 0 would not leave.
    """
    return shape[:count] == (1,) * count


sum = operator(
    "Sum",
    shape=reduced_shape("Sum"),
    run=_sum,
    vjp=(
        lambda g, y, x, axis=None, keepdims=False: broadcast_like(
            g, x, axis=axis, keepdims=keepdims
        ),
    ),
    inputs=summed,
    dtype=summed,
    title=("sum", "求和"),
    formula="Σ {0}",
    samples=REDUCTIONS,
)


def _mean(out: Array, x: Array, axis: Axis = None, keepdims: bool = False) -> Array:
    total = np.add.reduce(x, axis=axes_of(x, axis), keepdims=keepdims, out=out)
    n = x.dtype.type(x.size // max(total.size, 1) if total.size else 1)
    # the mean of nothing is NaN, as everywhere
    return total / n if out is None else np.divide(total, n, out=out)


mean = operator(
    "Mean",
    shape=reduced_shape("Mean"),
    run=_mean,
    vjp=(
        lambda g, y, x, axis=None, keepdims=False: broadcast_like(
            g / count(x, y), x, axis=axis, keepdims=keepdims
        ),
    ),
    dtype=as_float,
    inputs=as_float,
    title=("mean", "平均值"),
    formula="mean({0})",
    samples=REDUCTIONS,
)


def _count(out: Array, x: Any, y: Any) -> Array:
    result = as_float(x.dtype).type(math.prod(x.shape) / max(math.prod(y.shape), 1))
    return into(out, result)


count: Op = operator(
    "Count",
    shape=lambda x, y: (),
    run=_count,
    vjp=(None, None),
    dtype=lambda *dtypes: as_float(dtypes[0]),
    inputs=None,
    shape_only=(0, 1),
    title=("elements averaged into one", "每个平均值包含的元素个数"),
    formula="size {0} ÷ size {1}",
    samples=(Sample([(2, 3), (2,)]),),
)


def repeated(x: Array, shape: tuple[int, ...]) -> Array:
    """Make a view that repeats the operand; for one number four times as fast as NumPy's."""
    if isinstance(x, np.ndarray):
        return np.broadcast_to(x, shape)
    return np.ndarray(shape, x.dtype, buffer=x, strides=(0,) * len(shape)) if shape else x


def _broadcast_like_shape(g: Shape, x: Shape, axis: Axis = (), keepdims: bool = True) -> Shape:
    return x


def _broadcast_like(out: Array, g: Array, x: Any, axis: Axis = (), keepdims: bool = True) -> Array:
    if not keepdims and g.shape:
        g = np.expand_dims(g, positive_axes("BroadcastLike", axis, x.shape))
    return into(out, repeated(g, x.shape))


broadcast_like: Op = operator(
    "BroadcastLike",
    shape=_broadcast_like_shape,
    run=_broadcast_like,
    vjp=(
        lambda h, y, g, x, axis=(), keepdims=True: (
            sum_like(h, g) if keepdims else reshape_like(sum(h, axis=axis), g)
        ),
        None,
    ),
    dtype=lambda *dtypes: dtypes[0],
    inputs=None,
    shape_only=(1,),
    title=("repeat to the shape of", "重复成另一操作数的形状"),
    formula="repeat({0})",
    samples=(
        Sample([(3,), (2, 3)]),
        Sample([(2, 1), (2, 3)]),
        Sample([(2,), (2, 3)], {"axis": 1, "keepdims": False}),
        Sample([(), (2, 3)], {"axis": None, "keepdims": False}),
    ),
)


def _sum_like(out: Array, g: Array, x: Any) -> Array:
    lead = g.ndim - len(x.shape)
    axes = tuple(
        i for i, n in enumerate(g.shape) if i < lead or (x.shape[i - lead] == 1 and n != 1)
    )
    if not axes:
        return into(out, g.view())  # a view, not `g` itself: results must not alias variables
    return into(out, _sum(None, g, axis=axes).reshape(x.shape))


sum_like: Op = operator(
    "SumLike",
    shape=lambda g, x: x,
    run=_sum_like,
    vjp=(lambda h, y, g, x: broadcast_like(h, g), None),
    dtype=lambda *dtypes: dtypes[0],
    inputs=None,
    shape_only=(1,),
    title=("sum to the shape of", "求和成另一操作数的形状"),
    formula="Σ {0}",
    samples=(Sample([(2, 3), (3,)]), Sample([(2, 3), (2, 1)]), Sample([(2, 3), (2, 3)])),
)


def _reshape_shape(x: Shape, shape: tuple[int, ...]) -> Shape:
    """Infer the shape of a reshape; an unknown length passes if the known ones fit."""
    x_open = [n for n in x if isinstance(n, Dim)]
    x_size = math.prod(n for n in x if not isinstance(n, Dim))
    size = math.prod(n for n in shape if n != -1)
    blanks = shape.count(-1)
    fits = blanks <= 1 and (
        (size > 0 and x_size % size == 0 if blanks else x_size == size)
        if not x_open
        else blanks == 1 or size % max(x_size, 1) == 0
    )
    if not fits or any(n < -1 for n in shape):
        counted = show_shape(public_shape(x))
        raise ShapeError("reshape", op="Reshape", count=x_size, shape=counted, target=shape)
    if not blanks:
        return shape
    filled = x_size // size if not x_open else x_open[0] if _same(x_open, x_size, size) else Dim()
    return tuple(filled if n == -1 else n for n in shape)


def _same(x_open: list[Dim], x_size: int, size: int) -> bool:
    return len(x_open) == 1 and x_size == size


def _reshape(out: Array, x: Array, shape: tuple[int, ...]) -> Array:
    if min(shape, default=0) < -1:
        raise ValueError(shape)  # NumPy would take any negative length for -1
    return into(out, x.reshape(shape))


reshape = operator(
    "Reshape",
    shape=_reshape_shape,
    run=_reshape,
    vjp=(lambda g, y, x, shape: reshape_like(g, x),),
    inputs=None,
    title=("reshape", "改变形状"),
    formula="reshape({0})",
    samples=(Sample([(2, 3)], {"shape": (3, -1)}), Sample([(2, 3)], {"shape": (6,)})),
)
reshape_like: Op = operator(
    "ReshapeLike",
    shape=lambda g, x: x,
    run=lambda out, g, x: into(out, g.reshape(x.shape)),
    vjp=(lambda h, y, g, x: reshape_like(h, g), None),
    dtype=lambda *dtypes: dtypes[0],
    inputs=None,
    shape_only=(1,),
    title=("reshape to the shape of", "改成另一操作数的形状"),
    formula="reshape({0})",
    samples=(Sample([(6,), (2, 3)]),),
)


def _order(axes: tuple[int, ...] | None, ndim: int) -> tuple[int, ...]:
    return tuple(range(ndim))[::-1] if axes is None else tuple(a % ndim for a in axes)


def _transpose_shape(x: Shape, axes: tuple[int, ...] | None = None) -> Shape:
    if axes is not None and sorted(positive_axes("Transpose", axes, x)) != list(range(len(x))):
        expected, shape = f"{len(axes)} axes", show_shape(public_shape(x))
        raise ShapeError("rank", op="Transpose", expected=expected, shape=shape)
    return tuple(x[a] for a in _order(axes, len(x)))


transpose: Op = operator(
    "Transpose",
    shape=_transpose_shape,
    run=lambda out, x, axes=None: into(out, x.transpose(axes)),
    vjp=(
        lambda g, y, x, axes=None: transpose(
            g, axes=None if axes is None else tuple(np.argsort(_order(axes, len(axes))).tolist())
        ),
    ),
    inputs=None,
    title=("transpose", "转置"),
    formula="{0}ᵀ",
    samples=(Sample([(2, 3)]), Sample([(2, 3, 4)], {"axes": (1, 2, 0)})),
)

"""Pooling of images: the largest element, or the mean, of each window.

The gradient of max pooling goes to the first largest element of a window, row by row, as in
PyTorch; NaN equals nothing, so a window with NaN passes no gradient on. The mean of a window
counts the zeros of the frame.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from minigrad.core import Array, Dtype, Op, Sample, Shape, as_float, operator
from minigrad.diagnostics.errors import ShapeError
from minigrad.ops.logic import masked
from minigrad.ops.windows import Window, along, as_pair, inward, outward

__all__ = ["avg_pool2d", "avg_pool2d_input", "max_pool2d", "max_pool2d_input", "max_pool2d_pick"]


def pool_window(name: str, kernel_size: Any, stride: Any = None, padding: Any = 0) -> Window:
    """Make the window of a pooling; the stride defaults to the size.

    ShapeError when the frame is wider than half the window: a window could be all frame.
    """
    size = as_pair(name, "kernel_size", kernel_size, 1)
    window = Window.of(name, size, size if stride is None else stride, padding)
    if any(2 * max(pad) > n for pad, n in zip(window.pads, size, strict=True)):
        raise ShapeError("pool_padding", op=name, padding=padding, size=kernel_size)
    return window


def _pool_shape(name: str) -> Any:
    """Make the shape rule of a pooling."""
    return lambda x, **attrs: (*x[:2], *pool_window(name, **attrs).places(x))


def _gradient_shape(name: str) -> Any:
    """Make the shape rule of a gradient; the operands are the pooling's, the images last."""

    def shape(*shapes: Shape, **attrs: Any) -> Shape:
        *results, x = shapes
        window = pool_window(name, **attrs)
        for g in results:
            window.belongs(g, (*x[:2], *window.places(x)))
        return x

    return shape


def _reduce_windows(ufunc: np.ufunc, x: Array, window: Window, value: Any) -> Array:
    """Reduce each window by a ufunc: along the columns, then along the rows."""
    places = window.places(x.shape)
    result = window.framed(x, value)
    for axis in (0, 1):
        size, step, count = window.size[axis], window.stride[axis], places[axis]
        slices = [(*[slice(None)] * (1 + axis), along(i, step, count)) for i in range(size)]
        folded = result[slices[0]].copy()
        for at in slices[1:]:
            ufunc(folded, result[at], out=folded)
        result = folded
    return result


POOLS: tuple[dict[str, Any], ...] = (
    {"kernel_size": 2},
    {"kernel_size": 3, "stride": (2, 1), "padding": 1},
)
IMAGES = ((2, 1, 4, 4), (1, 2, 5, 3))
POOLED = ((2, 1, 2, 2), (1, 2, 3, 3))


def _samples(*operands: tuple[tuple[int, ...], ...]) -> tuple[Sample, ...]:
    return tuple(Sample(s, a) for *s, a in zip(*operands, POOLS, strict=True))


# ---- The largest element --------------------------------------------------------------------


def lowest(dtype: Dtype) -> Any:
    """Return the lowest value of a data type, which no maximum picks."""
    return -np.inf if dtype.kind == "f" else False if dtype.kind == "b" else np.iinfo(dtype).min


def _max_pool(out: Array, x: Array, **attrs: Any) -> Array:
    window = pool_window("MaxPool2d", **attrs)
    return outward(out, _reduce_windows(np.maximum, x, window, lowest(x.dtype)))


max_pool2d: Op = operator(
    "MaxPool2d",
    shape=_pool_shape("MaxPool2d"),
    run=_max_pool,
    vjp=(lambda g, y, x, **attrs: max_pool2d_input(g, y, x, **attrs),),
    title=("largest element of each window", "最大汇聚（池化）"),
    formula="max_pool({0})",
    samples=_samples(IMAGES),
)


def _first_largest(y: Array, x: Array, window: Window) -> Iterator[tuple[Any, Array]]:
    """Yield for each window element its places, and the windows where it is the maximum."""
    frame, largest = window.framed(x, lowest(x.dtype)), inward(y)
    free = np.ones(largest.shape, np.bool_)
    for rows, columns in window.offsets(y.shape[2:]):
        hit = frame[:, rows, columns] == largest
        hit &= free
        free ^= hit
        yield (..., rows, columns, slice(None)), hit


def _max_pool_input(out: Array, g: Array, y: Array, x: Array, **attrs: Any) -> Array:
    _gradient_shape("MaxPool2dInput")(g.shape, y.shape, x.shape, **attrs)
    window = pool_window("MaxPool2dInput", **attrs)
    frame, slopes = window.frame(x.shape, g.dtype), inward(g)
    for at, hit in _first_largest(y, x, window):
        frame[at] += masked(slopes, hit)  # windows may overlap
    return outward(out, window.inside(frame))


max_pool2d_input: Op = operator(
    "MaxPool2dInput",
    shape=_gradient_shape("MaxPool2dInput"),
    run=_max_pool_input,
    vjp=(
        lambda h, z, g, y, x, **attrs: max_pool2d_pick(h, y, x, **attrs),
        None,  # which element is the largest does not change when x moves a little
        None,
    ),
    title=("gradient of max pooling", "最大汇聚（池化）的梯度"),
    formula="{0} where {2} = {1}",
    samples=_samples(POOLED, POOLED, IMAGES),
)


def _max_pool_pick(out: Array, h: Array, y: Array, x: Array, **attrs: Any) -> Array:
    _pick_shape(h.shape, y.shape, x.shape, **attrs)
    window = pool_window("MaxPool2dPick", **attrs)
    frame, total = window.framed(h), inward(np.zeros(y.shape, h.dtype))
    for at, hit in _first_largest(y, x, window):
        total += masked(frame[at], hit)
    return outward(out, total)


def _pick_shape(h: Shape, y: Shape, x: Shape, **attrs: Any) -> Shape:
    _gradient_shape("MaxPool2dPick")(y, x, **attrs)
    pool_window("MaxPool2dPick", **attrs).belongs(h, x)
    return y


max_pool2d_pick: Op = operator(
    "MaxPool2dPick",
    shape=_pick_shape,
    run=_max_pool_pick,
    vjp=(lambda g, z, h, y, x, **attrs: max_pool2d_input(g, y, x, **attrs), None, None),
    title=("what lies where each window is largest", "取出各窗口最大元素所在处的值"),
    formula="{0} where {2} = {1}",
    samples=_samples(IMAGES, POOLED, IMAGES),
)

# ---- The mean -------------------------------------------------------------------------------


def _avg_pool(out: Array, x: Array, **attrs: Any) -> Array:
    window = pool_window("AvgPool2d", **attrs)
    total = _reduce_windows(np.add, x.astype(as_float(x.dtype), copy=False), window, 0)
    np.divide(total, total.dtype.type(window.size[0] * window.size[1]), out=total)
    return outward(out, total)


avg_pool2d: Op = operator(
    "AvgPool2d",
    shape=_pool_shape("AvgPool2d"),
    run=_avg_pool,
    vjp=(lambda g, y, x, **attrs: avg_pool2d_input(g, x, **attrs),),
    dtype=as_float,
    inputs=as_float,
    title=("mean of each window", "平均汇聚（池化）"),
    formula="avg_pool({0})",
    samples=_samples(IMAGES),
)


def _avg_pool_input(out: Array, g: Array, x: Any, **attrs: Any) -> Array:
    _gradient_shape("AvgPool2dInput")(g.shape, x.shape, **attrs)
    window = pool_window("AvgPool2dInput", **attrs)
    share = g / g.dtype.type(window.size[0] * window.size[1])
    frame, share = window.frame(x.shape, g.dtype), inward(share)
    for rows, columns in window.offsets(g.shape[2:]):
        frame[:, rows, columns] += share
    return outward(out, window.inside(frame))


avg_pool2d_input: Op = operator(
    "AvgPool2dInput",
    shape=_gradient_shape("AvgPool2dInput"),
    run=_avg_pool_input,
    vjp=(lambda h, z, g, x, **attrs: avg_pool2d(h, **attrs), None),
    dtype=as_float,
    inputs=as_float,
    shape_only=(1,),
    title=("gradient of average pooling", "平均汇聚（池化）的梯度"),
    formula="spread({0})",
    samples=_samples(POOLED, IMAGES),
)

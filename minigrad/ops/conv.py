"""Convolution of images, and its two gradients: three records whose rules lead to each other.

It is cross-correlation, as in every framework: the kernels are not turned round. The patches of
the images are laid side by side as columns, so that one matrix product does the work ("im2col").
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from minigrad.core import Array, Dim, Op, Sample, Shape, as_float, operator, show_shapes
from minigrad.errors import ShapeError
from minigrad.ops.windows import Pair, Window, handed

__all__ = ["conv2d", "conv2d_input", "conv2d_weight"]

SCRATCH = 1 << 17  # elements of the scratch array
KERNELS = "4 axes (kernels, channels, height, width)"


def _window(name: str, w: Shape, **attrs: Any) -> Window:
    if len(w) != 4:
        raise ShapeError("rank", op=name, expected=KERNELS, shape=show_shapes(w))
    return Window.of(name, w[2:], **attrs)


def _result(window: Window, x: Shape, w: Shape) -> Shape:
    """The shape of the convolution of x with w."""
    places = window.places(x)
    if x[1] != w[1] and not isinstance(x[1], Dim) and not isinstance(w[1], Dim):
        shapes = show_shapes(x, w)
        raise ShapeError("channels", op=window.name, shapes=shapes, channels=x[1], expected=w[1])
    return (x[0], w[0], *places)


def _conv_shape(x: Shape, w: Shape, **attrs: Any) -> Shape:
    return _result(_window("Conv2d", w, **attrs), x, w)


def _framed(shape: tuple[int, ...], like: Array) -> Array:
    """Zeros, and a little memory behind them: `_correlate` reads a few elements too far."""
    size = math.prod(shape)
    return np.zeros(size + shape[-1], like.dtype)[:size].reshape(shape)


def _with_frame(x: Array, window: Window) -> Array:
    (top, bottom), (left, right) = window.pads
    n, c, height, width = x.shape
    frame = _framed((n, c, height + top + bottom, width + left + right), x)
    window.inside(frame)[...] = x
    return frame


def _columns(frame: Array, size: Any, places: Any, stride: Pair) -> Iterator[tuple[slice, Array]]:
    """The patch at each place of the window as a column: (images, channels · size, places).

    So many images at a time as fit into the fast part of the memory, always in the same scratch
    array; the slice says which images they are.
    """
    n, c = frame.shape[:2]
    image, channel, row, column = frame.strides
    strides = (image, channel, row, column, row * stride[0], column * stride[1])
    patches = as_strided(frame, (n, c, *size, *places), strides, writeable=False)
    each = (c * math.prod(size), math.prod(places))
    count = min(n, max(1, SCRATCH // max(math.prod(each), 1)))
    scratch = np.empty((count, *patches.shape[1:]), frame.dtype)
    for start in range(0, n, max(count, 1)):
        part = patches[start : start + count]
        np.copyto(scratch[: len(part)], part)
        yield slice(start, start + count), scratch[: len(part)].reshape(len(part), *each)


def _correlate(out: Array, frame: Array, w: Array, places: Any, stride: Pair) -> Array:
    """The kernels at all places of the frame: (n, kernels, *places).

    At stride 1 places beyond the end of a row are computed, too, and thrown away: they read on in
    the next row, so that patches are copied in long runs.
    """
    rows, columns = places
    wide = frame.shape[3] if stride == (1, 1) else columns
    kernels = w.reshape(len(w), math.prod(w.shape[1:]))
    result = np.empty((len(frame), len(w), rows * wide), frame.dtype)
    for images, patches in _columns(frame, w.shape[2:], (rows, wide), stride):
        np.matmul(kernels, patches, out=result[images])
    return handed(out, result.reshape(len(frame), len(w), rows, wide)[..., :columns])


def _conv(out: Array, x: Array, w: Array, **attrs: Any) -> Array:
    window = _window("Conv2d", w.shape, **attrs)
    places = _result(window, x.shape, w.shape)[2:]
    return _correlate(out, _with_frame(x, window), w, places, window.stride)


def _products(moved: tuple[int, ...], w: tuple[int, ...]) -> int:
    """Each element of the result of the convolution sums as many products as a kernel is large."""
    return math.prod(moved) * math.prod(w[1:])


STRIDED = {"stride": 2, "padding": 1}
conv2d: Op = operator(
    "Conv2d",
    shape=_conv_shape,
    run=_conv,
    vjp=(
        lambda g, y, x, w, **attrs: conv2d_input(g, w, x, **attrs),
        lambda g, y, x, w, **attrs: conv2d_weight(g, x, w, **attrs),
    ),
    dtype=as_float,
    inputs=as_float,
    products=lambda y, x, w: _products(y, w),
    title=("convolution", "卷积"),
    formula="{0} ∗ {1}",
    samples=(
        Sample([(2, 1, 3, 5), (2, 1, 3, 3)]),
        Sample([(2, 3, 5, 4), (1, 3, 3, 1)], {"stride": 2, "padding": (1, 0)}),
        Sample([(1, 2, 3, 3), (2, 2, 2, 3)], {"padding": "same"}),
    ),
)


def _input_shape(g: Shape, w: Shape, x: Shape, **attrs: Any) -> Shape:
    window = _window("Conv2dInput", w, **attrs)
    window.belongs(g, _result(window, x, w))
    return x


def _conv_input(out: Array, g: Array, w: Array, x: Any, **attrs: Any) -> Array:
    """Elements of g, `stride` apart, meet the kernels turned round by half a turn."""
    _input_shape(g.shape, w.shape, x.shape, **attrs)
    window = _window("Conv2dInput", w.shape, **attrs)
    (height, width), (tall, wide) = x.shape[2:], w.shape[2:]
    frame = _framed((*g.shape[:2], height + tall - 1, width + wide - 1), g)
    rows, from_rows = _apart(window, 0, g, frame)
    columns, from_columns = _apart(window, 1, g, frame)
    frame[:, :, rows, columns] = g[:, :, from_rows, from_columns]
    turned = np.ascontiguousarray(w[:, :, ::-1, ::-1].swapaxes(0, 1))
    result = _correlate(out, frame, turned, (height, width), (1, 1))
    # A weight that is not finite met the zeros of the frame, and made each pixel NaN: one shows it.
    shows = result[:1, :, :1, :1].ravel()
    if not math.isfinite(shows.dot(shows)) and not np.isfinite(w).all():
        return _handed_back(out, g, w, x.shape, window)
    return result


def _handed_back(out: Array, g: Array, w: Array, shape: Shape, window: Window) -> Array:
    """Each element of g goes to the pixels that its place lay upon, and nothing meets a zero."""
    frame = window.frame(np.zeros(shape, g.dtype))
    taps = w.reshape(*w.shape[:2], -1)
    flat = g.reshape(*g.shape[:2], -1)
    for i, (rows, columns) in enumerate(window.offsets(g.shape[2:])):
        product = np.matmul(taps[:, :, i].T, flat)
        frame[:, :, rows, columns] += product.reshape(len(g), w.shape[1], *g.shape[2:])
    return handed(out, window.inside(frame))


def _apart(window: Window, axis: int, g: Array, frame: Array) -> tuple[slice, slice]:
    """Where the elements of g go in the frame, `stride` apart, and which of them find room."""
    step, length, room = window.stride[axis], g.shape[axis + 2], frame.shape[axis + 2]
    start = window.size[axis] - 1 - window.pads[axis][0]
    first = max(0, -(start // step))
    last = max(first, min(length, -((start - room) // step)))
    return slice(start + first * step, start + last * step, step), slice(first, last)


conv2d_input: Op = operator(
    "Conv2dInput",
    shape=_input_shape,
    run=_conv_input,
    vjp=(
        lambda h, y, g, w, x, **attrs: conv2d(h, w, **attrs),
        lambda h, y, g, w, x, **attrs: conv2d_weight(g, h, w, **attrs),
        None,
    ),
    dtype=as_float,
    inputs=as_float,
    shape_only=(2,),
    products=lambda y, g, w, x: _products(g, w),
    title=("gradient of convolution for the images", "卷积对输入图像的梯度"),
    formula="{0} ∗ᵀ {1}",
    samples=(
        Sample([(2, 2, 1, 3), (2, 1, 3, 3), (2, 1, 3, 5)]),
        Sample([(2, 1, 3, 2), (1, 3, 3, 3), (2, 3, 5, 3)], STRIDED),
        Sample([(1, 1, 3, 3), (1, 2, 1, 1), (1, 2, 1, 1)], {"padding": 1}),
    ),
)


def _weight_shape(g: Shape, x: Shape, w: Shape, **attrs: Any) -> Shape:
    window = _window("Conv2dWeight", w, **attrs)
    window.belongs(g, _result(window, x, w))
    return w


def _conv_weight(out: Array, g: Array, x: Array, w: Any, **attrs: Any) -> Array:
    """An element of a kernel sums the products of g with all that it lay upon."""
    _weight_shape(g.shape, x.shape, w.shape, **attrs)
    window = _window("Conv2dWeight", w.shape, **attrs)
    places = g.shape[2:]
    flat = g.reshape(*g.shape[:2], math.prod(places))
    total = np.zeros((w.shape[0], math.prod(w.shape[1:])), g.dtype)
    for images, patches in _columns(_with_frame(x, window), window.size, places, window.stride):
        total += np.add.reduce(np.matmul(flat[images], patches.swapaxes(1, 2)), axis=0)
    return handed(out, total.reshape(w.shape))


conv2d_weight: Op = operator(
    "Conv2dWeight",
    shape=_weight_shape,
    run=_conv_weight,
    vjp=(
        lambda h, y, g, x, w, **attrs: conv2d(x, h, **attrs),
        lambda h, y, g, x, w, **attrs: conv2d_input(g, h, x, **attrs),
        None,
    ),
    dtype=as_float,
    inputs=as_float,
    shape_only=(2,),
    products=lambda y, g, x, w: _products(g, w),
    title=("gradient of convolution for the kernels", "卷积对卷积核的梯度"),
    formula="{0} ∗ᵀ {1}",
    samples=(
        Sample([(2, 2, 1, 3), (2, 1, 3, 5), (2, 1, 3, 3)]),
        Sample([(2, 1, 3, 2), (2, 3, 5, 3), (1, 3, 3, 3)], STRIDED),
    ),
)

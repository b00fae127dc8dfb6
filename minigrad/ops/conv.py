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

from minigrad.core import Array, Dim, Op, Sample, Shape, as_float, into, operator, show_shapes
from minigrad.diagnostics.errors import ShapeError
from minigrad.ops.windows import Window, inward, outward

__all__ = ["conv2d", "conv2d_input", "conv2d_weight"]

SCRATCH = 1 << 18  # elements of the columns that are made at a time
KERNELS = "4 axes (kernels, channels, height, width)"


def _window(name: str, w: Shape, **attrs: Any) -> Window:
    if len(w) != 4:
        raise ShapeError("rank", op=name, expected=KERNELS, shape=show_shapes(w))
    return Window.of(name, w[2:], **attrs)


def _result_shape(window: Window, x: Shape, w: Shape) -> Shape:
    """Infer the shape of the convolution of x with w."""
    places, groups = window.places(x), window.groups
    for count, shape in ((x[1], x), (w[0], w)) if groups > 1 else ():
        if not isinstance(count, Dim) and count % groups:
            about: dict[str, Any] = {"groups": groups, "count": count, "shape": show_shapes(shape)}
            raise ShapeError("groups", op=window.name, **about)
    expected = w[1] if isinstance(w[1], Dim) else w[1] * groups
    if x[1] != expected and not isinstance(x[1], Dim) and not isinstance(expected, Dim):
        shapes = show_shapes(x, w)
        raise ShapeError(
            "channels", op=window.name, shapes=shapes, channels=x[1], expected=expected
        )
    return (x[0], w[0], *places)


def _conv_shape(x: Shape, w: Shape, **attrs: Any) -> Shape:
    return _result_shape(_window("Conv2d", w, **attrs), x, w)


def _as_matrix(x: Array) -> Array:
    """Merge all axes but the first."""
    return x.reshape(len(x), math.prod(x.shape[1:]))


def _split_groups(matrix: Array, groups: int) -> Array:
    """Split the rows into equal parts, one for each group; a single group stays as it is."""
    if groups == 1:
        return matrix
    return matrix.reshape(groups, matrix.shape[0] // groups, *matrix.shape[1:])


def _patches(frame: Array, window: Window, places: Any) -> Iterator[tuple[slice, Array]]:
    """Yield the patch at each place as a column: (channels · size, places · images).

    So many rows of places at a time as fit into the fast part of the memory; the slice says which.
    """
    (c, _, _, n), (down, right) = frame.shape, window.stride
    channel, row, column, image = frame.strides
    strides = (channel, row, column, row * down, column * right, image)
    patches = as_strided(frame, (c, *window.size, *places, n), strides, writeable=False)
    size, wide = c * math.prod(window.size), places[1] * n
    count = max(1, SCRATCH // max(size * wide, 1))
    for start in range(0, places[0], count):
        rows = patches[:, :, :, start : start + count]
        yield slice(start, start + count), rows.reshape(size, rows.shape[3] * wide)


def _conv(out: Array, x: Array, w: Array, **attrs: Any) -> Array:
    window = _window("Conv2d", w.shape, **attrs)
    places: Any = _result_shape(window, x.shape, w.shape)[2:]
    result = np.empty((len(w), *places, len(x)), x.dtype)
    kernels, groups = _split_groups(_as_matrix(w), window.groups), window.groups
    for rows, patches in _patches(window.framed(x), window, places):
        to = _split_groups(_as_matrix(result[:, rows]), groups)
        np.matmul(kernels, _split_groups(patches, groups), out=to)
    return outward(out, result)


def _count_products(moved: tuple[int, ...], w: tuple[int, ...]) -> int:
    """Count the multiplications: for each element of the result, the size of one kernel."""
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
    products=lambda y, x, w: _count_products(y, w),
    title=("convolution", "卷积"),
    formula="{0} ∗ {1}",
    samples=(
        Sample([(2, 1, 3, 5), (2, 1, 3, 3)]),
        Sample([(2, 3, 5, 4), (1, 3, 3, 1)], {"stride": 2, "padding": (1, 0)}),
        Sample([(1, 2, 3, 3), (2, 2, 2, 3)], {"padding": "same"}),
        Sample([(2, 4, 3, 4), (6, 2, 2, 3)], {"padding": 1, "groups": 2}),
        Sample([(1, 3, 4, 4), (3, 1, 3, 2)], {"stride": (1, 2), "groups": 3}),
    ),
)


def _input_shape(g: Shape, w: Shape, x: Shape, **attrs: Any) -> Shape:
    window = _window("Conv2dInput", w, **attrs)
    window.belongs(g, _result_shape(window, x, w))
    return x


def _conv_input(out: Array, g: Array, w: Array, x: Any, **attrs: Any) -> Array:
    """Add each element of g to the pixels that its window covered."""
    _input_shape(g.shape, w.shape, x.shape, **attrs)
    window = _window("Conv2dInput", w.shape, **attrs)
    frame, groups = window.frame(x.shape, g.dtype), window.groups
    slopes = _split_groups(_as_matrix(inward(g)), groups)
    taps = _split_groups(w.reshape(*w.shape[:2], math.prod(window.size)), groups)
    for i, (rows, columns) in enumerate(window.offsets(g.shape[2:])):
        part = frame[:, rows, columns]
        part += np.matmul(taps[..., i].swapaxes(-1, -2), slopes).reshape(part.shape)
    return outward(out, window.inside(frame))


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
    products=lambda y, g, w, x: _count_products(g, w),
    title=("gradient of convolution for the images", "卷积对输入图像的梯度"),
    formula="{0} ∗ᵀ {1}",
    samples=(
        Sample([(2, 2, 1, 3), (2, 1, 3, 3), (2, 1, 3, 5)]),
        Sample([(2, 1, 3, 2), (1, 3, 3, 3), (2, 3, 5, 3)], STRIDED),
        Sample([(1, 1, 3, 3), (1, 2, 1, 1), (1, 2, 1, 1)], {"padding": 1}),
        Sample([(2, 4, 3, 4), (4, 1, 3, 3), (2, 2, 3, 4)], {"padding": 1, "groups": 2}),
    ),
)


def _weight_shape(g: Shape, x: Shape, w: Shape, **attrs: Any) -> Shape:
    window = _window("Conv2dWeight", w, **attrs)
    window.belongs(g, _result_shape(window, x, w))
    return w


def _conv_weight(out: Array, g: Array, x: Array, w: Any, **attrs: Any) -> Array:
    """Sum for each kernel element the products of g with the pixels it was multiplied with."""
    _weight_shape(g.shape, x.shape, w.shape, **attrs)
    window = _window("Conv2dWeight", w.shape, **attrs)
    slopes, groups = inward(g), window.groups
    size, kernels = math.prod(w.shape[1:]), w.shape[0] // groups
    total = np.zeros((size, kernels) if groups == 1 else (groups, size, kernels), g.dtype)
    for rows, patches in _patches(window.framed(x), window, g.shape[2:]):
        among = _split_groups(_as_matrix(slopes[:, rows]), groups)
        total += np.matmul(_split_groups(patches, groups), among.swapaxes(-1, -2))
    return into(out, total.swapaxes(-1, -2).reshape(w.shape))


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
    products=lambda y, g, x, w: _count_products(g, w),
    title=("gradient of convolution for the kernels", "卷积对卷积核的梯度"),
    formula="{0} ∗ᵀ {1}",
    samples=(
        Sample([(2, 2, 1, 3), (2, 1, 3, 5), (2, 1, 3, 3)]),
        Sample([(2, 1, 3, 2), (2, 3, 5, 3), (1, 3, 3, 3)], STRIDED),
        Sample([(2, 4, 3, 4), (2, 2, 3, 4), (4, 1, 3, 3)], {"padding": 1, "groups": 2}),
    ),
)

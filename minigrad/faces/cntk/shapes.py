"""Helpers for CNTK's functions of static axes."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

import minigrad as mg
from minigrad.faces.cntk.functions import Function, apply, as_function, elementwise, reduce
from minigrad.faces.cntk.recurrence import init_parameter
from minigrad.faces.cntk.variables import Parameter
from minigrad.faces.ties import corners

__all__ = [
    "arg_best",
    "bounded_log",
    "concat_axis",
    "convolution",
    "fold_args",
    "make_parameter",
    "one_hot_max",
    "pooling",
    "reshape_samples",
    "returns_floats",
    "slice_axis",
    "transpose_2d",
    "with_axes",
]


def over_images(function: Any, x: Any, *more: Any) -> Function:
    """Apply a function of (channels, height, width) to one image or many."""
    x = as_function(x)
    if x.axis is not None:
        return apply(function, x, *more)
    return apply(lambda v, *w: mg.squeeze(function(mg.expand_dims(v, 0), *w), 0), x, *more)


def convolution(
    convolution_map: Any, operand: Any, strides: Any = (1,), auto_padding: Sequence[bool] = (True,)
) -> Function:
    """Convolve (channels, height, width) with kernels ([out,] in, height, width)."""
    kernel = as_function(convolution_map)
    padding, step = "same" if auto_padding[-1] else "valid", tuple(strides)[-2:]
    step = step * 2 if len(step) == 1 else step

    def convolve(v: Any, w: Any) -> Any:
        w = w if len(kernel.shape) > 3 else mg.expand_dims(w, 0)
        return mg.conv2d(v, w, None, step, padding)

    return over_images(convolve, operand, kernel)


def pooling(
    operand: Any, pooling_type: str, pooling_window_shape: Any, strides: Any = (1,)
) -> Function:
    """Pool the largest or the mean of each window of (channels, height, width)."""
    step = tuple(strides)[-2:]
    step = step * 2 if len(step) == 1 else step
    make = getattr(mg, pooling_type)
    return over_images(lambda v: make(v, tuple(pooling_window_shape), step), operand)


def arg_best(argmax: Any, x: Any, axis: Any) -> Function:
    """Return the best element's position along an axis, which is kept, or among all elements."""
    if axis is None:
        x = as_function(x)
        lead = () if x.axis is None else (-1,)
        flat = (*lead, int(np.prod(x.shape)))
        return apply(lambda v: mg.cast(argmax(mg.reshape(v, flat), -1), mg.float32), x)

    def along(v: Any, axis: int, keepdims: bool) -> Any:
        return mg.cast(mg.expand_dims(argmax(v, axis), axis), mg.float32)

    return reduce(along, x, axis)


def returns_floats(compare: Any) -> Any:
    """Wrap a comparison so that it returns 1 or 0."""
    return lambda a, b: mg.cast(compare(a, b), mg.float32)


def bounded_log(v: Any) -> Any:
    """Compute the logarithm, bounded near 0 as in CNTK, with the gradient at that bound."""
    return corners.bounded_log(v, 1e-37, -85.1, math.exp(85.1))


def one_hot_max(v: Any, axis: int) -> Any:
    """Return 1 at the first of the largest elements, else 0."""
    return mg.one_hot(mg.argmax(v, axis), v.shape[axis])


def fold_args(function: Any, *xs: Any, name: str = "") -> Function:
    """Fold an associative function over two or more operands; a final string is the name."""
    if isinstance(xs[-1], str):
        *xs, name = xs  # type: ignore[assignment]
    found = functools.reduce(functools.partial(elementwise, function), xs[1:], as_function(xs[0]))
    found.name = name
    return found


def slice_axis(x: Any, axis: int, low: int, high: int) -> Function:
    """Slice a static axis from `low` up to `high`, which is excluded."""
    x = as_function(x)
    along = axis % len(x.shape) + (x.axis is not None)
    return apply(lambda v: v[(*[slice(None)] * along, slice(low, high or None))], x)


def with_axes(function: Any, x: Any, *axes: int) -> Function:
    """Apply a function that takes the numbers of static axes."""
    x = as_function(x)
    lead = x.axis is not None
    return apply(lambda v: function(v, *[a + lead if a >= 0 else a for a in axes]), x)


def concat_axis(inputs: Sequence[Any], axis: int) -> Function:
    """Concatenate operands along a static axis."""
    operands = [as_function(x) for x in inputs]
    along = axis + (operands[0].axis is not None) if axis >= 0 else axis
    return apply(lambda *vs: mg.concatenate(vs, axis=along), *operands)


def reshape_samples(x: Any, shape: Any) -> Function:
    """Reshape each sample."""
    x = as_function(x)
    dims = (shape,) if isinstance(shape, int) else tuple(-1 if n == 0 else n for n in shape)
    known = [n for n in dims if n != -1]
    full = tuple(int(np.prod(x.shape) // np.prod(known)) if n == -1 else n for n in dims)
    return apply(lambda v: mg.reshape(v, full if x.axis is None else (-1, *full)), x)


def transpose_2d(x: Any) -> Function:
    """Transpose a matrix; a vector counts as a row and becomes a column."""
    x = as_function(x)
    column = len(x.shape) == 1
    return reshape_samples(x, (*x.shape, 1)) if column else with_axes(mg.swapaxes, x, 0, 1)


def make_parameter(shape: Any, init: Any, name: str) -> Parameter:
    """Make a parameter of this shape, or of the shape of its initial array."""
    if shape is None:
        shape = np.shape(init)
    return init_parameter((shape,) if isinstance(shape, int) else tuple(shape), init, name)

"""Helpers for CNTK's functions of static axes."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

import minigrad as mg
from minigrad.faces.cntk.functions import Function, aligned, function, op, reduced
from minigrad.faces.cntk.recurrence import started
from minigrad.faces.cntk.variables import Parameter
from minigrad.faces.ties import corners

__all__ = [
    "arranged",
    "as_numbers",
    "best_position",
    "convolution",
    "cut",
    "hard",
    "made",
    "natural_log",
    "pooling",
    "several",
    "shaped",
    "spliced",
    "turned",
]


def images(make: Any, x: Any, *more: Any) -> Function:
    """Apply a function of (channels, height, width) to one image or many."""
    x = function(x)
    if x.axis is not None:
        return op(make, x, *more)
    return op(lambda v, *w: mg.squeeze(make(mg.expand_dims(v, 0), *w), 0), x, *more)


def convolution(
    convolution_map: Any, operand: Any, strides: Any = (1,), auto_padding: Sequence[bool] = (True,)
) -> Function:
    """Convolve (channels, height, width) with kernels ([out,] in, height, width)."""
    kernel = function(convolution_map)
    padding, step = "same" if auto_padding[-1] else "valid", tuple(strides)[-2:]
    step = step * 2 if len(step) == 1 else step

    def convolved(v: Any, w: Any) -> Any:
        w = w if len(kernel.shape) > 3 else mg.expand_dims(w, 0)
        return mg.conv2d(v, w, None, step, padding)

    return images(convolved, operand, kernel)


def pooling(
    operand: Any, pooling_type: str, pooling_window_shape: Any, strides: Any = (1,)
) -> Function:
    """Pool the largest or the mean of each window of (channels, height, width)."""
    step = tuple(strides)[-2:]
    step = step * 2 if len(step) == 1 else step
    make = getattr(mg, pooling_type)
    return images(lambda v: make(v, tuple(pooling_window_shape), step), operand)


def best_position(best: Any, x: Any, axis: Any) -> Function:
    """Return the best element's position along an axis, which is kept, or among all elements."""
    if axis is None:
        x = function(x)
        lead = () if x.axis is None else (-1,)
        flat = (*lead, int(np.prod(x.shape)))
        return op(lambda v: mg.cast(best(mg.reshape(v, flat), -1), mg.float32), x)

    def along(v: Any, axis: int, keepdims: bool) -> Any:
        return mg.cast(mg.expand_dims(best(v, axis), axis), mg.float32)

    return reduced(along, x, axis)


def as_numbers(test: Any) -> Any:
    """Wrap a comparison so that it returns 1 or 0."""
    return lambda a, b: mg.cast(test(a, b), mg.float32)


def natural_log(v: Any) -> Any:
    """Compute the logarithm, bounded near 0 as in CNTK, with the gradient at that bound."""
    return corners.bounded_log(v, 1e-37, -85.1, math.exp(85.1))


def hard(v: Any, axis: int) -> Any:
    """Return 1 at the first of the largest elements, else 0."""
    return mg.one_hot(mg.argmax(v, axis), v.shape[axis])


def several(make: Any, *xs: Any, name: str = "") -> Function:
    """Fold an associative function over two or more operands; a final string is the name."""
    if isinstance(xs[-1], str):
        *xs, name = xs  # type: ignore[assignment]
    found = functools.reduce(functools.partial(aligned, make), xs[1:], function(xs[0]))
    found.name = name
    return found


def cut(x: Any, axis: int, low: int, high: int) -> Function:
    """Slice a static axis from `low` up to `high`, which is excluded."""
    x = function(x)
    along = axis % len(x.shape) + (x.axis is not None)
    return op(lambda v: v[(*[slice(None)] * along, slice(low, high or None))], x)


def arranged(make: Any, x: Any, *axes: int) -> Function:
    """Apply a function that takes the numbers of static axes."""
    x = function(x)
    lead = x.axis is not None
    return op(lambda v: make(v, *[a + lead if a >= 0 else a for a in axes]), x)


def spliced(inputs: Sequence[Any], axis: int) -> Function:
    """Concatenate operands along a static axis."""
    operands = [function(x) for x in inputs]
    along = axis + (operands[0].axis is not None) if axis >= 0 else axis
    return op(lambda *vs: mg.concatenate(vs, axis=along), *operands)


def shaped(x: Any, shape: Any) -> Function:
    """Reshape each sample."""
    x = function(x)
    dims = (shape,) if isinstance(shape, int) else tuple(-1 if n == 0 else n for n in shape)
    known = [n for n in dims if n != -1]
    full = tuple(int(np.prod(x.shape) // np.prod(known)) if n == -1 else n for n in dims)
    return op(lambda v: mg.reshape(v, full if x.axis is None else (-1, *full)), x)


def turned(x: Any) -> Function:
    """Transpose a matrix; a vector counts as a row and becomes a column."""
    x = function(x)
    column = len(x.shape) == 1
    return shaped(x, (*x.shape, 1)) if column else arranged(mg.swapaxes, x, 0, 1)


def made(shape: Any, init: Any, name: str) -> Parameter:
    """Make a parameter of this shape, or of the shape of its initial array."""
    if shape is None:
        shape = np.shape(init)
    return started((shape,) if isinstance(shape, int) else tuple(shape), init, name)

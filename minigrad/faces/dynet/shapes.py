"""Helpers for DyNet's functions: shapes, samples and dimensions."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

import minigrad as mg
from minigrad.faces.dynet.graph import (
    Expression,
    Input,
    apply,
    as_expression,
    elementwise,
    leaf,
    reshape_value,
)
from minigrad.faces.face import as_tuple, make_error
from minigrad.faces.ties import corners

__all__ = [
    "along_dim",
    "apply_stacked",
    "as_vector",
    "batch_elems",
    "binary_op",
    "concat_batch",
    "concat_dim",
    "conv2d",
    "dropout_mask",
    "inputTensor",
    "log_loss",
    "max_along",
    "maxpooling2d",
    "min_along",
    "permute_dims",
    "pick_each",
    "random_input",
    "reduce_dims",
    "reshape",
    "slice_dim",
    "take_rows",
    "unpack_one",
    "with_batch",
    "with_noise",
]


def inputTensor(arr: Any, batched: bool = False) -> Input:
    """Make an input of an array; a batch is a list, or has samples along its last axis."""
    if batched and isinstance(arr, list):
        arr = np.stack(arr, axis=-1)
    array = np.asarray(arr, np.float32)
    count = array.shape[-1] if batched else 1
    if batched:
        array = np.moveaxis(array, -1, 0)
    if batched and count == 1:
        array = array[0]
    return leaf(array if array.ndim > (count > 1) else array[..., np.newaxis], count)


def reshape(x: Any, d: Any, batch_size: int = 0) -> Expression:
    """Change the dimensions of the same values, counted column by column."""
    x, d = as_expression(x), as_dims(d)
    lead = len(x.batch_dims)
    count = batch_size or x.batch

    def reverse_axes(v: Any, first: int) -> Any:
        axes = range(v.ndim)
        return mg.transpose(v, (*axes[:first], *reversed(axes[first:])))

    def call(v: Any) -> Any:
        shape = ((count,) if count > 1 else ()) + d[::-1]
        return reverse_axes(mg.reshape(reverse_axes(v, lead), shape), int(count > 1))

    return apply(call, x, batch=count)


def as_dims(d: Any) -> tuple[int, ...]:
    """Return dimensions as a tuple, also if given as one number."""
    return (d,) if isinstance(d, int) else tuple(d)


def as_image(x: Any) -> Expression:
    """Return an expression with height, width and channels, adding a missing channel axis."""
    x = as_expression(x)
    return x if len(x.dims) > 2 else reshape(x, (*x.dims, 1))


def _apply_to_images(function: Any, *xs: Expression) -> Expression:
    """Apply a function of (n, channels, h, w) images to (h, w, channels) expressions."""
    x, single = xs[0], xs[0].batch == 1

    def call(v: Any, *more: Any) -> Any:
        images = mg.transpose(mg.expand_dims(v, 0) if single else v, (0, 3, 1, 2))
        y = mg.transpose(function(images, *more), (0, 2, 3, 1))
        return mg.squeeze(y, 0) if single else y

    return apply(call, *xs, batch=x.batch)


def conv2d(x: Any, f: Any, stride: Any, is_valid: bool = True) -> Expression:
    """Convolve (height, width, channels) with filters (height, width, in, out)."""
    padding = "valid" if is_valid else "same"

    def convolve(images: Any, kernel: Any) -> Any:
        return mg.conv2d(images, mg.transpose(kernel, (3, 2, 0, 1)), None, tuple(stride), padding)

    return _apply_to_images(convolve, as_image(x), as_expression(f))


def maxpooling2d(x: Any, ksize: Any, stride: Any) -> Expression:
    """Return the maximum of each window; only windows fully inside the image count."""
    return _apply_to_images(lambda v: mg.max_pool2d(v, tuple(ksize), tuple(stride)), as_image(x))


def apply_stacked(function: Any, xs: Sequence[Any]) -> Expression:
    """Stack several expressions and apply a function along the new first axis."""
    exprs = as_expressions(xs)
    count = max(x.batch for x in exprs)

    def call(*values: Any) -> Any:
        rows = [
            v if x.batch == count else mg.broadcast_to(v, (count, *x.dims))
            for v, x in zip(values, exprs, strict=True)
        ]
        return function(mg.stack(rows), axis=0)

    return apply(call, *exprs)


def as_vector(x: Any) -> Expression:
    """Return the expression of a vector; raise ShapeError for a matrix."""
    given = as_expression(x)
    if len(given.dims) > 1:
        raise make_error(mg.ShapeError, "face_vector", dim=given.dims)
    return given


def max_along(v: Any, axis: Any) -> Any:
    """Return the maximum along one axis; among equal elements the first gets the gradient."""
    return mg.max(v, dim=as_tuple(axis)[0])[0]


def min_along(v: Any, axis: Any) -> Any:
    """Return the minimum along one axis; among equal elements the first gets the gradient."""
    return mg.min(v, dim=as_tuple(axis)[0])[0]


def log_loss(p: Any, t: Any) -> Any:
    """Compute binary cross-entropy, bounded as in DyNet where a probability is 0 or 1."""
    least, lowest = float(FLOAT.tiny), math.log(FLOAT.tiny)
    yes = corners.bounded_log(p, least, lowest, 1 / least)
    no = corners.bounded_log(1 - p, least, lowest, 1 / float(FLOAT.eps))
    loss = -(t * yes + (1 - t) * no)
    return mg.where(mg.equal(p, t), mg.stop_gradient(loss), loss)


FLOAT = np.finfo(np.float32)


def along_dim(function: Any, x: Any, d: int) -> Expression:
    """Apply a function along one dimension."""
    x = as_expression(x)
    axis = d + len(x.batch_dims)
    return apply(lambda v: function(v, axis=axis), x)


def concat_batch(xs: Sequence[Any]) -> Expression:
    """Concatenate the samples of several expressions."""
    xs = as_expressions(xs)
    shapes = [(x.batch, *x.dims) for x in xs]
    return apply(
        lambda *values: mg.concatenate(
            [mg.reshape(v, shape) for v, shape in zip(values, shapes, strict=True)]
        ),
        *xs,
        batch=sum(x.batch for x in xs),
    )


def take_rows(x: Any, indices: Any, axis: int) -> Expression:
    """Select positions of a dimension."""
    x = as_expression(x)
    return apply(lambda v: mg.take(v, np.asarray(indices), axis + len(x.batch_dims)), x)


def slice_dim(x: Any, low: int, high: int, dim: int) -> Expression:
    """Slice a dimension from `low` up to `high`, which is excluded."""
    x = as_expression(x)
    key = (slice(None),) * (dim + len(x.batch_dims)) + (slice(low, high),)
    return apply(lambda v: v[key], x)


def permute_dims(x: Any, dims: Sequence[int]) -> Expression:
    """Reorder the dimensions; a vector counts as a column."""
    x = as_expression(x)
    shape, first = x.batch_dims + (*x.dims, 1)[: max(2, len(x.dims))], len(x.batch_dims)
    axes = (*range(first), *(d + first for d in dims))
    return apply(lambda v: mg.transpose(mg.reshape(v, shape), axes), x)


def batch_elems(x: Any, indices: Sequence[int]) -> Expression:
    """Select some of the samples."""
    count = len(indices)
    return apply(lambda v: v[np.asarray(indices)] if count > 1 else v[indices[0]], x, batch=count)


def pick_each(x: Any, indices: Sequence[int]) -> Expression:
    """Pick one position of each sample, along the first dimension."""
    x, index = as_expression(x), np.asarray(indices)
    shape = (len(index), *(x.dims[1:] or (1,)))
    if x.batch == 1:
        return apply(lambda v: mg.reshape(mg.take(v, index, 0), shape), x, batch=len(index))
    return apply(lambda v: mg.reshape(v[np.arange(len(index)), index], shape), x)


def random_input(value: Any, batch_size: int = 1) -> Input:
    """Make an input expression of the values just generated."""
    return leaf(value.data, batch_size)


def with_batch(d: Any, batch_size: int) -> tuple[int, ...]:
    """Return dimensions, preceded by the number of samples if there are several."""
    return ((batch_size,) if batch_size > 1 else ()) + as_dims(d)


def dropout_mask(shape: tuple[int, ...], keep_rate: float) -> Any:
    """Draw a dropout mask: 1 / share for the share of values kept on average, else 0."""
    return mg.cast(mg.rand(shape) < keep_rate, mg.float32) / keep_rate


def with_noise(function: Any, x: Any, sample: Any) -> Expression:
    """Apply a function to a value and to noise, drawn now, once for this expression."""
    x = as_expression(x)
    noise = sample(x.batch_dims + x.dims)
    return apply(lambda v: function(v, noise), x)


def binary_op(function: Any, x: Any, y: Any) -> Expression:
    """Apply a function of two expressions, element by element."""
    return elementwise(function, as_expression(x), as_expression(y))


def unpack_one(xs: tuple[Any, ...]) -> Any:
    """Return the only argument, or the tuple of several."""
    return xs[0] if len(xs) == 1 else xs


def reduce_dims(
    function: Any, x: Any, d: Iterable[int] | None = None, b: bool = False
) -> Expression:
    """Reduce along dimensions (default: all), and along the samples as well if b is True."""
    given = as_expression(x)
    gone = range(len(given.dims)) if d is None else list(d)
    axes = [*range(len(given.batch_dims) * b), *(i + len(given.batch_dims) for i in gone)]
    left = tuple(n for i, n in enumerate(given.dims) if i not in gone) or (1,)
    shape = left if b else given.batch_dims + left
    if not axes:
        return given
    batch = 1 if b else given.batch
    return apply(lambda v: reshape_value(function(v, axis=tuple(axes)), shape), given, batch=batch)


def as_expressions(xs: Sequence[Any]) -> list[Expression]:
    """Return operands as expressions; raise AssertionFailed if there are none."""
    if not xs:
        raise make_error(mg.AssertionFailed, "face_empty")
    return [as_expression(x) for x in xs]


def concat_dim(xs: Sequence[Any], d: int = 0) -> Expression:
    """Concatenate expressions along a dimension, which is added if missing."""
    exprs = as_expressions(xs)
    rank = max(d + 1, *[len(x.dims) for x in exprs])
    batch = max(x.batch for x in exprs)
    lead = (batch,) if batch > 1 else ()
    dims = [x.dims + (1,) * (rank - len(x.dims)) for x in exprs]

    def call(*values: Any) -> Any:
        own = [
            mg.reshape(v, (*x.batch_dims, *n)) for v, x, n in zip(values, exprs, dims, strict=True)
        ]
        full = [mg.broadcast_to(v, lead + n) for v, n in zip(own, dims, strict=True)]
        return mg.concatenate(full, axis=d + len(lead))

    return apply(call, *exprs)

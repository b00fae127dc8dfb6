"""What DyNet's functions are made of: shapes, samples and dimensions."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

import minigrad as mg
from minigrad.faces.dynet.graph import (
    Expression,
    Input,
    aligned,
    expression,
    leaf,
    op,
    shaped,
)
from minigrad.faces.face import failed, ordered
from minigrad.faces.ties import corners

__all__ = [
    "alone",
    "batch_elems",
    "column",
    "conv2d",
    "drawn",
    "each",
    "full",
    "inputTensor",
    "joined",
    "kept",
    "largest",
    "log_loss",
    "maxpooling2d",
    "mixed",
    "noisy",
    "pair",
    "part",
    "reduced",
    "reshape",
    "rows",
    "smallest",
    "softly",
    "stacked",
    "turned",
]


def inputTensor(arr: Any, batched: bool = False) -> Input:
    """An array; of a batch the last axis counts the samples, or it is a list of arrays."""
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
    """Other dimensions for the same numbers, which are told column by column."""
    x, d = expression(x), whole(d)
    lead = len(x.lead)
    count = batch_size or x.batch

    def turned(v: Any, first: int) -> Any:
        axes = range(v.ndim)
        return mg.transpose(v, (*axes[:first], *reversed(axes[first:])))

    def call(v: Any) -> Any:
        shape = ((count,) if count > 1 else ()) + d[::-1]
        return turned(mg.reshape(turned(v, lead), shape), int(count > 1))

    return op(call, x, batch=count)


def whole(d: Any) -> tuple[int, ...]:
    """Dimensions, which may be one number."""
    return (d,) if isinstance(d, int) else tuple(d)


def maps(x: Any) -> Expression:
    """Height, width and channels, which may be left out."""
    x = expression(x)
    return x if len(x.dims) > 2 else reshape(x, (*x.dims, 1))


def _over_images(function: Any, *xs: Expression) -> Expression:
    """A function of images: samples and channels stand first there, channels last here."""
    x, single = xs[0], xs[0].batch == 1

    def call(v: Any, *more: Any) -> Any:
        images = mg.transpose(mg.expand_dims(v, 0) if single else v, (0, 3, 1, 2))
        y = mg.transpose(function(images, *more), (0, 2, 3, 1))
        return mg.squeeze(y, 0) if single else y

    return op(call, *xs, batch=x.batch)


def conv2d(x: Any, f: Any, stride: Any, is_valid: bool = True) -> Expression:
    """Convolution of (height, width, channels) by (height, width, in, out)."""
    padding = "valid" if is_valid else "same"

    def convolved(images: Any, kernel: Any) -> Any:
        return mg.conv2d(images, mg.transpose(kernel, (3, 2, 0, 1)), None, tuple(stride), padding)

    return _over_images(convolved, maps(x), expression(f))


def maxpooling2d(x: Any, ksize: Any, stride: Any) -> Expression:
    """The largest of each window; windows lie inside."""
    return _over_images(lambda v: mg.max_pool2d(v, tuple(ksize), tuple(stride)), maps(x))


def stacked(function: Any, xs: Sequence[Any]) -> Expression:
    """A function along the first axis of several, which is laid out for that."""
    exprs = several(xs)
    count = max(x.batch for x in exprs)

    def call(*values: Any) -> Any:
        rows = [
            v if x.batch == count else mg.broadcast_to(v, (count, *x.dims))
            for v, x in zip(values, exprs, strict=True)
        ]
        return function(mg.stack(rows), axis=0)

    return op(call, *exprs)


def column(x: Any) -> Expression:
    """A vector."""
    given = expression(x)
    if len(given.dims) > 1:
        raise failed(mg.ShapeError, "face_vector", dim=given.dims)
    return given


def largest(v: Any, axis: Any) -> Any:
    """The largest along one axis; of equal ones the first gets the gradient."""
    return mg.max(v, dim=ordered(axis)[0])[0]


def smallest(v: Any, axis: Any) -> Any:
    """The smallest along one axis; of equal ones the first gets the gradient."""
    return mg.min(v, dim=ordered(axis)[0])[0]


def log_loss(p: Any, t: Any) -> Any:
    """The cross-entropy of two classes, as DyNet bounds it where a probability is 0 or 1."""
    least, lowest = float(FLOAT.tiny), math.log(FLOAT.tiny)
    yes = corners.bounded_log(p, least, lowest, 1 / least)
    no = corners.bounded_log(1 - p, least, lowest, 1 / float(FLOAT.eps))
    loss = -(t * yes + (1 - t) * no)
    return mg.where(mg.equal(p, t), mg.stop_gradient(loss), loss)


FLOAT = np.finfo(np.float32)


def softly(function: Any, x: Any, d: int) -> Expression:
    """A function that goes along one dimension."""
    x = expression(x)
    axis = d + len(x.lead)
    return op(lambda v: function(v, axis=axis), x)


def mixed(xs: Sequence[Any]) -> Expression:
    """Samples of several, one behind the other."""
    xs = several(xs)
    shapes = [(x.batch, *x.dims) for x in xs]
    return op(
        lambda *values: mg.concatenate(
            [mg.reshape(v, shape) for v, shape in zip(values, shapes, strict=True)]
        ),
        *xs,
        batch=sum(x.batch for x in xs),
    )


def rows(x: Any, indices: Any, axis: int) -> Expression:
    """Some positions of a dimension."""
    x = expression(x)
    return op(lambda v: mg.take(v, np.asarray(indices), axis + len(x.lead)), x)


def part(x: Any, low: int, high: int, dim: int) -> Expression:
    """Neighbouring positions of a dimension."""
    x = expression(x)
    key = (slice(None),) * (dim + len(x.lead)) + (slice(low, high),)
    return op(lambda v: v[key], x)


def turned(x: Any, dims: Sequence[int]) -> Expression:
    """The dimensions in another order; a vector is a column."""
    x = expression(x)
    shape, first = x.lead + (*x.dims, 1)[: max(2, len(x.dims))], len(x.lead)
    axes = (*range(first), *(d + first for d in dims))
    return op(lambda v: mg.transpose(mg.reshape(v, shape), axes), x)


def batch_elems(x: Any, indices: Sequence[int]) -> Expression:
    """Some of the samples."""
    count = len(indices)
    return op(lambda v: v[np.asarray(indices)] if count > 1 else v[indices[0]], x, batch=count)


def each(x: Any, indices: Sequence[int]) -> Expression:
    """One position of each sample, along the first dimension."""
    x, index = expression(x), np.asarray(indices)
    shape = (len(index), *(x.dims[1:] or (1,)))
    if x.batch == 1:
        return op(lambda v: mg.reshape(mg.take(v, index, 0), shape), x, batch=len(index))
    return op(lambda v: mg.reshape(v[np.arange(len(index)), index], shape), x)


def drawn(value: Any, batch_size: int = 1) -> Input:
    """An expression of numbers that were made here."""
    return leaf(value.data, batch_size)


def full(d: Any, batch_size: int) -> tuple[int, ...]:
    """Dimensions, and the samples in front if there are several."""
    return ((batch_size,) if batch_size > 1 else ()) + whole(d)


def kept(shape: tuple[int, ...], share: float) -> Any:
    """Which numbers are kept, so many of them on average, and what they are multiplied by."""
    return mg.cast(mg.rand(shape) < share, mg.float32) / share


def noisy(function: Any, x: Any, draw: Any) -> Expression:
    """A function of a value and of numbers that are drawn now, once for this expression."""
    x = expression(x)
    noise = draw(x.lead + x.dims)
    return op(lambda v: function(v, noise), x)


def pair(function: Any, x: Any, y: Any) -> Expression:
    """A function of two expressions, element by element."""
    return aligned(function, expression(x), expression(y))


def alone(xs: tuple[Any, ...]) -> Any:
    """One of it, or several."""
    return xs[0] if len(xs) == 1 else xs


def reduced(function: Any, x: Any, d: Iterable[int] | None = None, b: bool = False) -> Expression:
    """A function along dimensions, all if none are named, and along the samples as well with b."""
    given = expression(x)
    gone = range(len(given.dims)) if d is None else list(d)
    axes = [*range(len(given.lead) * b), *(i + len(given.lead) for i in gone)]
    left = tuple(n for i, n in enumerate(given.dims) if i not in gone) or (1,)
    shape = left if b else given.lead + left
    if not axes:
        return given
    batch = 1 if b else given.batch
    return op(lambda v: shaped(function(v, axis=tuple(axes)), shape), given, batch=batch)


def several(xs: Sequence[Any]) -> list[Expression]:
    """Expressions, of which there must be one at least."""
    if not xs:
        raise failed(mg.AssertionFailed, "face_empty")
    return [expression(x) for x in xs]


def joined(xs: Sequence[Any], d: int = 0) -> Expression:
    """One behind the other along a dimension, which is added where there is none."""
    exprs = several(xs)
    rank = max(d + 1, *[len(x.dims) for x in exprs])
    batch = max(x.batch for x in exprs)
    lead = (batch,) if batch > 1 else ()
    dims = [x.dims + (1,) * (rank - len(x.dims)) for x in exprs]

    def call(*values: Any) -> Any:
        own = [mg.reshape(v, (*x.lead, *n)) for v, x, n in zip(values, exprs, dims, strict=True)]
        full = [mg.broadcast_to(v, lead + n) for v, n in zip(own, dims, strict=True)]
        return mg.concatenate(full, axis=d + len(lead))

    return op(call, *exprs)

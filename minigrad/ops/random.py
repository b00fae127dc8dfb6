"""Random operators, which are pure functions: of a seed and of a count of the runs so far.

The numbers come from a counter-based generator (Philox): the key is the seed, the counter the
count, so any mask can be drawn again, in the backward pass or in the other mode. NumPy promises
the same stream in every version.
"""

from __future__ import annotations

import math

import numpy as np

from minigrad.core import (
    Array,
    Dtype,
    Op,
    Sample,
    Shape,
    as_float,
    fits,
    operator,
    public_shape,
    show_shape,
)
from minigrad.diagnostics.errors import DtypeError, ShapeError

__all__ = ["dropout"]

LEVELS = 1 << 16  # 16 random bits for each element: p is met to within 0.00001


def keep_mask(seed: int, count: int, shape: tuple[int, ...], p: float) -> Array:
    """Draw True with probability 1 − p; equal seed, count and shape draw equal masks."""
    size = math.prod(shape)
    stream = np.random.Philox(key=seed % (1 << 64), counter=count << 64)
    bits = stream.random_raw(size // 4 + 1).astype("<u8", copy=False).view("<u2")
    return (bits[:size] >= min(round(p * LEVELS), LEVELS - 1)).reshape(shape)


def _dropout(out: Array, x: Array, count: Array, p: float, seed: int) -> Array:
    _shape(x.shape, count.shape, p=p)
    dtype = _dtype(x.dtype, count.dtype)
    kept = np.multiply(x, keep_mask(seed, int(count), x.shape, p), dtype=dtype)
    scale = kept.dtype.type(0 if p == 1 else 1 / (1 - p))
    return np.multiply(kept, scale, out=out)


def _shape(x: Shape, count: Shape, p: float, seed: int = 0) -> Shape:
    if not 0 <= p <= 1:
        raise ShapeError("probability", op="Dropout", p=p)
    if not fits(count, ()):
        shape = show_shape(public_shape(count))
        raise ShapeError("rank", op="Dropout", expected="a count without axes", shape=shape)
    return x


def _dtype(x: Dtype, count: Dtype) -> Dtype:
    if count.kind not in "iu":
        raise DtypeError("count_type", op="Dropout", dtype=count)
    return as_float(x)


dropout: Op = operator(
    "Dropout",
    shape=_shape,
    run=_dropout,
    vjp=(
        lambda g, y, x, count, **attrs: dropout(g, count, **attrs),  # the very same mask
        None,
    ),
    dtype=_dtype,
    inputs=None,
    title=("dropout", "暂退法（dropout）"),
    formula="dropout({0})",
    samples=(
        Sample([(2, 3), ()], {"p": 0.5, "seed": 1}, integers=(1,)),
        Sample([(3,), ()], {"p": 0.0, "seed": -1}, integers=(1,)),
    ),
)

"""Caffe's fillers, which initialize parameters before training."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from minigrad.core import Array, float32


def init_parameter(net: Any, filler: Any, shape: tuple[int, ...], start: float = 0.0) -> Array:
    """Initialize a parameter with its filler: constant, uniform, gaussian, xavier or msra.

    `start` is its value if no filler is given.
    """
    if filler is None or not filler.ListFields():
        return np.full(shape, start, float32)
    draw, kind = net.random, filler.type
    if kind == "constant":
        return np.full(shape, filler.value, float32)
    if kind == "uniform":
        return draw.uniform(filler.min, filler.max, shape).astype(float32)
    if kind == "gaussian" and filler.sparse < 0:
        return draw.normal(filler.mean, filler.std, shape).astype(float32)
    inward = math.prod(shape) / max(shape[0], 1)
    outward = math.prod(shape) / max(shape[1] if len(shape) > 1 else 1, 1)
    count = (inward, outward, (inward + outward) / 2)[filler.variance_norm]
    if kind == "xavier":
        return draw.uniform(-1, 1, shape).astype(float32) * float32.type(math.sqrt(3 / count))
    if kind == "msra":
        return draw.normal(0, math.sqrt(2 / count), shape).astype(float32)
    net.fail("caffe_filler", "type", type=kind)
    raise AssertionError  # not reached

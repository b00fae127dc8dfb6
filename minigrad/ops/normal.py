"""Normalisation: values brought to mean 0 and variance 1 along some axes."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.core import Array, Op, Sample, Shape, as_float, operator
from minigrad.ops.elementwise import sqrt
from minigrad.ops.shape import Axis, mean, positive_axes

__all__ = ["normalize"]


def _same_shape(x: Shape, axis: Axis = -1, eps: float = 1e-5) -> Shape:
    positive_axes("Normalize", axis, x)
    return x


def _normalize(out: Array, x: Array, axis: Axis = -1, eps: float = 1e-5) -> Array:
    axes = positive_axes("Normalize", axis, x.shape)
    total = np.add.reduce(x, axis=axes, keepdims=True)
    n = x.dtype.type(max(x.size // max(total.size, 1), 1))
    centred = np.subtract(x, total / n, out=out)
    variance = np.add.reduce(centred * centred, axis=axes, keepdims=True) / n
    return np.divide(centred, np.sqrt(variance + x.dtype.type(eps)), out=out)


def _gradient(g: Any, y: Any, x: Any, axis: Axis = -1, eps: float = 1e-5) -> Any:
    """Remove from g its mean and its part along y, and scale it to units of x."""
    centred = x - mean(x, axis=axis, keepdims=True)
    deviation = sqrt(mean(centred * centred, axis=axis, keepdims=True) + eps)
    along = y * mean(g * y, axis=axis, keepdims=True)
    return (g - mean(g, axis=axis, keepdims=True) - along) / deviation


normalize: Op = operator(
    "Normalize",
    shape=_same_shape,
    run=_normalize,
    vjp=(_gradient,),
    dtype=as_float,
    inputs=as_float,
    title=("to mean 0 and variance 1", "规范化：均值为 0，方差为 1"),
    formula="({0} − mean) ÷ deviation",
    samples=(
        Sample([(2, 3)]),
        Sample([(2, 3, 2)], {"axis": (0, -1), "eps": 0.1}),
        Sample([(0, 3)]),
    ),
)

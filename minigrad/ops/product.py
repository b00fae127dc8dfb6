"""Products along axes. Their gradients divide by nothing: zeros among the factors are fine."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from minigrad.core import Array, Op, Sample, Shape, as_float, int64, into, operator
from minigrad.diagnostics.errors import located
from minigrad.ops.arrange import as_operand, expand_dims, full_like
from minigrad.ops.define import summed
from minigrad.ops.logic import equal, where
from minigrad.ops.reduction import cumsum
from minigrad.ops.shape import (
    Axis,
    axes_of,
    broadcast_like,
    positive_axes,
    positive_axis,
    reduced_shape,
    reshape,
    sum,
)

__all__ = ["prod", "prod_of_others", "product"]


def _one_axis_shape(name: str) -> Callable[..., Shape]:
    def shape(x: Shape, axis: int = 0, keepdims: bool = False) -> Shape:
        return reduced_shape(name)(x, positive_axis(name, axis, x), keepdims)

    return shape


def _prod(out: Array, x: Array, axis: int = 0, keepdims: bool = False) -> Array:
    return np.multiply.reduce(x, axis=axes_of(x, axis), keepdims=keepdims, out=out)


def _prod_of_others(out: Array, x: Array, axis: int = 0) -> Array:
    """Multiply all before an element with all after it, which is right for zeros, too."""
    moved = np.moveaxis(x, axis, 0)
    before, after = np.ones_like(moved), np.ones_like(moved)
    np.multiply.accumulate(moved[:-1], axis=0, out=before[1:])
    np.multiply.accumulate(moved[:0:-1], axis=0, out=after[-2::-1])
    return into(out, np.moveaxis(before * after, 0, axis))


def _prod_of_others_vjp(g: Any, y: Any, x: Any, axis: int = 0) -> Any:
    """Build Σᵢ gᵢ Π xₖ over all k except i and j: for each j the products with xⱼ = 1."""
    rows, columns = (axis, axis + 1) if axis >= 0 else (axis - 1, axis)  # along j, along i
    place = cumsum(full_like(x, value=1, dtype=int64), axis=axis)
    same = equal(expand_dims(place, axis=rows), expand_dims(place, axis=columns))
    products = prod_of_others(where(same, 1, expand_dims(x, axis=rows)), axis=columns)
    return sum(where(same, 0, products * expand_dims(g, axis=rows)), axis=columns)


prod_of_others: Op = operator(
    "ProdOfOthers",
    shape=lambda x, axis=0: (positive_axis("ProdOfOthers", axis, x), x)[1],
    run=_prod_of_others,
    vjp=(_prod_of_others_vjp,),
    dtype=as_float,
    inputs=as_float,
    title=("product of all other elements", "其余元素之积"),
    formula="Π≠ {0}",
    samples=(Sample([(3,)]), Sample([(2, 3)], {"axis": 1}), Sample([(2, 3, 2)], {"axis": -2})),
)
prod = operator(
    "Prod",
    shape=_one_axis_shape("Prod"),
    run=_prod,
    vjp=(
        lambda g, y, x, axis=0, keepdims=False: (
            broadcast_like(g, x, axis=axis, keepdims=keepdims) * prod_of_others(x, axis=axis)
        ),
    ),
    dtype=summed,
    inputs=summed,
    title=("product", "连乘"),
    formula="Π {0}",
    samples=(
        Sample([(3,)]),
        Sample([(2, 3)], {"axis": 1}),
        Sample([(2, 3, 2)], {"axis": -2, "keepdims": True}),
    ),
)


@located
def product(x: Any, axis: Axis = None, keepdims: bool = False) -> Any:
    """Multiply along one axis, several, or all; the empty product is 1."""
    x = as_operand(x)
    if axis is None and not keepdims:
        return prod(reshape(x, shape=(-1,)), axis=0)
    if axis is not None and not isinstance(axis, tuple):
        return prod(x, axis=axis, keepdims=keepdims)
    # Where nobody knows how many axes there are, `ndim` says so.
    for a in sorted(positive_axes("Prod", axis, x.shape or (None,) * x.ndim), reverse=True):
        x = prod(x, axis=a, keepdims=keepdims)
    return x

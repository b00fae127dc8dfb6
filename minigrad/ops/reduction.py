"""Operators along axes: the largest and the smallest, truth of all or any, running sums."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from minigrad.core import (
    Array,
    Op,
    Sample,
    Shape,
    always,
    as_float,
    bool_,
    int64,
    into,
    operator,
    public_shape,
    show_shape,
)
from minigrad.diagnostics.arguments import refuse, two_readings
from minigrad.diagnostics.errors import ShapeError
from minigrad.diagnostics.messages import fill
from minigrad.ops.arrange import squeeze
from minigrad.ops.corners import root
from minigrad.ops.define import summed
from minigrad.ops.elementwise import exp, maximum, minimum
from minigrad.ops.indexing import gather
from minigrad.ops.logic import equal, where
from minigrad.ops.shape import (
    REDUCTIONS,
    Axis,
    axes_of,
    broadcast_like,
    count,
    mean,
    over,
    positive_axes,
    positive_axis,
    reduced_shape,
    sum,
)

__all__ = [
    "all",
    "any",
    "argmax",
    "argmin",
    "argsort",
    "cumsum",
    "logsumexp",
    "max",
    "min",
    "share_of_extreme",
]


def _never_of_nothing(name: str) -> Callable[..., Shape]:
    """Make the shape rule of a reduction that is undefined for zero elements."""
    shape_of = reduced_shape(name)

    def shape(x: Shape, axis: Axis = None, keepdims: bool = False) -> Shape:
        result = shape_of(x, axis, keepdims)
        gone = [x[a] for a in positive_axes(name, axis, x)]
        if 0 in gone and 0 not in shape_of(x, axis, False):
            shown = show_shape(public_shape(x))
            raise ShapeError("empty_reduction", op=name, axis=axis, shape=shown)
        return result

    return shape


class Extreme(NamedTuple):
    """The largest or smallest elements along an axis, and their positions there."""

    values: Any
    indices: Any


def extreme(
    name: str, x: Any, others: tuple[Any, ...], axis: Axis, keepdims: bool, dim: int | None
) -> Any:
    """Reduce one operand by `max` or `min`; compare two element by element, as PyTorch does.

    Along `dim` it is PyTorch's pair, whose whole gradient goes to the position it names; along
    `axis` it is NumPy's values. A bare number could mean either.
    """
    op, position, of_two = _EXTREMES[name]
    if len(others) == 1 and hasattr(others[0], "shape") and axis is dim is None:
        return of_two(x, others[0])
    if others:
        form = f"{name}(x, {', '.join(map(repr, others))})"
        ours = f"mg.{name}(x, dim={others[0]!r})", f"mg.{name}(x, axis={others[0]!r})"
        raise two_readings(form, "PyTorch", ours[0], "NumPy", ours[1])
    if dim is None:
        return op(x, **over(op.name, axis, keepdims))
    if axis is not None:
        raise refuse(op.name, "dim", dim, fill("expect_one_of_two", other="axis"))
    positions = position(x, axis=dim, keepdims=True)
    values = gather(x, positions, axis=dim)  # the gradient goes to these alone
    if keepdims:
        return Extreme(values, positions)
    return Extreme(squeeze(values, axis=dim), squeeze(positions, axis=dim))


def _share_of_extreme(
    out: Array, x: Array, y: Array, axis: Axis = None, keepdims: bool = False
) -> Array:
    axes = positive_axes("ShareOfExtreme", axis, x.shape)
    hit = (x == (y if keepdims else np.expand_dims(y, axes))).astype(x.dtype)
    return np.divide(hit, np.add.reduce(hit, axis=axes, keepdims=True), out=out)


share_of_extreme = operator(
    "ShareOfExtreme",
    shape=lambda x, y, axis=None, keepdims=False: x,
    run=_share_of_extreme,
    vjp=(None, None),
    dtype=as_float,
    inputs=as_float,
    title=("1 at the extreme element, shared where several are equal", "在最值处为 1，并列时均分"),
    formula="share({0} = {1})",
    samples=(
        Sample([(2, 3), ()]),
        Sample([(2, 3), (2, 1)], {"axis": 1, "keepdims": True}),
        Sample([(2, 3, 4), (3,)], {"axis": (0, -1)}),
    ),
)


def _extreme(name: str, ufunc: np.ufunc, **record: Any) -> Op:
    """Define `max` or `min`; equal elements get equal shares of the gradient."""

    def run(out: Array, x: Array, axis: Axis = None, keepdims: bool = False) -> Array:
        return ufunc.reduce(x, axis=axes_of(x, axis), keepdims=keepdims, out=out)

    def rule(g: Any, y: Any, x: Any, axis: Axis = None, keepdims: bool = False) -> Any:
        options = {"axis": axis, "keepdims": keepdims}
        share = share_of_extreme(x, y, **options)
        return where(equal(share, 0), 0, broadcast_like(g, x, **options) * share)

    return operator(
        name, shape=_never_of_nothing(name), run=run, vjp=(rule,), samples=REDUCTIONS, **record
    )


max = _extreme("Max", np.maximum, title=("largest element", "最大的元素"), formula="max({0})")
min = _extreme("Min", np.minimum, title=("smallest element", "最小的元素"), formula="min({0})")


def _position(name: str, function: Any, **record: Any) -> Op:
    """Define `argmax` or `argmin`: the first extreme position, flat if there is no axis."""

    def run(out: Array, x: Array, axis: int | None = None, keepdims: bool = False) -> Array:
        found = function(x, axis=axes_of(x, axis), keepdims=keepdims)
        # On 32 bits NumPy counts in int32.
        return into(out, found if found.dtype == int64 else found.astype(int64))

    never_of_nothing = _never_of_nothing(name)

    def shape(x: Shape, axis: int | None = None, keepdims: bool = False) -> Shape:
        one = axis if axis is None else positive_axis(name, axis, x)
        return never_of_nothing(x, one, keepdims)

    return operator(
        name,
        shape=shape,
        run=run,
        vjp=(None,),
        dtype=always(int64),
        inputs=None,
        samples=(
            Sample([(2, 3)]),
            Sample([(2, 3)], {"axis": -1}),
            Sample([(2, 3)], {"axis": 0, "keepdims": True}),
            Sample([()]),
        ),
        **record,
    )


argmax = _position(
    "ArgMax", np.argmax, title=("position of the largest", "最大值的位置"), formula="argmax({0})"
)
argmin = _position(
    "ArgMin", np.argmin, title=("position of the smallest", "最小值的位置"), formula="argmin({0})"
)


def _argsort(out: Array, x: Array, axis: int = -1, descending: bool = False) -> Array:
    """Sort positions by value; equal elements keep their order, and NaN is the largest."""
    axis = positive_axis("ArgSort", axis, x.shape)
    if not descending:
        return into(out, np.argsort(x, axis, kind="stable").astype(int64, copy=False))
    last = x.shape[axis] - 1
    backwards = np.argsort(np.flip(x, axis), axis, kind="stable")
    return into(out, (last - np.flip(backwards, axis)).astype(int64, copy=False))


argsort = operator(
    "ArgSort",
    shape=lambda x, axis=-1, descending=False: (positive_axis("ArgSort", axis, x), x)[1],
    run=_argsort,
    vjp=(None,),
    dtype=always(int64),
    inputs=None,
    title=("positions in the order of size", "按大小排序的位置"),
    formula="argsort({0})",
    samples=(Sample([(3,)]), Sample([(2, 3)], {"axis": 0, "descending": True})),
)
_EXTREMES = {"max": (max, argmax, maximum), "min": (min, argmin, minimum)}


def _truth(name: str, ufunc: np.ufunc, **record: Any) -> Op:
    """Define `all` or `any`; a number is true unless it is 0."""

    def run(out: Array, x: Array, axis: Axis = None, keepdims: bool = False) -> Array:
        return ufunc.reduce(x, axis=axes_of(x, axis), keepdims=keepdims, out=out)

    return operator(
        name,
        shape=reduced_shape(name),
        run=run,
        vjp=(None,),
        dtype=always(bool_),
        inputs=None,
        samples=REDUCTIONS,
        **record,
    )


all = _truth("All", np.logical_and, title=("are all true", "是否全部为真"), formula="all({0})")
any = _truth("Any", np.logical_or, title=("is any true", "是否有任一为真"), formula="any({0})")


def _logsumexp(out: Array, x: Array, axis: Axis = None, keepdims: bool = False) -> Array:
    axes = positive_axes("LogSumExp", axis, x.shape)
    top = np.maximum.reduce(x, axis=axes, keepdims=True, initial=-np.inf)
    top = np.where(np.isfinite(top), top, x.dtype.type(0))  # ∞ − ∞ would be NaN
    total = sum.run(None, np.exp(x - top), axis=axes, keepdims=keepdims)
    return np.add(np.log(total), top.reshape(total.shape), out=out)


def _softmax_of(g: Any, y: Any, x: Any, axis: Axis = None, keepdims: bool = False) -> Any:
    options = {"axis": axis, "keepdims": keepdims}
    return broadcast_like(g, x, **options) * exp(x - broadcast_like(y, x, **options))


logsumexp = operator(
    "LogSumExp",
    shape=reduced_shape("LogSumExp"),
    run=_logsumexp,
    vjp=(_softmax_of,),
    dtype=as_float,
    inputs=as_float,
    title=("logarithm of the sum of exponentials", "指数和的对数"),
    formula="log Σ exp {0}",
    samples=REDUCTIONS,
)


def _along(name: str) -> Callable[..., Shape]:
    def shape(x: Shape, axis: int = 0, reverse: bool = False) -> Shape:
        positive_axis(name, axis, x)
        return x

    return shape


def _cumsum(out: Array, x: Array, axis: int = 0, reverse: bool = False) -> Array:
    axis = positive_axis("CumSum", axis, x.shape)
    if not reverse:
        return np.add.accumulate(x, axis=axis, dtype=x.dtype, out=out)
    return into(out, np.flip(np.add.accumulate(np.flip(x, axis), axis=axis, dtype=x.dtype), axis))


cumsum: Op = operator(
    "CumSum",
    shape=_along("CumSum"),
    run=_cumsum,
    vjp=(lambda g, y, x, axis=0, reverse=False: cumsum(g, axis=axis, reverse=not reverse),),
    dtype=summed,
    inputs=summed,
    title=("running sum", "累积和"),
    formula="Σ≤ {0}",
    samples=(
        Sample([(3,)]),
        Sample([(2, 3)], {"axis": 1}),
        Sample([(2, 3, 2)], {"axis": -2, "reverse": True}),
    ),
)


def var(x: Any, axis: Axis = None, correction: int = 1, keepdims: bool = False) -> Any:
    """Compute the variance over n − correction; NaN if that is 0 or less."""
    distance = x - mean(x, axis=axis, keepdims=True)
    total = sum(distance * distance, axis=axis, keepdims=keepdims)
    return total / maximum(count(distance, total) - correction, 0)


def std(x: Any, axis: Axis = None, correction: int = 1, keepdims: bool = False) -> Any:
    """Compute the square root of `var`; where that is 0, the gradient is 0."""
    return root(var(x, axis=axis, correction=correction, keepdims=keepdims))

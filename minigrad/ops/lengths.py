"""Shapes that are computed: from the lengths of other operands, known when those are.

A length is written as plain data: a number, (operand, axis), or (sign, length, length) with one of
SIGNS. So a model may halve an axis or join two while the batch stays open, and the shape of the
result is still known as soon as those of the operands are.
"""

from __future__ import annotations

import operator as py
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from minigrad.core import (
    Array,
    Dim,
    Op,
    Sample,
    Shape,
    always,
    int64,
    into,
    operator,
    public_shape,
    show_shape,
)
from minigrad.diagnostics.errors import ShapeError
from minigrad.ops.indexing import FROM_ONE
from minigrad.ops.shape import repeated, reshape, reshape_like, sum_like

__all__ = ["broadcast_by", "lengths_of", "reshape_by"]

SIGNS: dict[str, Callable[[int, int], int]] = {
    "+": py.add,
    "-": py.sub,
    "*": py.mul,
    "/": lambda a, b: a // b if b else 0,
    "%": lambda a, b: a % b if b else 0,
    "min": min,
    "max": max,
}
Length = Any  # int | tuple[int, int] | tuple[str, Length, Length]
DEEPEST = 64


def evaluate(length: Length, shapes: Sequence[Shape], depth: int = 0) -> int | Dim:
    """Evaluate the length for operands of these shapes; an open operand may leave it open."""
    if isinstance(length, (int, np.integer)):
        return int(length)
    if depth > DEEPEST or not _is_length(length, shapes):
        raise ShapeError("computed_length", op="lengths", length=ascii(length)[:60])
    if len(length) == 2:
        found: int | Dim = shapes[length[0]][length[1]]
        return found
    sign, *parts = length
    a, b = (evaluate(part, shapes, depth + 1) for part in parts)
    if isinstance(a, Dim) or isinstance(b, Dim):
        return Dim()
    return SIGNS[sign](a, b)


def _is_length(length: Length, shapes: Sequence[Shape]) -> bool:
    if not isinstance(length, tuple) or len(length) != 2:
        return isinstance(length, tuple) and len(length) == 3 and length[0] in SIGNS
    which, axis = length
    whole = isinstance(which, int) and isinstance(axis, int) and 0 <= which < len(shapes)
    return whole and -len(shapes[which]) <= axis < len(shapes[which])


def _evaluate_all(x: Shape, likes: tuple[Shape, ...], shape: Sequence[Length]) -> Shape:
    return tuple(evaluate(length, (x, *likes)) for length in shape)


def _reshape_shape(x: Shape, *likes: Shape, shape: tuple[Any, ...]) -> Shape:
    result = _evaluate_all(x, likes, shape)
    if all(not isinstance(n, Dim) for n in (*x, *result)):
        reshape.shape(x, shape=result)  # whether they hold as many elements
    return result


def _reshape_by(out: Array, x: Array, *likes: Any, shape: tuple[Any, ...]) -> Array:
    result = _evaluate_all(x.shape, tuple(like.shape for like in likes), shape)
    return into(out, x.reshape(result))


reshape_by: Op = operator(
    "ReshapeBy",
    shape=_reshape_shape,
    run=_reshape_by,
    vjp=lambda g, y, x, *likes, wrt, shape: [reshape_like(g, x), *[None] * len(likes)],
    dtype=lambda *dtypes: dtypes[0],
    inputs=None,
    shape_only=FROM_ONE,
    title=("reshape to computed lengths", "改成算出的形状"),
    formula="reshape({0})",
    samples=(
        Sample([(2, 6)], {"shape": ((0, 0), 3, ("/", (0, 1), 3))}),
        Sample([(6,), (2, 3)], {"shape": ((1, 1), (1, 0))}),
    ),
)


def _broadcast_shape(x: Shape, *likes: Shape, shape: tuple[Any, ...]) -> Shape:
    result = _evaluate_all(x, likes, shape)
    lead = len(result) - len(x)
    fits = lead >= 0 and all(
        n in (1, m) or isinstance(m, Dim) or isinstance(n, Dim)
        for n, m in zip(x, result[lead:], strict=True)
    )
    if not fits:
        shown = show_shape(public_shape(x))
        raise ShapeError("broadcast_to", op="BroadcastBy", shape=shown, target=public_shape(result))
    return result


def _broadcast_by(out: Array, x: Array, *likes: Any, shape: tuple[Any, ...]) -> Array:
    target: Any = _broadcast_shape(x.shape, *(like.shape for like in likes), shape=shape)
    result = repeated(x, target)
    return into(out, result if result.ndim else result[()])


broadcast_by: Op = operator(
    "BroadcastBy",
    shape=_broadcast_shape,
    run=_broadcast_by,
    vjp=lambda g, y, x, *likes, wrt, shape: [sum_like(g, x), *[None] * len(likes)],
    dtype=lambda *dtypes: dtypes[0],
    inputs=None,
    shape_only=FROM_ONE,
    title=("repeat to computed lengths", "重复成算出的形状"),
    formula="repeat({0})",
    samples=(
        Sample([(3,), (2, 5)], {"shape": ((1, 0), 3)}),
        Sample([(2, 1), (2, 3)], {"shape": ((0, 0), ("*", (1, 1), 2))}),
    ),
)


def _lengths_of(out: Array, *xs: Any, shape: tuple[Any, ...]) -> Array:
    shapes = tuple(x.shape for x in xs)
    return into(out, np.array([evaluate(n, shapes) for n in shape], int64))


lengths_of: Op = operator(
    "LengthsOf",
    shape=lambda *shapes, shape: (len(shape),),
    run=_lengths_of,
    vjp=lambda g, y, *xs, wrt, shape: [None] * len(xs),
    dtype=always(int64),
    inputs=None,
    shape_only=range(1 << 30),
    title=("lengths of axes, as numbers", "各轴的长度（作为数值）"),
    formula="lengths({0})",
    samples=(
        Sample([(2, 3)], {"shape": ((0, 0), (0, 1))}),
        Sample([(2, 3), (4,)], {"shape": (("+", (0, 1), (1, 0)), 7)}),
    ),
)

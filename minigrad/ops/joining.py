"""Operators that join operands along an axis, and give each its part back."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from minigrad.core import (
    Array,
    Dim,
    Op,
    Sample,
    Shape,
    fits,
    into,
    operator,
    show_shape,
    show_shapes,
)
from minigrad.diagnostics import arguments
from minigrad.diagnostics.errors import ShapeError, located
from minigrad.diagnostics.messages import fill
from minigrad.ops.arrange import as_operand, expand_dims, full_like
from minigrad.ops.indexing import FROM_ONE, FULL, slice_
from minigrad.ops.shape import positive_axis

__all__ = ["concatenate", "piece", "stack"]


def _common_length(lengths: Sequence[int | Dim]) -> int | Dim | None:
    """Return the length that all have in common, as far as known; None if they differ."""
    known = {n for n in lengths if not isinstance(n, Dim)}
    if len(known) > 1:
        return None
    return known.pop() if known else lengths[0] if len(set(lengths)) == 1 else Dim()


def _common_shape(name: str, shapes: Sequence[Shape], axis: int | None = None) -> list[Any]:
    """Return the common shape of the operands, which may differ along `axis` only."""
    result = []
    same_rank = len({len(s) for s in shapes}) == 1
    for i, lengths in enumerate(zip(*shapes, strict=False)):
        result.append(0 if i == axis else _common_length(lengths))
    if not same_rank or None in result:
        raise ShapeError("joined", op=name, shapes=show_shapes(*shapes))
    return result


def _concatenate_shape(*shapes: Shape, axis: int = 0) -> Shape:
    axis = positive_axis("Concatenate", axis, shapes[0])
    result = _common_shape("Concatenate", shapes, axis)
    lengths = [s[axis] for s in shapes]
    known = [n for n in lengths if not isinstance(n, Dim)]
    result[axis] = sum(known) if len(known) == len(lengths) else Dim()
    return tuple(result)


def _concatenate(out: Array, *xs: Array, axis: int = 0) -> Array:
    if axis is None:
        raise TypeError(axis)  # NumPy would go on; the shape rule says what is asked for
    return np.concatenate(xs, axis=axis, out=out)


def _concatenate_vjp(g: Any, y: Any, *xs: Any, wrt: Sequence[int], axis: int = 0) -> list[Any]:
    """Split the gradient into the parts of the operands."""
    result: list[Any] = [None] * len(xs)
    lengths: list[Any] = [None if x.shape is None else x.shape[axis] for x in xs]
    if None in lengths:  # the graph does not know yet where the parts begin
        for i in wrt:
            result[i] = piece(g, *xs, index=i, axis=axis)
        return result
    ends = list(itertools.accumulate(lengths))
    axis = positive_axis("Concatenate", axis, xs[0].shape)
    for i in wrt:
        result[i] = slice_(g, key=(*(FULL,) * axis, (ends[i] - lengths[i], ends[i], None)))
    return result


JOINED = (
    Sample([(2, 3), (2, 3)]),
    Sample([(2, 3), (4, 3), (1, 3)]),
    Sample([(2, 3), (2, 1)], {"axis": -1}),
    Sample([(3,)]),
)
concatenate: Op = operator(
    "Concatenate",
    shape=_concatenate_shape,
    run=_concatenate,
    vjp=_concatenate_vjp,
    title=("one after the other along an axis", "沿一个轴首尾相接"),
    formula="[{0}, …]",
    samples=JOINED,
)


def _piece_shape(g: Shape, *shapes: Shape, index: int, axis: int = 0) -> Shape:
    if not fits(g, _concatenate_shape(*shapes, axis=axis)):
        raise ShapeError("joined", op="Piece", shapes=show_shapes(*shapes))
    return shapes[index]


def _piece(out: Array, g: Array, *xs: Any, index: int, axis: int = 0) -> Array:
    start = sum(x.shape[axis] for x in xs[:index])
    key = (slice(None),) * (axis % g.ndim) + (slice(start, start + xs[index].shape[axis]),)
    return into(out, g[key])


def _piece_vjp(h: Any, y: Any, g: Any, *xs: Any, wrt: Any, index: int, axis: int = 0) -> Any:
    parts = [h if i == index else full_like(x, value=0.0, dtype=g.dtype) for i, x in enumerate(xs)]
    return [concatenate(*parts, axis=axis), *[None] * len(xs)]


piece: Op = operator(
    "Piece",
    shape=_piece_shape,
    run=_piece,
    vjp=_piece_vjp,
    dtype=lambda *dtypes: dtypes[0],
    inputs=None,
    shape_only=FROM_ONE,
    title=("the part that came from one operand", "来自某个操作数的那一段"),
    formula="{0}[…]",
    samples=(
        Sample([(6, 3), (2, 3), (4, 3)], {"index": 1}),
        Sample([(2, 7), (2, 1), (2, 3), (2, 3)], {"index": 2, "axis": 1}),
    ),
)


def _stack_shape(*shapes: Shape, axis: int = 0) -> Shape:
    result = _common_shape("Stack", shapes)
    axis = positive_axis("Stack", axis, (*shapes[0], 0))
    return (*result[:axis], len(shapes), *result[axis:])


def _stack(out: Array, *xs: Array, axis: int = 0) -> Array:
    return np.stack(xs, axis=axis, out=out)


def _stack_vjp(g: Any, y: Any, *xs: Any, wrt: Sequence[int], axis: int = 0) -> list[Any]:
    if axis < 0:
        keys: list[Any] = [("...", i, *(FULL,) * (-axis - 1)) for i in range(len(xs))]
    else:
        keys = [(*(FULL,) * axis, i) for i in range(len(xs))]
    return [slice_(g, key=keys[i]) if i in wrt else None for i in range(len(xs))]


stack = operator(
    "Stack",
    shape=_stack_shape,
    run=_stack,
    vjp=_stack_vjp,
    title=("stack along a new axis", "沿新的轴堆叠"),
    formula="stack({0}, …)",
    samples=(
        Sample([(2, 3), (2, 3)]),
        Sample([(2, 3), (2, 3), (2, 3)], {"axis": 1}),
        Sample([(2, 3), (2, 3)], {"axis": -1}),
        Sample([(), ()]),
    ),
)


def _equal_parts(n: int, sections: int) -> list[int]:
    return [n // sections] * (sections if sections <= n or not n else 1)  # parts of nothing miss it


def _parts_of_size(n: int, split_size: int) -> list[int]:
    return [split_size] * (n // split_size) + [n % split_size] * (n % split_size > 0)


def _at_most_parts(n: int, chunks: int) -> list[int]:
    return _parts_of_size(n, max(-(-n // chunks), 1))


WAYS = {"sections": _equal_parts, "split_size": _parts_of_size, "chunks": _at_most_parts}


@located
def split(x: Any, way: str, size: Any, axis: int = 0) -> list[Any]:
    """Split x along an axis into parts of these `lengths`, or by one of WAYS."""
    x = as_operand(x)
    ndim = x.ndim if x.shape is None else len(x.shape)
    axis = positive_axis("Split", axis, x.shape if ndim else ())
    n = x.shape[axis]
    if way in WAYS:
        number = arguments.whole("Split", way, size, least=1)
        lengths = [] if n is None else WAYS[way](n, number)
        if hasattr(n, "expect"):  # it is of an example; the number of parts stays
            n.expect(lambda m: len(WAYS[way](m, number)) == len(lengths))
    else:
        lengths = list(arguments.lengths("Split", way, size))
        if hasattr(n, "expect"):
            n.expect(lambda m: m == sum(lengths))
    if (n is None and way in WAYS) or (n is not None and sum(lengths) != n):
        shape, about = show_shape(x.shape), f"{way}={size}"
        raise ShapeError("split", op="Split", sections=about, axis=axis, shape=shape)
    parts, start = [], 0
    for length in lengths:
        parts.append(slice_(x, key=(FULL,) * axis + ((start, start + length, None),)))
        start += length
    return parts


def tile(x: Any, repeats: int | Sequence[int]) -> Any:
    """Repeat the whole operand along each axis; the last number is for the last axis."""
    x = as_operand(x)
    counts = arguments.lengths("tile", "repeats", repeats)
    if math.prod(counts) > arguments.MOST:
        raise arguments.refuse("tile", "repeats", repeats, fill("expect_less", most=arguments.MOST))
    while x.ndim < len(counts):
        x = expand_dims(x, axis=0)
    for axis, n in enumerate(counts, x.ndim - len(counts)):
        if n == 0:
            x = slice_(x, key=(FULL,) * axis + ((0, 0, None),))
        elif n > 1:
            x = concatenate(*[x] * n, axis=axis)
    return x

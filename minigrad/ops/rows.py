"""Rows of batches: picked from several of them at once, and put back by the gradient.

A batch that many readers take rows from gets a gradient from each of them, and each is zero nearly
everywhere. `RowGradient` keeps such parts as they are and adds them up once, when they are read
them, so that the cost is that of the rows and not of the batch for every reader.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from minigrad.core import (
    Array,
    Attrs,
    Op,
    Reader,
    Sample,
    Shape,
    Spec,
    apply,
    fits,
    operator,
    show_shapes,
)
from minigrad.diagnostics.errors import ShapeError

__all__ = ["pick_rows", "put_rows"]

# Which rows: one by its number (its axis goes), some from start to stop, or numbers in any order.
Rows = int | slice | Sequence[int] | np.ndarray[Any, Any]


def _index(rows: Rows) -> Any:
    return np.array(rows, np.intp) if isinstance(rows, (tuple, list)) else rows


def _count(rows: Any) -> int:
    return rows.stop - rows.start if isinstance(rows, slice) else len(rows)


def _pick_shape(
    *xs: Shape, rows: Sequence[Rows], where: Sequence[Rows] | None = None, apart: bool = False
) -> Shape:
    if any(not x or not fits(x[1:], xs[0][1:]) for x in xs):
        raise ShapeError("joined", op="PickRows", shapes=show_shapes(*xs))
    if isinstance(rows[0], int):
        return xs[0][1:]
    return (sum(map(_count, rows)), *xs[0][1:])


def _pick(
    out: Array | None,
    *xs: Array,
    rows: Sequence[Rows],
    where: Sequence[Rows] | None = None,
    apart: bool = False,
) -> Array:
    if out is None and len(xs) == 1 and where is None:
        picked = xs[0][_index(rows[0])]
        return picked if picked.base is None else picked.copy()[()]  # nothing shares its memory
    if out is None:
        rest = xs[0].shape[1:]
        if any(x.shape[1:] != rest for x in xs):  # an assignment might stretch them
            raise ValueError("rows differ in shape")
        out = np.empty((sum(map(_count, rows)), *rest), xs[0].dtype)
    start = 0
    for i, (x, r) in enumerate(zip(xs, rows, strict=True)):
        if isinstance(r, int):
            out[...] = x[r]
        elif where is None:
            out[start : start + _count(r)] = x[_index(r)]
            start += _count(r)
        else:
            out[_index(where[i])] = x[_index(r)]
    return out


def _put_back(
    g: Any,
    y: Any,
    *xs: Any,
    wrt: Sequence[int],
    rows: Sequence[Rows],
    where: Sequence[Rows] | None = None,
    apart: bool = False,
) -> list[Any]:
    """Return each row of g to the row that it was picked from."""
    result: list[Any] = [None] * len(xs)
    if len(xs) == 1 and where is None:
        return [_gradient_of(xs[0], g, rows[0], apart)] if wrt else result
    start = 0
    for i, (x, r) in enumerate(zip(xs, rows, strict=True)):
        stop = start + _count(r)
        mine = slice(start, stop) if where is None else where[i]
        part = g[_index(mine)] if type(g) is np.ndarray else pick_rows(g, rows=(mine,))
        start = stop
        if i in wrt:
            result[i] = _gradient_of(x, part, r, apart)
    return result


def _gradient_of(x: Any, part: Any, rows: Rows, apart: bool) -> Any:
    """Make the gradient of a batch of which some rows have this gradient."""
    return (
        RowGradient(Spec(x.shape, x.dtype), part, rows)
        if apart
        else put_rows(x, part, rows=(rows,))
    )


PICKED: tuple[tuple[list[tuple[int, ...]], Attrs], ...] = (
    ([(3, 2)], {"rows": ((2, 0),)}),
    ([(3, 2)], {"rows": ((1, 1, 2, 1),)}),
    ([(3,)], {"rows": (1,)}),
    ([(3, 2)], {"rows": ((2, 0),), "where": ((1, 0),)}),
    ([(3, 2), (5, 2)], {"rows": ((2, 0), (4,))}),
    ([(3, 2), (5, 2)], {"rows": ((2, 0), (4,)), "where": ((2, 0), (1,))}),
)
pick_rows: Op = operator(
    "PickRows",
    shape=_pick_shape,
    run=_pick,
    vjp=_put_back,
    title=("rows of several batches", "从多个批次中取行"),
    formula="rows of {0}",
    samples=tuple(Sample(shapes, attrs) for shapes, attrs in PICKED),
)


def _put_shape(x: Shape, *gs: Shape, rows: Sequence[Rows]) -> Shape:
    for g, r in zip(gs, rows, strict=True):
        if not fits(g, x[1:] if isinstance(r, int) else (_count(r), *x[1:])):
            raise ShapeError("joined", op="PutRows", shapes=show_shapes(x, g))
    return x


def _put(out: Array | None, x: Any, *gs: Array, rows: Sequence[Rows]) -> Array:
    if out is None:
        out = np.zeros(x.shape, gs[0].dtype)
    else:
        out[...] = 0
    for g, r in zip(gs, rows, strict=True):
        if isinstance(r, (int, slice)):
            out[r] += g
        else:
            _add_rows(out, _index(r), g)
    return out


def _add_rows(out: Array, index: Any, g: Array) -> None:
    """Add rows at their places; rows for the same place are summed first, unlike with `+=`."""
    if len(index) and len(set(index.tolist())) < len(index):
        order = np.argsort(index, kind="stable")
        index = index[order]
        starts = np.flatnonzero(np.concatenate(([True], index[1:] != index[:-1])))
        index, g = index[starts], np.add.reduceat(g[order], starts, axis=0, dtype=g.dtype)
    out[index] += g


def _picked_again(
    h: Any, y: Any, x: Any, *gs: Any, wrt: Sequence[int], rows: Sequence[Rows]
) -> list[Any]:
    picked = [pick_rows(h, rows=(r,)) if i in wrt else None for i, r in enumerate(rows, 1)]
    return [None, *picked]


put_rows: Op = operator(
    "PutRows",
    shape=_put_shape,
    run=_put,
    vjp=_picked_again,
    dtype=lambda *dtypes: dtypes[1],
    shape_only=(0,),
    title=("rows put back, 0 elsewhere", "把各行放回原处，其余为 0"),
    formula="rows of {1}, put back",
    samples=(
        Sample([(3, 2), (2, 2)], {"rows": ((2, 0),)}),
        Sample([(3, 2), (3, 2)], {"rows": ((1, 0, 1),)}),
        Sample([(3, 2), (2, 2), (1, 2)], {"rows": ((2, 0), (2,))}),
        Sample([(3,), ()], {"rows": (1,)}),
    ),
)


class RowGradient:
    """The gradient of a batch as the rows that its readers sent, not added up yet.

    Adding one to others only remembers them; the sweep asks for the sum when all have arrived.
    """

    __slots__ = ("before", "like", "part", "rows")
    reader: ClassVar[Reader]

    def __init__(self, like: Spec, part: Any, rows: Rows, before: RowGradient | None = None):
        self.like, self.part, self.rows, self.before = like, part, rows, before

    def dense(self) -> Any:
        """Sum all rows in the shape of the batch: an array, or a tensor for higher orders."""
        parts, rows = [], []
        one: RowGradient | None = self
        while one is not None:
            parts.append(one.part)
            rows.append(one.rows)
            one = one.before
        return put_rows(self.like, *parts, rows=tuple(rows))

    def __add__(self, other: Any) -> Any:
        if isinstance(other, RowGradient) and other.before is None:
            return RowGradient(self.like, other.part, other.rows, self)
        return self.dense() + other

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *xs: Any, **options: Any) -> Any:
        """Compute `array + self` for a NumPy array."""
        return getattr(ufunc, method)(*map(_dense, xs), **options)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        dense = self.dense()
        return np.asarray(getattr(dense, "data", dense), dtype)


class RowGradientReader:
    """The reader of `a + b` where one of them is such a gradient, the only operation on it."""

    level = 9

    def apply(self, op: Op, operands: tuple[Any, ...], attrs: Attrs) -> Any:
        return apply(op, tuple(map(_dense, operands)), attrs)


def _dense(x: Any) -> Any:
    return x.dense() if isinstance(x, RowGradient) else x


RowGradient.reader = RowGradientReader()

"""The operators behind x[...]: slices, elements picked by position, and their inverses."""

from __future__ import annotations

import functools
import math
import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from minigrad.core import (
    Array,
    Dim,
    Dtype,
    Op,
    Sample,
    Shape,
    broadcast_shapes,
    fits,
    into,
    operator,
    public_shape,
    show_shape,
    show_shapes,
)
from minigrad.diagnostics.errors import DtypeError, IndexRangeError, ShapeError
from minigrad.ops.shape import positive_axis

__all__ = ["add_at", "gather", "scatter_add", "slice_", "take", "unslice"]

# One place of a slice: a position, None for a new axis, "..." for the axes in between, or
# (start, stop, step). Plain data, so that a graph can be printed, compared and saved.
Item = int | str | tuple[int | None, int | None, int | None] | None
Key = tuple[Item, ...]
FULL = (None, None, None)
FROM_ONE, FROM_TWO = range(1, sys.maxsize), range(2, sys.maxsize)  # positions of operands


@functools.lru_cache(4096)
def numpy_key(key: Key) -> tuple[Any, ...]:
    """Convert the key to the form that NumPy takes."""
    return tuple(
        slice(*item) if isinstance(item, tuple) else ... if item == "..." else item for item in key
    )


def _items_by_axis(name: str, key: Key, shape: Shape) -> list[Item]:
    """Complete the key with an item for each axis."""
    count = sum(item is not None and item != "..." for item in key)
    if count > len(shape):
        shown = show_shape(public_shape(shape))
        raise IndexRangeError("index_count", op=name, count=count, shape=shown)
    place = key.index("...") if "..." in key else len(key)
    return [*key[:place], *[FULL] * (len(shape) - count), *key[place + 1 :]]


def sliced_shape(x: Shape, key: Key) -> Shape:
    result: list[int | Dim] = []
    axis = 0
    for item in _items_by_axis("Slice", key, x):
        if item is None:
            result.append(1)
            continue
        if isinstance(item, tuple):
            result.append(_sliced_length(x[axis], item))
        elif isinstance(item, int):
            check_index("Slice", item, axis, x[axis])
        axis += 1
    return tuple(result)


def _sliced_length(n: int | Dim, bounds: tuple[int | None, ...]) -> int | Dim:
    """Return the length of a slice; for an open axis only a full slice has a known one."""
    if not isinstance(n, Dim):
        return len(range(*slice(*bounds).indices(n)))
    return n if bounds in (FULL, (None, None, -1)) else Dim()


def check_index(name: str, index: int, axis: int, n: int | Dim) -> None:
    """Raise IndexRangeError if an axis of this length has no such position."""
    if not isinstance(n, Dim) and not -n <= index < n:
        raise IndexRangeError("index_range", op=name, index=index, axis=axis, length=n)


def _slice(out: Array, x: Array, key: Key) -> Array:
    result = x[numpy_key(key)]
    if out is not None:
        np.copyto(out, result)
        return out
    return result if result.ndim else result[()]


def _unslice(out: Array, g: Array, x: Any, key: Key) -> Array:
    result = np.zeros(x.shape, g.dtype) if out is None else out
    if out is not None:
        out[...] = 0
    result[numpy_key(key)] = g
    return result if out is not None or result.ndim else result[()]


def _unslice_shape(g: Shape, x: Shape, key: Key) -> Shape:
    if not fits(g, sliced_shape(x, key)):
        raise ShapeError("broadcast", op="Unslice", shapes=show_shapes(g, x))
    return x


SLICES: tuple[tuple[tuple[int, ...], Key], ...] = (
    ((2, 3), (1,)),
    ((2, 3), ((None, None, -1), (1, None, None))),
    ((4, 3), ((None, None, 2), None, -1)),
    ((2, 3, 4), ("...", (-3, None, None))),
    ((5, 3), ((10, None, None),)),
    ((3,), (-1,)),
    ((), ("...",)),
)
UNSLICES: Any = [(sliced_shape(shape, key), shape, key) for shape, key in SLICES]
slice_: Op = operator(
    "Slice",
    shape=sliced_shape,
    run=_slice,
    vjp=(lambda g, y, x, key: unslice(g, x, key=key),),
    inputs=None,
    title=("slice", "切片"),
    formula="{0}[…]",
    samples=tuple(Sample([shape], {"key": key}) for shape, key in SLICES),
)
unslice: Op = operator(
    "Unslice",
    shape=_unslice_shape,
    run=_unslice,
    vjp=(lambda h, y, g, x, key: slice_(h, key=key), None),
    dtype=lambda *dtypes: dtypes[0],
    inputs=None,
    shape_only=(1,),
    title=("put back where the slice was, 0 elsewhere", "放回切片原来的位置，其余为 0"),
    formula="unslice({0})",
    samples=tuple(Sample([sliced, shape], {"key": key}) for sliced, shape, key in UNSLICES),
)


# ---- Positions that are data ----------------------------------------------------------------


def _expect_positions(name: str, *dtypes: Dtype) -> None:
    for dtype in dtypes:
        if dtype.kind not in "iu":
            raise DtypeError("index_type", op=name, value=dtype)


def _positions_dtype(name: str, first: int) -> Callable[..., Dtype]:
    """Make a dtype rule: that of operand 0; the operands from `first` on are positions."""

    def dtype(*dtypes: Dtype) -> Dtype:
        _expect_positions(name, *dtypes[first:])
        return dtypes[0]

    return dtype


POSITION = np.iinfo(np.intp)  # what NumPy indexes with: 32 or 64 bits, as the machine has
FITTING = frozenset(np.dtype(c) for c in "bBhHiIlLqQ" if np.can_cast(c, POSITION.dtype))


def _as_positions(index: Array) -> Array:
    """Convert positions to NumPy's index type; too large ones stay outside of every axis."""
    if index.dtype in FITTING:
        return index
    held = np.iinfo(index.dtype)
    inside = index.clip(max(held.min, POSITION.min), min(held.max, POSITION.max))
    return inside.astype(POSITION.dtype)


def _take_shape(x: Shape, *indices: Shape, axis: int = 0) -> Shape:
    axis = positive_axis("Take", axis, x)
    if axis + len(indices) > len(x):
        shown = show_shape(public_shape(x))
        raise IndexRangeError("index_count", op="Take", count=axis + len(indices), shape=shown)
    return (*x[:axis], *broadcast_shapes("Take", *indices), *x[axis + len(indices) :])


def _take(out: Array, x: Array, *indices: Array, axis: int = 0) -> Array:
    for index in indices:
        _expect_positions("Take", index.dtype)
    try:
        if not x.ndim:
            raise TypeError(axis)  # NumPy would go on; the shape rule says what is wrong
        if len(indices) == 1:
            return x.take(_as_positions(indices[0]), axis=axis, out=out)
        lead = (slice(None),) * (axis % x.ndim)
        return into(out, x[(*lead, *map(_as_positions, indices))])
    except IndexError:
        _find_outside("Take", x.shape, indices, axis)
        raise


def _find_outside(name: str, shape: Shape, indices: Sequence[Array], axis: int) -> None:
    """Return the error that names the first position outside its axis."""
    for place, index in enumerate(indices, axis % max(len(shape), 1)):
        if place < len(shape):
            for i in np.asarray(index).ravel().tolist():
                check_index(name, i, place, shape[place])


def _add_at(out: Array, g: Array, x: Any, *indices: Array, axis: int = 0) -> Array:
    """Add `g` at the indexed places: rows are numbered over the indexed axes first.

    np.add.at is quick on one axis only.
    """
    shape, n = x.shape, len(indices)
    axis %= len(shape)
    places = [_as_positions(index) for index in indices]
    if all(index.size == 1 for index in places):
        result = np.zeros(shape, g.dtype)
        result[(*(slice(None),) * axis, *places)] = g
        return into(out, result)
    rows: Any = 0
    for index, length in zip(places, shape[axis : axis + n], strict=True):
        index = index.astype(np.intp, copy=False)
        rows = rows * length + (index + length * (index < 0))
    lead, tail = math.prod(shape[:axis]), math.prod(shape[axis + n :])
    count = math.prod(shape[axis : axis + n])
    if (lead, tail) != (1, 1):
        rows = np.arange(lead)[:, None, None] * count + rows.reshape(-1, 1)
        rows = rows * tail + np.arange(tail)
    result = np.zeros(lead * count * tail, g.dtype)
    np.add.at(result, rows.reshape(-1), g.reshape(-1))
    return into(out, result.reshape(shape))


def _take_vjp(g: Any, y: Any, x: Any, *indices: Any, wrt: Any, axis: int = 0) -> list[Any]:
    return [add_at(g, x, *indices, axis=axis), *[None] * len(indices)]


def _add_vjp(h: Any, y: Any, g: Any, x: Any, *indices: Any, wrt: Any, axis: int = 0) -> list[Any]:
    return [take(h, *indices, axis=axis), *[None] * (len(indices) + 1)]


TAKEN: tuple[tuple[tuple[int, ...], list[tuple[int, ...]], int], ...] = (
    ((3, 2), [(4,)], 0),
    ((3, 2), [()], 0),
    ((2, 3, 2), [(2, 2)], 1),
    ((2, 3), [(4,)], -1),
    ((3, 3), [(4,), (4,)], 0),
    ((2, 3, 3, 2), [(2, 1), (3,)], 1),
)


def _samples(back: bool) -> tuple[Sample, ...]:
    found = []
    for shape, indices, axis in TAKEN:
        lead: Any = [_take_shape(shape, *indices, axis=axis), shape] if back else [shape]
        places = range(len(lead), len(lead) + len(indices))
        found.append(Sample([*lead, *indices], {"axis": axis}, integers=tuple(places)))
    return tuple(found)


take: Op = operator(
    "Take",
    shape=_take_shape,
    run=_take,
    vjp=_take_vjp,
    dtype=_positions_dtype("Take", 1),
    inputs=None,
    selectors=FROM_ONE,
    title=("elements at given positions", "按位置取元素"),
    formula="{0}[{1}]",
    samples=_samples(back=False),
)
add_at: Op = operator(
    "AddAt",
    shape=lambda g, x, *indices, axis=0: x,
    run=_add_at,
    vjp=_add_vjp,
    dtype=_positions_dtype("AddAt", 2),
    inputs=None,
    shape_only=(1,),
    selectors=FROM_TWO,
    title=("add up at given positions, 0 elsewhere", "累加到给定的位置，其余为 0"),
    formula="add({0} at {2})",
    samples=_samples(back=True),
)


def _gather_shape(x: Shape, indices: Shape, axis: int) -> Shape:
    axis = positive_axis("Gather", axis, x)
    fit = len(x) == len(indices) and all(
        i == axis or isinstance(m, Dim) or isinstance(n, Dim) or n <= m
        for i, (m, n) in enumerate(zip(x, indices, strict=True))
    )
    if not fit:
        shown = show_shape(public_shape(x)), show_shape(public_shape(indices))
        raise ShapeError("gather", op="Gather", shape=shown[0], indices=shown[1], axis=axis)
    return indices


def _full_index(shape: tuple[int, ...], indices: Array, axis: int) -> tuple[Array, ...]:
    """Return the full index of each element of `indices`; along `axis` it is its value."""
    ndim = len(shape)
    grid = [
        np.arange(n).reshape((1,) * i + (n,) + (1,) * (ndim - 1 - i)) for i, n in enumerate(shape)
    ]
    grid[axis] = indices
    return tuple(grid)


def _gather(out: Array, x: Array, indices: Array, axis: int) -> Array:
    _expect_positions("Gather", indices.dtype)
    _gather_shape(x.shape, indices.shape, axis)
    try:
        return into(out, x[_full_index(indices.shape, _as_positions(indices), axis)])
    except IndexError:
        _find_outside("Gather", x.shape, [indices], axis)
        raise


def _scatter_add_shape(g: Shape, x: Shape, indices: Shape, axis: int) -> Shape:
    _gather_shape(x, indices, axis)
    return x


def _scatter_add(out: Array, g: Array, x: Any, indices: Array, axis: int) -> Array:
    return _add_at(out, g, x, *_full_index(indices.shape, indices, axis))


gather: Op = operator(
    "Gather",
    shape=_gather_shape,
    run=_gather,
    vjp=(lambda g, y, x, indices, axis: scatter_add(g, x, indices, axis=axis), None),
    dtype=_positions_dtype("Gather", 1),
    inputs=None,
    selectors=(1,),
    title=("one element for each position along an axis", "沿一个轴逐位置取元素"),
    formula="gather({0}, {1})",
    samples=(
        Sample([(2, 3), (2, 4)], {"axis": 1}, integers=(1,)),
        Sample([(3, 4), (2, 3)], {"axis": 0}, integers=(1,)),
        Sample([(3,), (5,)], {"axis": -1}, integers=(1,)),
    ),
)
scatter_add: Op = operator(
    "ScatterAdd",
    shape=_scatter_add_shape,
    run=_scatter_add,
    vjp=(lambda h, y, g, x, indices, axis: gather(h, indices, axis=axis), None, None),
    dtype=_positions_dtype("ScatterAdd", 2),
    inputs=None,
    shape_only=(1,),
    selectors=(2,),
    title=("add up along an axis at given positions", "沿一个轴累加到给定位置"),
    formula="scatter({0}, {2})",
    samples=(
        Sample([(2, 4), (2, 3), (2, 4)], {"axis": 1}, integers=(2,)),
        Sample([(2, 3), (3, 4), (2, 3)], {"axis": 0}, integers=(2,)),
    ),
)

"""x[key] in Python's syntax, translated to operators: a slice, then positions that are data."""

from __future__ import annotations

import operator as py
from typing import Any, NamedTuple

import numpy as np

from minigrad.core import apply, as_array, bool_, fits, public_shape, show_shape
from minigrad.diagnostics.errors import DtypeError, GraphError, ShapeError, located
from minigrad.ops.indexing import FULL, Item, slice_, take
from minigrad.ops.shape import transpose

__all__ = ["get_item"]


class Indices(NamedTuple):
    """Positions that are data: an array for each axis that they choose from."""

    arrays: list[Any]
    mask: tuple[int, ...] | None = None  # the shape of the mask they come from


Part = Item | Indices


def get_item(x: Any, key: Any) -> Any:
    """Select x[key] for integers, slices, None, ..., integer arrays and boolean masks.

    As in PyTorch, slices are taken first, and arrays of positions that do not stand side by side
    put their axes in front.
    """
    if type(key) is int:
        return apply(slice_, (x,), {"key": (key,)})
    return _get_item(x, key)


def parts_of(key: Any) -> list[Part]:
    """Split a key into items: plain data or positions."""
    parts = [_part(item) for item in (key if isinstance(key, tuple) else (key,))]
    if parts.count("...") > 1:
        raise DtypeError("index_type", op="Slice", value="..., ...")
    return parts


@located
def _get_item(x: Any, key: Any) -> Any:
    parts = parts_of(key)
    if any(isinstance(part, Indices) for part in parts):
        return _pick(x, parts)
    return apply(slice_, (x,), {"key": tuple(parts)})


def _part(item: Any) -> Part:
    """Convert one item of the key to the data that a graph keeps, or to positions."""
    if item is None:
        return None
    if item is ...:
        return "..."
    if isinstance(item, slice):
        return _bounds(item)
    if isinstance(item, (int, float, np.generic)):
        return _index(item)
    if hasattr(item, "spec"):  # a node: what it holds is not known while building
        if item.dtype == bool_:
            raise ShapeError("mask_static", op="Slice", name=item.name)
        return Indices([item])
    return _positions(item)


def _positions(item: Any) -> Part:
    """Convert an array, tensor or list to positions; bools are a mask."""
    given = item._array if hasattr(type(item), "as_node") else item
    if not isinstance(given, (list, np.ndarray, np.generic)):
        raise DtypeError("index_type", op="Slice", value=repr(given)[:60])
    data = np.asarray(as_array(given, None, "Slice") if isinstance(given, list) else given)
    if data.size == 0 and isinstance(given, list):
        data = data.astype(np.int64)
    if data.ndim == 0:
        return _index(data[()])
    if data.dtype == bool_:
        return Indices(list(np.nonzero(data)), data.shape)
    return Indices([data if isinstance(item, list) else item])


def _bounds(item: slice) -> tuple[int | None, int | None, int | None]:
    """Return start, stop and step, with None where it makes no difference."""
    bounds = (item.start, item.stop, item.step)
    start, stop, step = (None if b is None else _index(b) for b in bounds)
    if step == 0:
        raise DtypeError("index_type", op="Slice", value=item)
    if start == 0 and (step is None or step > 0):
        start = None
    return start, stop, None if step == 1 else step


def _index(item: Any) -> int:
    if not isinstance(item, (bool, np.bool_)):
        try:
            return item if isinstance(item, int) else py.index(item)
        except GraphError:  # a node has no value
            raise
        except TypeError:
            pass
    raise DtypeError("index_type", op="Slice", value=repr(item))


def _pick(x: Any, parts: list[Part]) -> Any:
    """Take the slices, then the elements at the positions."""
    key: list[Item] = []
    arrays: list[Any] = []
    places: list[int] = []
    axis = 0  # of x
    for part in _filled(x, parts):
        if not isinstance(part, Indices):
            key.append(part)
            axis += part is not None
            continue
        taken = len(part.arrays)
        _check_mask(x, part.mask, axis)
        first = sum(not isinstance(item, int) for item in key)
        places += range(first, first + taken)
        key += [FULL] * taken
        arrays += part.arrays
        axis += taken
    if any(item != FULL for item in key):
        x = slice_(x, key=tuple(key))
    if places[-1] - places[0] == len(places) - 1:
        return take(x, *arrays, axis=places[0])
    order = (*places, *(a for a in range(x.ndim) if a not in places))
    return take(transpose(x, axes=order), *arrays, axis=0)


def _filled(x: Any, parts: list[Part]) -> list[Part]:
    """Replace "..." by full slices."""
    if "..." not in parts:
        return parts
    taken = sum(len(p.arrays) if isinstance(p, Indices) else p is not None for p in parts) - 1
    place = parts.index("...")
    return [*parts[:place], *[FULL] * (x.ndim - taken), *parts[place + 1 :]]


def _check_mask(x: Any, mask: tuple[int, ...] | None, axis: int) -> None:
    if mask is None or x.shape is None:
        return
    shape = getattr(x, "spec", x).shape
    if not fits(shape[axis : axis + len(mask)], mask):
        shown = show_shape(public_shape(shape))
        raise ShapeError("mask_shape", op="Slice", mask=mask, shape=shown)

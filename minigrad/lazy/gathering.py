"""Operands of a group: from the results of earlier groups, or from tensors, as rows of a batch.

Rows of one batch that are taken in order are a view of it; others are picked by one operator.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from minigrad import ops
from minigrad.core import Dtype
from minigrad.lazy.groups import WHOLE, Group
from minigrad.ops.rows import pick_rows

Column = tuple[Sequence[Any], Sequence[int]]  # source and row of an operand, for all members
Operand = tuple[Any, bool]  # a value, and whether it has a row for each member


def value_of(source: Any, row: int) -> Any:
    """One operand of one member: a tensor or a number."""
    if type(source) is not Group:
        return source if row == WHOLE else ops.slice_(source, key=(row,))
    if source.moved:
        source, row = source.moved[row]
    if source.values is not None:
        return source.values[row]
    if source.single:
        return source.batch
    found = source.picked.get(row)
    if found is None:
        found = source.picked[row] = _pick(source.batch, source.offset + row)
    return found


def numbers(values: Sequence[Any], dtype: Dtype) -> Operand:
    """Python numbers: the one that all members have, or an array of them."""
    first = values[0]
    if values.count(first) == len(values) and (
        first or len({math.copysign(1, value) for value in values}) == 1
    ):
        return first, False
    return np.array(values, dtype), True


def resolved(sources: Sequence[Any], rows: Sequence[int]) -> Column:
    """Where the values of an operand are now: some may have moved to other groups."""
    if not any(type(source) is Group and source.moved for source in set(sources)):
        return sources, rows
    pairs = [
        source.moved[row] if type(source) is Group and source.moved else (source, row)
        for source, row in zip(sources, rows, strict=True)
    ]
    return [source for source, _ in pairs], [row for _, row in pairs]


def shared_parts(sources: Sequence[Any]) -> list[list[int]]:
    """The members in parts, where a few values are shared by many; empty where nothing is.

    To stack what is shared would copy it for each member. (Rows of batches are one part.)
    """
    shared = {x for x in set(sources) if type(x) is not Group or x.single}
    if not shared or len(set(sources)) == 1:
        return []
    parts: dict[Any, list[int]] = {}
    for i, source in enumerate(sources):
        parts.setdefault(source if source in shared else None, []).append(i)
    uses = len(sources) - len(parts.get(None, ()))
    few = len(shared) ** 2 <= uses and 2 * len(shared) <= uses
    return list(parts.values()) if few else []


def gather(sources: Sequence[Any], rows: Sequence[int]) -> Operand:
    """One operand of all members; the one value that they share, if they do."""
    first = sources[0]
    if len(set(sources)) > 1:
        return _from_many(sources, rows)
    if type(first) is Group:
        if first.values is not None:
            return _from_many(sources, rows)
        if first.single:
            return first.batch, False
        return _rows_of(first.batch, rows, first.offset)
    return (first, False) if rows[0] == WHOLE else _rows_of(first, rows, None)


def _rows_of(batch: Any, rows: Sequence[int], offset: int | None) -> Operand:
    """Rows of one batch: of a group (whose rows begin at `offset`), or of a user's tensor."""
    start, count = rows[0], len(rows)
    begin = start + (offset or 0)
    if rows[-1] - start == count - 1 and rows == list(range(start, start + count)):
        if begin or count < batch.shape[0]:
            return _pick(batch, slice(begin, begin + count), offset is not None), True
        user_s = offset is None and batch.requires_grad
        return ops.identity(batch) if user_s else batch, True
    if count > 1 and rows[1] == start and rows.count(start) == count:
        return _pick(batch, begin, offset is not None), False
    index = np.array(rows, np.intp)
    return _pick(batch, index + offset if offset else index, offset is not None), True


def _pick(batch: Any, rows: Any, own: bool = True) -> Any:
    """Rows of one batch. The gradients of our own batches are added up once, at the end."""
    return pick_rows(batch, rows=(rows,), apart=own)


def _from_many(sources: Sequence[Any], rows: Sequence[int]) -> Operand:
    """Rows of several batches, single values among them."""
    places: dict[Any, tuple[list[int], list[int]]] = {}
    ours = True
    for place, (source, row) in enumerate(zip(sources, rows, strict=True)):
        if type(source) is not Group:
            ours = ours and (row == WHOLE or not source.requires_grad)
        elif source.values is not None:
            source, row = source.values[row], WHOLE
        elif source.single:
            source, row = source.batch, WHOLE
        else:
            source, row = source.batch, source.offset + row
        found = places.get(source)
        if found is None:
            found = places[source] = ([], [])
        found[0].append(row)
        found[1].append(place)
    if len(places) == 1:
        ((batch, (picked, _)),) = places.items()
        return (
            (batch, False) if picked[0] == WHOLE else _rows_of(batch, picked, 0 if ours else None)
        )
    if all(picked[0] == WHOLE for picked, _ in places.values()) and len(places) == len(rows):
        return ops.stack(*places, axis=0), True
    return _pick_from_many(places, ours), True


def _pick_from_many(places: dict[Any, tuple[list[int], list[int]]], ours: bool) -> Any:
    batches, index, where = [], [], []
    for batch, (picked, place) in places.items():
        single = picked[0] == WHOLE
        batches.append(ops.expand_dims(batch, axis=0) if single else batch)
        index.append(np.zeros(len(place), np.intp) if single else np.array(picked, np.intp))
        where.append(np.array(place, np.intp))
    return pick_rows(*batches, rows=tuple(index), where=tuple(where), apart=ours)

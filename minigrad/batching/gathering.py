"""Operands of a group: from the results of earlier groups, or from tensors, as rows of a batch.

Rows of one batch that are taken in order are the batch itself; others are picked by one operator.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from operator import is_
from typing import Any

import numpy as np

from minigrad import ops
from minigrad.batching.groups import WHOLE, Group
from minigrad.core import Dtype, events
from minigrad.dynamic.tensor import Tensor
from minigrad.ops.rows import pick_rows

listeners = events.listeners
Operand = tuple[Any, bool]  # a value, and whether it has a row for each member


class Column:
    """Where one operand comes from: for each member a source and a row."""

    __slots__ = ("distinct", "rows", "sources")

    def __init__(
        self, sources: list[Any], rows: list[int], distinct: set[Any] | None = None
    ) -> None:
        self.sources, self.rows = sources, rows
        self.distinct = set(sources) if distinct is None else distinct

    @classmethod
    def of(cls, groups: Sequence[Group], operand: int) -> Column:
        """Collect one operand of all members of some groups."""
        if len(groups) == 1:
            distinct = groups[0].sources[operand]
            return cls(*groups[0].column(operand), None if None in distinct else distinct)
        sources: list[Any] = []
        rows: list[int] = []
        for group in groups:
            some, places = group.column(operand)
            sources += some
            rows += places
        return cls(sources, rows)

    def part(self, members: Sequence[int]) -> Column:
        """Return the column for some members only."""
        return Column([self.sources[i] for i in members], [self.rows[i] for i in members])

    def equals(self, other: Column) -> bool:
        """Return whether all members read the same there."""
        return self.rows == other.rows and all(map(is_, self.sources, other.sources))


# ---- Single values --------------------------------------------------------------------------


def value_of(source: Any, row: int) -> Any:
    """Return one operand of one member: a tensor or a number."""
    if type(source) is not Group:
        return source if row == WHOLE else ops.slice_(source, key=(row,))
    if source.values is not None:
        return source.values[row]
    if source.single:
        return source.batch
    found = source.picked.get(row)
    if found is None:
        place = source.offset + row
        found = _pick_rows(source.batch, (place,) if source.signature.folded else place)
        source.picked[row] = found
    return found


def number_batch(values: Sequence[Any], dtype: Dtype) -> Operand:
    """Return the Python number that all members share, or an array of their numbers."""
    first = values[0]
    if values.count(first) == len(values) and (
        first or len({math.copysign(1, value) for value in values}) == 1
    ):
        return first, False
    return np.array(values, dtype), True


# ---- Values of all members ------------------------------------------------------------------


def shared_parts(column: Column) -> list[list[int]]:
    """Partition the members if many share a few values; return nothing otherwise.

    To stack what is shared would copy it for each member. (Rows of batches are one part.)
    """
    shared = {x for x in column.distinct if type(x) is not Group or x.single}
    if not shared or 2 * len(shared) > len(column.sources):
        return []
    parts: dict[Any, list[int]] = {}
    for i, source in enumerate(column.sources):
        parts.setdefault(source if source in shared else None, []).append(i)
    uses = len(column.sources) - len(parts.get(None, ()))
    few = len(shared) ** 2 <= uses and 2 * len(shared) <= uses
    return list(parts.values()) if few else []


def gather(column: Column, folded: bool = False) -> Operand:
    """Gather one operand of all members, or return the value that they share."""
    first = column.sources[0]
    if len(column.distinct) > 1:
        return _gather_batches(column, folded)
    if type(first) is not Group:
        return (first, False) if column.rows[0] == WHOLE else rows_of(first, column.rows, None)
    if first.single:
        return first.batch, False
    if first.values is not None:
        return _gather_batches(column, folded)
    return rows_of(first.batch, column.rows, first.offset, folded)


def rows_of(batch: Any, rows: Sequence[int], offset: int | None, folded: bool = False) -> Operand:
    """Return rows of one batch: of a group (from row `offset` on), or of a user's tensor."""
    start, count = rows[0], len(rows)
    begin = start + (offset or 0)
    if rows[-1] - start == count - 1 and rows == list(range(start, start + count)):
        if begin or count < batch.shape[0]:
            return _pick_rows(batch, slice(begin, begin + count), offset is not None), True
        user_s = offset is None and batch.requires_grad
        return ops.identity(batch) if user_s else batch, True
    if count > 1 and rows[1] == start and rows.count(start) == count:
        return _pick_rows(batch, (begin,) if folded else begin, offset is not None), False
    index = np.array(rows, np.intp)
    return _pick_rows(batch, index + offset if offset else index, offset is not None), True


def _pick_rows(batch: Any, rows: Any, own: bool = True) -> Any:
    """Pick rows of one batch; gradients of our own batches are summed once, at the end.

    One row is a number, or a tuple of it where its axis of length 1 stays; see `place_of`.
    """
    return pick_rows(batch, rows=(rows,), apart=own)


def _stack_values(values: Sequence[Any], folded: bool) -> Any:
    """Join single values into a batch."""
    if not listeners and not any(x.requires_grad for x in values):
        arrays = [x._array for x in values]
        return Tensor._around(np.concatenate(arrays) if folded else np.array(arrays))
    return (ops.concatenate if folded else ops.stack)(*values, axis=0)


def _gather_batches(column: Column, folded: bool) -> Operand:
    """Gather rows of several batches, single values among them."""
    count = len(column.sources)
    if len(column.distinct) == count == column.rows.count(WHOLE):
        return _stack_values(column.sources, folded), True
    places: dict[Any, tuple[list[int], list[int]]] = {}
    ours = True
    for place, (source, row) in enumerate(zip(column.sources, column.rows, strict=True)):
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
        ((batch, (rows, _)),) = places.items()
        return (
            (batch, False)
            if rows[0] == WHOLE
            else rows_of(batch, rows, 0 if ours else None, folded)
        )
    return _pick_from_batches(places, len(column.rows), ours, folded), True


def _pick_from_batches(
    places: dict[Any, tuple[list[int], list[int]]], count: int, ours: bool, folded: bool
) -> Any:
    """Pick rows from several batches; single values are stacked first."""
    singles = [value for value, (rows, _) in places.items() if rows[0] == WHOLE]
    if len(singles) == count:  # each is there once, and they are in order
        return _stack_values(singles, folded)
    batches, index, where = [], [], []
    for batch, (rows, place) in places.items():
        if rows[0] != WHOLE:
            batches.append(batch)
            index.append(np.array(rows, np.intp))
            where.append(np.array(place, np.intp))
    if singles:
        batches.append(_stack_values(singles, folded))
        members = [places[value][1] for value in singles]
        index.append(np.repeat(np.arange(len(singles)), [len(place) for place in members]))
        where.append(np.array([i for place in members for i in place], np.intp))
    if len(batches) == 1:
        return _pick_rows(batches[0], index[0][np.argsort(where[0])], ours)
    return pick_rows(*batches, rows=tuple(index), where=tuple(where), apart=ours)

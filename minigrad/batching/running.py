"""Running groups of recorded operations: operands stacked, one operator, results kept as rows.

All of it goes through the ordinary tape, so the backward pass is batched by the ordinary sweep.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from minigrad import ops
from minigrad.batching.gathering import (
    Column,
    Operand,
    gather,
    number_batch,
    rows_of,
    shared_parts,
    value_of,
)
from minigrad.batching.groups import LINE, Group, GroupKey, follows, is_folded
from minigrad.batching.rules import Operands, has_rule, run_batched
from minigrad.core import context
from minigrad.diagnostics.errors import GraphError
from minigrad.diagnostics.source import here
from minigrad.dynamic.recording import recording
from minigrad.ops.rows import pick_rows

NOT_IN_ORDER: Operand = (None, True)
# How groups ran, as their event tells.
BATCHED, ONCE, SINGLY, RUNNING = "batched", "once", "one by one", "running sum"


def run_together(groups: list[Group]) -> str:
    """Run groups of one signature, and say how. An error names the line of the member."""
    signature = groups[0].signature
    if context.now.recording is not signature.grad:
        with recording(signature.grad):
            return run_together(groups)
    try:
        return _run(signature, groups)
    except GraphError:
        return _run_one_by_one(signature, groups)
    finally:
        context.now.place = None


def _run(signature: GroupKey, groups: list[Group]) -> str:
    count = sum([group.count for group in groups])
    context.now.place = groups[0].line(0)  # of what is recorded for the batch
    single, first, how = False, 0, BATCHED  # `first`: the row of the first result
    if len(groups) > 1 and follows(groups[1], groups[0]):
        batch, first, how = _running_sum(groups), 1, RUNNING
    elif count == 1 and _is_single(groups[0]):
        batch, single = _run_member(groups[0], 0), True
    else:
        in_order = signature.even and len(groups) == 1
        batch, own = _run_in_order(groups[0]) if in_order else NOT_IN_ORDER
        if batch is None:
            columns = [
                Column.of(groups, i) if isinstance(kind, (tuple, type)) else None
                for i, kind in enumerate(signature.kinds)
            ]
            batch, own = _compute(signature, columns, count)
        single = not own
    if batch is None:
        return _run_one_by_one(signature, groups)
    for group in groups:
        group.batch, group.offset, group.single = batch, first, single
        first += group.count
    return ONCE if single else how


def _run_one_by_one(signature: GroupKey, groups: list[Group]) -> str:
    """Run each member by itself: there is no rule for a batch, or a member fails."""
    for group in groups:
        values = []
        for member in range(group.count):
            context.now.place = group.line(member)
            try:
                value = _run_member(group, member)
            except GraphError as error:
                where = group.where(member)
                inside = (error.defined, where) if signature.routine else (where, here())
                error.defined, error.ran = inside
                raise
            values.append(value)
        group.values = values
    return SINGLY


def _is_single(group: Group) -> bool:
    """Return whether a single member takes no row of a batch, or couldn't run on one."""
    signature, sources = group.signature, group.members[:-LINE:2]
    rows = any(type(x) is Group and not x.single and x.values is None for x in sources)
    return not rows or not (has_rule(signature.op) or signature.routine)


def _run_member(group: Group, member: int) -> Any:
    """Run one member as it was noted."""
    signature = group.signature
    sources, rows = group.member(member)
    if signature.rows:
        return _restore_axis(signature, value_of(sources[0], rows[0]), own=False)
    if signature.op is ops.stack and signature.attrs.get("axis", 0) == 0:
        folded = is_folded(signature.operands[0].shape)
        joined, batched = gather(Column(sources, rows), folded)
        if batched:
            first = sources[0]
            whole = type(first) is Group and joined is first.batch
            whole = whole or joined.shape != signature.shape
            return ops.reshape(joined, shape=signature.shape) if whole else joined
    values = [value_of(source, row) for source, row in zip(sources, rows, strict=True)]
    return signature.op(*values, **signature.attrs)


def _run_in_order(group: Group) -> Operand:
    """Run a group whose operands are rows of one batch each, or shared: the common case.

    None where that is not so, or where an operator needs batches of another shape.
    """
    signature = group.signature
    values = list(signature.kinds)  # parameters are among these
    batched = [False] * len(values)
    for i in signature.varying:
        if len(group.sources[i]) > 1:
            return NOT_IN_ORDER
        (source,) = group.sources[i]
        if type(source) is not Group or source.values is not None:
            return NOT_IN_ORDER
        if source.single:
            values[i] = source.batch
        else:
            rows = group.members[2 * i + 1 :: signature.width]
            folded = is_folded(signature.kinds[i][0])
            values[i], batched[i] = rows_of(source.batch, rows, source.offset, folded)
    if not signature.fits(batched):
        return NOT_IN_ORDER
    return signature.op(*values, **signature.attrs), True in batched


def _compute(signature: GroupKey, columns: Sequence[Column | None], count: int) -> Operand:
    """Compute the results: a row for each member, or a shared one; None without a rule."""
    values: list[Any] = []
    batched: list[bool] = []
    before: Column | None = None
    for i, column in enumerate(columns):
        kind = signature.kinds[i]
        if column is None:  # the same tensor for all
            value, own = kind, False
        elif type(kind) is not tuple:
            value, own = number_batch(column.sources, signature.operands[i].dtype)
            if own and not signature.op.elementwise:
                return None, True
        elif before is not None and column.equals(before):  # h * h
            value, own = values[-1], batched[-1]
        else:
            if len(column.distinct) > 1 and not signature.rows:
                parts = shared_parts(column)
                if parts:
                    return _run_parts(signature, columns, parts), True
            value, own = gather(column, not signature.rows and is_folded(kind[0]))
            before = column
        values.append(value)
        batched.append(own)
    if signature.rows:
        return _restore_axis(signature, value, own), own
    if True not in batched:
        return signature.op(*values, **signature.attrs), False
    stacked = Operands(values, batched, signature, count)
    return run_batched(stacked), True


def _run_parts(
    signature: GroupKey, columns: Sequence[Column | None], parts: Sequence[Sequence[int]]
) -> Any:
    """Run the members in parts that share an operand; return results in the first order."""
    results, rows = [], []
    for part in parts:
        some = [column and column.part(part) for column in columns]
        result, own = _compute(signature, some, len(part))
        if result is None:
            return None
        row = own or signature.folded
        results.append(result if row else ops.expand_dims(result, axis=0))
        rows.append(np.arange(len(part)) if own else np.zeros(len(part), np.intp))
    where = tuple(np.array(part, np.intp) for part in parts)
    return pick_rows(*results, rows=tuple(rows), where=where)


def _restore_axis(signature: GroupKey, rows: Any, own: bool) -> Any:
    """Keep the axis of length 1 of x[i : i + 1], unless batches are without it."""
    shape = signature.shape
    if own:
        shape = (rows.shape[0], *(shape[1:] if signature.folded else shape))
    return rows if rows.shape == shape else ops.reshape(rows, shape=shape)


def _running_sum(chain: list[Group]) -> Any:
    """Compute a chain's sums: its start and what each step adds, summed row by row."""
    sources, rows = chain[0].members[0:4:2], chain[0].members[1:4:2]
    for before, group in itertools.pairwise(chain):
        i = 2 if group.members[0] is before else 0
        sources.append(group.members[i])
        rows.append(group.members[i + 1])
    folded = chain[0].signature.folded
    terms, batched = gather(Column(sources, rows), folded)
    if not batched:
        terms = ops.broadcast_to(terms, shape=(len(sources), *terms.shape[folded:]))
    return ops.cumsum(terms, axis=0)

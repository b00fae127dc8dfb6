"""Running groups of noted operations: operands stacked, one operator, results left as rows.

All of it goes through the ordinary tape, so the backward pass is batched by the ordinary sweep.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from operator import is_
from typing import Any

import numpy as np

from minigrad import ops
from minigrad.core import apply, context, next_order
from minigrad.errors import GraphError
from minigrad.lazy.gathering import (
    Column,
    Operand,
    gather,
    numbers,
    resolved,
    shared_parts,
    value_of,
)
from minigrad.lazy.groups import LINE, Group, Signature, follows
from minigrad.lazy.rules import Operands, has_rule, run_batched
from minigrad.ops.rows import pick_rows
from minigrad.source import here
from minigrad.tape import TapeNode

# How groups ran, as their event tells.
BATCHED, ONCE, SINGLY, RUNNING = "batched", "once", "one by one", "running sum"


def run_together(groups: list[Group]) -> str:
    """Run groups of one signature, and say how. An error names the line of the member."""
    signature = groups[0].signature
    before, context.recording = context.recording, signature.grad
    try:
        try:
            return _run(signature, groups)
        except GraphError:
            return _run_singly(signature, groups)
    finally:
        context.recording = before


def _run(signature: Signature, groups: list[Group]) -> str:
    count, start = sum(group.count for group in groups), next_order()
    single, first, how = False, 0, BATCHED  # `first`: the row of the first result
    if len(groups) > 1 and follows(groups[1], groups[0]):
        batch, first, how = _running_sum(groups), 1, RUNNING
    elif count == 1 and _stands_alone(groups[0]):
        batch, single = _plain(groups[0], 0), True
    else:
        columns = [_column(groups, i) for i in range(len(signature.kinds))]
        batch, own = compute(signature, columns, count)
        single = not own
    if batch is None:
        return _run_singly(signature, groups)
    _name_line(batch, start, groups[0])
    for group in groups:
        group.batch, group.offset, group.single = batch, first, single
        first += group.count
    return ONCE if single else how


def _run_singly(signature: Signature, groups: list[Group]) -> str:
    """Each member by itself: there is no rule for a batch, or one of them fails."""
    for group in groups:
        values = []
        for member in range(group.count):
            start = next_order()
            try:
                value = _plain(group, member)
            except GraphError as error:
                error.defined, error.ran = group.where(member), here()
                raise
            _name_line(value, start, group, member)
            values.append(value)
        group.values = values
    return SINGLY


def _name_line(result: Any, start: int, group: Group, member: int = 0) -> None:
    """Have the nodes recorded since `start` name the line of the member, not that of its run."""
    code, lasti = group.line(member)
    stack: list[Any] = [result.creator]
    while stack:
        node = stack.pop()
        if isinstance(node, TapeNode) and node.order > start:
            node.retell(code, lasti)
            stack += node.inputs


def _stands_alone(group: Group) -> bool:
    """Whether the only member takes no row of a batch, or could not run on one."""
    signature, sources = group.signature, group.members[:-LINE:2]
    rows = any(type(x) is Group and not x.single and x.values is None for x in sources)
    return not rows or not has_rule(signature.op)


def _plain(group: Group, member: int) -> Any:
    """One member as it was noted."""
    signature = group.signature
    sources, rows = group.member(member)
    if signature.rows:
        return _shaped(signature, value_of(sources[0], rows[0]), 0)
    if signature.op is ops.stack and signature.attrs.get("axis", 0) == 0:
        joined, batched = gather(*resolved(sources, rows))
        if batched:
            first = sources[0]
            whole = type(first) is Group and joined is first.batch
            return ops.identity(joined) if whole else joined
    values = [value_of(source, row) for source, row in zip(sources, rows, strict=True)]
    return apply(signature.op, tuple(values), signature.attrs)


def _column(groups: list[Group], i: int) -> Column:
    """Where one operand comes from, for all members."""
    sources, rows = groups[0].column(i)
    for group in groups[1:]:
        more, others = group.column(i)
        sources, rows = sources + more, rows + others
    return resolved(sources, rows)


def compute(signature: Signature, columns: Sequence[Column], count: int) -> Operand:
    """The results: a row for each member, or the one that all share; None without a rule."""
    for i, (sources, _) in enumerate(columns):
        varies = type(signature.kinds[i]) is tuple and not signature.rows
        parts = shared_parts(sources) if varies else ()
        if parts:
            return _in_parts(signature, columns, parts), True
    operands: list[Operand] = []
    for i, column in enumerate(columns):
        same = i and _same(column, columns[i - 1])  # h * h
        operands.append(operands[-1] if same else _operand(signature, i, column))
    values, batched = [value for value, _ in operands], [own for _, own in operands]
    if not any(batched):
        if signature.rows:
            return _shaped(signature, values[0], 0), False
        return apply(signature.op, tuple(values), signature.attrs), False
    if signature.rows:
        return _shaped(signature, values[0], 1), True
    if any(isinstance(x, np.ndarray) for x in values) and not signature.op.elementwise:
        return None, True  # Python numbers that differ
    ranks = [len(spec.shape or ()) for spec in signature.operands]
    operands_ = Operands(values, batched, ranks, count)
    return run_batched(signature.op, operands_, signature.attrs), True


def _same(a: Column, b: Column) -> bool:
    return a[1] == b[1] and all(map(is_, a[0], b[0]))


def _operand(signature: Signature, i: int, column: Column) -> Operand:
    kind = signature.kinds[i]
    if type(kind) is tuple:
        return gather(*column)
    if isinstance(kind, type):
        return numbers(column[0], signature.operands[i].dtype)
    return kind, False


def _in_parts(
    signature: Signature, columns: Sequence[Column], parts: Sequence[Sequence[int]]
) -> Any:
    """The members in parts that share an operand, and their results back in the first order."""
    results, rows = [], []
    for part in parts:
        some = [([s[i] for i in part], [r[i] for i in part]) for s, r in columns]
        result, own = compute(signature, some, len(part))
        if result is None:
            return None
        results.append(result if own else ops.expand_dims(result, axis=0))
        rows.append(np.arange(len(part)) if own else np.zeros(len(part), np.intp))
    where = tuple(np.array(part, np.intp) for part in parts)
    return pick_rows(*results, rows=tuple(rows), where=where)


def _shaped(signature: Signature, rows: Any, axis: int) -> Any:
    """What was read as x[i : i + 1] keeps its axis of length 1."""
    kept = len(rows.shape) == len(signature.shape) + axis
    return rows if kept else ops.expand_dims(rows, axis=axis)


def _running_sum(chain: list[Group]) -> Any:
    """The sums of a chain: what it begins with and what each step adds, summed up row by row."""
    sources, rows = chain[0].members[0:4:2], chain[0].members[1:4:2]
    for before, group in itertools.pairwise(chain):
        i = 2 if group.members[0] is before else 0
        sources.append(group.members[i])
        rows.append(group.members[i + 1])
    terms, batched = gather(*resolved(sources, rows))
    if not batched:
        terms = ops.broadcast_to(terms, shape=(len(sources), *terms.shape))
    return ops.cumsum(terms, axis=0)

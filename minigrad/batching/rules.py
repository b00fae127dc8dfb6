"""How an operator runs on many samples at once: operands stacked along a new first axis.

Element-wise operators only need their ranks aligned, which their record says. For the others a
table tells how the attributes shift and which operands may stay shared; each entry ends in the
operator itself. What has no entry, or an entry that declines, is run sample by sample.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from minigrad import ops
from minigrad.batching.groups import GroupKey, is_folded
from minigrad.core import Attrs, Op, apply
from minigrad.ops.indexing import FULL


@dataclass(slots=True)
class Operands:
    """The operands of `count` samples: `batched` says which of them hold a row for each sample.

    The others are shared by all samples. `rows` are the operands as they come, where a sample of
    shape (1, 64) may be a row of 64: see `is_folded`. In `values` each sample has all its axes.
    """

    rows: Sequence[Any]
    batched: Sequence[bool]
    signature: GroupKey
    count: int

    @property
    def ranks(self) -> list[int]:
        """The number of axes of each operand, for one sample."""
        return [len(spec.shape or ()) for spec in self.signature.operands]

    @property
    def values(self) -> list[Any]:
        shapes = [spec.shape or () for spec in self.signature.operands]
        return [
            ops.reshape(x, shape=(self.count, *shape)) if b and is_folded(shape) else x
            for x, b, shape in zip(self.rows, self.batched, shapes, strict=True)
        ]

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the results as a batch."""
        shape: tuple[int, ...] = self.signature.shape
        return (self.count, *(shape[1:] if self.signature.folded else shape))

    def aligned(self, xs: Sequence[Any], rank: int) -> list[Any]:
        """Return the operands, batched ones with axes of length 1 inserted up to rank `rank`."""
        pairs = zip(xs, self.batched, strict=True)
        return [_insert_axes(x, rank - len(x.shape)) if b else x for x, b in pairs]


Rule = Callable[[Op, Operands, Attrs], Any]  # None where it declines
RULES: dict[Op, Rule] = {}


def has_rule(op: Op) -> bool:
    """Return whether the operator may run on many samples at once."""
    return op.elementwise or op in RULES


def run_batched(operands: Operands) -> Any:
    """Run all samples as one tensor, a row for each; None if there is no rule."""
    signature = operands.signature
    op = signature.op
    if signature.routine:
        return signature.routine(operands)
    rule = RULES.get(op, elementwise if op.elementwise else None)
    result = rule and rule(op, operands, signature.attrs)
    if result is None or not signature.folded or len(result.shape) == len(signature.shape):
        return result
    return ops.reshape(result, shape=operands.shape)


def elementwise(op: Op, operands: Operands, attrs: Attrs) -> Any:
    """Run an elementwise operator by broadcasting, once all samples have equal rank."""
    signature = operands.signature
    if signature.folded:
        return op(*operands.aligned(operands.rows, len(signature.shape)), **attrs)
    return op(*operands.aligned(operands.values, len(signature.shape) + 1), **attrs)


def rule_for(*ops_: Op) -> Callable[[Rule], Rule]:
    """Enter a rule in the table."""

    def enter(rule: Rule) -> Rule:
        RULES.update(dict.fromkeys(ops_, rule))
        return rule

    return enter


def _insert_axes(x: Any, more: int) -> Any:
    return ops.reshape(x, shape=(x.shape[0], *[1] * more, *x.shape[1:])) if more else x


def _is_inner_axis(axis: int, operands: Operands) -> bool:
    """Return whether the batch axis replaces the first axis and another one is meant."""
    rank = max(len(operands.signature.shape), operands.ranks[0])
    return _is_folded(operands) and axis % rank != 0


def _is_folded(operands: Operands) -> bool:
    """Return whether samples are rows without their first axis, before and after."""
    return operands.signature.folded and is_folded(operands.signature.operands[0].shape)


def _next_axis(axis: int) -> int:
    """Return the same axis with one more in front."""
    return axis + 1 if axis >= 0 else axis


@rule_for(ops.identity, ops.stop_gradient, ops.full_like)
def _apply_to_rows(op: Op, operands: Operands, attrs: Attrs) -> Any:
    return apply(op, tuple(operands.rows), attrs)


# ---- Along axes -----------------------------------------------------------------------------

REDUCTIONS = (ops.sum, ops.mean, ops.max, ops.min, ops.all, ops.any, ops.logsumexp)


@rule_for(*REDUCTIONS)
def _reduce(op: Op, operands: Operands, attrs: Attrs) -> Any:
    """Reduce each sample's elements in one row, so that they are added in the same order."""
    (x,), (rank,) = operands.rows, operands.ranks
    axis, keepdims = attrs.get("axis"), attrs.get("keepdims", False)
    if axis is not None:
        axes = tuple(_next_axis(a) for a in ((axis,) if isinstance(axis, int) else axis))
        return op(operands.values[0], axis=axes, keepdims=keepdims)
    flat = x if len(x.shape) == 2 else ops.reshape(x, shape=(operands.count, -1))
    total = op(flat, axis=1)
    return ops.reshape(total, shape=operands.shape) if keepdims and rank else total


@rule_for(ops.argmax, ops.argmin)
def _arg_extreme(op: Op, operands: Operands, attrs: Attrs) -> Any:
    (x,) = operands.values
    if attrs.get("axis") is not None:
        return op(x, **{**attrs, "axis": _next_axis(attrs["axis"])})
    if attrs.get("keepdims"):
        return None
    return op(ops.reshape(x, shape=(operands.count, -1)), axis=1)


def _shifted_axis(default: int) -> Rule:
    """Make the rule for one operand and one axis with this default."""

    def rule(op: Op, operands: Operands, attrs: Attrs) -> Any:
        axis = attrs.get("axis", default)
        if isinstance(axis, int) and _is_inner_axis(axis, operands):
            return op(operands.rows[0], **{**attrs, "axis": axis})
        if not isinstance(axis, int):
            axes = range(operands.ranks[0]) if axis is None else axis
            return op(operands.values[0], **{**attrs, "axis": tuple(map(_next_axis, axes))})
        return op(operands.values[0], **{**attrs, "axis": _next_axis(axis)})

    return rule


rule_for(ops.softmax, ops.log_softmax, ops.normalize)(_shifted_axis(-1))
rule_for(ops.cumsum, ops.prod, ops.prod_of_others)(_shifted_axis(0))
rule_for(ops.expand_dims)(_shifted_axis(0))


@rule_for(ops.squeeze)
def _squeeze(op: Op, operands: Operands, attrs: Attrs) -> Any:
    (x,), axis = operands.values, attrs.get("axis")
    if axis is None:
        axes = tuple(i for i, n in enumerate(x.shape) if i and n == 1)
    else:
        axes = tuple(_next_axis(a) for a in ((axis,) if isinstance(axis, int) else axis))
    return op(x, axis=axes)


@rule_for(ops.concatenate, ops.stack)
def _concatenate(op: Op, operands: Operands, attrs: Attrs) -> Any:
    """Join operands, shared ones repeated for each sample."""
    axis = attrs.get("axis", 0)
    rows = op is ops.concatenate and _is_inner_axis(axis, operands)
    values = [
        x if b else ops.broadcast_to(x, shape=(operands.count, *x.shape[rows:]))
        for x, b in zip(operands.rows if rows else operands.values, operands.batched, strict=True)
    ]
    return op(*values, axis=axis if rows else _next_axis(axis))


# ---- Shapes ---------------------------------------------------------------------------------


@rule_for(ops.reshape)
def _reshape(op: Op, operands: Operands, attrs: Attrs) -> Any:
    return op(operands.rows[0], shape=operands.shape)


@rule_for(ops.transpose)
def _transpose(op: Op, operands: Operands, attrs: Attrs) -> Any:
    (x,), (rank,) = operands.values, operands.ranks
    axes = attrs.get("axes")
    order = range(rank)[::-1] if axes is None else (a % rank for a in axes)
    return op(x, axes=(0, *(a + 1 for a in order)))


@rule_for(ops.broadcast_to)
def _broadcast(op: Op, operands: Operands, attrs: Attrs) -> Any:
    shape = attrs["shape"]
    aligned = operands.aligned(operands.values, len(shape) + 1)
    return op(*aligned, shape=(operands.count, *shape))


@rule_for(ops.pad)
def _pad(op: Op, operands: Operands, attrs: Attrs) -> Any:
    return op(operands.values[0], **{**attrs, "widths": ((0, 0), *attrs["widths"])})


@rule_for(ops.slice_)
def _slice(op: Op, operands: Operands, attrs: Attrs) -> Any:
    key, (rank,) = attrs["key"], operands.ranks
    whole = key[0] == FULL or (key[0] == "..." and len(key) <= rank)  # along the first axis
    if whole and _is_folded(operands):
        return op(operands.rows[0], key=key)
    return op(operands.values[0], key=(FULL, *key))


# ---- Positions and classes ------------------------------------------------------------------


@rule_for(ops.take)
def _take(op: Op, operands: Operands, attrs: Attrs) -> Any:
    """Take from a table shared by all samples, or one for each."""
    (x, *indices), axis = operands.values, attrs.get("axis", 0)
    own, *vary = operands.batched
    if not any(vary):
        return op(x, *indices, axis=_next_axis(axis))
    if len(indices) != 1 or axis not in (0, -operands.ranks[0]):
        return None
    if not own:
        return op(x, *indices, axis=0)
    lengths = (operands.count, *[1] * operands.ranks[1])
    samples = np.arange(operands.count).reshape(lengths)
    return op(x, samples, *indices, axis=0)


@rule_for(ops.gather, ops.softmax_cross_entropy, ops.softmax_cross_entropy_gradient)
def _row_by_row(op: Op, operands: Operands, attrs: Attrs) -> Any:
    """Run an operator that needs all operands for each sample."""
    if not all(operands.batched):
        return None
    moved = {"axis": _next_axis(attrs["axis"])} if "axis" in attrs else {}
    return apply(op, tuple(operands.values), {**attrs, **moved})


@rule_for(ops.one_hot)
def _one_hot(op: Op, operands: Operands, attrs: Attrs) -> Any:
    return apply(op, tuple(operands.values), attrs) if operands.batched[0] else None


# ---- Images: batches already ----------------------------------------------------------------


@rule_for(ops.conv2d, ops.max_pool2d, ops.avg_pool2d)
def _images(op: Op, operands: Operands, attrs: Attrs) -> Any:
    """Run on all samples' images as one batch; the kernels must be shared."""
    (x, *weights), (own, *vary) = operands.values, operands.batched
    if not own or any(vary):
        return None
    samples, images = x.shape[:2]
    result = op(ops.reshape(x, shape=(samples * images, *x.shape[2:])), *weights, **attrs)
    return ops.reshape(result, shape=(samples, images, *result.shape[1:]))


# ---- Matrix products ------------------------------------------------------------------------


@rule_for(ops.matmul)
def _product(op: Op, operands: Operands, attrs: Attrs) -> Any:
    """Turn vectors and rows times a shared matrix into one large product, else a batch."""
    a_rank, b_rank = operands.ranks
    flip_a, flip_b = attrs.get("transpose_a", False), attrs.get("transpose_b", False)
    shared = operands.batched == [True, False] and b_rank <= 2
    if shared and operands.signature.folded and b_rank == 2 and not flip_a:
        return op(*operands.rows, transpose_b=flip_b) if flip_b else op(*operands.rows)
    a, b = operands.values
    if shared:
        if a_rank == 1:
            return op(a, b, transpose_b=flip_b)
        if a_rank == 2 and b_rank == 2 and not flip_a:
            rows = ops.reshape(a, shape=(-1, a.shape[-1]))
            product = op(rows, b, transpose_b=flip_b)
            return ops.reshape(product, shape=(*a.shape[:2], product.shape[-1]))
    if operands.batched == [False, True] and b_rank == 1 and a_rank <= 2:
        return op(b, a, transpose_b=not flip_a)
    return _products(op, operands, flip_a, flip_b)


def _products(op: Op, operands: Operands, flip_a: bool, flip_b: bool) -> Any:
    """Multiply a batch of matrices; a vector is one row or one column."""
    (a, b), (a_rank, b_rank) = operands.values, operands.ranks
    rank = max(a_rank, b_rank, 2)
    shapes = [
        x.shape[1:] if own else x.shape
        for x, own in zip(operands.values, operands.batched, strict=True)
    ]
    sides = []
    for x, own, shape, place in zip((a, b), operands.batched, shapes, (0, 1), strict=True):
        matrix = shape if len(shape) > 1 else (1, *shape) if place == 0 else (*shape, 1)
        lead = (operands.count,) if own else ()
        sides.append(ops.reshape(x, shape=(*lead, *[1] * (rank - len(matrix)), *matrix)))
    product = op(*sides, transpose_a=flip_a and a_rank > 1, transpose_b=flip_b and b_rank > 1)
    shape = list(product.shape)
    if b_rank == 1:
        del shape[-1]
    if a_rank == 1:
        del shape[-2 if b_rank > 1 else -1]
    return ops.reshape(product, shape=tuple(shape))

"""Operators as plain NumPy calls into memory that is there already.

An expansion writes the calls that compute one operator for arrays of known shapes: views instead of
transposed copies, products instead of sums, constants and scratch memory made beforehand. It says
no (False) where it has nothing better than the operator's own kernel.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from minigrad import ops
from minigrad.compiler.slots import CallList, Slot, base_of, like
from minigrad.core import Array, Op
from minigrad.diagnostics.errors import ShapeError
from minigrad.ops.logic import BITS, is_zero
from minigrad.ops.shape import positive_axes, single_axes_first
from minigrad.static import Node

LARGE_FACTOR = 1 << 16  # elements of a matrix that are copied once less
MOST_PRODUCT = 1024  # elements that a product adds up as well as NumPy's pairwise sum does


Expansion = Callable[[CallList, Node, Slot, Sequence[Slot]], bool]


# ---- Products and sums --------------------------------------------------------------------------


def _matmul(calls: CallList, node: Node, out: Slot, operands: Sequence[Slot]) -> bool:
    a, b = operands
    if not 0 < len(a.shape) < 3 or not 0 < len(b.shape) < 3:
        return False
    if node.attrs.get("transpose_a"):
        a = transposed(a)
    if node.attrs.get("transpose_b"):
        if _transpose_helps(a, b):  # as bᵀ is: few rows of a on many of b
            columns = calls.scratch(out.shape[::-1], out.spec.dtype)
            calls.call(np.dot, b, transposed(a), columns)
            calls.call(np.copyto, out, transposed(columns))
            return True
        b = transposed(b)
    calls.call(np.dot, a, b, out)
    return True


def _transpose_helps(a: Slot, b: Slot) -> bool:
    """Return whether b aᵀ is faster than a bᵀ: BLAS copies what isn't contiguous."""
    if len(a.shape) != 2 or len(b.shape) != 2:
        return False
    return 2 * a.shape[0] <= b.shape[0] and math.prod(b.shape) >= LARGE_FACTOR


def transposed(x: Slot) -> Slot:
    """Transpose matrices; leave a vector as it is."""
    if len(x.shape) < 2:
        return x
    if len(x.shape) == 2:
        return x.view(x.shape[::-1], "transpose")
    return x.view((*x.shape[:-2], x.shape[-1], x.shape[-2]), "swapaxes", -1, -2)


def _sum(calls: CallList, node: Node, out: Slot, operands: Sequence[Slot]) -> bool:
    """Emit a sum over the first or last axes as a product with ones, three times as fast."""
    (x,) = operands
    shape, dtype = x.shape, x.spec.dtype
    axes = sorted(positive_axes("Sum", node.attrs.get("axis"), shape))
    n, size = len(axes), math.prod(shape)
    if dtype.kind != "f" or not 0 < n < len(shape) or not size or out.spec.dtype != dtype:
        return False
    base = base_of(x)
    if base is not None:  # the batch is the last axis in memory
        if axes != [0, 2, 3]:
            return False
        calls.call(
            np.add.reduce, shaped(base, shape[1], size // shape[1]), 1, None, shaped(out, shape[1])
        )
        return True
    if axes == list(range(n)) and not single_axes_first(shape, n):
        rows, columns = math.prod(shape[:n]), math.prod(shape[n:])
        ones = calls.constant(np.ones(rows), dtype)
        calls.call(np.dot, ones, shaped(x, rows, columns), shaped(out, columns))
        return True
    rows, columns = math.prod(shape[: len(shape) - n]), math.prod(shape[len(shape) - n :])
    if axes == list(range(len(shape) - n, len(shape))) and 1 < columns <= MOST_PRODUCT:
        ones = calls.constant(np.ones(columns), dtype)
        calls.call(np.dot, shaped(x, rows, columns), ones, shaped(out, rows))
        return True
    return False


def shaped(x: Slot, *shape: int) -> Slot:
    """Reshape a slot."""
    return x if x.shape == shape else x.view(shape, "reshape", shape)


def _mean(calls: CallList, node: Node, out: Slot, operands: Sequence[Slot]) -> bool:
    (x,) = operands
    if x.spec.dtype.kind != "f" or not math.prod(x.shape) or not math.prod(out.shape):
        return False
    axes = positive_axes("Mean", node.attrs.get("axis"), x.shape)
    count = math.prod(x.shape) // math.prod(out.shape)
    keepdims = bool(node.attrs.get("keepdims"))
    calls.call(np.add.reduce, x, tuple(axes), None, out, keepdims)
    calls.call(np.divide, out, calls.constant(count, x.spec.dtype), out)
    return True


# ---- Thresholds ---------------------------------------------------------------------------------


def maximum(x: Array, y: Array, out: Array) -> None:
    """Compute the larger of two; NumPy takes `out` only by name here."""
    np.maximum(x, y, out=out)


def _relu(calls: CallList, node: Node, out: Slot, operands: Sequence[Slot]) -> bool:
    (x,) = operands
    calls.call(maximum, x, calls.constant(0, x.spec.dtype), out)
    return True


def _step(calls: CallList, node: Node, out: Slot, operands: Sequence[Slot]) -> bool:
    (x,) = operands
    if x.spec.dtype.kind != "f":
        return False
    mask = like(calls, x, x.shape, np.dtype(np.bool_))
    calls.call(np.greater, x, calls.constant(0, x.spec.dtype), mask)
    calls.call(np.copyto, out, mask.view(mask.shape, "view", np.int8))
    return True


def _where(calls: CallList, node: Node, out: Slot, operands: Sequence[Slot]) -> bool:
    """Emit a choice between a value and 0, as in a masked gradient."""
    condition, x, zero = operands
    if zero.kind != "constant" or not is_zero(zero.array) or x.spec.dtype not in BITS:
        return False
    if x.shape != condition.shape or x.spec != out.spec:
        return False
    mask = like(calls, x, x.shape, np.dtype(BITS[x.spec.dtype]))
    keep_where(calls, condition, x, mask, out)
    return True


def keep_where(calls: CallList, condition: Slot, x: Slot, mask: Slot, out: Slot) -> None:
    """Copy x where the condition holds, and write 0 elsewhere; see `masked`."""
    bits = mask.spec.dtype
    calls.call(np.copyto, mask, condition.view(condition.shape, "view", np.int8))
    calls.call(np.negative, mask, mask)  # all bits, or none
    as_bits = (y.view(y.shape, "view", bits) for y in (x, out))
    calls.call(np.bitwise_and, next(as_bits), mask, next(as_bits))


def _sigmoid(calls: CallList, node: Node, out: Slot, operands: Sequence[Slot]) -> bool:
    """Emit 1 / (1 + exp(−x))."""
    (x,) = operands
    one = calls.constant(1, x.spec.dtype)
    calls.call(np.negative, x, out)
    calls.call(np.exp, out, out)
    calls.call(np.add, out, one, out)
    calls.call(np.divide, one, out, out)  # the same bits as `reciprocal`, in half of the time
    return True


# ---- Classes ------------------------------------------------------------------------------------


def _row_shape(x: Slot) -> tuple[int, int]:
    return math.prod(x.shape[:-1]), x.shape[-1]


def _exponentials(calls: CallList, x: Slot) -> tuple[Slot, Slot, Slot]:
    """Emit x minus its row maximum, the exponential of it, and the sum of that by rows.

    They are computed once for the softmax and the loss of the same scores.
    """
    n, classes = _row_shape(x)
    dtype = x.spec.dtype

    def make() -> tuple[Slot, Slot, Slot]:
        flat = shaped(x, n, classes)
        top, total = calls.scratch((n,), dtype), calls.scratch((n,), dtype)
        shifted, powers = (calls.scratch((n, classes), dtype) for _ in range(2))
        if classes <= 32 < n:  # along a long axis it is quicker
            columns = calls.scratch((classes, n), dtype)
            calls.call(np.copyto, columns, transposed(flat))
            calls.call(np.maximum.reduce, columns, 0, None, top)
        else:
            calls.call(np.maximum.reduce, flat, 1, None, top)
        calls.call(np.subtract, flat, shaped(top, n, 1), shifted)
        calls.call(np.exp, shifted, powers)
        if classes <= MOST_PRODUCT:
            calls.call(np.dot, powers, calls.constant(np.ones(classes), dtype), total)
        else:
            calls.call(np.add.reduce, powers, 1, None, total)
        return shifted, powers, total

    found: tuple[Slot, Slot, Slot] = calls.kept((x, "exponentials"), make)
    return found


def _softmax(calls: CallList, node: Node, out: Slot, operands: Sequence[Slot]) -> bool:
    (x,) = operands
    if not _is_last_axis(node, x):
        return False
    n, classes = _row_shape(x)
    _, powers, total = _exponentials(calls, x)
    calls.call(np.divide, powers, shaped(total, n, 1), shaped(out, n, classes))
    return True


def _is_last_axis(node: Node, x: Slot) -> bool:
    last = node.attrs.get("axis", -1) in (-1, len(x.shape) - 1)
    return last and x.spec.dtype.kind == "f" and len(x.shape) > 0 and math.prod(x.shape) > 0


def _label_positions(calls: CallList, labels: Slot, n: int, classes: int) -> Slot:
    """Emit the positions of the right classes in the flattened scores."""

    def make() -> Slot:
        flat, place = shaped(labels, n), calls.scratch((n,), np.dtype(np.intp))
        calls.call(expect_labels, flat, classes)
        calls.call(np.add, calls.constant(np.arange(n) * classes, place.spec.dtype), flat, place)
        return place

    found: Slot = calls.kept((labels, "chosen", classes), make)
    return found


def _scores_fit(x: Slot, labels: Slot, *others: Slot) -> bool:
    plain = all(other.spec.dtype == x.spec.dtype for other in others)
    some = x.spec.dtype.kind == "f" and math.prod(x.shape) > 0
    return plain and some and labels.spec.dtype == np.int64


def _loss(calls: CallList, node: Node, out: Slot, operands: Sequence[Slot]) -> bool:
    x, labels = operands
    if not _scores_fit(x, labels, out):
        return False
    n, classes = _row_shape(x)
    place = _label_positions(calls, labels, n, classes)
    shifted, _, total = _exponentials(calls, x)
    right, result = calls.scratch((n,), x.spec.dtype), shaped(out, n)
    calls.call(np.take, shaped(shifted, n * classes), place, None, right, "clip")
    calls.call(np.log, total, result)
    calls.call(np.subtract, result, right, result)
    return True


def _loss_gradient(calls: CallList, node: Node, out: Slot, operands: Sequence[Slot]) -> bool:
    """Emit (softmax − 1 at the right class) · g."""
    g, x, labels = operands
    if not _scores_fit(x, labels, out, g):
        return False
    n, classes = _row_shape(x)
    place = _label_positions(calls, labels, n, classes)
    _, powers, total = _exponentials(calls, x)
    right, result = calls.scratch((n,), x.spec.dtype), shaped(out, n, classes)
    flat = shaped(out, n * classes)
    calls.call(np.divide, powers, shaped(total, n, 1), result)
    calls.call(np.take, flat, place, None, right, "clip")
    calls.call(np.subtract, right, calls.constant(1, x.spec.dtype), right)
    calls.call(np.put, flat, place, right, "clip")
    calls.call(np.multiply, result, shaped(g, n, 1), result)
    return True


def expect_labels(labels: Array, classes: int) -> None:
    """Raise ShapeError unless all labels are from 0 to classes − 1."""
    if np.maximum.reduce(labels.view(np.uint64)) < classes:  # what is below 0 is very large there
        return
    wrong = labels[(labels < 0) | (labels >= classes)][0]
    raise ShapeError("label_range", op="SoftmaxCrossEntropy", label=wrong, last=classes - 1)


def _one_hot(calls: CallList, node: Node, out: Slot, operands: Sequence[Slot]) -> bool:
    labels, like = operands
    classes = like.shape[-1]
    n = math.prod(labels.shape)
    numbers = calls.constant(np.arange(classes), np.dtype(np.int64))
    if out.spec.dtype == np.bool_:
        calls.call(np.equal, shaped(labels, n, 1), numbers, shaped(out, n, classes))
        return True
    hit = calls.scratch((n, classes), np.dtype(np.bool_))
    calls.call(np.equal, shaped(labels, n, 1), numbers, hit)
    calls.call(np.copyto, shaped(out, n, classes), hit.view(hit.shape, "view", np.int8))
    return True


EXPANSIONS: dict[Op, Expansion] = {
    ops.matmul: _matmul,
    ops.sum: _sum,
    ops.mean: _mean,
    ops.relu: _relu,
    ops.step: _step,
    ops.where: _where,
    ops.sigmoid: _sigmoid,
    ops.softmax: _softmax,
    ops.softmax_cross_entropy: _loss,
    ops.softmax_cross_entropy_gradient: _loss_gradient,
    ops.one_hot: _one_hot,
}

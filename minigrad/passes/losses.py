"""Cross-entropy as people write it by hand becomes the operators that exist for it.

log(exp(x) / Σ exp(x)) is log_softmax(x) to a mathematician. To a computer it is not: exp(100)
overflows in float32, and the logarithm of a probability that was rounded to 0 is −∞, where the
operator gives −100. So the replacement changes rounding, and gives numbers where there were none:
it is no pass of the pipeline, but made on request.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad import ops
from minigrad.core import Op, fits
from minigrad.ops import state
from minigrad.passes.rewrite import Change, Rewrite, inexact
from minigrad.static import Graph, Node

__all__ = ["recognize_cross_entropy"]

Found = Node | None


@inexact
def recognize_cross_entropy(graph: Graph) -> tuple[Graph, list[Change]]:
    """Replace softmax, its logarithm, and the loss of one-hot or gathered classes by operators.

    These are exp(x) / Σ exp(x), log softmax(x), log Σ exp(x), Σ t · log softmax(x) and the choice
    of one log-probability in each row. Results differ by rounding, and where probabilities
    underflow or exponentials overflow the new ones are finite. Class numbers outside the range,
    whose one-hot row is 0, are refused by the operator. To be applied before other passes have
    rearranged the pattern, and before gradients are taken: those of the result are the operator's,
    (softmax(x) − t) times the gradient from above; gradients already there stay as they are.

    >>> import minigrad as mg
    >>> with mg.Graph():
    ...     x, t = mg.placeholder("x", (4, 3)), mg.placeholder("t", (4,), mg.int64)
    ...     e = mg.exp(x)
    ...     log_p = mg.log(e / mg.sum(e, axis=1, keepdims=True))
    ...     graph = mg.build_graph([x, t], -mg.mean(mg.sum(mg.one_hot(t, 3) * log_p, axis=1)))
    >>> better = graph.optimize(["recognize_cross_entropy", "remove_dead"])
    >>> print(better.text())
    %0 = Placeholder "x" : float32[4, 3]
    %1 = Placeholder "t" : int64[4]
    %2 = SoftmaxCrossEntropy(%0, %1) : float32[4]
    %3 = Mean(%2, axis=None, keepdims=False) : float32[]
    return %3
    >>> slopes = mg.gradients(better.outputs, x)
    >>> mg.build_graph([x, t], slopes).nodes[-1].op.name
    'SoftmaxCrossEntropyGradient'
    """
    finder = _LossFinder(graph)
    return finder.rewrite.walk(finder.rule, finder.rules), finder.rewrite.changes


class _LossFinder:
    def __init__(self, graph: Graph) -> None:
        self.rewrite = Rewrite(graph)
        self.rules: dict[Any, Any] = {
            ops.log: self._log,
            ops.div: self._div,
            ops.sub: self._sub,
            ops.sum: self._sum,
            ops.mean: self._sum,
            ops.neg: self._neg,
            ops.gather: self._gather,
        }

    def rule(self, node: Node, inputs: tuple[Node, ...]) -> Found:
        if node.controls or node.spec.shape is None:
            return None
        found: Found = self.rules[node.op](node, *inputs)
        if found is None or found.spec.shape != node.spec.shape or found.dtype != node.dtype:
            return None
        if node.op is ops.neg:
            self.rewrite.note("simplified", [node], [found], "pass_sign")
        elif found.op is node.op:
            self.rewrite.note("simplified", [node], [found], "pass_shapes")
        else:
            title = found.inputs[0].op.title if found.op is ops.neg else found.op.title
            self.rewrite.note("recognized", [node], [found], "pass_recognized", what=title)
        return found

    def _make(self, op: Any, like: Node, *inputs: Node, **attrs: Any) -> Node:
        return self.rewrite.make(op, inputs, like, attrs)

    def _log(self, node: Node, x: Node) -> Found:
        if x.op is ops.softmax:
            return self._make(ops.log_softmax, node, *x.inputs, **x.attrs)
        if x.op is ops.sum and x.inputs[0].op is ops.exp:
            return self._make(ops.logsumexp, node, *x.inputs[0].inputs, **x.attrs)
        return None

    def _div(self, node: Node, e: Node, total: Node) -> Found:
        axis = _stretched(ops.sum, total, e)
        if e.op is not ops.exp or axis is None:
            return None
        return self._make(ops.softmax, node, _drop_max_shift(e.inputs[0], axis), axis=axis)

    def _sub(self, node: Node, x: Node, y: Node) -> Found:
        axis = _stretched(ops.logsumexp, y, x)
        if axis is not None:
            return self._make(ops.log_softmax, node, _drop_max_shift(x, axis), axis=axis)
        if x.op is ops.logsumexp and y.op is ops.sum and _drops_last(x) and _drops_last(y):
            (scores,) = x.inputs  # log Σ exp(x) − x[t]
            for hot in _other_factor(scores, y.inputs[0]):
                return self._loss(node, scores, hot)
        return None

    def _sum(self, node: Node, x: Node) -> Found:
        whole = node.attrs.get("axis") is None and not node.attrs.get("keepdims")
        if whole and x.op is ops.expand_dims:
            return self._make(node.op, node, *x.inputs, **node.attrs)
        if node.op is not ops.sum or x.op is not ops.mul or not (whole or _drops_last(node)):
            return None
        for log_p in filter(_is_log_softmax, x.inputs):
            for hot in _other_factor(log_p, x):
                negative = hot.op is ops.neg
                loss = self._loss(node, log_p.inputs[0], hot.inputs[0] if negative else hot)
                if loss is not None:
                    total = self._make(ops.sum, node, loss, **node.attrs) if whole else loss
                    return total if negative else self._make(ops.neg, node, total)
        return None

    def _loss(self, node: Node, scores: Node, hot: Node) -> Found:
        """Fuse the loss of one-hot rows, computed or constant, one for each row of scores."""
        if hot.spec.shape is None or not fits(hot.spec.shape, scores.spec.shape):
            return None
        if hot.op is ops.one_hot:
            labels = hot.inputs[0]
        elif hot.op is state.constant and _is_one_hot(hot.attrs["value"]):
            labels = self.rewrite.constant(hot.attrs["value"].argmax(-1), node)
        else:
            return None
        return self._make(ops.softmax_cross_entropy, node, scores, labels)

    def _gather(self, node: Node, log_p: Node, indices: Node) -> Found:
        """Fuse the loss of one class in each row, with the class numbers in a column."""
        one = indices.op is ops.expand_dims and _axis(indices) == -1 == _axis(node)
        if not (one and _is_log_softmax(log_p)):
            return None
        scores, labels = log_p.inputs[0], indices.inputs[0]
        if not fits(indices.spec.shape, (*(log_p.spec.shape or ())[:-1], 1)):
            return None
        loss = self._make(ops.softmax_cross_entropy, node, scores, labels)
        return self._make(ops.expand_dims, node, self._make(ops.neg, node, loss), axis=-1)

    def _neg(self, node: Node, x: Node) -> Found:
        """Replace −(−x) by x and −mean(−x) by mean(x)."""
        if x.op is ops.neg:
            return x.inputs[0]
        if x.op in (ops.mean, ops.sum) and x.inputs[0].op is ops.neg:
            return self._make(x.op, node, *x.inputs[0].inputs, **x.attrs)
        return None


# ---- What a node is -----------------------------------------------------------------------------


def _axis(node: Node, default: int | None = None) -> int | None:
    """Return the one axis of an operator, counted from the end."""
    axis = node.attrs.get("axis", default)
    if isinstance(axis, tuple) and len(axis) == 1:
        (axis,) = axis
    shapes = [x.spec.shape for x in (node, node.inputs[0]) if x.spec.shape is not None]
    if not isinstance(axis, int) or len(shapes) < 2:
        return None
    rank = max(map(len, shapes))
    return axis % rank - rank


def _drops_last(node: Node) -> bool:
    """Return whether a reduction is along the last axis alone and drops it."""
    return _axis(node) == -1 and not node.attrs.get("keepdims")


def _is_log_softmax(x: Node) -> bool:
    """Return whether this is log softmax along the last axis."""
    return x.op is ops.log_softmax and _axis(x, -1) == -1


def _stretched(op: Op, total: Node, x: Node) -> int | None:
    """Return the axis along which this is `op` of x, broadcast over it again."""
    kept = total.op is not ops.expand_dims
    inner = total if kept else total.inputs[0]
    if inner.op is not op or inner.inputs[0] is not x or inner.attrs.get("keepdims", False) != kept:
        return None
    return _axis(inner) if _axis(inner) == _axis(total) else None


def _drop_max_shift(x: Node, axis: int) -> Node:
    """Return x for x − max(x): softmax subtracts the maximum itself."""
    shifted = x.op is ops.sub and _stretched(ops.max, x.inputs[1], x.inputs[0]) == axis
    return x.inputs[0] if shifted else x


def _other_factor(x: Node, product: Node) -> list[Node]:
    """Return the other factor of a product with x, or None."""
    pair = product.inputs if product.op is ops.mul else ()
    return [b for a, b in (pair, pair[::-1]) if a is x][:1] if pair else []


def _is_one_hot(rows: Any) -> bool:
    return bool(np.ndim(rows) and ((rows == 0) | (rows == 1)).all() and (rows.sum(-1) == 1).all())

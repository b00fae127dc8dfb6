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
from minigrad.graph import Graph, Node
from minigrad.ops import state
from minigrad.passes.rewrite import Change, Rewrite

Found = Node | None


def recognize_cross_entropy(graph: Graph) -> tuple[Graph, list[Change]]:
    """Replace softmax, its logarithm, and the loss of one-hot or gathered classes by operators.

    Forward: exp(x) / Σ exp(x), log softmax(x), log Σ exp(x), Σ t · log softmax(x) and the choice
    of one log-probability in each row. Backward: the gradients of these, which divide by
    probabilities, become softmax(x) − t times the gradient from above. Results differ by rounding,
    and where probabilities underflow or exponentials overflow the new ones are finite. Class
    numbers outside the range, whose one-hot row is 0, are refused by the operator. To be applied
    before other passes have rearranged the pattern, to a graph with or without gradients.

    >>> import minigrad as mg
    >>> with mg.Graph():
    ...     x, t = mg.placeholder("x", (4, 3)), mg.placeholder("t", (4,), mg.int64)
    ...     e = mg.exp(x)
    ...     log_p = mg.log(e / mg.sum(e, axis=1, keepdims=True))
    ...     graph = mg.build_graph([x, t], -mg.mean(mg.sum(mg.one_hot(t, 3) * log_p, axis=1)))
    >>> print(graph.optimize(["recognize_cross_entropy", "remove_dead"]).text())
    %0 = Placeholder "x" : float32[4, 3]
    %1 = Placeholder "t" : int64[4]
    %2 = SoftmaxCrossEntropy(%0, %1) : float32[4]
    %3 = Mean(%2, axis=None, keepdims=False) : float32[]
    return %3
    """
    finder = _Finder(graph)
    return finder.rewrite.walk(finder.rule, finder.rules), finder.rewrite.changes


class _Finder:
    def __init__(self, graph: Graph) -> None:
        self.rewrite = Rewrite(graph)
        self.softmax: dict[Node, tuple[Node, Node]] = {}  # by Σ exp(x): exp(x) and softmax(x)
        self.rules: dict[Any, Any] = {
            ops.log: self._log,
            ops.exp: self._exp,
            ops.div: self._div,
            ops.sub: self._sub,
            ops.sum: self._sum,
            ops.mean: self._sum,
            ops.neg: self._neg,
            ops.gather: self._gather,
            ops.mul: self._mul,
            ops.add: self._add,
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

    # ---- Forward ----------------------------------------------------------------------------

    def _log(self, node: Node, x: Node) -> Found:
        if x.op is ops.softmax:
            return self._make(ops.log_softmax, node, *x.inputs, **x.attrs)
        if x.op is ops.sum and x.inputs[0].op is ops.exp:
            return self._make(ops.logsumexp, node, *x.inputs[0].inputs, **x.attrs)
        return None

    def _exp(self, node: Node, x: Node) -> Found:
        return (
            self._make(ops.softmax, node, *x.inputs, **x.attrs) if x.op is ops.log_softmax else None
        )

    def _div(self, node: Node, e: Node, total: Node) -> Found:
        axis = _summed_axis(total, e)
        if e.op is not ops.exp or axis is None:
            return None
        found = self._make(ops.softmax, node, _unshifted(e.inputs[0], axis), axis=axis)
        self.softmax[total] = e, found
        return found

    def _sub(self, node: Node, a: Node, b: Node) -> Found:
        if b.op is ops.logsumexp and b.inputs[0] is a and b.attrs.get("keepdims"):
            axis = _one_axis(b)
            if axis is not None:
                return self._make(ops.log_softmax, node, _unshifted(a, axis), axis=axis)
        if b.op is ops.sum and a.op is ops.logsumexp and _along_last(b) and _along_last(a):
            score = _hot_product(b.inputs[0], a.inputs[0])  # log Σ exp(x) − x[t]
            if score is not None:
                return self._loss(node, a.inputs[0], score)
        if b.op is ops.mul and b.inputs[0].op is ops.softmax:
            p, total = b.inputs
            if total.op is ops.sum and total.inputs[0] is a and total.attrs.get("keepdims"):
                return self._gradient_of_scores(node, a, p) if _same_axis(total, p) else None
        return None

    def _sum(self, node: Node, x: Node) -> Found:
        whole = node.attrs.get("axis") is None and not node.attrs.get("keepdims")
        if whole and x.op is ops.expand_dims:
            return self._make(node.op, node, *x.inputs, **node.attrs)
        if node.op is not ops.sum or x.op is not ops.mul:
            return None
        for log_p in x.inputs:
            if log_p.op is ops.log_softmax and _is_last(log_p) and (_along_last(node) or whole):
                (other,) = [y for y in x.inputs if y is not log_p] or [log_p]
                negative = other.op is ops.neg
                labels = _labels_of(other.inputs[0] if negative else other)
                if labels is not None:
                    loss = self._loss(node, log_p.inputs[0], labels)
                    total = self._make(ops.sum, node, loss, **node.attrs) if whole else loss
                    return total if negative else self._make(ops.neg, node, total)
        return None

    def _loss(self, node: Node, scores: Node, labels: Node | np.ndarray[Any, Any]) -> Node:
        if isinstance(labels, np.ndarray):
            labels = self.rewrite.constant(labels, node)
        return self._make(ops.softmax_cross_entropy, node, scores, labels)

    def _gather(self, node: Node, log_p: Node, indices: Node) -> Found:
        last = node.attrs["axis"] in (-1, len(node.spec.shape or ()) - 1)
        if log_p.op is not ops.log_softmax or not _is_last(log_p) or not last:
            return None
        labels = _column(indices)
        if labels is None:
            return None
        loss = self._make(ops.neg, node, self._loss(node, log_p.inputs[0], labels))
        return self._make(ops.expand_dims, node, loss, axis=-1)

    def _neg(self, node: Node, x: Node) -> Found:
        """−(−x) is x, −mean(−x) is mean(x)."""
        if x.op is ops.neg:
            return x.inputs[0]
        if x.op in (ops.mean, ops.sum) and x.inputs[0].op is ops.neg:
            return self._make(x.op, node, *x.inputs[0].inputs, **x.attrs)
        return None

    # ---- Backward ---------------------------------------------------------------------------

    def _mul(self, node: Node, a: Node, b: Node) -> Found:
        for p, rest in ((a, b), (b, a)):
            if p.op is ops.softmax and rest.op is ops.sub:
                h, sums = rest.inputs
                if _is_sum_of_product(sums, h, p):
                    return self._gradient(node, h, p)
            if p.op is ops.exp and rest.op is ops.add:
                found = self._gradient_by_hand(node, p, *rest.inputs)
                if found is not None:
                    return found
            if p.op is ops.exp and rest.op is ops.broadcast_like:
                return self._gradient_of_total(node, p, rest)
        return None

    def _gradient(self, node: Node, h: Node, p: Node) -> Found:
        """p · (h − Σ h·p), which for h = g / p is g − p · Σ g."""
        if h.op is not ops.div or h.inputs[1] is not p:
            return None
        g = h.inputs[0]
        short = self._gradient_of_scores(node, g, p)
        if short is not None:
            return short
        total = self._make(ops.sum, node, g, axis=p.attrs.get("axis", -1), keepdims=True)
        return self._make(ops.sub, node, g, self._make(ops.mul, node, p, total))

    def _gradient_of_scores(self, node: Node, g: Node, p: Node) -> Found:
        """g − p · Σ g where g is a number at one class of each row: −(p − one_hot) times it."""
        hot = self._as_hot(node, g) if _is_last(p) else None
        if hot is None:
            return None
        row, labels = self._make(ops.neg, node, hot[0]), hot[1]
        return self._make(ops.softmax_cross_entropy_gradient, node, row, p.inputs[0], labels)

    def _gradient_by_hand(self, node: Node, e: Node, one: Node, other: Node) -> Found:
        """(h/s + Σ −h·p/s) · e for p = e/s: the same, by the rule of the quotient."""
        for direct, spread in ((one, other), (other, one)):
            if direct.op is not ops.div or spread.op is not ops.broadcast_like:
                continue
            h, total = direct.inputs
            known, p = self.softmax.get(total, (None, None))
            sums = spread.inputs[0]
            if known is not e or p is None or sums.op not in (ops.sum_like, ops.sum):
                continue
            part = sums.inputs[0]
            if part.op is ops.div and part.inputs[1] is total and part.inputs[0].op is ops.mul:
                a, b = part.inputs[0].inputs
                if b is p and a.op is ops.neg and a.inputs[0] is h:
                    return self._gradient(node, h, p)
        return None

    def _gradient_of_total(self, node: Node, e: Node, spread: Node) -> Found:
        """The gradient of log Σ exp(x): g/s · e is g · softmax(x)."""
        part = spread.inputs[0]
        if part.op is not ops.div:
            return None
        g, total = part.inputs
        if total.op is not ops.sum or total.inputs[0] is not e or _one_axis(total) is None:
            return None
        p = self._make(ops.softmax, node, e.inputs[0], axis=_one_axis(total))
        wide = self._make(ops.broadcast_like, node, g, p, **spread.attrs)
        return self._make(ops.mul, node, wide, p)

    def _add(self, node: Node, a: Node, b: Node) -> Found:
        """−g · one_hot(t) + g · softmax(x) is the gradient of the loss."""
        for left, right in ((a, b), (b, a)):
            if right.op is not ops.mul or right.inputs[1].op is not ops.softmax:
                continue
            wide, p = right.inputs
            hot = self._as_hot(node, left)
            if hot is None or wide.op is not ops.broadcast_like or not _is_last(p):
                continue
            row, labels = hot
            if row.op is ops.neg and row.inputs[0] is wide.inputs[0]:
                return self._make(
                    ops.softmax_cross_entropy_gradient,
                    node,
                    *(wide.inputs[0], p.inputs[0], labels),
                )
        return None

    def _as_hot(self, node: Node, g: Node) -> tuple[Node, Node] | None:
        """The gradient of each row and its class, if g is 0 everywhere else."""
        if g.op is ops.mul:
            for wide, hot in (g.inputs, g.inputs[::-1]):
                negative = hot.op is ops.neg
                labels = _labels_of(hot.inputs[0] if negative else hot)
                flat = wide.op is ops.broadcast_like and not wide.attrs.get("keepdims", True)
                if (
                    labels is not None
                    and flat
                    and _axis_of(wide) in (-1, len(g.spec.shape or ()) - 1)
                ):
                    if isinstance(labels, np.ndarray):
                        labels = self.rewrite.constant(labels, node)
                    row = wide.inputs[0]
                    return self._make(ops.neg, node, row) if negative else row, labels
        if g.op is ops.scatter_add and g.attrs["axis"] in (-1, len(g.spec.shape or ()) - 1):
            labels = _column(g.inputs[2])
            if labels is not None:
                return self._make(ops.squeeze, node, g.inputs[0], axis=-1), labels
        return None


# ---- What a node is -----------------------------------------------------------------------------


def _axis_of(node: Node) -> Any:
    axis = node.attrs.get("axis")
    return axis[0] if isinstance(axis, tuple) and len(axis) == 1 else axis


def _one_axis(node: Node) -> int | None:
    axis = _axis_of(node)
    return axis if isinstance(axis, int) else None


def _along_last(node: Node) -> bool:
    """Whether a reduction goes over the last axis alone, and drops it."""
    shape = node.inputs[0].spec.shape
    last = shape is not None and _axis_of(node) in (-1, len(shape) - 1)
    return last and not node.attrs.get("keepdims", False)


def _is_last(p: Node) -> bool:
    """Whether a softmax or its logarithm runs along the last axis."""
    return p.spec.shape is not None and p.attrs.get("axis", -1) in (-1, len(p.spec.shape) - 1)


def _summed_axis(total: Node, e: Node) -> int | None:
    """The axis along which this is Σ e, stretched over it again."""
    if total.op is ops.expand_dims and total.inputs[0].op is ops.sum:
        inner = total.inputs[0]
        same = inner.inputs[0] is e and not inner.attrs.get("keepdims")
        n = len(e.spec.shape or ())
        axis = _one_axis(inner)
        fits = same and axis is not None and axis % n == total.attrs["axis"] % n
        return axis if fits else None
    if total.op is ops.sum and total.inputs[0] is e and total.attrs.get("keepdims"):
        return _one_axis(total)
    return None


def _unshifted(x: Node, axis: int) -> Node:
    """x for x − max(x): softmax does that itself, and a second time it changes nothing."""
    if x.op is ops.sub and x.inputs[1].op is ops.max and x.inputs[1].inputs[0] is x.inputs[0]:
        top = x.inputs[1]
        if top.attrs.get("keepdims") and _one_axis(top) == axis:
            return x.inputs[0]
    return x


def _column(indices: Node) -> Node | None:
    """The class numbers that stand in a column."""
    if indices.op is ops.expand_dims and indices.attrs["axis"] in (
        *(-1, len(indices.spec.shape or ()) - 1),
    ):
        return indices.inputs[0]
    return None


def _labels_of(hot: Node) -> Node | np.ndarray[Any, Any] | None:
    """The class numbers of one-hot rows, computed or written down."""
    if hot.op is ops.one_hot:
        return hot.inputs[0]
    if hot.op is state.constant and np.ndim(hot.attrs["value"]) > 1:
        rows = hot.attrs["value"]
        if ((rows == 0) | (rows == 1)).all() and (rows.sum(-1) == 1).all():
            return np.asarray(rows.argmax(-1))
    return None


def _hot_product(product: Node, x: Node) -> Node | np.ndarray[Any, Any] | None:
    """The class numbers t, if this is one_hot(t) · x."""
    if product.op is not ops.mul:
        return None
    for hot, other in (product.inputs, product.inputs[::-1]):
        if other is x:
            return _labels_of(hot)
    return None


def _is_sum_of_product(sums: Node, h: Node, p: Node) -> bool:
    """Whether this is Σ h·p along the axis of p, stretched over it again."""
    if sums.op is not ops.sum or not sums.attrs.get("keepdims") or sums.inputs[0].op is not ops.mul:
        return False
    a, b = sums.inputs[0].inputs
    pair = (a is h and b is p) or (a is p and b is h)
    return pair and _same_axis(sums, p)


def _same_axis(total: Node, p: Node) -> bool:
    """Whether a sum goes along the axis of a softmax."""
    n, axis = len(p.spec.shape or ()), _one_axis(total)
    return axis is not None and n > 0 and axis % n == p.attrs.get("axis", -1) % n

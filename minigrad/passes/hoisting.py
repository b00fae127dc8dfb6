"""Hoisting of loop-invariant computations out of loops.

A loop may make no step at all. Then what stands in front of it has run all the same: so only what
cannot fail is moved, and what can fail only where the first step (or the first question whether
there is one) is sure to come. Effects, and what waits for them, stay.
"""

from __future__ import annotations

from typing import Any

from minigrad import control, ops
from minigrad.core import Dim
from minigrad.ops import state
from minigrad.passes.rewrite import Change, Rewrite, frozen_graph, in_pipeline
from minigrad.static import Body, Graph, Node, has_effect

__all__ = ["hoist"]

# They take whatever numbers come; element-wise functions of NumPy do so, too.
TOTAL = {
    *(ops.matmul, ops.transpose, ops.softmax, ops.log_softmax, ops.sum, ops.mean, ops.logsumexp),
    *(ops.reshape_like, ops.broadcast_like, ops.sum_like, ops.broadcast_to, ops.expand_dims),
    *(ops.identity, ops.stop_gradient, ops.cast, ops.one_hot, ops.count, ops.full_like),
}


@in_pipeline(60)
def hoist(graph: Graph) -> tuple[Graph, list[Change]]:
    """Move what depends on nothing that changes out of the bodies of loops.

    >>> import minigrad as mg
    >>> with mg.Graph():
    ...     x, v = mg.placeholder("x", (3,)), mg.placeholder("v", (3,))
    ...     y = mg.while_loop(lambda s: s.sum() < 9, lambda s: s + mg.exp(v), x)
    ...     graph = mg.build_graph([x, v], y)
    >>> [node.name for node in graph.optimize(["hoist"]).nodes]
    ['x', 'v', 'Constant', 'Exp', 'While']
    """
    rewrite = Rewrite(graph)

    def rule(node: Node, inputs: tuple[Node, ...]) -> Node | None:
        loop = _LoopHoister(node, inputs, rewrite)
        for name in ("test", "body"):
            if name in node.attrs:
                loop.lighten(name)
        if not loop.operands:
            return None
        controls = tuple(map(rewrite.of, node.controls))
        attrs = {**node.attrs, **loop.bodies()}
        return rewrite.make(node.op, (*inputs, *loop.operands), node, attrs, controls, node.name)

    return rewrite.walk(rule, (control.WHILE, control.SCAN)), rewrite.changes


class _LoopHoister:
    """One loop that is being made lighter."""

    def __init__(self, node: Node, inputs: tuple[Node, ...], rewrite: Rewrite) -> None:
        self.node, self.rewrite = node, rewrite
        self.carried = node.attrs["carries"] + node.attrs.get("sequences", 0)
        self.inputs = inputs
        self.operands: list[Node] = []  # what was computed in front of the loop
        self.read: dict[str, dict[Node, int]] = {}  # for each body: which operand replaces what

    def lighten(self, name: str) -> None:
        """Move out of one body what doesn't change from step to step, before the loop."""
        body: Graph = self.node.attrs[name]
        sure = not body.effects and self._is_sure(name)
        outside = dict(zip(body.inputs[self.carried :], self.inputs[self.carried :], strict=True))
        same = {x for x in body.nodes if x in outside or x.op is state.constant}
        moved: list[Node] = []
        for node in body.nodes:
            if node.inputs and same.issuperset(node.inputs) and _may_move(node, sure):
                same.add(node)
                moved.append(node)
        read = {x for n in body.nodes if n not in same for x in n.inputs} | {*body.outputs}
        needed = set(read)
        for node in reversed(moved):
            if node in needed:
                needed.update(node.inputs)
        replaced = self.read[name] = {}
        for node in body.nodes:
            if node not in needed or node not in same or node in outside:
                continue
            inputs = [outside[x] for x in node.inputs]
            outside[node] = self.rewrite.make(node.op, inputs, node, node.attrs, name=node.name)
            if node in read and node.op is not state.constant:
                replaced[node] = len(self.operands)
                self.operands.append(outside[node])
                self.rewrite.note("hoisted", [node], [outside[node]], "pass_hoisted")

    def _is_sure(self, name: str) -> bool:
        """Return whether this body runs at least once, as a test and steps of known length do."""
        if name == "test":
            return bool(self.node.attrs["max_steps"] != 0)
        if self.node.op is not control.SCAN:
            return False
        shape = self.node.inputs[self.node.attrs["carries"]].spec.shape
        return shape is not None and isinstance(shape[0], int) and shape[0] > 0

    def bodies(self) -> dict[str, Any]:
        """Return the bodies with an input for each operand that all of them share."""
        return {name: self._body(name) for name in self.read}

    def _body(self, name: str) -> Graph:
        body: Graph = self.node.attrs[name]
        places = Body()
        extra = [
            places.input({"shape": x.spec.shape, "dtype": x.dtype}, x.name) for x in self.operands
        ]
        inner = Rewrite(body)
        for node in body.nodes:
            number = self.read[name].get(node)
            if number is None:
                inner.put(node, inner.keep(node, inner.operands(node)))
            else:
                inner.put(node, extra[number])
        inner.finish()
        inputs, outputs, effects = (
            [inner.of(x) for x in side] for side in (body.inputs, body.outputs, body.effects)
        )
        nodes = dict.fromkeys([*body.inputs, *extra, *map(inner.of, body.nodes)])
        return frozen_graph(nodes, [*inputs, *extra], outputs, effects, body.single)


def _may_move(node: Node, sure: bool) -> bool:
    op = node.op
    if op.effect or op.impure or node.controls or has_effect(node):
        return False
    return sure or (is_total(node) and _is_certain(node))


def is_total(node: Node) -> bool:
    """Return whether the operator is defined for all numbers."""
    op = node.op
    return op in TOTAL or (op.ufunc is not None and (op is not ops.pow or node.dtype.kind == "f"))


def _is_certain(node: Node) -> bool:
    """Return whether the shapes surely fit: every open length is paired with itself only."""
    shapes = [x.spec.shape for x in node.inputs]
    if None in shapes or node.spec.shape is None:
        return False
    known = all(not isinstance(n, Dim) for shape in shapes for n in shape or ())
    alike = len({shape for shape in shapes if shape}) <= 1
    return known or (alike and (len(shapes) == 1 or node.op.elementwise))

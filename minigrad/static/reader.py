"""The reading of operators on nodes: which graph they go to, and how operands are converted."""

from __future__ import annotations

from typing import Any

from minigrad import ops
from minigrad.core import Attrs, Dtype, Op, as_weak, context, is_weak, unify
from minigrad.static.body import Body
from minigrad.static.current import building
from minigrad.static.default import graph_of
from minigrad.static.gradients import gradients
from minigrad.static.graph import Graph
from minigrad.static.node import Node
from minigrad.static.traced_length import TracedLength


class GraphReader:
    """How a static graph reads `a * b`: add a node, run nothing."""

    level = 2
    builds = True
    gradients = staticmethod(gradients)

    def run_all(self) -> None:
        """Do nothing: no operation was put off."""

    def apply(self, op: Op, operands: tuple[Any, ...], attrs: Attrs) -> Node:
        if context.now.recording and _ready(op, operands):
            ready: Graph = operands[0].graph
            return ready.add(op, operands, attrs)
        graph = graph_of(op, operands)
        given = [x.as_node() if isinstance(x, TracedLength) else as_weak(op, x) for x in operands]
        mixed = [x if is_weak(x) else graph.lift(x, who=op.name) for x in given]
        node = graph.add(op, [graph.lift(x) for x in unify(op, mixed, _cast)], attrs)
        if context.now.recording or node.dtype.kind != "f" or op is ops.stop_gradient:
            return node
        return graph.add(ops.stop_gradient, (node,), {})  # no_grad while building


Node.reader = GraphReader()


def _ready(op: Op, operands: tuple[Any, ...]) -> bool:
    """Return whether these are nodes of the graph being built that need no conversion."""
    if not operands or type(operands[0]) is not Node:
        return False
    graph, dtype = operands[0].graph, operands[0].spec.dtype
    stack = building.stack
    if (stack[-1] if stack else graph) is not graph or (not stack and isinstance(graph, Body)):
        return False
    for x in operands:
        if type(x) is not Node or x.graph is not graph or x.spec.dtype is not dtype:
            return False
    return dtype.kind == "f" or op.inputs is None


def _cast(x: Any, dtype: Dtype) -> Any:
    return ops.cast(x, dtype=dtype)

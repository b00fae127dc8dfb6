"""Gradients of a static graph: the sweep goes over nodes, and what it adds up are more nodes."""

from __future__ import annotations

from collections.abc import Container
from typing import Any

from minigrad import ops
from minigrad.backprop.rules import Contribution, contributions
from minigrad.backprop.sweep import sweep
from minigrad.core import ancestors, fits, name_scope
from minigrad.core.garbage import no_collection
from minigrad.diagnostics.arguments import refuse
from minigrad.diagnostics.errors import GradientError
from minigrad.diagnostics.messages import fill
from minigrad.diagnostics.source import here
from minigrad.static.body import Body
from minigrad.static.default import expect_node, expect_one_graph
from minigrad.static.gradient_list import Gradients
from minigrad.static.graph import Graph
from minigrad.static.node import Node

__all__ = ["gradients"]


def gradients(ys: Any, xs: Any, grad_ys: Any = None) -> Gradients:
    """Build the gradients of (the sum of) `ys` with respect to each of `xs`; return a list.

    Nothing is computed: the gradients are more nodes of the same graph. It is a list for a single
    `x`, too; one that `ys` do not depend on gets None. (TensorFlow 1: tf.gradients.)

    >>> import minigrad as mg
    >>> x = mg.placeholder("x", shape=())
    >>> [dx] = mg.gradients(x * x + 3, x)
    >>> float(mg.run(mg.build_graph(x, dx), {x: 2}))
    4.0
    """
    outputs = [expect_node("gradients", y) for y in (ys if isinstance(ys, (list, tuple)) else [ys])]
    if not outputs:
        raise refuse("gradients", "ys", ys, fill("expect_nodes"))
    expect_one_graph("gradients", outputs)
    graph = outputs[0].graph
    nodes = ancestors(outputs)
    reached = set(nodes)
    listed = xs if isinstance(xs, (list, tuple)) else [xs]
    targets = [_target(x, graph, reached) for x in listed]
    seeds = grad_ys if isinstance(grad_ys, (list, tuple)) else [grad_ys] * len(outputs)
    if len(seeds) != len(outputs):
        raise refuse("gradients", "grad_ys", grad_ys, fill("expect_as_many", count=len(outputs)))
    found: dict[Any, Any] = {}
    with name_scope("gradients"), no_collection():
        for y, seed in zip(outputs, seeds, strict=True):
            one = (
                graph.constant(y.dtype.type(1))
                if seed is None
                else graph.lift(seed, y.dtype, "gradients")
            )
            if seed is not None and not fits(one.spec.shape, y.spec.shape):
                raise GradientError("seed_shape", seed=one.shape, shape=y.shape, defined=here())
            g = one if y.spec.shape == one.spec.shape else ops.broadcast_like(one, y)
            found[y] = found[y] + g if y in found else g
        known = set(targets) - {None}
        leading = set(known)  # nodes of real or complex numbers that some target leads to
        for node in nodes:
            if node.dtype.kind in "fc" and not leading.isdisjoint(node.inputs):
                leading.add(node)
        sweep(
            [n for n in nodes if n in leading],
            found,
            pull=lambda g, node: _contributions_of(g, node, leading),
            keep=known,
        )
    return Gradients(found.get(x) for x in targets)


def _target(x: Any, graph: Graph, reached: Container[Node]) -> Node | None:
    """Return the node of a target; None for a tensor that the graph doesn't use.

    In a branch or loop, what stands there for a node from around it.
    """
    if hasattr(type(x), "as_node"):
        return graph.lifted(x)
    node = expect_node("gradients", x, graph)
    if node in node.graph.embedded and node.dtype.kind == "f":
        raise GradientError("embedded", name=node.name, defined=node.where, ran=here())
    if node.graph is graph or node in reached:
        return node
    if not isinstance(graph, Body):
        raise node.graph.wrong_graph_error(node, "gradients")
    return graph.lifted(node)


def _contributions_of(g: Any, node: Node, leading: set[Any]) -> list[Contribution]:
    """Return the contributions to operands that lead to a target."""
    op, inputs = node.op, node.inputs
    followed = [i for i, x in enumerate(inputs) if x in leading and op.has_rule(i)]
    every = followed if op.broadcasts else ()
    return contributions(op, followed, g, (node, *inputs), node.attrs, inputs, every)

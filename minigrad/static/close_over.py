"""Closing a graph: a traced function's captured values are put inside it."""

from __future__ import annotations

from typing import Any

from minigrad.core import Attrs, Op, ancestors
from minigrad.ops import state
from minigrad.static.body import Body
from minigrad.static.graph import Graph
from minigrad.static.node import Node

Source = tuple[Op, Attrs]


def close_over(graph: Graph) -> Graph:
    """Return the graph with variables and constants in place of values from outside.

    It takes the arguments of the function alone and gives what the function returns, one output
    for each value; a graph that reads nothing from around is given back as it is. FormatError for
    what cannot be inside, such as a node of another graph.
    """
    inside = {x: found for x in graph.placeholders if (found := _inner_value(x)) is not None}
    leaves, single = graph.returned() if isinstance(graph, Body) else (graph.outputs, graph.single)
    if not inside and [*map(id, leaves)] == [*map(id, graph.outputs)]:
        return graph
    result, new = _copy_nodes(graph, inside)
    given = [x if isinstance(x, Node) else result.constant(x) for x in leaves]
    result.inputs = tuple(x for x in graph.inputs if x not in inside)
    result.outputs, result.single = tuple(new.get(x, x) for x in given), single
    counters = [new[x] for x, (op, _) in inside.items() if op is state.run_counter]
    result.effects = (*(new[x] for x in graph.effects), *counters)
    result._nodes = ancestors([*result.inputs, *result.outputs, *result.effects])
    return result.freeze()


def _inner_value(x: Node) -> Source | None:
    return x.graph.inside(x) if isinstance(x.graph, Body) else None


def _copy_nodes(graph: Graph, inside: dict[Node, Source]) -> tuple[Graph, dict[Node, Any]]:
    """Copy the nodes in their order; those with a value inside become sources."""
    result = Graph()
    new: dict[Node, Any] = {}
    for node in graph.nodes:
        inputs, controls = (tuple(new[x] for x in xs) for xs in (node.inputs, node.controls))
        if node not in inside:
            new[node] = result._take(node, inputs, controls)
            continue
        new[node] = copy = result.add_copy(node, ())
        copy.op, copy.attrs = inside[node]
        copy.spec = copy.op.spec([], copy.attrs)
    return result, new

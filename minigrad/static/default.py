"""The graph that new nodes belong to, and which nodes a function of several nodes accepts."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from textwrap import shorten
from typing import Any

from minigrad.core import Op, ancestors
from minigrad.diagnostics.errors import FrozenGraphError, GraphError
from minigrad.diagnostics.source import here
from minigrad.static.body import Body
from minigrad.static.current import building
from minigrad.static.gradient_list import Gradients
from minigrad.static.graph import Graph
from minigrad.static.node import Node

__all__ = ["control_dependencies", "get_default_graph", "reset_default_graph"]


def graph_of(op: Op, operands: Iterable[Any]) -> Graph:
    """Return the body being built, or else the graph that all node operands belong to."""
    if building.stack and isinstance(building.stack[-1], Body):
        return building.stack[-1]
    nodes = [x for x in operands if isinstance(x, Node)]
    graph = nodes[0].graph if nodes else get_default_graph()
    if isinstance(graph, Body):
        raise graph.wrong_graph_error(nodes[0], op.name)
    if building.stack and building.stack[-1].frozen:
        raise FrozenGraphError("frozen", op=op.name, defined=here())
    for node in nodes:
        if node.graph is not graph:
            raise node.graph.wrong_graph_error(node, op.name)
    return graph


def get_default_graph() -> Graph:
    """Return the graph that new placeholders, variables and constants are added to.

    It is that of the innermost `with mg.Graph():`, or the one that is there from the start.
    (tf.get_default_graph.)

    >>> import minigrad as mg
    >>> with mg.Graph() as graph:
    ...     mg.get_default_graph() is graph
    True
    """
    if building.stack:
        innermost: Graph = building.stack[-1]
        return innermost
    if building.default is None:
        building.default = Graph()
    default: Graph = building.default
    return default


def reset_default_graph() -> None:
    """Start over with an empty default graph; nodes of the old one stay usable.

    For notebooks, where a cell that is run twice would build twice. (tf.reset_default_graph.)

    >>> import minigrad as mg
    >>> x = mg.placeholder("x")
    >>> mg.reset_default_graph()
    >>> mg.get_default_graph().nodes
    ()
    """
    building.default = None


@contextlib.contextmanager
def control_dependencies(nodes: Iterable[Node]) -> Iterator[None]:
    """Make nodes built inside the block run after `nodes`, even without using their values.

    >>> import minigrad as mg
    >>> with mg.Graph(), mg.Session() as sess:
    ...     x = mg.constant(2.0)
    ...     with mg.control_dependencies([mg.Print(x, "x is")]):
    ...         y = x * x
    ...     float(sess.run(y))
    x is 2.0
    4.0
    """
    before = building.controls
    around = building.stack[-1] if building.stack else None
    found = [expect_node("control_dependencies", x) for x in nodes]
    for node in found:
        if around is not None and node.graph is not around and not isinstance(around, Body):
            raise node.graph.wrong_graph_error(node, "control_dependencies")
    building.controls = (*before, *found)
    try:
        yield
    finally:
        building.controls = before


def expect_node(what: str, x: Any, graph: Graph | None = None) -> Node:
    """Return a node, or the node that a tensor became; GraphError for anything else."""
    if isinstance(x, Gradients):
        raise x.refusal(what)
    node = x if isinstance(x, Node) else (graph or get_default_graph()).lifted(x)
    if node is None:
        value = shorten(repr(x), 60, placeholder="…")
        raise GraphError("not_a_node", what=what, value=value, defined=here())
    return node


def expect_one_graph(who: str, outputs: Sequence[Node], inputs: Sequence[Node] = ()) -> None:
    """Refuse outputs of several graphs, and inputs of another that no output needs.

    What `replace` made of a graph is frozen, and holds placeholders of the old one.
    """
    first = outputs[0].graph

    def strange(xs: Sequence[Node]) -> list[Node]:
        return [x for x in xs if x.graph is not first and not (x.graph.frozen or first.frozen)]

    others = strange(inputs)
    needed = set(ancestors(outputs)) if others else ()
    for x in (*strange(outputs), *(x for x in others if x not in needed)):
        raise x.graph.wrong_graph_error(x, who)

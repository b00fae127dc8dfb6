"""The static graph: nodes that are built and not run, and the graph that holds them."""

from minigrad.core import ancestors
from minigrad.static.body import Body, number_behind, tensors_as_nodes, without_listeners
from minigrad.static.close_over import close_over
from minigrad.static.default import (
    control_dependencies,
    expect_node,
    expect_one_graph,
    get_default_graph,
    graph_of,
)
from minigrad.static.graph import Graph, bodies_of, has_effect
from minigrad.static.labels import labels
from minigrad.static.node import Node
from minigrad.static.reader import GraphReader as GraphReader  # it enters itself with nodes

__all__ = [
    "Body",
    "Graph",
    "Node",
    "ancestors",
    "bodies_of",
    "close_over",
    "control_dependencies",
    "expect_node",
    "expect_one_graph",
    "get_default_graph",
    "graph_of",
    "has_effect",
    "labels",
    "number_behind",
    "tensors_as_nodes",
    "without_listeners",
]

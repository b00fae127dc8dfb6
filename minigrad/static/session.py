"""TensorFlow 1's way to run a graph: a session, which keeps the values of variables."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any, Self

from minigrad.core import Array
from minigrad.core.locks import RunLock
from minigrad.diagnostics.arguments import refuse
from minigrad.diagnostics.errors import ArgumentError, GraphError
from minigrad.diagnostics.messages import fill
from minigrad.diagnostics.source import here
from minigrad.static import Graph, Node, get_default_graph
from minigrad.static.feeds import check_feeds, origins
from minigrad.static.handlers import Variables
from minigrad.static.run import Interpreter

__all__ = ["Session"]


class Session:
    """Runs parts of one graph, and keeps its variables from one run to the next.

    Several threads may run it: runs wait for each other, so that none sees, or overwrites, half of
    what another one changes. `with sess:` is for the thread that enters it.

    >>> import minigrad as mg
    >>> with mg.Graph():
    ...     w = mg.Variable(1.0, name="w")
    ...     double = mg.assign(w, w * 2)
    ...     with mg.Session() as sess:
    ...         _ = sess.run(mg.global_variables_initializer())
    ...         [float(sess.run(double)) for _ in range(3)]
    [2.0, 4.0, 8.0]
    """

    def __init__(self, graph: Graph | None = None) -> None:
        if graph is not None and not isinstance(graph, Graph):
            raise refuse("Session", "graph", graph, fill("expect_graph"))
        self.graph = graph or get_default_graph()
        self.variables: Variables = {}
        self.turn = RunLock()  # also that of programs which were compiled for this session
        self._programs: dict[tuple[Node, ...], Interpreter] = {}
        self._closed = False

    def __enter__(self) -> Self:
        self.graph.__enter__()
        return self

    def __exit__(self, *exc: object) -> None:
        self.graph.__exit__()
        self.close()

    def close(self) -> None:
        """Drop all variables; a closed session runs nothing more."""
        self.turn.run(self._forget)

    def _forget(self) -> None:
        self._closed = True
        self.variables.clear()
        self._programs.clear()

    def run(self, fetches: Any, feed_dict: Mapping[Any, Any] | None = None) -> Any:
        """Compute the fetched nodes: one, or a list, tuple or dict of them, nested as you like.

        Nodes may be given by name. Returns arrays in the same arrangement (None for an initialiser
        or a group). Raises NotFedError, FeedError, UninitializedError; then no variable changed.
        GraphError within another run of this session, as from a listener.
        """
        return self.turn.run(self._run, fetches, feed_dict)

    def _run(self, fetches: Any, feed_dict: Mapping[Any, Any] | None) -> Any:
        if self._closed:
            raise GraphError("session_closed", ran=here())
        nodes: list[Node] = []
        arrangement = self._collect(fetches, nodes)
        key = tuple(nodes)
        if key not in self._programs:
            self._programs[key] = Interpreter(nodes)
        program = self._programs[key]
        results = program(check_feeds(self.graph, feed_dict), self.variables)
        return _arrange(arrangement, results)

    def value(self, variable: Any) -> Array:
        """Return the current value of a variable, or of the tensor that became one."""
        node = variable if isinstance(variable, Node) else self.graph.lift(variable)
        return self.run(node)

    def _collect(self, fetches: Any, nodes: list[Node]) -> Any:
        """Append the fetched nodes; return the arrangement with their positions."""
        if isinstance(fetches, Mapping):
            return {k: self._collect(v, nodes) for k, v in fetches.items()}
        if isinstance(fetches, (list, tuple)):
            return _like(fetches, [self._collect(v, nodes) for v in fetches])
        if isinstance(fetches, str):
            fetches = self.graph[fetches]
        if not isinstance(fetches, Node):
            key = "fetch_none" if fetches is None else "fetch"
            raise GraphError(key, value=repr(fetches)[:60], ran=here())
        if fetches.graph is not self.graph and not self._holds(fetches):
            raise ArgumentError(
                "foreign_fetch", name=fetches.name, defined=fetches.where, ran=here()
            )
        nodes.append(fetches)
        return len(nodes) - 1

    def _holds(self, node: Node) -> bool:
        """Return whether this graph, cut out of another, holds that node."""
        return self.graph.frozen and (node.graph in origins(self.graph) or node in self._held)

    @functools.cached_property
    def _held(self) -> frozenset[Node]:
        return frozenset(self.graph.nodes)


def _like(sequence: Any, items: list[Any]) -> Any:
    """Arrange items in a sequence of the same type; a named tuple takes them one by one."""
    kind = list if isinstance(sequence, list) else type(sequence)
    return kind(*items) if hasattr(kind, "_fields") else kind(items)


def _arrange(arrangement: Any, results: list[Any]) -> Any:
    if isinstance(arrangement, dict):
        return {k: _arrange(v, results) for k, v in arrangement.items()}
    if isinstance(arrangement, (list, tuple)):
        return _like(arrangement, [_arrange(v, results) for v in arrangement])
    return results[arrangement]

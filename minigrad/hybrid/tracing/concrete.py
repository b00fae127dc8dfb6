"""A traced function for one signature: a graph that is called with values, or inlined.

(TensorFlow calls this a concrete function.)
"""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from minigrad import ops
from minigrad.core import context
from minigrad.diagnostics.errors import GraphError
from minigrad.diagnostics.source import here
from minigrad.dynamic.recording import recording
from minigrad.hybrid.buffers import BufferUpdate
from minigrad.hybrid.tracing.body import Arrangement, TracedBody
from minigrad.hybrid.tracing.calls import CallableBody, building
from minigrad.static import Body, Graph, Node, graph_of

_uses: weakref.WeakKeyDictionary[Graph, int] = weakref.WeakKeyDictionary()


class ConcreteFunction:
    """A finished trace: the graph, where its captured values come from, how results are arranged.

    Inputs of the graph are the arguments, then what was captured, then counters of calls, its own
    or those of layers; its outputs are the results, then the new values of buffers such as running
    means.
    """

    def __init__(
        self, body: TracedBody, result: Any, sources: Mapping[int, Callable[[], Any]]
    ) -> None:
        """Keep the traced body; `sources` maps the `id` of a captured value to its getter."""
        with body, recording(True):
            self.arrangement = Arrangement(result, body)
            outputs = self.arrangement.outputs
            newest = {id(u.buffer): u for u in body.updates}
            renewed = [body.lift(u.value) for u in newest.values()]
        captured = list(body.captures.values())
        self._get = [sources.get(id(x)) or functools.partial(_identity, x) for x in captured]
        body.sources = dict(zip(body.captures, self._get, strict=True))
        body.arrangement = self.arrangement
        body.finish([*body.arguments, *body.captures, *body.counters], [*outputs, *renewed])
        body.single = self.arrangement.single and not renewed
        self.body, self._counted = body, list(body.counters.values())
        self._results = len(outputs)
        place = {id(x): i for i, x in enumerate(captured)}
        self._updates = [(place[i], u) for i, u in newest.items()]
        self.symbolic = [x for x in captured if isinstance(x, Node)]
        self._call = CallableBody(body, body.function)

    def run(self, operands: Sequence[Any], count: int) -> Any:
        """Run on these tensors and arrays; `count` is the number of earlier calls."""
        captured = [get() for get in self._get]
        counts = [np.int64(count if calls is None else next(calls)) for calls in self._counted]
        results = self._call([*operands, *captured, *counts])
        if self._updates:
            with recording(False):
                for (i, _), value in zip(self._updates, results[self._results :], strict=True):
                    captured[i].copy_(value)
        return self.arrangement.of(results)

    def inline(self, operands: Sequence[Any], placed: dict[Node, Node] | None = None) -> Any:
        """Inline the graph into the one being built; return the results as nodes.

        placed: is given for each node the one that stands for it there.
        """
        body = self.body
        graph = graph_of(self._call.op, [*operands, *self.symbolic])
        values = [graph.lift(x) for x in operands]
        values += [self._capture_for(graph, get()) for get in self._get]
        values += [
            _new_counter(graph) if calls is None else graph.call_counter(calls)
            for calls in self._counted
        ]
        with building:
            new = graph.inlined(body, values)
        self._renew_buffers(graph, new)
        if placed is not None:
            placed.update(new)
        results = [new[y] for y in body.outputs[: self._results]]
        if not context.now.recording:
            results = [ops.stop_gradient(y) if y.dtype.kind == "f" else y for y in results]
        return self.arrangement.of(results)

    def _capture_for(self, graph: Graph, x: Any) -> Node:
        """Return a captured value for another graph: the newest one of a buffer."""
        newest = [u.value for u in graph.updates if u.buffer is x]
        if newest:
            node: Node = newest[-1]
            return node
        return graph.buffer(x) if id(x) in self.body.buffers else graph.lift(x)

    def _renew_buffers(self, graph: Graph, new: Mapping[Node, Node]) -> None:
        """Make the current graph renew the buffers that this one renews."""
        for i, update in self._updates:
            buffer = self._get[i]()
            if isinstance(graph, Body) and graph.outer is not None:
                name = self.body.function
                raise GraphError("update_in_body", op=name, name=buffer.name, defined=here())
            sources = frozenset(new[x] for x in update.sources if x in new)
            graph.updates.append(BufferUpdate(buffer, new[update.value], sources))


def _identity(x: Any) -> Any:
    return x


def _new_counter(graph: Graph) -> Node:
    """Return a run counter for one more use in this graph, so that uses draw other numbers."""
    use = _uses[graph] = _uses.get(graph, -1) + 1
    counter = graph.run_counter()
    if use == 0:
        return counter
    shifted: Node = counter + np.int64(use << 40)
    return shifted

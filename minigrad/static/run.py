"""Running a graph: a flat list of steps, made once, then done again for every feed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from minigrad.core import STOPS, Array, Op, events, explain, silently, spec_of
from minigrad.diagnostics.arguments import refuse
from minigrad.diagnostics.errors import GraphError
from minigrad.diagnostics.messages import fill
from minigrad.diagnostics.source import here
from minigrad.ops import state
from minigrad.static import Graph, Node, ancestors, bodies_of
from minigrad.static.feeds import check_feeds
from minigrad.static.handlers import HANDLERS, PREPARED, WATCHES, RunState, Variables

__all__ = ["run"]


class Step:
    """One node of the program, and which results are no longer needed after it."""

    __slots__ = (
        "bodies",
        "handler",
        "keeps_history",
        "node",
        "place",
        "release",
        "sources",
        "target",
    )

    def __init__(
        self, node: Node, sources: list[int], target: int, release: tuple[int, ...]
    ) -> None:
        self.node, self.sources, self.target, self.release = node, sources, target, release
        self.handler: Callable[..., Any] = HANDLERS.get(node.op, _run_kernel)
        self.keeps_history = False
        self.place = 0, 1  # of a counter: see `counter_numbers`
        bodies = bodies_of(node.attrs) if node.op in HANDLERS else {}  # a kernel runs its own
        self.bodies = {k: Interpreter(v.outputs, v.inputs, v.effects) for k, v in bodies.items()}


class Interpreter:
    """A graph made ready to run: the reference executor.

    It runs every node of the graph as it stands, in the order built, by the kernels that the
    dynamic graph uses, so both modes give the same bits. A result is dropped after its last use.
    `given` are nodes whose values come from outside; what leads to them alone does not run.
    """

    def __init__(
        self, outputs: Sequence[Node], given: Sequence[Node] = (), effects: Sequence[Node] = ()
    ) -> None:
        self.outputs, self.given = tuple(outputs), tuple(given)
        known = set(self.given)
        self.nodes: list[Node] = ancestors([*self.outputs, *effects, *self.given], known)
        self.placeholders = [n for n in self.nodes if n.op is state.placeholder]
        slot = {node: i for i, node in enumerate(self.nodes)}
        last_use = dict(slot)
        for node in self.nodes:
            if node not in known:
                last_use.update((x, slot[node]) for x in node.inputs)
        last_use.update((x, len(slot)) for x in self.outputs)
        ends: dict[int, list[int]] = {}
        for node, end in last_use.items():
            ends.setdefault(end, []).append(slot[node])
        self._given_slots = [slot[x] for x in self.given]
        self._results = [slot[x] for x in self.outputs]
        self.steps = [
            Step(node, [slot[x] for x in node.inputs], i, tuple(ends.get(i, ())))
            for i, node in enumerate(self.nodes)
            if node not in known
        ]
        found = {n.op for n in self.nodes}
        for op in found & PREPARED.keys():
            PREPARED[op](self.steps)
        watches = [WATCHES[op](self.nodes) for op in found & WATCHES.keys()]
        self._watches = [watch for watch in watches if watch is not None]

    def __call__(self, feeds: Mapping[Node, Array], variables: Variables) -> list[Any]:
        """Run once. `variables` changes only if the whole run succeeded.

        Results share no memory with feeds, variables or constants.
        """
        if not self.outputs:
            return []
        run = RunState(feeds, variables, self.outputs[0])
        results = silently(self.compute, run, [feeds[x] for x in self.given])
        for watch in self._watches:
            changed = run.updates.values()
            watch([*results, *changed], Interpreter.computing(feeds, variables))
        variables.update(run.updates)
        return [owned_copy(x.op, value) for x, value in zip(self.outputs, results, strict=True)]

    @classmethod
    def computing(cls, feeds: Mapping[Node, Array], variables: Variables) -> Any:
        """Return a function that computes nodes for these feeds without changing anything."""
        return lambda nodes: cls(nodes)(feeds, {**variables})

    def compute(self, run: RunState, given: Sequence[Any]) -> list[Any]:
        """Compute the outputs for these values of the given nodes."""
        values: list[Any] = [None] * len(self.nodes)
        for i, value in zip(self._given_slots, given, strict=True):
            values[i] = value
        for step in self.steps:
            values[step.target] = step.handler(run, step, [values[i] for i in step.sources])
            for i in step.release:
                values[i] = None
        return [values[i] for i in self._results]


def owned_copy(op: Op, value: Any) -> Any:
    """Return a result that the caller may change: a copy where it is needed."""
    borrowed = op in HANDLERS or getattr(value, "base", None) is not None
    return value.copy()[()] if borrowed and isinstance(value, np.ndarray) else value


def _run_kernel(run: RunState, step: Step, operands: list[Any]) -> Array:
    node, op = step.node, step.node.op
    try:
        value = op.run(None, *operands, **node.attrs)
    except GraphError as error:
        error.defined, error.ran = node.where, here()
        raise
    except STOPS as reason:
        found = explain(op, [spec_of(x) for x in operands], node.attrs, reason)
        found.defined, found.ran = node.where, here()
        raise found from None
    if events.listeners:
        events.emit("run", op, node, value, tuple(operands))
    return value


def run(graph: Graph, feed_dict: Mapping[Any, Any] | None = None) -> Any:
    """Run a graph from `build_graph` once; keys of `feed_dict` are placeholders or their names.

    One output gives one array, a list gives a list. Parameters of layers have their values; those
    of `mg.Variable` need a Session, which keeps them. Raises NotFedError, FeedError,
    UninitializedError, and ArgumentError for what is no graph.

    >>> import minigrad as mg
    >>> x = mg.placeholder("x")
    >>> graph = mg.build_graph(x, x * x + 3)
    >>> float(mg.run(graph, {x: 2})), mg.run(graph, {x: [0, 1]}).tolist()
    (7.0, [3.0, 4.0])
    """
    if not isinstance(graph, Graph):
        raise refuse("run", "graph", graph, fill(_remedy(graph)))
    if not graph.outputs:
        raise GraphError("no_outputs", ran=here())
    results = Interpreter(graph.outputs, effects=graph.effects)(check_feeds(graph, feed_dict), {})
    return results[0] if graph.single else results


def _remedy(given: Any) -> str:
    """Return the row of the message table that says what to do with a non-graph."""
    listed = given if isinstance(given, list | tuple) else [given]
    if listed and all(isinstance(x, Node) for x in listed):
        return "expect_built"
    return "expect_call" if callable(given) and not isinstance(given, type) else "expect_outputs"

"""Passes: each makes a new graph that computes the same and is better in one respect.

`PIPELINE` is their order. A pass is a function from a frozen graph to a new one and the list of
what it changed; the graph is verified after each.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from minigrad import events
from minigrad.errors import GraphError
from minigrad.fused import FUSED
from minigrad.graph import Graph
from minigrad.passes.algebra import fast_math, simplify, tidy_shapes
from minigrad.passes.folding import fold_constants, merge_common, remove_dead
from minigrad.passes.fusing import fuse, stretch
from minigrad.passes.rewrite import Change, Rewrite, frozen
from minigrad.source import here

__all__ = ["PASSES", "PIPELINE", "Change", "PassRecord", "optimize"]

Pass = Callable[[Graph], Any]

PIPELINE: tuple[Pass, ...] = (
    tidy_shapes,
    stretch,
    fold_constants,
    simplify,
    merge_common,
    remove_dead,
    fuse,
    remove_dead,
)
PASSES: dict[str, Pass] = {f.__name__: f for f in (*PIPELINE, fast_math)}


@dataclass(frozen=True)
class PassRecord:
    """What one pass did: its name, the graph before and after it, and the changes."""

    name: str
    before: Graph
    after: Graph
    changes: tuple[Change, ...]

    def __str__(self) -> str:
        sizes = f"{len(self.before.nodes)} → {len(self.after.nodes)}"
        return "\n".join([f"{self.name}: {sizes}", *(f"  {change}" for change in self.changes)])


def optimize(graph: Graph, passes: Sequence[str | Pass] | None = None) -> Graph:
    """The graph after these passes, in this order; `.history` tells what each of them did.

    passes: names out of `PASSES`, or functions from a graph to a graph (or to a graph and a list
    of changes); the whole `PIPELINE` by default. Raises GraphError for an unknown name, VerifyError
    when a pass breaks the graph.

    >>> import minigrad as mg
    >>> with mg.Graph():
    ...     x = mg.placeholder("x", shape=(3,))
    ...     graph = mg.build_graph(x, x * 1 + x * 1).optimize()
    >>> print(graph.text())
    %0 = Placeholder "x" : float32[3]
    %1 = Add(%0, %0) : float32[3]
    return %1
    """
    history: list[PassRecord] = []
    for chosen in PIPELINE if passes is None else passes:
        function = _named(chosen) if isinstance(chosen, str) else chosen
        after, changes = _applied(function, graph)
        after.verify()
        record = PassRecord(function.__name__, graph, after, tuple(changes))
        history.append(record)
        if events.listeners:
            events.emit("pass", None, None, record)
        graph = after
    result = frozen(graph.nodes, graph.inputs, graph.outputs, graph.effects, graph.single)
    result.history = tuple(history)
    return result


def _applied(function: Pass, graph: Graph) -> tuple[Graph, list[Change]]:
    """One pass over a graph and, before that, over the bodies of its branches and loops."""
    rewrite = Rewrite(graph)
    for node in graph.nodes:
        bodies = {}
        for name, body in node.attrs.items():
            if isinstance(body, Graph) and node.op is not FUSED:
                bodies[name], changes = _applied(function, body)
                rewrite.changes += changes
        changed = any(body is not node.attrs[name] for name, body in bodies.items())
        inputs = tuple([rewrite.new[x] for x in node.inputs])
        rewrite.put(node, rewrite.keep(node, inputs, **(bodies if changed else {})))
    result = function(rewrite.finish())
    after, more = result if isinstance(result, tuple) else (result, ())
    return after, [*rewrite.changes, *more]


def _named(name: str) -> Pass:
    if name not in PASSES:
        raise GraphError("unknown_pass", name=name, names=", ".join(PASSES), defined=here())
    return PASSES[name]


Graph._optimizer = optimize

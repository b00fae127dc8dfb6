"""Passes: each makes a new graph that computes the same and is better in one respect.

A pass is a function from a frozen graph to a new one and the list of what it changed; the graph is
verified after each. Where it stands in `PIPELINE` it says itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from minigrad.core import events, fits
from minigrad.core.garbage import no_collection
from minigrad.diagnostics.arguments import expect
from minigrad.diagnostics.errors import GraphError, VerifyError
from minigrad.diagnostics.source import function_name, here
from minigrad.passes.algebra import *
from minigrad.passes.folding import *
from minigrad.passes.fusing import *
from minigrad.passes.hoisting import *
from minigrad.passes.losses import *
from minigrad.passes.marking import *
from minigrad.passes.recomputing import recompute
from minigrad.passes.rewrite import (
    ON_REQUEST,
    PLACES,
    Change,
    Pass,
    Rewrite,
    frozen_graph,
    ordered_nodes,
)
from minigrad.passes.shapes import *
from minigrad.passes.shapes import with_shapes
from minigrad.static import Graph, Node
from minigrad.static.fused import FUSED

__all__ = [
    "INEXACT",
    "PASSES",
    "PIPELINE",
    "Change",
    "PassRecord",
    "optimize",
    "recompute",
    "with_shapes",
]

PIPELINE: tuple[Pass, ...] = tuple(function for _, function in sorted(PLACES.items()))
INEXACT: tuple[Pass, ...] = tuple(ON_REQUEST)
PASSES: dict[str, Pass] = {f.__name__: f for f in (*PIPELINE, *INEXACT)}


@dataclass(frozen=True)
class PassRecord:
    """What one pass did: its name, the graph before and after it, the changes; and the pass."""

    name: str
    before: Graph
    after: Graph
    changes: tuple[Change, ...]
    function: Pass

    def __str__(self) -> str:
        sizes = f"{len(self.before.nodes)} → {len(self.after.nodes)}"
        return "\n".join([f"{self.name}: {sizes}", *(f"  {change}" for change in self.changes)])


def optimize(graph: Graph, passes: Sequence[str | Pass] | None = None) -> Graph:
    """Run these passes in this order; the new graph's `.history` says what each did.

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
    expect(isinstance(graph, Graph), optimize, "mg.optimize(mg.build_graph(x, y))")
    with no_collection():
        return _optimized(graph, PIPELINE if passes is None else passes)


def _optimized(graph: Graph, passes: Sequence[str | Pass]) -> Graph:
    history: list[PassRecord] = []
    effects = tuple(ordered_nodes(graph))
    if len(effects) > len(graph.effects):  # they stay though a pass may find no use for their value
        graph = frozen_graph(graph.nodes, graph.inputs, graph.outputs, effects, graph.single)
    for chosen in passes:
        function = _named(chosen) if isinstance(chosen, str) else chosen
        after, changes = _applied(function, graph)
        if after is not graph:
            _check(function_name(function), graph, after, len(effects))
        record = PassRecord(function_name(function), graph, after, tuple(changes), function)
        history.append(record)
        if events.listeners:
            events.emit("pass", None, None, record)
        graph = after
    result = frozen_graph(graph.nodes, graph.inputs, graph.outputs, graph.effects, graph.single)
    result.history, result.in_place = tuple(history), graph.in_place
    return result


def _applied(function: Pass, graph: Graph) -> tuple[Graph, list[Change]]:
    """Run one pass over the bodies of branches and loops, then over the graph."""
    whole, changes = graph, list[Change]()
    nested = any(op.infer and op is not FUSED for op in graph.operators)
    if nested and not hasattr(function, "outermost") and any(map(_holds_bodies, graph.nodes)):
        rewrite = Rewrite(graph)

        def inside(node: Node, inputs: tuple[Node, ...]) -> Node | None:
            bodies = {k: v for k, v in node.attrs.items() if isinstance(v, Graph)}
            done = {k: _applied(function, body) for k, body in bodies.items()}
            rewrite.changes += [change for _, more in done.values() for change in more]
            new: dict[str, Any] = {k: v for k, (v, _) in done.items() if v is not bodies[k]}
            return rewrite.keep(node, inputs, **new) if new else None

        whole = rewrite.walk(lambda n, xs: inside(n, xs) if _holds_bodies(n) else None)
        changes = rewrite.changes
    result = function(whole)
    after, more = result if isinstance(result, tuple) else (result, ())
    return after, [*changes, *more]


def _holds_bodies(node: Node) -> bool:
    op = node.op
    if op.infer is None or op is FUSED:
        return False
    return any(isinstance(value, Graph) for value in node.attrs.values())


def _check(name: str, before: Graph, after: Graph, effects: int) -> None:
    """Raise VerifyError unless the pass left a valid graph with the same ends and effects."""
    after.verify({*before.nodes, *after.notes.pop(Rewrite, ())})
    kept = len(before.inputs) == len(after.inputs) and len(before.outputs) == len(after.outputs)
    for old, new in zip(before.outputs, after.outputs, strict=False):
        kept = kept and old.dtype == new.dtype and fits(new.spec.shape, old.spec.shape)
    if not kept or (effects and len(ordered_nodes(after)) < effects):
        raise VerifyError("pass_lost", name=name)


def _named(name: str) -> Pass:
    if name not in PASSES:
        raise GraphError("unknown_pass", name=name, names=", ".join(PASSES), defined=here())
    return PASSES[name]

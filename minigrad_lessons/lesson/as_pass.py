"""A pass of the learner's engine inside of minigrad's pipeline: `as_pass`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from minigrad.ops import state
from minigrad.passes import Change
from minigrad.passes.rewrite import Rewrite, frozen_graph, is_ordered
from minigrad.static import Graph, Node
from viz.words.text import row_text

__all__ = ["as_pass"]


def as_pass(function: Callable[..., Any]) -> Callable[[Graph], tuple[Graph, list[Change]]]:
    """Turn a pass of an engine of `lessons.engine` into one that `graph.optimize([...])` takes.

    function: takes the outputs as nodes of that engine, and returns as many of a new graph.
    Operators have the names, operands and attributes that they have in minigrad; what has to happen
    each time and in order, such as a `Print`, is a placeholder there. A returned node is identified
    by its line. ValueError for one that has none of these lines.

    >>> import minigrad as mg, minigrad_lessons as lessons
    >>> from minigrad_lessons.lesson.my_engine import merge_common
    >>> with mg.Graph():
    ...     x = mg.placeholder("x", shape=(3,))
    ...     graph = mg.build_graph(x, mg.exp(x) * mg.exp(x))
    >>> print(graph.optimize([lessons.as_pass(merge_common)]).text())
    %0 = Placeholder "x" : float32[3]
    %1 = Exp(%0) : float32[3]
    %2 = Mul(%1, %1) : float32[3]
    return %2
    """

    def run_pass(graph: Graph) -> tuple[Graph, list[Change]]:
        engine, rewrite, new = function.__globals__, Rewrite(graph), dict[Any, Node]()
        mine = _to_learner_nodes(graph, engine["Node"])
        lines = {twin.line: node for node, twin in mine.items()}
        found = function([mine[y] for y in (*graph.outputs, *graph.effects)])
        for twin in engine["topological_order"](found):
            if twin.line not in lines:
                raise ValueError(row_text("as_pass_line", node=twin))
            node, inputs = lines[twin.line], [new[x] for x in twin.inputs]
            rewrite.new |= zip(node.controls, inputs[len(node.inputs) :], strict=False)
            new[twin] = rewrite.keep(node, inputs[: len(node.inputs)])
        nodes = [*graph.inputs, *new.values()]
        kept = {*graph.inputs, *(lines[twin.line] for twin in new)}
        for node in graph.nodes:
            if node not in kept:
                rewrite.note("removed", [node], [], "pass_dead")
        ends, outputs = [new[y] for y in found], len(graph.outputs)
        sides = graph.inputs, ends[:outputs], ends[outputs:]
        return frozen_graph(dict.fromkeys(nodes), *sides, graph.single), rewrite.changes

    run_pass.__name__ = f"my_{function.__name__}"
    return run_pass


def _to_learner_nodes(graph: Graph, kind: Any) -> dict[Node, Any]:
    """Map each node of a graph to a node of the learner's engine with a unique line.

    What it waits for without reading it follows its operands.
    """
    mine, before = dict[Node, Any](), list[Any]()
    for node in graph.nodes:
        op, name, attrs, value = node.op, node.op.name, {}, None
        inputs = [mine[x] for x in (*node.inputs, *node.controls)]
        if is_ordered(node) or node.controls or (op.effect and op is not state.constant):
            name = "Variable" if op is state.variable else "Placeholder"
            inputs += before if is_ordered(node) else []
        elif op is state.constant:
            value = np.asarray(node.attrs["value"])
        else:
            attrs = {k.replace("value", "filler"): _comparable(v) for k, v in node.attrs.items()}
        mine[node] = twin = kind(name, inputs, graph.labels[node], value, **attrs)
        twin.line = f"{graph.labels[node]}: {node.where}"
        before = [twin] if is_ordered(node) else before
    return mine


def _comparable(value: Any) -> Any:
    """Return an attribute in a form for which == gives a single truth value."""
    return (value.shape, value.tobytes()) if isinstance(value, np.ndarray) else value

"""Export to ONNX of branches, loops and nodes with several results."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from minigrad.control.flow import COND, HISTORY, SCAN, WHILE
from minigrad.core import TupleSpec
from minigrad.interop.onnx.writing.builder import TABLE, OnnxGraphBuilder, register_writer
from minigrad.ops import state
from minigrad.ops.parts import output
from minigrad.static import Graph, Node
from minigrad.static.fused import FUSED


def write(w: OnnxGraphBuilder, nodes: Sequence[Node]) -> None:
    """Write nodes, which are in topological order."""
    for node in nodes:
        if node in w.values:
            continue
        w.node = node
        if node.op is state.constant:
            w.values[node] = w.constant(node.attrs["value"], name=node.name)
            continue
        rule = TABLE.get(node.op)
        if rule is None:
            raise w.refuse("-")
        found = rule(w, node, [w[x] for x in node.inputs])
        if isinstance(found, str):
            w.values[node] = found
        elif found is not None:
            own = len(node.spec.parts) if isinstance(node.spec, TupleSpec) else 1
            w.values[node] = "\n".join(found[:own])  # of several values: their names, for `Output`
            w.loop_states[node] = found[own:]


@register_writer(output)
def _output(w: OnnxGraphBuilder, node: Node, xs: list[str]) -> Any:
    return xs[0].split("\n")[node.attrs["index"]]


@register_writer(HISTORY)
def _history(w: OnnxGraphBuilder, node: Node, xs: list[str]) -> Any:
    """Return the name of the history that a loop kept of a state."""
    loop, index = node.inputs[0], node.attrs["index"]
    return w.loop_states[loop][_history_indices(w, loop).index(index)]


def _history_indices(w: OnnxGraphBuilder, loop: Node) -> list[int]:
    """Return the indices of a loop's states that are read step by step."""
    return sorted({h.attrs["index"] for h in w.histories.get(loop, ())})


def _build_body(w: OnnxGraphBuilder, body: Graph, names: Sequence[str]) -> OnnxGraphBuilder:
    inner = OnnxGraphBuilder(w)
    inner.histories = histories(body)
    inner.values.update(zip(body.inputs, names, strict=True))
    write(inner, body.nodes)
    return inner


def histories(graph: Graph) -> dict[Node, list[Node]]:
    """Map each loop whose states are read step by step to the nodes that read them."""
    found: dict[Node, list[Node]] = {}
    for node in graph.nodes:
        if node.op is HISTORY:
            found.setdefault(node.inputs[0], []).append(node)
    return found


def _make_body_graph(
    w: OnnxGraphBuilder, inner: OnnxGraphBuilder, name: str, inputs: list[Any], outputs: list[Any]
) -> Any:
    """Build a branch's or body's graph; each result is computed in it under its own name."""
    results = []
    for source, like in outputs:
        inner.node = None
        own = inner.emit("Identity", source)
        results.append(inner.value_info(own, like))
    graph = inner.onnx.helper.make_graph(
        inner.nodes, w.name(name), inputs, results, initializer=inner.constants
    )
    return graph


@register_writer(COND)
def _cond(w: OnnxGraphBuilder, node: Node, xs: list[str]) -> Any:
    arms = {}
    for key, option in (("then", "then_branch"), ("orelse", "else_branch")):
        body = node.attrs[key]
        inner = _build_body(w, body, xs[1:])
        arms[option] = _make_body_graph(w, inner, key, [], [(inner[y], y) for y in body.outputs])
    pred = xs[0] if node.inputs[0].dtype.kind == "b" else w.cast(xs[0], np.bool_)
    count = len(node.attrs["then"].outputs)
    found = w.emit("If", pred, outputs=count, **arms)
    return found if count > 1 else str(found)


def _body_inputs(inner: OnnxGraphBuilder, body: Graph, count: int) -> tuple[list[str], list[Any]]:
    names = [inner.name(x.name) for x in body.inputs[:count]]
    return names, [inner.value_info(n, x) for n, x in zip(names, body.inputs[:count], strict=True)]


@register_writer(WHILE)
def _while(w: OnnxGraphBuilder, node: Node, xs: list[str]) -> Any:
    test, body, n = node.attrs["test"], node.attrs["body"], node.attrs["carries"]
    start, captured = xs[:n], xs[n:]
    first = _inline_body(w, test, [*start, *captured])
    w.node = node
    inner = OnnxGraphBuilder(w)
    inner.histories = histories(body)
    names, inputs = _body_inputs(inner, body, n)
    inner.values.update(zip(body.inputs, [*names, *captured], strict=True))
    write(inner, body.nodes)
    results = [inner[y] for y in body.outputs]
    goes = _inline_body(inner, test, [*results, *captured])
    make = w.onnx.helper.make_tensor_value_info
    step, go = inner.name("step"), inner.name("go")
    given = [make(step, w.dtype_number(np.dtype(np.int64)), ()), make(go, 9, ())]
    states = [(names[i], body.inputs[i]) for i in _history_indices(w, node)]
    outputs = [(goes, test.outputs[0]), *zip(results, body.outputs, strict=True), *states]
    graph = _make_body_graph(w, inner, "body", [*given, *inputs], outputs)
    most = node.attrs.get("max_steps")
    limit = "" if most is None else w.constant(most, np.int64)
    found = w.emit("Loop", limit, first, *start, outputs=n + len(states), body=graph)
    return found if isinstance(found, str) else list(found)


def _inline_body(w: OnnxGraphBuilder, body: Graph, names: Sequence[str]) -> str:
    """Write the nodes of a single-result body inline; return the result's name."""
    kept = w.values
    w.values = {**kept, **dict(zip(body.inputs, names, strict=True))}
    given = {*body.inputs}
    for x in body.nodes:  # they may have been written before, for other values
        if x not in given:
            w.values.pop(x, None)
    write(w, body.nodes)
    found = w.values[body.outputs[0]]
    w.values = kept
    if body.outputs[0].dtype.kind != "b":
        found = w.cast(found, np.bool_)
    return found


@register_writer(SCAN)
def _scan(w: OnnxGraphBuilder, node: Node, xs: list[str]) -> Any:
    body, n, m = node.attrs["body"], node.attrs["carries"], node.attrs["sequences"]
    inner = OnnxGraphBuilder(w)
    inner.histories = histories(body)
    names, inputs = _body_inputs(inner, body, n + m)
    inner.values.update(zip(body.inputs, [*names, *xs[n + m :]], strict=True))
    write(inner, body.nodes)
    states = [(names[i], body.inputs[i]) for i in _history_indices(w, node)]
    own = [(inner[y], y) for y in body.outputs]
    graph = _make_body_graph(w, inner, "body", inputs, [*own, *states])
    stacked = len(own) - n + len(states)
    back = int(bool(node.attrs.get("reverse")))
    found = w.emit(
        "Scan",
        *xs[: n + m],
        outputs=len(own) + len(states),
        body=graph,
        num_scan_inputs=m,
        scan_input_directions=[back] * m,
        **({"scan_output_directions": [back] * stacked} if stacked else {}),
    )
    return found if isinstance(found, str) else list(found)


@register_writer(FUSED)
def _fused(w: OnnxGraphBuilder, node: Node, xs: list[str]) -> Any:
    """Write the operators of a fused node one by one."""
    body = node.attrs["body"]
    kept = w.values
    w.values = {**kept, **dict(zip(body.inputs, xs, strict=True))}
    write(w, body.nodes)
    found = [w.values[y] for y in body.outputs]
    w.values, w.node = kept, node
    return found[0] if len(found) == 1 else found


@register_writer(state.read_value)
def _read_value(w: OnnxGraphBuilder, node: Node, xs: list[str]) -> Any:
    return w.emit("Identity", xs[0])

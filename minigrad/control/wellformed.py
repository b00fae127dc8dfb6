"""Checks of a branch's or loop's call that wasn't built by this code, as in a file."""

from __future__ import annotations

from collections.abc import Sequence

from minigrad.control.flow import COND, HISTORY, SCAN, WHILE
from minigrad.control.specs import step_spec
from minigrad.core import Attrs, Spec, TupleSpec
from minigrad.ops import state
from minigrad.static import Graph, Node
from minigrad.static.call_schema import PLACED, SCHEMAS, CallSchema, holds


def _specs_hold(places: Sequence[Node], values: Sequence[Node]) -> bool:
    pairs = zip(places, values, strict=False)
    return len(places) == len(values) and all(holds(a.spec, b.spec) for a, b in pairs)


def _is_body(graph: Graph) -> bool:
    """Return whether a graph reads only its inputs and changes nothing."""
    outside = {state.variable, state.assign, state.read_value, state.initialize, state.run_counter}
    fed = {*graph.placeholders} <= {*graph.inputs}
    return graph.frozen and fed and not any(x.op in outside for x in graph.nodes)


def _returns_bool(graph: Graph) -> bool:
    return len(graph.outputs) == 1 and graph.outputs[0].spec.shape in ((), None)


def _is_cond(operands: Sequence[Node], attrs: Attrs) -> bool:
    pred, *given = operands
    then, orelse = attrs["then"], attrs["orelse"]
    dtypes = [[x.dtype for x in body.outputs] for body in (then, orelse)]
    taken = all(_is_body(body) and _specs_hold(body.inputs, given) for body in (then, orelse))
    return taken and dtypes[0] == dtypes[1] and pred.spec.shape in ((), None)


def _is_while(operands: Sequence[Node], attrs: Attrs) -> bool:
    test, body, n = attrs["test"], attrs["body"], attrs["carries"]
    taken = all(_is_body(graph) and _specs_hold(graph.inputs, operands) for graph in (test, body))
    most = attrs["max_steps"] is None or attrs["max_steps"] >= 0
    carried = 0 <= n <= len(operands) and _specs_hold(body.inputs[:n], body.outputs)
    return taken and most and carried and _returns_bool(test)


def _is_scan(operands: Sequence[Node], attrs: Attrs) -> bool:
    body, n, m = attrs["body"], attrs["carries"], attrs["sequences"]
    if n < 0 or m < 1 or len(body.inputs) != len(operands) or n + m > len(operands):
        return False
    rest = [*operands[:n], *operands[n + m :]]
    whole = all(x.spec.shape != () and not isinstance(x.spec, TupleSpec) for x in operands)
    slices = [step_spec(x.spec) for x in operands[n : n + m] if whole or x.spec.shape]
    pairs = zip(body.inputs[n : n + m], slices, strict=False)
    sliced = len(slices) == m and all(holds(x.spec, spec) for x, spec in pairs)
    carried = _specs_hold(body.inputs[:n], body.outputs[:n])
    kept = _specs_hold([*body.inputs[:n], *body.inputs[n + m :]], rest)
    return _is_body(body) and sliced and carried and kept


def _is_history(operands: Sequence[Node], attrs: Attrs) -> bool:
    loop, index = operands[0], attrs["index"]
    if loop.op not in (WHILE, SCAN) or not 0 <= index < loop.attrs["carries"]:
        return False
    state_spec, shape = loop.attrs["body"].inputs[index].spec, attrs["shape"]
    return shape != () and holds(state_spec, step_spec(Spec(shape, attrs["dtype"])))


_BRANCHES = {"then": Graph, "orelse": Graph}
_LOOP = {"body": Graph, "carries": int}
SCHEMAS[COND] = CallSchema(1, None, _BRANCHES, _is_cond)
SCHEMAS[WHILE] = CallSchema(1, None, {"test": Graph, **_LOOP, "max_steps": int | None}, _is_while)
SCHEMAS[SCAN] = CallSchema(1, None, {**_LOOP, "sequences": int, "reverse": bool}, _is_scan)
SCHEMAS[HISTORY] = CallSchema(1, 1, {"index": int, **PLACED}, _is_history)

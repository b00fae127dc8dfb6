"""What a call of an operator must look like where nobody built it, as in a file.

Operators with a kernel tell by its parameters (see `signature`). Those that executors handle are
listed here, with what the functions that build them see to and their own rules do not ask.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from minigrad import control
from minigrad.core import Attrs, Dim, Op, Spec, TupleSpec, fits, int64
from minigrad.ops import parts, state
from minigrad.saving.archive import NAMES
from minigrad.saving.encoding import LARGEST
from minigrad.saving.signature import Signature, signature
from minigrad.static import Graph, Node
from minigrad.static.fused import FUSED

_SHAPE = tuple[int | Dim, ...]
_PLACED = {"shape": _SHAPE | None, "dtype": np.dtype}
_VALUE = {"value": np.ndarray | np.generic, **_PLACED}
_COUNTED = {**_PLACED, "layer": int, "use": int}
_WHILE = {"test": Graph, "body": Graph, "carries": int, "max_steps": int | None}
_SCAN = {"body": Graph, "carries": int, "sequences": int, "reverse": bool}
_PLACE = {"index": int}


def _signature(least: int, most: int | None, attrs: Attrs) -> Signature:
    return Signature(least, most, attrs, tuple(attrs))


SIGNATURES: dict[Op, Signature] = {
    state.placeholder: _signature(0, 0, _PLACED),
    state.run_counter: Signature(0, 0, _COUNTED, tuple(_PLACED)),
    state.variable: Signature(0, 0, {**_VALUE, "role": state.Role}, tuple(_VALUE)),
    state.constant: _signature(0, 0, _VALUE),
    state.assign: _signature(2, 2, {}),
    state.read_value: _signature(1, 1, {}),
    state.group: _signature(0, None, {}),
    state.initialize: _signature(0, 0, {"variables": tuple[Node, ...], "shape": _SHAPE}),
    parts.output: _signature(1, 1, _PLACE),
    control.COND: _signature(1, None, {"then": Graph, "orelse": Graph}),
    control.WHILE: _signature(1, None, _WHILE),
    control.SCAN: _signature(1, None, _SCAN),
    control.HISTORY: _signature(1, 1, {**_PLACE, **_PLACED}),
    FUSED: _signature(0, None, {"body": Graph, "kind": str}),
}


def problem(op: Op, operands: Sequence[Node], attrs: Attrs) -> str | None:
    """What is wrong with these operands and attributes, in a few words; None: nothing is."""
    found = (SIGNATURES.get(op) or signature(op)).problem(len(operands), attrs)
    if found is None and op in CHECKS and not CHECKS[op](operands, attrs):
        found = f"{[str(x.spec)[:40] for x in operands[:8]]}, {ascii(attrs)[:100]}"
    return found


def possible(spec: Spec) -> bool:
    """Whether a rule gave a spec at all: with odd attributes it may give anything."""
    if isinstance(spec, TupleSpec):
        return all(map(possible, spec.parts))
    shape = () if spec.shape is None else spec.shape
    if type(shape) is not tuple or not isinstance(spec.dtype, np.dtype):
        return False
    lengths = [n for n in shape if not isinstance(n, Dim)]
    counted = all(
        isinstance(n, (int, np.integer)) and type(n) is not bool and 0 <= n < LARGEST
        for n in lengths
    )
    return counted and spec.dtype in NAMES


def _is_its_value(operands: Sequence[Node], attrs: Attrs) -> bool:
    value = attrs["value"]
    return bool(value.shape == attrs["shape"] and value.dtype == attrs["dtype"])


def _assigns(operands: Sequence[Node], attrs: Attrs) -> bool:
    variable, value = operands
    return variable.op is state.variable and _holds(variable.spec, value.spec)


def _counts(operands: Sequence[Node], attrs: Attrs) -> bool:
    of_a_layer = {key: value for key, value in attrs.items() if key not in _PLACED}
    whole = not of_a_layer or (len(of_a_layer) == 2 and min(of_a_layer.values()) >= 0)
    return attrs["shape"] == () and attrs["dtype"] == int64 and whole


def _holds(place: Spec, value: Spec) -> bool:
    """Whether the one may be put where the other is expected."""
    plain = not isinstance(place, TupleSpec) and not isinstance(value, TupleSpec)
    return plain and place.dtype == value.dtype and fits(value.shape, place.shape)


def _hold(places: Sequence[Node], values: Sequence[Node]) -> bool:
    pairs = zip(places, values, strict=False)
    return len(places) == len(values) and all(_holds(a.spec, b.spec) for a, b in pairs)


def _is_body(graph: Graph) -> bool:
    """Whether a graph reads what it is given and nothing else, and changes nothing."""
    outside = {state.variable, state.assign, state.read_value, state.initialize, state.run_counter}
    fed = {*graph.placeholders} <= {*graph.inputs}
    return graph.frozen and fed and not any(x.op in outside for x in graph.nodes)


def _decides(graph: Graph) -> bool:
    return len(graph.outputs) == 1 and graph.outputs[0].spec.shape in ((), None)


def _branches(operands: Sequence[Node], attrs: Attrs) -> bool:
    pred, *given = operands
    then, orelse = attrs["then"], attrs["orelse"]
    dtypes = [[x.dtype for x in body.outputs] for body in (then, orelse)]
    taken = all(_is_body(body) and _hold(body.inputs, given) for body in (then, orelse))
    return taken and dtypes[0] == dtypes[1] and pred.spec.shape in ((), None)


def _repeats(operands: Sequence[Node], attrs: Attrs) -> bool:
    test, body, n = attrs["test"], attrs["body"], attrs["carries"]
    taken = all(_is_body(graph) and _hold(graph.inputs, operands) for graph in (test, body))
    most = attrs["max_steps"] is None or attrs["max_steps"] >= 0
    carried = 0 <= n <= len(operands) and _hold(body.inputs[:n], body.outputs)
    return taken and most and carried and _decides(test)


def _scans(operands: Sequence[Node], attrs: Attrs) -> bool:
    body, n, m = attrs["body"], attrs["carries"], attrs["sequences"]
    if n < 0 or m < 1 or len(body.inputs) != len(operands) or n + m > len(operands):
        return False
    rest = [*operands[:n], *operands[n + m :]]
    whole = all(x.spec.shape != () and not isinstance(x.spec, TupleSpec) for x in operands)
    slices = [
        Spec(None if x.spec.shape is None else x.spec.shape[1:], x.dtype)
        for x in operands[n : n + m]
        if whole or x.spec.shape
    ]
    pairs = zip(body.inputs[n : n + m], slices, strict=False)
    sliced = len(slices) == m and all(_holds(x.spec, spec) for x, spec in pairs)
    carried = _hold(body.inputs[:n], body.outputs[:n])
    kept = _hold([*body.inputs[:n], *body.inputs[n + m :]], rest)
    return _is_body(body) and sliced and carried and kept


def _remembers(operands: Sequence[Node], attrs: Attrs) -> bool:
    loop, index = operands[0], attrs["index"]
    if loop.op not in (control.WHILE, control.SCAN) or not 0 <= index < loop.attrs["carries"]:
        return False
    state_spec, shape = loop.attrs["body"].inputs[index].spec, attrs["shape"]
    after = None if shape is None else shape[1:]
    return attrs["shape"] != () and _holds(state_spec, Spec(after, attrs["dtype"]))


# What the rules of these operators do not ask.
CHECKS: dict[Op, Callable[[Sequence[Node], Attrs], bool]] = {
    state.variable: _is_its_value,
    state.constant: _is_its_value,
    state.assign: _assigns,
    state.read_value: lambda operands, attrs: operands[0].op is state.variable,
    state.run_counter: _counts,
    state.initialize: lambda operands, attrs: (
        attrs["shape"] == (0,) and all(x.op is state.variable for x in attrs["variables"])
    ),
    control.COND: _branches,
    control.WHILE: _repeats,
    control.SCAN: _scans,
    control.HISTORY: _remembers,
}

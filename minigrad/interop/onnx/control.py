"""ONNX's If, Loop and Scan, whose bodies are graphs that can read outer values."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad import ops
from minigrad.control import cond, scan, while_loop
from minigrad.interop.onnx.call import OnnxCall, constant_value, operator

FULL = (None, None, None)
MOST_UNROLLED = 64


def _as_operand(x: Any) -> Any:
    """Return a value as an operand; lengths become a node."""
    return x.node() if hasattr(x, "items") and not isinstance(x, (np.ndarray, np.generic)) else x


def _as_operands(call: OnnxCall, values: list[Any]) -> tuple[Any, ...]:
    call.expect(all(not isinstance(x, list) and x is not None for x in values), "sequence")
    return tuple(_as_operand(x) for x in values)


@operator("If")
def _if(call: OnnxCall) -> Any:
    """Build a conditional; if the condition is known, only the branch taken."""
    arms, known = [call.attr("then_branch"), call.attr("else_branch")], constant_value(call.raw(0))
    if known is not None:
        return tuple(call.reader.body(arms[0 if np.all(known) else 1], []))

    def arm(body: Any) -> Any:
        return lambda: _as_operands(call, call.reader.body(body, []))

    pred = ops.reshape(call[0], shape=()) if call[0].shape != () else call[0]
    return tuple(cond(pred, arm(arms[0]), arm(arms[1])))


@operator("Loop")
def _loop(call: OnnxCall) -> Any:
    body, count = call.attr("body"), len(call) - 2
    most, first = (constant_value(call.raw(i)) if call.given(i) else None for i in (0, 1))
    stacked = len(body.output) - 1 - count
    lists = any(isinstance(call.raw(i), list) for i in range(2, len(call)))
    known_first = not call.given(1) or first is not None
    if (not call.given(0) or most is not None) and known_first and (stacked or lists):
        fixed = most is not None and not lists and _has_fixed_trip_count(body)
        return _loop_as_scan(call, body, most) if fixed else _unroll_loop(call, body, most, first)
    if stacked or lists:
        raise call.unknown(0 if call.given(0) and most is None else 1)
    start: tuple[Any, ...] = (np.int64(0), call[1] if call.given(1) else np.bool_(True))
    carried = [call[i] for i in range(2, len(call))]
    limit = call[0] if call.given(0) else None

    def test(i: Any, go: Any, *state: Any) -> Any:
        go = ops.reshape(go, shape=())
        return (
            go if limit is None else ops.logical_and(go, ops.less(i, ops.reshape(limit, shape=())))
        )

    def step(i: Any, go: Any, *state: Any) -> Any:
        new_go, *rest = _as_operands(call, call.reader.body(body, [i, go, *state]))
        return (i + 1, ops.reshape(new_go, shape=()), *rest)

    first_go = ops.reshape(start[1], shape=())
    nodes = [call.reader.lift(x) for x in (start[0], first_go, *carried)]
    return tuple(while_loop(test, step, tuple(nodes))[2:])


def _has_fixed_trip_count(body: Any) -> bool:
    """Return whether a body's condition output is its condition input, or constant."""
    name, given = body.output[0].name, body.input[1].name
    makers = {output: node for node in body.node for output in node.output}
    while name in makers and makers[name].op_type == "Identity":
        name = makers[name].input[0]
    return bool(name == given) or (name in makers and makers[name].op_type == "Constant")


def _loop_as_scan(call: OnnxCall, body: Any, most: Any) -> Any:
    carried = [call.reader.lift(call[i]) for i in range(2, len(call))]

    def step(state: Any, i: Any) -> Any:
        go = np.bool_(True)
        _, *rest = _as_operands(call, call.reader.body(body, [i, go, *state]))
        return tuple(rest[: len(carried)]), tuple(rest[len(carried) :])

    steps = call.reader.lift(np.arange(int(most), dtype=np.int64))
    state, outputs = scan(step, tuple(carried), steps)
    return (*state, *outputs)


def _unroll_loop(call: OnnxCall, body: Any, most: Any, first: Any) -> Any:
    """Unroll a loop while its condition is known and true."""
    state: list[Any] = [call.raw(i) for i in range(2, len(call))]
    go: Any = True if first is None else bool(np.all(first))
    rows: list[list[Any]] = [[] for _ in range(len(body.output) - 1 - len(state))]
    i = 0
    while go and (most is None or i < int(most)):
        call.expect(i < MOST_UNROLLED, f"{i} steps")
        found = call.reader.body(body, [np.int64(i), np.bool_(True), *state])
        decided = constant_value(found[0])
        if decided is None:
            raise call.unknown(1)
        state, outputs = found[1 : len(state) + 1], found[len(state) + 1 :]
        for row, y in zip(rows, outputs, strict=True):
            row.append(_as_operand(y))
        go, i = bool(np.all(decided)), i + 1
    call.expect(all(rows) or not rows, "0 steps")
    return (*state, *(ops.stack(*row, axis=0) for row in rows))


@operator("Scan")
def _scan(call: OnnxCall) -> Any:
    call.expect(call.version >= 9, "opset 8")
    body, m = call.attr("body"), int(call.attr("num_scan_inputs"))
    n = len(call) - m
    carried = [call.reader.lift(call[i]) for i in range(n)]
    k = len(body.output) - n
    over = []
    axes, ways = call.attr("scan_input_axes", [0] * m), call.attr("scan_input_directions", [0] * m)
    for i, axis, way in zip(range(n, n + m), axes, ways, strict=True):
        x = _move_axis(call.ranked(i), axis, 0)
        over.append(call.reader.lift(ops.slice_(x, key=((None, None, -1),)) if way else x))

    def step(state: Any, xs: Any) -> Any:
        found = _as_operands(call, call.reader.body(body, [*state, *xs]))
        return found[:n], found[n:]

    state, outputs = scan(step, tuple(carried), tuple(over))
    axes, ways = (
        call.attr("scan_output_axes", [0] * k),
        call.attr("scan_output_directions", [0] * k),
    )
    results = []
    for y, axis, way in zip(outputs, axes, ways, strict=True):
        y = ops.slice_(y, key=((None, None, -1),)) if way else y
        results.append(_move_axis(y, 0, axis))
    return (*state, *results)


def _move_axis(x: Any, source: int, target: int) -> Any:
    rank = int(x.ndim)
    source, target = source % rank, target % rank
    if source == target:
        return x
    order = [i for i in range(rank) if i != source]
    order.insert(target, source)
    return ops.transpose(x, axes=tuple(order))

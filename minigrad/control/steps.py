"""How a branch or a loop runs, step by step: the bodies of its node are programs of their own."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np

from minigrad.control.flow import COND, HISTORY, SCAN, WHILE
from minigrad.control.specs import empty_rows, step_spec
from minigrad.core import Array, Spec, events, show_shapes, spec_of
from minigrad.diagnostics.errors import GraphError, ShapeError
from minigrad.diagnostics.source import here
from minigrad.static import Node, ancestors, bodies_of
from minigrad.static.handlers import PREPARED, RunState, handles, ran, read


@handles(COND)
def _cond(run: RunState, step: Any, operands: list[Any]) -> Any:
    pred, *given = operands
    taken = step.bodies["then" if bool(pred) else "orelse"]
    return ran(step.node, one_or_all(taken.compute(_body_run(run), given)), operands)


@handles(WHILE)
def _while(run: RunState, step: Any, operands: list[Any]) -> Any:
    node, n = step.node, step.node.attrs["carries"]
    test, body, most = step.bodies["test"], step.bodies["body"], node.attrs["max_steps"]
    now, captured, states, count = operands[:n], operands[n:], [], 0
    inner = _body_run(run)
    while (most is None or count < most) and bool(test.compute(inner, now + captured)[0]):
        _begin_step(node, count)
        if step.keeps_history:
            states.append(now)
        now = body.compute(inner, now + captured)
        count += 1
    if step.keeps_history:
        run.histories[node] = states
    return ran(node, one_or_all(now), operands)


@handles(SCAN)
def _scan(run: RunState, step: Any, operands: list[Any]) -> Any:
    node, n, m = step.node, step.node.attrs["carries"], step.node.attrs["sequences"]
    body, inner = step.bodies["body"], _body_run(run)
    now, sequences, captured = operands[:n], operands[n : n + m], operands[n + m :]
    times = step_indices(sequences, node.where)
    outputs: list[list[Any]] = []
    states: list[list[Any]] = []
    for count, t in enumerate(reversed(times) if node.attrs["reverse"] else times):
        _begin_step(node, count)
        if step.keeps_history:
            states.append(now)
        results = body.compute(inner, now + [x[t] for x in sequences] + captured)
        now = results[:n]
        outputs.append(results[n:])
    if node.attrs["reverse"]:
        outputs.reverse()
        states.reverse()
    if step.keeps_history:
        run.histories[node] = states
    return ran(
        node, one_or_all([*now, *scan_outputs(body, outputs, now, sequences, captured)]), operands
    )


def step_indices(sequences: Sequence[Any], defined: Any = None) -> range:
    """Return the indices of the steps; ShapeError unless all sequences are equally long."""
    lengths = sorted({len(x) for x in sequences})
    if len(lengths) != 1:
        lengths = sorted(len(x) for x in sequences)
        raise ShapeError("scan_lengths", op="scan", lengths=lengths, defined=defined, ran=here())
    return range(lengths[0])


def scan_outputs(
    body: Any, outputs: list[Any], now: list[Any], sequences: Sequence[Any], captured: Any
) -> list[Any]:
    """Return the outputs of a scan, one row for each step, along a new first axis."""
    found = body.outputs[len(now) :]
    if outputs:
        return [stack_steps([y[i] for y in outputs], x) for i, x in enumerate(found)]
    slices = [step_spec(spec_of(x)) for x in sequences]
    given = [*map(spec_of, now), *slices, *map(spec_of, captured)]
    specs = _infer_results(body.given, body.nodes, given)
    return [empty_rows(specs[y]) for y in found]


def _infer_results(inputs: Sequence[Node], nodes: Sequence[Node], given: Any) -> dict[Node, Spec]:
    """Infer a body's results for such values by its shape rules, without running it.

    What does not fit may not fit: states that no step has made (a history) have lengths of 0.
    """
    specs = dict(zip(inputs, given, strict=True))
    for node in nodes:
        if node not in specs:
            specs[node] = node.spec
            with contextlib.suppress(GraphError):
                if node.inputs:
                    operands = [specs[x] for x in node.inputs]
                    specs[node] = node.op.spec(operands, _infer_bodies(node, operands))
    return specs


def _infer_bodies(node: Node, operands: list[Any]) -> dict[str, Any]:
    """Return a node's attributes; a branch's or loop's bodies have outputs as inferred here."""
    attrs = dict(node.attrs)
    if node.op in (COND, WHILE, SCAN):
        n, m = attrs.get("carries", 0), attrs.get("sequences", 0)
        given = [*operands[:n], *map(step_spec, operands[n : n + m]), *operands[n + m :]]
        for name, body in bodies_of(attrs).items():
            specs = _infer_results(body.inputs, ancestors(body.outputs), given[node.op is COND :])
            outputs = [SimpleNamespace(spec=specs[y]) for y in body.outputs]
            attrs[name] = SimpleNamespace(outputs=outputs)
    return attrs


@handles(HISTORY)
def _history(run: RunState, step: Any, operands: list[Any]) -> Array:
    loop, index = step.node.inputs[0], step.node.attrs["index"]
    states = [state[index] for state in run.histories[loop]]
    return read(step.node, stack_steps(states, loop.attrs["body"].inputs[index]))


def _body_run(run: RunState) -> RunState:
    """Make the run of a body: it reads its inputs and no variables."""
    return RunState({}, {}, run.target)


def stack_steps(values: list[Any], like: Node) -> Array:
    """Stack the values of all steps along a new first axis; for no steps, return zero rows."""
    if not values:
        return empty_rows(like.spec)
    try:
        return np.stack(values)
    except ValueError:
        shapes = show_shapes(*dict.fromkeys(x.shape for x in values))
        raise ShapeError("ragged_steps", op="loop", shapes=shapes, defined=like.where) from None


def one_or_all(values: list[Any]) -> Any:
    return values[0] if len(values) == 1 else tuple(values)


def _begin_step(node: Node, count: int) -> None:
    if events.listeners:
        events.emit("step", node.op, node, None, (), None, count)


def _find_histories(steps: Sequence[Any]) -> None:
    """Mark the loops whose states are read, so that they keep them."""
    readers = {step.node.inputs[0] for step in steps if step.node.op is HISTORY}
    for step in steps:
        step.keeps_history = step.node in readers


PREPARED[HISTORY] = _find_histories

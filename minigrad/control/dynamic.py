"""Loops of the dynamic graph: Python decides and repeats, and the tape records what ran."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from minigrad import ops
from minigrad.control.bodies import build_body, call_unpacked
from minigrad.control.specs import empty_rows, step_spec
from minigrad.core import as_array, spec_of
from minigrad.core.structure import flatten, rebuild
from minigrad.diagnostics.errors import ControlFlowError, ShapeError
from minigrad.diagnostics.source import here
from minigrad.dynamic.tensor import Tensor


def eager_while(
    cond_fn: Callable[..., Any], body_fn: Callable[..., Any], state: Any, most: Any, skeleton: Any
) -> Any:
    steps = 0
    while (most is None or steps < most) and bool(call_unpacked(cond_fn, state)):
        state = call_unpacked(body_fn, state)
        if flatten(state)[1] != skeleton:
            raise ControlFlowError("loop_arrangement", op="while_loop", defined=here())
        steps += 1
    return state


def eager_scan(
    step_fn: Callable[..., Any], carry: Any, sequences: list[Any], arrangement: Any, reverse: bool
) -> tuple[Any, Any]:
    if any(not np.shape(x) for x in sequences):
        raise ShapeError("rank", op="scan", expected="1 axis or more", shape=(), defined=here())
    lengths = {len(x) for x in sequences}
    if len(lengths) != 1:
        raise ShapeError("scan_lengths", op="scan", lengths=sorted(lengths), defined=here())
    times = range(lengths.pop())
    outputs = []
    for t in reversed(times) if reverse else times:
        carry, y = expect_pair(step_fn(carry, rebuild(arrangement, [x[t] for x in sequences])))
        outputs.append(flatten(y))
    if not outputs:
        return carry, _empty_outputs(step_fn, carry, sequences, arrangement)
    if reverse:
        outputs.reverse()
    columns = zip(*(leaves for leaves, _ in outputs), strict=True)
    return carry, rebuild(outputs[0][1], [ops.stack(*column, axis=0) for column in columns])


def _empty_outputs(
    step_fn: Callable[..., Any], carry: Any, sequences: list[Any], arrangement: Any
) -> Any:
    """Return the outputs of zero steps: length 0, shaped as by a step that is built, not run."""
    leaves, skeleton = flatten(carry)
    states = [spec_of(x if hasattr(x, "shape") else as_array(x, None, "scan")) for x in leaves]
    slices = [step_spec(spec_of(x)) for x in sequences]
    taken = (skeleton, arrangement)
    built = build_body(None, lambda c, x: expect_pair(step_fn(c, x))[1], taken, [*states, *slices])
    rows = [Tensor(empty_rows(built.body.lift(y).spec)) for y in built.results]
    return rebuild(built.arrangement, rows)


def expect_pair(result: Any) -> tuple[Any, Any]:
    if not isinstance(result, (tuple, list)) or len(result) != 2:
        raise ControlFlowError("scan_pair", op="scan", value=repr(result)[:60], defined=here())
    return result[0], result[1]

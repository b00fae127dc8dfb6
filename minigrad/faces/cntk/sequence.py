"""CNTK's functions of sequences: `C.sequence.last(x)`."""

from __future__ import annotations

from typing import Any

import numpy as np

import minigrad as mg
from minigrad.faces.cntk.axes import BATCH, Axis
from minigrad.faces.cntk.functions import Function, function, op
from minigrad.faces.cntk.variables import sequence_variable
from minigrad.faces.face import Face, failed

__all__ = ["broadcast_as", "delay", "input_variable", "past_value", "reduce_max", "softmax"]

input_variable = sequence_variable


def axis_of(seq: Any) -> Axis:
    """Return the axis of the items of a sequence."""
    axis: Axis | None = getattr(seq, "axis", None)
    if axis is None or axis is BATCH:
        raise failed(mg.ShapeError, "face_no_sequence", name=repr(seq))
    return axis


def taken(seq: Any, which: str) -> Function:
    """Return one item of each sequence: `which` is "first" or "last"."""
    rows = getattr(axis_of(seq), which)
    return op(lambda v: mg.take(v, rows, 0), seq, axis=BATCH)


def marked(seq: Any, which: str) -> Function:
    """Return 1 at the first item (which="place") or the last ("rest") of a sequence, else 0."""
    axis = axis_of(seq)
    node = mg.cast(mg.equal(getattr(axis, which), 0), mg.float32)
    return Function(node, axis, [seq])


def summed(seq: Any) -> Function:
    """Sum the items of each sequence."""
    belongs, shape = axis_of(seq).belongs, seq.shape
    flat = (-1, int(np.prod(shape)))
    return op(
        lambda v: mg.reshape(mg.matmul(belongs, mg.reshape(v, flat)), (-1, *shape)), seq, axis=BATCH
    )


def reduce_max(x: Any) -> Function:
    """Return the largest of the items of each sequence."""
    steps = axis_of(x).steps
    return op(lambda v: mg.max(mg.take(v, steps, 0), axis=0), x, axis=BATCH)


def broadcast_as(operand: Any, broadcast_as_operand: Function) -> Function:
    """Repeat a value for each sample, or one for all, at each item of another's sequences."""
    x, axis = function(operand), axis_of(broadcast_as_operand)
    if x.axis is BATCH:
        return op(lambda v, _: mg.take(v, axis.owner, 0), x, broadcast_as_operand, axis=axis)
    if x.axis is None:
        rows = axis.row
        return op(
            lambda v, _: mg.take(mg.expand_dims(v, 0), rows * 0, 0),
            x,
            broadcast_as_operand,
            axis=axis,
        )
    return x


def softmax(x: Any) -> Function:
    """Compute softmax along the items of each sequence."""
    powers = op(mg.exp, x - broadcast_as(reduce_max(x), x))
    return powers / broadcast_as(summed(powers), x)


def past_value(x: Any, initial_state: Any = None, time_step: int = 1) -> Function:
    """Return for each item the one `time_step` before it, or the initial state if none."""
    return _shifted(x, initial_state, time_step, axis_of(x).place)


def future_value(x: Any, initial_state: Any = None, time_step: int = 1) -> Function:
    """Return for each item the one `time_step` after it, or the initial state if none."""
    return _shifted(x, initial_state, -time_step, axis_of(x).rest)


def delay(x: Any, initial_state: Any = None, time_step: int = 1) -> Function:
    """Apply `past_value`, or `future_value` for negative steps."""
    if time_step > 0:
        return past_value(x, initial_state, time_step)
    return future_value(x, initial_state, -time_step) if time_step else function(x)


def _shifted(x: Any, initial_state: Any, step: int, beside: Any) -> Function:
    axis = axis_of(x)
    there = mg.greater_equal(beside, abs(step))
    rows = mg.where(there, axis.row - step, axis.row)
    start = function(0.0 if initial_state is None else initial_state)
    if start.axis is BATCH:
        start = broadcast_as(start, x)
    mask = mg.reshape(there, (-1, *[1] * len(x.shape)))
    return op(lambda v, s: mg.where(mask, mg.take(v, rows, 0), s), x, start, axis=axis)


__getattr__ = face = Face(
    "C.sequence",
    calls={
        "first(seq)": "taken(seq, 'first')",
        "future_value(x, initial_state=None, time_step=1)": ("delay(x, initial_state, -time_step)"),
        "input(*given, **options)": "input_variable(*given, **options)",
        "is_first(seq)": "marked(seq, 'place')",
        "is_last(seq)": "marked(seq, 'rest')",
        "last(seq)": "taken(seq, 'last')",
        "reduce_sum(seq)": "summed(seq)",
    },
    lacks={"C.element_select(flag, x, 0)": "gather scatter where slice unpack"},
    delay=delay,
    input_variable=input_variable,
    marked=marked,
    summed=summed,
    taken=taken,
)
__dir__ = face.names

"""CNTK's functions of sequences: `C.sequence.last(x)`."""

from __future__ import annotations

from typing import Any

import numpy as np

import minigrad as mg
from minigrad.faces.cntk.axes import BATCH, Axis
from minigrad.faces.cntk.functions import Function, apply, as_function
from minigrad.faces.cntk.variables import sequence_variable
from minigrad.faces.face import Compat, make_error

__all__ = ["broadcast_as", "delay", "input_variable", "past_value", "reduce_max", "softmax"]

input_variable = sequence_variable


def item_axis(seq: Any) -> Axis:
    """Return the axis of the items of a sequence."""
    axis: Axis | None = getattr(seq, "axis", None)
    if axis is None or axis is BATCH:
        raise make_error(mg.ShapeError, "face_no_sequence", name=repr(seq))
    return axis


def first_or_last(seq: Any, which: str) -> Function:
    """Return one item of each sequence: `which` is "first" or "last"."""
    rows = getattr(item_axis(seq), which)
    return apply(lambda v: mg.take(v, rows, 0), seq, axis=BATCH)


def end_mask(seq: Any, which: str) -> Function:
    """Return 1 at the first item (which="place") or the last ("rest") of a sequence, else 0."""
    axis = item_axis(seq)
    node = mg.cast(mg.equal(getattr(axis, which), 0), mg.float32)
    return Function(node, axis, [seq])


def sum_items(seq: Any) -> Function:
    """Sum the items of each sequence."""
    belongs, shape = item_axis(seq).belongs, seq.shape
    flat = (-1, int(np.prod(shape)))
    return apply(
        lambda v: mg.reshape(mg.matmul(belongs, mg.reshape(v, flat)), (-1, *shape)), seq, axis=BATCH
    )


def reduce_max(x: Any) -> Function:
    """Return the largest of the items of each sequence."""
    steps = item_axis(x).steps
    return apply(lambda v: mg.max(mg.take(v, steps, 0), axis=0), x, axis=BATCH)


def broadcast_as(operand: Any, broadcast_as_operand: Function) -> Function:
    """Repeat a value for each sample, or one for all, at each item of another's sequences."""
    x, axis = as_function(operand), item_axis(broadcast_as_operand)
    if x.axis is BATCH:
        return apply(lambda v, _: mg.take(v, axis.owner, 0), x, broadcast_as_operand, axis=axis)
    if x.axis is None:
        rows = axis.row
        return apply(
            lambda v, _: mg.take(mg.expand_dims(v, 0), rows * 0, 0),
            x,
            broadcast_as_operand,
            axis=axis,
        )
    return x


def softmax(x: Any) -> Function:
    """Compute softmax along the items of each sequence."""
    powers = apply(mg.exp, x - broadcast_as(reduce_max(x), x))
    return powers / broadcast_as(sum_items(powers), x)


def past_value(x: Any, initial_state: Any = None, time_step: int = 1) -> Function:
    """Return for each item the one `time_step` before it, or the initial state if none."""
    return _shift_items(x, initial_state, time_step, item_axis(x).place)


def future_value(x: Any, initial_state: Any = None, time_step: int = 1) -> Function:
    """Return for each item the one `time_step` after it, or the initial state if none."""
    return _shift_items(x, initial_state, -time_step, item_axis(x).rest)


def delay(x: Any, initial_state: Any = None, time_step: int = 1) -> Function:
    """Apply `past_value`, or `future_value` for negative steps."""
    if time_step > 0:
        return past_value(x, initial_state, time_step)
    return future_value(x, initial_state, -time_step) if time_step else as_function(x)


def _shift_items(x: Any, initial_state: Any, step: int, position: Any) -> Function:
    axis = item_axis(x)
    there = mg.greater_equal(position, abs(step))
    rows = mg.where(there, axis.row - step, axis.row)
    start = as_function(0.0 if initial_state is None else initial_state)
    if start.axis is BATCH:
        start = broadcast_as(start, x)
    mask = mg.reshape(there, (-1, *[1] * len(x.shape)))
    return apply(lambda v, s: mg.where(mask, mg.take(v, rows, 0), s), x, start, axis=axis)


__getattr__ = face = Compat(
    "C.sequence",
    calls={
        "first(seq)": "first_or_last(seq, 'first')",
        "future_value(x, initial_state=None, time_step=1)": ("delay(x, initial_state, -time_step)"),
        "input(*given, **options)": "input_variable(*given, **options)",
        "is_first(seq)": "end_mask(seq, 'place')",
        "is_last(seq)": "end_mask(seq, 'rest')",
        "last(seq)": "first_or_last(seq, 'last')",
        "reduce_sum(seq)": "sum_items(seq)",
    },
    lacks={"C.element_select(flag, x, 0)": "gather scatter where slice unpack"},
    delay=delay,
    input_variable=input_variable,
    end_mask=end_mask,
    sum_items=sum_items,
    first_or_last=first_or_last,
)
__dir__ = face.names

"""TensorFlow 1's functions for networks: `tf.nn.relu`, `tf.nn.dynamic_rnn`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import minigrad as mg
from minigrad.faces import flow
from minigrad.faces.face import Compat
from minigrad.faces.flow import conv2d
from minigrad.faces.tensorflow1 import rnn_cell

__all__ = ["conv2d", "dynamic_rnn", "max_pool", "rnn_cell"]


def max_pool(x: Any, ksize: Sequence[int], strides: Sequence[int], padding: str = "VALID") -> Any:
    """Return the maximum of each full window of (batch, height, width, channels)."""
    if padding != "VALID":
        raise face.error_for("max_pool")
    return flow.max_pool(x, ksize, strides)


def dynamic_rnn(
    cell: Any,
    inputs: Any,
    sequence_length: Any = None,
    initial_state: Any = None,
    dtype: Any = None,
    time_major: bool = False,
) -> tuple[Any, Any]:
    """Run a cell along (batch, time, features); return all outputs and the last state.

    A cell is called with an input and a state, and has a `state_size`.
    """
    if time_major:
        inputs = mg.swapaxes(inputs, 0, 1)
    if hasattr(cell, "build"):
        cell.build(inputs.shape[-1])
    if initial_state is None:
        initial_state = zero_state(inputs[:, 0, :1], cell.state_size)
    outputs, state = mg.dynamic_rnn(cell, inputs, sequence_length, initial_state)
    return (mg.swapaxes(outputs, 0, 1) if time_major else outputs), state


def zero_state(like: Any, size: Any) -> Any:
    """Return a state of zeros for each row, of one width or a tuple of widths."""
    if isinstance(size, tuple):
        parts = [zero_state(like, one) for one in size]
        return type(size)(*parts) if hasattr(size, "_fields") else tuple(parts)
    return mg.zeros_like(like) @ mg.zeros((1, int(size)))


__getattr__ = face = Compat(
    "tf.nn",
    flow.NN,
    calls=flow.NN_CALLS | {"softmax_cross_entropy_with_logits_v2(labels, logits)": flow.ENTROPY},
    lacks={
        "mg.nn.Dropout(0.5)(x)": "dropout",
        'tf.nn.max_pool(x, ksize, strides, padding="VALID")': "max_pool",
    },
)
__dir__ = face.names

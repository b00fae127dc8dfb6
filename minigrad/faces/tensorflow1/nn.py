"""What TensorFlow 1 has for networks: `tf.nn.relu`, `tf.nn.dynamic_rnn`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import minigrad as mg
from minigrad.faces.face import Face
from minigrad.faces.tensorflow1 import rnn_cell

__all__ = ["conv2d", "dynamic_rnn", "max_pool", "rnn_cell"]

FIRST, LAST = (0, 3, 1, 2), (0, 2, 3, 1)  # where the channels stand: here, and in TensorFlow


def conv2d(x: Any, filters: Any, strides: Sequence[int] | int = 1, padding: str = "VALID") -> Any:
    """Convolution of (batch, height, width, channels) by (height, width, in, out)."""
    kernel = mg.transpose(filters, (3, 2, 0, 1))
    y = mg.conv2d(mg.transpose(x, FIRST), kernel, stride=_inner(strides), padding=padding.lower())
    return mg.transpose(y, LAST)


def max_pool(x: Any, ksize: Sequence[int], strides: Sequence[int], padding: str = "VALID") -> Any:
    """The largest of each window of (batch, height, width, channels); windows lie inside."""
    if padding != "VALID":
        raise face.refuse("max_pool")
    y = mg.max_pool2d(mg.transpose(x, FIRST), _inner(ksize), _inner(strides))
    return mg.transpose(y, LAST)


def _inner(lengths: Sequence[int] | int) -> Any:
    """Of (1, height, width, 1) what counts."""
    return lengths if isinstance(lengths, int) else tuple(lengths)[-3:-1]


def dynamic_rnn(
    cell: Callable[[Any, Any], Any],
    inputs: Any,
    sequence_length: Any = None,
    initial_state: Any = None,
    dtype: Any = None,
    time_major: bool = False,
) -> tuple[Any, Any]:
    """Run a cell along (batch, time, features): all outputs, and the last state."""
    if time_major:
        inputs = mg.swapaxes(inputs, 0, 1)
    outputs, state = mg.dynamic_rnn(cell, inputs, sequence_length, initial_state)
    return (mg.swapaxes(outputs, 0, 1) if time_major else outputs), state


ENTROPY = "-mg.sum({labels} * mg.log_softmax(logits), axis=-1)"

__getattr__ = face = Face(
    "tf.nn",
    "bias_add=add embedding_lookup=embedding relu sigmoid softmax log_softmax softplus tanh",
    calls={
        "sigmoid_cross_entropy_with_logits(labels, logits)": (
            "mg.softplus(logits) - logits * labels"
        ),
        "softmax_cross_entropy_with_logits(labels, logits)": ENTROPY.format(labels="labels"),
        "softmax_cross_entropy_with_logits_v2(labels, logits)": ENTROPY.format(labels="labels"),
        "sparse_softmax_cross_entropy_with_logits(labels, logits)": ENTROPY.format(
            labels="mg.one_hot(labels, logits.shape[-1])"
        ),
    },
    lacks={
        "mg.nn.Dropout(0.5)(x)": "dropout",
        'tf.nn.max_pool(x, ksize, strides, padding="VALID")': "max_pool",
    },
)
__dir__ = face.names

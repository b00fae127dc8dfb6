"""TensorFlow 2's functions for networks: `tf.nn.relu`, `tf.nn.conv2d`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from minigrad.faces import flow
from minigrad.faces.face import Compat
from minigrad.faces.tensorflow.tensors import tensor_function

__all__ = ["conv2d", "max_pool2d"]

conv2d = tensor_function(flow.conv2d)


@tensor_function
def max_pool2d(input: Any, ksize: Any, strides: Sequence[int] | int, padding: str) -> Any:
    """Return the maximum of each full window of (batch, height, width, channels)."""
    if padding != "VALID":
        raise face.error_for("max_pool")
    return flow.max_pool(input, ksize, strides)


__getattr__ = face = Compat(
    "tf.nn",
    calls=flow.unary_calls(flow.NN) | flow.NN_CALLS,
    around=tensor_function,
    lacks={
        "tf.keras.layers.Dropout(0.5)(x)": "dropout",
        'tf.nn.max_pool2d(x, ksize, strides, padding="VALID")': "max_pool",
    },
)
__dir__ = face.names

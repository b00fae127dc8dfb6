"""Keras' losses: the mean over the batch."""

from __future__ import annotations

from typing import Any

import minigrad as mg
from minigrad.faces.face import Compat
from minigrad.faces.tensorflow import nn
from minigrad.faces.tensorflow.tensors import as_tf, constant

EPSILON = 1e-7
entropy = nn.face("sparse_softmax_cross_entropy_with_logits")

__all__ = ["MeanSquaredError", "SparseCategoricalCrossentropy"]


class MeanSquaredError:
    """The mean of the squared differences."""

    def __call__(self, y_true: Any, y_pred: Any) -> Any:
        return as_tf(mg.mean((y_pred - constant(y_true, y_pred.dtype)) ** 2))


class SparseCategoricalCrossentropy:
    """The mean of -log p of the right classes, whose numbers are in `y_true`."""

    def __init__(self, from_logits: bool = False) -> None:
        self.from_logits = from_logits

    def __call__(self, y_true: Any, y_pred: Any) -> Any:
        if not self.from_logits:  # as Keras has it: kept away from 0 and 1, and made to sum to 1
            y_pred = mg.log(mg.clip(y_pred, EPSILON, 1 - EPSILON))
        return as_tf(mg.mean(entropy(constant(y_true), y_pred)))


__getattr__ = face = Compat("tf.keras.losses")
__dir__ = face.names

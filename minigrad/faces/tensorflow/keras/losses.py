"""Keras' losses: the mean over the batch."""

from __future__ import annotations

from typing import Any

import minigrad as mg
from minigrad.faces.face import Face
from minigrad.faces.tensorflow.tensors import constant, convert

__all__ = ["MeanSquaredError", "SparseCategoricalCrossentropy"]


class MeanSquaredError:
    """The mean of the squared differences."""

    def __call__(self, y_true: Any, y_pred: Any) -> Any:
        return convert(mg.mean((y_pred - constant(y_true, y_pred.dtype)) ** 2))


class SparseCategoricalCrossentropy:
    """The mean of -log p of the right classes, of which `y_true` are the numbers."""

    def __init__(self, from_logits: bool = False) -> None:
        self.from_logits = from_logits

    def __call__(self, y_true: Any, y_pred: Any) -> Any:
        labels = mg.one_hot(constant(y_true), y_pred.shape[-1])
        p = mg.log_softmax(y_pred) if self.from_logits else mg.log(y_pred)
        return convert(-mg.mean(mg.sum(labels * p, axis=-1)))


__getattr__ = face = Face("tf.keras.losses")
__dir__ = face.names

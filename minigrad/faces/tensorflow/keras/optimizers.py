"""Keras' optimisers: `optimizer.apply_gradients(zip(gradients, variables))`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import minigrad as mg
from minigrad.faces.face import Compat
from minigrad.faces.tensorflow.tensors import Variable, latest_value, set_recording

__all__ = ["SGD", "Adam"]


class SGD:
    """Gradient descent, optionally with momentum."""

    def __init__(self, learning_rate: float = 0.01, momentum: float = 0.0) -> None:
        self._begin(mg.optim.SGD(lr=learning_rate, momentum=momentum))

    def _begin(self, optimizer: Any) -> None:
        self._optimizer, self.learning_rate = optimizer, optimizer.lr
        self._slots: dict[int, list[Variable]] = {}

    def apply_gradients(self, grads_and_vars: Iterable[tuple[Any, Variable]]) -> None:
        """Update each variable by its gradient; those without a gradient stay unchanged."""
        for g, v in grads_and_vars:
            if g is None:
                continue
            if id(v) not in self._slots:
                start = self._optimizer.slots(v).items()
                self._slots[id(v)] = [Variable(x, False, name) for name, x in start]
            kept = self._slots[id(v)]
            with set_recording():
                new = self._optimizer.rule(latest_value(v), g, *map(latest_value, kept))
            for variable, value in zip([v, *kept], new, strict=True):
                variable.assign(value)


class Adam(SGD):
    """Adam."""

    def __init__(
        self,
        learning_rate: float = 0.001,
        beta_1: float = 0.9,
        beta_2: float = 0.999,
        epsilon: float = 1e-7,
    ) -> None:
        self._begin(mg.optim.Adam(lr=learning_rate, betas=(beta_1, beta_2), eps=epsilon))


__getattr__ = face = Compat("tf.keras.optimizers")
__dir__ = face.names

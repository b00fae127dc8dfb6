"""The models that are measured, as data, so that every side builds the same one."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

import numpy as np

import minigrad as mg

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Linear:
    """x @ W.T + b, with W (out, in)."""

    inputs: int
    outputs: int

    @property
    def shapes(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        return (self.outputs, self.inputs), (self.outputs,)


@dataclass(frozen=True)
class Conv:
    """A 3 × 3 convolution with padding 1, with W (out, in, 3, 3)."""

    inputs: int
    outputs: int

    @property
    def shapes(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        return (self.outputs, self.inputs, 3, 3), (self.outputs,)


Layer = Linear | Conv | str  # "relu"; "pool": the largest of 2 × 2; "flatten"


@dataclass(frozen=True)
class Model:
    """Layers, the shape of one batch, the learning rate, and how many classes there are."""

    layers: tuple[Layer, ...]
    batch: tuple[int, ...]
    classes: int
    rate: float = 0.01

    def parameters(self) -> list[Array]:
        """Weight and bias of each layer in turn: uniform, ±1/√(inputs of one output)."""
        return [p.copy() for p in self._parameters]

    def data(self) -> tuple[Array, Array]:
        """One batch: the digits where they fit, else random numbers; and the classes."""
        x, t = self._data
        return x.copy(), t.copy()

    @functools.cached_property  # to draw them is no part of what is measured
    def _parameters(self) -> list[Array]:
        drawn = np.random.default_rng(0)
        found: list[Array] = []
        for layer in self.layers:
            if not isinstance(layer, str):
                bound = 1 / np.sqrt(np.prod(layer.shapes[0][1:]))
                found += [drawn.uniform(-bound, bound, s).astype(np.float32) for s in layer.shapes]
        return found

    @functools.cached_property
    def _data(self) -> tuple[Array, Array]:
        if self.batch[1:] == (1, 16, 16):
            digits = mg.data.digits(size=16)
            count = self.batch[0]
            return digits.x_train[:count].reshape(self.batch), digits.y_train[:count]
        drawn = np.random.default_rng(1)
        x = drawn.standard_normal(self.batch).astype(np.float32)
        return x, drawn.integers(0, self.classes, self.batch[0])


MLP = Model((Linear(784, 128), "relu", Linear(128, 10)), (64, 784), 10)
TINY = Model((Linear(4, 16), "relu", Linear(16, 3)), (16, 4), 3)
CONVNET = Model(
    (Conv(1, 8), "relu", "pool", Conv(8, 16), "relu", "pool", "flatten", Linear(256, 10)),
    (64, 1, 16, 16),
    10,
)

A, B, C, D = 1.5, 0.25, -0.75, 0.5


def curve(functions: Any, x: Any) -> Any:
    """The element-wise workload, in anybody's functions."""
    return functions.sigmoid(x * A + B) * functions.tanh(x * C + D) + x


def points(count: int) -> Array:
    return np.random.default_rng(0).standard_normal(count).astype(np.float32)

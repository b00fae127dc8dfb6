"""TensorFlow 1's recurrent cells, which create their variables at their first input."""

from __future__ import annotations

from typing import Any, NamedTuple

import minigrad as mg
from minigrad.faces.face import Compat

__all__ = ["BasicLSTMCell", "BasicRNNCell", "GRUCell", "LSTMCell", "LSTMStateTuple"]


class LSTMStateTuple(NamedTuple):
    """The memory c of an LSTM cell, and its output h."""

    c: Any
    h: Any


class BasicRNNCell:
    """A cell h' = tanh([x, h] kernel + bias), for `tf.nn.dynamic_rnn`."""

    parts: tuple[tuple[str, int, float], ...] = (
        ("", 1, 0.0),
    )  # names, widths, and what biases are

    def __init__(self, num_units: int) -> None:
        self.output_size = num_units
        self.weights: list[tuple[mg.Node, mg.Node]] = []

    @property
    def state_size(self) -> Any:
        """The width of the state, or of its parts."""
        return self.output_size

    def build(self, width: int) -> None:
        """Create the variables for inputs of this width, at the first call only."""
        if self.weights:
            return
        n = self.output_size
        for name, times, start in self.parts:
            bound = (6 / (width + n + times * n)) ** 0.5
            kernel = (mg.rand(width + n, times * n) * 2 - 1) * bound
            with mg.name_scope(f"{type(self).__name__}{name}"):
                bias = mg.full((times * n,), start)
                self.weights.append((mg.Variable(kernel, "kernel"), mg.Variable(bias, "bias")))

    def affine(self, part: int, x: Any, h: Any) -> Any:
        """Compute [x, h] kernel + bias for one of the cell's parts."""
        kernel, bias = self.weights[part]
        return mg.concatenate([x, h], axis=1) @ kernel + bias

    def __call__(self, x: Any, state: Any, scope: Any = None) -> tuple[Any, Any]:
        """Return the output and the new state."""
        self.build(x.shape[-1])
        return self.step(x, state)

    def step(self, x: Any, state: Any) -> tuple[Any, Any]:
        """Run one step of a cell whose variables exist."""
        h = mg.tanh(self.affine(0, x, state))
        return h, h


class GRUCell(BasicRNNCell):
    """A GRU cell; the reset gate is applied before the kernel."""

    parts = ("/gates", 2, 1.0), ("/candidate", 1, 0.0)

    def step(self, x: Any, state: Any) -> tuple[Any, Any]:
        """Run one step of a cell whose variables exist."""
        r, u = mg.split(mg.sigmoid(self.affine(0, x, state)), axis=1, sections=2)
        h = u * state + (1 - u) * mg.tanh(self.affine(1, x, r * state))
        return h, h


class BasicLSTMCell(BasicRNNCell):
    """An LSTM cell, whose state is (c, h)."""

    parts = (("", 4, 0.0),)

    def __init__(self, num_units: int, forget_bias: float = 1.0) -> None:
        super().__init__(num_units)
        self.forget_bias = forget_bias

    @property
    def state_size(self) -> Any:
        """The width of memory and output."""
        return LSTMStateTuple(self.output_size, self.output_size)

    def step(self, x: Any, state: Any) -> tuple[Any, Any]:
        """Run one step of a cell whose variables exist."""
        c, h = state
        i, j, f, o = mg.split(self.affine(0, x, h), axis=1, sections=4)
        c = c * mg.sigmoid(f + self.forget_bias) + mg.sigmoid(i) * mg.tanh(j)
        h = mg.tanh(c) * mg.sigmoid(o)
        return h, LSTMStateTuple(c, h)


class LSTMCell(BasicLSTMCell):
    """BasicLSTMCell under its later name."""


__getattr__ = face = Compat("tf.nn.rnn_cell")
__dir__ = face.names

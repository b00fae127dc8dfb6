"""TensorFlow 1's recurrent cells, which learn the width of their input at the first call."""

from __future__ import annotations

from typing import Any

import minigrad as mg
from minigrad.faces.face import Face

__all__ = ["BasicLSTMCell", "BasicRNNCell", "GRUCell"]

ABSENT: Any = None


class BasicRNNCell:
    """h = tanh(W x + U h + b), for `tf.nn.dynamic_rnn`."""

    kind: Any = mg.nn.RNNCell

    def __init__(self, num_units: int) -> None:
        self.num_units, self.cell = num_units, ABSENT

    def zero_state(self, x: Any) -> Any:
        """The state before the first step of a batch like x."""
        if self.cell is None:
            self.cell = self.kind(x.shape[-1], self.num_units)
        return self.cell.zero_state(x)

    def __call__(self, x: Any, state: Any) -> Any:
        """The output and the new state, or the state alone."""
        if self.cell is None:
            self.zero_state(x)
        return self.cell(x, state)


class GRUCell(BasicRNNCell):
    """A cell with a reset and an update gate."""

    kind = mg.nn.GRUCell


class BasicLSTMCell(BasicRNNCell):
    """A cell with a memory."""

    kind = mg.nn.LSTMCell


__getattr__ = face = Face("tf.nn.rnn_cell")
__dir__ = face.names

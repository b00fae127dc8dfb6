"""Recurrent layers: one step as a cell, all steps of a sequence as a layer.

Equations, order of the gates, shapes of the parameters and of sequences are PyTorch's: (time,
batch, features), or with batch_first=True (batch, time, features). All parameters start uniform in
±1/√hidden_size.
"""

from __future__ import annotations

import math
from typing import Any

from minigrad import ops
from minigrad.control import scan
from minigrad.core import promote, show_shape
from minigrad.diagnostics.arguments import refuse, whole
from minigrad.diagnostics.errors import GraphError, ShapeError
from minigrad.diagnostics.messages import fill
from minigrad.diagnostics.source import here
from minigrad.nn.layers import Uniform
from minigrad.nn.module import Module
from minigrad.ops.arrange import as_operand
from minigrad.ops.indexing import FULL

BATCH_TIME_SWAPPED = (1, 0, 2)
DIRECTIONS = ("", "_reverse")
FIRST = ((0,), (FULL, 0))  # the first step of all sequences: of axis 0, or behind the batch


def _product(x: Any, weight: Any, bias: Any) -> Any:
    y = ops.matmul(x, weight, transpose_b=True)
    return y if bias is None else y + bias


class _Recurrent(Module):
    """The base of cells and layers; weights hold one block of hidden_size rows for each gate."""

    gates = 1
    joint_bias = True  # whether the bias for the state may be added with the other
    a_weight = "weight_hh"

    def __init__(self, input_size: int, hidden_size: int, bias: bool, seed: int | None) -> None:
        super().__init__()
        name = type(self).__name__
        self.input_size = whole(name, "input_size", input_size)
        self.hidden_size, self.bias = whole(name, "hidden_size", hidden_size), bias
        self._draw = Uniform(1 / math.sqrt(max(hidden_size, 1)), seed)

    def _add_weights(self, input_size: int, suffix: str = "") -> None:
        rows = self.gates * self.hidden_size
        setattr(self, f"weight_ih{suffix}", self._draw(rows, input_size))
        setattr(self, f"weight_hh{suffix}", self._draw(rows, self.hidden_size))
        for name in ("bias_ih", "bias_hh"):
            setattr(self, name + suffix, self._draw(rows) if self.bias else None)

    def _prepare(self, x: Any, suffix: str = "") -> tuple[Any, Any, Any]:
        """Return what x adds to the gates, and the weight and bias that act on the state."""
        own = vars(self)
        given = _product(x, own[f"weight_ih{suffix}"], own[f"bias_ih{suffix}"])
        weight, bias = own[f"weight_hh{suffix}"], own[f"bias_hh{suffix}"]
        if self.joint_bias and bias is not None:
            return given + bias, weight, None
        return given, weight, bias

    def step(self, given: Any, state: Any, weight: Any, bias: Any) -> Any:
        """Compute the next state; `given` is what the input adds to the gates."""
        signature = "step(self, given, state, weight, bias)"
        raise GraphError("method", op=type(self).__name__, method=signature, defined=here())

    def _blocks(self, x: Any, first: int, count: int = 1) -> Any:
        """Return the part of x that belongs to one gate, or to several in a row."""
        n = self.hidden_size
        return ops.slice_(x, key=("...", (first * n, (first + count) * n, None)))

    def zero_state(self, x: Any) -> Any:
        """Return the initial state for x of shape (batch, features): zeros (batch, hidden_size)."""
        dtype = promote(x.dtype, vars(self)[self.a_weight].dtype)
        nothing = ops.sum(ops.full_like(x, value=0.0, dtype=dtype), axis=-1, keepdims=True)
        return ops.broadcast_to(nothing, shape=(*[-1] * (x.ndim - 1), self.hidden_size))

    def _expected(self, state: Any) -> Any:
        """Return the initial state; ArgumentError if it has another form."""
        if isinstance(state, (tuple, list)):
            raise refuse(type(self).__name__, "state", state, fill("expect_one_state"))
        return state

    def extra_repr(self) -> str:
        return f"{self.input_size} → {self.hidden_size}"


class _Cell(_Recurrent):
    """One step: (x, state) → the next state. Without a state it begins with zeros.

    x: (batch, input_size). Parameters: weight_ih, weight_hh, bias_ih, bias_hh.
    """

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool = True, *, seed: int | None = None
    ) -> None:
        super().__init__(input_size, hidden_size, bias, seed)
        self._add_weights(input_size)

    def forward(self, x: Any, state: Any = None) -> Any:
        x, state = as_operand(x), self._expected(state)
        begin = self.zero_state(x) if state is None else state
        given, weight, bias = self._prepare(x)
        return self.step(given, begin, weight, bias)


class _Layers(_Recurrent):
    """All steps of sequences (time, batch, input_size), by one or more layers on each other.

    Returns the outputs of the last layer (time, batch, hidden_size), and the last state of each
    layer (num_layers, batch, hidden_size). batch_first: sequences and outputs begin with the batch,
    (batch, time, …), the states as before. `state`: where to begin, in the form of that last state;
    zeros if not given. The time axis may be open in a static graph: all steps are one loop node.
    bidirectional: each layer also runs from the last step to the first; the outputs of both stand
    side by side (2 · hidden_size features), the last states one after the other.
    Parameters: weight_ih_l0, weight_hh_l0, bias_ih_l0, bias_hh_l0, …_l0_reverse, then …_l1.
    """

    a_weight = "weight_hh_l0"

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        *,
        bias: bool = True,
        batch_first: bool = False,
        bidirectional: bool = False,
        seed: int | None = None,
    ) -> None:
        super().__init__(input_size, hidden_size, bias, seed)
        self.batch_first = batch_first
        self.num_layers = whole(type(self).__name__, "num_layers", num_layers, least=1)
        self.bidirectional = bidirectional
        directions = DIRECTIONS[: 1 + bool(bidirectional)]
        self._passes = [[f"_l{i}{end}" for end in directions] for i in range(num_layers)]
        for i, suffixes in enumerate(self._passes):
            for suffix in suffixes:
                self._add_weights(len(suffixes) * hidden_size if i else input_size, suffix)

    def forward(self, x: Any, state: Any = None) -> Any:
        x, state = as_operand(x), self._expected(state)
        if x.ndim != 3:
            axes = "(batch, time, features)" if self.batch_first else "(time, batch, features)"
            expected, shape = f"3 axes {axes}", show_shape(x.shape)
            name = type(self).__name__
            raise ShapeError("rank", op=name, expected=expected, shape=shape, defined=here())
        first = ops.slice_(x, key=FIRST[bool(self.batch_first)])
        last: list[Any] = []
        for suffixes in self._passes:
            outputs = []
            for suffix in suffixes:
                begin = (
                    self.zero_state(first) if state is None else self._of_layer(state, len(last))
                )
                y, end = self._run(x, begin, suffix)
                outputs.append(y)
                last.append(end)
            x = outputs[0] if len(outputs) == 1 else ops.concatenate(*outputs, axis=2)
        return x, self._stacked(last)

    def _run(self, x: Any, begin: Any, suffix: str) -> tuple[Any, Any]:
        """Run one layer over all steps; the input's part of the gates is one product for all."""
        given, weight, bias = self._prepare(x, suffix)

        def step(state: Any, given: Any) -> tuple[Any, Any]:
            new = self.step(given, state, weight, bias)
            return new, self._output(new)

        steps, back = self._swapped(given), suffix.endswith(DIRECTIONS[1])
        end, outputs = scan(step, begin, steps, reverse=back)
        return self._swapped(outputs), end

    def _swapped(self, x: Any) -> Any:
        """Exchange the batch and the time axis, as loops need it, and back."""
        return ops.transpose(x, axes=BATCH_TIME_SWAPPED) if self.batch_first else x

    def _output(self, state: Any) -> Any:
        return state

    def _of_layer(self, state: Any, i: int) -> Any:
        return state[i]

    def _stacked(self, states: list[Any]) -> Any:
        return ops.stack(*states, axis=0)


class _Simple(_Recurrent):
    """h' = tanh(x W_ihᵀ + b_ih + h W_hhᵀ + b_hh)."""

    def step(self, given: Any, state: Any, weight: Any, bias: Any) -> Any:
        return ops.tanh(given + _product(state, weight, bias))


class _Gated(_Recurrent):
    """Reset gate r, update gate z and new value n, in this order.

    r, z = σ(x W_ihᵀ + b_ih + h W_hhᵀ + b_hh); n = tanh(x W_inᵀ + b_in + r (h W_hnᵀ + b_hn));
    h' = (1 − z) n + z h.
    """

    gates, joint_bias = 3, False

    def step(self, given: Any, state: Any, weight: Any, bias: Any) -> Any:
        state = ops.identity(state)  # its gradients are summed here, as the loop node does it
        mine = _product(state, weight, bias)
        gates = ops.sigmoid(self._blocks(given, 0, 2) + self._blocks(mine, 0, 2))
        reset, update = self._blocks(gates, 0), self._blocks(gates, 1)
        new = ops.tanh(self._blocks(given, 2) + reset * self._blocks(mine, 2))
        return new + update * (state - new)


class _LongShort(_Recurrent):
    """Input gate i, forget gate f, new value g and output gate o, in this order.

    i, f, o = σ(…), g = tanh(…) of x W_ihᵀ + b_ih + h W_hhᵀ + b_hh; c' = f c + i g; h' = o tanh(c').
    The state is the pair (h, c).
    """

    gates = 4

    def zero_state(self, x: Any) -> Any:
        zeros = super().zero_state(x)
        return zeros, zeros

    def step(self, given: Any, state: Any, weight: Any, bias: Any) -> Any:
        h, c = state
        sums = given + _product(h, weight, bias)
        gates, new = ops.sigmoid(sums), ops.tanh(self._blocks(sums, 2))  # of g it goes unused
        c = self._blocks(gates, 1) * c + self._blocks(gates, 0) * new
        return self._blocks(gates, 3) * ops.tanh(c), c

    def _expected(self, state: Any) -> Any:
        if state is not None and not (isinstance(state, (tuple, list)) and len(state) == 2):
            raise refuse(type(self).__name__, "state", state, fill("expect_two_states"))
        return None if state is None else tuple(state)

    def _output(self, state: Any) -> Any:
        return state[0]

    def _of_layer(self, state: Any, i: int) -> Any:
        return state[0][i], state[1][i]

    def _stacked(self, states: list[Any]) -> Any:
        return tuple(ops.stack(*column, axis=0) for column in zip(*states, strict=True))


def _described(kind: type[_Recurrent], form: type[_Recurrent], what: str, example: str) -> str:
    """Write the docstring of a recurrent layer: its equations, its shapes, an example."""
    shown = f"    >>> import minigrad as mg\n    >>> {example}\n    "
    return f"{what}\n\n    {kind.__doc__}\n    {form.__doc__}\n{shown}"


class RNNCell(_Simple, _Cell):
    __doc__ = _described(
        _Simple,
        _Cell,
        "One step of a simple recurrent network.",
        "mg.nn.RNNCell(3, 4)(mg.zeros(2, 3)).shape\n    (2, 4)",
    )


class GRUCell(_Gated, _Cell):
    __doc__ = _described(
        _Gated,
        _Cell,
        "One step of a gated recurrent unit.",
        "mg.nn.GRUCell(3, 4)(mg.zeros(2, 3)).shape\n    (2, 4)",
    )


class LSTMCell(_LongShort, _Cell):
    __doc__ = _described(
        _LongShort,
        _Cell,
        "One step of a long short-term memory.",
        "h, c = mg.nn.LSTMCell(3, 4)(mg.zeros(2, 3))\n    >>> h.shape, c.shape\n"
        "    ((2, 4), (2, 4))",
    )


class RNN(_Simple, _Layers):
    __doc__ = _described(
        _Simple,
        _Layers,
        "A simple recurrent network over sequences.",
        "outputs, last = mg.nn.RNN(3, 4)(mg.zeros(7, 2, 3))\n    >>> outputs.shape, last.shape\n"
        "    ((7, 2, 4), (1, 2, 4))",
    )


class GRU(_Gated, _Layers):
    __doc__ = _described(
        _Gated,
        _Layers,
        "Gated recurrent units over sequences.",
        "outputs, last = mg.nn.GRU(3, 4)(mg.zeros(7, 2, 3))\n    >>> outputs.shape, last.shape\n"
        "    ((7, 2, 4), (1, 2, 4))",
    )


class LSTM(_LongShort, _Layers):
    __doc__ = _described(
        _LongShort,
        _Layers,
        "Long short-term memory over sequences.",
        "outputs, (h, c) = mg.nn.LSTM(3, 4)(mg.zeros(7, 2, 3))\n    >>> outputs.shape, h.shape\n"
        "    ((7, 2, 4), (1, 2, 4))",
    )

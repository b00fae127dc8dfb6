"""DyNet's recurrent networks: builders make states, and each input gives a new state."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import minigrad as mg
from minigrad.faces.dynet.graph import Dims, Expression, apply, elementwise, leaf, matmul
from minigrad.faces.dynet.parameters import ParameterCollection, Parameters
from minigrad.faces.dynet.shapes import concat_dim
from minigrad.faces.face import make_error

__all__ = [
    "BiRNNBuilder",
    "GRUBuilder",
    "RNNState",
    "SimpleRNNBuilder",
    "VanillaLSTMBuilder",
    "affine",
]

State = tuple[Expression, ...]  # of one layer; its output is the last


def affine(exprs: Sequence[Any]) -> Expression:
    """Return the first expression plus the products of the following pairs."""
    if len(exprs) % 2 == 0:
        raise make_error(mg.ArgumentError, "face_affine", count=len(exprs))
    found, *rest = exprs
    for a, b in zip(rest[::2], rest[1::2], strict=True):
        found = found + matmul(a, b)
    result: Expression = found
    return result


def _gate(name: str) -> Callable[[Expression], Expression]:
    return lambda x: apply(getattr(mg, name), x)


tanh, logistic = _gate("tanh"), _gate("sigmoid")


def multiply(a: Expression, b: Expression) -> Expression:
    """Multiply two expressions element by element."""
    return elementwise(lambda x, y: x * y, a, b)


class RNNState:
    """The state of a network; `add_input` gives the next."""

    def __init__(
        self, builder: Any, layers: Sequence[State] | None = None, prev: RNNState | None = None
    ) -> None:
        self._builder, self._layers, self._prev = builder, layers, prev

    def add_input(self, x: Any) -> RNNState:
        """Return the state after one more input."""
        return RNNState(self._builder, self._builder.step(x, self._layers), self)

    def add_inputs(self, xs: Iterable[Any]) -> list[RNNState]:
        """Return the states after each of several inputs."""
        found, state = [], self
        for x in xs:
            state = state.add_input(x)
            found.append(state)
        return found

    def transduce(self, xs: Iterable[Any]) -> list[Any]:
        """Return the outputs after each of several inputs."""
        return [state.output() for state in self.add_inputs(xs)]

    def output(self) -> Any:
        """Return the output of the highest layer, or None before the first input."""
        return self._layers[-1][-1] if self._layers else None

    def h(self) -> tuple[Expression, ...]:
        """Return the output vectors of all layers at this step."""
        return tuple(state[-1] for state in self._layers or ())

    def s(self) -> tuple[Expression, ...]:
        """Return the whole state: memory cells of all layers, if any, then outputs."""
        return tuple(x for part in zip(*self._layers or (), strict=True) for x in part)

    def prev(self) -> RNNState | None:
        """Return the state before the last input."""
        return self._prev

    def b(self) -> Any:
        """Return the builder."""
        return self._builder


class SimpleRNNBuilder:
    """Layers of h = tanh(W x + U h + b)."""

    own, remembered = "simple-rnn-builder", 1

    def __init__(
        self, layers: int, input_dim: int, hidden_dim: int, model: ParameterCollection
    ) -> None:
        self.spec = layers, input_dim, hidden_dim
        self._collection, self._hidden = model.add_subcollection(self.own), hidden_dim
        widths = [input_dim, *[hidden_dim] * (layers - 1)]
        self._layers = [self._add_layer(width, hidden_dim) for width in widths]

    def _add_layer(self, width: int, hidden: int) -> list[Parameters]:
        return self._add_affine((hidden, width), (hidden, hidden))

    def _add_affine(self, input_dims: Dims, state_dims: Dims) -> list[Parameters]:
        """Add the two matrices and the bias of an affine step; the bias starts at 0."""
        add = self._collection.add_parameters
        return [add(input_dims), add(state_dims), add(input_dims[:1], init=0.0)]

    def param_collection(self) -> ParameterCollection:
        """Return the parameter collection of all layers."""
        return self._collection

    def get_parameters(self) -> list[list[Parameters]]:
        """Return the parameters, layer by layer."""
        return self._layers

    def get_parameter_expressions(self) -> list[list[Expression]]:
        """Return the parameters' expressions in the current graph, layer by layer."""
        return [[p.expr() for p in layer] for layer in self._layers]

    def set_dropout(self, d: float) -> None:
        """Accept a dropout rate of 0; raise ArgumentError for any other."""
        if d:
            raise make_error(mg.ArgumentError, "face_builder_dropout", rate=d)

    def disable_dropout(self) -> None:
        """Do nothing, since there is no dropout."""

    def initial_state(self, vecs: Sequence[Expression] | None = None) -> RNNState:
        """Return the initial state: zeros, or values from another state's `s` or `h`."""
        if vecs is None:
            return RNNState(self)
        count, zero = len(self._layers), leaf([0.0] * self._hidden)
        if len(vecs) == count:
            vecs = [*[zero] * (count * (self.remembered - 1)), *vecs]
        if len(vecs) != count * self.remembered:
            raise make_error(mg.ArgumentError, "face_state", count=len(vecs), layers=count)
        return RNNState(self, [tuple(vecs[i::count]) for i in range(count)])

    def step(self, x: Any, layers: Sequence[State] | None) -> list[State]:
        """Return the states of all layers after an input."""
        if layers is None:
            layers = [(leaf([0.0] * self._hidden),) * self.remembered] * len(self._layers)
        found: list[State] = []
        for parameters, state in zip(self._layers, layers, strict=True):
            found.append(self._next_state(parameters, x, state))
            x = found[-1][-1]
        return found

    def _next_state(self, parameters: list[Parameters], x: Any, state: State) -> State:
        W, U, b = parameters
        return (tanh(affine([b, W, x, U, state[-1]])),)


class VanillaLSTMBuilder(SimpleRNNBuilder):
    """LSTM layers; the rows of a matrix are input, forget and output gate, and candidate."""

    own, remembered = "vanilla-lstm-builder", 2

    def _add_layer(self, width: int, hidden: int) -> list[Parameters]:
        return self._add_affine((4 * hidden, width), (4 * hidden, hidden))

    def _next_state(self, parameters: list[Parameters], x: Any, state: State) -> State:
        W, U, b = parameters
        c, h = state
        n, rows = self._hidden, affine([b, W, x, U, h])
        i, f, o, new = (self._slice(rows, k * n, (k + 1) * n) for k in range(4))
        c = multiply(logistic(f + 1), c) + multiply(logistic(i), tanh(new))
        return c, multiply(logistic(o), tanh(c))

    @staticmethod
    def _slice(x: Expression, low: int, high: int) -> Expression:
        return apply(lambda v: v[..., low:high], x)


class GRUBuilder(SimpleRNNBuilder):
    """GRU layers, with an update gate and a reset gate."""

    own = "gru-builder"

    def _add_layer(self, width: int, hidden: int) -> list[Parameters]:
        return [p for _ in range(3) for p in self._add_affine((hidden, width), (hidden, hidden))]

    def _next_state(self, parameters: list[Parameters], x: Any, state: State) -> State:
        W, U, b = (parameters[k::3] for k in range(3))
        (h,) = state
        z, r = (logistic(affine([b[k], W[k], x, U[k], h])) for k in range(2))
        new = tanh(affine([b[2], W[2], x, U[2], multiply(r, h)]))
        return (multiply(1 - z, h) + multiply(z, new),)


class BiRNNBuilder:
    """Bidirectional layers: each output joins a forward and a backward network's."""

    def __init__(
        self,
        num_layers: int,
        input_dim: int,
        hidden_dim: int,
        model: ParameterCollection,
        rnn_builder_factory: Callable[..., Any],
    ) -> None:
        own, half = model.add_subcollection("birnn"), hidden_dim // 2
        widths = [input_dim, *[hidden_dim] * (num_layers - 1)]
        self._layers = [
            tuple(rnn_builder_factory(1, width, half, own) for _ in range(2)) for width in widths
        ]

    def transduce(self, es: Sequence[Any]) -> list[Expression]:
        """Return the outputs for a sequence."""
        for ahead, back in self._layers:
            firsts = ahead.initial_state().transduce(es)
            lasts = back.initial_state().transduce(es[::-1])[::-1]
            es = [concat_dim(pair) for pair in zip(firsts, lasts, strict=True)]
        return list(es)

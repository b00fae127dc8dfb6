"""CNTK's recurrences: steps with a state, along sequences of any length."""

from __future__ import annotations

import contextlib
import functools
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import minigrad as mg
from minigrad.faces.cntk import sequence
from minigrad.faces.cntk.axes import BATCH
from minigrad.faces.cntk.functions import Function, apply, as_function, matmul
from minigrad.faces.cntk.variables import Parameter

__all__ = [
    "GRU",
    "LSTM",
    "UNSET",
    "Fold",
    "RNNStep",
    "Recurrence",
    "default_options",
    "get_option",
    "glorot",
    "init_parameter",
]

Shape = tuple[int, ...]
OPTIONS: list[dict[str, Any]] = []
UNSET: Any = object()  # an option that was not given: None says something


@contextlib.contextmanager
def default_options(**options: Any) -> Iterator[None]:
    """Set default options for layers made inside: `activation`, `init`, `bias`, `pad`."""
    OPTIONS.append(options)
    try:
        yield
    finally:
        OPTIONS.pop()


def get_option(name: str, value: Any, fallback: Any = None) -> Any:
    """Return an option's value as given, or else from `default_options`, or else `fallback`."""
    if value is not UNSET:
        return value
    return next((own[name] for own in reversed(OPTIONS) if name in own), fallback)


def glorot(shape: Shape, seed: int | None = None) -> Any:
    """Draw uniform Glorot weights: the more numbers are added up, the narrower the range."""
    bound = math.sqrt(6 / max(1, sum(shape[-2:])))
    return (mg.rand(shape, seed=seed) * 2 - 1) * bound


def init_parameter(shape: Shape, init: Any, name: str) -> Parameter:
    """Make a parameter initialised from a number, an array, or a function of the shape."""
    value = init(shape) if callable(init) else init
    array = value.numpy() if isinstance(value, mg.Tensor) else np.asarray(value, np.float32)
    return Parameter(np.broadcast_to(array, shape), name)


class RecurrentStep(ABC):
    """A step of a recurrence: (states…, x) → states; its parameters are concatenated."""

    states, of_input, of_state = 1, 1, 1

    def __init__(self, shape: int, activation: Any = UNSET, init: Any = UNSET) -> None:
        self.shape, self.init = (shape,), get_option("init", init, glorot)
        self.activation: Callable[[Any], Function] | None = get_option("activation", activation)
        self.W: Any = None

    def build(self, x: Function) -> tuple[Parameter, ...]:
        """Return the parameters, created at the first call to fit its operand."""
        if self.W is None:
            (n,) = self.shape
            self.b = init_parameter((n * self.of_input,), 0, "b")
            self.W = init_parameter((*x.shape, n * self.of_input), self.init, "W")
            self.H = init_parameter((n, n * self.of_state), self.init, "H")
        return self.b, self.W, self.H

    def chunk(self, x: Function, i: int) -> Function:
        """Return the i-th of the vectors that are concatenated in x."""
        (n,) = self.shape
        return apply(lambda v: v[..., i * n : (i + 1) * n], x)

    @abstractmethod
    def __call__(self, *given: Any) -> Any:
        """Return the states after one more input x."""


def _activation(name: str) -> Callable[[Any], Function]:
    return lambda x: apply(getattr(mg, name), x)


sigmoid, tanh = _activation("sigmoid"), _activation("tanh")


class RNNStep(RecurrentStep):
    """A plain recurrent step: h = activation(x W + h H + b), by default a sigmoid."""

    def __call__(self, h: Any, x: Any) -> Function:
        self.build(x)
        squash: Callable[[Any], Function] = self.activation or sigmoid
        return squash(matmul(x, self.W) + matmul(h, self.H) + self.b)


class LSTM(RecurrentStep):
    """An LSTM step: (h, c, x) → h, c. Gates: input, candidate, forget, output."""

    states, of_input, of_state = 2, 4, 4

    def __call__(self, h: Any, c: Any, x: Any) -> tuple[Function, Function]:
        self.build(x)
        rows, squash = self.b + matmul(x, self.W) + matmul(h, self.H), self.activation or tanh
        i, new, f, o = (self.chunk(rows, k) for k in range(4))
        c = sigmoid(f) * c + sigmoid(i) * squash(new)
        return sigmoid(o) * squash(c), c


class GRU(RecurrentStep):
    """A GRU step, with an update gate and a reset gate."""

    of_input, of_state = 3, 2

    def build(self, x: Function) -> tuple[Parameter, ...]:
        """Return the parameters, with one more matrix for the state after the reset gate."""
        made = self.W is None
        found = super().build(x)
        if made:
            self.H1 = init_parameter(self.shape * 2, self.init, "H1")
        return *found, self.H1

    def __call__(self, h: Any, x: Any) -> Function:
        self.build(x)
        rows, kept = self.b + matmul(x, self.W), matmul(h, self.H)
        z, r = (sigmoid(self.chunk(rows, k) + self.chunk(kept, k)) for k in range(2))
        new = (self.activation or tanh)(self.chunk(rows, 2) + matmul(r * h, self.H1))
        found: Function = (1 - z) * new + z * h
        return found


def Recurrence(
    step_function: Callable[..., Any],
    go_backwards: bool = False,
    initial_state: Any = 0,
    return_full_state: bool = False,
) -> Callable[[Any], Any]:
    """Make a function of sequences that runs the step at each item with the previous state."""
    return functools.partial(
        _run_recurrence, step_function, go_backwards, initial_state, return_full_state
    )


def Fold(
    folder_function: Callable[..., Any], go_backwards: bool = False, initial_state: Any = 0
) -> Callable[[Any], Any]:
    """Make a function of sequences that runs a recurrence and returns its final state."""
    final = "first" if go_backwards else "last"
    over = Recurrence(folder_function, go_backwards, initial_state)
    return lambda x: sequence.first_or_last(over(x), final)


def _run_recurrence(step: Any, backwards: bool, start: Any, full_state: bool, x: Any) -> Any:
    axis = sequence.item_axis(x)
    known = step.build(x) if isinstance(step, RecurrentStep) else ()
    shape = step.shape if isinstance(step, RecurrentStep) else x.shape
    count = getattr(step, "states", 1)
    starts = start if isinstance(start, tuple) else (start,) * count
    first = [_initial_state(s, axis, shape) for s in starts]
    met: list[Function] = [x, *known, *first]

    def body(carry: Any, item: Any) -> Any:
        given = [Function(c, BATCH) for c in carry]
        found = step(*given, Function(item, BATCH))
        states = found if isinstance(found, tuple) else (found,)
        met.extend(states)
        nodes = tuple(s.node for s in states)
        return nodes, nodes

    rows = mg.take(x.node, axis.steps_down if backwards else axis.steps, 0)
    _, ys = mg.scan(body, tuple(s.node for s in first), rows)
    back = axis.back_down if backwards else axis.back
    found = [
        Function(mg.take(mg.reshape(y, (-1, *shape)), back, 0), axis, met)
        for y in (ys if isinstance(ys, tuple) else (ys,))
    ]
    return tuple(found) if full_state and count > 1 else found[0]


def _initial_state(value: Any, axis: Any, shape: Shape) -> Function:
    """Return the state before the first item, for each sequence."""
    state = as_function(value)
    if state.axis is BATCH:
        return state
    zero = mg.reshape(mg.cast(axis.first, mg.float32) * 0, (-1, *[1] * len(shape)))
    return apply(lambda v: zero + v + np.zeros(shape, np.float32), state, axis=BATCH)

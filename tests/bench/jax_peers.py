"""JAX: the whole step as one compiled function, with the arrays it replaces given to it.

As those write it who know it: channels last, the largest of 2 × 2 by a reshape. As its tutorials
do: channels first, as in PyTorch, and `reduce_window`.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from measure import Side
from models import Array, Conv, Linear, Model, curve, points
from networks import HIDDEN, LENGTHS, drawn
from networks import parameters as recurrent_parameters

FUNCTIONS = types.SimpleNamespace(sigmoid=jax.nn.sigmoid, tanh=jnp.tanh)
LAST, FIRST = ("NHWC", "HWIO", "NHWC"), ("NCHW", "OIHW", "NCHW")


def apply(model: Model, parameters: list[Any], x: Any, tutorial: bool = False) -> Any:
    rest = iter(parameters)
    for layer in model.layers:
        if isinstance(layer, Linear):
            x = x @ next(rest) + next(rest)
        elif isinstance(layer, Conv):
            form, (w, b) = FIRST if tutorial else LAST, (next(rest), next(rest))
            x = lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=form)
            x = x + (b[:, None, None] if tutorial else b)
        elif layer == "relu":
            x = jax.nn.relu(x)
        elif layer == "pool" and tutorial:
            x = lax.reduce_window(x, -jnp.inf, lax.max, (1, 1, 2, 2), (1, 1, 2, 2), "VALID")
        elif layer == "pool":
            n, height, width, channels = x.shape
            x = x.reshape(n, height // 2, 2, width // 2, 2, channels).max((2, 4))
        else:
            x = x.reshape(len(x), -1)
    return x


class Layout:
    """How JAX users lay out what PyTorch has as (n, c, h, w), (out, in, h, w) and (out, in)."""

    def __init__(self, model: Model, tutorial: bool) -> None:
        channels = [layer.outputs for layer in model.layers if isinstance(layer, Conv)]
        self.channels = 0 if tutorial or not channels else channels[-1]  # 0: they stay first

    def batch(self, x: Array) -> Array:
        return x.transpose(0, 2, 3, 1) if self.channels else x

    def _rows(self, count: int) -> Array:
        """The rows of the matrix that reads flattened images, in their new order."""
        return np.arange(count).reshape(self.channels or count, -1).T.ravel()

    def parameter(self, p: Array) -> Array:
        if p.ndim == 2:
            return p.T[self._rows(p.shape[1])]
        return p.transpose(2, 3, 1, 0) if p.ndim == 4 and self.channels else p

    def back(self, p: Array) -> Array:
        if p.ndim == 2:
            return p[np.argsort(self._rows(len(p)))].T
        return p.transpose(3, 2, 0, 1) if p.ndim == 4 and self.channels else p


def stepper(model: Model, tutorial: bool = False) -> Callable[..., Any]:
    """One step of training, compiled when it first runs; the parameters are overwritten."""

    def loss_of(parameters: list[Any], x: Any, t: Any) -> Any:
        scores = jax.nn.log_softmax(apply(model, parameters, x, tutorial))
        return -jnp.mean(jnp.sum(scores * jax.nn.one_hot(t, model.classes), axis=1))

    def step(parameters: list[Any], x: Any, t: Any) -> Any:
        loss, gradients = jax.value_and_grad(loss_of)(parameters, x, t)
        return loss, jax.tree.map(lambda p, g: p - model.rate * g, parameters, gradients)

    return jax.jit(step, donate_argnums=() if tutorial else 0)


def arrays(model: Model, tutorial: bool = False) -> tuple[list[Any], Any, Any]:
    """Parameters, batch and classes, where JAX wants them."""
    layout = Layout(model, tutorial)
    x, t = model.data()
    laid = [np.ascontiguousarray(layout.parameter(p)) for p in model.parameters()]
    return [jnp.array(p) for p in laid], jnp.array(layout.batch(x)), jnp.array(t)


def training(model: Model, tutorial: bool = False) -> Side:
    layout, (parameters, x, t) = Layout(model, tutorial), arrays(model, tutorial)
    step = stepper(model, tutorial)
    state: list[Any] = [None, parameters]

    def work() -> None:
        state[:] = step(state[1], x, t)
        jax.block_until_ready(state)

    def values() -> list[Array]:
        return [np.asarray(state[0]), *(layout.back(np.asarray(p)) for p in state[1])]

    return Side(work, values)


def inference(model: Model) -> Side:
    parameters, x, _ = arrays(model)
    return calling(jax.jit(lambda parameters, x: [apply(model, parameters, x)]), parameters, x)


def elementwise(count: int, backward: bool) -> Side:
    def value(x: Any) -> list[Any]:
        if not backward:
            return [curve(FUNCTIONS, x)]
        y, pull = jax.vjp(lambda x: curve(FUNCTIONS, x), x)
        return [y, *pull(jnp.ones_like(y))]

    return calling(jax.jit(value), jnp.array(points(count)))


def small(layers: int, x: Array, w: Array, b: Array) -> Side:
    """tanh(y @ w + b), so many times over, as one compiled function."""

    def total(w: Any, b: Any, x: Any) -> Any:
        y, _ = lax.scan(lambda y, _: (jnp.tanh(y @ w + b), None), x, length=layers)
        return y.sum()

    return calling(jax.jit(jax.grad(total, (0, 1))), *map(jnp.array, (w, b, x)))


def sequences(recorded: bool = True) -> Side:
    """All sequences side by side, with the time behind their ends masked, in one scan."""
    longest = max(LENGTHS)
    xs = np.zeros((longest, len(LENGTHS), HIDDEN), np.float32)
    valid = np.zeros((longest, len(LENGTHS), 1), bool)
    for k, n in enumerate(LENGTHS):
        xs[:n, k] = np.concatenate([drawn(1, HIDDEN, seed=100 * n + i) for i in range(n)])
        valid[:n, k] = True

    def sums(weights: Any, xs: Any, valid: Any) -> Any:
        w, u, b = weights

        def step(h: Any, given: Any) -> Any:
            x, on = given
            return jnp.where(on, jnp.tanh(x + h @ u.T), h), None

        h, _ = lax.scan(step, jnp.zeros(xs.shape[1:]), (xs @ w.T + b, valid))
        return h.sum(1)

    weights = [jnp.array(p) for p in recurrent_parameters()]
    total = jax.grad(lambda *given: sums(*given).sum())
    return calling(jax.jit(total if recorded else sums), weights, jnp.array(xs), jnp.array(valid))


def calling(function: Callable[..., Any], *arguments: Any) -> Side:
    results: list[Any] = [None]

    def work() -> None:
        results[0] = jax.block_until_ready(function(*arguments))

    return Side(work, lambda: [np.asarray(v) for v in results[0]])

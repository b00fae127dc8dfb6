"""JAX: the whole step as one compiled function."""

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

JIT = "JAX jit"
FUNCTIONS = types.SimpleNamespace(sigmoid=jax.nn.sigmoid, tanh=jnp.tanh)


def apply(model: Model, parameters: list[Any], x: Any) -> Any:
    rest = iter(parameters)
    for layer in model.layers:
        if isinstance(layer, Linear):
            x = x @ next(rest) + next(rest)
        elif isinstance(layer, Conv):
            x = lax.conv_general_dilated(x, next(rest), (1, 1), "SAME")
            x = x + next(rest)[:, None, None]
        elif layer == "relu":
            x = jax.nn.relu(x)
        elif layer == "pool":
            x = lax.reduce_window(x, -jnp.inf, lax.max, (1, 1, 2, 2), (1, 1, 2, 2), "VALID")
        else:
            x = x.reshape(len(x), -1)
    return x


def turned(parameters: list[Any]) -> list[Any]:
    """Matrices as JAX users lay them out, (in, out), or back."""
    return [p.T if p.ndim == 2 else p for p in parameters]


def stepper(model: Model) -> Callable[..., Any]:
    """One step of training, compiled when it first runs; the parameters are overwritten."""

    def loss_of(parameters: list[Any], x: Any, t: Any) -> Any:
        scores = apply(model, parameters, x)
        chosen = jnp.take_along_axis(scores, t[:, None], axis=1)[:, 0]
        return jnp.mean(jax.nn.logsumexp(scores, axis=1) - chosen)

    def step(parameters: list[Any], x: Any, t: Any) -> Any:
        loss, gradients = jax.value_and_grad(loss_of)(parameters, x, t)
        new = [p - model.rate * g for p, g in zip(parameters, gradients, strict=True)]
        return loss, new

    return jax.jit(step, donate_argnums=0)


def arrays(model: Model) -> tuple[list[Any], Any, Any]:
    """Parameters, batch and classes, where JAX wants them."""
    x, t = model.data()
    parameters = [jnp.array(np.ascontiguousarray(p)) for p in turned(model.parameters())]
    return parameters, jnp.array(x), jnp.array(t)


def training(model: Model) -> Side:
    parameters, x, t = arrays(model)
    step = stepper(model)
    state: list[Any] = [None, parameters]

    def work() -> None:
        state[:] = step(state[1], x, t)
        jax.block_until_ready(state)

    def values() -> list[Array]:
        return [np.asarray(v) for v in [state[0], *turned(state[1])]]

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


def calling(function: Callable[..., Any], *arguments: Any) -> Side:
    results: list[Any] = [None]

    def work() -> None:
        results[0] = jax.block_until_ready(function(*arguments))

    return Side(work, lambda: [np.asarray(v) for v in results[0]])

"""Static arguments are Python's own: a trace for each value, an `if` and a `range` allowed."""

from functools import partial

import jax
import jax.numpy as jnp

seen = []


@partial(jax.jit, static_argnums=(1,))
def power(x, n):
    seen.append(n)
    y = 1.0
    for _ in range(n):
        y = y * x
    return y


@partial(jax.jit, static_argnames=["mode"])
def scaled(x, mode="twice"):
    return x * 2 if mode == "twice" else x


x = jnp.array([1.0, 2.0])
found = [power(x, 2), power(x + 1, 2), power(x, 3)]
try:
    jax.jit(lambda x, n: x, static_argnums=1)(x, [1])
except ValueError:
    unhashable = "ValueError"
answers = {
    "found": found,
    "traces": seen,
    "by name": [scaled(x), scaled(x, mode="once"), scaled(x, mode="twice")],
    "unhashable": unhashable,
    "gradient": jax.grad(lambda x: power(x, 3).sum())(x),
}

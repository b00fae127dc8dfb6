"""grad of grad of grad, plain and compiled."""

import jax
import jax.numpy as jnp


def f(x):
    return jnp.sin(x) * x**3


answers, g = {"0": f(2.0)}, f
for order in range(1, 4):
    g = jax.grad(g)
    answers[str(order)] = [g(2.0), jax.jit(g)(2.0)]

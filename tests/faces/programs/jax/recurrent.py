"""A cell along time with scan: one function for any length."""

import jax
import jax.numpy as jnp

W = jnp.array([[0.1, 0.2], [0.3, -0.4]])


def run(W, xs):
    step = lambda h, x: (jnp.tanh(x @ W + 0.5 * h),) * 2  # noqa: E731
    return jax.lax.scan(step, jnp.zeros(2), xs)


answers = {}
for length in (3, 7, 12):
    xs = jnp.stack([jnp.ones(length), jnp.arange(length) / 10], axis=1)
    last, outputs = jax.jit(run)(W, xs)
    slope = jax.grad(lambda W, xs=xs: run(W, xs)[0].sum())(W)
    answers[str(length)] = [last, outputs.shape, slope]

"""A loop along the first axis: what is carried, and what is collected."""

import jax
import jax.numpy as jnp

xs = jnp.array([1.0, 2.0, 3.0])


def total(start):
    last, sums = jax.lax.scan(lambda c, x: (c * x, c + x), start, xs)
    return last + sums.sum()


last, sums = jax.lax.scan(lambda c, x: (c + x, c + x), 0.0, xs)
answers = {
    "last": last,
    "sums": sums,
    "slope": jax.grad(total)(2.0),
    "backwards": jax.lax.scan(lambda c, x: (c + x, c), 0.0, xs, reverse=True)[1],
}

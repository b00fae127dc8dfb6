"""y = ReLU(W x + b): gradients by several arguments."""

import jax
import jax.numpy as jnp

W = jnp.array([[1.0, -2.0], [3.0, 4.0]])
x, b = jnp.array([1.0, 1.0]), jnp.array([0.5, -1.0])


def total(W, x, b):
    return jnp.sum(jax.nn.relu(W @ x + b))


answers = {
    "y": jax.nn.relu(jnp.dot(W, x) + b),
    "slopes": jax.grad(total, argnums=(0, 1, 2))(W, x, b),
}

"""Parameters in a dict; a step returns new ones and changes none."""

import jax
import jax.numpy as jnp

x = jnp.array([[0.0], [1.0], [2.0], [3.0]])
y = 2 * x + 1


def loss(params, x, y):
    return jnp.mean((x @ params["w"] + params["b"] - y) ** 2)


@jax.jit
def step(params, x, y):
    value, slopes = jax.value_and_grad(loss)(params, x, y)
    return jax.tree_util.tree_map(lambda p, g: p - 0.1 * g, params, slopes), value


params = {"w": jnp.array([[0.5]]), "b": jnp.array([0.0])}
first, losses = params, []
for _ in range(10):
    params, value = step(params, x, y)
    losses.append(value)
answers = {"losses": losses, "params": params, "untouched": first["w"]}

"""What a traced function does to the world happens once for each trace."""

import jax
import jax.numpy as jnp

world = []


@jax.jit
def f(x):
    world.append("ran")
    return x + 1


for n in range(3):
    f(jnp.array([1.0 * n]))
answers = {"ran": len(world)}

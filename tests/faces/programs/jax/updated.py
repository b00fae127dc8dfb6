"""Arrays never change: an update makes a new one."""

import jax
import jax.numpy as jnp

x = jnp.arange(4.0)
try:
    x[0] = 9.0
except TypeError as error:
    in_place = "x.at" in str(error)
y = x
y += 1
z = jnp.zeros((2, 3))
answers = {
    "in place": in_place,
    "x stays": x,
    "a new one": y,
    "set": x.at[0].set(9.0),
    "add": x.at[1:3].add(10.0),
    "multiply": x.at[-1].multiply(2.0),
    "twice": x.at[jnp.array([0, 0, 2])].add(1.0),
    "mask": x.at[x > 1].set(0.0),
    "row": z.at[1].set(jnp.array([1.0, 2.0, 3.0])),
    "place": z.at[0, 2].set(5.0),
    "smaller": [x.at[3].min(1.0), x.at[0].max(1.0)],
    "whole numbers": jnp.arange(3).at[1].set(7),
    "read": x.at[2].get(),
    "compiled": jax.jit(lambda x: x.at[0].set(x[1] * 10))(x),
    "slope": jax.grad(lambda x: (x.at[0].set(x[1] * 10) ** 2).sum())(x),
}

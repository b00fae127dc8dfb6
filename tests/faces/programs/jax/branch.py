"""A Python if: fine as it is, an error under jit, and cond is the way."""

import jax
import jax.numpy as jnp


def f(x):
    if x.sum() > 0:
        return 2 * x
    else:
        return x - 1


def g(x):
    return jax.lax.cond(x.sum() > 0, lambda x: 2 * x, lambda x: x - 1, x)


probe = jnp.array([-3.0])
answers = {"plain": f(probe), "cond": jax.jit(g)(probe), "other": jax.jit(g)(jnp.array([5.0]))}
try:
    jax.jit(f)(probe)
except jax.errors.TracerBoolConversionError:
    answers["under jit"] = "TracerBoolConversionError"

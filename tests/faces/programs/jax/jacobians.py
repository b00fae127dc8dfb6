"""All first and second derivatives."""

import jax
import jax.numpy as jnp

x = jnp.array([1.0, 2.0, 3.0])


def f(x):
    return jnp.stack([x[0] * x[1], jnp.sin(x[2])])


answers = {
    "rows": jax.jacrev(f)(x),
    "columns": jax.jacfwd(f)(x),
    "hessian": jax.hessian(lambda x: (x**3).sum() + x[0] * x[1])(x),
    "of a number": jax.jacrev(lambda x: x * x)(3.0),
}

"""How JAX writes a function down: arguments, one line for each operation, results."""

import jax
import jax.numpy as jnp


def text(f, *args):
    return str(jax.make_jaxpr(f)(*args))


answers = {
    "square": text(lambda x: x * x + 3.0, 2.0),
    "sine": text(lambda x: jnp.sin(x) * x, 2.0),
    "two": text(lambda x, y: x - y / x, 2.0, 3.0),
    "vectors": text(lambda x, y: x + y, jnp.ones(3), jnp.ones(3)),
    "exponential": text(lambda x: jnp.tanh(jnp.exp(-x)), jnp.ones((2, 3))),
    "several": text(lambda x: (x, x + 1.0), 2.0),
    "slope": text(jax.grad(lambda x: x * x), 3.0),
}

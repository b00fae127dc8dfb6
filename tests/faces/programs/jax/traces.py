"""A function is traced once for each shape and type; numbers do not count by value."""

import jax
import jax.numpy as jnp

seen = []


@jax.jit
def f(x):
    seen.append("trace")
    print("tracing")
    return x * 2


counts = []
for x in [jnp.ones(3), jnp.zeros(3), jnp.ones(4), 1.0, 2.0, 3.0, jnp.ones(3, dtype=jnp.int32)]:
    f(x)
    counts.append(len(seen))
answers = {"counts": counts, "result": f(jnp.ones(3))}

"""A key says which numbers; the same key, the same numbers."""

import jax

key = jax.random.PRNGKey(0)
first, second = jax.random.split(key)
a, b, c = (jax.random.normal(k, (3,)) for k in (first, first, second))
answers = {
    "same": bool((a == b).all()),
    "others": bool((a == c).all()),
    "shape": jax.random.uniform(key, (2, 3)).shape,
    "within": bool((jax.random.uniform(key, (9,), minval=2.0, maxval=3.0) >= 2).all()),
}

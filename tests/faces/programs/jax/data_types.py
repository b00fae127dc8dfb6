"""32 bits unless one asks for more."""

import jax.numpy as jnp
import numpy as np

answers = {
    "numbers": jnp.array([1.0]).dtype == jnp.float32,
    "whole": jnp.array([1]).dtype == jnp.int32,
    "from NumPy": jnp.array(np.zeros(2)).dtype == jnp.float32,
    "range": jnp.arange(3).dtype == jnp.int32,
    "place": jnp.argmax(jnp.ones(3)).dtype == jnp.int32,
    "scaled": (jnp.ones(2) * 2.5).dtype == jnp.float32,
    "mixed": (jnp.array([1]) + jnp.ones(1)).dtype == jnp.float32,
    "compared": (jnp.ones(2) > 0).dtype == jnp.bool_,
}

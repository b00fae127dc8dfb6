"""Where it runs, and waiting for it."""

import jax
import jax.numpy as jnp

x = jnp.ones(3)
answers = {
    "backend": jax.default_backend(),
    "count": [jax.device_count(), len(jax.devices())],
    "ready": x.block_until_ready().shape,
    "all ready": jax.block_until_ready({"a": x})["a"].shape,
    "put": isinstance(jax.device_put([1.0, 2.0][0]), jax.Array),
    "get": type(jax.device_get(x)).__name__,
    "checkpoint": jax.grad(jax.checkpoint(lambda x: jnp.sin(jnp.sin(x))))(1.0),
    "shape alone": jax.eval_shape(lambda x: x.sum(axis=0), jnp.ones((2, 3))).shape,
}

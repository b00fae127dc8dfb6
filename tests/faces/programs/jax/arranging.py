"""Axes: reshaped, exchanged, joined, cut, reduced."""

import jax.numpy as jnp

a = jnp.arange(6).reshape(2, 3)
f = jnp.linspace(0.0, 5.0, 6).reshape((2, 3))
answers = {
    "transpose": jnp.transpose(a),
    "concatenate": jnp.concatenate([a, a], axis=1),
    "stack": jnp.stack([a, a]).shape,
    "split": jnp.split(a, 3, axis=1),
    "expand": jnp.squeeze(jnp.expand_dims(a, 0)).shape,
    "max": jnp.max(f, axis=1, keepdims=True),
    "largest": jnp.max(f),
    "mean": jnp.mean(f, axis=0),
    "std": jnp.std(f),
    "where": jnp.where(f > 2, f, -f),
    "clip": jnp.clip(f, 1.0, 3.0),
    "tile": jnp.tile(a, (1, 2)),
    "sorted out": a[0, ::2],
}

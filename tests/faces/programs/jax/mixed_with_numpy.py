"""Arrays of NumPy beside JAX's: 32 bits come out."""

import jax
import jax.numpy as jnp
import numpy as np

theirs, ours = np.arange(3.0), jnp.arange(3.0)
both = [theirs + ours, ours * theirs, jnp.add(theirs, ours), jnp.sin(theirs)]
answers = {
    "types": [str(x.dtype) for x in both],
    "kinds": [isinstance(x, jax.Array) for x in both],
    "into jit": str(jax.jit(lambda x: x * 2)(theirs).dtype),
    "into grad": str(jax.grad(lambda x: (x**2).sum())(theirs).dtype),
    "asked for 64": str(jnp.array([1.0], dtype="float64").dtype),
    "whole": [str(jnp.array([1, 2]).dtype), str(jnp.arange(3).sum().dtype)],
    "halves": str((jnp.arange(3) / 2).dtype),
    "scaled": [str((jnp.arange(3) * 2.5).dtype), str((jnp.arange(3) * 2).dtype)],
    "numbers": [str(jnp.float32(2).dtype), str(jnp.int32(3).dtype)],
    "back": [type(np.asarray(ours)).__name__, ours.tolist(), float(ours[1])],
    "printed": [str(ours), repr(ours), f"{ours[1]:.2f}"],
    "new axis": ours[:, jnp.newaxis].shape,
    "constants": [jnp.pi, jnp.inf],
    "is an array": [isinstance(ours, jnp.ndarray), isinstance(theirs, jax.Array)],
}

"""JAX's activations: `jax.nn.relu`."""

from minigrad.faces.face import Face

__getattr__ = face = Face(
    "jax.nn",
    "gelu log_softmax logsumexp one_hot relu sigmoid softmax softplus",
)
__dir__ = face.names

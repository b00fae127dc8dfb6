"""A function of the user's own in JAX, as a graph of ours: forward, and backward by our rules."""

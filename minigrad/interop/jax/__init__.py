"""A user's JAX function as a minigrad graph: forward, and backward by our rules."""

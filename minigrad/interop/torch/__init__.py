"""A user's PyTorch model as a minigrad graph: forward, and backward by our rules."""

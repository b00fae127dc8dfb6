"""A model of the user's own in PyTorch, as a graph of ours: forward, and backward by our rules."""

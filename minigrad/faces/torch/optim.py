"""PyTorch's optimisers: `from minigrad.faces.torch import optim`."""

from minigrad.faces.face import Face

__getattr__ = face = Face("torch.optim", "SGD Adam AdamW Optimizer", of="optim")
__dir__ = face.names

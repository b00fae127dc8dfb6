"""PyTorch's optimisers: `from minigrad.faces.torch import optim`."""

from minigrad.faces.face import Compat

__getattr__ = face = Compat("torch.optim", "SGD Adam AdamW Optimizer", of="optim")
__dir__ = face.names

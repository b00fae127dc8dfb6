"""PyTorch's helpers: `from minigrad.faces.torch.utils.data import DataLoader`."""

from minigrad.faces.face import Compat
from minigrad.faces.torch.utils import data

__all__ = ["data"]

__getattr__ = face = Compat(
    "torch.utils",
    lacks={"mg.record()": "tensorboard bottleneck", "mg.nn.checkpoint(f)(x)": "checkpoint"},
)
__dir__ = face.names

"""PyTorch's utilities for networks: `torch.nn.utils.clip_grad_norm_`, `rnn.pad_sequence`."""

from minigrad.faces.face import Compat
from minigrad.faces.torch.nn.utils import rnn

__all__ = ["rnn"]

__getattr__ = face = Compat(
    "torch.nn.utils", "clip_grad_norm_=clip_grad_norm clip_grad_value_=clip_grad_value", of="optim"
)
__dir__ = face.names

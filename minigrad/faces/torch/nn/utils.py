"""What PyTorch does to the gradients of layers: `torch.nn.utils.clip_grad_norm_`."""

from minigrad.faces.face import Face

__getattr__ = face = Face(
    "torch.nn.utils",
    "clip_grad_norm_=clip_grad_norm clip_grad_value_=clip_grad_value",
    of="optim",
)
__dir__ = face.names

"""PyTorch's CUDA queries, which report no accelerator: `torch.cuda.is_available()`."""

from minigrad.faces.face import Compat

__getattr__ = face = Compat("torch.cuda", calls={"is_available()": "False", "device_count()": "0"})
__dir__ = face.names

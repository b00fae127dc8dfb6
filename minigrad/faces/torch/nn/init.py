"""PyTorch's weight initialisation: `nn.init.xavier_uniform_(layer.weight)`."""

from __future__ import annotations

import math
from typing import Any

import minigrad as mg
from minigrad.faces.face import Compat


def fill_tensor(tensor: Any, values: Any) -> Any:
    """Overwrite a tensor's values without recording; return it."""
    with mg.no_grad():
        tensor.copy_(values) if hasattr(values, "shape") else tensor.fill_(values)
    return tensor


def fans(tensor: Any) -> tuple[int, int]:
    """Return (fan_in, fan_out) of a weight: a kernel's window counts in both."""
    rows, columns, *window = tensor.shape
    return columns * math.prod(window), rows * math.prod(window)


def fill_normal(tensor: Any, std: float, mean: float = 0.0) -> Any:
    """Fill a tensor with normal values; return it."""
    return fill_tensor(tensor, mg.randn(*tensor.shape) * std + mean)


def fill_uniform(tensor: Any, low: float, high: float) -> Any:
    """Fill a tensor with uniform values in [low, high); return it."""
    return fill_tensor(tensor, mg.rand(*tensor.shape) * (high - low) + low)


HE = "tensor, a=0.0, mode='fan_in', nonlinearity='leaky_relu'"
GAIN = "math.sqrt(2 / (1 + a**2) if nonlinearity != 'linear' else 1)"
FAN = "math.sqrt(fans(tensor)[mode != 'fan_in'])"

__getattr__ = face = Compat(
    "torch.nn.init",
    calls={
        "constant_(tensor, val)": "fill_tensor(tensor, val)",
        f"kaiming_normal_({HE})": f"fill_normal(tensor, {GAIN} / {FAN})",
        f"kaiming_uniform_({HE})": (
            f"fill_uniform(tensor, -{GAIN} / {FAN} * math.sqrt(3), {GAIN} / {FAN} * math.sqrt(3))"
        ),
        "normal_(tensor, mean=0.0, std=1.0)": "fill_normal(tensor, std, mean)",
        "ones_(tensor)": "fill_tensor(tensor, 1.0)",
        "uniform_(tensor, a=0.0, b=1.0)": "fill_uniform(tensor, a, b)",
        "xavier_normal_(tensor, gain=1.0)": (
            "fill_normal(tensor, gain * math.sqrt(2 / sum(fans(tensor))))"
        ),
        "xavier_uniform_(tensor, gain=1.0)": (
            "fill_uniform(tensor, -gain * math.sqrt(6 / sum(fans(tensor))),"
            " gain * math.sqrt(6 / sum(fans(tensor))))"
        ),
        "zeros_(tensor)": "fill_tensor(tensor, 0.0)",
    },
    fans=fans,
    fill_tensor=fill_tensor,
    math=math,
    fill_normal=fill_normal,
    fill_uniform=fill_uniform,
)
__dir__ = face.names

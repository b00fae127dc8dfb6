"""PyTorch's layers as functions: `import minigrad.faces.torch.nn.functional as F`."""

from __future__ import annotations

from typing import Any

import minigrad as mg
from minigrad.faces.face import Compat
from minigrad.faces.ties import ops


def reduce_loss(loss: Any, weight: Any, reduction: str) -> Any:
    """Weight the loss of each element; return it, its mean or its sum, by `reduction`."""
    if reduction not in REDUCED:
        raise mg.ArgumentError(
            "option", op="binary_cross_entropy", value=reduction, choices=", ".join(REDUCED)
        )
    return REDUCED[reduction](loss if weight is None else loss * weight)


REDUCED = {"none": lambda loss: loss, "mean": mg.mean, "sum": mg.sum}

__getattr__ = face = Compat(
    "torch.nn.functional",
    "avg_pool2d batch_norm binary_cross_entropy_with_logits conv2d cross_entropy dropout embedding"
    " gelu l1_loss layer_norm log_softmax max_pool2d mse_loss nll_loss one_hot pad relu sigmoid"
    " softmax softplus tanh",
    of="nn.functional",
    calls={
        "binary_cross_entropy(input, target, weight=None, *, reduction='mean')": (
            "reduce_loss(ops.binary_cross_entropy(input, target), weight, reduction)"
        ),
        "elu(input, alpha=1.0)": "ops.corners.elu(input, alpha)",
        "leaky_relu(input, negative_slope=0.01)": (
            "mg.where(input > 0, input, negative_slope * input)"
        ),
        "linear(input, weight, bias=None)": (
            "input @ mg.transpose(weight) if bias is None else input @ mg.transpose(weight) + bias"
        ),
        "silu(input)": "input * mg.sigmoid(input)",
    },
    ops=ops,
    reduce_loss=reduce_loss,
)
__dir__ = face.names

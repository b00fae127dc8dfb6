"""Theano's functions for networks: `T.nnet.sigmoid`, `T.nnet.softmax`."""

from __future__ import annotations

from typing import Any

import numpy as np

import minigrad as mg
from minigrad.faces.face import Face
from minigrad.faces.theano.tensor.basic import real, symbolic, together


def rows(x: Any) -> Any:
    """Compute softmax of each row; a vector counts as one row."""
    found = real(x)
    return mg.softmax(mg.expand_dims(found, 0) if found.ndim == 1 else found, -1)


def cross_entropy(p: Any, target: Any) -> Any:
    """Compute cross-entropy of rows of probabilities; targets are class numbers or rows."""
    if target.ndim == 1:
        return -mg.squeeze(mg.gather(logarithm(p), mg.expand_dims(target, 1), 1), 1)
    x, y = together(p, target)
    return -mg.sum(y * logarithm(x), axis=x.ndim - 1)


def logarithm(x: mg.Node) -> Any:
    """Compute log x; use a stable form for sigmoid, 1 − sigmoid and softmax.

    Theano rewrites them like this before it compiles a function.
    """
    name, operands = str(x.op), x.inputs
    if name == "Sigmoid":
        return -mg.softplus(-operands[0])
    if name == "Softmax":
        return mg.log_softmax(operands[0], x.attrs.get("axis", -1))
    if name == "Sub" and str(operands[1].op) == "Sigmoid" and is_one(operands[0]):
        return -mg.softplus(operands[1].inputs[0])
    return mg.log(x)


def is_one(x: mg.Node) -> bool:
    """Return whether x is the constant 1."""
    return bool(np.all(x.attrs.get("value", 0) == np.ones((), x.dtype)))


def rectified(x: Any, alpha: Any) -> Any:
    """Compute ReLU as Theano does, from x and |x|: the gradient at 0 is the middle slope."""
    return (1 + alpha) * 0.5 * x + (1 - alpha) * 0.5 * mg.abs(x)


def convolved(x: Any, filters: Any, border_mode: Any, subsample: Any, filter_flip: bool) -> Any:
    """Convolve images with flipped kernels, or without the flip as `mg.conv2d` does."""
    kernel = mg.flip(filters, (2, 3)) if filter_flip else filters
    around: Any = 0 if border_mode == "valid" else border_mode
    if border_mode == "half":
        around = tuple(n // 2 for n in kernel.shape[2:])
    return mg.conv2d(x, kernel, stride=subsample, padding=around)


CONV = "input, filters, input_shape=None, filter_shape=None, border_mode='valid'"

__getattr__ = face = Face(
    "theano.tensor.nnet",
    calls={
        "binary_crossentropy(output, target)": (
            "-(target * logarithm(output) + (1 - target) * logarithm(1 - output))"
        ),
        "categorical_crossentropy(coding_dist, true_dist)": "entropy(coding_dist, true_dist)",
        f"conv2d({CONV}, subsample=(1, 1), filter_flip=True)": (
            "convolved(input, filters, border_mode, subsample, filter_flip)"
        ),
        "logsoftmax(x)": "mg.log_softmax(real(x), -1)",
        "relu(x, alpha=0)": "rectified(real(x), alpha)",
        "sigmoid(x)": "mg.sigmoid(real(x))",
        "softmax(c)": "rows(c)",
        "softplus(x)": "mg.softplus(real(x))",
    },
    lacks={"T.nnet.sigmoid(x)": "hard_sigmoid ultra_fast_sigmoid", "T.nnet.relu(x)": "elu selu"},
    around=symbolic,
    convolved=convolved,
    entropy=cross_entropy,
    logarithm=logarithm,
    real=real,
    rectified=rectified,
    rows=rows,
    together=together,
)
__dir__ = face.names

"""Theano's functions for networks: `T.nnet.sigmoid`, `T.nnet.softmax`."""

from __future__ import annotations

from typing import Any

import numpy as np

import minigrad as mg
from minigrad.faces.face import Compat
from minigrad.faces.theano.tensor.basic import on_variables, promote, to_float


def softmax_rows(x: Any) -> Any:
    """Compute softmax of each row; a vector counts as one row."""
    found = to_float(x)
    return mg.softmax(mg.expand_dims(found, 0) if found.ndim == 1 else found, -1)


def cross_entropy(p: Any, target: Any) -> Any:
    """Compute cross-entropy of rows of probabilities; targets are class numbers or rows."""
    if target.ndim == 1:
        return -mg.squeeze(mg.gather(stable_log(p), mg.expand_dims(target, 1), 1), 1)
    x, y = promote(p, target)
    return -mg.sum(y * stable_log(x), axis=x.ndim - 1)


def stable_log(x: mg.Node) -> Any:
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


def relu_by_abs(x: Any, alpha: Any) -> Any:
    """Compute ReLU as Theano does, from x and |x|: the gradient at 0 is the middle slope."""
    return (1 + alpha) * 0.5 * x + (1 - alpha) * 0.5 * mg.abs(x)


def convolve(x: Any, filters: Any, border_mode: Any, subsample: Any, filter_flip: bool) -> Any:
    """Convolve images with flipped kernels, or without the flip as `mg.conv2d` does."""
    kernel = mg.flip(filters, (2, 3)) if filter_flip else filters
    around: Any = 0 if border_mode == "valid" else border_mode
    if border_mode == "half":
        around = tuple(n // 2 for n in kernel.shape[2:])
    return mg.conv2d(x, kernel, stride=subsample, padding=around)


CONV = "input, filters, input_shape=None, filter_shape=None, border_mode='valid'"

__getattr__ = face = Compat(
    "theano.tensor.nnet",
    calls={
        "binary_crossentropy(output, target)": (
            "-(target * stable_log(output) + (1 - target) * stable_log(1 - output))"
        ),
        "categorical_crossentropy(coding_dist, true_dist)": "entropy(coding_dist, true_dist)",
        f"conv2d({CONV}, subsample=(1, 1), filter_flip=True)": (
            "convolve(input, filters, border_mode, subsample, filter_flip)"
        ),
        "logsoftmax(x)": "mg.log_softmax(to_float(x), -1)",
        "relu(x, alpha=0)": "relu_by_abs(to_float(x), alpha)",
        "sigmoid(x)": "mg.sigmoid(to_float(x))",
        "softmax(c)": "softmax_rows(c)",
        "softplus(x)": "mg.softplus(to_float(x))",
    },
    lacks={"T.nnet.sigmoid(x)": "hard_sigmoid ultra_fast_sigmoid", "T.nnet.relu(x)": "elu selu"},
    around=on_variables,
    convolve=convolve,
    entropy=cross_entropy,
    stable_log=stable_log,
    to_float=to_float,
    relu_by_abs=relu_by_abs,
    softmax_rows=softmax_rows,
    promote=promote,
)
__dir__ = face.names

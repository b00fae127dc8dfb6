"""PyTorch's layers: `from minigrad.faces.torch import nn`."""

from __future__ import annotations

from typing import Any

import minigrad as mg
from minigrad.faces.face import Face
from minigrad.faces.torch.nn import functional, init, utils

__all__ = ["Sequential", "functional", "init", "utils"]


class Sequential(mg.nn.Sequential):
    """Layers one after the other, by their numbers or, of an OrderedDict, by their names."""

    def __init__(self, *modules: Any) -> None:
        named = modules[0] if len(modules) == 1 and isinstance(modules[0], dict) else None
        named = named or {str(i): module for i, module in enumerate(modules)}
        super().__init__(*named.values())
        self.layers = dict(named)


__getattr__ = face = Face(
    "torch.nn",
    "AvgPool2d BCEWithLogitsLoss BatchNorm1d BatchNorm2d Conv2d CrossEntropyLoss Dropout Embedding"
    " Flatten GELU GRU GRUCell Identity L1Loss LSTM LSTMCell LayerNorm Linear MSELoss MaxPool2d"
    " Module ModuleList NLLLoss Parameter RNN RNNCell ReLU Sigmoid Softmax Tanh",
    of="nn",
    lacks={
        "F.leaky_relu(x)": "LeakyReLU",
        "F.log_softmax(x, dim=1)": "LogSoftmax",
        "F.silu(x)": "SiLU",
        "F.softplus(x)": "Softplus",
        "nn.BCEWithLogitsLoss()": "BCELoss",
        "x.mean(dim=(2, 3))": "AdaptiveAvgPool2d",
    },
)
__dir__ = face.names

"""Layers: a model is written once and called with a tensor or with a graph node."""

import sys
from typing import TYPE_CHECKING, Any

from minigrad.diagnostics import foreign
from minigrad.hybrid.buffers import updates
from minigrad.nn import functional
from minigrad.nn.activations import GELU, ReLU, Sigmoid, Softmax, Tanh
from minigrad.nn.layers import (
    AvgPool2d,
    Conv2d,
    Dropout,
    Embedding,
    Flatten,
    Identity,
    Linear,
    MaxPool2d,
)
from minigrad.nn.losses import BCEWithLogitsLoss, CrossEntropyLoss, L1Loss, MSELoss, NLLLoss
from minigrad.nn.module import Module, ModuleList, Sequential
from minigrad.nn.norms import BatchNorm1d, BatchNorm2d, LayerNorm
from minigrad.nn.parameter import Parameter as Parameter
from minigrad.nn.recurrent import GRU, LSTM, RNN, GRUCell, LSTMCell, RNNCell

__all__ = [
    "GELU",
    "GRU",
    "LSTM",
    "RNN",
    "AvgPool2d",
    "BCEWithLogitsLoss",
    "BatchNorm1d",
    "BatchNorm2d",
    "Conv2d",
    "CrossEntropyLoss",
    "Dropout",
    "Embedding",
    "Flatten",
    "GRUCell",
    "Identity",
    "L1Loss",
    "LSTMCell",
    "LayerNorm",
    "Linear",
    "MSELoss",
    "MaxPool2d",
    "Module",
    "ModuleList",
    "NLLLoss",
    "RNNCell",
    "ReLU",
    "Sequential",
    "Sigmoid",
    "Softmax",
    "Tanh",
    "functional",
    "updates",
]

for _layer in (Flatten, LayerNorm, Softmax):
    foreign.answer_keywords(_layer)
for _name in __all__:
    _layer = globals()[_name]
    if isinstance(_layer, type) and _layer not in (Module, ModuleList, Sequential):
        foreign.answer_arguments(_layer)

if not TYPE_CHECKING:  # which knows what is missing

    def __getattr__(name: str) -> Any:
        raise foreign.missing("mg.nn", name, sys.modules[__name__], foreign.LAYERS)

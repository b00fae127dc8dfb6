"""Layers: a model is written once and called with a tensor or with a graph node."""

from minigrad.nn import functional
from minigrad.nn.activations import GELU, ReLU, Sigmoid, Softmax, Tanh
from minigrad.nn.buffers import updates
from minigrad.nn.layers import (
    AvgPool2d,
    Conv2d,
    Dropout,
    Embedding,
    Flatten,
    Linear,
    MaxPool2d,
)
from minigrad.nn.module import Module, Sequential
from minigrad.nn.norms import BatchNorm1d, BatchNorm2d, LayerNorm
from minigrad.nn.recurrent import GRU, LSTM, RNN, GRUCell, LSTMCell, RNNCell

__all__ = [
    "GELU",
    "GRU",
    "LSTM",
    "RNN",
    "AvgPool2d",
    "BatchNorm1d",
    "BatchNorm2d",
    "Conv2d",
    "Dropout",
    "Embedding",
    "Flatten",
    "GRUCell",
    "LSTMCell",
    "LayerNorm",
    "Linear",
    "MaxPool2d",
    "Module",
    "RNNCell",
    "ReLU",
    "Sequential",
    "Sigmoid",
    "Softmax",
    "Tanh",
    "functional",
    "updates",
]

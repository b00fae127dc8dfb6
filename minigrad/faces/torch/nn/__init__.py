"""PyTorch's layers: `from minigrad.faces.torch import nn`."""

from minigrad.faces.face import Face
from minigrad.faces.torch.nn import functional, utils

__all__ = ["functional", "utils"]

__getattr__ = face = Face(
    "torch.nn",
    "AvgPool2d BCEWithLogitsLoss BatchNorm1d BatchNorm2d Conv2d CrossEntropyLoss Dropout Embedding"
    " Flatten GELU GRU GRUCell Identity L1Loss LSTM LSTMCell LayerNorm Linear MSELoss MaxPool2d"
    " Module ModuleList NLLLoss Parameter RNN RNNCell ReLU Sequential Sigmoid Softmax Tanh",
    of="nn",
)
__dir__ = face.names

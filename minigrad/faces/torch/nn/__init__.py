"""PyTorch's layers: `from minigrad.faces.torch import nn`."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import minigrad as mg
from minigrad.faces.face import Compat
from minigrad.faces.torch.nn import functional, init, utils
from minigrad.faces.torch.tensors import as_torch

__all__ = ["BCELoss", "Module", "Parameter", "Sequential", "functional", "init", "utils"]


class Module(mg.nn.Module):
    """A part of a model, whose parameters and buffers behave like PyTorch's tensors."""

    def __setattr__(self, name: str, value: Any) -> None:
        as_torch(value)  # which changes their class, not the list that holds them
        super().__setattr__(name, value)

    def state_dict(self) -> Any:
        """Return all parameters and buffers by name, as tensors that share their memory."""
        return OrderedDict((name, x.detach()) for name, x in self._state().items())

    def load_state_dict(self, values: Any) -> None:
        """Overwrite all parameters and buffers in place; if one does not fit, none of them."""
        held = [(x, x.detach()) for x in self._state().values()]
        super().load_state_dict(values)
        for x, memory in held:
            x.data = memory.copy_(x.detach())

    def apply(self, fn: Callable[[Any], Any]) -> Any:
        """Call a function with each submodule, and with this module last."""
        for child in self.children():
            Module.apply(child, fn)  # type: ignore[arg-type]
        fn(self)
        return self


class Parameter(mg.nn.Parameter):
    """A trained tensor, which shares memory with the tensor that it is made of."""

    def __new__(cls, data: Any, requires_grad: bool = True) -> Any:
        shared = data.detach() if isinstance(data, mg.Tensor) else mg.tensor(data)
        return as_torch(shared.requires_grad_(requires_grad))


def as_torch_module(layer: type) -> type:
    """Turn a layer class of minigrad into a subclass of this module's Module."""
    if not issubclass(layer, mg.nn.Module):
        return layer
    made = type(layer.__name__, (Module, layer), {"__doc__": layer.__doc__})
    made.__module__ = __name__
    return made


class Sequential(Module, mg.nn.Sequential):
    """Layers applied in order, named by number or by the keys of an OrderedDict."""

    def __init__(self, *modules: Any) -> None:
        named = modules[0] if len(modules) == 1 and isinstance(modules[0], dict) else None
        named = named or {str(i): module for i, module in enumerate(modules)}
        super().__init__(*named.values())
        self.layers = dict(named)


class BCELoss(Module):
    """Cross-entropy between probabilities; the logarithms are at least -100."""

    def __init__(self, weight: Any = None, *, reduction: str = "mean") -> None:
        super().__init__()
        self.weight, self.reduction = weight, reduction

    def forward(self, input: Any, target: Any) -> Any:
        """Return the loss of each element, their mean or their sum, by `reduction`."""
        of_each = functional.face("binary_cross_entropy")
        return of_each(input, target, self.weight, reduction=self.reduction)


__getattr__ = face = Compat(
    "torch.nn",
    "AvgPool2d BCEWithLogitsLoss BatchNorm1d BatchNorm2d Conv2d CrossEntropyLoss Dropout Embedding"
    " Flatten GELU GRU GRUCell Identity L1Loss LSTM LSTMCell LayerNorm Linear MSELoss MaxPool2d"
    " ModuleList NLLLoss RNN RNNCell ReLU Sigmoid Softmax Tanh",
    of="nn",
    classes=as_torch_module,
    lacks={
        "F.leaky_relu(x)": "LeakyReLU",
        "F.log_softmax(x, dim=1)": "LogSoftmax",
        "F.silu(x)": "SiLU",
        "F.softplus(x)": "Softplus",
        "x.mean(dim=(2, 3))": "AdaptiveAvgPool2d",
    },
)
__dir__ = face.names

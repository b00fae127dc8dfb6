"""CNTK's layers: `C.layers.Dense(10, activation=C.relu)`."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from typing import Any

import minigrad as mg
from minigrad.faces.cntk.axes import TRAINING
from minigrad.faces.cntk.functions import Function, apply, as_function, matmul
from minigrad.faces.cntk.recurrence import (
    GRU,
    LSTM,
    UNSET,
    Fold,
    Recurrence,
    RNNStep,
    default_options,
    get_option,
    glorot,
    init_parameter,
)
from minigrad.faces.face import Compat

__all__ = [
    "GRU",
    "LSTM",
    "Convolution2D",
    "Dense",
    "Dropout",
    "Embedding",
    "Fold",
    "For",
    "MaxPooling",
    "RNNStep",
    "Recurrence",
    "Sequential",
    "default_options",
]

Shape = tuple[int, ...]


class Layer(ABC):
    """A function with parameters, which are created when it is first applied."""

    name = ""
    W: Any = None
    b: Any = None

    def __call__(self, x: Any) -> Any:
        found = self.apply(as_function(x))
        if self.name:
            found.parts[self.name] = self
        return found

    @abstractmethod
    def apply(self, x: Function) -> Function:
        """Return the layer's result for an operand."""

    def __rshift__(self, other: Callable[..., Any]) -> Sequential:
        return Sequential([self, other])


class Dropout(Layer):
    """A layer that zeroes some elements and scales up the others, only in a trainer's steps."""

    def __init__(self, dropout_rate: float, name: str = "") -> None:
        self.name, self.own = name, mg.nn.Dropout(dropout_rate)

    def apply(self, x: Function) -> Function:
        return apply(lambda v: mg.where(mg.greater(TRAINING, 0), self.own(v), v), x)


class Dense(Layer):
    """A dense layer: activation(x W + b)."""

    def __init__(
        self,
        shape: Any,
        activation: Any = UNSET,
        init: Any = UNSET,
        bias: Any = UNSET,
        init_bias: Any = 0,
        name: str = "",
    ) -> None:
        self.shape = (shape,) if isinstance(shape, int) else tuple(shape)
        self.activation = get_option("activation", activation)
        self.init = get_option("init", init, glorot)
        self.bias = get_option("bias", bias, True)
        self.init_bias, self.name = init_bias, name

    def apply(self, x: Function) -> Function:
        width = math.prod(x.shape)
        if self.W is None:
            self.W = init_parameter((*x.shape, *self.shape), self.init, "W")
            self.b = init_parameter(self.shape, self.init_bias, "b") if self.bias else None
        out, lead = math.prod(self.shape), () if x.axis is None else (-1,)

        def multiply(v: Any, w: Any) -> Any:
            y = mg.matmul(mg.reshape(v, (*lead, width)), mg.reshape(w, (width, out)))
            return mg.reshape(y, (*lead, *self.shape))

        y = apply(multiply, x, self.W)
        y = y + self.b if self.bias else y
        return self.activation(y) if self.activation else y


class Embedding(Layer):
    """A lookup of a table's row by a one-hot vector; `weights`: a table that isn't trained."""

    E: Any = None

    def __init__(
        self, shape: Any = None, init: Any = UNSET, weights: Any = None, name: str = ""
    ) -> None:
        self.shape = (shape,) if isinstance(shape, int) else shape
        self.init, self.name = get_option("init", init, glorot), name
        self.E = None if weights is None else as_function(weights)

    def apply(self, x: Function) -> Function:
        if self.E is None:
            self.E = init_parameter((*x.shape, *self.shape), self.init, "E")
        return matmul(x, self.E)


class Convolution2D(Layer):
    """A convolution of (channels, height, width)."""

    def __init__(
        self,
        filter_shape: Shape,
        num_filters: int,
        activation: Any = UNSET,
        init: Any = UNSET,
        pad: Any = UNSET,
        strides: Any = 1,
        bias: Any = UNSET,
        init_bias: Any = 0,
        name: str = "",
    ) -> None:
        self.filter_shape, self.num_filters, self.strides = filter_shape, num_filters, strides
        self.activation = get_option("activation", activation)
        self.init = get_option("init", init, glorot)
        self.pad, self.bias = get_option("pad", pad, False), get_option("bias", bias, True)
        self.init_bias, self.name = init_bias, name

    def apply(self, x: Function) -> Function:
        if self.W is None:
            self.W = init_parameter(
                (self.num_filters, x.shape[0], *self.filter_shape), self.init, "W"
            )
            self.b = (
                init_parameter((self.num_filters, 1, 1), self.init_bias, "b") if self.bias else None
            )
        padding = "same" if self.pad else "valid"
        y = apply(lambda v, w: mg.conv2d(v, w, None, self.strides, padding), x, self.W)
        y = y + self.b if self.bias else y
        return self.activation(y) if self.activation else y


class MaxPooling(Layer):
    """The maximum of each full window of (channels, height, width)."""

    def __init__(self, filter_shape: Any, strides: Any = 1, name: str = "") -> None:
        self.filter_shape, self.strides, self.name = filter_shape, strides, name

    def apply(self, x: Function) -> Function:
        return apply(lambda v: mg.max_pool2d(v, self.filter_shape, self.strides), x)


class Sequential(Layer):
    """Apply functions one after another; those of a tuple all get the same input."""

    def __init__(self, layers: Iterable[Any], name: str = "") -> None:
        self.layers, self.name = [*layers], name

    def apply(self, x: Any) -> Any:
        for layer in self.layers:
            given = x if isinstance(x, tuple) else (x,)
            if isinstance(layer, tuple):
                x = tuple(f(given[i % len(given)]) for i, f in enumerate(layer))
            else:
                x = (Sequential(layer) if isinstance(layer, list) else layer)(*given)
        return x

    def __getitem__(self, i: int) -> Any:
        return self.layers[i]


def For(what_range: Iterable[int], constructor: Callable[..., Any], name: str = "") -> Sequential:
    """Build a Sequential with one layer for each number, each made by the constructor."""
    takes = constructor.__code__.co_argcount > 0
    return Sequential([constructor(i) if takes else constructor() for i in what_range], name)


__getattr__ = face = Compat(
    "C.layers",
    calls={
        "glorot_uniform(seed=None)": "lambda shape: glorot(shape, seed)",
        "identity(keep)": "keep",
    },
    lacks={
        "C.layers.Recurrence(C.layers.LSTM(n), initial_state=(h, c))": "RecurrenceFrom UnfoldFrom",
        "C.sequence.delay(x)": "Delay PastValueWindow",
        "C.layers.Convolution2D(filter_shape, num_filters)": (
            "Convolution Convolution1D Convolution3D ConvolutionTranspose"
        ),
        "C.layers.MaxPooling(filter_shape, strides)": "AveragePooling GlobalMaxPooling",
        "mg.nn.BatchNorm1d(n)": "BatchNormalization LayerNormalization Stabilizer",
    },
    glorot=glorot,
)
__dir__ = face.names

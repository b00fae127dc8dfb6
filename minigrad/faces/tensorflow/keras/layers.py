"""Keras' layers, which create their variables at their first input."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import minigrad as mg
from minigrad.faces.face import Compat
from minigrad.faces.tensorflow.modules import Module
from minigrad.faces.tensorflow.nn import conv2d
from minigrad.faces.tensorflow.tensors import Variable, as_tf, tensor_function

__all__ = ["Conv2D", "Dense", "Dropout", "Flatten", "Layer", "ReLU"]

ACTIVATIONS: dict[str, Callable[..., Any]] = {
    "linear": lambda x: x,
    "relu": mg.relu,
    "sigmoid": mg.sigmoid,
    "softmax": mg.softmax,
    "tanh": mg.tanh,
}


def get_activation(named: Any) -> Callable[..., Any]:
    """Return an activation by its name; a function is used as it is."""
    return tensor_function(ACTIVATIONS.get(named or "linear", named))


class Layer(Module):
    """A layer; subclasses define `build(input_shape)` and `call(x)`."""

    built = False

    def build(self, input_shape: Any) -> None:
        """Make the variables, now that the shape of the input is known."""

    def call(self, x: Any) -> Any:
        """Return the layer's output for x; subclasses override it."""
        return x

    def __call__(self, x: Any, **options: Any) -> Any:
        if not self.built:
            self.build(x.shape)
            self.built = True
        takes = self.call.__code__.co_varnames[: self.call.__code__.co_argcount]
        return self.call(x, **{key: given for key, given in options.items() if key in takes})


class Dense(Layer):
    """A dense layer: activation(x W + b), W of shape (in, out): glorot_uniform, b: 0."""

    def __init__(self, units: int, activation: Any = None, use_bias: bool = True) -> None:
        self.units, self.use_bias = units, use_bias
        self.activation = get_activation(activation)

    def build(self, input_shape: Any) -> None:
        width = input_shape[-1]
        bound = (6 / (width + self.units)) ** 0.5
        self.kernel = Variable((mg.rand(width, self.units) * 2 - 1) * bound, name="kernel")
        if self.use_bias:
            self.bias = Variable(mg.zeros(self.units), name="bias")

    def call(self, x: Any) -> Any:
        y = x @ self.kernel
        return self.activation(y + self.bias if self.use_bias else y)


class Conv2D(Layer):
    """A convolution of channels-last images: activation(conv(x, kernel) + b)."""

    def __init__(
        self,
        filters: int,
        kernel_size: int | tuple[int, int],
        strides: int = 1,
        padding: str = "valid",
        activation: Any = None,
    ) -> None:
        self.filters, self.strides, self.padding = filters, strides, padding
        self.size = (kernel_size,) * 2 if isinstance(kernel_size, int) else kernel_size
        self.activation = get_activation(activation)

    def build(self, input_shape: Any) -> None:
        shape = (*self.size, input_shape[-1], self.filters)
        bound = (6 / (math.prod(shape[:3]) + math.prod(self.size) * self.filters)) ** 0.5
        self.kernel = Variable((mg.rand(*shape) * 2 - 1) * bound, name="kernel")
        self.bias = Variable(mg.zeros(self.filters), name="bias")

    def call(self, x: Any) -> Any:
        y = conv2d(x, self.kernel, self.strides, self.padding.upper())
        return self.activation(y + self.bias)


class Flatten(Layer):
    """A layer that merges all axes but the first."""

    def call(self, x: Any) -> Any:
        return as_tf(mg.flatten(x, 1))


class ReLU(Layer):
    """The rectifier: max(x, 0)."""

    def call(self, x: Any) -> Any:
        return as_tf(mg.relu(x))


class Dropout(Layer):
    """A layer that, in training, sets each element to 0 with this probability."""

    def __init__(self, rate: float) -> None:
        self.rate = rate

    def call(self, x: Any, training: bool = False) -> Any:
        return as_tf(mg.dropout(x, self.rate, training))


__getattr__ = face = Compat("tf.keras.layers")
__dir__ = face.names

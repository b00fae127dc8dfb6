"""The supported part of Keras: `tf.keras.Sequential`, `layers`, `losses`, `optimizers`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from minigrad.faces.face import Compat
from minigrad.faces.tensorflow.keras import layers, losses, optimizers

__all__ = ["Model", "Sequential", "layers", "losses", "optimizers"]


class Model(layers.Layer):
    """A model; subclasses create layers and define `call(x)`."""

    @property
    def weights(self) -> list[Any]:
        """The variables of all layers."""
        return [*self.variables]

    def __getattr__(self, name: str) -> Any:
        raise face.error_for(name)


class Sequential(Model):
    """Layers applied one after the other."""

    def __init__(self, layers: Sequence[Any] = ()) -> None:
        self.layers = [*layers]

    def add(self, layer: Any) -> None:
        """Add a layer after the others."""
        self.layers.append(layer)

    def call(self, x: Any, training: bool = False) -> Any:
        """Return the last layer's output."""
        for layer in self.layers:
            x = layer(x, training=training) if isinstance(layer, layers.Layer) else layer(x)
        return x


__getattr__ = face = Compat(
    "tf.keras",
    lacks={
        "with tf.GradientTape() as tape: ...": "compile fit evaluate",
        "model(x)": "predict",
        "tf.keras.Sequential([...])": "Input",
    },
)
__dir__ = face.names

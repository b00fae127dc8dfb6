"""A stranger's model that reads text in images: what it needs besides its graph."""

from __future__ import annotations

import importlib
from importlib.util import find_spec

import numpy as np

import minigrad as mg

__all__ = ["Guest"]

STEP = np.float32(0.02)  # a hundredth of the way from white to black
MODEL = "/models/ch_PP-OCRv4_rec_infer.onnx"


class Guest:
    """An image of handwritten digits in a row, and what the guest's model says of it.

    `digits` are those of the tour, `image` is what the model takes: they, enlarged. `path` is
    where the package `rapidocr-onnxruntime` keeps the model; without the package, AttributeError.

    >>> Guest("2026").image.shape
    (1, 3, 48, 192)
    """

    def __init__(self, text: str) -> None:
        data = mg.data.digits()
        self.digits = [data.x_train[data.y_train == int(sign)][0] for sign in text]
        ink = np.concatenate(np.kron(self.digits, np.ones((1, 6, 6))), axis=1)
        self.image = np.broadcast_to(2 * ink - 1, (1, 3, *ink.shape)).astype(np.float32)

    @property
    def path(self) -> str:
        return str(find_spec("rapidocr_onnxruntime").submodule_search_locations[0]) + MODEL  # type: ignore[union-attr,index]

    @property
    def signs(self) -> list[str]:
        """What the model can tell at each place, nothing first; the file has the list."""
        kept = importlib.import_module("onnx").load(self.path).metadata_props[0].value
        return ["", *kept.split("\n")]

    def read(self, model: mg.Graph, slope: mg.Node | None = None) -> str:
        """The text that the model sees; slope: by its sign, each pixel first takes a small step."""
        image = self.image
        if slope is not None:
            uphill = mg.run(mg.build_graph(model.inputs, slope), {model.inputs[0]: image})
            image = image + STEP * np.sign(uphill, dtype=np.float32)
        best = mg.run(model, {model.inputs[0]: image})[0].argmax(axis=1)
        return "".join(self.signs[i] for i in best)

    def likeness(self, model: mg.Graph, sign: str) -> mg.Node:
        """How much the last digit looks like a sign: the logarithm of its probability, a node."""
        likeness: mg.Node = mg.log(model.outputs[0][0, 21, self.signs.index(sign)])
        return likeness

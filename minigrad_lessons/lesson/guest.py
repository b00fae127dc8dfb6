"""Someone else's model that reads text in images, and what it needs besides its graph."""

from __future__ import annotations

import importlib
import os
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

import minigrad as mg

__all__ = ["Guest"]

STEP = np.float32(0.02)  # a hundredth of the way from white to black
KEPT = Path(__file__).with_suffix(".npz")  # the step that made a 5 of the 6 of "2026"
MODEL = "/models/ch_PP-OCRv4_rec_infer.onnx"


class Guest:
    """An image of handwritten digits in a row, and what the guest's model says of it.

    `digits` are those of the tour, `image` is what the model takes: they, enlarged. `path` is
    where the package `rapidocr-onnxruntime` keeps the model; without the package, AttributeError.
    `direction` says which way each pixel went when `read` took a step.

    >>> Guest("2026").image.shape
    (1, 3, 48, 192)
    """

    def __init__(self, text: str) -> None:
        data = mg.data.digits()
        self.digits = [data.x_train[data.y_train == int(sign)][0] for sign in text]
        ink = np.concatenate(np.kron(self.digits, np.ones((1, 6, 6))), axis=1)
        self.direction = np.zeros((), np.int8)
        self.image = np.broadcast_to(2 * ink - 1, (1, 3, *ink.shape)).astype(np.float32)

    @property
    def path(self) -> str:
        return str(find_spec("rapidocr_onnxruntime").submodule_search_locations[0]) + MODEL  # type: ignore[union-attr,index]

    @property
    def signs(self) -> list[str]:
        """The characters the model can recognise, "" (none) first; the list is in the file."""
        kept = importlib.import_module("onnx").load(self.path).metadata_props[0].value
        return ["", *kept.split("\n")]

    def read(self, model: mg.Graph, slope: mg.Node | None = None) -> str:
        """Return the text that the model reads; with a slope, after a small step along its sign."""
        image = self.image
        if slope is not None:
            uphill = mg.run(mg.build_graph(model.inputs, slope), {model.inputs[0]: image})
            self.direction = np.sign(uphill).astype(np.int8)
            image = image + STEP * self.direction
        best = mg.run(model, {model.inputs[0]: image})[0].argmax(axis=1)
        return "".join(self.signs[i] for i in best)

    def steps(self, file: str | os.PathLike[str]) -> tuple[list[Any], list[str]]:
        """Return the image before and after the small step, and the step times 50, with labels.

        file: where `direction` was saved after `read`; without it, the step that was kept.
        """
        if Path(file).exists():
            direction = np.load(file)
        else:
            with np.load(KEPT) as kept:
                direction = kept["direction"]
        step = STEP * direction
        shown = [x[0].mean(axis=0) for x in (self.image, self.image + step, 50 * step)]
        return shown, ["2026", "2025", "× 50"]

    def likeness(self, model: mg.Graph, sign: str) -> mg.Node:
        """Return a node for the log-probability that the last digit is this sign."""
        likeness: mg.Node = mg.log(model.outputs[0][0, 21, self.signs.index(sign)])
        return likeness

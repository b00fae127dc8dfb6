"""One picture for each hand-out: a graph of the lesson, drawn as the lesson draws it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import minigrad as mg
import viz

EYE = np.eye(3, dtype=np.float32)


def dynamic(f: Callable[..., Any], **values: object) -> viz.Drawing:
    """The graph that a call leaves behind, with its values."""
    return viz.draw(f(*(mg.tensor(x, requires_grad=True, name=n) for n, x in values.items())))


def static(f: Callable[..., Any], **shapes: tuple[int, ...]) -> viz.Drawing:
    """The plan of a formula, for inputs of these shapes."""
    with mg.Graph():
        inputs = [mg.placeholder(name, shape=shape) for name, shape in shapes.items()]
        return viz.draw(mg.build_graph(inputs, f(*inputs)))


def weighted(x: mg.Node) -> mg.Node:
    return mg.Variable(3.0, name="w") * x


def classifier(x: mg.Node) -> mg.Node:
    return x @ mg.Variable(mg.zeros(784, 10), name="W") + mg.Variable(mg.zeros(10), name="b")


def masked(x: mg.Node, lengths: mg.Node) -> mg.Node:
    return mg.where(mg.arange(3) < lengths, x, 0.0).sum(axis=1)


def entropy(x: mg.Node) -> mg.Node:
    share = x / mg.sum(x)
    return share * mg.log(share)


def towers(photo: mg.Node, text: mg.Node) -> mg.Node:
    return mg.relu(photo @ EYE) * mg.exp(mg.tanh(text))


DRAWN: dict[str, Callable[[], viz.Drawing]] = {
    "L00": lambda: dynamic(lambda x: x * x + 3, x=2.0),
    "L01": lambda: static(lambda a: (a + 3) - a * 2, a=()),
    "L02": lambda: dynamic(lambda x: x * x + x, x=3.0),
    "L03": lambda: dynamic(lambda x: x * x + 3, x=2.0),
    "L04": lambda: static(weighted, x=()),
    "L05": lambda: static(lambda x: mg.cond(x > 0, lambda: 2 * x, lambda: x - 1), x=()),
    "L06": lambda: static(masked, x=(4, 3), lengths=(4, 1)),
    "L07": lambda: static(entropy, x=(2,)),
    "L08": lambda: static(lambda x: mg.exp(x) / mg.sum(mg.exp(x)), x=(4,)),
    "L09": lambda: static(lambda x: mg.sum(mg.tanh(mg.tanh(mg.tanh(x)))), x=(16_000,)),
    "L10": lambda: static(towers, photo=(3, 3), text=(3, 3)),
    "L11": lambda: static(classifier, x=(64, 784)),
    "L12": lambda: static(lambda x: mg.mean(x * x) + 3, x=(3,)),
    "L13": lambda: static(lambda x: mg.tanh(mg.sqrt(x * x + 1) * 2 - x / 3), x=(16,)),
    "L14": lambda: static(lambda x: mg.softmax(mg.relu(x @ EYE), axis=1), x=(2, 3)),
    "L15": lambda: static(lambda x: x * 2 + 1, x=(4,)),
}

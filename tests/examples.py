"""Small programs that many tests and the examples of all views draw, step through or run."""

from __future__ import annotations

from typing import Any

import numpy as np

import minigrad as mg


def e1(number: float = 2.0) -> mg.Tensor:
    """y = x·x + 3 on the tape."""
    x = mg.tensor(number, requires_grad=True, name="x")
    return x * x + 3


def e2() -> mg.Graph:
    """The same as a static graph."""
    with mg.Graph():
        x = mg.placeholder("x")
        return mg.build_graph(x, x * x + 3)


def e5() -> mg.Tensor:
    """relu(W x + b) on the tape."""
    W = mg.tensor([[1.0, -2.0], [3.0, 4.0]], requires_grad=True, name="W")
    x = mg.tensor([1.0, 1.0], requires_grad=True, name="x")
    b = mg.tensor([0.5, -1.0], requires_grad=True, name="b")
    return mg.relu(W @ x + b)


def digits() -> tuple[mg.Tensor, mg.Node]:
    """The loss of a small network on the tape, and as a node."""
    model = mg.nn.Sequential(
        mg.nn.Linear(64, 32, seed=1), mg.nn.ReLU(), mg.nn.Linear(32, 10, seed=2)
    )
    image = mg.tensor(np.ones((4, 64), np.float32), name="image")
    label = mg.tensor(np.arange(4), name="label")
    with mg.Graph():
        images = mg.placeholder("image", shape=(None, 64))
        labels = mg.placeholder("label", shape=(None,), dtype=mg.int64)
        static = mg.cross_entropy(model(images), labels)
    return mg.cross_entropy(model(image), label), static


def branch_and_loop() -> mg.Graph:
    """2x or x − 1, then doubled three times."""
    with mg.Graph():
        x = mg.placeholder("x", shape=())
        y = mg.cond(x > 0, lambda v: v * 2, lambda v: v - 1, x)
        _, z = mg.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a * 2), (0, y))
        return mg.build_graph(x, z)


def unrolled(steps: int) -> mg.Tensor:
    """A cell that is called once for each element of a sequence."""
    cell = mg.nn.RNNCell(3, 2, seed=0)
    h = mg.tensor([[0.5, -0.5]], name="h")
    for t in range(steps):
        h = cell(mg.tensor([[t + 1.0, -1.0, 0.5]], name=f"x{t}"), h)
    return h.sum()


def branch(x: Any) -> Any:
    """E10: 2x where the sum is positive, else x − 1."""
    return mg.cond(mg.sum(x) > 0, lambda v: v * 2, lambda v: v - 1, x)


def loop(steps: int) -> mg.Graph:
    """x to the power of `steps`."""
    with mg.Graph():
        x = mg.placeholder("x", shape=())
        one = mg.constant(1.0)
        _, power = mg.while_loop(lambda i, a: i < steps, lambda i, a: (i + 1, a * x), (0, one))
        return mg.build_graph(x, power)

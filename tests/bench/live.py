"""How many arrays of a layer's size are alive at the peak of a training step: counted, not timed.

NumPy tells `tracemalloc` of each array, so the peak is exact, for the tape and for planned memory.
"""

from __future__ import annotations

import math
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
from measure import Side

import minigrad as mg

LAYERS = 48
SIZE = 1 << 20  # so large that nothing else counts: 4 MiB


def tanh(x: Any, layers: int = LAYERS) -> Any:
    """Layers that the gradient needs the results of."""
    for _ in range(layers):
        x = mg.tanh(x)
    return x


def linear(x: Any, layers: int = LAYERS) -> Any:
    """Layers that the gradient needs nothing of."""
    for _ in range(layers):
        x = x * 1.01
    return x


def eager(layers: Callable[[Any], Any]) -> Side:
    x = mg.tensor(np.ones(SIZE, np.float32), requires_grad=True)

    def step() -> None:
        x.grad = None
        layers(x).sum().backward()

    return Side(lambda: peak(step))


def compiled(layers: Callable[[Any], Any], executor: str) -> Side:
    """The arena of the program and what the run takes beyond it."""
    return planned(built(layers), executor)


def recomputed(count: int) -> Side:
    """The same for so many tanh layers in memory that grows with their square root."""
    budget = 4 * SIZE * (math.ceil(2 * math.sqrt(count)) + 1)
    graph = built(lambda x: tanh(x, count))
    return planned(graph.optimize([mg.passes.recompute(budget), *mg.passes.PIPELINE]), "numpy")


def built(layers: Callable[[Any], Any]) -> Any:
    with mg.Graph():
        x = mg.placeholder("x", shape=(SIZE,))
        return mg.build_graph(x, mg.gradients(mg.sum(layers(x)), x)[0])


def planned(graph: Any, executor: str) -> Side:
    feeds = {"x": np.ones(SIZE, np.float32)}

    def step() -> None:
        graph.compile(executor=executor)(feeds)

    return Side(lambda: peak(step))


def peak(step: Callable[[], None]) -> float:
    """The most that is alive while it runs, in arrays of one layer, with what it returns."""
    step()
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    try:
        step()
        most = tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()
    return round(most / (4 * SIZE), 1)

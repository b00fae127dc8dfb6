"""How many arrays are alive at the peak of a training step, counted by the allocator itself.

NumPy reports every array to `tracemalloc`, so nothing that the engine holds can hide.
"""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import minigrad as mg

LAYERS = 48
SIZE = 1 << 16  # elements; so large that records of the tape do not count


def tanh(x: Any) -> Any:
    """The gradient of each layer needs its result: 48 arrays must be kept."""
    for _ in range(LAYERS):
        x = mg.tanh(x)
    return x


def linear(x: Any) -> Any:
    """The gradient of these layers needs none of their results."""
    for _ in range(LAYERS):
        x = x * 1.01
    return x


def peak(step: Callable[[], object]) -> float:
    """The most that is alive while it runs, in arrays of one layer, apart from what was before."""
    step()  # what is made once is made now
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        step()
        return (tracemalloc.get_traced_memory()[1] - before) / (4 * SIZE)
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(("layers", "kept"), [(tanh, LAYERS), (linear, 0)])
def test_the_tape_keeps_what_its_rules_read_and_little_more(
    layers: Callable[[Any], Any], kept: int
) -> None:
    x = mg.tensor(np.ones(SIZE, np.float32), requires_grad=True)

    def step() -> None:
        x.grad = None
        layers(x).sum().backward()

    found = peak(step)
    assert kept <= found <= kept + 4.5, "half an array is for the records of the tape"


def test_a_tape_that_kept_more_would_be_noticed() -> None:
    x, held = mg.tensor(np.ones(SIZE, np.float32), requires_grad=True), list[Any]()

    def step() -> None:
        held.clear()
        y = x
        for _ in range(LAYERS):
            y = y * 1.01
            held.append(y)
        y.sum().backward()

    assert peak(step) > LAYERS


@pytest.mark.parametrize(("layers", "kept"), [(tanh, LAYERS - 2), (linear, 0)])
def test_a_program_needs_less_than_the_tape(layers: Callable[[Any], Any], kept: int) -> None:
    with mg.Graph():
        x = mg.placeholder("x", shape=(SIZE,))
        graph = mg.build_graph(x, mg.gradients(mg.sum(layers(x)), x)[0])
    program = graph.compile()
    feeds = {x: np.ones(SIZE, np.float32)}
    program(feeds)
    assert program.plan.bytes <= (kept + 2) * 4 * SIZE
    assert peak(lambda: program(feeds)) <= 2.5, "the result, and nothing else is made anew"

"""What a static graph costs for each of its nodes: to build, differentiate, optimise, prepare, run.

Both lengths stand side by side: where the time for the longer is 10 times that for the shorter, the
work is linear.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import minigrad as mg

Works = dict[str, Callable[[], object]]


def collect() -> Iterator[tuple[str, int, Works]]:
    """Name, repetitions within a round, and what is done; the longer graph first."""
    for name, phase in (
        ("build", chain),
        ("differentiate", differentiate),
        ("optimise", optimise),
        ("prepare and run", run),
    ):
        works = {f"{n:,} nodes": phase(n) for n in (30_000, 3_000)}
        yield f"static chain: {name}", 1, works


def build(n: int) -> tuple[Any, Any]:
    with mg.Graph():
        x = y = mg.placeholder("x", shape=())
        for _ in range(n // 2):
            y = y * x
            y = y + x
    return x, y


def chain(n: int) -> Callable[[], object]:
    return lambda: build(n)


def differentiate(n: int) -> Callable[[], object]:
    def work() -> None:
        x, y = build(n)
        mg.gradients(y, x)

    return work


def optimise(n: int) -> Callable[[], object]:
    graph = mg.build_graph(*build(n))
    return lambda: graph.optimize()


def run(n: int) -> Callable[[], object]:
    graph = mg.build_graph(*build(n))
    return lambda: mg.run(graph, {"x": 1.0})

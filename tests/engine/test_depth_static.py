"""Long and wide static graphs: every phase is linear in their size and recurses into nothing.

Linear is shown by the number of calls per node, which is the same on every machine; times are in
the benchmark. Sizes count the nodes of the graph with its gradients.
"""

from __future__ import annotations

import gc
import inspect
import sys
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import minigrad as mg
from minigrad.static.run import Interpreter

Built = tuple[mg.Node, mg.Node]
NEAR = 1.1  # calls per node, of a graph four times as large


def chain(n: int) -> Built:
    """y = x − y, again and again: x, 0, x, 0, …"""
    x = mg.placeholder("x", shape=(), dtype=mg.float64)
    y = x
    for _ in range(n // 2):
        y = x + -y
    return x, y


def fan(n: int) -> Built:
    """n products of one x, summed up in pairs: x is read by half of the nodes."""
    x = mg.placeholder("x", shape=(), dtype=mg.float64)
    level: list[Any] = [x * x for _ in range(n // 2)]
    while len(level) > 1:
        rest = level[len(level) // 2 * 2 :]
        level = [a + b for a, b in zip(level[::2], level[1::2], strict=False)] + rest
    return x, level[0]


SHAPES: dict[str, Callable[[int], Built]] = {"chain": chain, "fan": fan}


def expected(shape: str, n: int, x: float) -> list[float]:
    """The result and its derivative."""
    return [x * x * (n // 2), x * n] if shape == "fan" else [float(n % 4 == 0) * x, n % 4 == 0]


@pytest.fixture(autouse=True)
def shallow() -> Iterator[None]:
    """Any recursion over nodes ends at once: there is room for a few calls only."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(len(inspect.stack(0)) + 60)
    yield
    sys.setrecursionlimit(limit)


def phases(shape: str, n: int, folder: Path) -> Iterator[tuple[str, Callable[[], Any]]]:
    """What is done with a graph, one after the other; the results are checked in between."""
    kept: dict[str, Any] = {}

    def build() -> None:
        kept["x"], kept["y"] = SHAPES[shape](n)

    def differentiate() -> None:
        kept["dx"] = mg.gradients(kept["y"], kept["x"])[0]

    def freeze() -> None:
        kept["graph"] = mg.build_graph(kept["x"], [kept["y"], kept["dx"]])

    def plan() -> None:
        kept["program"] = Interpreter(kept["graph"].outputs)

    def run() -> None:
        kept["found"] = kept["program"]({kept["x"]: np.float64(0.5)}, {})

    def optimise() -> None:
        kept["better"] = kept["graph"].optimize()

    def copy() -> None:
        kept["copy"] = kept["graph"].replace({})

    def save() -> None:
        kept["graph"].save(folder / "graph")

    def load() -> None:
        kept["loaded"] = mg.load_graph(folder / "graph")

    with mg.Graph():
        yield "build", build
        yield "differentiate", differentiate
        yield "freeze", freeze
        assert len(kept["graph"].nodes) >= 2 * n - 2
        yield "plan", plan
        yield "run", run
        assert kept["found"] == expected(shape, n, 0.5)
        yield "optimise", optimise
        assert mg.run(kept["better"], {"x": 0.5}) == kept["found"]
        yield "copy", copy
        yield "verify", kept["graph"].verify
        yield "text", kept["graph"].text
        yield "save", save
        yield "load", load
    assert mg.run(kept["loaded"], {"x": 0.5}) == kept["found"]
    assert kept["loaded"].hash() == kept["graph"].hash()
    alive = [weakref.ref(kept[name]) for name in ("y", "dx", "graph", "better", "copy", "loaded")]

    def free() -> None:
        kept.clear()
        gc.collect()  # nodes and their graph refer to each other

    yield "free", free
    assert [ref() for ref in alive] == [None] * len(alive)


def called(shape: str, n: int, folder: Path) -> dict[str, float]:
    """Python functions called per node in each phase."""
    found = {}
    for name, phase in phases(shape, n, folder):
        count = 0

        def see(frame: Any, event: str, argument: Any) -> None:
            nonlocal count
            count += event in ("call", "c_call")

        sys.setprofile(see)
        try:
            phase()
        finally:
            sys.setprofile(None)
        found[name] = count / n
    return found


@pytest.mark.exhaustive
@pytest.mark.parametrize(("shape", "n"), [("chain", 4_000), ("fan", 500)])
def test_a_deep_graph_and_a_wide_one(shape: str, n: int, tmp_path: Path) -> None:
    """Built, differentiated, run, copied, saved, loaded and freed; more would recurse no deeper.

    No phase has room for more than 60 calls, so that the graphs of the next test, which walks the
    same phases, recurse as deep as a fault needs; here they are deeper.
    """
    names = []
    for name, phase in phases(shape, n, tmp_path):
        phase()
        names.append(name)
    assert names[-1] == "free", "the phases check what they made"


@pytest.mark.parametrize("shape", SHAPES)
def test_the_work_is_proportional_to_the_number_of_nodes(shape: str, tmp_path: Path) -> None:
    small, large = (called(shape, n, tmp_path) for n in (96, 384))
    grown = {name: large[name] / small[name] for name in small if large[name] > 0.1}
    assert len(grown) >= 9
    assert max(grown.values()) < NEAR, grown


def test_what_is_not_linear_is_seen(tmp_path: Path) -> None:
    def quadratic(n: int) -> int:
        return sum(len(str(i)) for i in range(n) for _ in range(i // 100))

    counts = []
    for n in (1_000, 4_000):
        count = 0

        def see(frame: Any, event: str, argument: Any) -> None:
            nonlocal count
            count += 1

        sys.setprofile(see)
        quadratic(n)
        sys.setprofile(None)
        counts.append(count / n)
    assert counts[1] / counts[0] > NEAR


def test_recursion_is_seen() -> None:
    def visit(node: mg.Node) -> int:
        return 1 + sum(visit(x) for x in node.inputs[-1:])

    with mg.Graph(), pytest.raises(RecursionError):
        visit(chain(1_000)[1])

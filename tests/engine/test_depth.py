"""Long and wide dynamic graphs: no recursion, and work that grows with the number of nodes."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import minigrad as mg
from minigrad.dynamic.fast_paths import PLAIN

N = 5_000 if PLAIN else 100_000  # the plain way takes longer, and must not recurse either


@pytest.fixture(autouse=True)
def shallow() -> Iterator[None]:
    """Recursion over the nodes would hit this at once."""
    frames, frame = 0, sys._getframe()
    while frame.f_back is not None:
        frames, frame = frames + 1, frame.f_back
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(frames + 200)
    yield
    sys.setrecursionlimit(limit)


def chain(n: int) -> tuple[Any, Any]:
    x = y = mg.tensor(1.0, requires_grad=True)
    for _ in range(n // 2):
        y = y + x
        y = y * 0.5
    return x, y


def fan(n: int) -> tuple[Any, Any]:
    """One value used n times."""
    x = mg.tensor(1.0, requires_grad=True)
    total = x * 1.0
    for _ in range(n // 2):
        total = total + x * 0.5
    return x, total


def leaves(n: int) -> tuple[Any, Any]:
    xs = [mg.tensor(1.0, requires_grad=True) for _ in range(n)]
    total = xs[0]
    for x in xs[1:]:
        total = total + x
    return xs[-1], total


@pytest.mark.parametrize(
    ("build", "n", "slope"), [(chain, N, 1), (fan, N // 5, 1 + N // 20), (leaves, N // 5, 1)]
)
def test_a_hundred_thousand_nodes(build: Callable[[int], Any], n: int, slope: float) -> None:
    """Of the others fewer do: their sums are chains, too."""
    x, y = build(n)
    y.backward()
    assert x.grad.item() == pytest.approx(slope, rel=1e-3)
    del y, x  # freeing recurses no more than the rest
    gc.collect()


@pytest.mark.parametrize("build", [chain, fan, leaves])
def test_work_grows_with_the_number_of_nodes(build: Callable[[int], Any]) -> None:
    """Calls of functions, in Python and in C: as many per node for a graph ten times as large."""

    def calls_per_node(n: int) -> float:
        count = 0

        def counted(frame: Any, event: str, argument: Any) -> None:
            nonlocal count
            count += event in ("call", "c_call")

        before = sys.getprofile()
        sys.setprofile(counted)
        try:
            _, y = build(n)
            y.backward()
            del y
        finally:
            sys.setprofile(before)
        return count / n

    calls_per_node(100)  # the first time writes rules out
    small, large = calls_per_node(N // 100), calls_per_node(N // 10)
    assert large < 1.1 * small
    assert small > 1, "something was counted"


def test_second_order_of_a_long_chain() -> None:
    x = mg.tensor(1.0, requires_grad=True)
    y = x
    links = 1000 if PLAIN else 5000
    for _ in range(links):
        y = y * 0.9999 + x * x * 1e-4
    (dx,) = mg.grad(y, [x], create_graph=True)
    (ddx,) = mg.grad(dx, [x])
    assert ddx.item() == pytest.approx(2e-4 * sum(0.9999**k for k in range(links)), rel=1e-3)

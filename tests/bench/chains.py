"""Long graphs of little work: what a node costs, dynamic or static."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from measure import Make, Side

import minigrad as mg

Array = np.ndarray[Any, Any]
START = 1.00001


# ---- Dynamic: the same lines for every engine -------------------------------------------------


def expression(engine: Any) -> Side:
    tensor = engine.tensor
    last: list[Any] = [None, None]

    def work() -> None:
        x = tensor(2.0, requires_grad=True)
        y = x * x + 3
        y.backward()
        last[:] = y, x

    return Side(work, lambda: [last[0].item(), last[1].grad.item()])


def expression_by_hand() -> Side:
    last: list[Any] = [None, None]

    def work() -> None:
        x = np.float32(2.0)
        last[:] = x * x + 3, x + x

    return Side(work, lambda: list(last))


def recorded(build: Callable[[Any, int], Any], engine: Any, count: int) -> Side:
    """Build from one number in `count` operations, walk back; figures are for one operation."""
    last: list[Any] = [None, None]

    def work() -> None:
        x = engine.tensor(START, requires_grad=True)
        y = build(x, count)
        y.backward()
        last[:] = y.item(), x

    return Side(work, lambda: [last[0], last[1].grad.item()], per=count)


def chain(x: Any, count: int) -> Any:
    """Every operation reads the one before it and x."""
    y, step = x, 0.5 / count
    for _ in range(count // 2):
        y = y * x
        y = y + step
    return y


def dag(x: Any, count: int) -> Any:
    """Every value is used twice: each mean of the last two."""
    a, b = x, x * 0.5
    for _ in range((count - 1) // 3):
        a, b = b, a * 0.5 + b * 0.5
    return b


def chain_by_hand(count: int) -> Side:
    """The recurrence and its derivative, both ways, on numbers of NumPy."""
    last: list[Any] = [None, None]

    def work() -> None:
        x, step = np.float32(START), np.float32(0.5 / count)
        y, saved = x, []
        for _ in range(count // 2):
            saved.append(y)
            y = y * x + step
        g, dx = np.float32(1), np.float32(0)
        for y_before in reversed(saved):
            dx = dx + g * y_before
            g = g * x
        last[:] = y, dx + g

    return Side(work, lambda: list(last), per=count)


def tanh_chain(engine: Any) -> Side:
    """1,000 times tanh on 64 numbers."""
    x = engine.tensor(np.linspace(-1, 1, 64, dtype=np.float32), requires_grad=True)

    def work() -> None:
        x.grad = None
        y = x
        for _ in range(1000):
            y = y.tanh()
        y.sum().backward()

    return Side(work, lambda: [x.grad.numpy()], per=1000)


def products(engine: Any) -> Side:
    """100 products of (4, 16) and (16, 16), each with relu."""
    drawn = np.random.default_rng(0)
    x = engine.tensor(drawn.standard_normal((4, 16)).astype(np.float32))
    w = engine.tensor((drawn.standard_normal((16, 16)) / 4).astype(np.float32), requires_grad=True)

    def work() -> None:
        w.grad = None
        y = x
        for _ in range(100):
            y = (y @ w).relu()
        y.sum().backward()

    return Side(work, lambda: [w.grad.numpy()], per=100)


SMALL_LAYERS = 50


def small_arrays() -> tuple[Array, Array, Array]:
    """What goes in, the weights and the bias of the small layers, all 8 × 8."""
    drawn = np.random.default_rng(0)
    x, w, b = (drawn.standard_normal((8, 8)).astype(np.float32) for _ in range(3))
    return x, w / np.float32(np.sqrt(8)), b


def small(engine: Any) -> Side:
    """50 times tanh(y @ w + b), the gradients of w and b."""
    first, *rest = small_arrays()
    x = engine.tensor(first)
    w, b = (engine.tensor(v, requires_grad=True) for v in rest)

    def work() -> None:
        w.grad = b.grad = None
        y = x
        for _ in range(SMALL_LAYERS):
            y = (y @ w + b).tanh()
        y.sum().backward()

    return Side(work, lambda: [w.grad.numpy(), b.grad.numpy()])


def small_by_hand() -> Side:
    """All values in one array, the gradient of w in one product at the end."""
    x, w, b = small_arrays()
    values = np.empty((SMALL_LAYERS + 1, 8, 8), np.float32)
    slopes = np.empty((SMALL_LAYERS, 8, 8), np.float32)
    transposed = np.ascontiguousarray(w.T)
    values[0] = x
    last: list[Any] = []

    def work() -> None:
        for i in range(SMALL_LAYERS):
            y = values[i + 1]
            np.dot(values[i], w, out=y)
            np.add(y, b, out=y)
            np.tanh(y, out=y)
        np.multiply(values[1:], values[1:], out=slopes)
        np.subtract(1, slopes, out=slopes)
        for i in range(SMALL_LAYERS - 1, 0, -1):
            np.multiply(slopes[i - 1], np.dot(slopes[i], transposed), out=slopes[i - 1])
        rows = values[:-1].reshape(-1, 8)
        last[:] = rows.T @ slopes.reshape(-1, 8), slopes.sum(0)

    return Side(work, lambda: list(last))


# ---- Static: what a node costs before it runs -------------------------------------------------


def static_chain(count: int) -> tuple[Any, Any]:
    with mg.Graph():
        x = mg.placeholder("x", shape=())
        return x, chain(x, count)


def differentiated(x: Any, y: Any) -> Any:
    return mg.build_graph(x, [y, mg.gradients(y, x)[0]])


def prepared(count: int) -> Side:
    """Build a chain of so many operators, differentiate it, and optimise the whole."""
    return Side(lambda: differentiated(*static_chain(count)).optimize(), per=count)


def phases(count: int) -> dict[str, Make]:
    """The same in its parts, and the first run with its plan."""

    def differentiate() -> Side:
        return Side(lambda: differentiated(*static_chain(count)), per=count)

    def optimise() -> Side:
        graph = differentiated(*static_chain(count))
        return Side(graph.optimize, per=count)

    def run() -> Side:
        graph = differentiated(*static_chain(count)).optimize()
        return Side(lambda: mg.run(graph, {"x": START}), per=count)

    return {
        "minigrad, build": lambda: Side(lambda: static_chain(count), per=count),
        "minigrad, build and differentiate": differentiate,
        "minigrad, optimise": optimise,
        "minigrad, plan and run": run,
    }

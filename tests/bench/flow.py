"""Branches and loops: the same functions on tensors, where Python walks them, and in a graph."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from measure import Side
from mine import running

import minigrad as mg

STEPS = 50
Function = Callable[..., Any]


def scanned(xs: Any, h: Any, w: Any) -> Any:
    return mg.scan(lambda h, x: (mg.tanh(h @ w + x), None), h, xs)[0]


def repeated(x: Any) -> Any:
    return mg.while_loop(lambda k, v: k < STEPS, lambda k, v: (k + 1, mg.tanh(v) + v), (0, x))[1]


def chosen(x: Any) -> Any:
    return mg.cond(x.sum() > 0, lambda: x * 2 + 1, lambda: x - 1)


def drawn(*shapes: tuple[int, ...]) -> list[Any]:
    draw = np.random.default_rng(0)
    return [draw.standard_normal(shape, np.float32) / 4 for shape in shapes]


def eager(f: Function, *shapes: tuple[int, ...]) -> Side:
    xs, found = [mg.tensor(x) for x in drawn(*shapes)], list[Any]()

    def work() -> None:
        found[:] = [f(*xs)]

    return Side(work, lambda: [found[0].numpy()])


def compiled(f: Function, *shapes: tuple[int, ...]) -> Side:
    with mg.Graph():
        xs = [mg.placeholder(f"x{i}", shape) for i, shape in enumerate(shapes)]
        graph = mg.build_graph(xs, f(*xs))
    names = [x.name for x in xs]
    return running(graph, dict(zip(names, drawn(*shapes), strict=True)), "numpy")

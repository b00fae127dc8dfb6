"""Networks whose graph differs from sample to sample: sequences and trees, one after the other."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import minigrad as mg

HIDDEN, VOCABULARY = 64, 20
LENGTHS = range(5, 51, 5)
Works = dict[str, Callable[[], object]]
Tree = Any  # a word, or a pair of trees


def collect(engines: dict[str, Any]) -> Iterator[tuple[str, int, Works]]:
    """Name, repetitions within a round, and what each side does; ours first."""
    for name, make in (
        ("RNN, 10 sequences of 5 to 50 steps, hidden 64", sequences),
        ("10 random trees of 4 to 19 words, hidden 64", trees),
    ):
        eager = {f"{side} eager": make(engine) for side, engine in engines.items()}
        yield name, 1, eager
        lazy = {"minigrad lazily batched": lazily(make(mg, summed=True))}
        yield f"{name}, in one batch", 1, lazy | eager


def lazily(work: Callable[[], object]) -> Callable[[], object]:
    def batched() -> None:
        with mg.lazy_batch():
            work()

    return batched


def parameters(engine: Any) -> list[Any]:
    drawn = np.random.default_rng(0)
    shapes = [(HIDDEN, HIDDEN), (HIDDEN, HIDDEN), (HIDDEN,)]
    values = [(drawn.standard_normal(s) / 8).astype(np.float32) for s in shapes]
    return [engine.tensor(v, requires_grad=True) for v in values]


def rows(engine: Any, count: int, seed: int) -> list[Any]:
    drawn = np.random.default_rng(seed)
    return [
        engine.tensor(drawn.standard_normal((1, HIDDEN)).astype(np.float32)) for _ in range(count)
    ]


def learn(losses: list[Any], weights: list[Any], summed: bool) -> None:
    """Walk each graph back, or the sum of all of them at once."""
    if summed:
        sum(losses[1:], losses[0]).backward()
    for w in weights:
        w.grad = None


def sequences(engine: Any, summed: bool = False) -> Callable[[], object]:
    w, u, b = weights = parameters(engine)
    data = [rows(engine, n, n) for n in LENGTHS]
    start = engine.tensor(np.zeros((1, HIDDEN), np.float32))

    def work() -> None:
        losses = []
        for xs in data:
            h = start
            for x in xs:
                h = (x @ w.T + h @ u.T + b).tanh()
            losses.append(h.sum())
            if not summed:
                losses[-1].backward()
        learn(losses, weights, summed)

    return work


def trees(engine: Any, summed: bool = False) -> Callable[[], object]:
    w, u, b = weights = parameters(engine)
    words = rows(engine, VOCABULARY, 1)
    draw = random.Random(0)
    forest = [tree(draw, draw.randrange(4, 20)) for _ in range(10)]

    def value(t: Tree) -> Any:
        return words[t] if type(t) is int else (value(t[0]) @ w + value(t[1]) @ u + b).tanh()

    def work() -> None:
        losses = []
        for t in forest:
            losses.append(value(t).sum())
            if not summed:
                losses[-1].backward()
        learn(losses, weights, summed)

    return work


def tree(draw: random.Random, leaves: int) -> Tree:
    if leaves == 1:
        return draw.randrange(VOCABULARY)
    left = draw.randrange(1, leaves)
    return tree(draw, left), tree(draw, leaves - left)

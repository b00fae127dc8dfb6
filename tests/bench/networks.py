"""Networks whose graph differs from sample to sample: sequences and trees.

Ours and PyTorch's tutorials run the same lines, one sample after the other. By hand means NumPy
with the backward pass written out; lazily batched means all samples of a batch noted first, each
word as one call of a traced cell, and run in groups. Who knows PyTorch or JAX packs or pads the
sequences; those are in their own modules.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
from measure import Side

import minigrad as mg

HIDDEN, VOCABULARY = 64, 20
LENGTHS = range(5, 51, 5)
Array = np.ndarray[Any, Any]
Tree = Any  # a word, or a pair of trees
Cell = Callable[[Any, Any], Any]
Network = tuple[Callable[[list[Any]], Cell], Callable[[Cell], Any]]  # its cell, and its losses


def drawn(*shape: int, seed: int) -> Array:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def parameters() -> list[Array]:
    shapes = [(HIDDEN, HIDDEN), (HIDDEN, HIDDEN), (HIDDEN,)]
    return [drawn(*s, seed=i) / np.float32(8) for i, s in enumerate(shapes)]


def trained(engine: Any, network: Network, lazily: bool = False) -> Side:
    """Walk back from each loss as it comes; lazily from their sum, when all are noted."""
    weights = [engine.tensor(v, requires_grad=True) for v in parameters()]
    cell_of, losses = network
    cell = mg.function(cell_of(weights)) if lazily else cell_of(weights)

    def work() -> None:
        for w in weights:
            w.grad = None
        if lazily:
            with mg.lazy_batch():
                all_of_them = list(losses(cell))
                sum(all_of_them[1:], all_of_them[0]).backward()
        else:
            for loss in losses(cell):
                loss.backward()

    return Side(work, lambda: [w.grad.numpy() for w in weights])


def recurrent(engine: Any) -> Network:
    data = [[engine.tensor(drawn(1, HIDDEN, seed=100 * n + i)) for i in range(n)] for n in LENGTHS]
    start = engine.tensor(np.zeros((1, HIDDEN), np.float32))

    def cell_of(weights: list[Any]) -> Cell:
        w, u, b = weights
        return lambda x, h: (x @ w.T + h @ u.T + b).tanh()

    def losses(cell: Cell) -> Any:
        for xs in data:
            h = start
            for x in xs:
                h = cell(x, h)
            yield h.sum()

    return cell_of, losses


def sequences(engine: Any, lazily: bool = False) -> Side:
    return trained(engine, recurrent(engine), lazily)


def unrecorded(engine: Any) -> Side:
    """The way forward alone, with weights for which nothing is recorded."""
    weights = [engine.tensor(v, requires_grad=True) for v in parameters()]
    cell_of, losses = recurrent(engine)
    cell = cell_of(weights)
    results: list[Any] = []

    def work() -> None:
        with engine.no_grad():
            results[:] = losses(cell)

    return Side(work, lambda: [y.numpy() for y in results])


def sequences_by_hand() -> Side:
    """Inputs of a sequence in one product, weight gradients too; the loop does the rest."""
    w, u, b = parameters()
    data = [np.concatenate([drawn(1, HIDDEN, seed=100 * n + i) for i in range(n)]) for n in LENGTHS]
    gradients = [np.zeros_like(p) for p in (w, u, b)]

    def work() -> None:
        for g in gradients:
            g[...] = 0
        for x in data:
            given = x @ w.T + b
            h = np.zeros((len(x) + 1, HIDDEN), np.float32)
            for i, row in enumerate(given):
                np.tanh(row + u @ h[i], out=h[i + 1])
            slopes = 1 - h[1:] * h[1:]
            g = np.ones(HIDDEN, np.float32)
            for i in range(len(x) - 1, -1, -1):
                slopes[i] *= g
                g = slopes[i] @ u
            gradients[0][...] += slopes.T @ x
            gradients[1][...] += slopes.T @ h[:-1]
            gradients[2][...] += slopes.sum(axis=0)

    return Side(work, lambda: gradients)


def forest() -> list[Tree]:
    draw = random.Random(0)
    return [tree(draw, draw.randrange(4, 20)) for _ in range(10)]


def tree(draw: random.Random, leaves: int) -> Tree:
    if leaves == 1:
        return draw.randrange(VOCABULARY)
    left = draw.randrange(1, leaves)
    return tree(draw, left), tree(draw, leaves - left)


def trees(engine: Any, lazily: bool = False) -> Side:
    words = [engine.tensor(drawn(1, HIDDEN, seed=i)) for i in range(VOCABULARY)]
    wood = forest()

    def cell_of(weights: list[Any]) -> Cell:
        w, u, b = weights
        return lambda left, right: (left @ w + right @ u + b).tanh()

    def losses(cell: Cell) -> Any:
        def value(t: Tree) -> Any:
            return words[t] if type(t) is int else cell(value(t[0]), value(t[1]))

        return (value(t).sum() for t in wood)

    return trained(engine, (cell_of, losses), lazily)


def trees_by_hand() -> Side:
    """Each tree as a flat list of joins, children first; weight gradients in one product."""
    w, u, b = parameters()
    words = np.concatenate([drawn(1, HIDDEN, seed=i) for i in range(VOCABULARY)])
    plans = [joins(t) for t in forest()]
    gradients = [np.zeros_like(p) for p in (w, u, b)]

    def work() -> None:
        for g in gradients:
            g[...] = 0
        for plan in plans:
            count = VOCABULARY + len(plan)
            h = np.empty((count, HIDDEN), np.float32)
            h[:VOCABULARY] = words
            for i, (left, right) in enumerate(plan, VOCABULARY):
                np.tanh(h[left] @ w + h[right] @ u + b, out=h[i])
            g = np.zeros((count, HIDDEN), np.float32)
            g[-1] = 1
            for i in range(count - 1, VOCABULARY - 1, -1):
                left, right = plan[i - VOCABULARY]
                g[i] *= 1 - h[i] * h[i]
                g[left] += w @ g[i]
                g[right] += u @ g[i]
            inner = g[VOCABULARY:]
            lefts, rights = np.array(plan).T
            gradients[0][...] += h[lefts].T @ inner
            gradients[1][...] += h[rights].T @ inner
            gradients[2][...] += inner.sum(axis=0)

    return Side(work, lambda: gradients)


def joins(t: Tree) -> list[tuple[int, int]]:
    """The inner nodes of a tree, children first; a word is its own number."""
    plan: list[tuple[int, int]] = []

    def visit(t: Tree) -> int:
        if type(t) is int:
            return t
        plan.append((visit(t[0]), visit(t[1])))
        return VOCABULARY + len(plan) - 1

    visit(t)
    return plan

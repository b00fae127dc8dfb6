"""Bodies of branches and loops: planned where that changes no bit, and else left as they are."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pytest
from bits import same_bits
from covering import examples
from hypothesis import given
from random_graphs import Recipe, recipes

import minigrad as mg
from minigrad.compiler.text.planned import is_steady
from minigrad.static import bodies_of

pytestmark = pytest.mark.usefixtures("own_graph")

OFTEN = 4  # a body is planned when its shapes come for the second time


@examples(100)
@given(recipes(everything=True))
def test_planned_bodies_change_no_bit(recipe: Recipe) -> None:
    with mg.Graph():
        xs, first = recipe.placeholders(), mg.placeholder("first", (), "bool")
        ys = mg.cond(
            first,
            lambda: tuple(recipe.compute(xs)),
            lambda: tuple(recipe.compute([mg.tanh(x) for x in xs])),
        )
        graph = mg.build_graph([*xs, first], ys)
    better = graph.optimize()
    program, reference = better.compile(optimize=False), better.compile(False, "reference")
    both = [{**recipe.feeds(), "first": value} for value in (True, False)]
    found = [[program(feeds) for feeds in both] for _ in range(OFTEN)]
    for which, feeds in enumerate(both):
        expected = reference(feeds)
        for mine in found:  # what was given stays what it is
            same_bits(mine[which], expected)


SHAPES = (5, 2, 3), (2, 3), (3, 3)


def test_large_sums_and_products_in_bodies_change_no_bit() -> None:
    """As a program of their own they would be products with ones, and rounded otherwise."""
    xs, w = mg.placeholder("x", (5, 257, 129)), mg.placeholder("w", (129, 257))

    def step(h: Any, x: Any) -> Any:
        y = mg.sigmoid(x + h) - mg.relu(x)
        return h + y.mean(), (y.sum(axis=0), y.sum(axis=1), y.mean(axis=0), y @ w)

    last, ys = mg.scan(step, mg.constant(0.5), xs)
    graph = mg.build_graph([xs, w], [last, *ys])
    draw = np.random.default_rng(0)
    feeds = {x.name: draw.standard_normal(x.shape) for x in (xs, w)}
    expected = graph.compile(executor="reference")(feeds)
    program = graph.compile()
    for _ in range(OFTEN):
        same_bits(program(feeds), expected)


def scanned(xs: Any, h: Any, w: Any) -> Any:
    def step(h: Any, x: Any) -> Any:
        new = mg.sigmoid(h @ w + x) * mg.relu(x)
        return new, (h, new.sum(axis=0))

    return mg.scan(step, h, xs)


def nested(xs: Any, h: Any, w: Any) -> Any:
    def inside(k: Any, h: Any) -> Any:
        return k + 1, mg.cond(h.sum() > 0, lambda: mg.tanh(h @ w), lambda: h + xs[0])

    return mg.while_loop(lambda k, h: k < 3, lambda k, h: inside(k, inside(k, h)[1]), (0, h))


@pytest.mark.parametrize("executor", ["numpy", "c"])
@pytest.mark.parametrize("f", [scanned, nested])
def test_loops_and_their_gradients_stay_the_same_run_by_run(f: Any, executor: str) -> None:
    xs, h, w = (mg.placeholder(n, s) for n, s in zip("xhw", SHAPES, strict=True))
    last = f(xs, h, w)[-1]
    loss = mg.sum(last[0] if isinstance(last, tuple) else last)
    graph = mg.build_graph([xs, h, w], [loss, *mg.gradients(loss, [xs, h, w])])
    program, reference = graph.compile(executor=executor), graph.compile(executor="reference")
    found = []
    for seed in range(OFTEN):
        draw = np.random.default_rng(seed)
        feeds = {n: draw.standard_normal(s) for n, s in zip("xhw", SHAPES, strict=True)}
        found.append((program(feeds), reference(feeds)))
    for mine, expected in found:
        for a, b in zip(mine, expected, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)


def test_the_steps_of_a_loop_share_their_memory() -> None:
    """New are the result, which the caller keeps, and two arrays that take turns."""
    size = 100_000
    x = mg.placeholder("x", (size,))

    def step(k: Any, v: Any) -> Any:
        return k + 1, mg.tanh(v.sum() * x - v) * (v - x).sum()

    graph = mg.build_graph(x, mg.while_loop(lambda k, v: k < 9, step, (0, x))[1])
    assert new_arrays(graph.compile(executor="reference"), size) > 4.9
    assert new_arrays(graph.compile(), size) < 3.1


def new_arrays(program: Any, size: int) -> float:
    """The most that a later run takes anew, in arrays of this size."""
    feeds = {"x": np.ones(size, np.float32)}
    for _ in range(OFTEN):
        program(feeds)
    tracemalloc.start()
    try:
        program(feeds)
        return tracemalloc.get_traced_memory()[1] / (4 * size)
    finally:
        tracemalloc.stop()


def test_a_body_that_has_other_shapes_at_every_step() -> None:
    x, first = mg.placeholder("x", (None,)), mg.placeholder("first", (), "bool")
    graph = mg.build_graph([x, first], mg.cond(first, lambda: mg.exp(x) * x, lambda: x + x.sum()))
    program, reference = graph.compile(), graph.compile(executor="reference")
    for n in [*range(1, 40), *range(1, 40), *range(1, 40)]:
        feeds = {"x": np.arange(n, dtype=np.float32), "first": n % 2 == 0}
        same_bits([program(feeds)], [reference(feeds)])


def test_which_bodies_are_planned() -> None:
    """The order in memory decides how sums are rounded: what changes it stays as it is."""
    x = mg.placeholder("x", (3, 4))
    bodies = {
        True: mg.cond(x.sum() > 0, lambda: (x @ x.reshape(4, 3)).sum(axis=1), lambda: x[:, 0]),
        False: mg.cond(x.sum() > 0, lambda: mg.softmax(x.T).sum(axis=0), lambda: x.T.sum(axis=0)),
    }
    for steady, node in bodies.items():
        assert is_steady(bodies_of(node.attrs)["then"]) is steady
        assert not is_steady(bodies_of(node.attrs)["orelse"])


def test_kernels_of_bodies_are_counted_once() -> None:
    xs, h, w = (mg.placeholder(n, s) for n, s in zip("xhw", SHAPES, strict=True))
    last, _ = scanned(xs, h, w)
    program = mg.build_graph([xs, h, w], last).compile()
    assert program.graph.counted()["Fused"] == program.graph.counted()["Sum"] == 1
    assert program.kernels == 2

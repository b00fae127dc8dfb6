"""What passes find out about shapes, and what they make of it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from bits import same_bits

import minigrad as mg
from minigrad import passes
from minigrad.passes import PIPELINE

pytestmark = pytest.mark.usefixtures("own_graph")


def classifier() -> mg.Graph:
    """A layer with its loss and gradients; image and label rows are open, each by itself."""
    x, t = mg.placeholder("x", (None, 8)), mg.placeholder("t", (None,), mg.int64)
    w, b = (mg.placeholder(n, s) for n, s in (("w", (8, 3)), ("b", (3,))))
    loss = mg.cross_entropy(mg.relu(x @ w + b), t)
    return mg.build_graph([x, t, w, b], [loss, *mg.gradients(loss, [w, b])])


def rows(n: int, labels: int | None = None) -> dict[str, Any]:
    random = np.random.default_rng(n)
    shapes = {"x": (n, 8), "w": (8, 3), "b": (3,)}
    feeds: dict[str, Any] = {k: random.standard_normal(s) for k, s in shapes.items()}
    return feeds | {"t": random.integers(0, 3, n if labels is None else labels)}


def test_lengths_that_must_be_equal_become_one() -> None:
    """Side by side, x and y have as many rows; so neither is stretched in the product."""
    x, y = (mg.placeholder(n, (None, 3)) for n in "xy")
    product = mg.tanh(x) * mg.exp(y)
    loss = product.sum() + mg.concatenate([x, y], axis=1).sum()
    graph = mg.build_graph([x, y], [loss, *mg.gradients(loss, [x, y])])
    better = graph.optimize(["propagate_shapes", "tidy_shapes"])
    assert (graph.counted()["SumLike"], better.counted()["SumLike"]) == (2, 0)
    assert all(a is b for a, b in zip(graph.inputs, better.inputs, strict=True))
    feeds = {n: np.random.default_rng(i).standard_normal((5, 3)) for i, n in enumerate("xy")}
    same_bits(mg.run(better, feeds), mg.run(graph, feeds))
    for either in (graph, better):
        with pytest.raises(mg.ShapeError, match="Concatenate"):
            mg.run(either, feeds | {"y": np.ones((1, 3))})


def test_what_does_not_run_says_nothing_of_lengths() -> None:
    """The product would make them equal; but it is dead, so they may differ."""
    x, y = mg.placeholder("x", (None,)), mg.placeholder("y", (None,))
    z = mg.sum(x * y)
    dead = x @ y
    for alive, changes in (([], 0), ([dead], 1)):
        graph = passes.frozen_graph([x, y, z.inputs[0], dead, z], [x, y], [z, *alive], (), False)
        better = graph.optimize(["propagate_shapes"])
        assert len(better.history[0].changes) == changes
    assert mg.run(mg.build_graph([x, y], z).optimize(), {x: [2.0], y: [1.0, 2.0, 3.0]}) == 12


def test_shapes_that_the_user_knows() -> None:
    graph = classifier()
    narrow = mg.passes.with_shapes({"x": (5, None)})
    better = graph.optimize([narrow, *PIPELINE])
    assert {x.name: x.shape for x in better.inputs} == {
        "x": (5, 8),
        "t": (5,),
        "w": (8, 3),
        "b": (3,),
    }
    left = better.counted()
    assert not {"SumLike", "ReshapeLike", "Count"} & {*left}
    same_bits(mg.run(better, rows(5)), mg.run(graph, rows(5)))
    with pytest.raises(mg.FeedError):
        mg.run(better, rows(6))
    assert better.compile(optimize=False).plan.bytes > 0, "no run is needed to know the sizes"


def test_shapes_that_cannot_be() -> None:
    graph = classifier()
    with pytest.raises(mg.ShapeError, match=r"x cannot have shape \(5, 9\), because \(None, 8\)"):
        graph.optimize([mg.passes.with_shapes({"x": (5, 9)})])
    with pytest.raises(mg.GraphError, match="no node named z"):
        graph.optimize([mg.passes.with_shapes({"z": (5,)})])


def test_narrowed_lengths_reach_into_loops() -> None:
    x = mg.placeholder("x", (None, 3))
    y = mg.while_loop(lambda v: v.sum() < 9, lambda v: v * 2, mg.abs(x) + 1)
    graph = mg.build_graph(x, [y, mg.gradients(y.sum(), x)[0]])
    better = graph.optimize([mg.passes.with_shapes({"x": (2, None)})])
    assert [y.shape for y in better.outputs] == [(2, 3), (2, 3)]
    data = np.ones((2, 3), np.float32)
    same_bits(mg.run(better, {"x": data}), mg.run(graph, {"x": data}))

"""What is the same in every step of a loop leaves it; effects, and what may fail, stay."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from bits import same_bits

import minigrad as mg

pytestmark = pytest.mark.usefixtures("own_graph")


def ran(graph: mg.Graph, feeds: Any) -> Any:
    with mg.record() as log:
        mg.run(graph, feeds)
    return log.counts.by_op


def test_what_is_the_same_in_every_step_is_computed_once() -> None:
    x, v = mg.placeholder("x", (3, 4)), mg.placeholder("v", (4, 4))
    n = mg.placeholder("n", (), mg.int64)
    _, y = mg.while_loop(
        lambda i, y: i < n * 2, lambda i, y: (i + 1, mg.tanh(y @ mg.exp(v * 2))), (0, x)
    )
    graph = mg.build_graph([x, v, n], [y, *mg.gradients(y.sum(), [x, v])])
    better = graph.optimize(["hoist", "simplify", "merge_common", "remove_dead"])
    random = np.random.default_rng(0)
    feeds: dict[Any, Any] = {x: random.standard_normal((3, 4)), v: random.standard_normal((4, 4))}
    for steps in (0, 1, 3):
        feeds[n] = steps
        same_bits(mg.run(better, feeds), mg.run(graph, feeds))
        counts = ran(better, feeds)
        assert counts["Exp"] == 1, "forward and backward share it"
        assert counts["MatMul"] == ran(graph, feeds)["MatMul"] == 2 * steps * 4
    assert ran(graph, feeds)["Exp"] == 12


def test_what_may_fail_stays_in_a_loop_that_may_make_no_step() -> None:
    x, t = mg.placeholder("x", (3, 4)), mg.placeholder("t", (3,), mg.int64)
    n = mg.placeholder("n", (), mg.int64)

    def step(i: Any, s: Any) -> Any:
        return i + 1, s + mg.cross_entropy(x, t)

    _, y = mg.while_loop(lambda i, s: i < n, step, (0, 0.0))
    graph = mg.build_graph([x, t, n], y)
    better = graph.optimize(["hoist"])
    assert not better.history[0].changes
    wrong = {x: np.zeros((3, 4)), t: [0, 1, 7], n: 0}
    assert mg.run(better, wrong) == mg.run(graph, wrong) == 0
    for length, moved in ((5, True), (None, False)):
        xs = mg.placeholder("xs", (length, 2))
        last, _ = mg.scan(lambda s, z: (s + mg.cross_entropy(x, t), z), 0.0, xs)
        hoisted = mg.build_graph([x, t, xs], last).optimize(["hoist"])
        assert bool(hoisted.history[0].changes) is moved, "five steps are sure to come"


def test_effects_stay_in_their_loop(capsys: pytest.CaptureFixture[str]) -> None:
    x, n = mg.placeholder("x", ()), mg.placeholder("n", (), mg.int64)
    _, y = mg.while_loop(lambda i, s: i < n, lambda i, s: (i + 1, s + mg.Print(x * 2)), (0, 0.0))
    graph = mg.build_graph([x, n], y)
    better = graph.optimize()
    for steps in (0, 3):
        assert mg.run(better, {x: 4, n: steps}) == 8 * steps
        assert capsys.readouterr().out == "8.0\n" * steps
    assert ran(better, {x: 4, n: 3})["Mul"] == 1


def test_out_of_a_loop_in_a_loop() -> None:
    x, v = mg.placeholder("x", (4,)), mg.placeholder("v", (4,))

    def outer(s: Any) -> Any:
        return mg.while_loop(lambda u: u.sum() < 50, lambda u: u + mg.exp(v) * 2, s) * 2

    y = mg.while_loop(lambda s: s.sum() < 500, outer, x)
    graph = mg.build_graph([x, v], y)
    better = graph.optimize(["hoist"])
    feeds = {x: np.zeros(4), v: np.zeros(4)}
    same_bits([mg.run(better, feeds)], [mg.run(graph, feeds)])
    assert (ran(better, feeds)["Exp"], ran(graph, feeds)["Exp"]) == (1, 7)

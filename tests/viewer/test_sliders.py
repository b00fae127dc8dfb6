"""Inputs that the reader moves: which get sliders, and that values change where they stand."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from examples import e1, e2, e5

import minigrad as mg
import viz
from viz.page.sliders import Sliders, slider
from viz.picture.matching import aligned, matching
from viz.picture.picture import picture

pytestmark = pytest.mark.usefixtures("english")


def labels(player: viz.Player) -> list[str]:
    return [s["label"] for s in player.data["sliders"]]


@pytest.mark.parametrize(
    ("value", "low", "high", "step"),
    [(2.0, -2, 6, 0.1), (0.0, -4, 4, 0.1), (-3.0, -11, 5, 0.2), (100.0, -100, 300, 5.0)],
)
def test_a_slider_reaches_beyond_zero(value: float, low: float, high: float, step: float) -> None:
    made = slider("x", value)
    assert (made.low, made.high, made.step) == pytest.approx((low, high, step))
    assert (made.value - made.low) / made.step == pytest.approx(40)


def test_at_most_three_numbers_of_whole_finite_float_inputs() -> None:
    inputs = [
        ("n", "n", np.array(3)),
        ("nan", "nan", np.array([np.nan])),
        ("big", "big", np.ones((2, 2))),
        ("x", "x", np.float32([1, 2])),
        ("y", "y", np.ones(2)),
        ("z", "z", np.array(5.0)),
        ("w", "w", np.array(5.0)),
        ("none", "none", np.ones(0)),
    ]
    made = Sliders(inputs)
    assert [s.label for s in made.shown] == ["x[0]", "x[1]", "z"]
    moved = made.inputs([7, 8, 9])
    assert {k: v.tolist() for k, v in moved.items()} == {"x": [7, 8], "z": 9}
    assert moved["x"].dtype == np.float32
    assert moved["z"].shape == ()


@pytest.mark.parametrize(
    ("make", "names"),
    [
        (lambda: viz.step(e1()), ["x"]),
        (lambda: viz.step(e2(), {"x": 2.0}), ["x"]),
        (lambda: viz.step(e5()), ["x[0]", "x[1]"]),
        (lambda: viz.compare(lambda x: x * x + 3, 2.0), ["x"]),
        (lambda: viz.step(mg.tensor(np.ones(9), requires_grad=True) * 2), []),
        (lambda: viz.step(mg.nn.Linear(2, 1, seed=0)(mg.tensor([1.0, 2.0]))), []),
    ],
    ids=["tape", "graph", "vector", "compare", "large", "layer"],
)
def test_which_players_have_sliders(make: Any, names: list[str]) -> None:
    player = make()
    assert labels(player) == names
    assert player.inputs == [s["value"] for s in player.data["sliders"]]


@pytest.mark.parametrize(
    "make",
    [
        lambda: viz.step(e1()),
        lambda: viz.step(e2(), {"x": 2.0}),
        lambda: viz.compare(lambda x: x * x + 3, 2.0),
    ],
    ids=["tape", "graph", "compare"],
)
def test_moving_an_input_runs_again_and_lays_nothing_out(
    make: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    player = make()
    before = player.data
    monkeypatch.setattr("viz.page.payload.render", lambda *_, **__: pytest.fail("laid out again"))
    player.inputs = [5.0]
    assert player.data["name"] == before["name"]
    assert player.data["graphs"] is before["graphs"]
    text = player.text()[0]
    assert "5 × 5 = 25" in text
    assert "5 + 5 = 10" in text
    if player.verdict:
        assert "equal, bit for bit" in player.verdict[0]
        assert text.count("5 × 5 = 25") == 4, "two calls, both ways"
    json.dumps(player.data, allow_nan=False)


def test_the_users_tape_and_graph_stay_as_they_are() -> None:
    x = mg.tensor(2.0, requires_grad=True, name="x")
    player = viz.step(x * x)
    player.inputs = [7.0]
    assert x.item() == 2
    assert x.grad is None
    player.inputs = [2.0]
    assert "2 × 2 = 4" in player.text()[0]


def test_an_input_that_cannot_run_says_why_and_changes_nothing() -> None:
    with mg.Graph():
        x = mg.placeholder("x", shape=())
        with mg.control_dependencies([mg.Assert(x > 0, "x must be positive")]):
            y = x * 2
    player = viz.step(y, {x: 2.0})
    before = player.text()
    player.inputs = [-1.0]
    assert "x must be positive" in player.data["trouble"]
    assert player.text() == before
    player.inputs = [3.0]
    assert "trouble" not in player.data
    assert "3 × 2 = 6" in player.text()[0]


# ---- Which node is which ----------------------------------------------------------------------


def pairs(model: Any, *inputs: Any) -> list[tuple[str, str]]:
    left, right = (f.picture for f in viz.compare(model, *inputs).films)
    names = [{n.id: n.label for n in p.nodes} for p in (left, right)]
    return sorted((names[0][a], names[1][b]) for b, a in matching(left, right).items())


def test_every_node_of_a_model_built_both_ways_has_its_partner() -> None:
    assert pairs(lambda x, W, b: mg.relu(W @ x + b), [1.0, 1.0], np.eye(2), [0.0, 1.0]) == [
        ("Add", "Add"),
        ("MatMul", "MatMul"),
        ("ReLU", "ReLU"),
        ("W", "W"),
        ("b", "b"),
        ("x", "x"),
    ]
    assert len(pairs(mg.nn.Linear(3, 2, seed=0), np.ones((4, 3)))) == 5
    assert pairs(lambda x: x * x + 3, 2.0) == [
        ("3", "3"),
        ("Add", "Add"),
        ("Mul", "Mul"),
        ("x", "x"),
    ]


def test_different_operators_are_no_partners() -> None:
    x = mg.tensor(2.0, requires_grad=True)
    with mg.Graph():
        p = mg.placeholder("p")
        other = picture(mg.exp(p) + 3)
    assert set(matching(picture(x * x + 3), other).values()) == {"n3", "n4"}


def test_linked_graphs_are_laid_out_in_the_same_order() -> None:
    player = viz.compare(lambda x, W: W @ x, [1.0, 1.0], np.eye(2))
    left, right = player.films
    order = {
        b: left.picture.nodes.index(n)
        for b, a in player.links[0].items()
        for n in left.picture.nodes
        if n.id == a
    }
    drawn = aligned(right.picture, order)
    assert [n.label for n in drawn.nodes] == [n.label for n in left.picture.nodes]
    assert [n.label for n in right.picture.nodes] != [n.label for n in drawn.nodes]
    links = player.data["links"]
    assert len(links) == len({*links.values()}) == len(left.picture.nodes)

"""Traced functions, branches and loops in drawings and players: one box each."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import minigrad as mg
import viz
from viz.film.frames import Film
from viz.page.player import Player
from viz.views.draw import Diagram

pytestmark = pytest.mark.usefixtures("own_graph")

FEW = np.float32([1, 2])


def squares(x: Any) -> Any:
    return x * x, x.sum()


def caption(player: Player) -> str:
    return player.text()[0]


def film(player: Player) -> Film:
    return player.films[0]


def test_a_traced_function_is_drawn_as_its_newest_graph() -> None:
    f = mg.function(lambda x: x * 2 + 1)
    with pytest.raises(mg.TraceError, match="call it once"):
        viz.draw(f)
    f(mg.tensor(FEW))
    f(mg.tensor(1.0))
    lines = (
        "n1: x = Placeholder ()\nn2: 2 = Constant ()\nn3: Mul(x, 2) ()\n"
        "n4: 1 = Constant ()\nn5: Add(Mul, 1) ()  -> output"
    )
    assert str(viz.draw(f)) == lines
    assert str(viz.draw(mg.trace(lambda x: x * 2 + 1, 1.0))) == lines
    assert isinstance(viz.draw(f), Diagram)


def test_a_call_on_the_tape_is_one_box() -> None:
    w = mg.tensor(3.0, requires_grad=True, name="w")
    loss = mg.function(lambda x: (x * w).sum())
    y = loss(mg.tensor(FEW))
    assert str(viz.draw(y)).splitlines()[-1] == "n3: y = <lambda>(data, w) ()  -> output"
    x = mg.tensor(FEW, requires_grad=True)
    a, b = mg.function(squares)(x)
    assert str(viz.draw([a, b])).splitlines()[1:] == [
        "n2: squares(x) ()",
        "n3: a = Output(squares) (2,)  -> output",
        "n4: b = Output(squares) ()  -> output",
    ]


def test_stepping_through_a_call() -> None:
    x = mg.tensor(FEW, requires_grad=True)
    y = mg.function(lambda x: mg.exp(x) * 2)(x * 1)
    total = y.sum()
    player = viz.step(total)
    assert "y = <lambda>(Mul)" in caption(player)
    (gradient,) = (v for k, v in film(player).results.items() if k[0] == "gradient" and k[2] == "x")
    np.testing.assert_array_equal(gradient, np.exp(FEW) * 2)


@pytest.mark.usefixtures("undrawn")
def test_stepping_through_a_call_with_several_results() -> None:
    x = mg.tensor(FEW, requires_grad=True)
    a, b = mg.function(squares)(x)
    text = caption(viz.step([a, b]))
    assert "squares = squares(x) = squares([1, 2]) = ([1, 4], 3)" in text
    total = (a * 2).sum() + b
    player = viz.step(total)
    (gradient,) = (v for k, v in film(player).results.items() if k[0] == "gradient" and k[2] == "x")
    np.testing.assert_array_equal(gradient, [5, 9])


def test_a_function_compared_with_itself_shows_its_operators() -> None:
    player = viz.compare(mg.function(lambda x: mg.tanh(x).sum()), FEW)
    assert "Tanh" in caption(player)
    assert player.verdict is not None
    assert "bit for bit" in player.verdict[0]


def test_a_recording_of_calls() -> None:
    x = mg.tensor(FEW, requires_grad=True)
    f = mg.function(squares)
    with mg.record(values=True) as log:
        a, b = f(x)
        (a.sum() + b).backward()
    dynamic, static = viz.timeline(log).films
    assert [n.label for n in dynamic.picture.nodes] == ["x", "squares", "a", "b", "Sum", "Add"]
    assert [n.op for n in static.picture.nodes][:3] == ["Placeholder", "Mul", "Sum"]


def controlled() -> tuple[list[mg.Node], mg.Node]:
    n, v = mg.placeholder("n", ()), mg.placeholder("v", (None, 2))
    chosen = mg.cond(n > 0, lambda: v * 2, lambda: v - 1)
    power, _ = mg.while_loop(lambda a, i: i < 3, lambda a, i: (a * n, i + 1), (n, 0))
    last, all_ = mg.scan(lambda c, row: (c + row, c * row * n), mg.constant(FEW), v)
    return [n, v], chosen.sum() + power + last.sum() + all_.sum()


def test_branches_and_loops_are_boxes() -> None:
    inputs, y = controlled()
    drawing = viz.draw(mg.build_graph(inputs, y))
    ops = [n.op for n in drawing.picture.nodes]
    assert [ops.count(name) for name in ("Cond", "While", "Scan", "Output")] == [1, 1, 1, 3]
    assert drawing.dot.count("While") >= 1


@pytest.mark.usefixtures("undrawn")
def test_stepping_through_branches_and_loops() -> None:
    inputs, y = controlled()
    feed = {"n": 2.0, "v": np.ones((3, 2), np.float32)}
    player = viz.step(mg.build_graph(inputs, y), feed)
    text = caption(player)
    assert "run: Cond" in text
    assert "run: While = body(n, 0, n) while test = body(2, 0, 2) while test" in text
    dn, dv = mg.gradients(y, inputs)
    expected = mg.run(mg.build_graph(inputs, [dn, dv]), feed)
    results = film(player).results
    for name, value in zip("nv", expected, strict=True):
        np.testing.assert_array_equal(results["gradient", "", name], value)


def test_a_recording_of_loops_shows_no_nodes_of_their_bodies() -> None:
    inputs, y = controlled()
    graph = mg.build_graph(inputs, [y, *mg.gradients(y, inputs)])
    with mg.record(values=True) as log:
        mg.run(graph, {"n": 2.0, "v": np.ones((3, 2), np.float32)})
    (shown,) = viz.timeline(log).films[-1:]
    assert {n.label for n in shown.picture.nodes} >= {"n", "v"}
    assert not any(n.label.startswith("arg") for n in shown.picture.nodes)

"""Other engines in our drawings and in our player: only what they say of themselves is shown."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import viz
from minigrad_lessons.lesson import my_engine as mine
from viz.film.foreign_film import other_film
from viz.page.player import Player
from viz.picture.foreign_engines import ancestors_of


@pytest.fixture(autouse=True)
def fresh() -> None:
    mine.EVENTS.clear()


def captions(player: Any) -> list[str]:
    lines = player.text()[0].splitlines()
    return [line.partition(". ")[2] for line in lines]


def test_a_dynamic_graph_is_drawn_with_the_values_it_holds() -> None:
    x = mine.Tensor(2.0, requires_grad=True)
    y = x * x + 3
    drawn = viz.draw(y)
    assert str(drawn).splitlines() == [
        "n1: x = Leaf ()",
        "n2: Mul(x, x) ()",
        "n3: 3 = Leaf ()",
        "n4: y = Add(Mul, 3) ()  -> output",
    ]
    assert "dynamic graph: y = (x × x) + 3" in drawn.heading[0]
    kinds = {n.label: n.kind for n in drawn.picture.nodes}
    assert kinds == {"x": "input", "Mul": "operator", "3": "constant", "y": "operator"}
    assert ">7</text>" in drawn.svg


def test_a_static_graph_holds_no_value() -> None:
    a = mine.placeholder("a")
    y = a * a + 3
    drawn = viz.draw(y)
    assert drawn.picture.kind == "static"
    assert "n1: a = Placeholder" in str(drawn)
    assert ">7</text>" not in drawn.svg


def test_a_tape_is_stepped_forward_and_back_though_it_was_let_go() -> None:
    x = mine.Tensor(2.0, requires_grad=True)
    y = x * x + 3
    y.backward()
    assert not y.inputs
    assert captions(viz.step(y)) == [
        "Nothing has happened yet. Press → to begin.",
        "run and recorded at once: Mul = x × x = 4",
        "run and recorded at once: y = Mul + 3 = 7",
        "backward starts at the output: ∂y/∂y = 1",
        "y passes back to Mul: 1",
        "y passes back to 3: 1",
        "Mul passes back to x: 2",
        "Mul passes back to x, which adds it: 2 + 2 = 4",
        "done: 2 operators built, 2 operators run, 4 contributions passed back.",
    ]


def test_one_operator_of_a_static_graph_is_built_and_then_runs() -> None:
    a = mine.placeholder("a")
    y = a * a
    mine.Session().run([y], {a: np.array(2.0)})
    built, ran = captions(viz.step(y))[1:3]
    assert built.startswith("built: y = a × a.")
    assert ran == "run: y = a × a = 4"
    x = mine.Tensor(2.0, requires_grad=True)
    told = captions(Player([other_film([x * x], {}, mine.EVENTS[-1:])]))  # not that it was built
    assert told[1] == "run: Mul = Leaf × Leaf = 4"


def test_a_graph_is_built_whole_and_then_runs() -> None:
    a = mine.placeholder("a")
    y = a * a + 3
    mine.Session().run([y], {a: np.array(2.0)})
    built = " It has no value, and even its shape is not known yet."
    assert captions(viz.step(y))[1:] == [
        f"built: Mul = a × a.{built}",
        f"built: y = Mul + 3.{built}",
        "run: Mul = a × a = 4",
        "run: y = Mul + 3 = 7",
        "done: 2 operators built, 2 operators run.",
    ]
    film = viz.step(y).films[0]
    values = film.tracks[film.picture.ids[a]].values
    assert [(step, known.text) for step, known in values] == [(3, "2")]  # fed with the run


def test_nodes_of_one_operator_are_told_apart_and_unknown_ones_are_calls() -> None:
    a = mine.placeholder("a")
    (g,) = mine.gradients(a * a, [a])
    mine.Session().run([g], {a: np.array(3.0)})
    told = captions(viz.step(g))
    assert "run: Mul = 1.0 × a = 3" in told
    assert "run: Mul_1 = 1.0 × a = 3" in told
    assert "run: Fit_1 = Fit(Mul_1, a) = 3" in told
    assert "run: g = Fit + Fit_1 = 6" in told


def test_a_wrong_rule_is_shown_as_it_computed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(mine.RULES, "Mul", lambda g, y, a, b: (g * b, g * 5))
    x = mine.Tensor(2.0, requires_grad=True)
    y = x * x
    y.backward()
    assert captions(viz.step(y))[-2] == "y passes back to x, which adds it: 2 + 5 = 7"


def test_a_seed_that_is_told_is_shown() -> None:
    x = mine.Tensor(3.0, requires_grad=True)
    y = x * 2
    mine.note("passed back", y, (y, np.array(10.0), np.array(10.0)))
    mine.backward(y, np.array(10.0), {y: y.value, **{node: node.value for node in y.inputs}})
    told = captions(viz.step(y))
    assert told[2:4] == ["backward starts at y with the seed 10", "y passes back to x: 20"]


def test_a_function_may_compute_it_and_a_page_shows_it(tmp_path: Path) -> None:
    def run() -> Any:
        x = mine.Tensor([1.0, -2.0], requires_grad=True)
        total = x.relu().sum()
        total.backward()
        return total

    player = viz.step(run)
    assert "passed back" in player.text()[0]
    page = player.save(tmp_path / "mine.html").read_text("utf-8")
    assert "mg-player" in page


def test_what_says_nothing_of_itself_is_refused() -> None:
    class Odd:
        op = "Mul"

    for verb in (viz.draw, viz.step):
        with pytest.raises(TypeError, match="Odd"):
            verb(Odd())


def test_a_sum_that_is_none_is_told_as_one() -> None:
    """A learner's `backward` may multiply where it should add."""
    x = mine.Node("Placeholder", name="x")
    y = x * x
    events = [("passed back", y, (y, 10.0, 10.0)), ("passed back", x, (y, 30.0, 30.0))]
    wrong = captions(Player([other_film([y], {}, [*events, ("passed back", x, (y, 30.0, 900.0))])]))
    right = captions(Player([other_film([y], {}, [*events, ("passed back", x, (y, 30.0, 60.0))])]))
    assert wrong[-2].endswith("which has 900 now: that is not 30 + 30")
    assert right[-2].endswith("which adds it: 30 + 30 = 60")
    assert wrong[-1] == "done: 2 contributions passed back."


def test_a_leaf_that_no_gradient_reaches_has_its_row() -> None:
    """The gradient that is missing is what a learner looks for there."""
    x = mine.Node("Placeholder", name="x")
    y = x * x
    player = Player([other_film([y], {}, [("passed back", y, (y, 10.0, 10.0))])])
    assert [label for label, *_ in player.data["lanes"][0]["rows"]] == ["x", "Mul"]


def test_a_cycle_that_a_wrong_engine_tells_of_comes_to_an_end() -> None:
    x = mine.Node("Placeholder", name="x")
    y = x * x
    assert {*ancestors_of([y], {x: (y,)})} == {x, y}
    told = captions(Player([other_film([y], {}, [])]))
    assert told[-1] == "done: nothing was noted about these nodes."

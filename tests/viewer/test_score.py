"""The score: which rows there are, what is noted in them, how long nodes live, which phases."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import pytest
from examples import branch, digits, loop, unrolled

import minigrad as mg
import viz
from viz.film.film import BUILT, RUN
from viz.film.score import MANY, Phase, Score, _label, score, tallies

pytestmark = pytest.mark.usefixtures("undrawn")
ROOT = Path(__file__).parents[2]


def scores(player: viz.Player) -> list[Score]:
    return [score(film) for film in player.films]


def labels(made: Score) -> list[str]:
    return [row.label for row in made.rows]


def noted(made: Score) -> list[str]:
    """What happened, without constants: step, row, what, and the value."""
    notes = [note for note in made.notes if note.sort != "constant"]
    return [f"{n.step} {labels(made)[n.row]}: {n.kind} {n.value}".strip() for n in notes]


def test_three_inputs_are_three_graphs_or_three_runs_of_one() -> None:
    with mg.record(values=True) as log:
        for value in (5.0, 6.0, 7.0):
            x = mg.tensor(value, requires_grad=True)
            y = x * x
            z = y + 3
        with mg.Graph(), mg.Session() as session:
            p = mg.placeholder("p")
            q = p * p
            r = q + 3
            for value in (5.0, 6.0, 7.0):
                session.run(r, {p: value})
    assert z.item() == 52
    dynamic, static = scores(viz.timeline(log))
    assert labels(dynamic) == ["x", "y = x * x", "z = y + 3"]
    assert noted(dynamic) == [
        *("0 x: both 5", "1 y = x * x: both 25", "2 z = y + 3: both 28"),
        *("3 x: both 6", "3 y = x * x: both 36", "4 z = y + 3: both 39"),
        *("5 x: both 7", "5 y = x * x: both 49", "6 z = y + 3: both 52"),
    ]
    assert dynamic.phases == (Phase("both", 1, 2), Phase("both", 3, 4), Phase("both", 5, 6))
    assert dynamic.lives == (
        *((0, 0, 2), (0, 3, 4), (0, 5, 7)),  # row, from, to: until its graph is used no more,
        *((1, 1, 2), (1, 3, 4), (1, 5, 7)),  # and the last one to the end
        *((2, 2, 2), (2, 4, 4), (2, 6, 7)),
    )
    assert labels(static) == ['p = mg.placeholder("p")', "q = p * p", "r = q + 3"]
    assert [row.name for row in static.rows] == ["p", "×", "+"], "where there is no room for code"
    built, run = noted(static)[:3], noted(static)[3:]
    assert built == [
        '1 p = mg.placeholder("p"): built',
        *("2 q = p * p: built", "4 r = q + 3: built"),
    ]
    assert [line.rpartition(" ")[2] for line in run] == [
        "5",
        "25",
        "28",
        "6",
        "36",
        "39",
        "7",
        "49",
        "52",
    ]
    assert [phase.kind for phase in static.phases] == ["build", "run", "run", "run"]
    assert static.lives == ((0, 1, 17), (1, 2, 17), (2, 4, 17)), "they wait until the end"


def test_a_graph_that_is_thrown_away_ends_there() -> None:
    def step(value: float) -> Any:
        x = mg.tensor(value, requires_grad=True, name="x")
        y = x * x
        return (y + 3).item()

    with viz.live(pause=0) as drawing:
        assert [step(value) for value in (5.0, 6.0)] == [28, 39]
    (made,) = scores(drawing.player)
    freed = {track.freed for track in drawing.player.films[0].tracks.values()} - {None}
    assert len(freed) == 2
    assert {end for _, _, end in made.lives} == freed
    assert labels(made) == ["x", "y = x * x", "y + 3"]


def test_gradients_come_back_from_below() -> None:
    dynamic, static = scores(viz.compare(lambda x: x * x + 3, 2.0))
    for made in (dynamic, static):
        assert labels(made) == ["x", "x * x", "x * x + 3"]
        back = [(n.row, n.value) for n in made.notes if n.kind == "gradient"]
        assert back == 2 * [(2, "1"), (1, "1"), (0, "2"), (0, "4")]
    assert [phase.kind for phase in dynamic.phases] == 2 * ["both", "backward"]
    twice = 2 * ["run", "backward"]
    assert [phase.kind for phase in static.phases] == ["build", "gradients", *twice]


def test_a_line_that_runs_again_comes_again_in_its_row() -> None:
    def cell(x: Any, w: Any) -> Any:
        h = x
        for _ in range(14):
            h = mg.tanh(h * w + x)
        return h

    for made in scores(viz.compare(cell, 0.5, 0.7)):
        assert labels(made) == ["x", "w", "h * w", "h * w + x", "h = mg.tanh(h * w + x)"]
        again = [n for n in made.notes if n.row == 4 and n.kind in ("both", "run")]
        assert len(again) == 28, "in two calls"
        assert len({n.nodes for n in again}) == 14, "each time another node"


def test_a_statement_behind_its_loop_is_called_by_its_own_code() -> None:
    assert _label("    for _ in range(9): y = ", "mg.tanh(y)", "") == "y = mg.tanh(y)"
    assert _label("    y = ", "mg.tanh(y)", "") == "y = mg.tanh(y)"


def test_another_trace_is_another_graph() -> None:
    @mg.function
    def scale(x: Any) -> Any:
        y = x * 2
        return y + 1

    with mg.record(values=True) as log:
        for size in (2, 2, 3):
            scale(mg.tensor([1.0] * size))
    (made,) = scores(viz.timeline(log))
    assert [phase.kind for phase in made.phases] == ["build", "run", "run", "build", "run"]
    assert [row for row in labels(made) if row.endswith(("* 2", "+ 1"))] == [
        *("y = x * 2", "return y + 1"),
    ]


def test_a_branch_and_a_loop_show_what_ran_inside() -> None:
    with mg.Graph():
        x = mg.placeholder("x", shape=())
        (chosen,) = scores(viz.step(mg.build_graph(x, branch(x)), {x: -3}))
    ran = {labels(chosen)[n.row] for n in chosen.notes if n.kind == "run"}
    assert "else: v - 1" in ran
    assert labels(chosen)[4:] == ["then: v * 2", "else: v - 1"]
    assert "then: v * 2" not in ran
    (repeated,) = scores(viz.step(loop(3), {"x": 3}))
    body = [n.value for n in repeated.notes if labels(repeated)[n.row] == "body: a * x" and n.value]
    assert body == ["3", "9", "27", "9+9+9"], "and what each round passes back"
    assert repeated.notes[-4].sort == "operator", "its result counts as built and as run"
    *_, (_, counted) = tallies(viz.step(loop(3), {"x": 3}).films[0])
    drawn = [n for n in repeated.notes if n.kind == "run" and n.sort == "operator"]
    assert counted["clock_run"] == len(drawn) == 12
    kinds = [phase.kind for phase in repeated.phases]
    assert kinds == ["build", "gradients", "run", "backward"]


def test_operators_of_one_expression_are_told_apart_by_their_layers() -> None:
    model = mg.nn.Sequential(mg.nn.Linear(3, 2, seed=1), mg.nn.Linear(2, 2, seed=2))
    image = mg.tensor([[1.0, 2.0, 3.0]], name="image")
    (made,) = scores(viz.step(model(image)))
    assert labels(made)[:2] == ["linear1.weight", "linear1.bias"]
    assert "linear2.MatMul  model(image)" in labels(made)
    assert len(set(labels(made))) == len(made.rows)


def test_layers_are_rows_where_their_lines_are_too_many_in_the_order_they_compute() -> None:
    for made in scores(viz.step(digits()[0])):
        assert labels(made) == ["image", "linear1", "relu1", "linear2", "label", "loss"]


def test_calls_are_rows_where_their_lines_are_too_many() -> None:
    """What all of them share is a row, and so is the sequence of which each is given one."""
    (made,) = scores(viz.step(unrolled(8)))
    calls = [f"rnncell ({i})" for i in range(1, 9)]
    assert [label for label in labels(made) if "(" in label] == [*calls, "return h.sum()"]
    assert [*labels(made)] == [
        "rnncell.parameters",
        "x0 … x7",
        "h",
        *calls,
        "return h.sum()",
    ]
    row = labels(made).index("x0 … x7")
    assert sum(len(n.nodes) for n in made.notes if n.row == row and n.sort == "input") == 8


@pytest.mark.parametrize(
    ("count", "most"), [(16, 12), pytest.param(50, 40, marks=pytest.mark.exhaustive)]
)
def test_strips_are_rows_where_even_the_calls_are_too_many(
    count: int, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    if most < MANY:
        monkeypatch.setattr("viz.film.score.MANY", most)
    (made,) = scores(viz.step(unrolled(count)))
    ends = [f"rnncell ({i})" for i in (1, count)]
    strip = f"rnncell × {count - 2}"
    assert {f"x0 … x{count - 1}", *ends, strip} <= {*labels(made)}


@pytest.fixture(scope="module")
def opening() -> dict[str, Any]:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(ROOT / "docs")  # where its letters are, too
        return runpy.run_path(str(ROOT / "docs" / "both_ways.py"))


def test_the_opening_picture_says_what_was_recorded(opening: dict[str, Any]) -> None:
    films, equal = opening["recorded"]()
    assert equal, "what the picture says, bit for bit"
    dynamic, static = map(opening["Staff"].of, films)
    counts = [[numbers for _, numbers in staff.counts()] for staff in (dynamic, static)]
    assert counts == [
        [(i, i) for i in range(1, 7)],
        [(1, 0), (2, 0), *((2, i) for i in range(1, 7))],
    ]
    for staff in (dynamic, static):
        recorded = [max(f.ticks.get(tick, 0) for f in staff.film.frames) for tick in (BUILT, RUN)]
        assert [*[*staff.counts()][-1][1]] == recorded
    assert (dynamic.kept(), static.kept()) == (("thrown", 3), ("kept", 1))
    assert [kind for kind, *_ in dynamic.phases()] == ["both"] * 3
    assert list(static.phases()) == [("build", 0, 2), *(("run", i, i + 2) for i in (3, 6, 9))]
    svg = opening["picture"]("en")
    assert "bit for bit" in svg
    phone = opening["picture"]("en", 360, phone=True)
    assert 'viewBox="0 0 360 638"' in phone, "whole on a phone of 844 px, below its heading"
    unequal = opening["Drawn"]([dynamic, static], opening["Layout"](760), "en", equal=False)
    assert "bit for bit" not in unequal.svg()


def test_each_call_of_a_dynamic_graph_is_given_its_tensors_a_step_before_it_builds() -> None:
    made = score(viz.compare(lambda x: x * x + 3, 2.0).films[0])
    steps = [note.step for note in made.notes if note.sort != "constant"]
    first, second = steps[: len(steps) // 2], steps[len(steps) // 2 :]
    assert [step - second[0] for step in second] == [step - first[0] for step in first]
    built = [(phase.start, phase.end) for phase in made.phases if phase.kind == "both"]
    assert built == [(1, 2), (9, 10)], "without the step in which they are given"

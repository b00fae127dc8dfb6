"""`step`, `compare`, `timeline`: what they accept, and a verdict that can be negative."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import covering
import numpy as np
import pytest
from test_every_op import EFFECTS, MADE_BY_PASSES, draw

import minigrad as mg
import viz
from minigrad.core import REGISTRY, Op, apply
from minigrad.diagnostics.messages import set_language
from minigrad.ops import elementwise
from viz.film.film import BUILT, RUN
from viz.film.frames import Film
from viz.film.score import tallies
from viz.picture.picture import picture
from viz.views import step as show
from viz.words.text import ROWS

pytestmark = pytest.mark.usefixtures("english", "undrawn")

nan, inf = np.nan, np.inf


def formula(x: Any) -> Any:
    return x * x + 3


def layer(x: Any, W: Any, b: Any) -> Any:
    return mg.relu(W @ x + b)


def deep(x: Any, w: Any) -> Any:
    """As many operators as may be called twice."""
    for _ in range(show.TWICE // 3):
        x = mg.tanh(x * w + x)
    return x


def difference(player: viz.Player) -> str:
    assert player.verdict is not None
    return player.verdict[0]


@pytest.mark.parametrize(
    ("model", "inputs"),
    [
        (formula, [2.0]),
        (formula, [np.linspace(-1, 1, 7)]),
        (layer, [[1.0, 1.0], [[1.0, -2.0], [3.0, 4.0]], [0.5, -1.0]]),
        (lambda scores, labels: mg.cross_entropy(scores, labels), [[[1.0, 2.0]], [1]]),
        (mg.nn.Linear(3, 2, seed=0), [np.ones((4, 3))]),
        (lambda x: mg.exp(x) / (1 + mg.exp(x)), [[0.5, -0.5]]),
        (lambda x: mg.log(x), [[-1.0, 1.0]]),
    ],
    ids=["formula", "array", "layer", "labels", "module", "composed", "nan"],
)
def test_both_graphs_give_the_same_bits(model: Any, inputs: list[Any]) -> None:
    with np.errstate(all="ignore"):
        player = viz.compare(model, *inputs)
    assert player.verdict == ROWS["equal_bits"]
    assert [film.picture.kind for film in player.films] == ["dynamic", "static"]
    assert player.text()[0].endswith("equal, bit for bit")
    left, right = (film.results for film in player.films)
    assert set(left) == set(right)
    assert len(left) >= 2, "an output and a gradient were compared"


WALKED = [op for op in REGISTRY.values() if op.name not in EFFECTS | MADE_BY_PASSES]


@pytest.mark.cases(36)
@pytest.mark.parametrize("op", WALKED, ids=str)
def test_every_operator_is_stepped_through_both_ways(
    op: Op, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also those without a gradient, which leave nothing on a tape, give their result."""
    if not covering.thorough:  # what is sent to a page takes longer than both runs
        monkeypatch.setattr("viz.page.player.payload", lambda *_: {})
    sample = op.samples[0]
    player = viz.compare(lambda *xs: apply(op, xs, sample.attrs), *draw(sample, np.float32))
    assert player.verdict == ROWS["equal_bits"]
    for film in player.films:
        assert film.error is None
        assert ("output", "0") in film.results


def test_outputs_of_the_same_name_are_compared_each() -> None:
    left, right = viz.compare(lambda x: (x * 2, x * 3), 1.0).films
    for film in (left, right):
        assert [film.results["output", i].item() for i in "01"] == [2, 3]


def test_the_arguments_keep_their_names() -> None:
    films = viz.compare(layer, [1.0, 1.0], np.eye(2), [0.0, 0.0]).films
    for film in films:
        leaves = {n.label for n in film.picture.nodes if not n.inputs}
        assert leaves == {"x", "W", "b"}


def test_a_run_that_ends_differently_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """All results of the static run are a quarter too large."""

    def wrong(*arguments: Any, **named: Any) -> Film:
        film = replay(*arguments, **named)
        results = {k: v + v.dtype.type(0.25) for k, v in film.results.items()}
        return replace(film, results=results)

    replay = show.replay_graph
    monkeypatch.setattr(show, "replay_graph", wrong)
    player = viz.compare(formula, 2.0)
    assert difference(player) == "checked: the two graphs differ by up to 0.25"
    assert player.verdict[1] == "已检验：两张图最多相差 0.25"
    assert player.data["equal"] is False
    assert player.text()[0].endswith("0.25")


def test_a_kernel_that_computes_differently_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """It goes wrong between the two runs: right on the tape, wrong in the static graph."""
    kernel, replay = elementwise.add.run, show.replay_tape

    def wrong(*arguments: Any, **attributes: Any) -> Any:
        return kernel(*arguments, **attributes) + np.float32(0.125)

    def then_break(*arguments: Any) -> Film:
        made = replay(*arguments)
        object.__setattr__(elementwise.add, "run", wrong)  # an operator is frozen
        return made

    monkeypatch.setattr(show, "replay_tape", then_break)
    try:
        player = viz.compare(formula, 2.0)
    finally:
        object.__setattr__(elementwise.add, "run", kernel)
    assert difference(player) == "checked: the two graphs differ by up to 0.125"


def film(**results: Any) -> Film:
    keyed = {("gradient", "", name): np.asarray(v) for name, v in results.items()}
    return Film(picture(mg.Graph()), (), {}, keyed)


@pytest.mark.parametrize(
    ("left", "right", "largest"),
    [
        ({"x": 1.0}, {"x": 1.5}, "0.5"),
        ({"x": [1.0, 2.0]}, {"x": [1.0, 5.0]}, "3"),
        ({"x": 1.0}, {"x": nan}, "inf"),
        ({"x": nan}, {"x": 1.0}, "inf"),
        ({"x": inf}, {"x": 1.0}, "inf"),
        ({"x": 1.0}, {}, "inf"),
        ({}, {"x": 1.0}, "inf"),
        ({"x": 1.0}, {"y": 1.0}, "inf"),
        ({"x": [1.0]}, {"x": [1.0, 1.0]}, "inf"),
        ({"x": 0.0}, {"x": -0.0}, "0"),
        ({"x": np.float32(1)}, {"x": np.float64(1)}, "0"),
        ({"x": [True]}, {"x": [False]}, "1"),
    ],
)
def test_every_difference_is_a_difference(left: Any, right: Any, largest: str) -> None:
    verdict = show._verdict(film(**left), film(**right))
    assert verdict is not None
    assert verdict[0] == f"checked: the two graphs differ by up to {largest}"


@pytest.mark.parametrize("value", [1.0, nan, [inf, -0.0], np.zeros(0), [True]])
def test_the_same_bits_are_equal(value: Any) -> None:
    assert show._verdict(film(x=value), film(x=value)) == ROWS["equal_bits"]


def test_a_large_comparison_has_two_calls_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is built again, and what is kept, is its point at any size."""
    monkeypatch.setattr(show, "TWICE", 60)
    player = viz.compare(deep, 0.5, 0.3)
    counts = [[*tallies(film)][-1][1] for film in player.films]
    assert [(ticks[BUILT], ticks[RUN]) for ticks in counts] == [(120, 120), (60, 120)]
    longest = max(len(frame.caption[0]) for film in player.films for frame in film.frames)
    assert longest < 200, "not all that the first call leaves behind is named"


def test_nothing_compared_gives_no_verdict() -> None:
    assert show._verdict(film(), film()) is None


def test_compare_inside_no_grad_compares_all_the_same() -> None:
    with mg.no_grad():
        assert viz.compare(formula, 2.0).verdict == ROWS["equal_bits"]


def test_compare_leaves_the_inputs_and_the_default_graph_alone() -> None:
    x = mg.tensor(2.0, requires_grad=True)
    with mg.Graph() as graph:
        viz.compare(formula, x)
    assert (x.grad, graph.nodes) == (None, ())


def test_a_feed_that_does_not_fit_names_the_line_of_the_user() -> None:
    with mg.Graph():
        x = mg.placeholder("x", shape=(2,))
        y = x * 2
    with pytest.raises(mg.FeedError, match=r"used at test_show\.py") as caught:
        viz.step(y, {x: [1, 2, 3]})
    assert "viz.step(y" in str(caught.value)


def eager_run() -> None:
    x = mg.tensor([2.0, 1.0], requires_grad=True)
    y = mg.tanh(x) * x + 3
    (y * y).sum().backward()


def static_run() -> None:
    a = mg.placeholder("a", shape=())
    mg.run(mg.build_graph(a, a * a + 3), {"a": 2})


def loop_run() -> None:
    a = mg.placeholder("a", shape=())
    y = mg.while_loop(lambda x: x < 20, lambda x: x * 2, a + 1)
    mg.run(mg.build_graph(a, y), {"a": 2})


def test_a_timeline_of_both_graphs() -> None:
    with mg.record(values=True) as log:
        x = mg.tensor(2.0, requires_grad=True)
        y = x * x + 3
        y.backward()
        with mg.Graph():
            p = mg.placeholder("p")
            q = p * p + 3
            mg.run(mg.build_graph(p, q), {p: 2})
    dynamic, static = viz.timeline(log).films
    assert (dynamic.picture.kind, static.picture.kind) == ("dynamic", "static")
    lanes = [
        [m.clock.removeprefix("clock_") for f in film.frames for m in f.marks if m.sort == sort]
        for film in (dynamic, static)
        for sort in ("operator", "input")
    ]
    assert lanes[0] == ["built", "run"] * 2 + ["gradient"] * 3
    assert lanes[2] == ["built"] * 2 + ["run"] * 2
    assert (len(lanes[1]), lanes[3]) == (2, ["built"] * 2 + ["run"] * 2)
    assert "y = Add" in dynamic.picture.text()
    assert "q = Add" in static.picture.text()


def test_a_timeline_in_which_nothing_was_recorded() -> None:
    with mg.record(values=True) as log:
        pass
    player = viz.timeline(log)
    assert [f.caption[0] for f in player.frames][-1].startswith("done: 0 operators built")
    player._repr_mimebundle_()


def call_run() -> None:
    two = mg.function(lambda x: (x * 2, mg.exp(x)))
    first, second = two(mg.tensor([2.0, 1.0], requires_grad=True))
    (first * second).sum().backward()


@pytest.mark.parametrize("run", [eager_run, static_run, loop_run, call_run])
def test_both_clocks_come_from_any_recording(run: Callable[[], Any]) -> None:
    """Without values, too, which are then said to be unknown."""
    with mg.Graph(), mg.record(values=True) as told:
        run()
    with mg.Graph(), mg.record() as bare:
        run()
    shown = viz.timeline(bare)
    films = [show.films_of(told, {}), shown.films]
    for known, unknown in zip(*films, strict=True):
        assert [f.marks for f in unknown.frames] == [f.marks for f in known.frames]
        assert [set(f.flows) for f in unknown.frames] == [set(f.flows) for f in known.frames]
        assert {i: t.born for i, t in unknown.tracks.items()} == {
            i: t.born for i, t in known.tracks.items()
        }
        computed = [n.id for n in unknown.picture.nodes if n.inputs]
        assert {s.short for i in computed for _, s in unknown.tracks[i].values} <= {"?"}
    assert sum(bool(f.marks) for film in films[1] for f in film.frames) > 3
    shown._repr_mimebundle_()


@pytest.mark.parametrize("thing", [3, None, [], "abc", lambda: None, [1.0]])
def test_other_things_are_refused(thing: Any) -> None:
    for language, words in (("en", "viz cannot draw"), ("zh", "viz 无法绘制")):
        set_language(language)
        with pytest.raises(TypeError, match=words):
            viz.step(thing)
        with pytest.raises(TypeError, match=words):
            viz.timeline(thing)

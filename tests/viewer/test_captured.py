"""Models of other systems as graphs of ours: what needs no other system to be tested."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import minigrad as mg
import viz
from minigrad.core import Spec, float32
from minigrad.core.events import Event, listen
from minigrad.diagnostics.source import SavedLine
from minigrad.interop.boxes import opaque_call, opaque_node
from minigrad.interop.captured import About, Builder, Captured, Refused, relative_gap, seed
from viz.film.replay import replay_tape
from viz.page.player import Player
from viz.picture.summary import summarize
from viz.views.models import verdict
from viz.views.step import player_of

X = np.array([1.0, 8.0], np.float32)


def root(*arrays: Any) -> list[Any]:
    return [np.cbrt(arrays[0])]


def root_back(index: int, position: int, g: Any, arrays: Sequence[Any]) -> Any:
    return g / (3 * np.cbrt(arrays[0]) ** 2)


def captured(wrong: float = 0.0) -> Captured:
    """cbrt(w · x) of another system, which calls it itself."""
    build = Builder()
    x = build.placeholder("x", X)
    w = build.variable("line.w", np.float32(8.0), "line: Line", trained=True)
    build.variable("line.count", np.float32(1.0), "line: Line", trained=False)
    with build.at("line: Line", (SavedLine("theirs.py", 7, "y = cbrt(w * x)"), 0)):
        (y,) = opaque_node("cbrt", "Other", root, root_back, [w * x], [Spec((2,), float32)])
    build.boxes.append("cbrt")
    given = 2 * np.cbrt(X)
    weighted = given * seed(given)
    slopes = {"x": weighted / X / 3, "line.w": np.float32(weighted.sum() / 24)}
    return build.captured("Other", [y], [given + np.float32(wrong)], slopes)


def test_a_box_calls_the_original_forward_and_backward() -> None:
    model = captured()
    assert max(model.gaps()) < 1e-6
    player = player_of(list(model.outputs), {}, model.feeds, None, verdict(model))
    shown = {k[-1]: v for k, v in player.films[0].results.items()}
    np.testing.assert_allclose(shown["0"], [2, 4], rtol=1e-6)
    np.testing.assert_allclose(shown["line.w"], 0.25, rtol=1e-6)
    (node,) = [n for n in player.films[0].picture.nodes if n.op == "Other_cbrt"]
    assert node.title[0] == "no counterpart here: calls Other"
    assert node.group == "line: Line"
    assert node.line == "theirs.py, line 7:  y = cbrt(w * x)"


def test_what_was_found_is_said_in_both_languages() -> None:
    english, chinese = verdict(captured())
    assert english.startswith("checked against Other: the largest relative difference is")
    assert english.endswith("Other itself is called: cbrt.")
    assert chinese.startswith("已与 Other 对照检验")
    assert Player([], verdict(captured())).data["equal"]
    assert not Player([], verdict(captured(wrong=0.01))).data["equal"]
    english, chinese = verdict(captured(wrong=0.01))
    assert english.startswith("This is not quite what Other computes")
    assert chinese.startswith("这里与 Other 的计算不完全一致")


def two_results(*arrays: Any) -> list[Any]:
    return [arrays[0] * arrays[1], arrays[0] + 1]


def product_back(index: int, position: int, g: Any, arrays: Sequence[Any]) -> Any:
    return g * arrays[1 - position] if index == 0 else g


def test_a_box_passes_back_only_where_the_original_does() -> None:
    spec = Spec((2,), float32)
    with mg.Graph():
        a, b = (mg.placeholder(name, shape=(2,)) for name in "ab")
        pairs = {(0, 1), (1, 0)}
        first, second = opaque_node(
            "f", "Other", two_results, product_back, [a, b], [spec, spec], pairs
        )
        of_first, of_second = mg.gradients(first, [a, b]), mg.gradients(second, [a, b])
        assert [g is None for g in (*of_first, *of_second)] == [True, False, False, True]
        graph = mg.build_graph([], [of_first[1], of_second[0]])
        found = mg.run(graph, {a: X, b: X * 2})
        np.testing.assert_array_equal(found, [X, [1, 1]])


def chain(about: About, wrong: float = 1.0) -> Captured:
    """(x · first) · second; the original's gradient of `first` is `wrong` times this one."""
    build = Builder()
    x = build.placeholder("x", X)
    first = build.variable("first", np.float32(2.0), "", trained=True)
    frozen = build.variable("frozen", np.float32(3.0), "", trained=False)
    second = build.variable("second", np.float32(5.0), "", trained=True)
    inner = x * first
    y = inner * second * frozen
    build.originals[inner] = X * 2
    weights = seed(X)
    theirs: dict[str, Any] = {
        "x": 30 * weights,
        "first": np.float32((15 * X * weights).sum() * wrong),
        "second": np.float32((6 * X * weights).sum()),
    }
    return build.captured("Other", [y], [30 * X], theirs, about)


def test_the_verdict_names_the_first_gradient_apart_and_what_else_is_known() -> None:
    about = About([["first", "last"]], ["layer"], ["igamma"])
    model = chain(about, wrong=2.0)
    assert [*model.gradients] == ["x", "first", "second"]  # nothing flows into what is frozen
    assert model.first_gradient_apart() == "first"
    english, chinese = verdict(model)
    assert "gradients start to differ at first." in english
    assert "aren't part of the graph: layer." in english
    assert "no derivative for igamma" in english
    assert "These names share one tensor: first = last." in english
    assert "这些名字指的是同一个张量：first = last。" in chinese
    assert chain(About()).first_gradient_apart() is None


def test_the_verdict_names_the_first_value_apart() -> None:
    model = chain(About())
    assert model.first_value_apart() is None
    (node,) = model.about.originals
    model.about.originals = {node: X * 3}
    assert model.first_value_apart() is node


def test_a_model_whose_original_refuses_to_differentiate_is_played_forward() -> None:
    refused = chain(About(refused=Refused("a tensor was written to.")))
    english, chinese = verdict(refused)
    assert english.startswith("checked against Other: the largest relative difference is 0")
    assert "because Other cannot differentiate this function: a tensor was written to." in english
    assert "Other 无法对这个函数求导" in chinese
    assert refused.gradients == {}


def test_a_gap_that_is_gone_in_float64_is_rounding() -> None:
    about = About()
    about.precise = lambda: chain(About())
    said = verdict(chain(about, wrong=1.01))
    assert said[0].startswith("checked against Other in float64: the largest")
    assert "they differ by 0 and 9.9e-03, because it magnifies rounding" in said[0]
    assert Player([], said).data["equal"]
    about.precise = lambda: chain(About(), wrong=1.01)
    assert not Player([], verdict(chain(about, wrong=1.01))).data["equal"]


def test_a_tape_that_keeps_its_operands_can_run_again() -> None:
    x = mg.tensor([1.0, 2.0], requires_grad=True)
    y = mg.where(np.array([True, False]), x + np.float32([3.0, 4.0]), 7.0)
    assert replay_tape([y], {}).error is not None

    def keep(event: Event) -> None:
        if event.kind == "built":
            event.node.keep([getattr(v, "data", v) for v in event.operands])

    with listen(keep):
        y = mg.where(np.array([True, False]), x + np.float32([3.0, 4.0]), 7.0)
    film = replay_tape([y], {})
    assert film.error is None
    (found,) = (v for k, v in film.results.items() if k[0] == "output")
    np.testing.assert_array_equal(found, [4, 7])


def plays(model: Captured) -> Player:
    backward = model.about.refused is None
    return player_of(list(model.outputs), {}, model.feeds, None, verdict(model), backward)


def test_a_model_that_is_not_differentiated_plays_forward_and_says_why() -> None:
    build = Builder()
    x = build.placeholder("x", X)
    line = SavedLine("theirs.py", 7, "y = loop(x)"), 0
    why = Refused("no rule for it.", "loop", line)
    model = build.captured("Other", [x * 2], [X * 2], {}, About(refused=why))
    assert model.gaps() == (0, 0)
    player = plays(model)
    assert player.films[0].results.keys() == {("output", "0")}
    english, chinese = (text.splitlines()[-1] for text in player.text())
    assert english.endswith(
        "There is no backward pass, because Other cannot differentiate loop "
        "(theirs.py, line 7:  y = loop(x)): no rule for it."
    )
    assert "没有反向传播，因为 Other 无法对 loop 求导" in chinese


@pytest.mark.parametrize(
    ("result", "said"),
    [
        (lambda x: x > 2, "only floating-point results have a gradient, and these are bool"),
        (lambda x: mg.argmax(x, 0), "only floating-point results have a gradient, and these are i"),
        (lambda x: mg.stop_gradient(x) * 2, "no gradient flows from the results back to an input"),
    ],
)
def test_results_without_a_gradient_play_forward_and_say_so(result: Any, said: str) -> None:
    build = Builder()
    y = result(build.placeholder("x", X))
    values = [np.asarray(mg.run(mg.build_graph([], y), {"x": X}))]
    model = build.captured("Other", [y], values, {"x": np.zeros(2, np.float32)})
    assert model.gaps() == (0, 0)
    assert f"There is no backward pass: {said}" in plays(model).text()[0]


def test_an_input_that_is_returned_has_the_gradient_1() -> None:
    build = Builder()
    x = build.placeholder("x", X)
    film = plays(build.captured("Other", [x], [X], {"x": seed(X)})).films[0]
    assert film.results["gradient", "", "x"].tolist() == [1, 1]


def test_a_box_passes_back_from_all_its_results_at_once() -> None:
    """As a rule that is not linear needs: this one scales two gradients to the length 5."""

    def back(gs: Any, positions: Sequence[int], arrays: Sequence[Any]) -> list[Any]:
        length = np.sqrt(sum(np.sum(g**2) for g in gs.values()))
        return [np.sum(gs[0]) * 5 / length + 0 * arrays[i] for i in positions]

    called = []

    def split(x: Any) -> list[Any]:
        called.append(1)
        return [x[0], x[1]]

    build = Builder()
    x = build.placeholder("x", X)
    with build.graph:
        both = [Spec((), float32)] * 2
        a, b = opaque_call("split", "Other", split, back, [x], both, own_rule=True)
        y = a * 6 + b * 8
    build.own_rules.append(("split", (SavedLine("theirs.py", 7, "a, b = split(x)"), 0)))
    model = build.captured("Other", [y], [np.float32(70)], {"x": np.full(2, 3.0, np.float32)})
    assert max(model.gaps()) < 1e-6
    called.clear()
    player = plays(model)
    assert len(called) == 1
    assert player.films[0].results["gradient", "", "x"].tolist() == [3, 3]
    (node,) = [n for n in player.films[0].picture.nodes if n.op == "Other_split"]
    assert node.title == ("a gradient rule of its own: calls Other", "自带梯度规则：调用 Other")
    assert player.text()[0].endswith("Other itself is called: split (theirs.py, line 7).")


def test_complex_numbers_pass_through_boxes_and_are_drawn_by_their_size() -> None:
    """|x + i x| · √2⁻¹ is |x|, by way of complex numbers."""
    z = X + 1j * X
    build = Builder()
    x = build.placeholder("x", X)
    turned = opaque_call(
        "turn",
        "Other",
        lambda x: [x + 1j * x],
        lambda gs, positions, arrays: [(gs[0] * (1 + 1j)).real],
        [x],
        [Spec((2,), np.dtype(complex))],
    )
    size = opaque_call(
        "size",
        "Other",
        lambda z: [np.abs(z).astype(np.float32)],
        lambda gs, positions, arrays: [gs[0] * np.conj(arrays[0]) / np.abs(arrays[0])],
        turned,
        [Spec((2,), float32)],
    )
    length = np.abs(z).astype(np.float32)
    slopes = {"x": seed(length) * np.float32(2**0.5)}
    model = build.captured("Other", size, [length], slopes)
    assert max(model.gaps()) < 1e-6
    player = plays(model)
    np.testing.assert_allclose(player.films[0].results["gradient", "", "x"], [2**0.5] * 2, 1e-6)
    assert "[1+1j, 8+8j]" in player.text()[0]
    many = summarize(np.full(20, 3 + 4j))
    assert (many.short, many.raster and many.raster.cells[0][0]) == ("[5, 5, …]", 5)


def test_complex_numbers_may_be_fed_only_where_they_are_declared() -> None:
    build = Builder()
    z = np.array([1 + 2j], np.complex64)
    node = build.placeholder("z", z)
    found = mg.run(mg.build_graph([], mg.reshape(node, (1, 1))), {node: z})
    assert found.tolist() == [[1 + 2j]]
    with mg.Graph():
        x = mg.placeholder("x", shape=(1,))
        graph = mg.build_graph(x, x * 2)
    with pytest.raises(mg.FeedError):
        mg.run(graph, {x: z})


@pytest.mark.parametrize(
    ("ours", "theirs", "apart"),
    [
        ([np.array([1.0, 2.0])], [np.array([1.0, 4.0])], 0.5),
        ([np.array([1.0])], [np.array([1.0, 1.0])], np.inf),
        ([None], [None], 0.0),
        ([None], [np.array([2.0])], 1.0),
        ([np.array([np.nan])], [np.array([1.0])], np.inf),
        ([np.array([np.inf])], [np.array([np.inf])], 0.0),
        ([np.array([1 + 1j])], [np.array([1 - 3j])], 4 / 10**0.5),
        ([np.array([True])], [np.array([False])], 1.0),
    ],
)
def test_how_far_two_results_are_apart(ours: Any, theirs: Any, apart: float) -> None:
    assert relative_gap(ours, theirs) == apart


def test_a_function_of_ours_takes_its_inputs_behind_it() -> None:
    x = mg.tensor(3.0, requires_grad=True)
    assert "3 × 3 = 9" in viz.step(lambda a, b: a * b, x, x).text()[0]


def test_a_feed_and_a_session_may_follow_a_graph() -> None:
    with mg.Graph(), mg.Session() as session:
        x = mg.placeholder("x", shape=())
        w = mg.Variable(2.0, name="w")
        session.run(mg.global_variables_initializer())
        session.run(mg.assign(w, 5.0))
        for player in (
            viz.step(x * w, {x: 3.0}, session),
            viz.step(x * w, {"x": 3}, session=session),
        ):
            assert "= 3 × 5 = 15" in player.text()[0]
        assert "= 3 × 2 = 6" in viz.step(x * w, feed_dict={x: 3.0}).text()[0]

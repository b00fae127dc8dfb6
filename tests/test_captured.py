"""Models of other systems as graphs of ours: what needs no other system to be tested."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import minigrad as mg
import viz
from minigrad.core import Spec, float32
from minigrad.diagnostics.source import SavedLine
from minigrad.interop.boxes import box
from minigrad.interop.captured import Builder, Captured, gap, seed
from viz.page.player import Player
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
        (y,) = box("cbrt", "Other", root, root_back, [w * x], [Spec((2,), float32)])
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
    assert english.startswith("checked against Other: of the largest magnitude, values differ by")
    assert english.endswith("Other itself is called: cbrt.")
    assert chinese.startswith("已与 Other 对照检验")
    assert Player([], verdict(captured())).data["equal"]
    assert not Player([], verdict(captured(wrong=0.01))).data["equal"]
    english, chinese = verdict(captured(wrong=0.01))
    assert english.startswith("This is not quite what Other computes")
    assert chinese.startswith("这里与 Other 的计算不完全一致")


@pytest.mark.parametrize(
    ("ours", "theirs", "apart"),
    [
        ([np.array([1.0, 2.0])], [np.array([1.0, 4.0])], 0.5),
        ([np.array([1.0])], [np.array([1.0, 1.0])], np.inf),
        ([None], [None], 0.0),
        ([None], [np.array([2.0])], 1.0),
        ([np.array([np.nan])], [np.array([1.0])], np.inf),
        ([np.array([np.inf])], [np.array([np.inf])], 0.0),
    ],
)
def test_how_far_two_results_are_apart(ours: Any, theirs: Any, apart: float) -> None:
    assert gap(ours, theirs) == apart


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

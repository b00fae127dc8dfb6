"""`viz.branches`: the arm that runs, the arm that does not, and the arm that a trace baked in."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import minigrad as mg
import viz
from viz.page.board import Board
from viz.page.scenes import Panel
from viz.words.text import ROWS

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.usefixtures("english")


def e10(x: Any) -> Any:
    if x.sum() > 0:
        return 2 * x
    return x - 1


def e10_cond(x: Any) -> Any:
    return mg.cond(x.sum() > 0, lambda: 2 * x, lambda: x - 1)


def halve(x: Any) -> Any:
    while x > 1:
        x = x / 2
    return x


def panel(board: Board, step: int, title: str) -> Panel:
    (found,) = [p for p in board.scenes[step].panels if p.title[0] == title]
    return found


def operators(shown: Panel) -> dict[str, str]:
    """The mark of each operator of a panel, by name."""
    assert shown.picture is not None
    return {n.op: shown.marks[n.id] for n in shown.picture.nodes if n.inputs}


INPUTS = [[3.0], [-1.0], [-3.0]]
E10 = """\
1. x = -1 gives: eager -2, static -2, trace -2 !, script -2
  the function
      def e10(x: Any) -> Any:
    ✓     if x.sum() > 0:
    ∅         return 2 * x
    ✓     return x - 1
  eager
    • n1 2
      n2 x: -1
    • n3 Mul
    ✓ n5 Sub: -2
    runs line by line
  static and script: the same graph
      n1 x: -1
    ✓ n2 Sum: -1
    ✓ n4 Greater: False
    ✓ n5 Cond: -2
    ∅ b1 x
    ∅ b2 2
    ∅ b3 Mul
      b4 x: -1
    ✓ b6 Sub: -2
    one graph, built first; translated from Python
  trace
      n1 x: -1
    ! n3 Mul: -2
    recorded with x = 3
  eager: 3 nodes for this input; 3 operators run, 1 kept
  static and script: 11 nodes for every input; this time 8 took part, 3 did not; 4 operators run
  trace: in the recorded run, if x.sum() > 0 was True; here it is False
"""
WRONG = """\
2. x = -3 gives: eager -4, static -4, trace -6 ✗, script -4
  trace
      n1 x: -3
    ✗ n3 Mul: -6
    recorded with x = 3
  eager: 3 nodes for this input; 3 operators run, 1 kept
  static and script: 11 nodes for every input; this time 8 took part, 3 did not; 4 operators run
  trace: in the recorded run, if x.sum() > 0 was True; here it is False
"""


def test_e10_four_ways() -> None:
    """x = −3: right is −4, and −6 what the trace gives that was made for 3."""
    text = viz.branches(e10, mg.tensor([3.0]), inputs=INPUTS, cond=e10_cond).text()[0]
    assert E10 in text
    assert WRONG in text, "and no more: the others are lit as before"
    assert text.endswith("""\
x | eager | static | trace | script
3 | 6 | 6 | 6 | 6
-1 | -2 | -2 | -2 ! | -2
-3 | -4 | -4 | -6 ✗ | -4""")


def test_the_marks_follow_the_input() -> None:
    board = viz.branches(e10, [3.0], inputs=INPUTS, cond=e10_cond)
    ran, ghost, absent = "ran", "ghost", "absent"
    assert operators(panel(board, 0, "eager")) == {"Mul": ran, "Sub": absent}
    assert operators(panel(board, 2, "eager")) == {"Mul": absent, "Sub": ran}
    titles = [p.title[0] for p in board.scenes[0].panels]
    assert titles == ["the function", "eager", "static and script: the same graph", "trace"]
    same = titles[2]
    assert operators(panel(board, 0, same))["Mul"] == ran
    assert operators(panel(board, 0, same))["Sub"] == ghost
    assert operators(panel(board, 2, same))["Mul"] == ghost
    assert operators(panel(board, 2, same))["Sub"] == ran
    handed = [panel(board, step, same).marks.get("b1") for step in (0, 2)]
    assert handed == [None, ghost], "what an arm is handed goes dark with it"
    baked = [operators(panel(board, step, "trace"))["Mul"] for step in range(3)]
    assert baked == [ran, "baked", "wrong"], "for −1 both arms give −2"
    assert board.index == 2, "it opens where the trace is wrong"


VERDICTS = [half.splitlines()[0] for half in ROWS["branches_undecided"]]


def test_without_a_function_with_cond_the_static_graph_says_what_it_needs() -> None:
    board = viz.branches(e10, [3.0], inputs=INPUTS)
    static = panel(board, 0, "static")
    assert static.picture is None
    assert static.message is not None
    assert "mg.cond" in static.message[0]
    assert "mg.cond" in static.message[1]
    verdicts = [half.splitlines()[0] for half in static.message]
    assert verdicts == VERDICTS, "in a sentence of its own"
    assert "static" not in board.text()[0].splitlines()[-1]


def test_a_function_with_cond_is_its_own_static_graph() -> None:
    board = viz.branches(e10_cond, np.array([3.0]), inputs=INPUTS)
    assert operators(panel(board, 2, "static and script: the same graph"))["Sub"] == "ran"
    assert panel(board, 2, "trace").marks
    assert "✗" not in board.text()[0].splitlines()[-1], "cond is not baked in"


def test_the_slider_goes_from_minus_the_example_to_the_example() -> None:
    board = viz.branches(e10, [4.0, 4.0])
    assert [row[0][0] for row in board.sheet.rows[:2]] == ["[-4, -4]", "[-3, -3]"]
    assert len(board.scenes) == 9
    whole = viz.branches(lambda n: n * 2, np.int64(2))
    assert [row[0][0] for row in whole.sheet.rows] == ["-2", "-1", "0", "1", "2"]


def test_only_the_ways_asked_for_are_shown_and_what_stays_lit_is_told_once() -> None:
    inputs = np.arange(-3, 3.5, 0.5)
    board = viz.branches(e10, 3.0, inputs=inputs, cond=e10_cond, ways=("static", "eager"))
    titles = [p.title[0] for p in board.scenes[0].panels]
    assert titles == ["the function", "eager", "static"]
    assert [scene.place for scene in board.scenes[:2]] == ["x = -3", "x = -2.5"]
    alike = [{p.alike for p in scene.panels} for scene in board.scenes]
    assert [i for i, found in enumerate(alike) if found == {False}] == [0, 7]
    assert alike.count({True}) == 11
    lines = board.text()[0].splitlines()
    at = lines.index("1. x = -2.5 gives: eager -3.5, static -3.5")
    assert lines[at + 1] == "2. x = -2 gives: eager -3, static -3"
    facts = [fact[0] for fact in board.scenes[0].facts]
    assert facts == [
        "eager: 3 nodes for this input; 3 operators run, 1 kept",
        "static: 11 nodes for every input; this time 8 took part, 3 did not; 4 operators run",
    ]
    for ways in ((), ("eager", "dynamic")):
        with pytest.raises(ValueError, match="eager, static, trace, script"):
            viz.branches(e10, 3.0, ways=ways)


def test_a_loop_is_unrolled_beside_a_loop_that_counts() -> None:
    board = viz.branches(halve, 6.0, inputs=[0.0, 2.0, 6.0, 12.0])
    sizes = []
    for step, steps in enumerate([0, 1, 3, 4]):
        eager, script = panel(board, step, "eager"), panel(board, step, "script")
        divided = [n for n in eager.picture.nodes if n.op == "Div"]
        assert [eager.marks[n.id] for n in divided].count("ran") == steps
        loop = next(n for n in script.picture.nodes if n.op == "While")
        assert (
            script.notes[loop.id] == script.held[loop.id].short == ["0", "1", "0.75", "0.75"][step]
        )
        assert operators(script)["Div"] == ("ran" if steps else "ghost")
        assert operators(script)["Greater"] == "ran"
        sizes.append(len(script.picture.nodes))
    assert len(set(sizes)) == 1
    facts = [fact[0] for fact in board.scenes[3].facts]
    assert facts[0] == "eager: 9 nodes for this input; 9 operators run, 4 kept"
    assert facts[2] == "script: 8 nodes for every input; 10 operators run", "the loop, and 9 in it"
    assert facts[3] == "the loop in the graph made 4 steps with the same nodes"
    cells = [row[2][0] for row in board.sheet.rows]
    assert cells == ["0 !", "0.25 ✗", "0.75", "1.5 ✗"]


def test_arms_on_one_line_nested_arms_and_several_arguments() -> None:
    def three(x: Any, y: Any) -> Any:
        return x * y if x > 1 else (x + y if x > 0 else x - y)

    board = viz.branches(three, 2.0, 5.0, inputs=[2.0, 0.5, (-1.0, 5.0)])
    for step, op in enumerate(["Mul", "Add", "Sub"]):
        for title in ("eager", "script"):
            marks = operators(panel(board, step, title))
            ran = [name for name in ("Mul", "Add", "Sub") if marks.get(name) == "ran"]
            assert ran == [op], (step, title)
    assert board.text()[0].splitlines()[0].startswith("0. x = 2, y = 5 gives: eager 10")
    assert operators(panel(board, 2, "trace"))["Mul"] == "wrong"


def test_an_input_that_is_moved_becomes_the_last_position() -> None:
    board = viz.branches(e10, [3.0], inputs=INPUTS, cond=e10_cond)
    (slider,) = board.data["sliders"]
    assert (slider["label"], slider["value"]) == ("x", 3.0)
    assert slider["low"] < -3 < 3 < slider["high"]
    fixed = board.scenes
    assert [s.inputs for s in fixed] == [tuple(x) for x in INPUTS], "where the slider stands"
    for value, told in (
        (-4.0, "x = -4 gives: eager -5, static -5, trace -8 ✗, script -5"),
        (1.0, None),
    ):
        board.inputs = [value]
        assert [s.caption for s in board.scenes[:3]] == [s.caption for s in fixed]
        assert len(board.scenes) == len(board.sheet.rows) == len(board.data["scenes"]) == 4
        assert board.index == 3
        assert board.scenes[3].inputs == (value,)
        assert told is None or board.scenes[3].caption[0] == told
    assert "✗" not in board.scenes[3].caption[0]


def test_an_input_that_cannot_run_says_why_and_changes_nothing() -> None:
    def picky(x: Any) -> Any:
        if x > 5:
            raise mg.ShapeError("reshape", op="Reshape", count=6, shape=(2, 3), target=(4,))
        return x * 2

    board = viz.branches(picky, 3.0, inputs=[3.0])
    before = board.data
    board.inputs = [6.0]
    assert "Reshape" in board.data["trouble"]
    assert {**board.data, "trouble": ""} == before
    board.inputs = [2.0]
    assert board.data["trouble"] == ""
    assert board.scenes[-1].caption[0].startswith("x = 2 gives: eager 4")


def test_nothing_is_left_behind() -> None:
    before = len(mg.get_default_graph().nodes)
    f = mg.function(e10_cond)
    x = mg.tensor([3.0], requires_grad=True)
    with mg.record() as log:
        board = viz.branches(f, x, inputs=INPUTS)
    assert log.events == []
    assert f.traces == 0
    assert x.grad is None
    assert len(mg.get_default_graph().nodes) == before
    json.dumps(board.data, allow_nan=False)


def test_other_things_are_refused_and_errors_come_through() -> None:
    with pytest.raises(TypeError, match="a function of tensors"):
        viz.branches(3, 1.0)
    with pytest.raises(mg.ShapeError):
        viz.branches(lambda x: x @ x, [[1.0, 2.0]])


def test_both_languages_tell_the_same() -> None:
    english, chinese = viz.branches(e10, [3.0], inputs=INPUTS).text()
    assert "x = -3 的结果：即时执行 -4，追踪 -6 ✗，脚本 -4" in chinese
    assert len(english.splitlines()) == len(chinese.splitlines())


def halved(x: Any) -> Any:
    while x > 1:
        x = x / 2
    return x


def test_a_line_that_was_reached_is_ticked_though_it_computes_nothing() -> None:
    board = viz.branches(halved, 4.0, inputs=[4.0, 0.5])
    for scene, ticked in zip(board.scenes, ([1, 2, 3], [1, 3]), strict=True):
        assert [i for i, (kind, _) in enumerate(scene.panels[0].code) if kind == "ran"] == ticked
    assert board.scenes[1].panels[0].code[2][0] == "ghost"


def test_the_lines_are_collected_without_getting_in_the_way_of_another_tracer() -> None:
    def tracer(*_: Any) -> None: ...

    before = sys.gettrace()
    sys.settrace(tracer)
    try:
        viz.branches(halved, 4.0, inputs=[4.0])
        found = sys.gettrace()
    finally:
        sys.settrace(before)
    assert found is tracer


def test_the_title_of_a_loop_is_about_loops() -> None:
    assert (
        viz.branches(halved, 4.0, inputs=[4.0]).heading[0].startswith("How each mode runs the loop")
    )
    assert viz.branches(e10, [3.0], inputs=INPUTS).heading[0].startswith("Which branch runs")


# ---- In the browser -----------------------------------------------------------------------------


def lit(page: Page, number: int) -> list[str]:
    """The mark of each node of a drawing, or nothing."""
    drawn = page.locator(".mg-stage .mg-graph").nth(number).locator("g.node")
    classes = drawn.evaluate_all("nodes => nodes.map(n => [...n.classList])")
    marks = [[c for c in each if not re.match("node|mg-kind-|mg-output", c)] for each in classes]
    return [" ".join(each).removeprefix("mg-") for each in marks]


@pytest.mark.browser
def test_the_slider_crosses_the_boundary_without_a_layout(tmp_path: Path, page: Page) -> None:
    board = viz.branches(e10, [3.0], inputs=INPUTS, cond=e10_cond)
    board.index = 0
    page.goto(board.save(tmp_path / "page.html").as_uri())
    page.evaluate("() => { window.first = document.querySelector('.mg-drawing svg'); }")
    assert "wrong" not in lit(page, 2)
    page.locator(".mg-board").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    assert "trace\xa0-6\xa0✗" in page.locator(".mg-caption").inner_text()
    assert lit(page, 2).count("wrong") == 1
    assert lit(page, 0).count("absent") == 2, "not in the graph of this input"
    assert lit(page, 1).count("ghost") == 3, "in the graph, and not run"
    assert page.locator(".mg-controls output").inner_text() == "x = -3"
    assert "−3" in page.locator(".mg-stage .mg-graph").nth(0).inner_text().replace("-", "−")
    assert page.evaluate("() => window.first === document.querySelector('.mg-drawing svg')")
    line = page.locator(".mg-code-ghost")
    assert "return 2 * x" in line.inner_text()
    assert page.locator("tr.mg-row").inner_text().split()[0] == "-3"
    assert page.errors == []


@pytest.mark.browser
def test_on_a_phone_the_verdict_is_a_whole_sentence(tmp_path: Path, page: Page) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(viz.branches(e10, [3.0], inputs=INPUTS).save(tmp_path / "page.html").as_uri())
    shown = page.locator(".mg-stage > .mg-graph > .mg-message")
    assert shown.inner_text() == VERDICTS[0]
    page.locator(".mg-unfold").click()
    assert "mg.cond" in shown.inner_text()

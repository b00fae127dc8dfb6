"""`viz.traces`: the cache of a function, call by call."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import minigrad as mg
import viz

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.usefixtures("english")


def called() -> tuple[Any, mg.Recording]:
    """Shapes (3,), (3,), (4,), then another number, then the first again."""

    @mg.function
    def scale(x: Any, n: int) -> Any:
        return x * n + 1

    with mg.record() as log:
        for size, n in [(3, 2), (3, 2), (4, 2), (4, 5), (3, 2)]:
            scale(mg.tensor([1.0] * size), n)
    return scale, log


CALLS = """\
call | trace | what happened | arguments | what triggered it
1 | 1 | traced | x: float32[3], n: 2 | first call
2 | 1 | found in the cache | x: float32[3], n: 2 | –
3 | 2 | traced | x: float32[4], n: 2 | argument x: shape (3,) → (4,)
4 | 3 | traced | x: float32[4], n: 5 | {number}
5 | 1 | found in the cache | x: float32[3], n: 2 | –
5 calls of scale() needed 3 traces"""


def test_it_tells_each_call() -> None:
    f, log = called()
    number = f.cache[2].reasons[0][0]
    assert "argument n" in number
    assert viz.traces(f, log).text()[0].endswith(CALLS.format(number=number))
    assert f.traces == 3


def test_without_a_recording_it_tells_each_trace() -> None:
    f, _ = called()
    board = viz.traces(f)
    assert [line[0][0] for line in board.sheet.rows] == ["1", "3", "4"]
    assert board.text()[0].endswith("scale(): 3 traces in the cache")
    assert "which served 3 calls in all" in board.text()[0]


def test_a_trace_is_marked_where_it_differs_from_the_nearest_before_it() -> None:
    f, log = called()
    panels = [scene.panels[0] for scene in viz.traces(f, log).scenes]
    marked = [{n.label: p.marks[n.id] for n in p.picture.nodes if n.id in p.marks} for p in panels]
    shape = dict.fromkeys(["x", "Mul", "Add"], "changed")
    ran = {"Mul": "ran", "Add": "ran"}
    assert marked == [ran, ran, shape, {**ran, "n = 5": "changed"}, ran]
    assert "n = 2 → 5" in panels[3].notes.values(), "and says what it was"
    assert not panels[2].notes, "only a number has a text of its own"
    assert panels[0].picture is panels[1].picture is panels[4].picture
    assert panels[2].picture is not panels[0].picture
    assert [n.op for n in panels[0].picture.nodes if n.inputs] == ["Mul", "Add"]


def test_what_a_line_does_in_several_traces_is_one_node_in_one_place() -> None:
    f, log = called()
    data = viz.traces(f, log).data
    drawings = [data["drawings"][data["scenes"][i]["panels"][0]["drawing"]] for i in (0, 2, 3)]
    found = [
        {
            name.rpartition("-")[2]: place
            for name, place in re.findall(
                r'id="([^"]*)" class="node[^"]*" transform="([^"]*)"', drawing["svg"]
            )
        }
        for drawing in drawings
    ]
    assert found[0] == found[1], "another shape changes no place"
    assert found[0] == found[2], "nor does another number"
    shapes = [set(re.findall(r"\(\d,\)", drawing["svg"])) for drawing in drawings]
    assert shapes == [{"(3,)"}, {"(4,)"}, {"(4,)"}]


def test_the_score_has_a_column_for_each_call_and_builds_again_where_it_traces() -> None:
    f, log = called()
    (lane,) = viz.traces(f, log).data["lanes"]
    assert [label for label, *_ in lane["rows"]] == ["x", "x * n", "return x * n + 1"]
    kinds = [
        [kind for kind, start, _ in lane["phases"] if int(start + 0.01) == i] for i in range(5)
    ]
    assert kinds == [["build", "run"], ["run"], ["build", "run"], ["build", "run"], ["run"]]
    marks = [(round(at), row, kind) for at, row, kind, _, *sort in lane["notes"] if not sort]
    assert [m for m in marks if m[2] == "built"] == [
        (i, row, "built") for i in (0, 2, 3) for row in (1, 2)
    ]
    assert [m for m in marks if m[2] == "run"] == [
        (i, row, "run") for i in range(5) for row in (1, 2)
    ]
    waits = [(round(start), row, round(end)) for row, start, end in lane["lives"]]
    assert sorted(waits) == [(i, row, i) for i in (0, 2, 3) for row in range(3)], "until it runs"
    assert lane["counted"][-1] == [4, 6, 10, 0, 0]
    said = [" · ".join(word for word, _ in column) for column in lane["columns"]]
    assert said[:3] == ["call 1 · trace 1", "call 2 · no build", "call 3 · trace 2"]
    places = [at for at, *_ in lane["notes"]]
    assert all(i - 0.5 < at < i + 0.5 for at, i in zip(places, map(round, places), strict=True))
    assert viz.traces(f).data["lanes"] == [], "nothing was recorded"


def test_the_score_shows_what_was_computed_and_other_functions_have_no_rows() -> None:
    double, other = mg.function(lambda x: x * 2), mg.function(lambda x: x * 3)
    with mg.record(values=True) as log:
        for value in (1.0, 2.0):
            double(mg.tensor(value))
            other(mg.tensor(value))
    (lane,) = viz.traces(double, log).data["lanes"]
    (product,) = [ids for _, _, kind, ids, *sort in lane["notes"] if kind == "built" and not sort]
    values = lane["nodes"][f"{lane['prefix']}{product}"]["values"]
    assert [(round(at), value["short"]) for at, value in values] == [(0, "2"), (1, "4")]
    assert len(lane["rows"]) == 2
    fed = [value["short"] for _, value in lane["nodes"][f"{lane['prefix']}n1"]["values"]]
    assert fed == ["1", "2"], "an input gets its value in each call"
    held = [scene.panels[0].held for scene in viz.traces(double, log).scenes]
    assert [{i: x.short for i, x in each.items()} for each in held] == [
        {"n1": "1", product: "2"},
        {"n1": "2", product: "4"},
    ]


def test_other_functions_do_not_count_and_scripts_do() -> None:
    other = mg.function(lambda x: x * 3)

    def halve(x: Any) -> Any:
        while x > 1:
            x = x / 2
        return x

    f = mg.script(halve)
    with mg.record() as log:
        other(mg.tensor(1.0))
        f(mg.tensor(8.0))
        f(mg.tensor(5.0))
    said = "2 calls of halve() needed 1 trace", "halve() 调用 2 次，追踪了 1 次"
    assert viz.traces(f, log).verdict == said


def test_a_trace_that_failed_says_so() -> None:
    f = mg.function(lambda x: x @ x)
    with mg.record() as log, pytest.raises(mg.ShapeError):
        f(mg.tensor([[1.0, 2.0]]))
    board = viz.traces(f, log)
    assert "An error stopped this trace" in board.text()[0]
    assert "call 1 made trace –" in board.text()[0]


def test_before_the_first_call_there_is_nothing_and_other_things_are_refused() -> None:
    f = mg.function(lambda x: x)
    assert viz.traces(f).scenes == ()
    assert "Nothing to show yet" in viz.traces(f)._still()
    for wrong in (lambda x: x, None):
        with pytest.raises(TypeError, match=r"mg\.function"):
            viz.traces(wrong)
    with pytest.raises(TypeError, match="recording"):
        viz.traces(f, [1])


@pytest.mark.browser
def test_the_row_of_the_table_follows(tmp_path: Path, page: Page) -> None:
    f, log = called()
    page.goto(viz.traces(f, log).save(tmp_path / "page.html").as_uri())
    page.locator(".mg-board").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    row = page.locator("tr.mg-row")
    assert row.inner_text().split()[:2] == ["3", "2"]
    assert row.get_attribute("aria-current") == "true"
    assert page.locator("g.mg-changed").count() == 3
    lit = page.locator(".mg-phase.mg-lit").all_inner_texts()
    assert lit == ["build", "run", "run", "build", "run"]
    assert page.locator(".mg-count").all_inner_texts()[:2] == ["4", "6"]
    assert page.locator(".mg-column.mg-here").inner_text().startswith("call 3")
    assert page.locator(".mg-stairs").count() == page.locator(".mg-phase").count(), "all connected"
    assert page.locator(".mg-fact").inner_text() == "5 calls of scale() needed 3 traces"
    page.set_viewport_size({"width": 390, "height": 844})
    said = row.locator("td:visible").all_inner_texts()
    assert said[-1].startswith("argument x: shape (3,)"), (
        "a phone has the reason, not the arguments"
    )
    label = page.locator(".mg-steps")
    box = label.bounding_box()
    label.click(position={"x": box["width"] - 12, "y": 20})
    assert row.inner_text().split()[:2] == ["5", "1"], "a click on the score leads to its call"
    label.press("ArrowLeft")
    assert row.inner_text().split()[:2] == ["4", "3"]
    page.keyboard.press("ArrowLeft")
    page.get_by_role("button", name="中文", exact=True).click()
    told = page.locator(".mg-caption").inner_text().replace("\xa0", " ")  # its counts do not break
    assert "第 3 次调用触发了第 2 次追踪" in told
    assert page.errors == []

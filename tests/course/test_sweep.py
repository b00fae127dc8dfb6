"""`lessons.table` and `lessons.sweep`: the words of the bank around what was just measured."""

from __future__ import annotations

import numpy as np
import pytest

import minigrad as mg
import minigrad_lessons as lessons
import viz
from minigrad.diagnostics.messages import set_language
from minigrad_lessons.questions import UnknownIdError, all_lessons, find_table

pytestmark = pytest.mark.usefixtures("english")
FEEDS = "examples.feeds"


def squares() -> mg.Graph:
    with mg.Graph():
        x = mg.placeholder("x", shape=())
        return mg.build_graph(x, x * x + 3)


def attempts() -> viz.Board:
    graph = squares()
    feeds = [{"x": 2.0}, {"x": [1.0, 2.0]}, {}]
    return lessons.sweep(FEEDS, lambda feed: (mg.run(graph, feed), graph), feeds)


def test_a_table_says_each_kind_of_value_in_few_characters() -> None:
    cells = [
        True,
        np.False_,
        None,
        0.5,
        np.ones(3),
        np.eye(100),
        "text",
        mg.ShapeError("x"),
    ]
    rows = [(cell, i, i) for i, cell in enumerate(cells)]
    lines = str(lessons.table("examples.squares", rows)).splitlines()
    assert lines[:2] == ["x*x + 3 and its gradient", "x | value | gradient"]
    told = [line.split(" | ")[0] for line in lines[2:]]
    assert told == ["✓", "✗", "–", "0.5", "[1, 1, 1]", "0 … 1", "text", "ShapeError"]


def test_a_table_that_names_its_rows_follows_the_language() -> None:
    table = lessons.table(FEEDS, [[1], [2], [3]])
    assert str(table).splitlines()[2:] == ["fed a number | 1", "fed two numbers | 2", "not fed | 3"]
    set_language("zh")
    assert str(table).splitlines()[1:3] == ["尝试 | 结果", "馈送一个数 | 1"]


def test_a_table_is_escaped() -> None:
    page = lessons.table(FEEDS, [["<script>"], [1], [2]])._repr_html_()
    assert "<script>" not in page
    assert "&lt;script&gt;" in page
    assert page.count("<tr>") == 4


@pytest.mark.parametrize(
    ("id", "rows", "says"),
    [
        (FEEDS, [[1], [2]], "names 3 rows, 2 were given"),
        (FEEDS, [[1], [2], [3, 4]], "row 3 has 2 cells, the table has 1 columns"),
        ("examples.squares", [[1, 2]], "row 1 has 2 cells, the table has 3 columns"),
    ],
)
def test_cells_that_do_not_fit_are_refused(id: str, rows: list[list[int]], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        lessons.table(id, rows)


def test_an_unknown_table_lists_those_there_are() -> None:
    with pytest.raises(UnknownIdError, match=r"examples\.squares"):
        lessons.table("L99.1", [])


def test_a_sweep_shows_what_each_value_gives_and_what_fails() -> None:
    board = attempts()
    assert [scene.caption[0] for scene in board.scenes] == [
        "fed a number: result 7",
        "fed two numbers: result FeedError",
        "not fed: result NotFedError",
    ]
    assert board.scenes[0].panels[0].picture is not None
    assert len(board.scenes[0].panels[0].picture.nodes) == 4
    wrong, missing = board.scenes[1], board.scenes[2]
    assert "was fed an array of shape (2,)" in wrong.facts[0][0]
    assert "failed" in missing.panels[0].marks.values()
    assert any('mg.placeholder("x"' in line for p in wrong.panels for _, line in p.code)
    assert board.sheet is not None
    assert [cell[0] for cell in board.sheet.rows[2]] == ["not fed", "NotFedError"]


def test_what_is_attempted_runs_where_the_user_says_so() -> None:
    x = mg.placeholder("x")
    missing = lessons.attempt(mg.run, mg.build_graph(x, x + 1))
    assert "used at test_sweep.py" in str(missing)


def test_a_sweep_tells_the_same_in_both_languages() -> None:
    english, chinese = attempts().text()
    assert "2. 没有馈送：结果 NotFedError" in chinese
    assert len(english.splitlines()) == len(chinese.splitlines())


def test_a_sweep_takes_charts_and_images() -> None:
    names = {"title": ("t", "t"), "x": ("x", "x"), "y": ("y", "y")}
    made = {1: viz.curves({"a": [1.0, 2.0]}, **names), 2: lessons.images(np.zeros((1, 4, 4)))}
    board = lessons.sweep("examples.squares", lambda i: (i, i, made[i]), [1, 2])
    for scene in board.scenes:
        assert "<img" in scene.panels[0].svg
    assert board.scenes[1].panels[0].title[0] == "1 image of 4 × 4 pixels"
    assert "4 × 4 pixels" not in board.scenes[1].panels[0].svg, "once is enough"


def test_a_sweep_of_nothing_is_refused_and_other_errors_are_raised() -> None:
    with pytest.raises(ValueError, match="no value to try"):
        lessons.sweep(FEEDS, lambda x: x, [])
    with pytest.raises(ZeroDivisionError):
        lessons.sweep("examples.squares", lambda x: (x, 1 / x), [0])


def test_a_saved_page_has_the_caption_as_its_heading(tmp_path) -> None:
    page = attempts().save(tmp_path / "page.html").read_text("utf-8")
    assert "<h1>" in page
    assert "一张图，三次尝试" in page


def test_an_attempt_gives_the_result_or_the_error_of_the_engine() -> None:
    x = mg.placeholder("x", shape=())
    graph = mg.build_graph(x, x + 1)
    good, bad = (lessons.attempt(mg.run, graph, {x: fed}) for fed in (2.0, [1.0, 2.0]))
    assert good == 3
    rows = lessons.table("examples.feeds", [[good], [bad], [lessons.attempt(mg.run, graph)]]).rows
    assert [line[1][0] for line in rows] == ["3", "FeedError", "NotFedError"]
    with pytest.raises(ZeroDivisionError):
        lessons.attempt(lambda: 1 / 0)


def test_drawings_side_by_side_are_panels_of_one_scene() -> None:
    x = mg.placeholder("x", shape=())
    graph = mg.build_graph(x, x + 1)
    board = lessons.side_by_side(viz.draw(x * 2), graph, attempts())
    (scene,) = board.scenes
    drawn = [[n.label for n in p.picture.nodes] for p in scene.panels[:2]]
    assert drawn == [["x", "2", "Mul"], ["x", "1", "Add"]]
    assert scene.caption[0].startswith(f"{len(scene.panels)} drawings")
    passes = viz.passes(graph)
    passes.index = 1
    assert lessons.side_by_side(passes).scenes[0].panels == passes.scenes[1].panels, (
        "its present step"
    )
    for given in ((), ("x",)):
        with pytest.raises(TypeError, match="side_by_side takes graphs"):
            lessons.side_by_side(*given)


@pytest.mark.parametrize(
    "table", [t for one in all_lessons().values() for t in one.tables.values()]
)
def test_tables_of_the_bank_have_all_words_in_both_languages(table) -> None:
    pairs = [table.caption, *table.head, *table.rows]
    assert all(en.strip() and zh.strip() for en, zh in pairs)
    assert find_table(table.id) is table


def test_what_ends_a_block_is_printed_and_nothing_else_is_caught(capsys) -> None:
    with lessons.caught(mg.ShapeError):
        mg.zeros(2) + mg.zeros(3)
        print("not reached")
    printed = capsys.readouterr().out
    assert printed.startswith("Add: ")
    assert "used at test_sweep.py" in printed or "defined at test_sweep.py" in printed
    assert "not reached" not in printed
    with pytest.raises(ZeroDivisionError), lessons.caught(mg.ShapeError):
        1 / 0  # noqa: B018
    nothing = pytest.raises(ValueError, match="nothing inside of the block raised ShapeError")
    with nothing, lessons.caught(mg.ShapeError):
        mg.zeros(2) + mg.zeros(2)

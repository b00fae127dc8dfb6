"""The program beside the film: which lines are shown, and what happens without a source."""

from __future__ import annotations

import linecache
from pathlib import Path

import pytest

import minigrad as mg
import viz
from viz.film.listing import listing


@pytest.fixture
def program(tmp_path: Path) -> str:
    path = tmp_path / "long.py"
    path.write_text("".join(f"    line {i}\n" for i in range(1, 41)))
    linecache.checkcache()
    return str(path)


def test_lines_that_are_near_are_one_block(program: str) -> None:
    blocks = listing([(program, 20, 20), (program, 3, 3), (program, 5, 6), (program, 24, 24)])
    assert [(b.first, len(b.lines)) for b in blocks] == [(20, 5), (3, 4)]
    assert blocks[1].lines == ("line 3", "line 4", "line 5", "line 6")
    assert blocks[0].holds((program, 22, 22))
    assert not blocks[0].holds((program, 25, 25))


def test_a_short_program_is_shown_whole(tmp_path: Path) -> None:
    path = tmp_path / "short.py"
    path.write_text("a\nb\nc\n")
    (block,) = listing([(str(path), 2, 2)])
    assert (block.first, block.lines) == (1, ("a", "b", "c"))


def test_lines_that_are_not_to_be_had_are_left_out() -> None:
    assert listing([("<nowhere>", 1, 1)]) == []


def test_every_step_knows_its_lines() -> None:
    x = mg.tensor(2.0, requires_grad=True, name="x")
    y = x * x
    z = y + 3
    data = viz.step(z).data
    ((file, first, lines),) = data["listing"]
    assert file == "test_listing.py"
    assert lines == ("y = x * x", "z = y + 3")
    rows = [data["lanes"][0]["rows"][note[1]].label for note in data["lanes"][0]["notes"]]
    assert [label for label in rows if label != "x"] == [
        *("y = x * x", "z = y + 3", "z = y + 3"),  # and its constant
        *("z = y + 3", "y = x * x"),  # on the way back
    ]
    assert first == z.creator.where.lineno - 1


def test_a_line_without_a_source_is_told_on_its_own() -> None:
    space = {"x": mg.tensor(2.0, requires_grad=True)}
    exec(compile("y = x * 2", "<lost>", "exec"), space)
    data = viz.step(space["y"]).data
    assert data["listing"] == []
    assert [row.label for row in data["lanes"][0]["rows"]] == ["tensor", "Mul"]


def test_what_is_made_for_the_user_shows_no_line_of_ours() -> None:
    player = viz.compare(lambda x: x * x, 2.0)
    assert {file for file, _, _ in player.data["listing"]} == {"test_listing.py"}
    told = [
        half
        for node in player.data["nodes"].values()
        for *_, pair in node["answers"]
        for half in pair
    ]
    assert told
    assert not [text for text in told if "show.py" in text]

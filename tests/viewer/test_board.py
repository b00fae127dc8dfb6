"""Boards: what they send, what they say without a browser, and names that are no markup."""

from __future__ import annotations

import base64
import json
import re

import numpy as np
import pytest

import minigrad as mg
import viz
from viz.page import board as module
from viz.page.board import Board
from viz.picture.drawing import render
from viz.picture.marks import states
from viz.picture.theme import KINDS, MARKS
from viz.words.text import ROWS

HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(1)>"


pytestmark = pytest.mark.usefixtures("english")


def some(name: str = "x") -> Board:
    x = mg.placeholder(name, shape=(3,))
    return viz.passes(mg.build_graph(x, mg.exp(x * 1) + 2.0))


def html(board: Board) -> str:
    bundle = board._repr_mimebundle_()
    found: str = (bundle[0] if isinstance(bundle, tuple) else bundle)["text/html"]
    return found


def test_everything_is_plain_json_and_every_mark_is_drawn() -> None:
    data = json.loads(json.dumps(some().data, allow_nan=False))
    for scene in data["scenes"]:
        for panel in scene["panels"]:
            drawing = data["drawings"][panel["drawing"]]
            arrows = set(re.findall(r'<g id="([^"]*)" class="edge', drawing["svg"]))
            assert set(panel["marks"]) | set(panel["notes"]) <= set(drawing["nodes"]) | arrows
    pictures = {panel["drawing"] for scene in data["scenes"] for panel in scene["panels"]}
    assert pictures == set(range(len(data["drawings"]))), "each is drawn once"


def test_every_word_of_the_browser_side_is_sent() -> None:
    used = set(re.findall(r"\b(?:words|labels)\.(\w+)", Board._esm))
    assert used
    assert used <= set(module.WORDS) <= set(ROWS)


@pytest.mark.parametrize("kind", MARKS)
def test_every_mark_has_words_a_sign_and_a_look_of_its_own(kind: str) -> None:
    assert all(ROWS[f"mark_{kind}"])
    assert MARKS[kind].sign
    looks = [(m.line, m.width, m.sign) for m in MARKS.values()]
    mark = MARKS[kind]
    assert looks.count((mark.line, mark.width, mark.sign)) == 1, "also without colour"
    assert MARKS[kind].sign not in {k.mark for k in KINDS.values()}, "one sign, one meaning"


def test_nothing_hostile_is_markup() -> None:
    board = some(HOSTILE)
    board.index = 0
    data = board.data
    markup = [data["sheet"]]  # all other words are pairs, and set as text
    for drawing in data["drawings"]:
        markup += [drawing["svg"], drawing["table"]]
    assert not [text for text in markup if "<script" in text or "<img src=x" in text]
    assert any("&lt;" in text for text in markup)
    page = html(board)
    assert "<script" not in page
    assert "<img src=x" not in page
    assert HOSTILE.replace("<", "&lt;").replace(">", "&gt;") in page or "&lt;script" in page


def test_a_page_without_widgets_shows_the_marks() -> None:
    board = some()
    board.index = 1
    page = html(board)
    assert page.count("<img alt=") == 1
    assert "Marked: " in page
    images = [base64.b64decode(code).decode() for code in re.findall(r"base64,([^\"]+)\"", page)]
    marked = re.findall('class="node [^"]*(new|gone|heir|moved)', images[0])
    assert sorted(marked) == ["gone", "heir", "moved"]
    assert re.findall('class="edge [^"]*(new|gone)', images[0]) == ["gone", "gone", "gone", "new"]
    assert "标记：" in page
    assert page.count("<li>") == len(board.scenes) + len(board.scenes[1].facts)
    words = re.findall(r'class="mg-word"[^>]*>\S ([^<]*)<', images[0])
    assert sorted(words) == ["removed", "replaces", "rewired", "unused"]
    assert "删除：" in page


def test_a_mark_is_put_into_its_node_and_no_other() -> None:
    drawn = some().scenes[0].panels[0].picture
    assert drawn is not None
    made = render(drawn, "p", states=states({"n1": "gone"}, {"n1": "<7>"}))
    assert made.count(" mg-gone") == 1
    assert made.count("&lt;7&gt;") == 1
    assert made.count("mg-word") == 1
    first = made[made.index('id="p-n1"') :]
    assert first.index(" mg-gone") < first.index("&lt;7&gt;") < first.index("</g>")


@pytest.mark.usefixtures("no_engine")
def test_without_an_engine_there_are_tables() -> None:
    board = some()
    assert "<table" in board.data["drawings"][0]["svg"]
    assert "pip install graphviz-pure" in html(board)
    assert "simplify" in board.text()[0]


def test_values_that_are_no_numbers_are_told() -> None:
    board = viz.branches(lambda x: x / 0, np.float32(1.0))
    json.dumps(board.data, allow_nan=False)
    assert "∞" in board.text()[0]

"""The boxes of other systems: their own words, what the real ones printed, and what ours prints."""

from __future__ import annotations

import builtins
import importlib
import re
from pathlib import Path
from typing import Any

import pytest

import minigrad as mg
import minigrad_lessons as lessons
from minigrad.diagnostics.messages import set_language
from minigrad_lessons.lesson.beside import SYSTEMS, Boxes, run_and_capture_output
from minigrad_lessons.questions import PeerCode, all_lessons

pytestmark = pytest.mark.usefixtures("english")

# What installs a system, where that has another name.
PACKAGED = {"Theano-PyMC": "theano", "dynet38": "dynet", "paddlepaddle": "paddle"}
BOXES = [(name, box) for name, lesson in all_lessons().items() for box in lesson.beside]


def face_of(box: PeerCode) -> Any:
    """The module in which our face of a system keeps the names of its errors."""
    face = importlib.import_module(SYSTEMS[box.system][2].split()[1])
    return getattr(face, "errors", face)


def error_in(text: str, place: Any) -> Any:
    """The error that a text ends with, as a module or Python knows it; None where there is none."""
    names = re.findall(r"(?m)^(?:\w+\.)*(\w+Error): ", text)
    return getattr(place, names[-1], None) or getattr(builtins, names[-1]) if names else None


@pytest.mark.parametrize(("lesson", "box"), BOXES, ids=[f"{n}-{b.system}" for n, b in BOXES])
def test_a_box_runs_on_our_face_as_far_as_on_the_system_itself(lesson: str, box: PeerCode) -> None:
    if box.version:
        name = box.version.split()[0].rstrip(",").removesuffix("-cpu")
        assert PACKAGED.get(name, name) == box.system.removesuffix("1")
    assert bool(box.version) == bool(box.prints)
    if not box.face:
        return
    here = run_and_capture_output(box.code, SYSTEMS[box.system][2])
    assert len(here.splitlines()) >= 1
    if not box.prints:
        assert error_in(here, mg) is None, here
        return
    ours, theirs = error_in(here, mg), error_in(box.prints, face_of(box))
    assert (ours is None) == (theirs is None), here
    assert ours is None or issubclass(ours, theirs), "what catches theirs has to catch ours"


def test_an_error_is_known_by_the_name_that_its_system_gives_it() -> None:
    box = PeerCode("jax", "", "", "jax 0", ("", ""))
    theirs = error_in("6.0\nTracerBoolConversionError: Attempted", face_of(box))
    assert theirs is error_in("TraceError: if", mg) is mg.TraceError
    assert error_in("RuntimeError: again", face_of(box)) is RuntimeError
    assert error_in("6.0", mg) is None


def test_what_a_face_prints_otherwise_is_shown_and_what_is_the_same_only_said(
    english: None,
) -> None:
    same = PeerCode("torch", "print(1 + 1)", "2", "torch 0", ("Two.", "二。"))
    other = PeerCode(
        "torch", "print(torch.tensor(1.0))", "tensor(<1>)", "torch 0", ("One.", "一。")
    )
    shown = Boxes([same, other])
    first, second = shown._repr_html_().split("</section>")[:2]
    assert "the same is printed here" in first
    assert first.count("mg-beside-printed") == 1
    assert "this is printed here" in second
    assert "tensor(&lt;1&gt;)" in second
    assert "tensor(1.)" in second
    set_language("zh")
    assert "二。" in str(shown)
    assert "Two." not in str(shown)


def test_our_own_box_only_prints_and_the_columns_are_what_each_system_printed() -> None:
    ours = PeerCode("minigrad", "print(1 + 1)", "", "", ("One.", "一。"))
    theirs = PeerCode(
        "jax", "no.such()", "8\nTraceError: if", "jax 0", ("Two.", "二。"), face=False
    )
    shown = Boxes([ours, theirs, PeerCode("minigrad", "print(3)\nno", "", "", ("Three.", "三。"))])
    assert shown.columns == [["2", "3", "NameError"], ["8", "TraceError"]]
    assert "With" not in shown._repr_html_().split("</section>")[0]


def test_two_rules_count_the_same_cards_otherwise() -> None:
    counts = lessons.beside("L14").counts
    assert counts == {"systems": 9, "alive": 5, "began": 4, "still": 1, "able": 5}
    assert counts["began"] / counts["systems"] < counts["able"] / counts["alive"]
    assert lessons.beside("L00").counts["systems"] == 0  # its boxes have no card


def test_where_our_face_has_no_words_it_is_said_and_nothing_is_run(english: None) -> None:
    box = PeerCode("torch", "torch.no_such()", "8", "torch 0", ("Two.", "二。"), face=False)
    shown = Boxes([box])
    html = shown._repr_html_()
    for text in (html, str(shown)):
        assert "Not run here" in text
        assert "torch.no_such()" in text
        assert "Error" not in text
    assert html.count("mg-beside-printed") == 1


def test_an_error_is_the_last_line_and_leaves_the_lesson_alone() -> None:
    code = "x = torch.tensor(1.0)\nprint(x)\nx.backward()\nprint('never')"
    lines = run_and_capture_output(code, SYSTEMS["torch"][2]).splitlines()
    assert lines[0] == "tensor(1.)"
    assert lines[1].startswith("RuntimeError: ") or lines[1].startswith("GradientError: ")
    assert len(lines) == 2


def test_a_box_meets_no_node_of_the_lesson() -> None:
    with mg.Graph() as lesson:
        mg.placeholder("mine")
        code = "tf.placeholder(tf.float32)\nprint(len(tf.get_default_graph().get_operations()))"
        assert run_and_capture_output(code, SYSTEMS["tensorflow1"][2]) == "1"
    assert len(lesson.nodes) == 1


def test_a_box_saves_as_a_page(tmp_path: Path) -> None:
    page = lessons.beside("L00").save(tmp_path / "beside.html").read_text("utf-8")
    assert "import torch" in page
    assert "grad_fn=&lt;AddBackward0&gt;" in page
    with pytest.raises(KeyError, match="L77"):
        lessons.beside("L77")


@pytest.mark.parametrize(("lesson", "folded"), [("L00", 5), ("L01", 0), ("L12", 5), ("L14", 0)])
def test_of_many_boxes_those_of_the_first_system_are_open(lesson, folded):
    html = lessons.beside(lesson)._repr_html_()
    assert html.count("<details><summary>") == folded
    assert html.index("<section>") < html.find("<details") or not folded

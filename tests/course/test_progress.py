"""Answers are kept by nobody, unless the learner agrees; and then beside the notebooks only."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import minigrad_lessons as lessons
from minigrad.diagnostics.messages import set_language


@pytest.fixture(autouse=True)
def english(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    monkeypatch.setenv("MINIGRAD_LEARNER", str(tmp_path))
    set_language("en")
    yield
    set_language("en")


def answer() -> None:
    """A question answered as in the browser, one in code, checks of both verdicts."""
    asked = lessons.quiz("L00.1", "L00.2")
    asked.answers = ["B", None]
    asked.answers = ["B", "C"]
    lessons.predict("L00.3", answer="B")
    lessons.check("L00.faded.1", 20, 20)
    with pytest.raises(AssertionError):
        lessons.check("L00.core", 1, 2)


def kept(folder: Path) -> Any:
    return json.loads((folder / ".minigrad.json").read_text("utf-8"))


def test_without_consent_nothing_is_kept(tmp_path: Path) -> None:
    answer()
    assert os.listdir(tmp_path) == []
    assert "No answers are kept" in str(lessons.progress())
    assert os.listdir(tmp_path) == []


def test_with_consent_each_answer_is_kept_once_and_can_be_exported(tmp_path: Path) -> None:
    lessons.progress(True)
    answer()
    with pytest.raises(AssertionError):
        lessons.check("L00.core", 1, 2)
    lessons.check("L00.core", 2, 2)
    lessons.progress().save(tmp_path / "progress.csv")
    text = (tmp_path / "progress.csv").read_text("utf-8-sig")
    rows = list(csv.DictReader(text.splitlines()))
    told = {(r["id"], r["kind"], r["answer"], r["right"], r["tries"]) for r in rows}
    assert told == {
        ("L00.1", "quiz", "B", "False", "1"),
        ("L00.2", "quiz", "C", "True", "1"),
        ("L00.3", "predict", "B", "True", "1"),
        ("L00.core", "check", "", "True", "3"),
        ("L00.faded.1", "check", "", "True", "1"),
    }
    assert all(row["when"][:2] == "20" for row in rows)
    assert ".minigrad.json: 5," in str(lessons.progress())
    assert "4 of them right" in str(lessons.progress())


def test_it_is_deleted_when_the_learner_says_so(tmp_path: Path) -> None:
    lessons.progress(True)
    answer()
    lessons.progress(False)
    assert kept(tmp_path)["progress"] is None
    answer()
    assert "L00" not in (tmp_path / ".minigrad.json").read_text("utf-8")
    assert lessons.progress().csv == "id,kind,answer,right,tries,when\n"


def test_to_agree_again_loses_nothing(tmp_path: Path) -> None:
    lessons.progress(True)
    answer()
    assert ".minigrad.json: 5," in str(lessons.progress(True))


def test_a_teacher_who_grades_keeps_nothing_of_a_learner(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lessons.progress(True)
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    answer()
    assert kept(tmp_path)["progress"] == {}


def test_both_languages_are_told(tmp_path: Path) -> None:
    page = lessons.progress(True)._repr_html_()
    assert 'lang="en"' in page
    assert "记着 0 个答案" in page
    lessons.predict("L00.3", answer="<b>")
    assert "&lt;b&gt;" in lessons.progress()._repr_html_()


def test_where_nothing_can_be_kept_it_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("MINIGRAD_LEARNER", str(tmp_path / "file"))
    told = str(lessons.progress(True))
    assert told.startswith("Nothing was changed: .minigrad.json cannot be written (")
    assert "lessons.progress(True)" not in told
    lessons.check("L00.faded.1", 20, 20)
    assert "No answers are kept" in str(lessons.progress(False))

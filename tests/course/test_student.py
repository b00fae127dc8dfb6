"""`python tasks.py student OUT`: what learners get, and what is never written over."""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
from pathlib import Path

import nbformat
import pytest
from lessons import LESSONS, TOUR, number, read

import tasks
from minigrad_lessons import opening
from minigrad_lessons.opening import copy_lessons
from minigrad_lessons.questions import find_lesson
from minigrad_lessons.student import student_version
from minigrad_lessons.terminal import Problem


def code(source: str, **metadata: object) -> dict[str, object]:
    return {
        "cell_type": "code",
        "source": source.splitlines(keepends=True),
        "metadata": metadata,
        "outputs": [{"output_type": "stream", "name": "stdout", "text": "4"}],
        "execution_count": 3,
    }


GRADED = {"nbgrader": {"grade_id": "L00-core-1"}, "jupyter": {"source_hidden": True}}
LESSON = {
    "cells": [
        {"cell_type": "markdown", "source": ["### BEGIN SOLUTION"], "metadata": {}},
        code("a = ..."),
        code("### BEGIN SOLUTION\na = 1\n\nb = 2\n### END SOLUTION", **GRADED),
        code("assert a\n### BEGIN HIDDEN TESTS\nassert b\n### END HIDDEN TESTS\na", **GRADED),
        code("### BEGIN HIDDEN TESTS\nassert b\n### END HIDDEN TESTS", **GRADED),
    ],
    "metadata": {"kernelspec": {"name": "python3"}},
    "nbformat": 4,
    "nbformat_minor": 5,
}


def test_a_learner_gets_no_solution_no_hidden_test_and_no_output():
    before = json.dumps(LESSON)
    made = student_version(LESSON)
    assert json.dumps(LESSON) == before
    text, gap, stub, tests, empty = ("".join(cell["source"]) for cell in made["cells"])
    assert (text, gap) == ("### BEGIN SOLUTION", "a = ...")
    assert stub.startswith("# Your answer goes into the cell above")
    assert "# 答案写在上面的单元格里" in stub
    assert (tests, empty) == ("assert a\na", "")
    for cell in made["cells"][1:]:
        assert (cell["outputs"], cell["execution_count"]) == ([], None)
    assert made["cells"][2]["metadata"] == {"nbgrader": GRADED["nbgrader"]}, "unfolded"
    assert made["cells"][3]["metadata"] == GRADED
    assert made["metadata"]["kernelspec"] == {"name": "python3"}


@pytest.mark.parametrize(
    "source",
    [
        "def f():\n    ### BEGIN SOLUTION\n    return 1\n    ### END SOLUTION",
        "### BEGIN SOLUTION\na = 1\n### END SOLUTIONS",
        "### BEGIN HIDDEN TESTS\nassert a\n###END HIDDEN TESTS",
        "a = 1\n### END SOLUTION",
    ],
)
def test_a_solution_without_a_clear_end_is_not_given_away(source):
    with pytest.raises(Problem, match="left margin:\n" + re.escape(source)):
        student_version({**LESSON, "cells": [code(source)]})


def test_where_ours_is_a_part_of_the_engine_it_can_be_seen_after_a_try():
    ours = "### BEGIN SOLUTION\ndef our_dynamic(steps, x):\n    return x\n### END SOLUTION"
    made = student_version({**LESSON, "cells": [code(ours, **GRADED)]})
    text = "".join(made["cells"][0]["source"])
    assert text.endswith('\nlessons.solution("L00.core", "dynamic")')
    assert all(line.startswith("#") for line in text.splitlines()[:-1])
    other = ours.replace("our_dynamic", "our_other")
    made = student_version({**LESSON, "cells": [code(other, **GRADED)]})
    assert "viz" not in "".join(made["cells"][0]["source"])
    graded = {"nbgrader": {"grade_id": "tour-exercise"}}
    made = student_version({**LESSON, "cells": [code(other, **graded)]})
    assert "".join(made["cells"][0]["source"]).endswith('\nlessons.solution("tour.exercise")')


@pytest.fixture
def course(tmp_path, monkeypatch):
    """A folder in the place of notebooks/: two lessons, the tour, and a notebook without tasks."""
    folder = tmp_path / "notebooks"
    (folder / "pictures").mkdir(parents=True)
    (folder / "pictures" / "one.svg").write_text("<svg/>", encoding="utf-8")
    for name in ("00_one.ipynb", "01_two.ipynb", "tour.ipynb", "gallery.ipynb"):
        (folder / name).write_text(json.dumps(LESSON), encoding="utf-8")
    monkeypatch.setattr(tasks, "NOTEBOOKS", str(folder))
    return tmp_path


def test_every_notebook_is_written_with_the_pictures(course, capsys):
    out = course / "deep" / "out"
    assert tasks.student([str(out)]) == 0
    assert sorted(os.listdir(out)) == [
        *("00_one.ipynb", "01_two.ipynb", "gallery.ipynb", "pictures", "tour.ipynb"),
    ]
    assert os.listdir(out / "pictures") == ["one.svg"]
    made = json.loads((out / "00_one.ipynb").read_text("utf-8"))
    assert made == student_version(LESSON)
    assert "python tasks.py lab" in capsys.readouterr().out


def test_what_nobody_has_written_in_is_replaced(course):
    out = course / "out"
    tasks.student([str(out)])
    run = json.loads((out / "00_one.ipynb").read_text("utf-8"))
    run["cells"][1]["outputs"] = code("")["outputs"]
    (out / "00_one.ipynb").write_text(json.dumps(run), encoding="utf-8")
    lesson = {**LESSON, "cells": [code("a = 2")]}
    (course / "notebooks" / "00_one.ipynb").write_text(json.dumps(lesson), encoding="utf-8")
    tasks.student([str(out)])
    assert json.loads((out / "00_one.ipynb").read_text("utf-8")) == student_version(lesson)


def answered(text: str) -> str:
    made = json.loads(text)
    made["cells"][1]["source"] = ["a = 1"]
    return json.dumps(made)


@pytest.mark.parametrize(
    "change", [answered, lambda _: json.dumps(LESSON), lambda _: "[", str.upper]
)
def test_the_work_of_others_is_never_replaced(course, change):
    out = course / "out"
    tasks.student([str(out)])
    file = out / "01_two.ipynb"
    theirs = change(file.read_text("utf-8"))
    file.write_text(theirs, encoding="utf-8")
    (out / "00_one.ipynb").unlink()
    with pytest.raises(Problem, match="Nothing was written") as problem:
        tasks.student([str(out)])
    assert listing_of(problem) == ["01_two.ipynb"]
    assert file.read_text("utf-8") == theirs
    assert not (out / "00_one.ipynb").exists()


def listing_of(problem: pytest.ExceptionInfo[Exception]) -> list[str]:
    return [Path(line.strip()).name for line in str(problem.value).splitlines()[1:]]


LINKS = ["link", "link/student"] if os.name != "nt" else []  # there, not everybody may make one


@pytest.mark.parametrize("folder", ["notebooks", "notebooks/student", *LINKS])
def test_the_lessons_themselves_are_safe(course, folder):
    if folder.startswith("link"):
        (course / "link").symlink_to(course / "notebooks", target_is_directory=True)
    before = sorted(course.rglob("*"))
    with pytest.raises(Problem, match="Name another folder"):
        tasks.student([str(course / folder)])
    assert sorted(course.rglob("*")) == before


@pytest.mark.parametrize("arguments", [[], ["a", "b"], ["--help"]])
def test_one_folder_must_be_named(course, arguments):
    with pytest.raises(Problem, match="Name one folder"):
        tasks.student(arguments)


def test_a_file_is_no_folder(course):
    (course / "file").write_text("mine")
    with pytest.raises(Problem, match="is not a folder"):
        tasks.student([str(course / "file")])
    assert (course / "file").read_text() == "mine"


def no_room(*_: object, **__: object) -> None:
    raise OSError(errno.ENOSPC, "No space left on device", "ratios.json")


def no_pictures(*_: object, **__: object) -> None:
    raise shutil.Error([(name, name, f"[Errno 13] denied: {name}") for name in ("new.svg", "b")])


@pytest.mark.parametrize(
    ("obstacle", "reason"),
    [
        ("a file", "File exists"),
        ("a folder", "Is a directory"),
        ("pictures", "new.svg"),
        ("a full disk", "No space left on device"),
    ],
)
def test_where_no_copies_can_be_made_lab_says_why(obstacle, reason, course, monkeypatch, capsys):
    yours = course / "notebooks" / "yours"
    if obstacle == "a file":
        yours.write_text("mine")
    elif obstacle == "a folder":
        (yours / "00_one.ipynb").mkdir(parents=True)
    elif obstacle == "pictures":
        monkeypatch.setattr(opening.shutil, "copytree", no_pictures)
    else:
        monkeypatch.setattr(opening, "write_notebook", no_room)
    monkeypatch.setattr(tasks, "prepare", lambda extras: None)
    monkeypatch.setattr(tasks, "run", lambda *command: pytest.fail("opened"))
    monkeypatch.setattr(tasks, "YOURS", str(yours))
    assert tasks.main(["lab", "00"]) == 1
    told = capsys.readouterr().err
    assert told.startswith(f"Your copies of the lessons cannot be written to {yours}: ")
    assert reason in told
    assert "[(" not in told


def test_a_mistyped_lesson_makes_no_copies(course, monkeypatch, capsys):
    yours = course / "notebooks" / "yours"
    monkeypatch.setattr(tasks, "prepare", lambda extras: pytest.fail("set up"))
    monkeypatch.setattr(tasks, "YOURS", str(yours))
    assert tasks.main(["lab", "no-such-lesson"]) == 1
    assert "no-such-lesson" in capsys.readouterr().err
    assert not yours.exists()


def test_what_the_system_refuses_is_said_without_a_traceback(course, monkeypatch, capsys):
    monkeypatch.setattr(tasks, "write_notebook", no_room)
    assert tasks.main(["student", str(course / "out")]) == 1
    assert "No space left on device: 'ratios.json'. Check that" in capsys.readouterr().err


def test_what_lab_opens_are_copies_that_follow_the_lessons_until_somebody_writes(course, capsys):
    lessons, yours = course / "notebooks", course / "notebooks" / "yours"
    copy_lessons(str(lessons), str(yours))
    names = ["00_one.ipynb", "01_two.ipynb", "gallery.ipynb", "pictures"]
    assert sorted(os.listdir(yours)) == [*names, "tour.ipynb"]
    one, two = yours / "00_one.ipynb", yours / "01_two.ipynb"
    assert json.loads(one.read_text("utf-8")) == student_version(LESSON)

    run = json.loads(one.read_text("utf-8"))
    run["cells"][1]["outputs"] = code("")["outputs"]
    one.write_text(json.dumps(run), encoding="utf-8")
    two.write_text(answered(two.read_text("utf-8")), encoding="utf-8")
    copy_lessons(str(lessons), str(yours))
    assert json.loads(one.read_text("utf-8")) == run, "outputs stay as long as the lesson does"
    assert capsys.readouterr().out == ""

    theirs = two.read_text("utf-8")
    new = {**LESSON, "cells": [code("b = ...")]}
    for name in (one.name, two.name):
        (lessons / name).write_text(json.dumps(new), encoding="utf-8")
    copy_lessons(str(lessons), str(yours))
    assert json.loads(one.read_text("utf-8")) == student_version(new)
    assert two.read_text("utf-8") == theirs
    assert re.findall(r"\S+\.ipynb", capsys.readouterr().out) == ["01_two.ipynb"]


@pytest.mark.parametrize("path", [*LESSONS, TOUR], ids=lambda p: p.stem)
def test_an_answer_beside_a_check_is_that_of_the_notebook(path):
    cells = {c.metadata.get("nbgrader", {}).get("grade_id"): c.source for c in read(path).cells}
    for check in find_lesson(number(path)).checks.values():
        if check.ours:
            whole = f"### BEGIN SOLUTION\n{check.ours.strip()}\n### END SOLUTION"
            shown = cells[check.id.replace(".", "-")]
            assert shown.replace("\n\n\n### END", "\n### END") == whole  # lines below a def


@pytest.mark.parametrize("path", [*LESSONS, TOUR], ids=lambda p: p.stem)
def test_every_lesson_is_a_notebook_without_what_is_left_out(path):
    made = nbformat.reads(json.dumps(student_version(read(path))), as_version=4)
    nbformat.validate(made)
    text = "\n".join(c.source for c in made.cells)
    assert "### BEGIN" not in text
    for cell in read(path).cells:
        for kind in ("SOLUTION", "HIDDEN TESTS"):
            for region in re.findall(f"### BEGIN {kind}\n(.*?)### END", cell.source, re.DOTALL):
                assert region not in text
    graded = [c for c in made.cells if "nbgrader" in c.metadata]
    assert [c.metadata.nbgrader for c in graded] == [
        c.metadata.nbgrader for c in read(path).cells if "nbgrader" in c.metadata
    ]

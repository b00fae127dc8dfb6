"""A course in nbgrader's own cycle: handed out, collected, marked, with feedback for everybody."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from lessons import LESSONS, ROOT, code_cells
from test_exercises import answers, tasks_of, under_our_name, with_gaps_filled, with_solution
from test_restoring import ANSWER, GAP, HARM, TESTS

sys.path.append(str(ROOT / "docs" / "kit"))
import notebooks

pytest.importorskip("nbgrader")

pytestmark = [pytest.mark.oracle]

PATH = next(path for path in LESSONS if path.name.startswith("04_"))
LESSON = "L04"
POINTS = {"L04-core-1-tests": 2.0, "L04-stretch-1-tests": 1.0}
CORE, STRETCH = POINTS
HOSTILE = "lessons.check = lambda *a, **k: True\nlessons.lesson.check.check = lessons.check"
NONSENSE = "def run_graph(*_, **__):\n    return []\n\n\ndef descent(*_):\n    return []"
# Each learner: the answers to both exercises, a line in the first cell, points.
LEARNERS: dict[str, tuple[tuple[str, str], str, tuple[float, float]]] = {
    "perfect": (("ours", "ours"), "", (2, 1)),
    "unusual": (("unusual", "unusual"), "", (2, 1)),
    "half": (("ours", "blank"), "", (2, 0)),
    "partly": (("ours", "wrong"), "", (2, 0)),
    "blank": (("blank", "blank"), "", (0, 0)),
    "wrong": (("nonsense", "nonsense"), "", (0, 0)),
    "hostile": (("blank", "blank"), HOSTILE, (0, 0)),
}


def answered(cell: str, task: Any, kind: str) -> str:
    """The cell of an exercise with an answer of that kind, the first of the bank."""
    if kind == "blank":
        return cell
    if kind == "nonsense":
        return with_solution(cell, NONSENSE)
    if kind == "ours":
        return with_solution(cell, under_our_name(code_cells(PATH)[task.solution].source))
    found = next(a for a in answers(LESSON) if a["to"] == task.to and a["is"] == kind)
    return (
        with_gaps_filled(cell, found["gaps"])
        if "gaps" in found
        else with_solution(cell, found["code"])
    )


def submission(kinds: tuple[str, str], line: str) -> dict[str, Any]:
    """What a learner hands in, made from what learners are given."""
    notebook = notebooks.for_learners(json.loads(PATH.read_text("utf-8")))
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    by_id = {cell["id"]: cell for cell in cells}
    exercises = [task for task in tasks_of(PATH) if task.solution is not None]
    for task, kind in zip(exercises, kinds, strict=True):
        cell = by_id[code_cells(PATH)[task.start].id]
        cell["source"] = answered(notebooks.text(cell), task, kind)
    cells[0]["source"] = f"{notebooks.text(cells[0])}\n{line}"
    return notebook


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The folder of a course in which all of it was done, and what nbgrader said."""
    folder = tmp_path_factory.mktemp("course")
    shutil.copy(ROOT / "docs" / "kit" / "nbgrader_config.py", folder)
    lesson = notebooks.for_nbgrader(json.loads(PATH.read_text("utf-8")))
    hand_in(folder / "source" / LESSON, lesson)
    for name, (kinds, line, _) in LEARNERS.items():
        hand_in(folder / "submitted" / name / LESSON, submission(kinds, line))
    steps = ("generate_assignment", "autograde", "generate_feedback")
    return folder, "".join(nbgrader(folder, step, LESSON) for step in steps)


def hand_in(folder: Path, notebook: dict[str, Any]) -> None:
    folder.mkdir(parents=True)
    (folder / PATH.name).write_text(json.dumps(notebook), encoding="utf-8")


def nbgrader(folder: Path, *arguments: str) -> str:
    paths = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    programs = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    done = subprocess.run(
        [sys.executable, "-m", "nbgrader", *arguments],
        cwd=folder,
        env={
            **os.environ,
            "PATH": programs,  # nbgrader calls alembic, which is installed beside it
            "PYTHONPATH": paths,
            "MINIGRAD_LEARNER": str(folder / "kept"),
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


def read(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_text("utf-8"))
    return found


def test_learners_are_released_the_same_without_answers(course) -> None:
    folder, _ = course
    released = (folder / "release" / LESSON / PATH.name).read_text("utf-8")
    for word in ("NotImplementedError", "### BEGIN", "HIDDEN", "lesson.marks"):
        assert word not in released
    given = notebooks.for_learners(read(PATH))["cells"]
    sources = [notebooks.text(cell) for cell in json.loads(released)["cells"]]
    assert sources == [*map(notebooks.text, given)]


def test_everybody_gets_the_right_points(course) -> None:
    from nbgrader.api import Gradebook

    folder, _ = course
    with Gradebook(f"sqlite:///{folder / 'gradebook.db'}", "minigrad") as gradebook:
        found = {
            each.student.id: {g.name: g.auto_score for book in each.notebooks for g in book.grades}
            for each in gradebook.assignment_submissions(LESSON)
        }
    names = ("L04-core-1-tests", "L04-stretch-1-tests")
    assert found == {
        name: dict(zip(names, points, strict=True)) for name, (_, _, points) in LEARNERS.items()
    }


def test_no_result_is_taken_for_points_that_is_none(course) -> None:
    _, said = course
    assert "cannot be converted" not in said
    assert "ERROR" not in said
    assert "has changed" not in said, "a warning is left for what was tampered with"


def test_nothing_stands_in_the_way_of_an_answer(course) -> None:
    folder, _ = course
    for name in ("perfect", "unusual"):
        cells = read(folder / "autograded" / name / LESSON / PATH.name)["cells"]
        outputs = [o for cell in cells if notebooks.grading(cell) for o in cell["outputs"]]
        assert outputs
        assert {o["output_type"] for o in outputs} <= {"stream", "display_data", "execute_result"}


@pytest.mark.parametrize("name", LEARNERS)
def test_feedback_can_be_read_in_one_language(course, name) -> None:
    folder, _ = course
    page = (folder / "feedback" / name / LESSON / PATH.name).with_suffix(".html").read_text("utf-8")
    assert "HIDDEN" not in page
    assert 'src="pictures/' not in page
    assert "Leave this one as it is" not in page, "the student's answer is what was written"
    assert page.count("Student's answer") == 2
    assert "body):not([data-mg-language])" in page, "the rule that hides the other language"
    assert "application/vnd.jupyter.widget-view+json" not in page
    core, _ = LEARNERS[name][2]
    assert ("0 / 2  L04.core" in page) is (core == 0)
    assert "✓ L04.core " in page or core == 0


# ---- Notebooks that were harmed on the way ---------------------------------------------------

FIRST = LESSONS[0]
RIGHT = """def dynamic(steps, x):
    for name, f in steps:
        note('built', name)
        x = f(x)
        note('run', name)
    return x"""
WRONG = "def dynamic(steps, x):\n    for _, f in steps:\n        x = f(x)\n    return x"
HARMED = ["nothing", "tests twice", "stub twice", "all metadata lost", "ids lost", "both deleted"]
HARMED += ["graded cells shuffled", "tests moved to the start", "answer split", "tests split"]
HARMED += ["answered in the stub", "answer, stub and tests merged", "tests edited"]
OTHERWISE = ["old format", "large outputs", "another name"]
EARNED = ["nothing", "all metadata lost", "graded cells shuffled", "tests edited"]  # by the wrong


def harmed(harm: str, answer: str) -> dict[str, Any]:
    """What a learner hands in whose notebook was harmed."""
    notebook = notebooks.for_learners(read(FIRST))
    for cell in notebook["cells"]:
        cell["source"] = notebooks.text(cell).replace(GAP, ANSWER)  # `HARM` knows the cell by it
    HARM.get(harm, lambda cells: None)(notebook["cells"])
    for cell in notebook["cells"]:
        cell["source"] = cell["source"].replace(ANSWER, answer)
        if harm == "old format":
            cell.pop("id", None)
        if harm == "large outputs" and cell["cell_type"] == "code":
            text = {"output_type": "stream", "name": "stdout", "text": "x" * 2_000_000}
            cell["outputs"] = [text]
    if harm == "old format":
        notebook["nbformat_minor"] = 4
    return notebook


def test_harm_to_a_notebook_costs_no_mark_and_earns_none(tmp_path: Path) -> None:
    from nbgrader.api import Gradebook

    shutil.copy(ROOT / "docs" / "kit" / "nbgrader_config.py", tmp_path)
    source = tmp_path / "source" / "L00"
    source.mkdir(parents=True)
    (source / FIRST.name).write_text(json.dumps(notebooks.for_nbgrader(read(FIRST))), "utf-8")
    learners: dict[str, tuple[str, str]] = {}
    for i, harm in enumerate([*HARMED, *OTHERWISE]):
        for kind, answer in (("right", RIGHT), ("wrong", WRONG)):
            if kind == "wrong" and harm not in EARNED:
                continue
            learners[f"{kind}{i}"] = harm, kind
            folder = tmp_path / "submitted" / f"{kind}{i}" / "L00"
            folder.mkdir(parents=True)
            name = "mine (2).ipynb" if harm == "another name" else FIRST.name
            (folder / name).write_text(json.dumps(harmed(harm, answer)), "utf-8")
    for step in ("generate_assignment", "autograde"):
        nbgrader(tmp_path, step, "L00")
    with Gradebook(f"sqlite:///{tmp_path / 'gradebook.db'}", "minigrad") as gradebook:
        found = {
            learners[each.student.id]: grade.auto_score
            for each in gradebook.assignment_submissions("L00")
            for book in each.notebooks
            for grade in book.grades
            if grade.name == TESTS
        }
    assert found == {told: 2.0 if told[1] == "right" else 0.0 for told in learners.values()}

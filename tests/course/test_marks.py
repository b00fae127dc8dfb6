"""Points where nbgrader grades: partial credit, and none for who replaces what judges."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import covering
import pytest
from lessons import LESSONS, ROOT, TOUR

sys.path.append(str(ROOT / "docs" / "kit"))
import notebooks
from minigrad_lessons.student import without_hosting

ANSWER = """
def twice(x):
    return ...


def doubled(*numbers):
    return {str(n): twice(n) for n in numbers}


want = {"2": 4}
lessons.check("L04.core", lambda: doubled(2), want)
"""
TESTS = """
lessons.check("L04.core", lambda: doubled(3), {"3": 6})
### BEGIN HIDDEN TESTS
lessons.check("L04.stretch", lambda: doubled(-1.5), {"-1.5": -3})
lessons.check("L04.core", lambda: doubled(2), want)
### END HIDDEN TESTS
"""


def cell(source: str, **grading: object) -> dict[str, object]:
    metadata = {"nbgrader": grading} if grading else {}
    return {"cell_type": "code", "source": source.strip("\n"), "metadata": metadata}


LESSON = {
    "cells": [
        cell(
            "import minigrad_lessons as lessons\n\nlessons.check\n\n\ndef helper():\n    return 1"
        ),
        cell(ANSWER),
        cell("### BEGIN SOLUTION\n### END SOLUTION", grade_id="L04-core-1", solution=True),
        cell(TESTS, grade_id="L04-core-1-tests", grade=True, points=2),
    ],
    "metadata": {},
}
# The first cell runs once, each learner in a copy of the process: prints what nbgrader would read.
# The course is loaded anew for each; its files are read and parsed once, and no garbage collected.
GRADER = """
import contextlib, functools, gc, importlib.machinery, io, json, os, pathlib, sys, tomllib
loader = importlib.machinery.SourceFileLoader
loader.get_code = functools.cache(loader.get_code)
import minigrad, minigrad_lessons.lesson, viz
tomllib.loads = functools.cache(tomllib.loads)
for package in (minigrad, minigrad_lessons.lesson, viz):
    for file in pathlib.Path(package.__path__[0]).rglob("*.toml"):
        tomllib.loads(file.read_text("utf-8"))
from IPython.core.interactiveshell import InteractiveShell
given = json.loads(sys.stdin.read())
shell = InteractiveShell.instance()
shell.run_cell(given["first"])
gc.disable()
gc.freeze()
for learner in given["learners"]:
    if not (child := os.fork()):
        shown, said = [], io.StringIO()
        hook = type(shell.displayhook)
        hook.__call__ = lambda self, value=None: value is None or shown.append(value)
        with contextlib.redirect_stdout(said):
            shell.run_cell(learner)
            ran = shell.run_cell(given["tests"])
        points = 0.0 if ran.error_in_exec else shown[0] if shown else "all"
        print(json.dumps([points, repr(ran.error_in_exec), said.getvalue()]), flush=True)
        os._exit(0)
    os.waitpid(child, 0)
"""


HALF = ANSWER.replace("...", "2 * abs(x)")
RIGHT = ANSWER.replace("...", "2 * x")
ASKED = ANSWER.rpartition("lessons.check")[0]
HONEST = {
    "right": (RIGHT, 2),
    "half": (HALF, 1),
    "wrong": (RIGHT.replace("2 *", "3 *"), 0),
    "blank": (ANSWER, 0),
    "warns": (ANSWER.replace("...", "__import__('warnings').warn('slow') or 2 * x"), 2),
    "replaces a check, and is right": (f"{RIGHT}\nlessons.check = lambda *a, **k: True", 2),
    "replaces what nobody uses": (f"{RIGHT}\ndef helper(): ...", 2),
}
# What a learner without an answer may write so that the tests pass.
HOSTILE = {
    "the check": "lessons.check = lambda *a, **k: True",
    "the course for everybody": "import sys\nlessons = type('F', (), {'check': print})\n"
    "sys.modules['minigrad_lessons'] = lessons",
    "what compares": "import minigrad_lessons.lesson.answers as a\na.is_equal = lambda *a: True",
    "an inner module": "from minigrad_lessons.lesson import check as c\n"
    "c.check = c.is_equal = print",
    "the mode": "import os\nos.environ.clear()",
    "NumPy": "import numpy as np\nnp.asarray = np.allclose = lambda *a: True",
    "the builtins": "import builtins\nbuiltins.all = builtins.abs = lambda *a: True",
    "a helper": "doubled = lambda *n: {str(i): 2 * i for i in n}",
    "what is wanted": "want = doubled(2)",
    "values hidden": "get_ipython().ast_node_interactivity = 'none'",
    "in an answer": "def twice(x):\n    lessons.check = print",
    "in an answer, within": "def twice(x):\n    import minigrad_lessons.lesson.check as c\n"
    "    c.is_equal = lambda *a: True",
    "in an answer, by name": "def twice(x):\n    global lessons\n    lessons = None",
    "in an answer, the mode": "def twice(x):\n    __import__('os').environ.clear()\n    return ...",
    "says it is equal": "class Same(dict):\n    __eq__ = keys = lambda *a: True\n"
    "def twice(x):\n    return Same()",
}
if covering.thorough:  # caught like the check, the course for everybody and an inner module
    HOSTILE |= {
        "by setattr": "setattr(lessons, 'check', print)",
        "the course itself": "lessons = type('Fake', (), {'check': print})()",
        "what is raised": "import minigrad_lessons.lesson.check as c\n"
        "c.CheckFailed.__init__ = c._report = print",
        "its name": "import minigrad_lessons.lesson.check as c\nc.GRADING = 'other'",
        "the marks": "import minigrad_lessons.lesson.check as c\nc.MARKS[False] = '✓'",
    }


@pytest.fixture(scope="module")
def graded() -> dict[str, tuple[float, str, str]]:
    """What the tests give to each learner: points, what was raised, what was printed."""
    if not hasattr(os, "fork"):
        pytest.skip("copies the process for each learner")
    source = notebooks.for_nbgrader(LESSON)["cells"]
    told = {"first": "".join(source[0]["source"]), "tests": "".join(source[3]["source"])}
    learners = {name: answer for name, (answer, _) in HONEST.items()}
    learners |= {name: f"{ASKED}\n{line}" for name, line in HOSTILE.items()}
    run = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", GRADER],
        input=json.dumps(told | {"learners": list(learners.values())}),
        env={**os.environ, "NBGRADER_EXECUTION": "autograde"},
        capture_output=True,
        text=True,
        check=True,
    )
    lines = [json.loads(line) for line in run.stdout.splitlines() if line.startswith("[")]
    return dict(zip(learners, lines, strict=True))


def test_points_follow_the_checks_that_passed(graded) -> None:
    assert {name: graded[name][0] for name in HONEST} == {n: p for n, (_, p) in HONEST.items()}
    assert "0 / 2  L04.core, L04.stretch" in graded["blank"][1]


def test_each_check_is_told_once(graded) -> None:
    assert graded["right"][2].count("✓ L04.core ") == 2, "in the learner's cell, and by the tests"
    assert graded["half"][2].count("✓ L04.stretch ") == 0
    assert graded["half"][2].count("✗ L04.stretch ") == 1
    assert graded["blank"][2].count("✗ L04.core ") == 2


def test_who_replaces_what_judges_gets_nothing(graded) -> None:
    assert {name: graded[name][0] for name in HOSTILE} == dict.fromkeys(HOSTILE, 0)


def test_the_tests_of_a_course_begin_with_what_they_use_of_the_lesson() -> None:
    source = notebooks.text(notebooks.for_nbgrader(LESSON)["cells"][3])
    begins, ends = source.index("def doubled"), source.index('["points"](2)')
    assert begins < source.index('want = {"2": 4}') < source.index("L04.core") < ends
    assert "helper" not in source
    assert "def twice" not in source


@pytest.mark.parametrize("path", [*LESSONS, TOUR], ids=lambda path: path.stem)
def test_learners_are_given_the_same_cells_and_no_answer(path) -> None:
    lesson = without_hosting(json.loads(path.read_text("utf-8")))  # as the kit has it
    given, source = notebooks.for_learners(lesson)["cells"], notebooks.for_nbgrader(lesson)["cells"]
    shown = "\n".join(map(notebooks.text, given))
    for word in ("### BEGIN", "SOLUTION", "HIDDEN", "lessons.solution", "lesson.marks"):
        assert word not in shown
    assert [*map(notebooks.grading, given)] == [*map(notebooks.grading, source)]
    tests = [notebooks.text(cell) for cell in source if "points" in notebooks.grading(cell)]
    assert tests
    assert all("lesson.marks" in text for text in tests)

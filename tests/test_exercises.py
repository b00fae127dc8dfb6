"""Exercises and gaps: the right answer passes, however written; a wrong one is told what to reread.

The answers that learners might give are data, one file per lesson in `tests/solutions/`; what its
fields mean is said at the top of L00.toml.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from lessons import LESSONS, ROOT, code_cells, number, read, run_cell

import minigrad as mg
import tasks
from minigrad.messages import set_language
from viz.ask import CheckFailed, Shown
from viz.questions import find_check


@dataclass(frozen=True)
class Task:
    """An exercise or a cell with gaps, by the places of its cells among the code cells."""

    to: str
    start: int  # the learner's cell
    solution: int | None = None  # of an exercise
    tests: int | None = None


@dataclass(frozen=True)
class Outcome:
    """What came of an answer: the value of the last cell, or what it raised."""

    value: Any = None
    error: BaseException | None = None

    @property
    def passed(self) -> bool:
        return isinstance(self.value, Shown) and self.value.mark == "✓"


def grade(cell: Any) -> Any:
    return cell.metadata.get("nbgrader", {})


def is_gap(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and node.value is Ellipsis


def has_gap(node: ast.AST) -> bool:
    return any(map(is_gap, ast.walk(node)))


@cache
def tasks_of(path: Path) -> list[Task]:
    """What a learner is to fill in, in order."""
    cells, found = code_cells(path), []
    for place, cell in enumerate(cells):
        if grade(cell).get("solution"):
            tests = next(i for i, c in enumerate(cells) if grade(c).get("grade") and i > place)
            found.append(Task(grade(cell).grade_id, place - 1, place, tests))
    taken = {task.start for task in found}
    for place, cell in enumerate(cells):
        checks = re.findall(r'viz\.check\(\s*"([^"]+)"', cell.source)
        if place not in taken and not grade(cell) and checks and has_gap(ast.parse(cell.source)):
            found.append(Task(checks[-1], place))
    return sorted(found, key=lambda task: task.start)


@cache
def answers(lesson: str) -> list[dict[str, Any]]:
    file = ROOT / "tests" / "solutions" / f"{lesson}.toml"
    return tomllib.loads(file.read_text(encoding="utf-8"))["answer"] if file.exists() else []


def with_gaps_filled(source: str, fillings: list[str]) -> str:
    """A cell with something in place of each `...`."""
    lines = source.splitlines(keepends=True)
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    gaps = [token.start for token in tokens if token.string == "..."]
    for (row, column), text in reversed(list(zip(gaps, fillings, strict=True))):
        line = lines[row - 1]
        lines[row - 1] = line[:column] + text + line[column + 3 :]
    return "".join(lines)


def with_solution(source: str, solution: str) -> str:
    """A learner's cell with the solution in place of the statements that have gaps."""
    body = ast.parse(source).body
    first = next(i for i, statement in enumerate(body) if has_gap(statement))
    after = [statement for statement in body[first:] if not has_gap(statement)]
    return ast.unparse(ast.Module([*body[:first], *ast.parse(solution).body, *after], []))


class Run:
    """A lesson run from top to bottom, where each answer is tried when its turn comes.

    Answers see what the cells before have made, and none sees the names that another has bound.
    """

    def __init__(self, path: Path) -> None:
        self.names: dict[str, Any] = {"__name__": "lesson"}
        self.outcomes: dict[tuple[str, str], Outcome] = {}
        self.cells = [cell.source for cell in code_cells(path)]
        shown = tasks.student_version(read(path))["cells"]
        self.shown = ["".join(c["source"]) for c in shown if c["cell_type"] == "code"]
        todo = {task.start: task for task in tasks_of(path)}
        with mg.Graph():  # as the default graph of a kernel that has just begun
            for place, source in enumerate(self.cells):
                if place in todo:
                    self.try_all(todo[place], answers(number(path)))
                run_cell(source, self.names, f"cell {place}")

    def try_all(self, task: Task, known: list[dict[str, Any]]) -> None:
        learner = self.cells[task.start]
        if task.solution is None:
            self.attempt(task.to, "student version", learner)
            for answer in known:
                if answer["to"] == task.to:
                    filled = with_gaps_filled(learner, answer["gaps"])
                    self.attempt(task.to, answer["because"], filled)
            return
        ours, tests = self.cells[task.solution], self.cells[task.tests]
        stub, few_tests = self.shown[task.solution], self.shown[task.tests]
        self.attempt(task.to, "student version", learner, stub, few_tests)
        self.attempt(task.to, "our solution", learner, ours, tests)
        self.attempt(task.to, "our solution, few tests", learner, ours, few_tests)
        self.attempt(task.to, "our solution in the learner's cell", with_solution(learner, ours))
        for answer in known:
            if answer["to"] == task.to:
                self.attempt(task.to, answer["because"], learner, answer["code"], tests)
                if answer["is"] == "unusual":
                    filled = with_solution(learner, answer["code"])
                    self.attempt(task.to, answer["because"] + ", in the learner's cell", filled)

    def attempt(self, to: str, title: str, *sources: str) -> None:
        before = dict(self.names)
        try:
            value = [run_cell(source, self.names, f"{to}, {title}") for source in sources][-1]
            self.outcomes[to, title] = Outcome(value)
        except Exception as error:  # noqa: BLE001 - whatever it raises is the outcome
            self.outcomes[to, title] = Outcome(error=error)
        self.names.clear()
        self.names.update(before)


@cache
def outcomes(path: Path) -> dict[tuple[str, str], Outcome]:
    set_language("en")
    return Run(path).outcomes


@pytest.fixture(autouse=True)
def english() -> Iterator[None]:
    set_language("en")
    yield
    set_language("en")


def assert_told_what_to_reread(outcome: Outcome, lesson: str) -> None:
    """It failed with the words of a check of this lesson, in whatever language is chosen."""
    assert outcome.error is not None, "it passed"
    if not isinstance(outcome.error, CheckFailed):
        raise AssertionError("it did not reach a check") from outcome.error
    entry = find_check(outcome.error.shown.name)
    assert entry.id.startswith(f"{lesson}.")
    for language, shown in (("en", [0]), ("zh", [1]), ("both", [0, 1])):
        set_language(language)
        said = str(outcome.error)
        for half in (0, 1):
            assert (entry.text[half] in said) is (half in shown)
            assert (entry.hint[half] in said) is (half in shown)


TASKS = [(path, task) for path in LESSONS for task in tasks_of(path)]
ANSWERS = [(path, answer) for path in LESSONS for answer in answers(number(path))]


def name(x: Any) -> str:
    if isinstance(x, Task):
        return x.to
    return f"{x['to']}: {x['because']}" if isinstance(x, dict) else number(x)


@pytest.mark.parametrize(("path", "task"), TASKS, ids=name)
def test_our_own_answers_pass_and_the_student_version_says_what_is_missing(path, task):
    found = {title: outcome for (to, title), outcome in outcomes(path).items() if to == task.to}
    unfilled = found["student version"]
    if task.solution is None:
        assert unfilled.error is None, "a gap left open stops nobody"
        assert unfilled.value.mark == "…"
        return
    assert_told_what_to_reread(unfilled, number(path))
    for title, outcome in found.items():
        if title.startswith("our solution"):
            assert outcome.passed, (title, outcome)


@pytest.mark.parametrize(("path", "answer"), ANSWERS, ids=name)
def test_an_answer_is_judged_rightly(path, answer):
    outcome = outcomes(path)[answer["to"], answer["because"]]
    if answer["is"] == "wrong":
        assert_told_what_to_reread(outcome, number(path))
        return
    assert outcome.passed, outcome
    if "code" in answer:
        filled = outcomes(path)[answer["to"], answer["because"] + ", in the learner's cell"]
        assert filled.passed, filled


@pytest.mark.parametrize(("path", "task"), TASKS, ids=name)
def test_every_exercise_has_answers_of_each_sort(path, task):
    sorts = [answer["is"] for answer in answers(number(path)) if answer["to"] == task.to]
    assert set(sorts) <= {"right", "wrong", "unusual"}
    if task.solution is None:
        assert {"right", "wrong"} <= set(sorts)
    else:
        assert sorts.count("wrong") >= 2
        assert sorts.count("unusual") >= 1


@pytest.mark.parametrize("path", LESSONS, ids=lambda p: p.stem)
def test_answers_are_to_exercises_of_the_lesson_and_all_different(path):
    known = answers(number(path))
    assert {answer["to"] for answer in known} == {task.to for task in tasks_of(path)}
    titles = [(answer["to"], answer["because"]) for answer in known]
    assert len(set(titles)) == len(titles)


def test_no_answers_are_left_of_a_lesson_that_is_gone():
    files = {path.stem for path in (ROOT / "tests" / "solutions").iterdir()}
    assert files == {number(path) for path in LESSONS}

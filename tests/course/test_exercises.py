"""Exercises and gaps: the right answer passes, however written; a wrong one is told what to reread.

The answers that learners might give are data, one file per lesson in `tests/solutions/`; what its
fields mean is said at the top of L00.toml.
"""

from __future__ import annotations

import ast
import builtins
import contextlib
import gc
import io
import os
import re
import tokenize
import tomllib
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from types import FunctionType
from typing import Any
from unittest import mock

import pytest
from covering import each
from lessons import (
    BOARDS,
    DRAWINGS,
    LESSONS,
    PLAYERS,
    ROOT,
    TOUR,
    code_cells,
    number,
    read,
    run_cell,
)

import minigrad as mg
import minigrad_lessons as lessons
import minigrad_lessons.lesson.claims
import viz
from minigrad.core.record import REGISTRY
from minigrad.diagnostics.messages import Pair, set_language
from minigrad_lessons.lesson import elsewhere, over_http
from minigrad_lessons.lesson.check import CheckFailed
from minigrad_lessons.lesson.exercise import judge as judging
from minigrad_lessons.lesson.exercise import shrinking
from minigrad_lessons.lesson.exercise.judge import Failure, judge
from minigrad_lessons.lesson.exercise.properties import PROPERTIES
from minigrad_lessons.lesson.exercise.property import Property
from minigrad_lessons.lesson.my_engine import COMPUTE
from minigrad_lessons.lesson.wording import Message
from minigrad_lessons.questions import all_lessons, find_check
from minigrad_lessons.student import student_version
from viz.charts.chart import Chart
from viz.words import text as words

pytestmark = pytest.mark.usefixtures("english")

NOTEBOOKS = [*LESSONS, TOUR]


@dataclass(frozen=True)
class Task:
    """An exercise or a cell with gaps, by the places of its cells among the code cells."""

    to: str
    start: int  # the learner's cell
    solution: int | None = None  # of an exercise
    tests: int | None = None


@dataclass
class Outcome:
    """What came of an answer, cell by cell: every mark that a check gave, and what was raised."""

    marks: list[tuple[str, str]] = field(default_factory=list)
    failed: list[CheckFailed] = field(default_factory=list)
    errors: list[Exception] = field(default_factory=list)
    opened: list[str] = field(default_factory=list)  # marks of the cell in which they write
    parts: list[str] = field(default_factory=list)  # what a check kept

    def said(self, pairs: list[Pair], mark: str, id: str, after: Pair | None = None) -> Message:
        """Stand in for `Shown` of `lessons.check`, which itself has to see the calling cell."""
        self.marks.append((id, mark))
        return Message(pairs, mark, id, after)

    def stored(self, functions: Sequence[FunctionType]) -> tuple[bool, list[Pair]]:
        """In the place of what a check keeps by itself, once for the cells of an answer."""
        kept = [function.__name__ for function in functions]
        if {*kept} <= {*self.parts}:
            return True, []
        self.parts += kept
        return lessons.lesson.learner_engine.store_functions(functions)

    def run(self, source: str, names: dict[str, Any], title: str) -> None:
        """A cell; what comes after one that failed is run all the same."""
        try:
            said = mock.patch.object(lessons.lesson.check, "Message", self.said)
            kept = mock.patch.object(lessons.lesson.check, "store_functions", self.stored)
            with said, kept:
                run_cell(source, names, title)
        except CheckFailed as failure:
            self.failed.append(failure)
        except Exception as error:  # noqa: BLE001 - whatever it raises is the outcome
            self.errors.append(error)

    @property
    def passed(self) -> bool:
        return bool(self.marks) and {m for _, m in self.marks} == {"✓"} and not self.errors

    @property
    def untouched(self) -> bool:
        return bool(self.marks) and {m for _, m in self.marks} == {"…"} and not self.errors


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
        checks = re.findall(r'lessons\.check\(\s*"([^"]+)"', cell.source)
        if place not in taken and not grade(cell) and checks and has_gap(ast.parse(cell.source)):
            found.append(Task(checks[-1], place))
    return sorted(found, key=lambda task: task.start)


@cache
def data_of(lesson: str) -> dict[str, Any]:
    file = ROOT / "tests" / "solutions" / f"{lesson}.toml"
    return tomllib.loads(file.read_text(encoding="utf-8")) if file.exists() else {}


def answers(lesson: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = data_of(lesson).get("answer", [])
    return found


def chosen(path: Path, thorough: bool) -> list[dict[str, Any]]:
    """The answers that are tried: with --all each; else some to each exercise, all over its own.

    Of a long lesson none, but for ours.
    """
    known, sorts = answers(number(path)), defaultdict(list)
    if path.name.startswith(LONG) and not thorough:
        return []
    for answer in known:
        sorts[answer["to"], answer["is"]].append(answer)
    few = [a for (_, sort), found in sorts.items() for a in found[:: -(-len(found) // EACH[sort])]]
    return [a for a in known if thorough or a in few or a.get("fits")]


SHOWN_AT_THE_END = re.compile(rf"(viz|lessons)\.({PLAYERS}|{BOARDS}|{DRAWINGS})\(")


def without_view(source: str) -> str:
    """A cell without the view that it ends with: no name comes of it, and nbval draws it."""
    lines, body = source.splitlines(), ast.parse(source).body
    if body and SHOWN_AT_THE_END.match(lines[body[-1].lineno - 1]):
        return "\n".join(lines[: body[-1].lineno - 1])
    return source


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


def under_our_name(solution: str) -> str:
    """Our solution as a learner would write it: the notebook calls it `our_train`, say."""
    return re.sub(r"\bour_(?=\w)", "", solution)


OURS = "our solution"
# The failing program stays as it was found.
UNSHORTENED = mock.patch.multiple(
    shrinking, shrink=lambda *asked: asked[-1], drop_lines=lambda program, fails: program
)
GRADED = mock.patch.dict(os.environ, NBGRADER_EXECUTION="autograde")


@contextlib.contextmanager
def light_lessons() -> Iterator[None]:
    """Lessons that start no process and measure little: nbval runs them as they are.

    What they then show is stored with them, as in a browser; no answer depends on it.
    """
    kept = mock.patch.object(elsewhere, "_missing_requirement", return_value=("recorded",) * 2)
    stored = mock.patch.object(over_http, "_request_answers", side_effect=OSError)
    bench = viz.bench
    few = mock.patch.object(viz, "bench", lambda *a, **named: bench(*a, **named | {"rounds": 5}))
    with kept, stored, few:
        yield


def judge_with(
    known: Property, again: int, id: str, functions: Sequence[FunctionType], seed: int
) -> Failure | None:
    """Judge with a property that has fewer programs, and fewer that call again."""
    some = mock.patch.dict(PROPERTIES, {id: known})
    with some, mock.patch.object(judging, "TWICE", again):
        return judge(id, functions, seed)


class Run:
    """A lesson run from top to bottom, where each answer is tried when its turn comes.

    Answers see what the cells before have made, and none sees the names that another has bound.
    """

    thorough = False  # with --all: every answer, and every program for each

    def __init__(self, path: Path) -> None:
        self.names: dict[str, Any] = {"__name__": "lesson"}
        self.outcomes: dict[tuple[str, str, str], Outcome] = {}
        self.measured: dict[str, Mapping[str, Any]] = {}
        self.trying, self.wrong = ("", ""), False  # which answer, to what; what is said of it
        self.share = slice(None)  # of the programs that are always tried
        self.verdicts: dict[Any, Failure | None] = {}  # of what is judged in several versions
        self.cells = [cell.source for cell in code_cells(path)]
        shown = student_version(read(path))["cells"]
        texts = ["".join(c["source"]) for c in shown if c["cell_type"] == "code"]
        # They begin without the cell that installs in Colab.
        self.shown = [""] * (len(self.cells) - len(texts)) + texts
        todo = {task.start: task for task in tasks_of(path)}
        claims = mock.patch.object(lessons, "claims", self.claims)
        judged = mock.patch.object(lessons.lesson.check, "judge", self.judge)
        undrawn = mock.patch.object(Chart, "_shown", return_value="")  # nbval draws the charts
        graph = mg.Graph()  # as the default graph of a kernel that has just begun
        light = contextlib.nullcontext() if self.thorough else light_lessons()
        with claims, judged, undrawn, light, graph:
            for place, source in enumerate(self.cells):
                if place in todo:
                    self.try_all(todo[place], chosen(path, self.thorough))
                shown = source if self.thorough else without_view(source)
                run_cell(shown, self.names, f"cell {place}")

    def judge(self, id: str, functions: Sequence[FunctionType], seed: int = 0) -> Failure | None:
        """In the place of `judge`: cells of an answer ask for the same verdict up to 8 times.

        What is right runs through all programs, so a fifth has to do, of those that call again,
        too, and a tenth with another seed. A wrong answer meets the others if these find nothing,
        and before them the rare ones, which are few and find most of what is left.
        Those that are tried always are the same for each seed, and two answers of a sort share
        them. With --all, each answer meets all programs. Without it nobody reads the failing
        program, which stays as it was found.
        """
        asked = id, seed, tuple(function.__code__ for function in functions), *self.trying
        if asked not in self.verdicts:
            known, share = PROPERTIES[id], 10 if seed else 5
            always = () if seed else known.always[self.share]
            few = replace(known, examples=max(10, known.examples // share), always=always)
            some, rare = (few, judging.TWICE // 5), (replace(known, examples=0), 0)
            every = known, judging.TWICE
            tries = [some, rare, every] if self.wrong else [some]
            tries = [every] if self.thorough else tries
            with contextlib.nullcontext() if self.thorough else UNSHORTENED:
                judged = (judge_with(*tried, id, functions, seed) for tried in tries)
                self.verdicts[asked] = next(filter(None, judged), None)
        return self.verdicts[asked]

    def claims(self, lesson: str, *values: Any, **measured: Mapping[str, Any]) -> Any:
        """In the place of `lessons.claims`; values for all claims are those of each."""
        each = dict.fromkeys(all_lessons()[lesson].claims, *values) if values else {}
        self.measured = each | measured
        return lessons.lesson.claims.claims(lesson, *values, **measured)

    def try_all(self, task: Task, known: list[dict[str, Any]]) -> None:
        learner = self.cells[task.start]
        self.attempt(task, "untouched", learner, ["student", "source", "graded"])
        if task.solution is not None:
            ours = under_our_name(self.cells[task.solution])
            filled = with_solution(learner, ours)
            self.attempt(task, OURS, filled, ["student", "source", "graded"])
        known = [answer for answer in known if answer["to"] == task.to]
        for answer in known:
            gaps, code = answer.get("gaps"), answer.get("code")
            filled = with_gaps_filled(learner, gaps) if gaps else with_solution(learner, code)
            alike = [other for other in known if other["is"] == answer["is"]]
            self.share = slice(alike.index(answer) % 2, None, 2) if alike[1:] else slice(None)
            # What is wrong fails in what a learner sees, which every version holds.
            self.wrong = answer["is"] == "wrong"
            versions = ["student"] if self.wrong else ["student", "graded"]
            self.attempt(task, answer["because"], filled, versions)
        self.wrong, self.share = False, slice(None)

    def attempt(self, task: Task, title: str, learner: str, versions: list[str]) -> None:
        """An answer in what `student` writes, in the source, or as nbgrader runs it."""
        if task.solution is None:
            self.run(task, title, "student", [learner])
            return
        stub, few = self.shown[task.solution], self.shown[task.tests]
        ours, tests = self.cells[task.solution], self.cells[task.tests]
        rest = {"student": [stub, few], "source": [ours, tests], "graded": [stub, tests]}
        for where in versions:
            with GRADED if where == "graded" else contextlib.nullcontext():
                self.run(task, title, where, [learner, *rest[where]])

    def run(self, task: Task, title: str, where: str, sources: list[str]) -> None:
        before, outcome, self.trying = dict(self.names), Outcome(), (task.to, title)
        for place, source in enumerate(sources):
            outcome.run(source, self.names, f"{task.to}, {title}, {where}, {place}")
            outcome.opened = outcome.opened or [mark for _, mark in outcome.marks]
        self.outcomes[task.to, title, where] = outcome
        self.names.clear()
        self.names.update(before)


@pytest.fixture(scope="module", autouse=True)
def thorough(request: pytest.FixtureRequest) -> None:
    named = any("::" in name for name in request.config.args)
    Run.thorough = request.config.getoption("--all") or named


@cache
def ran(path: Path) -> Run:
    gc.freeze()  # what other lessons have left; each benchmark of this one collects
    set_language("en")
    return Run(path)


def tried(path: Path, to: str, title: str) -> dict[str, Outcome]:
    """What came of an answer, by the version of the notebook in which it was given."""
    return {
        where: outcome
        for (task, answer, where), outcome in ran(path).outcomes.items()
        if (task, answer) == (to, title)
    }


def assert_told_what_to_reread(outcome: Outcome, lesson: str) -> None:
    """It failed with the words of a check of this lesson, in whatever language is chosen."""
    assert outcome.errors == [], "not by a check"
    assert outcome.failed, f"it passed: {outcome.marks}"
    for failure in outcome.failed:
        entry = find_check(failure.shown.name)
        assert entry.id.startswith(f"{lesson}.")
        if entry.id in PROPERTIES:
            assert_shown_as_a_program(failure)
            continue
        hint = failure.shown.pairs[-1]
        if hint not in [known for _, _, known in entry.hints]:
            hint = entry.hint
        for language, shown in (("en", [0]), ("zh", [1]), ("both", [0, 1])):
            set_language(language)
            said = str(failure)
            for half in (0, 1):
                assert (entry.text[half] in said) is (half in shown)
                assert (hint[half] in said) is (half in shown)


def assert_shown_as_a_program(failure: CheckFailed) -> None:
    """It failed with the lines of a program, what is wrong with it, and maybe what to do next."""
    head, code, *told = failure.shown.pairs
    if not told:
        assert code == words.row("check_gap")
        return
    assert code[0] == code[1]
    assert all(line.startswith("    ") for line in code[0].splitlines())
    for language, half in (("en", 0), ("zh", 1)):
        set_language(language)
        said = str(failure)
        assert head[half] in said
        assert all(pair[half].splitlines()[0] in said for pair in told)


EACH = {"right": 2, "unusual": 2, "wrong": 6}  # answers to an exercise that are tried without --all
TASKS = [(path, task) for path in NOTEBOOKS for task in tasks_of(path)]
EXERCISES = [(path, task) for path, task in TASKS if task.solution is not None]
LONG = ("11", "13", "14")  # lessons that run for long themselves, or whose answers do


def apart(rows: list[Any]) -> list[Any]:
    """The same rows; those of long lessons, where only our own answers are tried, with --all."""
    found = []
    for row in rows:
        values = row if isinstance(row, tuple) else (row,)
        marks = pytest.mark.exhaustive if values[0].name.startswith(LONG) else ()
        found.append(pytest.param(*values, marks=marks))
    return found


TESTED = r"""### BEGIN HIDDEN TESTS
(lessons\.check\(.*), seed=1\)
### END HIDDEN TESTS
\1\)"""


def uses_a_property(source: str) -> bool:
    """Whether the only check of a cell is given nothing but the learner's functions."""
    checks = re.findall(r'lessons\.check\(\s*"([^"]+)"(?:, \w+)+\)$', source)
    return bool(checks) and checks[0] in PROPERTIES


def name(x: Any) -> str:
    if isinstance(x, Task):
        return x.to
    return f"{x['to']}: {x['because']}" if isinstance(x, dict) else number(x)


@pytest.mark.parametrize(("path", "task"), TASKS, ids=name)
def test_what_is_untouched_is_never_judged_and_stops_nobody(path, task):
    found = tried(path, task.to, "untouched")
    for where in found.keys() - {"graded"}:
        assert found[where].untouched, (where, found[where])


@pytest.mark.parametrize(("path", "task"), EXERCISES, ids=name)
def test_what_is_untouched_gets_no_points(path, task):
    graded = tried(path, task.to, "untouched")["graded"]
    assert_told_what_to_reread(graded, number(path))
    set_language("en")
    assert "Not finished yet" in str(graded.failed[-1])
    assert "✓" not in {mark for _, mark in graded.marks}


@pytest.mark.parametrize(("path", "task"), EXERCISES, ids=name)
def test_our_own_answers_pass(path, task):
    for where, outcome in tried(path, task.to, OURS).items():
        assert outcome.passed, (where, outcome)


@pytest.mark.parametrize("path", LESSONS, ids=lambda p: p.stem)
def test_each_part_of_a_lesson_is_kept_by_some_check(path):
    outcomes = ran(path).outcomes.values()
    assert {part for b in all_lessons()[number(path)].checks.values() for part in b.parts} == {
        name for outcome in outcomes if outcome.passed for name in outcome.parts
    }


@pytest.mark.parametrize("path", apart(NOTEBOOKS), ids=name)
def test_an_answer_is_judged_rightly_by_what_a_learner_sees(path):
    """The visible checks refuse what is wrong; the hidden tests only repeat them."""

    @each(chosen(path, Run.thorough))
    def judged(answer):
        set_language("en")
        for where, outcome in tried(path, answer["to"], answer["because"]).items():
            if answer["is"] == "wrong":
                assert_told_what_to_reread(outcome, number(path))
                assert outcome.parts == []
            else:
                assert outcome.passed, (where, outcome)

    judged()


@pytest.mark.exhaustive
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_each_hint_for_a_known_mistake_is_given_to_some_answer(path):
    failed = [failure for outcome in ran(path).outcomes.values() for failure in outcome.failed]
    given = {(failure.shown.name, failure.shown.pairs[-1]) for failure in failed}
    checks = all_lessons()[number(path)].checks.values()
    known = {(entry.id, hint) for entry in checks for _, _, hint in entry.hints}
    assert known - given == set()


@pytest.mark.parametrize("path", apart(NOTEBOOKS), ids=name)
def test_what_is_wrong_is_refused_in_the_cell_where_it_was_written(path):
    """The folded cell below runs later, if at all; it is left what only fits the example."""

    @each(answer for answer in chosen(path, Run.thorough) if answer["is"] == "wrong")
    def refused(answer):
        opened = tried(path, answer["to"], answer["because"])["student"].opened
        assert ("✗" in opened) is not answer.get("fits", False), opened

    refused()


@pytest.mark.parametrize(("path", "task"), EXERCISES, ids=name)
def test_most_of_what_is_wrong_does_not_even_fit_the_example(path, task):
    wrong = [a for a in answers(number(path)) if (a["to"], a["is"]) == (task.to, "wrong")]
    assert sum(not answer.get("fits", False) for answer in wrong) >= 4


LATIN = re.compile(r"[A-Za-z]{3,}")
QUOTED = re.compile(r"“(?P<at>[^”]*)”|'(?P<value>[^']*)'")
# Names of code by which checks call things, beside those of operators.
CODE = {
    *("EVENTS", "kept", "last", "inputs", "len", "shape", "grad", "value", "given", "state"),
    *("unasked", "later", "double", "square", "Tensor", "gradients", "late", "exp", "log", "relu"),
    *("sum", "cond", "waits", "seconds", "rank", "array", "dtype", "minigrad", "inf", "nan"),
    *("pixels", "axis", "dynamic", "static", "padded"),  # the keys of the dict that L14 asks for
    *("tensors", "numbers", "types"),  # and of those that L12 asks for
    *("overlap", "max", "offset", "size"),  # what L09 asks of a plan
    "case",  # what the engine calls a program of a property
    "rounds",  # what the exercise of L13 is given
    *("init", "Const", "Error"),  # operators that are none, in the files of L11, and a repr in L07
    "share",  # and that of L14
    *(
        "bcd",
        "echg",
        "hfeag",
        "sppsdpsdm",
        "abc",
        "dcb",
        "attrs",
        "pspsdpsdmpsdr",
        "rows",
        "other",
    ),  # nodes in a row, and names
    *("built", "run", "asked"),  # what the lines of an error begin with
    *("mismatch", "could", "not", "broadcast"),  # what NumPy says, and L07 asks for
    *("NoneType", "Node"),  # what Python says of a value that is missing, or no list
    *("load", "clean", "report", "train", "logs", "photos", "sounds", "wash", "cut", "cook"),
}


@pytest.mark.parametrize("path", apart(NOTEBOOKS), ids=lambda p: p.stem)
def test_a_chinese_reader_is_told_no_english_words_but_names_of_code(path):
    """What an error says and where it arose is not ours; a line of the lesson may be quoted."""
    code = set(LATIN.findall("\n".join(cell.source for cell in code_cells(path))))
    set_language("zh")
    found = set()
    for outcome in ran(path).outcomes.values():
        for failure in outcome.failed:
            for pair in failure.shown.pairs[1:-1]:
                program = failure.shown.pairs[1][0]
                found |= omitted(pair[1], code) - set(LATIN.findall(program))
    assert found == set()


def omitted(line: str, code: set[str]) -> set[str]:
    """English words of a line that are no names."""
    if line.startswith(("错误出在", "你的代码抛出", "出错的是")):
        return set()
    words = set()
    for quoted in QUOTED.finditer(line):
        known = {*COMPUTE, *REGISTRY, *dir(builtins), "Leaf", *CODE}
        names = quoted["at"] if quoted["value"] is None else quoted["value"]
        words |= set(LATIN.findall(names)) - known - (code if quoted["value"] else set())
    return words


def test_an_english_word_in_a_chinese_line_is_found():
    line = "“still refused”最先出错：得到 'an output -1'，应为 None"
    assert omitted(line, {"output"}) == {"still", "refused"}
    assert omitted("“输出 1”最先出错：得到 'if positive: Sub'", {"positive", "if"}) == set()


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_what_a_lesson_gives_in_chinese_is_what_its_checks_call_something(path):
    helpers = [*(ROOT / "viz").rglob("*.py"), *(ROOT / "minigrad_lessons").rglob("*.py")]
    code = "\n".join([cell.source for cell in code_cells(path)])
    code += "\n".join(file.read_text("utf-8") for file in helpers)
    for english in all_lessons()[number(path)].words:
        parts = [part.strip(", ") for part in re.split(r"\{\}|\d+$", english)]
        assert [part for part in parts if part and part not in code] == []


@pytest.mark.parametrize(("path", "task"), TASKS, ids=name)
def test_every_exercise_has_answers_of_each_sort(path, task):
    sorts = [answer["is"] for answer in answers(number(path)) if answer["to"] == task.to]
    assert set(sorts) <= {"right", "wrong", "unusual"}
    if task.solution is None:
        assert {"right", "wrong"} <= set(sorts)
    else:
        assert sorts.count("wrong") >= 4
        assert sorts.count("unusual") >= 1


@pytest.mark.parametrize(("path", "task"), apart(EXERCISES), ids=name)
def test_every_check_of_an_exercise_refuses_some_answer_that_those_before_accept(path, task):
    """A check that refuses nothing of its own would say ✓ to something that nobody tested."""
    wrong = [
        tried(path, task.to, answer["because"])["student"].marks
        for answer in chosen(path, Run.thorough)
        if answer["to"] == task.to and answer["is"] == "wrong"
    ]
    first = {next(id for id, mark in marks if mark == "✗") for marks in wrong}
    assert first == {id for id, _ in tried(path, task.to, OURS)["student"].marks}


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_answers_are_to_exercises_of_the_lesson_and_all_different(path):
    known = answers(number(path))
    assert {answer["to"] for answer in known} == {task.to for task in tasks_of(path)}
    titles = [(answer["to"], answer["because"]) for answer in known]
    assert len(set(titles)) == len(titles)


def test_no_answers_are_left_of_a_lesson_that_is_gone():
    files = {path.stem for path in (ROOT / "tests" / "solutions").iterdir()}
    assert files == {number(path) for path in NOTEBOOKS}


def test_where_an_exercise_is_a_property_its_cell_holds_little_else():
    """At most 0.3 lines of harness for each line that a learner writes."""
    harness = written = 0
    for path, task in EXERCISES:
        cells = code_cells(path)
        asked = ast.parse(cells[task.start].source).body
        if path != TOUR:
            assert uses_a_property(cells[task.start].source), task
            harness += sum(n.end_lineno - n.lineno + 1 for n in asked if not has_gap(n))
            written += len(re.findall(r"(?m)^[^#\n]", cells[task.solution].source))
            assert re.fullmatch(TESTED, cells[task.tests].source), task
    assert 0 < harness <= 0.3 * written


# ---- Claims ----------------------------------------------------------------------------------

SHOWN = [(path, claim) for path in NOTEBOOKS for claim in data_of(number(path)).get("claim", [])]


@pytest.mark.parametrize(
    ("path", "claim"), apart(SHOWN), ids=lambda x: x["name"] if isinstance(x, dict) else name(x)
)
def test_what_a_lesson_measures_shows_what_it_says_of_a_claim(path, claim):
    measured = ran(path).measured[claim["name"]]
    assert eval(claim["shows"], dict(measured)), dict(measured)


@pytest.mark.parametrize("path", apart(sorted({path for path, _ in SHOWN})), ids=lambda p: p.stem)
def test_every_claim_of_a_lesson_is_held_by_its_values(path):
    held = [claim["name"] for given, claim in SHOWN if given == path]
    assert held == [*ran(path).measured]

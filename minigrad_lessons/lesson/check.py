"""Checks of exercises: `check`.

A check that fails raises AssertionError, so a grader sees it; a check of something still unanswered
(`...`) only says so.
"""

from __future__ import annotations

import ast
import linecache
import os
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from inspect import iscoroutinefunction, unwrap
from itertools import pairwise
from types import FrameType, FunctionType
from typing import Any, cast

from IPython import get_ipython
from IPython.display import display

from minigrad.diagnostics.errors import GraphError
from minigrad.diagnostics.messages import Pair
from minigrad_lessons.lesson.answers import (
    called_functions,
    contains_gap,
    has_gap,
    is_equal,
    lookups,
    read_values,
    short_repr,
    source_of,
    truncate,
    without_return,
)
from minigrad_lessons.lesson.comparison import Comparison
from minigrad_lessons.lesson.execution_limit import (
    TimeLimitExceeded,
    TooManyLines,
    is_ready_made,
    limit_execution,
)
from minigrad_lessons.lesson.exercise.judge import judge
from minigrad_lessons.lesson.exercise.properties import PROPERTIES
from minigrad_lessons.lesson.learner_engine import store_functions
from minigrad_lessons.lesson.progress import record_answer
from minigrad_lessons.lesson.verdicts import record_verdict
from minigrad_lessons.lesson.wording import GRADING, MARKS, Message
from minigrad_lessons.questions import Check, find_check, find_lesson, title_of
from viz.words.text import row

__all__ = ["check"]

MISSING: Any = object()
LONGEST = 30  # seconds that an answer may take
LINES = 1_000_000  # that it may run
# What each check said, the first refusal if there was one, where points are counted.
counted: dict[str, Message] | None = None


class CheckFailed(AssertionError):
    """A check of an exercise that failed; its text follows the chosen language."""

    def __init__(self, shown: Message) -> None:
        super().__init__(shown.name)
        self.shown = shown

    def __str__(self) -> str:
        return repr(self.shown)

    def _render_traceback_(self) -> list[str]:
        """Return a short traceback, as the message is already shown above it."""
        return [f"CheckFailed: {self.shown.name}"]


def check(
    id: str,
    got: Any,
    want: Any = MISSING,
    *more: FunctionType,
    tolerance: float = 1e-9,
    seed: int = 0,
) -> Message | None:
    """Compare an answer with what is expected; raise AssertionError when it is wrong.

    Of an exercise that has a property (see `exercise` beside this module) nothing but the functions
    is given. Short programs, made from `seed`, run with them and with ours; the shortest that
    differs is shown. What is right is kept in the learner's engine.

    got: a value, or a function without arguments that gives one.
    want: numbers and arrays agree within `tolerance` and in shape, anything else exactly; lists,
    tuples and arrays are interchangeable, and agree item by item; dicts agree name by name, and the
    first wrong name is reported ("for x = 3"), which says more than a place in a list; what
    is not code is shown in both languages (`[words]` in the lesson's bank).

    A gap `...` that is left in `got`, or in the functions of the notebook that it calls, is not
    judged: nothing was filled in yet. Where nbgrader grades, it is a mistake, and what has passed
    is printed, not returned: nbgrader would take a result for points. Where these are counted
    (`minigrad_lessons.lesson.marks`), one that fails says so once and stops nothing.

    >>> print(check("L00.faded.1", 4 * 5, 20))
    ✓ L00.faded.1  passed: x * x - x at 5 and at -1, from a graph
    """
    entry = find_check(id)
    given = [x for x in (got, want, *more) if x is not MISSING]
    if id in PROPERTIES and (want is MISSING or callable(want)):
        try:
            return _check_by_property(entry, given, seed)
        except ValueError as error:  # they cannot become parts of an engine
            return _fail(entry, [row("check_failed", text=entry.text), (str(error),) * 2])
    original, shown, problem, graded = got, want, list[Pair](), bool(os.environ.get(GRADING))
    wrote = source_of([*called_functions(got)]) if isinstance(got, FunctionType) else ""
    caller = sys._getframe(1)
    if callable(got) and not callable(want) and not has_gap(got):
        if problem := _reads_expected(got, want):
            got = None
        else:
            names = getattr(got, "__globals__", {})
            places = [name for name, x in names.items() if x is shown]
            # The inputs that the text names come first: a message about others would be a riddle.
            for want in [shown, shown | entry.hidden(wrote)] if entry.also else [shown]:
                names.update(dict.fromkeys(places, want))  # where the cell finds the inputs
                try:
                    got, problem = _call_answer(original, caller)
                finally:
                    names.update(dict.fromkeys(places, shown))
                if problem or not is_equal(got, want, tolerance):
                    break
    if has_gap(got):
        if not graded:
            return _display_result(Message([entry.text, row("check_gap")], "…", id))
        problem = [row("check_gap")]
    right = not problem and is_equal(got, want, tolerance)
    record_verdict(id, right)
    record_answer("check", id, right)
    if right:
        passed = row("check_passed", text=entry.text)
        after = [row("check_value", value=x)] if len(x := short_repr(got)) < 40 else []
        return _report(Message([passed], MARKS[True], id, [*after, _next_step(id)]))
    lines = [row("check_failed", text=entry.text)]
    lines += [] if want is shown else [row("check_others")]
    comparison = Comparison(tolerance, got is not original, partial(title_of, id.partition(".")[0]))
    lines += problem or _first_difference(got, want, comparison)
    if got is None and not problem and isinstance(original, FunctionType):
        lines += [row("check_return", name=name) for name in without_return(original)[:1]]
    known = entry.hint_for("\n".join(english for english, _ in lines[1:]), wrote)
    lines.append(known or row("check_hint", hint=entry.hint))
    return _fail(entry, lines)


def _check_by_property(entry: Check, functions: Sequence[Any], seed: int) -> Message | None:
    """Try functions in the programs of a property; keep them if all of these are right."""
    id, parts = entry.id, entry.parts or [*PROPERTIES[entry.id].spec]
    plain = [isinstance(f, FunctionType) and not iscoroutinefunction(f) for f in functions]
    names = [f.__name__ if isinstance(f, FunctionType) else short_repr(f) for f in functions]
    taken = [n for n, f in zip(names, functions, strict=True) if is_ready_made(unwrap(f))]
    if taken or not all(plain) or sorted(names) != sorted(parts):
        problem = row("exercise_names", names=", ".join(names), parts=", ".join(parts))
        problem = row("exercise_borrowed", name=taken[0]) if taken else problem
        return _fail(entry, [row("check_failed", text=entry.text), problem])
    # An `...` may be meant, as in np.einsum("...i->...", x): what passes has no gap.
    if any(map(has_gap, functions)) and judge(id, functions, seed):
        open_ = [f.__name__ for g in functions for f in called_functions(g) if contains_gap(f)]
        called = open_ and not {*open_} & {*parts}
        gap = row("check_gap_in", name=open_[0]) if called else row("check_gap")
        if os.environ.get(GRADING):
            return _fail(entry, [row("check_failed", text=entry.text), gap])
        return _display_result(Message([entry.text, gap], "…", id))
    failure = judge(id, functions, seed)
    record_verdict(id, failure is None)
    record_answer("check", id, failure is None)
    if failure is None:
        passed = row("check_passed", text=entry.text)
        kept = _save_to_engine(functions) if entry.parts else []
        return _report(Message([passed, *kept], MARKS[True], id, [_next_step(id)]))
    if counted is not None and not failure.long:
        counted.pop(f"{id}.short", None)
    elif counted is not None and id not in counted:  # half the points: short programs are right
        _report(Message([row("exercise_short")], MARKS[True], f"{id}.short"))
    head = row("exercise_long" if failure.long else "exercise_failed")
    lines = [head, failure.code, *failure.messages]
    known = entry.hint_for("\n".join(english for english, _ in lines[1:]), source_of(functions))
    said = failure.explained or any("`return`" in english for english, _ in failure.messages)
    next_step = row("exercise_next", hint=entry.hint) if failure.fact else None
    if not said and (hint := known or failure.step or next_step):
        lines.append(hint)
    return _fail(entry, lines, lambda: failure.picture())


def _next_step(id: str) -> Pair:
    """Return which exercise of the lesson comes after this one."""
    lesson = id.partition(".")[0]
    for one, other in pairwise(find_lesson(lesson).checks.values()):
        if one.id == id:
            return row("check_next", id=other.id, text=other.text)
    return row("check_last_tour") if lesson == "tour" else row("check_last", lesson=lesson)


def _save_to_engine(functions: Sequence[FunctionType]) -> list[Pair]:
    """Keep functions in the learner's engine; return what to say about it."""
    if os.environ.get(GRADING):
        return []
    try:
        kept, notes = store_functions(functions)
    except ValueError as error:  # the file was edited, and cannot be read
        return [(str(error),) * 2]
    names = ", ".join(f"`{function.__name__}`" for function in functions)
    return [*([row("exercise_kept", names=names)] if kept else []), *notes]


def _fail(entry: Check, lines: list[Pair], view: Callable[[], Any] | None = None) -> Message | None:
    """Show what is wrong, with a picture if there is one; where points are counted, once."""
    if counted and entry.id in counted and counted[entry.id].mark == MARKS[False]:
        return None
    shown = Message(lines, MARKS[False], entry.id)
    if get_ipython() is not None:
        cast(Any, display)(shown)
        if view is not None and (picture := view()) is not None:
            cast(Any, display)(picture)
    return _report(shown)


def _report(shown: Message) -> Message | None:
    """Return the result of a check; raise CheckFailed if it failed, or note it while grading."""
    if counted is not None:
        if shown.mark == MARKS[False] or shown.name not in counted:
            counted[shown.name] = shown
        return None
    if shown.mark == MARKS[False]:
        raise CheckFailed(shown)
    if os.environ.get(GRADING):
        return print(shown)  # nbgrader would take a result for points
    return _display_result(shown)


def _display_result(shown: Message) -> Message:
    """Display the result of a check unless its cell, ending with this check, shows it anyway."""
    frame: FrameType | None = sys._getframe()
    while frame is not None and frame.f_code.co_filename == __file__:
        frame = frame.f_back
    if get_ipython() is not None and frame is not None and frame.f_code.co_name == "<module>":
        body = ast.parse("".join(linecache.getlines(frame.f_code.co_filename))).body
        if body and not (isinstance(body[-1], ast.Expr) and shown.name in ast.unparse(body[-1])):
            cast(Any, display)(shown)
    return shown


def _reads_expected(got: Callable[[], Any], want: Any) -> list[Pair]:
    """Say by which name an answer looks up what it is compared with, or what `seen` measures."""
    names = getattr(got, "__globals__", {})
    seen, hidden, reads = names.get("seen"), {"globals", "vars", "eval", "exec"}, list[str]()
    codes = [f.__code__ for f in (got, seen) if isinstance(f, FunctionType)]
    if len(codes) == 2 and codes[0].co_filename == codes[1].co_filename:  # of the same cell
        reads += (name for _, name in lookups(cast(FunctionType, seen)))
    hidden |= {x for x in reads if isinstance(names.get(x), int | list | FunctionType)}
    known = [x for x in (want, seen) if isinstance(x, dict | list | FunctionType)]
    called = called_functions(got) if isinstance(got, FunctionType) else ()
    written = [f for f in called if f.__name__ != "<lambda>"]
    read = [x for f in written for x in (f, *read_values(f)) if any(x is y for y in known)]
    found = [name for name, x in names.items() if any(x is y for y in read)]
    found += [x for f in written for _, x in lookups(f) if x in hidden]
    return [row("check_read" if x in names else "check_read_all", name=x) for x in found[:1]]


def _call_answer(got: Callable[[], Any], cell: FrameType) -> tuple[Any, list[Pair]]:
    """Return the value of a learner's function, or what it raised and where; `cell` checks it."""
    try:
        with limit_execution(LONGEST, LINES, getattr(got, "__globals__", None)):
            value = got()
            return (list(value) if isinstance(value, Iterator) else value), []
    except TooManyLines as stopped:
        return None, [row("check_lines", lines=f"{LINES:,}"), *_line_of_error(stopped, got, cell)]
    except TimeLimitExceeded:
        return None, [row("check_endless", seconds=LONGEST)]
    except Exception as error:  # noqa: BLE001 - whatever the learner's code raises is the answer
        text = error.pair if isinstance(error, GraphError) else (truncate(str(error)),) * 2
        lines = [row("check_raised", kind=type(error).__name__, message=text)]
        if "'NoneType'" in str(error) and isinstance(got, FunctionType):
            lines += [row("check_return", name=name) for name in without_return(got)]
        return None, [*lines, *_line_of_error(error, got, cell)]


def _line_of_error(error: BaseException, got: Any, cell: FrameType) -> list[Pair]:
    """Return the line of the learner's cell in which an error arose, if it names none itself."""
    file = cell.f_code.co_filename
    functions = [*called_functions(got)] if isinstance(got, FunctionType) else []
    here = {f.__name__ for f in functions if f.__code__.co_filename == file}
    here -= {"<lambda>", cell.f_code.co_name}
    found = list[Pair]()
    for frame, line in traceback.walk_tb(error.__traceback__):
        code, name = frame.f_code, frame.f_code.co_qualname.partition(".")[0]
        if name in here and code.co_filename == file:
            text = linecache.getline(code.co_filename, line).strip()
            found = [row("check_line", name=name, code=text)]
    return [] if isinstance(error, GraphError) else found


def _first_difference(got: Any, want: Any, comparison: Comparison) -> list[Pair]:
    """Return the first wrong place of a list or an array, else what was expected and received.

    Several answers are not spelled out: that would leave nothing to find.
    """
    if place := comparison.describe_first_difference(got, want):
        return [place]
    lines = [] if want is MISSING else [row("check_expected", value=comparison.brief(want))]
    return [*lines, row("check_got", value=comparison.brief(got))]

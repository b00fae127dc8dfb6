"""An exercise as a property: what is wrong is told by the shortest program, and told well."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import inspect
import linecache
import os
import subprocess
import sys
import threading
import time
from itertools import count
from types import FunctionType
from typing import Any

import pytest
from lessons import ROOT
from test_exercises import PROPERTIES, answers

import minigrad_lessons as lessons
from minigrad_lessons.lesson.check import CheckFailed
from minigrad_lessons.lesson.execution_limit import TimeLimitExceeded, limit_execution
from minigrad_lessons.lesson.exercise.judge import describe_error, expected_facts, judge
from minigrad_lessons.lesson.exercise.running import RunResult
from minigrad_lessons.lesson.exercise.shrinking import Rng, find_failing
from minigrad_lessons.lesson.learner_engine import reference_engine
from minigrad_lessons.questions import find_check
from viz.words import user_files

pytestmark = pytest.mark.usefixtures("english")
numbers = count(1)


def written(id: str, source: str) -> list[FunctionType]:
    """The functions of an answer, as a learner's notebook defines them."""
    engine = reference_engine(id.partition(".")[0])
    names: dict[str, Any] = {**vars(engine), "__name__": "__main__", "engine": engine, "seen": []}
    file = f"<answer {next(numbers)}>"
    linecache.cache[file] = (len(source), None, source.splitlines(True), file)
    exec(compile(source, file, "exec"), names)
    return [names[name] for name in find_check(id).parts or PROPERTIES[id].spec]


def told(id: str, source: str) -> str:
    """What a check says of a wrong answer."""
    with pytest.raises(CheckFailed) as failed:
        lessons.check(id, *written(id, source))
    return str(failed.value)


# ---- The properties --------------------------------------------------------------------------


@pytest.mark.parametrize("id", PROPERTIES)
def test_our_answer_runs_every_program_and_something_is_seen(id):
    exercise = PROPERTIES[id]
    generated = [programs(id, seed) for seed in range(20)]
    assert len({*generated}) > 4
    for program in (*exercise.always, *generated):
        assert expected_facts(id, program), program


def programs(id: str, seed: int) -> tuple[str, ...]:
    tried = []
    find_failing(PROPERTIES[id].programs, lambda program: bool(tried.append(program)), seed, 1)
    return tried[0]


def test_the_programs_are_the_same_in_every_process():
    script = f"""
import hashlib
from minigrad_lessons.lesson.exercise.properties import PROPERTIES
from minigrad_lessons.lesson.exercise.shrinking import find_failing
{inspect.getsource(programs)}
text = repr([programs(id, seed) for id in PROPERTIES for seed in range(5)])
print(hashlib.sha256(text.encode()).hexdigest())
"""
    env = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONHASHSEED": "7"}
    found = subprocess.run(
        [sys.executable, "-c", script], env=env, capture_output=True, text=True, check=True
    )
    text = repr([programs(id, seed) for id in PROPERTIES for seed in range(5)])
    assert found.stdout.strip() == hashlib.sha256(text.encode()).hexdigest()


@pytest.mark.exhaustive
@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("id", PROPERTIES)
def test_other_seeds_judge_each_stored_answer_alike(id, seed):
    for answer in answers(id[:3]):
        if answer["to"].replace("-", ".").startswith(id) and "code" in answer:
            wrong = judge(id, written(id, answer["code"]), seed)
            assert (wrong is not None) is (answer["is"] == "wrong"), answer["because"]


# ---- Making a failing program shorter --------------------------------------------------------


def test_the_shortest_program_is_found():
    def some(rng: Rng) -> tuple[str, ...]:
        return tuple(f"{letter} = {rng.below(50)}" for letter in "abcdef"[: rng.length(6)])

    def large(program: tuple[str, ...]) -> bool:
        return any(int(line[4:]) > 20 for line in program)

    assert find_failing(some, large, 0, 100) == ("a = 21",)
    assert find_failing(some, lambda program: False, 0, 100) is None


# ---- What is told ----------------------------------------------------------------------------


def test_a_wrong_value_is_told_with_a_program_to_copy():
    said = told("L08.core", "def same_work(a, b):\n    return a.op == b.op")
    assert said.splitlines() == [
        "✗ L08.core  not yet: this is the shortest program we found that goes wrong.",
        '      x = engine.placeholder("x")',
        "      a = x.sum(axis=0)",
        "      b = x.sum(axis=1)",
        "      same = same_work(a, b)",
        "  `same` is True; expected False.",
        "  These two nodes differ only in `attrs`, so compare those, too: "
        "the dicts themselves, since two of them may print alike.",
    ]


WRONG = {
    "return a missing": ("    a.op == b.op", "`same_work` returns nothing: is a `return` missing?"),
    "an error": ("    return a.opp == b.op", "in this line: return a.opp == b.op"),
    "an endless loop": (
        "    while True:\n        pass",
        "We stopped your code after 20,000 lines.",
    ),
    "a change": ("    a.name = 'a'\n    return a is b", "`same_work` changes `a`, or a node"),
    "a print": ("    print('here', a)\n    return a is b", "Your code printed: here"),
    "chance": (
        "    seen.append(a)\n    return len(seen) % 3 == 0",
        "with the same input, your function gives different results",
    ),
}


@pytest.mark.parametrize("mistake", WRONG)
def test_each_mistake_has_its_message(mistake):
    body, says = WRONG[mistake]
    assert says in told("L08.core", f"def same_work(a, b):\n{body}")


MORE = {
    "types": (
        "L12.core",
        "def trace(f, *args):\n    return f + args",
        "`f` (function), `args` (tuple, len 3)",
    ),
    "arguments": (
        "L12.core",
        "def trace(f, *args):\n    return f()",
        "Compare the call with the `def`",
    ),
    "its own error": (
        "L13.core",
        "def break_even(cost, slow, fast):\n    raise ValueError",
        "you raise",
    ),
    "a call of itself": (
        "L12.core",
        "def trace(f, *args):\n    return trace(f)",
        "in this line: return trace(f)",
    ),
    "an explicit None": ("L13.stretch", "def median_ratio(r):\n    return None", "returns nothing"),
}


@pytest.mark.parametrize("mistake", MORE)
def test_an_error_is_followed_by_one_next_step(mistake):
    id, source, says = MORE[mistake]
    assert says in told(id, source)


def test_a_full_stack_is_told_alike_wherever_it_was_full():
    """Three runs of an answer have to agree, or it is said to change from run to run."""
    seen = RunResult({}, {}, lessons, "")
    deep = RecursionError("maximum recursion depth exceeded")
    for where in (" while calling a Python object", " in comparison"):
        other = RecursionError(f"{deep}{where}")
        assert [*describe_error(other, seen, [])] == [*describe_error(deep, seen, [])]


def test_a_gap_in_a_function_that_is_called_is_named():
    source = """
def same_work(a, b):
    ...


def merge_common(outputs):
    return [y for y in outputs if same_work(y, y)]
"""
    assert "calls `same_work`, which isn't" in str(
        lessons.check("L08.stretch", *written("L08.stretch", source))
    )


def test_what_no_count_of_lines_stops_is_stopped_by_the_clock_and_nothing_else_is():
    """One thread watches all calls, in whichever thread each one runs, and then ends."""
    ended = []

    def endless(seconds: float) -> None:
        began = time.monotonic()
        with contextlib.suppress(TimeLimitExceeded), limit_execution(seconds):
            while time.monotonic() < began + 5:
                pass
        ended.append(round(time.monotonic() - began - seconds))

    for _ in range(2):
        other = threading.Thread(target=endless, args=(0.4,))
        other.start()
        endless(0.1)
        with limit_execution(0.1):
            pass
        other.join()
    time.sleep(0.3)
    assert ended == [0] * 4


def test_in_a_browser_lines_alone_stop_an_answer_without_threads_or_processes(monkeypatch):
    def refused(*args: Any, **kwargs: Any) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(sys, "platform", "emscripten")
    monkeypatch.setattr(threading.Thread, "start", refused)
    monkeypatch.setattr(subprocess, "Popen", refused)
    endless = "def same_work(a, b):\n    while True:\n        pass"
    assert "We stopped your code after 20,000 lines." in told("L08.core", endless)
    known = [a for a in answers("L05") if "L05-stretch" in a["to"] and a["is"] == "unusual"]
    assert judge("L05.stretch", written("L05.stretch", known[-1]["code"])) is None


def test_who_follows_every_path_is_told_so():
    each = """
def merge_common(outputs, same=same_work):
    def moved(node):
        return on(node, [moved(x) for x in node.inputs])
    new = {}
    for node in topological_order([moved(y) for y in outputs]):
        copy = on(node, [new[x] for x in node.inputs])
        new[node] = next((x for x in new.values() if same(x, copy)), copy)
    return [new[moved(y)] for y in outputs]
"""
    assert "a row of 25 diamonds" in told("L08.stretch", each)


def test_short_programs_are_worth_half_the_points_where_they_are_counted(monkeypatch):
    known = {answer["because"]: answer["code"] for answer in answers("L09") if "code" in answer}
    large = next(code for because, code in known.items() if "larger than 512" in because)
    counted: dict[str, Any] = {}
    monkeypatch.setattr("minigrad_lessons.lesson.check.counted", counted)
    lessons.check("L09.stretch", *written("L09.stretch", large))
    assert [shown.mark for shown in counted.values()] == ["✓", "✗"]
    lessons.check("L09.core", *written("L09.core", "def lifetimes(order, kept):\n    return {}"))
    assert counted["L09.core"].mark == "✗"
    assert "L09.core.short" not in counted
    lessons.check("L09.stretch", *written("L09.stretch", "def plan(lives, sizes):\n    return {}"))
    assert "L09.stretch.short" not in counted, "another seed has found a short program"
    lessons.check("L09.stretch", *written("L09.stretch", large))
    assert "L09.stretch.short" not in counted


def test_what_is_right_is_kept_and_said_so(tmp_path, monkeypatch):
    monkeypatch.setenv(user_files.FOLDER, str(tmp_path))
    right = "    return -(-cost // (slow - fast)) if slow > fast else None"
    right = f"def break_even(cost, slow, fast):\n{right}"
    said = repr(lessons.check("L13.core", *written("L13.core", right)))
    assert "Kept: my_engine/engine.py now uses your `break_even`." in said
    assert "return -(-cost" in (tmp_path / "my_engine" / "engine.py").read_text("utf-8")


def test_a_helper_that_no_cell_defines_is_refused_by_its_name():
    """The engine keeps text, and that of a closure lacks what it closes over."""
    source = "def made():\n    k = 1\n    return lambda a: a.op * k\nkind = made()\n"
    source += "def same_work(a, b):\n    return kind(a) == kind(b)"
    with pytest.raises(CheckFailed, match="`kind` isn't a function written with `def`"):
        lessons.check("L08.core", *written("L08.core", source))


def test_a_default_of_the_notebook_is_refused_by_its_name():
    source = "zero = 0.0\ndef pad(rows, filler=zero):\n    return rows"
    with pytest.raises(CheckFailed, match="`zero` is in a default value or a decorator"):
        lessons.check("L06.core", *written("L06.core", source))


def test_another_function_is_not_taken_for_the_answer():
    (function,) = written("L08.core", "def same_work(a, b):\n    return a is b")
    function.__name__ = "other"
    for given, name in ((function, "other"), (functools.partial(function), "functools"), (3, "3")):
        with pytest.raises(CheckFailed, match=f"with `def`: same_work. This is {name}"):
            lessons.check("L08.core", given)


def test_a_failing_graph_is_played_at_the_wrong_step():
    wrong = judge("L08.core", written("L08.core", "def same_work(a, b):\n    return a.op == b.op"))
    assert wrong.picture() is not None


def test_a_program_that_noted_nothing_is_not_played():
    """What is kept outside the function may hold a node of the program before."""
    kept = """
old = {}
def momentum(w, g, speed, rate, share):
    old["v"] = share * old.get("v", speed) + g
    return w - rate * old["v"], old["v"]
"""
    wrong = judge("L14.core", written("L14.core", kept))
    assert wrong.picture() is None


def test_what_is_ready_made_is_no_answer(monkeypatch):
    """Whether it was opened before, is called inside, or is handed over itself."""
    monkeypatch.setattr(lessons.lesson.check, "judge", None)  # which need not even be asked
    with pytest.raises(CheckFailed, match="Your code calls `ranks`, which is ready-made"):
        lessons.check("L10.core", reference_engine("L11").ranks)
    monkeypatch.undo()
    asked = "def ranks(waits, seconds):\n    return engine.schedule(waits, seconds, 1)"
    (function,) = written("L10.core", asked.replace("engine", "later"))
    function.__globals__["later"] = reference_engine("L11")
    with pytest.raises(CheckFailed, match="Your code calls `schedule`, which is ready-made"):
        lessons.check("L10.core", function)


def test_an_answer_neither_reads_what_is_expected_nor_knows_all_inputs():
    want = {6.0: {"two_steps(x * x)": 1.5, "two_steps((x - 5) ** 2)": 5.25}}
    names = {"want": want, "known": {x: {**row} for x, row in want.items()}}
    exec("def two_steps(x):\n    return want[x]", names)
    exec("def looked_up(x):\n    return known.get(x)", names)
    for name, says in (("two_steps", "looks up the expected"), ("looked_up", "31.0")):
        answer = eval(f"lambda: {{x: {name}(x) for x in want}}", names)
        with pytest.raises(CheckFailed) as failed:
            lessons.check("L03.faded.1", answer, want)
        assert says in str(failed.value)
        assert names["want"] is want
    hidden = find_check("L03.faded.1").hidden
    assert len({*map(str, map(hidden, ("", "x", "y")))}) == 3, "each answer has inputs of its own"


def test_a_generator_that_an_earlier_answer_left_stops_no_other() -> None:
    made: dict[str, Any] = {"__name__": "my_engine"}
    exec("def steps():\n    try:\n        yield\n    finally:\n        pass", made)
    left = made["steps"]()
    next(left)
    with limit_execution(1, 1000, {}, "<my_engine>"):
        del left  # Python closes it, and so runs a line of another engine

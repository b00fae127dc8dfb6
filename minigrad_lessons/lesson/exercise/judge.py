"""Judge an answer by its property, and say what is wrong with the shortest failing program."""

from __future__ import annotations

import ast
import builtins
import contextlib
import inspect
import linecache
import re
import traceback
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache, partial
from itertools import chain, dropwhile
from types import FrameType, FunctionType, ModuleType
from typing import Any, NamedTuple

import numpy as np

from minigrad_lessons.lesson.answers import is_equal, lookups, short_repr, truncate, without_return
from minigrad_lessons.lesson.execution_limit import Borrowed, TimeLimitExceeded, TooManyLines
from minigrad_lessons.lesson.exercise.properties import PROPERTIES
from minigrad_lessons.lesson.exercise.property import Names
from minigrad_lessons.lesson.exercise.running import SECONDS, Mutated, RunResult, named_nodes, run
from minigrad_lessons.lesson.exercise.shrinking import Program, Rng, find_failing
from minigrad_lessons.lesson.learner_engine import engine_factory_with, reference_engine
from viz.film.foreign_film import other_film
from viz.page.player import Player
from viz.words.text import Pair, row

TWICE = 16  # programs that call again: is something left of the call before?
FEW = 20_000  # lines that a generated program may run
DEEP = 50  # calls of a function within itself that look endless
TOLERANCE = 1e-12
SHOWN = 12  # nodes that a picture of a failing program may have
MISSING: Any = object()


class Failure(NamedTuple):
    """The shortest failing program as lines to copy, what is wrong with it, and which fact is."""

    code: Pair
    long: bool
    messages: list[Pair]
    fact: str
    seen: RunResult
    explained: bool = False  # no hint is needed
    step: Pair | None = None  # what to do next, unless there is a hint for the mistake

    def picture(self) -> Player | None:
        """Draw the graph at the step that made the wrong value; None if the program is long."""
        return None if self.long else play_failure(self.seen, self.fact)


class WrongFact(NamedTuple):
    """The first wrong fact, and what is said of it."""

    fact: str
    messages: list[Pair]


def judge(id: str, functions: Sequence[FunctionType], seed: int = 0) -> Failure | None:
    """Return what is wrong with functions of a learner; None if every program is right."""
    before = global_sizes(functions)
    failure = first_failure(id, functions, seed)
    changed = [k for k, size in global_sizes(functions).items() if size != before.get(k)]
    if failure is None or not changed:
        return failure
    left = [row("exercise_outside", function=function, name=name) for function, name in changed]
    return failure._replace(messages=[*failure.messages, *left], fact="", explained=True)


def global_sizes(functions: Sequence[FunctionType]) -> dict[tuple[str, str], int]:
    """Return the sizes of the lists, dicts and sets of the notebook that functions look up."""
    found = {
        (f.__name__, name): f.__globals__.get(name) for f in functions for _, name in lookups(f)
    }
    return {key: len(x) for key, x in found.items() if isinstance(x, list | dict | set)}


def first_failure(id: str, functions: Sequence[FunctionType], seed: int) -> Failure | None:
    """Return the first failure of functions in the programs of their property."""
    exercise = PROPERTIES[id]
    engine = engine_factory_with(id.partition(".")[0], functions)

    def run_and_compare(program: Program, lines: int = FEW) -> tuple[WrongFact | None, RunResult]:
        seen = run(engine, exercise, program, functions, lines)
        return find_difference(seen, expected_facts(id, program), functions, lines), seen

    def fails(program: Program) -> bool:
        return run_and_compare(program)[0] is not None

    if found := find_failing(exercise.programs, fails, seed, exercise.examples):
        return explain_failure(id, found, [run_and_compare(found) for _ in range(3)], functions)

    def fails_only_together(program: Program) -> bool:
        at = program.index("")
        with contextlib.suppress(NameError):  # the second goes on with what the first has made
            if fails(program[:at]) or fails(program[at + 1 :]):
                return False
        return fails(program)

    twice = partial(called_twice, exercise.programs, functions)
    if single := find_failing(twice, fails, seed, TWICE):
        found = find_failing(twice, fails_only_together, seed, TWICE)
        tries = [run_and_compare(found or single) for _ in range(1 if found else 3)]
        failure = explain_failure(id, found or single, tries, functions)
        if not found:
            return failure
        left = [*mutable_defaults(functions)]
        messages = [*failure.messages, *(left or [row("exercise_left")])]
        return failure._replace(messages=messages, fact="", explained=bool(left))
    for program in exercise.always:
        tried = run_and_compare(program, exercise.lines)
        if tried[0] is not None:
            return explain_failure(id, program, [tried], functions)._replace(long=True)
    return None


def explain_failure(
    id: str,
    found: Program,
    tries: list[tuple[WrongFact | None, RunResult]],
    functions: Sequence[FunctionType],
) -> Failure:
    """Return what is wrong in a failing program, from all the times that it was run."""
    first, seen = tries[-1]
    same = all(other == first for other, _ in tries)
    flaky = WrongFact("", [row("exercise_flaky")])
    fact, messages = first if first and same else flaky
    if isinstance(seen.error, TooManyLines) and any(line[:4] == "    " for line in found):
        messages = [*messages, row("exercise_diamonds")]
    if seen.printed.strip():
        messages = [*messages, row("exercise_printed", text=truncate(seen.printed.strip()))]
    code = "\n".join(f"    {line}" for line in notebook_lines(id, found, functions, seen.engine))
    step = next_step(seen.error, functions) if seen.error and fact == "raised" else None
    return Failure((code, code), False, messages, fact, seen, step=step)


def called_twice(
    programs: Callable[[Rng], Program], functions: Sequence[FunctionType], rng: Rng
) -> Program:
    """Return a program, "" and another one, or the same calls once more on the same values."""
    first = (*programs(rng), "")
    if not rng.below(2):
        return first + programs(rng)
    called = re.compile(rf"(?!\s).*\b({'|'.join(f.__name__ for f in functions)})\(")
    # What the engine calls itself is in no line: then they are all the same calls.
    return first + (tuple(dropwhile(lambda line: not called.match(line), first)) or first[:-1])


def mutable_defaults(functions: Sequence[FunctionType]) -> Iterator[Pair]:
    """Name each parameter whose default is one list, dict or set for all calls."""
    for function in functions:
        for name, parameter in inspect.signature(function).parameters.items():
            if isinstance(parameter.default, list | dict | set):
                yield row("exercise_default", function=function.__name__, name=name)


def notebook_lines(
    id: str, program: Program, functions: Sequence[FunctionType], engine: ModuleType
) -> list[str]:
    """Return the lines of a program to run in the notebook, where the engine is `engine`."""
    text, names = "\n".join(program), {function.__name__ for function in functions}
    used = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name)]
    made = {node.id for node in used if isinstance(node.ctx, ast.Store)}
    lines = text.split("\n")
    for node in sorted(used, key=lambda node: (node.lineno, -node.col_offset)):
        found = vars(engine).get(node.id)
        own = node.id in {*names, *made, *dir(builtins)} or isinstance(found, ModuleType)
        if node.id in vars(engine) and not own:
            line, at = lines[node.lineno - 1], node.col_offset
            lines[node.lineno - 1] = f"{line[:at]}engine.{line[at:]}"
    if names - {node.id for node in used}:  # the engine calls them
        known = ", ".join([f'"{id.partition(".")[0]}"', *(f.__name__ for f in functions)])
        lines.insert(0, f"engine = lessons.engine({known})")
    return lines


@lru_cache(maxsize=4000)
def expected_facts(id: str, program: Program) -> Names:
    """Return the values of a program that runs with our answer."""
    exercise = PROPERTIES[id]
    return run(partial(reference_engine, id.partition(".")[0]), exercise, program).facts


# ---- The first difference --------------------------------------------------------------------


def find_difference(
    got: RunResult, want: Names, functions: Sequence[FunctionType], lines: int
) -> WrongFact | None:
    """Return the first fact that differs from ours; None if all agree."""
    if isinstance(got.error, TooManyLines):
        own = own_lines(got.error, functions)
        deep = own[len(own) // 2 :][: len(own) > DEEP]  # in the middle of the recursion
        again = [row("exercise_recursion", name=n, code=c) for _, n, c in deep]
        return WrongFact("", [row("exercise_lines", lines=f"{lines:,}"), *again])
    if isinstance(got.error, Borrowed):
        return WrongFact("", [row("exercise_borrowed", name=str(got.error))])
    if isinstance(got.error, TimeLimitExceeded):
        return WrongFact("", [row("exercise_endless", seconds=SECONDS)])
    if isinstance(got.error, Mutated):
        function, name, node = got.error.args
        key = "exercise_on_node" if node else "exercise_changed" if name else "exercise_reused"
        return WrongFact("", [row(key, function=function, name=name)])
    refused, error = want.get("raised"), got.error
    if refused and "raised" not in got.facts:
        key = "exercise_no_error" if error is None or got.late else "exercise_other_error"
        return WrongFact("raised", [row(key, want=refused, kind=type(error).__name__)])
    if error is not None and not refused:
        return WrongFact("raised", [*describe_error(error, got, functions)])
    for fact, value in want.items():
        mine = got.facts.get(fact, MISSING)
        if mine is MISSING or not is_equal(mine, value, TOLERANCE):
            return WrongFact(fact, [*describe(fact, mine, value, functions)])
    for fact in got.facts:
        if fact not in want and want.get(fact.partition("[")[0]) == "a dict":
            return WrongFact(fact, [row("check_extra", at=f"`{fact}`")])
    return None


def describe(fact: str, got: Any, want: Any, functions: Sequence[FunctionType]) -> Iterator[Pair]:
    """Say which fact is wrong; of a list or an array the first entry that is."""
    if got is MISSING:
        yield row("exercise_missing", name=fact, want=short_text(want))
        return
    shapes = [np.shape(x) if isinstance(x, np.ndarray) else None for x in (got, want)]
    if None not in shapes and shapes[0] != shapes[1]:
        yield row("exercise_shape", name=fact, shape=str(shapes[0]), want=str(shapes[1]))
        return
    parts = [isinstance(x, list) or (isinstance(x, tuple) and x) for x in (got, want)]
    if all(part or shape for part, shape in zip(parts, shapes, strict=True)):
        pairs = zip(got, want, strict=False)
        at = next((i for i, pair in enumerate(pairs) if not is_equal(*pair, TOLERANCE)), None)
        if at is not None:
            yield from describe(f"{fact}[{at}]", got[at], want[at], functions)
            return
        fewer = "exercise_few" if len(got) else "exercise_empty"
        key = "exercise_many" if len(got) > len(want) else fewer
        place = min(len(got), len(want))
        more = short_text(max(got, want, key=len)[place])
        yield row(key, name=fact, more=more, count=len(got), wanted=len(want), place=place + 1)
        return
    yield value_text(fact, short_text(got), short_text(want))
    if repr(got) == "NoneType" or (got is None and "." not in fact):
        yield from (row("check_return", name=n) for f in functions for n in without_return(f)[:1])


def value_text(name: str, value: Pair | str, want: Pair | str) -> Pair:
    """Say what a value is and what it should be; Chinese words get no spaces between them."""
    if name.endswith(" is raised"):
        return row("exercise_no_error", want=name.split()[0])
    found = re.fullmatch(r"EVENTS\[(\d+)\]\[2\]\[(\d+)\]", name)
    event, place = (int(n) + 1 for n in found.groups()) if found else (0, 0)
    op = re.sub(r"^built\.count\('(.*)'\)$", r"\1", name)
    key = "exercise_operand" if found else "exercise_built" if op != name else "exercise_value"
    english, chinese = row(key, name=op, value=value, want=want, event=event, place=place)
    return english, re.sub("(?<=得到|应为) (?=[一字])", "", chinese)


def short_text(value: Any) -> Pair | str:
    """Return a value as text of at most 60 characters."""
    text = re.sub(r"<function (\S+) at 0x\w+>", r"\1", short_repr(to_python(value)))
    text = re.sub(r" at 0x\w+", "", text)  # an address differs in each run
    if text in ("a dict", "a function"):
        return row(f"exercise_{text.replace(' ', '_')}")
    return text if len(text) < 60 else text[:59] + "…"


def to_python(value: Any) -> Any:
    """Convert NumPy numbers and arrays in a value to plain numbers and lists."""
    if isinstance(value, list | tuple):
        return type(value)(map(to_python, value))
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else value


def describe_error(
    error: BaseException, seen: RunResult, functions: Sequence[FunctionType]
) -> Iterator[Pair]:
    """Say what the learner's code raised and in which of its lines, or that it returned nothing."""
    empty = [name for name, value in seen.made.items() if value is None]
    if "'NoneType'" in str(error) and empty:
        yield row("exercise_nothing", name=empty[0])
    elif seen.late:
        name = [*seen.made][-1]
        error_text = f"{type(error).__name__}: {truncate(str(error))}".partition("\n")[0]
        yield row("exercise_late", error=error_text, name=name, value=short_text(seen.made[name]))
    else:
        # In which call the stack is full may differ from run to run, and is no news.
        end = " while | in " if isinstance(error, RecursionError) else "\n"
        message = re.split(end, truncate(str(error)))[0]
        yield row("exercise_raised", kind=type(error).__name__, message=message)
        lines = own_lines(error, functions)
        last = lines[:1] if isinstance(error, RecursionError) else lines[-1:]
        yield from (row("exercise_line", name=name, code=text) for _, name, text in last)
        # What raised has not returned; unless it calls itself, no `return` of it is missing.
        inside = [frame.f_code.co_name for frame, *_ in lines]
        functions = [f for f in functions if inside.count(f.__name__) != 1]
    if re.search("NoneType(?!.*iterator)", str(error)):
        yield from (row("check_return", name=n) for f in functions for n in without_return(f)[:1])


def own_lines(
    error: BaseException, functions: Sequence[FunctionType]
) -> list[tuple[FrameType, str, str]]:
    """Return the learner's lines that an error went through: frame, function and text."""
    own, found = {f.__name__ for f in functions}, []
    tracebacks = (e.__traceback__ for e in (error, error.__cause__) if e)
    for frame, line in chain.from_iterable(map(traceback.walk_tb, tracebacks)):
        file = frame.f_code.co_filename
        names = [x for x in frame.f_code.co_qualname.split(".") if x[0] != "<"]  # outer ones first
        if own.intersection(names[:1]) and file.startswith("<my_engine"):
            found.append((frame, names[-1], linecache.getline(file, line).strip()))
    return found


def next_step(error: BaseException, functions: Sequence[FunctionType]) -> Pair | None:
    """Ask about the learner's line that raised: its own `raise`, or the types of what it reads."""
    cause = error.__cause__ or error
    if isinstance(cause, TypeError) and re.search("(positional|keyword) argument", str(cause)):
        return row("exercise_arguments")
    for frame, _, text in own_lines(error, functions)[-1:]:
        if text.startswith("raise"):
            return row("exercise_raise")
        held = {n: x for n, x in frame.f_locals.items() if not isinstance(x, ModuleType)}
        used = held.keys() & {*re.findall(r"(?<!\.)\b\w+", text)}
        if used and isinstance(cause, TypeError | AttributeError | ValueError):
            types = (f"`{n}` ({kind_of(held[n])})" for n in sorted(used, key=text.index))
            return row("exercise_types", types=", ".join(types))
    return None


def kind_of(x: Any) -> str:
    """Return a value's type, and its shape or length, as in `ndarray(2, 3)` and `list, len 4`."""
    size = f", len {len(x)}" if isinstance(x, list | tuple) else getattr(x, "shape", ()) or ""
    return f"{'numpy.' * isinstance(x, np.generic)}{type(x).__name__}{size}"


# ---- Its picture -----------------------------------------------------------------------------


def play_failure(seen: RunResult, fact: str) -> Player | None:
    """Play what a program did up to the wrong fact; None where there is no small graph."""
    nodes = named_nodes(seen.made)
    if not any(node.inputs for node in nodes.values()) or len(nodes) > SHOWN:
        return None
    with contextlib.suppress(Exception):  # a wrong answer may build what no picture can hold
        names = {id(node): name for name, node in nodes.items()}
        read = {id(x) for node in nodes.values() for x in node.inputs}
        last = [node for node in nodes.values() if id(node) not in read]
        film = other_film(last, names, seen.engine.EVENTS)
        wrong = next((n for n in film.picture.nodes if f"[{n.label}]" in fact), None)
        track = film.tracks[wrong.id] if wrong else None
        steps = (track.gradients if "gradients" in fact else track.values) if track else []
        if wrong is None or not steps:
            return Player([film]).at_the_end() if len(film.frames) > 2 else None
        step, value = steps[-1]
        verdict = row("check_wrong_here", name=wrong.label, value=value.text)
        player = Player([film], verdict)
        player.index = step
        return player
    return None

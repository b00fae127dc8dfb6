"""Run a program with a learner's functions or ours, and note what can be seen: `run`."""

from __future__ import annotations

import ast
import contextlib
import io
import linecache
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache, wraps
from types import CodeType, FunctionType, ModuleType
from typing import Any, NamedTuple

import numpy as np

from minigrad_lessons.lesson.execution_limit import TimeLimitExceeded, limit_execution
from minigrad_lessons.lesson.exercise.property import Names, Property
from minigrad_lessons.lesson.exercise.shrinking import Program

CASE = "<case>"  # what tracebacks and the engine call the file of a program
CONSTANT = {bool, float, int, str, type(None)}
SECONDS = 10  # a second net, for what no count of lines can stop


class Unquoted(str):
    """A fact that is a name or a kind: it is shown as it is, without quotes."""

    __slots__ = ()
    __repr__ = str.__str__


class Mutated(Exception):
    """A function changed a parameter, or what it returned before: both names; is it a node?"""


class RunResult(NamedTuple):
    """What a program has shown: facts by their names, what it made, what it printed."""

    facts: Names
    made: Names
    engine: ModuleType
    printed: str
    error: BaseException | None = None
    late: bool = False  # the error came when the program had ended


def run(
    fresh: Callable[[], ModuleType],
    exercise: Property,
    program: Program,
    functions: Sequence[FunctionType] = (),
    lines: int = 0,
) -> RunResult:
    """Run a program in a fresh engine; without functions with ours, which has to succeed."""
    deep = sys.getrecursionlimit()
    sys.setrecursionlimit(min(deep, 1000))  # as plain Python has it, also where a kernel has more
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings(action="ignore"):
            return _run_in_engine(fresh(), exercise, program, functions, lines)
    finally:
        sys.setrecursionlimit(deep)


def _run_in_engine(
    engine: ModuleType,
    exercise: Property,
    program: Program,
    functions: Sequence[FunctionType],
    lines: int,
) -> RunResult:
    printed = io.StringIO()
    text = "\n".join(program) + "\n"
    linecache.cache[CASE] = (len(text), None, text.splitlines(True), CASE)
    names: Names = {**vars(engine), **({} if functions else exercise.spec), "__name__": "case"}
    for name in (function.__name__ for function in functions):
        names[name] = forbid_changes(vars(engine)[name], str(engine.__file__))
    (code, assigned), before, facts, error = compile_program(text), dict(names), Names(), None
    limited = limit_execution(SECONDS, lines, names, engine.__file__)
    counted = limited if functions else contextlib.nullcontext()
    try:
        with contextlib.redirect_stdout(printed), counted:
            exec(code, names)
    except (TimeLimitExceeded, Exception) as raised:  # noqa: BLE001 - what an answer raises is its result
        error = raised
    known = [c.__name__ for c in type(error).__mro__ if c.__name__ in exercise.raises]
    if error is not None and not functions and not known:
        raise error
    # A name of the program may be one of the notebook, too, and mean the same list.
    given = {k for k, v in before.items() if names.get(k) is v and (error or k not in assigned)}
    found = [k for k in names if k not in given and k[0] != "_"]
    # A name may be one of the engine's.
    made = {k: names[k] for k in sorted(found, key=lambda k: assigned.get(k, 0))}
    if isinstance(error, TimeLimitExceeded | Mutated) or (error is not None and not known):
        return RunResult(facts, made, engine, printed.getvalue(), error)
    if error is not None:
        facts["raised"] = Unquoted(known[0])
    late = False
    try:
        facts |= (exercise.look or variables)(made, engine)
    except Exception as raised:  # an answer that cannot even be looked at
        if not functions and error is None:
            raise
        error, late = error or raised, error is None
    if exercise.events:
        facts["EVENTS"] = event_log(made, engine)
    return RunResult(facts, made, engine, printed.getvalue(), error, late)


@lru_cache(maxsize=4000)
def compile_program(text: str) -> tuple[CodeType, dict[str, int]]:
    """Compile a program to run with both answers; say in which line each variable is made."""
    found = [x for x in ast.walk(ast.parse(text)) if isinstance(x, ast.Name)]
    stored = {(x.lineno, x.id) for x in found if isinstance(x.ctx, ast.Store)}
    names = {name: line for line, name in sorted(stored, reverse=True)}
    return compile(text, CASE, "exec"), names


def forbid_changes(function: Callable[..., Any], file: str) -> Callable[..., Any]:
    """Wrap a function so that it raises Mutated when it changes its arguments or last results."""
    results: list[Any] = []

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        known = {"": results, **dict(zip(function.__code__.co_varnames, args, strict=False))}
        before = snapshot(known)
        result = function(*args, **kwargs)
        if snapshot(known) != before:
            name = next(n for n, x in known.items() if {**before, **snapshot(x)} != before)
            raise Mutated(function.__name__, name, is_node(known[name]))
        results[:] = [*results[-2:], result]
        return result

    # For a node built inside, the engine notes the line of the program, not one of these.
    code = call.__code__  # type: ignore[attr-defined]
    call.__code__ = code.replace(co_filename=file)  # type: ignore[attr-defined]
    return call


def snapshot(value: Any) -> Mapping[int, Any]:
    """Return the contents of a value; two snapshots are equal if nothing changed in between.

    It calls no function of Python: while an answer runs, each call is traced.
    """
    seen: dict[int, Any] = {}
    todo = [value]
    for x in todo:
        if id(x) in seen:
            continue
        if type(x) in CONSTANT:
            seen[id(x)] = x
            continue
        if isinstance(x, dict):
            parts = [*x, *x.values()]
        elif isinstance(x, (list, tuple, set)):
            parts = [*x]
        elif hasattr(x, "op") and hasattr(x, "inputs"):  # a node
            parts = [*map(vars(x).__getitem__, sorted(vars(x).keys() - {"line"}))]
        else:
            seen[id(x)] = x.tobytes() if isinstance(x, np.ndarray) else repr(x)
            continue
        seen[id(x)] = [*map(id, parts)]
        todo += parts
    return seen


# ---- What there is to see --------------------------------------------------------------------


def is_node(x: Any) -> bool:
    """Return whether x is a node or a tensor of the engine."""
    return hasattr(x, "op") and hasattr(x, "inputs")


def named_nodes(made: Names) -> Names:
    """Return the nodes of a program by their names."""
    return {name: value for name, value in made.items() if is_node(value)}


def variables(made: Names, engine: ModuleType) -> Names:
    """Return every value of a program by name; those in a dict by the names of its keys."""
    names = {id(node): name for name, node in named_nodes(made).items()}
    facts: Names = {}
    for name, value in made.items():
        if isinstance(value, dict):
            facts[name] = Unquoted("a dict")
            known = [(k, v) for k, v in value.items() if id(k) in names or not is_node(k)]
            facts |= {f"{name}[{plain_value(k, names)!r}]": plain_value(v, names) for k, v in known}
        elif not callable(value):
            facts[name] = plain_value(value, {} if id(value) in names else names)
    return facts


def plain_value(value: Any, names: Mapping[int, str]) -> Any:
    """Return a value with each node replaced by its name or its operator."""
    if id(value) in names:
        return Unquoted(names[id(value)])
    if is_node(value):
        tensor = type(value).__name__ == "Tensor"
        return value.value if tensor else Unquoted(f"a node {value.op}")
    if isinstance(value, dict):
        return {repr(plain_value(k, names)): plain_value(v, names) for k, v in value.items()}
    if isinstance(value, list | tuple | Iterator):
        parts = [plain_value(x, names) for x in value]
        return tuple(parts) if isinstance(value, tuple) else parts
    return Unquoted("a function") if isinstance(value, FunctionType) else value


def event_log(made: Names, engine: ModuleType) -> list[Unquoted]:
    """Return the events of the engine in order, such as "run x"."""
    names = {id(node): name for name, node in named_nodes(made).items()}
    events: Any = vars(engine)["EVENTS"]
    return [
        Unquoted(f"{kind} {names.get(id(what), getattr(what, 'op', plain_value(what, names)))}")
        for kind, what, *_ in events
    ]

"""What a check looks at in an answer: is it filled in, and does it equal what is wanted?

An answer may be a value, or a function of the learner's notebook with those that it calls.
"""

from __future__ import annotations

import ast
import contextlib
import dis
import inspect
import linecache
from collections import deque
from collections.abc import Iterator, Sequence
from functools import lru_cache
from numbers import Number
from types import CodeType, FunctionType
from typing import Any

import numpy as np

from minigrad.diagnostics.errors import GraphError
from viz.words.text import Pair, row

# ---- Gaps ------------------------------------------------------------------------------------


def has_gap(answer: Any) -> bool:
    """Whether a `...` is left: in a value, in a list, in a function or in what it looks up."""
    if isinstance(answer, dict):
        return any(map(has_gap, answer.values()))
    if isinstance(answer, list | tuple):
        return any(map(has_gap, answer))
    if isinstance(answer, FunctionType):
        return any(_is_open(part) or _is_missing(part) for part in reached(answer))
    return answer is Ellipsis


def reached(start: FunctionType) -> Iterator[FunctionType]:
    """A function, and those of the same notebook that it calls by their names.

    Of what a decorator made of a function, what the learner wrote.
    """
    start = inspect.unwrap(start)
    todo, met = [start], set()
    while todo:
        function = todo.pop()
        if function not in met:
            met.add(function)
            yield function
            found = (other for other in _found(function) if isinstance(other, FunctionType))
            called = map(inspect.unwrap, found)
            todo += [other for other in called if other.__globals__ is start.__globals__]


def _found(function: FunctionType) -> Iterator[Any]:
    """What the code of a function finds under the names that are not its own."""
    code = function.__code__
    cells = dict(zip(code.co_freevars, function.__closure__ or (), strict=True))
    for opname, name in looked_up(function):
        if opname != "LOAD_DEREF":
            yield function.__globals__.get(name)
        elif name in cells:
            with contextlib.suppress(ValueError):  # nothing was put into it yet
                yield cells[name].cell_contents


def _is_missing(function: FunctionType) -> bool:
    return any(found is Ellipsis for found in _found(function))


def looked_up(function: FunctionType) -> tuple[tuple[str, str], ...]:
    """How and by what name a function, and those within it, look up what is not their own."""
    return _lookups(function.__code__)


@lru_cache(256)
def _lookups(code: CodeType) -> tuple[tuple[str, str], ...]:
    found: dict[tuple[str, str], None] = {}
    for instruction in dis.get_instructions(code):
        if instruction.opname in ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_DEREF"):
            found[instruction.opname, instruction.argval] = None
        elif isinstance(instruction.argval, CodeType):
            found |= dict.fromkeys(_lookups(instruction.argval))
    return tuple(found)


def _is_open(function: FunctionType) -> bool:
    """Whether `...` stands in a function; as an index, as in x[..., 0], it is no gap."""
    return _stands_open(function.__code__, function.__code__.co_filename)


@lru_cache(256)
def _stands_open(code: CodeType, filename: str) -> bool:
    """Remembered with its file, as alike pieces of code are equal: a check may run many times."""
    parts = list(_parsed(code))
    for part in parts:
        indices = [node.slice for node in ast.walk(part) if isinstance(node, ast.Subscript)]
        used = {id(node) for index in indices for node in ast.walk(index)}
        if any(_is_gap(node) and id(node) not in used for node in ast.walk(part)):
            return True
    return not parts and Ellipsis in code.co_consts


def _is_gap(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and node.value is Ellipsis


def _parsed(code: CodeType) -> Iterator[ast.AST]:
    """The functions that begin in the first line of this code; none where its text is not known."""
    with contextlib.suppress(SyntaxError):
        tree = ast.parse("".join(linecache.getlines(code.co_filename)))
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
                before = getattr(node, "decorator_list", [])
                if (before[0] if before else node).lineno == code.co_firstlineno:
                    yield node


# ---- Equality --------------------------------------------------------------------------------

LISTS = (list, tuple, range, deque)
WORDS = (str, bytes, set)


def equal(got: Any, want: Any, tolerance: float) -> bool:
    """Words exactly, numbers within the tolerance; a list, or an array for one, item by item.

    What has names is compared name by name, in any order.
    """
    if isinstance(got, dict) or isinstance(want, dict):
        if not (isinstance(got, dict) and isinstance(want, dict) and got.keys() == want.keys()):
            return False
        return all(equal(got[name], want[name], tolerance) for name in want)
    if isinstance(got, LISTS) or isinstance(want, LISTS):
        items, wanted = _items(got), _items(want)
        if items is None or wanted is None or len(items) != len(wanted):
            return False
        return all(equal(g, w, tolerance) for g, w in zip(items, wanted, strict=True))
    if isinstance(want, bool | np.bool_):
        return isinstance(got, bool | np.bool_) and bool(got == want)
    if want is None or isinstance(want, WORDS):
        return isinstance(got, type(want)) and bool(got == want)
    if got is None or isinstance(got, (bool, np.bool_, *WORDS)):
        return False
    with contextlib.suppress(GraphError, TypeError, ValueError):
        left, right = np.asarray(got, np.float64), np.asarray(want, np.float64)
        return left.shape == right.shape and np.allclose(left, right, tolerance, tolerance)
    return False


def first_difference(
    got: Any, want: Any, tolerance: float, words: bool = False, at: str = ""
) -> Pair | None:
    """Where two lists, arrays or dicts differ first, in words; None where they are not such.

    What is asked for there is told of numbers, and with `words` of words: where the answer is a
    function, they do not give it away.
    """
    if isinstance(want, dict):
        return _first_name(got, want, tolerance, words, at)
    arrays = isinstance(got, np.ndarray) and isinstance(want, np.ndarray)
    if arrays and got.shape != want.shape:
        key = "check_shape_at" if at else "check_shape"
        return row(key, at=at, shape=got.shape, wanted=want.shape)
    items, wanted = _items(got), _items(want)
    if items is None or wanted is None or not len(wanted):
        if wanted is not None and len(wanted) > 1:
            key = "check_several_at" if at else "check_several"
            return row(key, at=at, value=_brief(got), wanted=len(wanted))
        if not at:
            return None
        told = words or isinstance(_single(want), Number)
        key = "check_first_number" if told else "check_first"
        return row(key, at=at, value=_brief(got), want=_brief(want))
    for place, (item, other) in enumerate(zip(items, wanted, strict=False)):
        if not equal(item, other, tolerance):
            space = " " if at.endswith(")") else ""  # a name that is no name of Python
            return first_difference(item, other, tolerance, words, f"{at}{space}[{place}]")
    if len(items) != len(wanted):
        key = "check_length_at" if at else "check_length"
        return row(key, at=at, count=len(items), wanted=len(wanted))
    return None


def _first_name(got: Any, want: Any, tolerance: float, words: bool, at: str) -> Pair | None:
    """The first name of what is asked for that is missing or wrong; else one that is too much."""
    if not isinstance(got, dict):
        key = "check_names_at" if at else "check_names"
        return row(key, at=at, value=_brief(got), names=", ".join(map(str, want)))
    before = f"{at}, " if at else ""
    for name in want:
        if name not in got:
            return row("check_missing", at=f"{before}{name}")
        if not equal(got[name], want[name], tolerance):
            return first_difference(got[name], want[name], tolerance, words, f"{before}{name}")
    extra = next((name for name in got if name not in want), None)
    return None if extra is None else row("check_extra", at=f"{before}{extra}")


def _single(value: Any) -> Any:
    """A number of NumPy, or an array of one without axes, as a number of Python."""
    arrays = isinstance(value, np.generic | np.ndarray)
    return value.item() if arrays and not value.ndim else value


def _brief(value: Any) -> str:
    return brief(_single(value))


def brief(value: Any) -> str:
    """A value as a line shows it."""
    return cut(repr(value))


def cut(text: str) -> str:
    """A text, or the beginning of one that would fill the page."""
    return text if len(text) <= 300 else text[:299] + "…"


def _items(value: Any) -> Sequence[Any] | None:
    """What a list or an array holds along its first axis; None for what has no axis."""
    if isinstance(value, LISTS):
        return value
    if hasattr(value, "__array__"):
        with contextlib.suppress(GraphError, TypeError, ValueError):
            array = np.asarray(value)
            return list(array) if array.ndim else None
    return None

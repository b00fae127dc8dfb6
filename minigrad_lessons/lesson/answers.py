"""What a check looks at in an answer: is it filled in, and does it equal the expected value?

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
from types import CodeType, FunctionType
from typing import Any

import numpy as np

from minigrad.diagnostics.errors import GraphError

# ---- Gaps ------------------------------------------------------------------------------------


def has_gap(answer: Any) -> bool:
    """Return whether a `...` is left: in a value, a list, a function or a name that it looks up."""
    if isinstance(answer, dict | list | tuple):
        return any(map(has_gap, answer.values() if isinstance(answer, dict) else answer))
    if isinstance(answer, FunctionType):
        parts = [*called_functions(answer)]
        read = (x for part in parts for x in read_values(part))
        return any(map(contains_gap, parts)) or any(x is Ellipsis for x in read)
    return answer is Ellipsis


def called_functions(start: FunctionType) -> Iterator[FunctionType]:
    """Yield a function, and those of the same notebook that it calls by their names.

    Decorated functions are unwrapped to what the learner wrote.
    """
    start = inspect.unwrap(start)
    todo, met = [start], set()
    while todo:
        function = todo.pop()
        if function not in met:
            met.add(function)
            yield function
            found = (other for other in read_values(function) if isinstance(other, FunctionType))
            called = map(inspect.unwrap, found)
            todo += [other for other in called if other.__globals__ is start.__globals__]


def read_values(function: FunctionType) -> Iterator[Any]:
    """Yield the values of the global and closure names that a function reads."""
    code = function.__code__
    cells = dict(zip(code.co_freevars, function.__closure__ or (), strict=True))
    for opname, name in lookups(function):
        if opname != "LOAD_DEREF":
            yield function.__globals__.get(name)
        elif name in cells:
            with contextlib.suppress(ValueError):  # nothing was put into it yet
                yield cells[name].cell_contents


def lookups(function: FunctionType) -> tuple[tuple[str, str], ...]:
    """Return (opcode, name) of the nonlocal lookups in a function, and in what is defined in it.

    Not among them is what a class has set before, or what Python sets, as `__annotations__`.
    """
    return _code_lookups(function.__code__)


@lru_cache(256)
def _code_lookups(code: CodeType) -> tuple[tuple[str, str], ...]:
    found: dict[tuple[str, str], None] = {}
    own = {"__annotations__", "__conditional_annotations__"}
    for kind, name in ((x.opname, x.argval) for x in dis.get_instructions(code)):
        if kind == "STORE_NAME":
            own.add(name)
        elif kind in ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_DEREF") and name not in own:
            found[kind, name] = None
        elif isinstance(name, CodeType):
            found |= dict.fromkeys(_code_lookups(name))
    return tuple(found)


def contains_gap(function: FunctionType) -> bool:
    """Return whether a function contains `...`; as an index, as in x[..., 0], it is no gap."""
    return _code_contains_gap(function.__code__, function.__code__.co_filename)


@lru_cache(256)
def _code_contains_gap(code: CodeType, filename: str) -> bool:
    """Return whether code has a gap; cached by file too, because alike pieces of code are equal."""
    nodes = [node for part in function_asts(code) for node in ast.walk(part)]
    indices = [node.slice for node in nodes if isinstance(node, ast.Subscript)]
    used = {id(node) for index in indices for node in ast.walk(index)}
    gaps = [node for node in nodes if _is_gap(node) and id(node) not in used]
    return bool(gaps) if nodes else Ellipsis in code.co_consts


def without_return(start: FunctionType) -> list[str]:
    """Return the names of a function and those it calls that never return or yield a value."""
    return [
        function.__name__
        for function in called_functions(start)
        for part in function_asts(function.__code__)
        if isinstance(part, ast.FunctionDef) and not any(map(_returns_value, part.body))
    ]


def source_of(functions: Sequence[FunctionType]) -> str:
    """Return the text of functions without comments, laid out in one way; "" if it is unknown."""
    codes = [inspect.unwrap(f).__code__ for f in functions]
    return "\n".join(ast.unparse(part) for code in codes for part in function_asts(code))


def _returns_value(node: ast.AST) -> bool:
    """Return whether a statement returns or yields a value; nested functions do not count."""
    if isinstance(node, ast.Return | ast.Yield | ast.YieldFrom):
        return node.value is not None and ast.unparse(node.value) != "None"
    inner = isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Lambda)
    return not inner and any(map(_returns_value, ast.iter_child_nodes(node)))


def _is_gap(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and node.value is Ellipsis


def function_asts(code: CodeType) -> list[ast.AST]:
    """Return the functions that begin in the first line of this code, if its text is known."""
    text = "".join(linecache.getlines(code.co_filename))
    return _functions_by_line(text).get(code.co_firstlineno, [])


@lru_cache(64)
def _functions_by_line(text: str) -> dict[int, list[ast.AST]]:
    """Return the functions of a cell by their first lines; a check looks up each of them often."""
    found: dict[int, list[ast.AST]] = {}
    with contextlib.suppress(SyntaxError):
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
                before = getattr(node, "decorator_list", [])
                found.setdefault((before[0] if before else node).lineno, []).append(node)
    return found


# ---- Equality --------------------------------------------------------------------------------

LISTS = (list, tuple, range, deque)
WORDS = (str, bytes, set)


def is_equal(got: Any, want: Any, tolerance: float) -> bool:
    """Compare strings exactly, numbers within the tolerance, lists and arrays item by item.

    What has names is compared name by name, in any order.
    """
    if isinstance(got, dict) or isinstance(want, dict):
        if not (isinstance(got, dict) and isinstance(want, dict) and got.keys() == want.keys()):
            return False
        return all(is_equal(got[name], want[name], tolerance) for name in want)
    if isinstance(got, LISTS) or isinstance(want, LISTS):
        items, expected = items_of(got), items_of(want)
        if items is None or expected is None or len(items) != len(expected):
            return False
        return all(is_equal(g, w, tolerance) for g, w in zip(items, expected, strict=True))
    if isinstance(want, bool | np.bool_):
        return isinstance(got, bool | np.bool_) and bool(got == want)
    if want is None or isinstance(want, WORDS):
        # Asked of what is wanted: the answer may be of a class that calls itself equal.
        kind: Any = type(want)
        return isinstance(got, kind) and kind.__eq__(want, got) is True
    if got is None or isinstance(got, (bool, np.bool_, *WORDS)):
        return False
    with contextlib.suppress(GraphError, TypeError, ValueError):
        left, right = np.asarray(got, np.float64), np.asarray(want, np.float64)
        if left.shape != right.shape or (left == right).all():  # which `allclose` says late
            return left.shape == right.shape
        return np.allclose(left, right, tolerance, tolerance, equal_nan=True)
    return False


def scalar_to_python(value: Any) -> Any:
    """Convert a NumPy scalar or an array without axes to a Python number; return others as is."""
    arrays = isinstance(value, np.generic | np.ndarray)
    return value.item() if arrays and not value.ndim else value


def short_repr(value: Any) -> str:
    """Return a value as one line of text; floats without the last digits that rounding leaves."""
    value = scalar_to_python(value)
    return truncate(repr(float(f"{value:.12g}") if isinstance(value, float) else value))


def truncate(text: str) -> str:
    """Cut a text to 300 characters."""
    return text if len(text) <= 300 else text[:299] + "…"


def items_of(value: Any) -> Sequence[Any] | None:
    """Return the items of a list or an array along its first axis; None for what has no axis."""
    if isinstance(value, LISTS):
        return value
    if hasattr(value, "__array__"):
        with contextlib.suppress(GraphError, TypeError, ValueError):
            array = np.asarray(value)
            return list(array) if array.ndim else None
    return None

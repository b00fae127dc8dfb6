"""The regions in which rewritten code is built into a branch or loop, and what they forbid.

Such code runs once, whatever happens when the graph runs, and both sides of a branch run. What it
does to objects from outside would therefore be wrong; it is refused with its line.
"""

from __future__ import annotations

import contextlib
import inspect
import sys
import threading
from collections.abc import Callable, Iterator
from types import CodeType, FunctionType, ModuleType
from typing import Any

from minigrad.diagnostics.errors import ControlFlowError, ScriptError, TraceError
from minigrad.diagnostics.source import here

DEEPEST = 40  # the same branch within itself so many times: a recursion that never ends
LOST = "_minigrad_lost"  # attribute of an exception
CHANGING: dict[type, set[str]] = {
    list: {"append", "extend", "insert", "pop", "remove", "clear", "sort", "reverse"},
    dict: {"update", "pop", "popitem", "setdefault", "clear"},
    set: {"add", "update", "remove", "discard", "pop", "clear"},
}


class _Regions(threading.local):
    """The functions that are being built, from the outermost, and the objects that each sees."""

    def __init__(self) -> None:
        self.codes: list[CodeType] = []
        self.visible: list[set[int]] = []


_regions = _Regions()


class build_region:
    """Build the body `function` in this block; ScriptError where that goes on without end.

    (A class, because a generator would stand between an error and the user's line.)
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = inspect.unwrap(function)

    def __enter__(self) -> None:
        code = self.function.__code__
        if _regions.codes.count(code) >= DEEPEST:
            raise ScriptError("script_recursion", times=DEEPEST, defined=here())
        seen = {id(x) for x in _captured_objects(self.function)}
        _regions.codes.append(code)
        _regions.visible.append(seen)

    def __exit__(self, *exc: object) -> None:
        _regions.codes.pop()
        _regions.visible.pop()


def _captured_objects(function: Callable[..., Any]) -> Iterator[Any]:
    """Yield the objects that a function captures, and their attributes."""
    found = []
    for cell in function.__closure__ or ():
        with contextlib.suppress(ValueError):  # a variable that has no value yet
            found.append(cell.cell_contents)
    names = function.__globals__
    found += [names[name] for name in function.__code__.co_names if name in names]
    for x in found:
        yield x
        if not isinstance(x, type | ModuleType | FunctionType):
            yield from getattr(x, "__dict__", {}).values()


def refuse_set_attribute(text: str) -> None:
    """Refuse `self.x = …` in a branch or loop of the graph."""
    if _regions.codes:
        raise ScriptError("script_attribute", code=text, defined=here())


def refuse_set_item(text: str, x: Any) -> None:
    """Refuse `d[k] = …` in a branch or loop of the graph, unless `d` was made in it."""
    if _is_outer_object(x):
        raise ScriptError("script_item", code=text, defined=here())


def refuse_raise() -> None:
    """Refuse `raise` in a branch or loop of the graph."""
    if _regions.codes:
        raise ScriptError("script_raise", defined=here())


def check_caught(names: str) -> None:
    """Raise an error again if it must not be caught: a refusal, or `names` would keep old values.

    A branch or a loop that an exception leaves does not hand out the variables that it has set.
    """
    error = sys.exc_info()[1]
    if isinstance(error, ScriptError | TraceError | ControlFlowError):
        raise error
    lost: set[str] = getattr(error, LOST, set()) & set(names.split(", "))
    if lost:
        raise ScriptError("script_lost", name=min(lost), defined=here()) from error


def note_lost_names(error: Exception, names: str) -> None:
    """Note the variables that a branch or a loop would have set."""
    setattr(error, LOST, getattr(error, LOST, set()) | set(names.split(", ")) - {""})


def check_method(method: Any) -> None:
    """Refuse `xs.append` and the like in a branch or loop, unless `xs` was made in it."""
    owner = getattr(method, "__self__", None)
    if method.__name__ in CHANGING.get(type(owner), set()) and _is_outer_object(owner):
        code = f"{type(owner).__name__}.{method.__name__}"
        raise ScriptError("script_item", code=code, defined=here())


def _is_outer_object(x: Any) -> bool:
    return any(id(x) in visible for visible in _regions.visible)

"""What the checks of this kernel have judged: which answers, how often, and with what result."""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from types import FunctionType
from weakref import WeakSet

from viz.lesson.answers import reached

Lines = tuple[tuple[str, int], ...]
_tried: set[str] = set()  # checks that have judged an answer
# What each call of a check, by its id and its lines, judged last, and whether that passed.
_judged: dict[tuple[str, Lines], tuple[bool, WeakSet[FunctionType]]] = {}


def judged(id: str, lines: Lines, right: bool, functions: Iterable[FunctionType]) -> None:
    """Note a verdict on functions; one from the same lines of the notebook takes its place."""
    _tried.add(id)
    _judged[id, lines] = right, WeakSet(functions)


def tried(id: str) -> bool:
    """Whether a check has judged an answer since the kernel started."""
    return id in _tried


def refused_by(function: FunctionType) -> str:
    """The check that refused an answer in which this function stands; "" if there is none."""
    start, calls = inspect.unwrap(function), _judged.items()
    return next((id for (id, *_), (right, met) in calls if start in met and not right), "")


def passed(id: str, function: FunctionType) -> bool:
    """Whether a check has passed a function as it is now, with those of the notebook it calls."""
    calls, now = _judged.items(), {*reached(function)}
    return any(right and met >= now for (known, *_), (right, met) in calls if known == id)

"""Points where nbgrader grades: nothing that a notebook has replaced judges its answers.

In a course for nbgrader the tests of an exercise begin with `reload_course` and end with `points`,
in lines that learners do not get. Both run from their file (`runpy.run_module`), which no line of a
notebook can take the place of. That holds against whatever a notebook puts under a name of viz,
minigrad, NumPy or Python's builtins; not against one that looks into the frames of a test that is
running, or that rewrites Python's own machinery: it runs in the same process.
"""

from __future__ import annotations

import builtins
import importlib
import os
import sys
import warnings
from collections.abc import Iterator
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

import numpy as np
from IPython import get_ipython

OURS = ("minigrad_lessons", "viz", "minigrad")
METHODS = (FunctionType, property, staticmethod, classmethod)


class NoPointsError(AssertionError):
    """No check has passed, or what judges was replaced."""

    def _render_traceback_(self) -> list[str]:
        return [str(self)]  # the checks have said it all; the lines of this module would hide it


def reload_course() -> ModuleType:
    """Load the course anew from its files; from here on its checks are counted."""
    for name in [name for name in sys.modules if _package(name) in ("minigrad_lessons", "viz")]:
        del sys.modules[name]
    lessons = importlib.import_module("minigrad_lessons")
    check: Any = importlib.import_module("minigrad_lessons.lesson.check")
    os.environ[check.GRADING] = "autograde"
    warnings.simplefilter("ignore")  # nbgrader takes whatever is on stderr for a failure
    check.counted, check.before = {}, dict(_protected_callables())
    return lessons


def points(most: float) -> None:
    """Show what the checks since `reload_course` are worth to nbgrader: their share of `most`.

    Raises NoPointsError where none has passed, or something was replaced.
    """
    check: Any = sys.modules["minigrad_lessons.lesson.check"]
    now = dict(_protected_callables())
    replaced = [name for name, what in check.before.items() if now.get(name) is not what]
    replaced += [name for name, what in now.items() if _is_from_notebook(what)]
    passed = [shown for shown in check.counted.values() if shown.mark == check.MARKS[True]]
    if replaced or not passed:
        raise NoPointsError(f"0 / {most:g}  " + ", ".join(replaced[:3] or check.counted))
    print(*passed, sep="\n")
    shell: Any = get_ipython()  # not as the value of the cell: a notebook may hide such values
    shell.displayhook(most * len(passed) / len(check.counted))


def _package(module: str) -> str:
    return module.partition(".")[0]


def _protected_callables() -> Iterator[tuple[str, Any]]:
    """Yield the functions and classes in our modules, builtins and NumPy, with qualified names."""
    spaces = {name: vars(m) for name, m in list(sys.modules.items()) if _package(name) in OURS}
    spaces |= {"builtins": vars(builtins), "numpy": vars(np)}
    for space, names in spaces.items():
        for name, what in list(names.items()):
            if isinstance(what, FunctionType | BuiltinFunctionType | type):
                yield f"{space}.{name}", what
            if isinstance(what, type) and what.__module__ == space:
                for inner, part in list(vars(what).items()):
                    if isinstance(part, METHODS):
                        yield f"{space}.{name}.{inner}", part


def _is_from_notebook(what: Any) -> bool:
    return getattr(what, "__module__", None) == "__main__"

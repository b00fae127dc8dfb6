"""What a program does on the learner's engine: what is built, run, traced; and what is counted."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from typing import Any

import minigrad as mg

__all__ = ["count_built", "count_lines", "count_traces"]


def count_built(engine: Any, f: Callable[..., Any], *args: Any) -> int:
    """Count the operators that a call of f builds on an engine from `lessons.engine`.

    >>> from minigrad_lessons.lesson import my_engine
    >>> x = my_engine.Tensor(2.0, requires_grad=True)
    >>> count_built(my_engine, lambda: x * x + 3.0)
    2
    """
    before, engine.EVENTS = engine.EVENTS, []
    try:
        f(*args)
        return [kind for kind, *_ in engine.EVENTS].count("built")
    finally:
        engine.EVENTS = before


def count_traces(f: Callable[[Any], Any], inputs: Iterable[Any]) -> int:
    """Count how often `mg.function` traces f when called with these inputs, one after another.

    >>> import minigrad as mg, numpy as np, minigrad_lessons as lessons
    >>> lessons.count_traces(mg.sum, [np.ones(2), np.ones(3), np.zeros(2)])
    2
    """
    compiled = mg.function(f)
    for x in inputs:
        compiled(x)
    return compiled.traces


def count_lines(f: Callable[..., Any]) -> int:
    """Count a function's source lines, with decorators; raise OSError if they can't be read.

    >>> import minigrad as mg, minigrad_lessons as lessons
    >>> @mg.function
    ... def double(x):
    ...     return 2 * x
    >>> lessons.count_lines(double)
    3
    """
    return len(inspect.getsourcelines(getattr(f, "python_function", f))[0])

"""What a program does on the learner's engine: what is built, run, traced; and what is counted."""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import minigrad as mg

__all__ = ["count_built", "count_lines", "count_traces"]


@contextlib.contextmanager
def _noted(engine: Any, events: list[Any]) -> Iterator[list[Any]]:
    """Inside, the engine writes its events into this list, and nowhere else."""
    before, engine.EVENTS = engine.EVENTS, events
    try:
        yield events
    finally:
        engine.EVENTS = before


def count_built(engine: Any, f: Callable[..., Any], *args: Any) -> int:
    """How many operators a call of f builds on an engine, as `viz.engine` gives it.

    >>> from viz.lesson import my_engine
    >>> x = my_engine.Tensor(2.0, requires_grad=True)
    >>> count_built(my_engine, lambda: x * x + 3.0)
    2
    """
    with _noted(engine, []) as events:
        f(*args)
    return [kind for kind, *_ in events].count("built")


def count_traces(f: Callable[[Any], Any], inputs: Iterable[Any]) -> int:
    """How often `mg.function` traces f, if it is called with one of these inputs after another.

    >>> import minigrad as mg, numpy as np, viz
    >>> viz.count_traces(mg.sum, [np.ones(2), np.ones(3), np.zeros(2)])
    2
    """
    compiled = mg.function(f)
    for x in inputs:
        compiled(x)
    return compiled.traces


def count_lines(f: Callable[..., Any]) -> int:
    """How many lines a function is written in, its decorators among them; OSError without them.

    >>> import minigrad as mg, viz
    >>> @mg.function
    ... def double(x):
    ...     return 2 * x
    >>> viz.count_lines(double)
    3
    """
    return len(inspect.getsourcelines(getattr(f, "python_function", f))[0])

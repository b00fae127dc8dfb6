"""What a program does on the learner's engine: `observe` counts what is built and what runs."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from viz.lesson.limit import Endless

__all__ = ["observe"]

LIMIT = 100  # events; what comes so far has no end


class Events(list[Any]):
    """What an engine notes, up to the limit."""

    def append(self, event: Any) -> None:
        super().append(event)
        if len(self) == LIMIT:
            raise Endless


def observe(
    engine: Any, program: Callable[[Any], Any], numbers: Sequence[float], ops: Sequence[str]
) -> dict[str, dict[str, Any]]:
    """What a program builds on a placeholder, and what runs for each number, also as a tensor.

    engine: as `viz.engine` gives it. program: a function of one node. Under "built" stands how
    often each operator of `ops` was built; under "x = 3.0" how often it ran when 3.0 was fed, and
    the result as "y"; under "Tensor(3.0)" the same where a tensor is given. What has no end is
    stopped at 100 events and gives None. Raises what the program raises.

    >>> import viz
    >>> from viz.lesson import my_engine
    >>> seen = viz.observe(my_engine, lambda x: x * x + 3.0, [2.0], ["Mul"])
    >>> print(seen["built"], seen["x = 2.0"]["y"], seen["x = 2.0"]["Mul"])
    {'Mul': 1} 7.0 1
    """
    x = engine.placeholder("x")
    y, built = _counted(engine, "built", ops, partial(program, x))
    found: dict[str, dict[str, Any]] = {"built": built}
    if y is not None:
        for n in numbers:
            values, ran = _counted(engine, "run", ops, partial(engine.Session().run, [y], {x: n}))
            found[f"x = {n}"] = {"y": values and values[0], **ran}
            result, ran = _counted(engine, "run", ops, partial(program, engine.Tensor(n)))
            found[f"Tensor({n})"] = {"y": None if result is None else result.value, **ran}
    return found


def _counted(
    engine: Any, kind: str, ops: Sequence[str], call: Callable[[], Any]
) -> tuple[Any, dict[str, int]]:
    """What a call gives, and how often each operator was built or ran meanwhile."""
    before, engine.EVENTS, value = engine.EVENTS, Events(), None
    try:
        with contextlib.suppress(Endless):
            value = call()
        told = [what.op for was, what, _ in engine.EVENTS if was == kind]
    finally:
        engine.EVENTS = before
    return value, {op: told.count(op) for op in ops}

"""What a program does on the learner's engine: what is built, run, traced; and what is counted."""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

import minigrad as mg
from viz.lesson.limit import Endless
from viz.lesson.walked import Played

__all__ = [
    "count_built",
    "count_lines",
    "count_traces",
    "decided",
    "observe",
    "replayed",
    "served",
]

LIMIT = 1000  # events; what comes so far has no end


class Events(list[Any]):
    """What an engine notes, up to the limit."""

    def append(self, event: Any) -> None:
        super().append(event)
        if len(self) == LIMIT:
            raise Endless


def observe(
    engine: Any, program: Callable[[Any], Any], numbers: Sequence[float], ops: Sequence[str]
) -> Played:
    """What a program builds on a placeholder, and what runs for each number, also as a tensor.

    engine: as `viz.engine` gives it. program: a function of one node. Under "built" stands how
    often each operator of `ops` was built; under "x = 3.0" how often it ran when 3.0 was fed, and
    the result as "y"; under "Tensor(3.0)" the same where a tensor is given, with "a change of x"
    where the tensor is no longer what it was. What has no end is stopped at 1000 events and gives
    None. Raises what the program raises. A check that refuses it plays the first run that is wrong,
    from the building of its graph; runs of tensors have none.

    >>> import viz
    >>> from viz.lesson import my_engine
    >>> seen = viz.observe(my_engine, lambda x: x * x + 3.0, [2.0], ["Mul"])
    >>> print(seen["built"], seen["x = 2.0"]["y"], seen["x = 2.0"]["Mul"])
    {'Mul': 1} 7.0 1
    """
    x = engine.placeholder("x")
    y, built, told = _counted(engine, "built", ops, partial(program, x))
    found = Played({"built": built})
    if y is not None:
        found.nodes = {"x": x, "y": y}
        runs: dict[str | None, list[Any]] = {"built": told}
        found.runs = runs
        for n in numbers:
            run = partial(engine.Session().run, [y], {x: n})
            values, ran, told = _counted(engine, "run", ops, run)
            runs[f"x = {n}"] = runs["built"] + told
            found[f"x = {n}"] = {"y": values and values[0], **ran}
            given = engine.Tensor(n)
            result, ran, _ = _counted(engine, "run", ops, partial(program, given))
            seen = {"y": None if result is None else result.value, **ran}
            changed = {} if np.array_equal(given.value, n) else {"a change of x": True}
            found[f"Tensor({n})"] = seen | changed
    return found


def _counted(
    engine: Any, kind: str, ops: Sequence[str], call: Callable[[], Any]
) -> tuple[Any, dict[str, int], list[Any]]:
    """What a call gives, how often each operator was built or ran meanwhile, and all events."""
    value = None
    with _noted(engine, Events()) as events, contextlib.suppress(Endless):
        value = call()
    told = [what.op for was, what, _ in events if was == kind]
    return value, {op: told.count(op) for op in ops}, list(events)


@contextlib.contextmanager
def _noted(engine: Any, events: list[Any]) -> Iterator[list[Any]]:
    """Inside, the engine writes its events into this list, and nowhere else."""
    before, engine.EVENTS = engine.EVENTS, events
    try:
        yield events
    finally:
        engine.EVENTS = before


class Counted:
    """A function that knows how often it ran."""

    def __init__(self, f: Callable[..., Any]) -> None:
        self.f, self.times = f, 0

    def __call__(self, *args: Any) -> Any:
        self.times += 1
        return self.f(*args)


def replayed(
    engine: Any, f: Callable[..., Any], calls: Mapping[str, Sequence[Any]]
) -> dict[str, Any]:
    """What the tracer of an engine makes of f: its graph, then what the graph gives for each call.

    engine: as `viz.engine` gives it; its `trace` gets the arguments of the first call. Under
    "operators" stand those of the graph, in order (none where no node came back); under the name of
    a call its result; under "times f ran" how often Python has run f in all. Raises what the tracer
    raises.

    >>> import numpy as np, viz
    >>> from viz.lesson import my_engine
    >>> calls = {"2": (np.array(2.0), 3), "5": (np.array(5.0), 3)}
    >>> found = viz.replayed(my_engine, lambda x, n: x * n, calls)
    >>> print(found["operators"], found["2"], found["5"], found["times f ran"])
    ['Mul'] 6.0 15.0 1
    """
    counted = Counted(f)
    output, replay = engine.trace(counted, *next(iter(calls.values())))
    order = engine.topological_order([output]) if isinstance(output, engine.Node) else []
    found: dict[str, Any] = {"operators": [node.op for node in order if node.inputs]}
    found |= {name: replay(*args) for name, args in calls.items()}
    return found | {"times f ran": counted.times}


def served(
    engine: Any, f: Callable[..., Any], calls: Mapping[str, Sequence[Any]]
) -> dict[str, dict[str, Any]]:
    """What the cache of an engine makes of calls of f: their results, and the traces until then.

    engine: as `viz.engine` gives it, with its `compiled`. Raises what a call raises.

    >>> import numpy as np, viz
    >>> from viz.lesson import my_engine
    >>> calls = {"2": (np.ones(2),), "2 again": (np.zeros(2),), "3": (np.ones(3),)}
    >>> for name, seen in viz.served(my_engine, lambda x: x.sum(), calls).items():
    ...     print(name, "|", seen["result"], seen["traces"])
    2 | [2.] 1
    2 again | [0.] 1
    3 | [3.] 2
    """
    counted, found = Counted(f), {}
    fast = engine.compiled(counted)
    for name, args in calls.items():
        result = fast(*args)
        found[name] = {"result": result, "traces": counted.times}
    return found


def decided(engine: Any, f: Callable[[Any], Any], numbers: Sequence[float]) -> dict[str, Any]:
    """What an `if` in f does on an engine: with tensors of these numbers, then with a placeholder.

    engine: as `viz.engine` gives it. Under "Tensor(3.0)" stands the result for 3.0; under
    "placeholder" the first word of the error that refuses it, or what f gives; where it refuses,
    the lines of the user that the error names stand under their place and what comes before them.
    If it refuses, but a constant answers, "truth of a constant" is that answer.

    >>> import viz
    >>> from viz.lesson import my_engine
    >>> def size(x):
    ...     return x if x > 0.0 else -x
    >>> found = viz.decided(my_engine, size, [-3.0])
    >>> print(found["Tensor(-3.0)"], found["placeholder"], list(found)[2:], sep=" | ")
    3.0 | refused: Greater | ['line 2, built', 'line 3, asked']
    """
    found: dict[str, Any] = {f"Tensor({n})": f(engine.Tensor(n)).value for n in numbers}
    try:
        found["placeholder"] = f"gives {f(engine.placeholder('x'))}"
    except engine.EngineError as error:
        first, *lines = str(error).splitlines()
        found["placeholder"] = f"refused: {first.partition(' ')[0]}"
        for place, line in enumerate(lines, 2):
            word, _, where = line.strip().partition(": ")
            found[f"line {place}, {word}"] = where.partition(": ")[2]
        with contextlib.suppress(engine.EngineError):
            found["truth of a constant"] = bool(engine.constant(2.0))
    return found


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

"""One function four ways (eager, static, traced, scripted), and what runs in each for an input.

Everything comes from the engine's own events; nothing is derived from the source.
"""

from __future__ import annotations

import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from types import FrameType
from typing import Any

import numpy as np

import minigrad as mg
from minigrad.control import COND, WHILE
from minigrad.core import BaseNode
from minigrad.core.events import Event, Recording
from minigrad.core.structure import flatten
from minigrad.diagnostics.source import Location, is_user_code
from minigrad.dynamic.recording import recording
from minigrad.dynamic.tensor import Tensor
from minigrad.hybrid.tracing import Traced
from minigrad.ops import state
from minigrad.static import Graph
from viz.film.replay import numbers_of
from viz.picture.boxes import Picture
from viz.picture.picture import picture
from viz.picture.summary import Summary, summarize
from viz.picture.union import BoxIds, renamed, union
from viz.words.text import Pair

Place = tuple[str, Any, str]  # file, span of the expression, operator: where an operation stands


@dataclass(frozen=True)
class Run:
    """What ran for one input: nodes of the picture with their values, and the result.

    places: how often each operation of the source ran; lines: those that were reached;
    steps: of each loop, by node id; ran: how often operators ran, each turn of a loop counted.
    """

    nodes: Set[str]
    values: Mapping[str, Summary]
    result: str
    places: Counter[Place] = field(default_factory=Counter)
    steps: Mapping[str, int] = field(default_factory=dict)
    turn: tuple[Any, Any] | None = None  # a traced decision that goes the other way
    right: bool = True
    lines: Set[Location] = frozenset()
    ran: int = 0


@dataclass(frozen=True)
class Mode:
    """One way to write the function: its picture, and what ran for each input; or why not."""

    picture: Picture | None
    runs: tuple[Run, ...] = ()
    problem: Pair | None = None


def place_of(node: BaseNode) -> Place:
    """Return where the operation is in the user's source, and its name."""
    return node.where.filename, node.where.span, node.op.name


def shown(result: Any) -> str:
    """Format a result of any structure in a few characters."""
    return ", ".join(summarize(x).text for x in flatten(result)[0])


# ---- Eager: a graph for each input, laid over each other ------------------------------------


@contextmanager
def _lines_reached() -> Iterator[set[Location]]:
    """Collect where each line of the user's files begins that is reached, computing or not."""
    at, before = set[Location](), sys.gettrace()

    def reached(frame: FrameType, event: str, _: Any) -> Any:
        if event == "line":
            at.add(Location(frame.f_code, frame.f_lasti))
        return reached if is_user_code(frame.f_code.co_filename) else None

    sys.settrace(reached)
    try:
        yield at
    finally:
        sys.settrace(before)


def run_eager(f: Callable[..., Any], inputs: Sequence[tuple[Any, ...]], names: list[str]) -> Mode:
    """Draw the tapes of all inputs in one picture: what they have in common is drawn once."""
    names_of = BoxIds(lambda n: (n.kind, n.op, n.name, n.shape, n.line, n.inputs))
    pictures, runs = [], []
    for values in inputs:
        tensors = [Tensor(x, np.asarray(x).dtype.kind == "f") for x in values]
        with recording(True), mg.record(values=True) as log, _lines_reached() as at:
            result = f(*tensors)
        ends = [y for y in flatten(result)[0] if isinstance(y, Tensor)] or tensors
        called = {id(t): name for t, name in zip(tensors, names, strict=True)}
        drawn = picture(ends, called).with_inputs(names)
        worth = {e.node: summarize(e.value) for e in log.of_kind("run") if e.node is not None}
        worth |= {t: summarize(t._array) for t in tensors}
        new = names_of.of(drawn)
        pictures.append(renamed(drawn, new))
        known = {new[drawn.ids[x]]: value for x, value in worth.items() if x in drawn.ids}
        places = Counter(place_of(e.node) for e in log.of_kind("built"))
        ran = log.counts.run
        runs.append(Run({*new.values()}, known, shown(result), places, lines=at, ran=ran))
    return Mode(union(*pictures), tuple(runs))


def numbers_of_call(
    f: Callable[..., Any], values: Sequence[Any], moved: Sequence[int], example: Any
) -> Graph:
    """Return a graph of all that a run computes, decisions included, from some of its arguments.

    example: on which the function is traced, if the trace runs, too: then whether both agree is
    one of the decisions.
    """
    tensors = [Tensor(x, np.asarray(x).dtype.kind == "f") for x in values]

    def run() -> Sequence[Any]:
        results = flatten(f(*tensors))[0]
        others = flatten(traced(f, example)(*tensors))[0] if example is not None else results
        return [mg.all(one == other) for one, other in zip(results, others, strict=True)]

    return numbers_of(run, [tensors[i]._array for i in moved])


# ---- Static: one graph for all inputs -------------------------------------------------------


def static_graph(f: Callable[..., Any], example: tuple[Any, ...], names: list[str]) -> Graph:
    """Build the graph of the function on placeholders; raise TraceError if it needs a value."""
    arrays = [np.asarray(x) for x in example]
    with mg.Graph(), recording(True):
        pairs = zip(names, arrays, strict=True)
        inputs = [mg.placeholder(name, shape=a.shape, dtype=a.dtype) for name, a in pairs]
        return mg.build_graph(inputs, [*flatten(f(*inputs))[0]])


def run_static(graph: Graph, inputs: Sequence[tuple[Any, ...]], names: list[str]) -> Mode:
    """Record what runs in a graph with placeholders of these names, for each input."""
    drawn = picture(graph, bodies=True)
    runs = []
    for values in inputs:
        feeds = dict(zip(names, values, strict=True))
        with mg.record(values=True) as log:
            results = mg.run(graph, {n: feeds[n.name] for n in graph.placeholders})
        runs.append(_run_of(drawn, log, shown(results)))
    return Mode(drawn, tuple(runs))


def run_called(f: Any, inputs: Sequence[tuple[Any, ...]]) -> Mode:
    """Record what runs in the one graph of a traced or scripted function, for each input."""
    runs = []
    f(*map(Tensor, inputs[0]))  # a script has no graph before its first call
    drawn = picture(f.graph, bodies=True)
    for values in inputs:
        tensors = [Tensor(x) for x in values]
        with mg.record(values=True) as log:
            result = f(*tensors)
        worth = zip(f.graph.inputs, tensors, strict=False)
        log.events[:0] = [Event(0, "read", x.op, x, t._array) for x, t in worth]
        ran = _run_of(drawn, log, shown(result))
        check = f.check(*tensors) if isinstance(f, Traced) else None  # against Python
        runs.append(replace(ran, turn=check.turn, right=check.equal) if check is not None else ran)
    return Mode(drawn, tuple(runs))


def traced(f: Callable[..., Any], example: tuple[Any, ...]) -> Traced:
    """Trace the function on the example, without a warning: the baked-in branch will be shown."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", mg.TraceWarning)
        return mg.trace(f, *map(Tensor, example))


def _run_of(drawn: Picture, log: Recording, result: str) -> Run:
    """Return which boxes ran, with their values, including those in branches and loops."""
    events = [e for e in log.events if e.node in drawn.ids and e.kind in ("run", "read")]
    read = (pair for e in events for pair in zip(e.node.inputs, e.operands or (), strict=False))
    held = {x: v for x, v in read if x.op is state.placeholder} | {e.node: e.value for e in events}
    values = {drawn.ids[x]: summarize(v) for x, v in held.items() if x in drawn.ids}
    steps = Counter(drawn.ids[e.node] for e in log.of_kind("step") if e.node in drawn.ids)
    opened = {path for e in events for path in _opened(drawn, e, steps)}
    handed = {n.id for n in drawn.nodes if n.group in opened and n.op == state.placeholder.name}
    places = Counter(place_of(e.node) for e in events if e.kind == "run")
    return Run(values.keys() | handed, values, result, places, steps, ran=places.total())


def _opened(drawn: Picture, event: Event, steps: Mapping[str, int]) -> list[str]:
    """Return the bodies of a node that ran: the taken branch, the test, the step if any."""
    owned = [path for path, owner in drawn.owners.items() if owner == drawn.ids[event.node]]
    if event.op is COND:
        side = ": then" if bool(event.operands[0]) else ": else"
        return [path for path in owned if path.endswith(side)]
    if event.op is WHILE and not steps.get(drawn.ids[event.node]):
        return [path for path in owned if path.endswith(": test")]
    return owned

"""`viz.traces`: the cache of a function, call by call, and what forced each trace."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import repeat
from typing import Any

from minigrad.core.events import Event, Recording
from minigrad.hybrid.tracing import Function
from minigrad.hybrid.tracing.traces import Trace, join_sentences
from minigrad.ops import state
from viz.film.film import latest
from viz.film.frames import film_and_steps
from viz.page.board import Board
from viz.page.scenes import Panel, Scene, Sheet
from viz.page.steps import lane_of_calls
from viz.picture.boxes import Picture
from viz.picture.marks import ran
from viz.picture.picture import brief, picture
from viz.picture.union import BoxIds, renamed, union
from viz.words.text import ROWS, Pair, row, row_text

__all__ = ["traces"]

HEAD = ("traces_call", "traces_trace", "traces_event", "traces_arguments", "traces_why")


@dataclass(frozen=True)
class Call:
    """One call, or several that a trace served, and whether a trace was made for it."""

    numbers: str
    trace: Trace
    new: bool


def traces(f: Function, log: Recording | None = None) -> Board:
    """Show a function's trace cache on a board: which call made a trace, and what forced it.

    f: made by `mg.function` or `mg.script`. log: a recording of calls, to see each of them with the
    trace that served it; without it there is a row for each trace. TypeError for other things.

    >>> import minigrad as mg, viz
    >>> f = mg.function(lambda x, n: x * n)
    >>> with mg.record() as log:
    ...     y = [f(mg.tensor([1.0] * size), 2) for size in (3, 3, 4)]
    >>> for scene in viz.traces(f, log).scenes:
    ...     print(scene.caption[0])
    call 1 made trace 1: first call
    call 2 used trace 1
    call 3 made trace 2: argument x: shape (3,) → (4,)
    """
    if not isinstance(f, Function) or not isinstance(log, (Recording, type(None))):
        raise TypeError(row_text("traces_function", value=brief(f if log is None else log)))
    calls = [Call(str(t.made), t, True) for t in f.cache] if log is None else _recorded(f, log)
    known: dict[Trace, int] = {trace: i for i, trace in enumerate(f.cache, 1)}
    drawn = _trace_pictures([call.trace for call in calls])
    among = union(*drawn.values()) if drawn else Picture((), (), "static", {})
    events = [] if log is None else list(_with_inputs(f, log.events))
    film, steps = film_and_steps(among, events)
    starts = [at for at, e in zip(steps, events, strict=True) if _begins_call(f, e)]
    ends = [at - 1 for at in (*starts[1:], len(film.frames))]
    scenes, rows, columns = [], [], []
    for i, call in enumerate(calls):
        number = str(known.get(call.trace, "–"))
        reason = join_sentences(call.trace.reasons) if call.new else ("–", "–")
        key = "traces_made" if call.new else "traces_used"
        caption = row(key, call=call.numbers, number=number, why=reason)
        title = row("traces_graph", number=number, calls=call.trace.calls)
        graph = drawn.get(call.trace)
        if graph is None:
            panel = Panel(title, message=ROWS["traces_failed"])
        else:
            earlier = [drawn[c.trace] for c in calls[:i] if c.trace in drawn]
            own = [n.id for n in graph.nodes if starts and n.kind != "constant"]
            last = {n: x for n in own if (x := latest(film.tracks[n].values, ends[i]))}
            held = {n: value for n, value in last.items() if value.short != "?"}
            old = _differences(graph, earlier) if call.new else {}
            marks = ran(graph, last) | {i: "changed" if x else "new" for i, x in old.items()}
            given = [n for n in graph.nodes if n.kind == "constant" and old.get(n.id)]
            notes = {n.id: f"{old[n.id]} → {n.label.rpartition(' ')[2]}" for n in given}
            panel = Panel(title, graph, marks, notes, held, among=among)
        place = f"{call.numbers} / {len(calls)}" if log is not None else ""
        scenes.append(Scene(caption, (panel,), (), i, place))
        event = ROWS["traces_new"] if call.new else ROWS["traces_hit"]
        rows.append(((call.numbers,) * 2, (number,) * 2, event, _signature(call.trace), reason))
        trace = row("traces_column_new", number=number) if call.new else ROWS["traces_column_hit"]
        columns.append((row("traces_column", call=call.numbers), trace))
    sheet = Sheet(tuple(ROWS[key] for key in HEAD), tuple(rows), folds=2)
    key = "traces_cache" if log is None else "traces_total"
    said = row(key, function=f.__name__, calls=len(calls), traces=sum(c.new for c in calls))
    heading = ROWS["page_traces"]
    lanes = [lane_of_calls(film, "t", starts) | {"columns": columns}] if starts and drawn else []
    return Board(scenes, sheet, said, ROWS["traces_call"], heading=heading, moves=True, lanes=lanes)


def _with_inputs(f: Function, events: Iterable[Any]) -> Iterator[Event]:
    """Yield the events, with a read event for each input before it is first used."""
    fed: set[Any] = set()
    for e in events:
        fed = set() if _begins_call(f, e) else fed
        read = e.node.inputs if e.kind == "run" else ()
        for x, value in zip(read, e.operands or repeat(None), strict=False):
            if x.op is state.placeholder and x not in fed:
                fed.add(x)
                yield Event(0, "read", x.op, x, value)
        yield e


def _begins_call(f: Function, event: Any) -> bool:
    """Return whether the event begins a call of the function."""
    return event.kind in ("traced", "hit") and event.node.function is f


def _recorded(f: Function, log: Recording) -> list[Call]:
    """Return the recorded calls in the order in which they were made."""
    events: list[Any] = [e for e in log.events if _begins_call(f, e)]
    return [Call(str(i), e.node, e.kind == "traced") for i, e in enumerate(events, 1)]


def _trace_pictures(traces: list[Trace]) -> dict[Trace, Picture]:
    """Draw the graph of each trace; what the same line does in all of them is one node."""
    names = BoxIds(lambda n: (n.kind, n.op, n.line if n.inputs else n.label.partition(" = ")[0]))
    whole = {t: _drawn(t) for t in dict.fromkeys(traces) if hasattr(t, "concrete")}
    return {trace: renamed(drawn, names.of(drawn)) for trace, drawn in whole.items()}


def _drawn(trace: Trace) -> Picture:
    """Draw the graph of a trace; a constant that is a Python argument is called `n = 5`."""
    drawn, given = picture(trace.graph), {part.shown[0]: part.place for part in trace.parts}
    nodes = [*drawn.nodes]
    for i, n in enumerate(drawn.nodes):
        if n.kind == "constant" and given.get(n.name) in re.findall(r"\w+", n.line):
            nodes[i] = replace(n, name=f"{given[n.name]} = {n.name}")
    return replace(drawn, nodes=tuple(nodes))


def _differences(graph: Picture, earlier: Sequence[Picture]) -> dict[str, str]:
    """Return what the nodes that differ from the earlier graph most like this one were there."""

    def differs(other: Picture) -> dict[str, str]:
        old = {n.id: (n.label, n.shape) for n in other.nodes}
        pairs = [(n.id, (n.label, n.shape)) for n in graph.nodes]
        return {i: old.get(i, ("",))[0] for i, now in pairs if now != old.get(i)}

    return min(map(differs, reversed(earlier)), key=len, default={})


def _signature(trace: Trace) -> Pair:
    """Return the arguments that a trace was made for, in both languages."""
    shown = [[f"{part.place}: {part.shown[i]}" for part in trace.parts] or ["()"] for i in (0, 1)]
    return ", ".join(shown[0]), ", ".join(shown[1])

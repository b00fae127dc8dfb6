"""`viz.traces`: the cache of a function, call by call, and what forced each trace."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from minigrad.core.events import Recording
from minigrad.hybrid.tracing import Function
from minigrad.hybrid.tracing.traces import Trace, listed
from viz.film.frames import film_and_steps
from viz.page.board import Board
from viz.page.scenes import Panel, Scene, Sheet
from viz.page.steps import lane_of_calls
from viz.picture.boxes import Picture
from viz.picture.picture import brief, picture
from viz.picture.union import Names, renamed, union
from viz.words.text import ROWS, Pair, printed, row

__all__ = ["traces"]

HEAD = ("traces_call", "traces_trace", "traces_event", "traces_arguments", "traces_why")


@dataclass(frozen=True)
class Call:
    """One call, or several that a trace served, and whether a trace was made for it."""

    numbers: str
    trace: Trace
    new: bool


def traces(f: Function, log: Recording | None = None) -> Board:
    """A board with the cache table of a function: which call made a trace, and what forced it.

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
        raise TypeError(printed("traces_function", value=brief(f if log is None else log)))
    calls = _from_cache(f) if log is None else _from_recording(f, log)
    known: dict[Trace, int] = {trace: i for i, trace in enumerate(f.cache, 1)}
    drawn = _drawn([call.trace for call in calls])
    among = union(*drawn.values()) if drawn else None
    scenes, rows, columns = [], [], []
    for i, call in enumerate(calls):
        number = str(known.get(call.trace, "–"))
        reason = listed(call.trace.reasons) if call.new else ("–", "–")
        key = "traces_made" if call.new else "traces_used"
        about = {"call": call.numbers, "number": number}
        caption = row(key, **about, why=reason) if call.new else row(key, **about)
        scenes.append(Scene(caption, (_panel(call, number, drawn, among),), (), i))
        event = ROWS["traces_new"] if call.new else ROWS["traces_hit"]
        cells = ((call.numbers,) * 2, (number,) * 2, event, _signature(call.trace), reason)
        rows.append(cells)
        trace = row("traces_column_new", number=number) if call.new else ROWS["traces_column_hit"]
        columns.append((row("traces_column", call=call.numbers), trace))
    sheet = Sheet(tuple(ROWS[key] for key in HEAD), tuple(rows), told=True)
    made = sum(call.new for call in calls)
    verdict = row("traces_total", function=f.__name__, calls=len(calls), traces=made)
    told = row("traces_cache", function=f.__name__, traces=len(calls))
    said = verdict if log is not None else told
    heading = ROWS["page_traces"]
    lanes = [_lane(f, log, among, columns)] if log is not None and among is not None else []
    return Board(scenes, sheet, said, ROWS["traces_call"], heading=heading, moves=True, lanes=lanes)


def _lane(
    f: Function, log: Recording, among: Picture, columns: Sequence[tuple[Pair, Pair]]
) -> dict[str, Any]:
    """When each line of the function was built, and in which calls it ran."""
    film, steps = film_and_steps(among, log.events)
    starts = [at for at, e in zip(steps, log.events, strict=True) if _begins(f, e)]
    return lane_of_calls(film, "t", starts) | {"columns": columns}


def _begins(f: Function, event: Any) -> bool:
    """Whether a call of the function begins."""
    return event.kind in ("traced", "hit") and event.node.function is f


def _from_recording(f: Function, log: Recording) -> list[Call]:
    """The calls in the order in which they were made."""
    events: list[Any] = [e for e in log.events if _begins(f, e)]
    return [Call(str(i), e.node, e.kind == "traced") for i, e in enumerate(events, 1)]


def _from_cache(f: Function) -> list[Call]:
    """The calls that made the traces that there are."""
    return [Call(str(trace.made), trace, True) for trace in f.cache]


def _drawn(traces: list[Trace]) -> dict[Trace, Picture]:
    """The graph of each trace that was made; what one line does in all of them is one node."""
    names = Names(lambda n: (n.kind, n.op, n.line) if n.inputs else (n.kind, n.op, n.label))
    whole = {t: picture(t.graph) for t in dict.fromkeys(traces) if hasattr(t, "concrete")}
    return {trace: renamed(drawn, names.of(drawn)) for trace, drawn in whole.items()}


def _panel(call: Call, number: str, drawn: dict[Trace, Picture], among: Picture | None) -> Panel:
    """The graph of the trace, its nodes where they stand in all traces."""
    title = row("traces_graph", number=number, calls=call.trace.calls)
    if call.trace not in drawn:
        return Panel(title, message=ROWS["traces_failed"])
    own = drawn[call.trace]
    marks = dict.fromkeys((n.id for n in own.nodes), "new") if call.new else {}
    return Panel(title, own, marks, among=among)


def _signature(trace: Trace) -> Pair:
    """The arguments that a trace was made for, in both languages."""
    english, chinese = (
        ", ".join(f"{part.place}: {part.shown[i]}" for part in trace.parts) or "()" for i in (0, 1)
    )
    return english, chinese

"""`viz.branches`: one function eager, static, traced and scripted, and which arm runs in each."""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Callable, Sequence, Set
from dataclasses import replace
from typing import Any

import numpy as np

import minigrad as mg
from minigrad.diagnostics.errors import GraphError
from minigrad.hybrid.tracing import Function, Traced
from minigrad.static import Graph, without_listeners
from viz.page.board import Board
from viz.page.scenes import Panel, Scene, Sheet
from viz.page.sliders import Sliders
from viz.picture.boxes import Picture
from viz.picture.marks import ran
from viz.picture.picture import brief
from viz.views.execution_modes import (
    Mode,
    Run,
    numbers_of_call,
    place_of,
    run_called,
    run_eager,
    run_static,
    shown,
    static_graph,
    traced,
)
from viz.views.step import argument_names
from viz.words.text import ROWS, Pair, listed, row, row_text

__all__ = ["branches"]

WAYS = ("eager", "static", "trace", "script")
STEPS = 9  # positions of the slider, from minus the example to the example


def branches(
    f: Callable[..., Any],
    *example: Any,
    inputs: Sequence[Any] | None = None,
    cond: Callable[..., Any] | None = None,
    ways: Sequence[str] = WAYS,
) -> Board:
    """Show a function eager, static, traced and scripted on a board, with a slider of inputs.

    f: a function of tensors, with Python's own `if` and `while`, or with `mg.cond` and
    `mg.while_loop`. example: its arguments, on which it is traced. inputs: what the slider goes
    through, a value (or a tuple of arguments) for each position; by default from minus the example
    to the example. While a kernel is there, the numbers of an example of at most three have sliders
    of their own: what they are moved to becomes the last position. cond: the same function written
    with `mg.cond`, for the static graph. ways: which of "eager", "static", "trace", "script" to
    show. What runs is lit; what is in the graph and does not run is dashed; what only the eager
    graph of another input holds is dotted; the arm baked into the trace is marked where it gives
    another result than Python. Raises TypeError where f is no function, ValueError for other ways,
    and what f raises.

    >>> import minigrad as mg, viz
    >>> def f(x):
    ...     return 2 * x if x > 0 else x - 1
    >>> board = viz.branches(f, 3.0, inputs=[3.0, -3.0])
    >>> [scene.caption[0] for scene in board.scenes]
    ['x = 3 gives: eager 6, trace 6, script 6', 'x = -3 gives: eager -4, trace -6 ✗, script -4']
    """
    if not callable(f):
        raise TypeError(row_text("branches_function", value=brief(f)))
    if not ways or not set(ways) <= set(WAYS):
        raise ValueError(row_text("branches_ways", known=", ".join(WAYS), value=brief(ways)))
    f = f.python_function if isinstance(f, (Function, Traced)) else f
    names = argument_names(f, len(example))
    first = tuple(_array(x) for x in example)
    rows = [_arguments(x, first) for x in (_around(first) if inputs is None else inputs)]
    sliders = Sliders(zip(range(len(first)), names, first, strict=True))

    def moved(positions: list[float]) -> Board:
        given = sliders.inputs(positions)
        return compared([*rows, tuple(given.get(i, x) for i, x in enumerate(first))])

    def numbers(positions: list[float]) -> Graph:
        given = sliders.inputs(positions)
        values = [given.get(i, x) for i, x in enumerate(first)]
        return numbers_of_call(f, values, [*given], first if "trace" in ways else None)

    def compared(rows: list[tuple[Any, ...]]) -> Board:
        with without_listeners():
            eager = run_eager(f, rows, names)
            made = {
                "eager": lambda: eager,
                "static": lambda: _tried(
                    lambda: run_static(static_graph(cond or f, first, names), rows, names)
                ),
                "trace": lambda: run_called(traced(f, first), rows),
                "script": lambda: _tried(lambda: run_called(mg.script(f), rows)),
            }
            tried = {key: made[key]() for key in WAYS if key in ways}
        able = {key: way for key, way in tried.items() if way.picture is not None}
        alike = _group_equal(tried)
        source = _source(f, [run.lines for run in eager.runs])
        traced_on = _named(names, first)
        scenes: list[Scene] = []
        for i, values in enumerate(rows):
            panels = source[i : i + 1]
            panels += [_panel(x, tried[x[0]], i, eager.runs[i], traced_on) for x in alike]
            inputs_text = _named(names, values)
            caption = row("branches_step", inputs=inputs_text, results=_results(able, i))
            facts = tuple(_facts(able, alike, i))
            if scenes:
                pairs = zip(panels, scenes[-1].panels, strict=True)
                panels = [replace(new, alike=_marks(new) == _marks(old)) for new, old in pairs]
            positions = sliders.positions(dict(enumerate(values)))
            scenes.append(Scene(caption, tuple(panels), facts, i, inputs_text, positions))
        ops = {n.op for way in able.values() if way.picture for n in way.picture.nodes}
        board = Board(
            scenes,
            _sheet(names, rows, able),
            slider=row("branches_slider"),
            sliders=sliders.shown,
            moved=moved,
            numbers=numbers,
            heading=ROWS["page_loops" if "While" in ops and "Cond" not in ops else "page_branches"],
        )
        wrong = (i for way in able.values() for i, run in enumerate(way.runs) if not run.right)
        board.index = next(wrong, board.index)
        return board

    return compared(rows)


def _marks(panel: Panel) -> Any:
    return panel.marks, panel.code, panel.message


def _named(names: Sequence[str], values: Sequence[Any]) -> str:
    return ", ".join(f"{n} = {shown(x)}" for n, x in zip(names, values, strict=True))


def _array(x: Any) -> Any:
    """Convert an argument to an array; Python floats become float32, as in `mg.tensor`."""
    array = np.asarray(getattr(x, "data", x))
    return array.astype(mg.float32) if array.dtype == mg.float64 else array


def _arguments(x: Any, first: tuple[Any, ...]) -> tuple[Any, ...]:
    given = x if isinstance(x, tuple) else (x, *first[1:])
    pairs = zip(given, first, strict=True)
    return tuple(np.asarray(_array(value)).astype(like.dtype) for value, like in pairs)


def _around(first: tuple[Any, ...]) -> list[Any]:
    """Return the example times −1 … 1; integers once each."""
    scaled = ((x * k).astype(x.dtype) for x in first[:1] for k in np.linspace(-1, 1, STEPS))
    return list({x.tobytes(): x for x in scaled}.values())


def _tried(make: Callable[[], Mode]) -> Mode:
    """Say where there is no graph, and why; the panel of the source shows the places."""
    try:
        return make()
    except GraphError as error:
        key = "branches_undecided" if error.key == "symbolic_bool" else "branches_unbuilt"
        why = tuple(half.splitlines()[0] for half in error.pair)
        return Mode(None, problem=row(key, why=why))


def _result(run: Run) -> str:
    """Return a way's result, "!" added if right by chance: a decision went the other way."""
    return run.result + (" ✗" if not run.right else " !" if run.turn is not None else "")


def _results(able: dict[str, Mode], i: int) -> Pair:
    """List each way's result on one line."""
    entries = [(*row(f"branches_{key}"), _result(way.runs[i])) for key, way in able.items()]
    return listed(((f"{en} {value}", f"{zh} {value}") for en, zh, value in entries), ", ", "，")


def _group_equal(tried: dict[str, Mode]) -> list[tuple[str, ...]]:
    """Group the ways: those that run the same graph in the same way are shown once."""
    groups: dict[Any, tuple[str, ...]] = {}
    for key, way in tried.items():
        same: Any = key
        if way.picture is not None and key in ("static", "script"):
            nodes = [
                (n.id, n.kind, n.op, n.name, n.shape, n.inputs, n.group) for n in way.picture.nodes
            ]
            runs = [(sorted(r.nodes), tuple(sorted(r.values.items())), r.result) for r in way.runs]
            same = repr((nodes, runs))
        groups[same] = (*groups.get(same, ()), key)
    return list(groups.values())


def _joined(keys: tuple[str, ...], what: str, *between: str, **about: str) -> Pair:
    """Join the texts of several ways that are shown once."""
    return listed((row(f"branches_{what}{key}", **about) for key in keys), *between)


def _panel(keys: tuple[str, ...], way: Mode, i: int, eager: Run, traced_on: str) -> Panel:
    key, title = keys[0], _joined(keys, "", " and ", "、")
    if len(keys) > 1:
        title = row("branches_once", ways=title)
    if way.picture is None:
        return Panel(title, message=way.problem)
    run = way.runs[i]
    other = "absent" if key == "eager" else "ghost"
    marks = {n.id: other for n in way.picture.nodes if n.id not in run.nodes}
    marks |= {e.id: other for e in way.picture.edges if marks.keys() & {e.source, e.target}}
    marks |= ran(way.picture, run.nodes)
    if key == "trace":
        marks |= _mark_baked(way.picture, run, eager)
    shown_ids = {n.id for n in way.picture.nodes if n.kind != "constant" and n.id in run.nodes}
    held = {k: value for k, value in run.values.items() if k in shown_ids}
    notes = {k: value.short for k, value in held.items()}
    about = _joined(keys, "about_", "; ", "；", inputs=traced_on)
    return Panel(title, way.picture, marks, notes, held, message=about)


def _mark_baked(drawn: Picture, run: Run, eager: Run) -> dict[str, str]:
    """Mark operations of the trace that Python does not do for this input, by their effect."""
    left = Counter(eager.places)
    surplus = []
    for node, i in drawn.ids.items():
        if node.inputs and i in run.nodes:
            place = place_of(node)
            left[place] -= 1
            if left[place] < 0 and run.turn is not None:
                surplus.append(i)
    if not run.right and not surplus:  # Python does more than the trace: a loop cut short
        surplus = [n.id for n in drawn.nodes if n.is_output]
    return dict.fromkeys(surplus, "baked" if run.right else "wrong")


def _facts(able: dict[str, Mode], alike: list[tuple[str, ...]], i: int) -> list[Pair]:
    """Count what is in each graph and what of it runs; once for loops that are alike."""
    facts, loops = [], []
    for keys in (keys for keys in alike if keys[0] in able):
        key, way, name = keys[0], able[keys[0]], _joined(keys, "", " and ", "、")
        run, drawn = way.runs[i], way.picture
        lit = len(ran(drawn, run.nodes)) if drawn else 0
        if run.turn is not None:
            before, now = run.turn
            fields = {"way": name, "line": before.text, "was": before.outcome, "now": now.outcome}
            facts.append(row("branches_turn", **fields))
        if key == "eager":
            told = f"branches_tape{'_test' * (run.ran > lit)}"
            facts.append(row(told, way=name, nodes=len(run.nodes), n=lit, ran=run.ran))
        elif key != "trace" and drawn is not None:
            nodes = {n.id for n in drawn.nodes}
            used, idle = len(nodes & run.nodes), len(nodes - run.nodes)
            told = "branches_idle" if idle else "branches_sizes"
            facts.append(row(told, way=name, nodes=len(nodes), used=used, idle=idle, ran=run.ran))
            if run.steps:
                loops.append(row("branches_loop", steps=sum(run.steps.values())))
    return [*facts, *dict.fromkeys(loops)]


def _sheet(names: list[str], rows: Any, able: dict[str, Mode]) -> Sheet:
    head = (*((name, name) for name in names), *(row(f"branches_{key}") for key in able))
    given = [[shown(x) for x in values] for values in rows]
    lines = ([*x, *(_result(way.runs[i]) for way in able.values())] for i, x in enumerate(given))
    return Sheet(head, tuple(tuple((cell, cell) for cell in line) for line in lines))


def _source(f: Any, ran_at: list[Set[Any]]) -> list[Panel]:
    """Return a function's source for each input, marking the lines that were reached."""
    try:
        lines, start = inspect.getsourcelines(f)
    except (OSError, TypeError):  # typed where nobody keeps the source
        return []
    file = getattr(getattr(f, "__code__", None), "co_filename", "")
    found = [{x.span[0] - start for x in ran if x.filename == file} for ran in ran_at]
    others = dict.fromkeys(set().union(*found), "ghost")
    each = (others | dict.fromkeys(there, "ran") for there in found)
    codes = (((k.get(i, ""), x.rstrip("\n")) for i, x in enumerate(lines)) for k in each)
    return [Panel(row("branches_source"), code=tuple(code)) for code in codes]

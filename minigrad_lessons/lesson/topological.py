"""Show every order in which a graph can be computed, and the one result."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

import minigrad as mg
from minigrad.core.structure import flatten
from minigrad.static import Graph, Node, without_listeners
from minigrad.static.feeds import check_feeds
from minigrad.static.run import Interpreter
from viz.page.board import Board
from viz.page.scenes import Panel, Scene, Sheet
from viz.picture.boxes import Picture
from viz.picture.picture import brief, picture
from viz.picture.summary import Summary, summarize
from viz.views.draw import names_in
from viz.views.execution_modes import shown
from viz.words.text import ROWS, Pair, row, row_text

__all__ = ["topological_orders"]

MOST = 24  # orders; more cannot be looked through


def topological_orders(
    graph: Graph, feed_dict: Mapping[Any, Any] | None = None, most: int = MOST
) -> Board:
    """Show a graph run in each of its topological orders, operator by operator, on a board.

    At each step the nodes that are done, the one that runs, and those that are ready are marked.
    The first `most` orders are shown; variables have their first values. TypeError for anything
    but a graph, and what `mg.run` raises.

    >>> import minigrad as mg, minigrad_lessons as lessons
    >>> with mg.Graph():
    ...     a = mg.placeholder("a")
    ...     graph = mg.build_graph(a, mg.sin(a) + mg.cos(a))
    >>> for scene in lessons.topological_orders(graph, {"a": 0.0}).scenes[:3]:
    ...     print(scene.caption[0])
    order 1 of 2: nothing has run yet. Ready: Sin, Cos
    order 1 of 2, step 1: Sin = 0. Ready next: Cos
    order 1 of 2, step 2: Cos = 1. Ready next: Add
    """
    if not isinstance(graph, Graph) or not graph.outputs:
        raise TypeError(row_text("orders_graph", value=brief(graph)))
    found = list(itertools.islice(graph.orders(), most + 1))
    tried, more = found[:most], len(found) > most
    drawn = picture(graph, names_in(sys._getframe(1)))
    labels = {box.id: box.label for box in drawn.nodes}
    named = {node: labels[i] for node, i in drawn.ids.items()}
    scenes: list[Scene] = []
    lines, results = [], []
    with without_listeners():
        for number, order in enumerate(tried):
            values, result = _run(graph, order, feed_dict)
            results.append(result)
            steps = [n for n in order if n.inputs or n.controls]
            said = " → ".join(named[n] for n in steps)
            lines.append(tuple((cell, cell) for cell in (str(number + 1), said, shown(result))))
            about = row("orders_order", number=number + 1, count=len(tried))
            scenes += _scenes(drawn, named, order, steps, values, about, number)
    equal = len({tuple(x.tobytes() for x in flatten(r)[0]) for r in results}) == 1
    key = "equal" if equal and len(tried) > 1 else "one" if equal else "unequal"
    verdict = row(f"orders_{key}", count=len(tried))
    if more:
        verdict = row("orders_more", verdict=verdict, most=most)
    head = tuple(ROWS[f"orders_{key}"] for key in ("number", "sequence", "result"))
    return Board(
        scenes,
        Sheet(head, tuple(lines)),
        verdict,
        slider=ROWS["orders_slider"],
        heading=ROWS["page_orders"],
    )


def _run(graph: Graph, order: Sequence[Node], feed_dict: Any) -> tuple[dict[Node, Summary], Any]:
    """Run a graph in this order; return the value of each node, and the result."""
    again = graph.reordered(order)
    variables = {v: np.array(v.attrs["value"])[()] for v in again.variables}
    with mg.record(values=True) as log:
        result = Interpreter(list(again.outputs))(check_feeds(again, feed_dict), variables)
    back = dict(zip(again.nodes, order, strict=True))
    events = log.of_kind("run", "read")
    values = {e.node: summarize(e.value) for e in events}
    return {node: values[n] for n, node in back.items() if n in values}, result


def _scenes(
    drawn: Picture,
    named: Mapping[Any, str],
    order: Sequence[Node],
    steps: Sequence[Node],
    values: Mapping[Node, Summary],
    about: Pair,
    number: int,
) -> list[Scene]:
    """Return a scene before the first step of an order, and one after each step."""
    done = [n for n in order if not (n.inputs or n.controls)]
    scenes = []
    for step in range(len(steps) + 1):
        now = steps[step - 1] if step else None
        done += [now] if now is not None else []
        known = {*done}
        ready = [n for n in steps if n not in known and {*n.inputs, *n.controls} <= known]
        marks = dict.fromkeys(steps, "waits") | dict.fromkeys(ready, "ready")
        marks |= {n: "ran" for n in done if n.inputs or n.controls}
        marks |= {now: "now"} if now is not None else {}
        held = {drawn.ids[n]: values[n] for n in done if n in values}
        notes = {i: value.short for i, value in held.items()}
        names = [named[n] for n in ready]
        names_pair = (", ".join(names), "、".join(names))
        rest = row("orders_ready", nodes=names_pair) if ready else ROWS["orders_done"]
        if now is None:
            caption = row("orders_begin", order=about, nodes=names_pair)
        else:
            value = {"node": named[now], "value": values[now].said if now in values else ""}
            caption = row("orders_step", order=about, step=step, ready=rest, **value)
        shown = {drawn.ids[n]: kind for n, kind in marks.items()}
        panel = Panel(ROWS["orders_panel"], drawn, shown, notes, held, omitted=("waits",))
        scenes.append(Scene(caption, (panel,), row=number))
    return scenes

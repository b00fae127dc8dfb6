"""`viz.checkpoints`: less memory for a second run of forward values, budget by budget."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np

from minigrad.diagnostics.errors import GraphError
from minigrad.dynamic.tensor import Tensor
from minigrad.passes import recompute
from minigrad.static import Graph, Node
from minigrad.static.run import Interpreter
from viz.charts.held import Planned, as_input, graph_of, plan_of
from viz.charts.memory import size
from viz.page.board import Board
from viz.page.document import FONT
from viz.page.scenes import Panel, Scene, Sheet
from viz.picture import theme
from viz.picture.cards import bilingual
from viz.picture.picture import brief, graph_picture
from viz.picture.style import MODES, TINTS
from viz.picture.summary import difference_text
from viz.views.passes import ResultCheck
from viz.words.text import ROWS, Pair, both, row, row_text

__all__ = ["checkpoints"]

POSITIONS = 8  # of the slider, from no budget to the least
SOURCES = ("Placeholder", "Variable", "Constant")
HEAD = ("budget", "bytes", "again", "kernels")
HEIGHT, ABOVE, BELOW = 130, 37, 20  # pixels
STEADY = "stroke-width:1.4;vector-effect:non-scaling-stroke"  # however it is stretched


@dataclass(frozen=True)
class Choice:
    """One position: the graph within a budget, what is computed again in it, and its plan."""

    budget: int | None
    graph: Graph
    again: frozenset[Node]
    planned: Planned
    kernels: int


def checkpoints(obj: Graph | Callable[..., Any], *inputs: Any) -> Board:
    """Show on a board, by memory budget, what is kept, what is recomputed, and the bytes.

    obj: a graph with gradients from `mg.build_graph`, all shapes known; or a function (or layer) of
    tensors, with arrays for it, which is differentiated. At each budget `mg.passes.recompute` is
    applied, the memory planned, and the graph run on random inputs and compared bit for bit.
    Raises TypeError for other things, GraphError for open shapes.

    >>> import minigrad as mg, numpy as np, viz
    >>> def deep(x):
    ...     for _ in range(8):
    ...         x = mg.tanh(x)
    ...     return x
    >>> for scene in viz.checkpoints(deep, np.ones(1000)).scenes[:2]:
    ...     print(scene.caption[0])
    no budget: values kept for the backward pass: 8, computed again: none
    budget 38.3 kB: values kept: 7, computed again: 1
    """
    if isinstance(obj, Graph) and obj.outputs and not inputs:
        graph = obj
    elif callable(obj) and not isinstance(obj, (Tensor, Node, Graph)):
        graph = graph_of(obj, [as_input(x) for x in inputs])
    else:
        raise TypeError(row_text("checkpoints_kind", value=brief(obj)))
    choices, least = _choices(graph)
    drawn = ResultCheck(graph, None, None)
    first = _results(graph, drawn)
    picture = graph_picture(_forward(graph), set(graph.outputs), {})
    scenes, rows = [], []
    ends = {"whole": size(choices[0].planned.arena), "least": size(choices[-1].planned.arena)}
    for i, choice in enumerate(choices):
        nodes = dict.fromkeys(_saved(choice, graph), "kept") | dict.fromkeys(choice.again, "again")
        marks = {picture.ids[n]: kind for n, kind in nodes.items() if n in picture.ids}
        peak = _peak_text(choice)
        panels = (
            Panel(ROWS["checkpoints_use"], svg=_area(choice, choices[0], peak)),
            Panel(ROWS["checkpoints_forward"], picture, marks),
        )
        counts = {"kernels": choice.kernels, "before": choices[0].kernels, **ends}
        arena = row("checkpoints_arena", arena=size(choice.planned.arena), **counts)
        gap = difference_text([*zip(first, _results(choice.graph, drawn), strict=True)])
        proof = gap == ROWS["passes_equal"] and row("checkpoints_proof", count=len(first))
        facts = [peak, arena, proof or ROWS["checkpoints_unequal"]]
        facts += [row("checkpoints_least", least=size(least))] if i == len(choices) - 1 else []
        scenes.append(Scene(_caption(choice, graph), panels, tuple(facts), i))
        rows.append(_cells(choice))
    sheet = Sheet(tuple(ROWS[f"checkpoints_{key}"] for key in HEAD), tuple(rows))
    heading = row("page_checkpoints", again=len(choices[-1].again), **ends)
    return Board(scenes, sheet, slider=ROWS["checkpoints_slider"], heading=heading)


def _choices(graph: Graph) -> tuple[list[Choice], int]:
    """Return the graph without a budget, then within budgets down to the least that is found."""
    found = [_choice(graph, None)]
    whole = least = found[0].planned.arena
    try:
        graph.optimize([recompute(1)])
    except GraphError as error:
        if error.key != "recompute_budget":
            raise
        least = min(whole, int(str(error.fields["least"])))
    for budget in np.linspace(whole, least, POSITIONS + 1)[1:] if least < whole else ():
        choice = _choice(graph, int(np.ceil(budget)))
        if choice.again and choice.again != found[-1].again:
            found.append(choice)
    return found, least


def _choice(graph: Graph, budget: int | None) -> Choice:
    after = graph if budget is None else graph.optimize([recompute(budget)])
    changes = after.history[-1].changes if budget is not None else ()
    again = frozenset(node for change in changes for node in change.before)
    program = after.compile(optimize=False)
    return Choice(budget, after, again, plan_of(program), program.kernels)


def _forward(graph: Graph) -> list[Node]:
    """Return the forward pass: the nodes before the first one of the backward pass."""
    gradients = (i for i, n in enumerate(graph.nodes) if "gradients" in n.scope.split("/"))
    return list(graph.nodes)[: next(gradients, None)]


def _saved(choice: Choice, graph: Graph) -> set[Node]:
    """Return the forward values that something after the forward pass reads."""
    forward = set(_forward(graph))
    late = {x for n in choice.graph.nodes if n not in forward for x in n.inputs}
    return {n for n in forward & late if n.op.name not in SOURCES and n.shape != ()}


def _results(graph: Graph, drawn: ResultCheck) -> list[Any]:
    """Return what a graph computes for inputs drawn at random."""
    feeds = {n: drawn.feeds[graph.labels[n]] for n in graph.placeholders}
    kept = {v: np.array(drawn.variables[graph.labels[v]])[()] for v in graph.variables}
    return [np.asarray(x) for x in Interpreter(list(graph.outputs))(feeds, kept)]


# ---- What is written and drawn ----------------------------------------------------------------


def _caption(choice: Choice, graph: Graph) -> Pair:
    counts = {"kept": len(_saved(choice, graph)), "again": len(choice.again)}
    key = "checkpoints_whole" if choice.budget is None else "checkpoints_step"
    return row(key, budget=size(choice.budget or 0), **counts)


def _cells(choice: Choice) -> tuple[Pair, ...]:
    budget = "" if choice.budget is None else size(choice.budget)
    cells = (size(choice.planned.arena), str(len(choice.again)), str(choice.kernels))
    return (ROWS["checkpoints_none"] if not budget else (budget, budget), *((c, c) for c in cells))


def _peak_text(choice: Choice) -> Pair:
    held = choice.planned.held
    peak = int(held.max(initial=0))
    return row("checkpoints_peak", peak=size(peak), at=[*held, 0].index(peak), steps=len(held))


def _area(choice: Choice, first: Choice, peak: Pair) -> str:
    """Draw the bytes in use, step by step; as large as there is room, without stretching words."""
    held, budget, boundary = choice.planned.held, choice.budget, choice.planned.boundary
    top, last = int(first.planned.held.max(initial=1)), max(len(held), 1)

    def high(count: float) -> float:
        return round(HEIGHT - BELOW - (HEIGHT - ABOVE - BELOW) * count / top, 1)

    def outline(held: Any, fill: str, stroke: str) -> str:
        corners = [(k + side, high(int(x))) for k, x in enumerate(held) for side in (0, 1)]
        points = " ".join(f"{x},{y}" for x, y in [(0, high(0)), *corners, (len(held), high(0))])
        return f'<polygon points="{points}" style="fill:{fill};stroke:{stroke};{STEADY}"/>'

    fill, stroke = (f"light-dark({a}, {b})" for a, b in (TINTS["static"], MODES["static"]))
    shapes = [outline(held, fill, stroke)]
    now, at = int(held.max(initial=0)), int(first.planned.held.argmax()) + 0.5
    axis = (0, "0", "start"), (50, bilingual(row("chart_step")), "middle"), (100, str(last), "end")
    texts = [_text(x, HEIGHT - 6, *words) for x, *words in axis]
    begin = 100 * (boundary or 0) / last + 2
    texts.append(_text(begin, high(top) - 5, bilingual(row("checkpoints_before", size=size(top)))))
    if boundary is not None:
        shapes.append(_line((boundary, high(0)), (boundary, 16), "grad", "2 3"))
        begins = bilingual(row("chart_backward"))
        texts.append(_text(100 * boundary / last, 12, begins, "middle", "grad"))
    if budget:
        shapes.append(outline(first.planned.held, "none", _color("line")))
        shapes.append(_line((0, high(budget)), (last, high(budget)), "ink", "6 4"))
        limit = bilingual(row("checkpoints_budget_line", size=size(budget)))
        line = high(budget) + (-5 if high(budget) > high(top) + 20 else 14)  # clear of other words
        texts.append(_text(100, line, limit, "end", "ink"))
        within = bilingual(row("checkpoints_now", now=size(now)))
        texts.append(_text(begin, high(0) - 6, within, color=stroke))
        shapes.append(_line((at, high(top)), (at, high(now)), "ink"))
        tip = f'<path d="M-4,-7H4L0,0Z" style="fill:{_color("ink")}"/></svg>'
        place = f'x="{100 * at / last:.1f}%" y="{100 * high(now) / HEIGHT:.1f}%"'
        texts.append(f'<svg {place} overflow="visible">{tip}')
    return (
        f'<svg role="img" aria-label="{escape(both(peak))}" width="100%" height="{HEIGHT}" '
        f'style="display:block;height:calc({HEIGHT}px + var(--mg-taller, 0px));{FONT}">'
        f'<svg width="100%" height="100%" '
        f'viewBox="0 0 {last} {HEIGHT}" preserveAspectRatio="none">{"".join(shapes)}</svg>'
        f"{''.join(texts)}</svg>"
    )


def _color(token: str) -> str:
    return f"var(--mg-{token}, {theme.TOKENS[token][0]})" if token in theme.TOKENS else token


def _line(a: tuple[float, float], b: tuple[float, float], token: str, dash: str = "none") -> str:
    style = f"stroke:{_color(token)};stroke-dasharray:{dash};{STEADY}"
    return f'<path d="M{a[0]},{a[1]}L{b[0]},{b[1]}" style="{style}"/>'


def _text(part: float, y: float, words: str, anchor: str = "start", color: str = "soft") -> str:
    """Return an SVG text at a height of the lowest chart, and at a fraction of the width."""
    style = f"font-size:{theme.SMALL}px;fill:{_color(color)};text-anchor:{anchor}"
    return f'<text x="{part:.1f}%" y="{100 * y / HEIGHT:.1f}%" style="{style}">{words}</text>'

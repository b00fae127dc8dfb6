"""Memory over time: what the tape holds while it runs, and what a program plans before it runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from minigrad.compiler import Program
from minigrad.dynamic.tensor import Tensor
from minigrad.passes.plan import ALIGNMENT
from minigrad.static import Node
from viz.charts.caption import BEHIND, axes_width, caption, is_slim
from viz.charts.chart import Chart, Row, heads
from viz.charts.held import Life, Measured, Planned, as_input, graph_of, measured_of, plan_of
from viz.picture import mpl, theme
from viz.picture.cards import wide
from viz.picture.style import MODES, TICK, TINTS, VALUES
from viz.picture.theme import SMALL
from viz.words.text import Pair, row, row_text

__all__ = ["memory"]

LISTED = 40  # values in the table
MANY = 30  # values, above which their edges are finer
NAMED = 16  # values that have their names beside them, where there are no more
GAP = 1.1  # inches between two panels
FLAT = 8  # times as high as the arena: a scale of its own
INNER = 14  # pixels: an area so high has room for a name


def memory(obj: Program | Callable[..., Any], *inputs: Any, backward: bool = True) -> Chart:
    """Chart memory: how long values live, where they are in the arena, how much is in use.

    obj: a program, for the shapes of its latest run or those declared; or a function (or layer) of
    tensors, with arrays for it. A function is differentiated both ways: as a dynamic graph, which
    is recorded while it runs, and as a program, whose memory is planned; both on one chart. With
    `backward=False` it is only called: nothing is recorded, and the program has no gradients. What
    kernels need while they work and the objects of Python count in neither.

    Raises TypeError for other things, and GraphError for a program with open lengths that never
    ran.

    >>> import minigrad as mg
    >>> x = mg.placeholder("x", shape=(1000,))
    >>> program = mg.build_graph(x, mg.exp(mg.tanh(mg.sin(x))).sum()).compile(optimize=False)
    >>> memory(program).rows[0][0][1:]
    ('1', '2', '4 kB', '0', '')
    """
    measured = None
    if isinstance(obj, Program) and not inputs:
        planned = plan_of(obj)
    elif callable(obj) and not isinstance(obj, (Tensor, Node)):
        arrays = [as_input(x) for x in inputs]
        planned = plan_of(graph_of(obj, arrays, backward).compile())
        measured = measured_of(obj, arrays, backward)
    else:
        raise TypeError(row_text("memory_unknown", value=type(obj).__name__))
    sizes = {"arena": size(planned.arena), "apart": size(planned.apart)}
    facts = {**sizes, "values": len(planned.lives), "retained": size(planned.retained)}
    alt = row("chart_memory_alt", **facts)
    title = row("chart_memory_shared" if planned.arena < planned.apart else "chart_memory", **sizes)
    if measured is not None:
        held = planned.arena + planned.results, measured.peak, measured.retained
        facts = dict(zip(("results", "peak", "retained"), map(size, held), strict=True))
        more, title = row("chart_memory_alt_eager", **facts), row("chart_memory_both", **facts)
        alt = alt[0] + " " + more[0], alt[1] + more[1]
    return Chart(
        title=title,
        alt=alt,
        head=heads("value", "first_step", "last_step", "bytes", "offset", "retained"),
        rows=tuple(_rows(planned, measured)),
        draw=lambda figure, i: _draw(figure, planned, measured, i),
        size=(7.0, wide := _total_height(heights := _heights(planned, measured))),
        pad=34,
        more=_total_height([*heights, *heights]) - wide,
    )


def size(count: float) -> str:
    """Format a number of bytes with a suitable unit.

    >>> [size(x) for x in (12, 4000, 2.5e6)]
    ['12 B', '4 kB', '2.5 MB']
    """
    scale, unit = _byte_unit(count)
    return f"{count / scale:.3g} {unit}"


def _byte_unit(count: float) -> tuple[float, str]:
    return (1.0, "B") if count < 1e3 else (1e3, "kB") if count < 1e6 else (1e6, "MB")


def _rows(planned: Planned, measured: Measured | None) -> list[tuple[Row, Row]]:
    found: list[tuple[Row, Row]] = []

    def add(pair: Pair, *cells: str) -> None:
        filled = (*cells, *[""] * (5 - len(cells)))
        found.append(((pair[0], *filled), (pair[1], *filled)))

    for x in planned.lives[:LISTED]:
        mark = "*" if x.retained else ""
        add((x.name, x.name), str(x.start), str(x.end), size(x.bytes), str(x.offset), mark)
    if len(planned.lives) > LISTED:
        add(row("chart_more", count=len(planned.lives) - LISTED))
    sums = {"arena": planned.arena, "apart": planned.apart, "kept_planned": planned.retained}
    if measured is not None:
        sums |= {"arena_results": planned.arena + planned.results, "eager_peak": measured.peak}
        sums["kept_eager"] = measured.retained
    for key, count in sums.items():
        add(row(f"chart_{key}"), "", "", size(count))
    return found


def _draw(figure: mpl.Figure, planned: Planned, measured: Measured | None, i: int) -> None:
    """Draw the bytes in use in each mode, then the values in their own buffers and in the arena."""
    *use, apart, shared = _panels(figure, _heights(planned, measured))
    ends = planned.begin, max(len(planned.alive), planned.begin + 1)
    if measured is not None:
        _measured(use[0], measured, i)
        _draw_plan(use[1], planned, i)
        if max(tops := [axes.get_ylim()[1] for axes in use]) <= 3 * min(tops):  # none is flat
            for axes in use:
                axes.set_ylim(0, max(tops))
    _arena(apart, planned, ends, i, each=True)
    _arena(shared, planned, ends, i, each=False)
    for axes in (*use[1:], apart, shared):
        axes.set_xlim(*ends)
        axes.xaxis.set_major_locator(mpl.MaxNLocator(integer=True))
        axes.set_xlabel(row("chart_step")[i])
        if planned.boundary is not None:
            axes.axvline(planned.boundary, **BACKWARD)


def _panels(figure: mpl.Figure, rows: Sequence[float]) -> list[mpl.Axes]:
    """Make axes, two in each row with these heights; in one column on a phone."""
    slim = is_slim(figure.get_figwidth())
    heights = np.repeat(rows, 1 + slim)
    gaps = {"hspace": GAP / heights.mean(), "height_ratios": heights, "wspace": 0.2}
    return [*figure.subplots(len(heights), 2 - slim, gridspec_kw=gaps).flat]


def _heights(planned: Planned, measured: Measured | None) -> list[float]:
    """Return the height of each row in inches; a named value has its own line of text."""
    named = len(planned.lives) if len(planned.lives) <= NAMED else 0
    return [*([1.5] if measured is not None else []), max(2.2, 0.15 * named)]


def _total_height(heights: Sequence[float]) -> float:
    return (sum(heights) + GAP * (len(heights) - 1)) / 0.77  # of a figure, matplotlib's margins off


def _measured(axes: mpl.Axes, measured: Measured, i: int) -> None:
    scale, unit = _byte_unit(measured.peak)
    held = measured.alive / scale
    axes.fill_between(range(len(held)), held, step="post", **_value_style(False, mode="dynamic"))
    axes.set_xlim(0, len(held) - 1)
    axes.set_ylim(0, max(held.max(), 1) * 1.08)
    axes.set_xlabel(row("chart_event")[i])
    caption(axes, row("chart_use_dynamic", unit=unit, peak=size(measured.peak))[i])


def _draw_plan(axes: mpl.Axes, planned: Planned, i: int) -> None:
    """Draw the bytes of values in the arena, and those of other results above them."""
    top = max(int(planned.alive.max(initial=1)), planned.arena)
    scale, unit = _byte_unit(top)
    steps = np.arange(planned.begin, len(planned.alive) + 1)
    both = planned.alive, planned.held
    alive, held = (np.append(x, x[-1:])[planned.begin :] / scale for x in both)
    results: dict[str, Any] = {"facecolor": CARD, "edgecolor": SOFT, "hatch": "\\\\\\\\", "lw": 0.8}
    axes.set_ylim(0, top / scale * 1.18)  # room for the names
    label, peak = row("chart_line_results")[i], int(np.argmax(alive - held))
    axes.fill_between(steps, held, alive, step="post", label=label, **results)
    _name(axes, (steps[peak], alive[peak]), label, steps)
    label = row("chart_line_held")[i]
    axes.fill_between(steps, held, step="post", label=label, **_value_style(False))
    _name(axes, (steps[int(np.argmax(held))], 0), label, steps)
    label = row("chart_line_arena")[i]
    axes.axhline(planned.arena / scale, color=INK, ls="--", lw=1.2, marker="", label=label)
    _name(axes, (steps[0], planned.arena / scale), label, steps)
    caption(axes, row("chart_use_static", unit=unit, arena=size(planned.arena))[i])


def _name_in(axes: mpl.Axes, x: Life, area: tuple[float, float, float, float]) -> None:
    """Write a name into the middle of an area, where it has room; the limits are final."""
    left, low, width, height = area
    pixels = axes.transData.transform([(left, low), (left + width, low + height)])
    wide_px, high_px = np.abs(pixels[1] - pixels[0]) * 96 / axes.figure.dpi
    if wide_px > wide(x.name, SMALL) + 4 and high_px > INNER:
        place: dict[str, Any] = {"ha": "center", "va": "center", "size": TICK}
        place |= {"bbox": BEHIND} if x.retained else {}  # it is hatched
        axes.text(left + width / 2, low + height / 2, x.name, **place)


def _aligned(axes: mpl.Axes, top: float, unit: str) -> None:
    """Put ticks where buffers may begin, if the axis counts single bytes; they have the unit."""
    axes.yaxis.set_major_formatter(f"{{x:g}} {unit}")
    if unit == "B":
        axes.set_yticks(range(0, int(top) + 1, ALIGNMENT * max(1, round(top / ALIGNMENT / 5))))


def _name(axes: mpl.Axes, at: tuple[float, float], label: str, steps: Any) -> None:
    """Write what a line or an area is where it is highest, on the side where there is room."""
    part = (at[0] - steps[0]) / max(steps[-1] - steps[0], 1)
    style: dict[str, Any] = {"textcoords": "offset points", "size": TICK, "bbox": BEHIND}
    side = "right" if part > 0.5 else "left"
    axes.annotate(label, at, (-6 if part > 0.5 else 6, 4), ha=side, va="bottom", **style)


INK, SOFT, CARD, GRAD = (theme.TOKENS[name][0] for name in ("ink", "soft", "card", "grad"))
BACKWARD: dict[str, Any] = {"color": GRAD, "ls": ":", "lw": 1.2, "marker": ""}


def _name_bar(axes: mpl.Axes, y: float, life: Life, ends: tuple[float, float]) -> None:
    """Write what a bar is in it, after it or before it, where there is room."""
    sides = {"within": life.end + 1 - life.start, "after": ends[1] - life.end - 1}
    sides["before"] = life.start - ends[0]
    name, pixel = life.name, (ends[1] - ends[0]) / axes_width(axes)
    fits = [side for side, room in sides.items() if room > (wide(name, SMALL) + 8) * pixel]
    side = fits[0] if fits else max(sides, key=lambda each: sides[each])
    while len(name) > 2 and sides[side] < (wide(name, SMALL) + 8) * pixel:
        name = name[:-2] + "…"
    middle = (life.start + life.end + 1) / 2
    at = {"after": life.end + 1, "before": life.start, "within": middle}[side]
    style: dict[str, Any] = {"textcoords": "offset points", "va": "center", "size": TICK}
    style |= {"ha": {"before": "right", "after": "left", "within": "center"}[side]}
    style |= {} if side == "within" and not life.retained else {"bbox": BEHIND}
    axes.annotate(name, (at, y), ({"before": -4, "after": 4, "within": 0}[side], 0), **style)


def _arena(axes: mpl.Axes, planned: Planned, ends: tuple[float, float], i: int, each: bool) -> None:
    """Draw where values are and how long: each in its own buffer, or sharing the arena."""
    total = planned.apart if each else planned.arena
    top = planned.apart if planned.apart <= FLAT * planned.arena else total
    scale, unit = _byte_unit(top or 1)
    axes.set_ylim(0, max(top, 1) / scale)
    axes.set_xlim(*ends)
    low, few = 0, len(planned.lives) <= NAMED
    for k, x in enumerate(planned.lives):
        look = _value_style(x.retained, len(planned.lives), value=k if few else None)
        begin = (low if each else x.offset) / scale
        area = (x.start, begin, x.end + 1 - x.start, x.bytes / scale)
        axes.add_patch(mpl.Rectangle(area[:2], *area[2:], clip_on=False, **look))
        low += -(-x.bytes // ALIGNMENT) * ALIGNMENT
        if few and each:
            _name_bar(axes, begin + x.bytes / scale / 2, x, ends)
        elif few:
            _name_in(axes, x, area)
    if total < top:
        axes.axhspan(total / scale, top / scale, fc=CARD, ec=SOFT, ls="--", lw=0.8, zorder=0.6)
        label = row("chart_saved", bytes=size(top - total))[i]
        place: dict[str, Any] = {"ha": "center", "va": "center", "size": TICK + 1.5}
        axes.text(sum(ends) / 2, (total + top) / 2 / scale, label, **place)
    _aligned(axes, top, unit)
    text = row("chart_map_apart" if each else "chart_map", bytes=size(total))
    text = row("chart_kept", what=text) if any(x.retained for x in planned.lives) else text
    caption(axes, text[i], 10 if planned.boundary is None else 24)
    if planned.boundary is not None:
        place = {"xycoords": axes.get_xaxis_transform(), "textcoords": "offset points"}
        place |= {"ha": "center", "color": GRAD, "size": TICK}
        axes.annotate(row("chart_backward")[i], (planned.boundary, 1), (0, 3), **place)


def _value_style(
    retained: bool, count: int = 1, mode: str = "static", value: int | None = None
) -> dict[str, Any]:
    """Return how a value is drawn; where there are many, their edges are finer.

    value: its number, if they are few, so that it has the same colour in each panel.
    """
    width = 0.8 if count <= MANY else 0.2
    fill = TINTS[mode] if value is None else VALUES[value % len(VALUES)]
    look = {"facecolor": fill[0], "edgecolor": MODES[mode][0], "lw": width}
    return {**look, "edgecolor": GRAD, "hatch": "////"} if retained else look

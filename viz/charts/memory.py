"""Memory over time: what the tape holds while it runs, and what a program plans before it runs."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from minigrad.compiler import Program
from minigrad.compiler.plan import ALIGNMENT
from minigrad.dynamic.tensor import Tensor
from minigrad.static import Node
from viz.charts.caption import BEHIND, across, caption, is_slim
from viz.charts.chart import Chart, Row
from viz.charts.held import Life, Measured, Planned, as_input, measured_of, plan_of, planned_of
from viz.picture import mpl, theme
from viz.picture.cards import wide
from viz.picture.style import COLORS, MODES, TICK, TINTS, VALUES
from viz.picture.theme import SMALL
from viz.words.text import Pair, printed, row

__all__ = ["memory"]

LISTED = 40  # values in the table
BARS = 60  # values that get a bar of their own
NAMED = 16  # values that have their names beside them, where there are no more
GAP = 1.1  # inches between two panels
INNER = 16  # pixels: an area so high has room for a name


def memory(obj: Program | Callable[..., Any], *inputs: Any, backward: bool = True) -> Chart:
    """A chart of memory: how long values live, where they lie in the arena, how much is in use.

    obj: a program, for the shapes of its latest run or those declared, and other programs to
    compare it with, such as the same one with recomputation; or a function (or layer) of tensors,
    with arrays for it. A function is differentiated both ways: as a dynamic graph, which is
    recorded while it runs, and as a program, whose memory is planned; both on one chart. With
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
    measured, others = None, []
    if isinstance(obj, Program) and all(isinstance(x, Program) for x in inputs):
        planned, others = plan_of(obj), [plan_of(x) for x in inputs]
    elif callable(obj) and not isinstance(obj, (Tensor, Node)):
        arrays = [as_input(x) for x in inputs]
        planned = planned_of(obj, arrays, backward)
        measured = measured_of(obj, arrays, backward)
    else:
        raise TypeError(printed("memory_unknown", value=type(obj).__name__))
    facts = {
        "arena": size(planned.arena),
        "apart": size(planned.apart),
        "values": len(planned.lives),
        "retained": size(planned.retained),
    }
    alt = row("chart_memory_alt", **facts)
    if measured is not None:
        sizes = planned.arena + planned.results, measured.peak, measured.retained
        facts = dict(zip(("results", "peak", "retained"), map(size, sizes), strict=True))
        more = row("chart_memory_alt_eager", **facts)
        alt = alt[0] + " " + more[0], alt[1] + more[1]
    for number, other in enumerate(others, 2):
        more = row("chart_memory_alt_other", number=number, arena=size(other.arena))
        alt = alt[0] + " " + more[0], alt[1] + more[1]
    return Chart(
        title=row("chart_memory"),
        alt=alt,
        head=_head(),
        rows=tuple(_rows(planned, measured, others)),
        draw=lambda figure, i: _draw(figure, planned, measured, others, i),
        size=(7.0, wide := _high(_rows_high(planned, measured), GAP)),
        pad=34,
        more=_high(_heights(planned, measured), _fold(planned, measured)) - wide,
    )


def size(count: float) -> str:
    """A number of bytes with a unit that suits it.

    >>> [size(x) for x in (12, 4000, 2.5e6)]
    ['12 B', '4 kB', '2.5 MB']
    """
    scale, unit = _unit(count)
    return f"{count / scale:.3g} {unit}"


def _unit(count: float) -> tuple[float, str]:
    if count < 1e3:
        return 1.0, "B"
    return (1e3, "kB") if count < 1e6 else (1e6, "MB")


def _head() -> tuple[Row, Row]:
    keys = ("value", "first_step", "last_step", "bytes", "offset", "retained")
    pairs = [row(f"chart_{key}") for key in keys]
    return tuple(p[0] for p in pairs), tuple(p[1] for p in pairs)


def _rows(
    planned: Planned, measured: Measured | None, others: Sequence[Planned]
) -> list[tuple[Row, Row]]:
    found: list[tuple[Row, Row]] = []

    def add(pair: Pair, *cells: str) -> None:
        filled = (*cells, *[""] * (5 - len(cells)))
        found.append(((pair[0], *filled), (pair[1], *filled)))

    for x in planned.lives[:LISTED]:
        mark = "*" if x.retained else ""
        add((x.name, x.name), str(x.start), str(x.end), size(x.bytes), str(x.offset), mark)
    if len(planned.lives) > LISTED:
        add(row("chart_more", count=len(planned.lives) - LISTED))
    add(row("chart_arena"), "", "", size(planned.arena))
    add(row("chart_apart"), "", "", size(planned.apart))
    add(row("chart_kept_planned"), "", "", size(planned.retained))
    if measured is not None:
        add(row("chart_arena_results"), "", "", size(planned.arena + planned.results))
        add(row("chart_eager_peak"), "", "", size(measured.peak))
        add(row("chart_kept_eager"), "", "", size(measured.retained))
    for number, other in enumerate(others, 2):
        add(row("chart_arena_other", number=number), "", "", size(other.arena))
    return found


def _draw(
    figure: mpl.Figure,
    planned: Planned,
    measured: Measured | None,
    others: Sequence[Planned],
    i: int,
) -> None:
    """What is in use, in each mode for itself; then how long values live, and where they lie."""
    *above, use, lives, arena = _panels(figure, planned, measured)
    _planned(use, planned, others, i)
    if measured is not None:
        _measured(above[0], measured, i)
        if alike(tops := [axes.get_ylim()[1] for axes in (above[0], use)]):
            for axes in (above[0], use):
                axes.set_ylim(0, max(tops))
    ends = planned.begin, max(len(planned.alive), planned.begin + 1)
    _lifetimes(lives, planned, ends, i)
    _map(arena, planned, ends, i)
    slim = is_slim(figure.get_figwidth())
    for axes in (lives, arena) if others else (use, lives, arena):
        axes.set_xlim(*ends)
        axes.xaxis.set_major_locator(mpl.MaxNLocator(integer=True))
        if axes is arena or not slim:
            axes.set_xlabel(row("chart_step")[i])
        if planned.boundary is not None:
            axes.axvline(planned.boundary, **BACKWARD)


def _panels(figure: mpl.Figure, planned: Planned, measured: Measured | None) -> list[mpl.Axes]:
    """What was measured, if anything was; what is planned, lifetimes, places: in two columns.

    On a phone they stand in one.
    """
    if is_slim(figure.get_figwidth()):
        heights = _heights(planned, measured)
        gap = _fold(planned, measured)
        gaps = {"hspace": gap / np.mean(heights), "height_ratios": heights}
        return [*figure.subplots(len(heights), 1, gridspec_kw=gaps)]
    rows = _rows_high(planned, measured)
    grid = figure.add_gridspec(2, 2, height_ratios=rows, hspace=GAP / np.mean(rows), wspace=0.14)
    whole = [grid[:, 0]] if measured is None else [grid[0, 0], grid[0, 1]]
    below = [grid[0, 1]] if measured is None else [grid[1, 0]]
    return [figure.add_subplot(place) for place in (*whole, *below, grid[1, 1])]


def _heights(planned: Planned, measured: Measured | None) -> list[float]:
    """Of each panel, in inches; a value with a name has a line of text for itself."""
    named = len(planned.lives) if len(planned.lives) <= NAMED else 0
    return [*([1.4] if measured is not None else []), 1.8, max(1.2, 0.19 * named), 1.8]


def _fold(planned: Planned, measured: Measured | None) -> float:
    """Inches between two panels on a phone, where captions take more lines."""
    return 0.85 + 0.3 * (planned.boundary is not None) + 0.3 * (measured is not None)


def _rows_high(planned: Planned, measured: Measured | None) -> list[float]:
    """Of each of two rows, in inches."""
    lives = _heights(planned, measured)[-2]
    return [lives, 1.8] if measured is None else [1.8, max(lives, 1.8)]


def _high(heights: Sequence[float], gap: float) -> float:
    return (sum(heights) + gap * (len(heights) - 1)) / 0.77  # of a figure, matplotlib's margins off


def alike(tops: Sequence[float]) -> bool:
    """Whether one scale serves all, or would press some of them flat."""
    return max(tops) <= 3 * min(tops)


def _measured(axes: mpl.Axes, measured: Measured, i: int) -> None:
    scale, unit = _unit(measured.peak)
    held = measured.alive / scale
    axes.fill_between(range(len(held)), held, step="post", **_look(False, mode="dynamic"))
    axes.set_xlim(0, len(held) - 1)
    axes.set_ylim(0, max(held.max(), 1) * 1.08)
    axes.set_xlabel(row("chart_event")[i])
    caption(axes, row("chart_use_dynamic", unit=unit, peak=size(measured.peak))[i])


def _planned(axes: mpl.Axes, planned: Planned, others: Sequence[Planned], i: int) -> None:
    """Values in the arena, and results on them; other programs from beginning to end beside it."""
    top = max(int(x.alive.max(initial=1)) for x in (planned, *others))
    top = max(top, *(x.arena for x in (planned, *others)))
    scale, unit = _unit(top)
    steps, alive = _steps(planned, planned.alive / scale, bool(others))
    _, held = _steps(planned, planned.held / scale, bool(others))
    results: dict[str, Any] = {"facecolor": CARD, "edgecolor": SOFT, "hatch": "\\\\\\\\", "lw": 0.8}
    few = len(planned.lives) <= NAMED and not others
    axes.set_ylim(0, top / scale * (1.34 if few else 1.18))  # room for the names
    axes.set_xlim(steps[0], steps[-1])
    if few:
        _stack(axes, planned, scale)
    label, peak = row("chart_line_results")[i], int(np.argmax(alive - held))
    axes.fill_between(steps, held, alive, step="post", label=label, **results)
    if few:
        _point(axes, (steps[peak] + 0.5, alive[peak]), label)
    else:
        _name(axes, (steps[peak], alive[peak]), label, steps)
    label, look = row("chart_line_held")[i], _look(False)
    look |= {"facecolor": "none"} if few else {}
    axes.fill_between(steps, held, step="post", label=label, **look)
    if not few:
        _name(axes, (steps[int(np.argmax(held))], 0), label, steps)
    label = row("chart_line_arena")[i]
    axes.axhline(planned.arena / scale, color=INK, ls="--", lw=1.2, marker="", label=label)
    _name(axes, (steps[0], planned.arena / scale), label, steps)
    for number, (other, color) in enumerate(zip(others, itertools.cycle(OTHERS)), 2):
        given, total = _steps(other, other.alive / scale, True)
        label, peak = row("chart_line_other", number=number)[i], int(np.argmax(total))
        axes.step(given, total, where="post", label=label, color=color, lw=1.8, marker="")
        _name(axes, (given[peak], total[peak]), label, steps)
    _aligned(axes, top, unit)
    if others:
        axes.set_xlabel(row("chart_progress")[i])
    sizes = {"arena": size(planned.arena), "apart": size(planned.apart)}
    caption(axes, row("chart_use_static", unit=unit, **sizes)[i])


def _stack(axes: mpl.Axes, planned: Planned, scale: float) -> None:
    """Stack the values that are in the arena at each step; name each of them once."""
    base = np.zeros(len(planned.alive) + 1)
    for k, x in enumerate(planned.lives):
        look, high = _look(x.retained, value=k) | {"lw": 0}, x.bytes / scale
        areas = []
        for low, steps in itertools.groupby(range(x.start, x.end + 1), key=lambda step: base[step]):
            first, *rest = steps
            areas.append((first, low, 1 + len(rest), high))
            axes.add_patch(mpl.Rectangle(areas[-1][:2], *areas[-1][2:], **look))
        _name_in(axes, x, max(areas, key=lambda area: area[2]))
        base[x.start : x.end + 1] += high


def _name_in(axes: mpl.Axes, x: Life, area: tuple[float, float, float, float]) -> None:
    """Write a name into the middle of an area, where it has room; the limits are final."""
    left, low, width, height = area
    pixels = axes.transData.transform([(left, low), (left + width, low + height)])
    wide_px, high_px = np.abs(pixels[1] - pixels[0]) * 96 / axes.figure.dpi
    if wide_px > wide(x.name, SMALL) + 4 and high_px > INNER:
        place: dict[str, Any] = {"ha": "center", "va": "center", "size": TICK}
        place |= {"bbox": BEHIND} if x.retained else {}  # it is hatched
        axes.text(left + width / 2, low + height / 2, x.name, **place)


def _point(axes: mpl.Axes, at: tuple[float, float], label: str) -> None:
    """Name a small area at the top of the axes, with a line that leads to it."""
    style: dict[str, Any] = {"textcoords": "axes fraction", "size": TICK, "va": "top"}
    stroke = {"arrowstyle": "-", "color": SOFT, "lw": 0.8, "shrinkB": 0}
    part = axes.transLimits.transform(at)[0]
    stroke["relpos"] = (part, 0) if part > 0.5 else (0, 0)
    axes.annotate(
        label,
        at,
        (1, 1) if part > 0.5 else (part, 1),
        arrowprops=stroke,
        ha="right" if part > 0.5 else "left",
        **style,
    )


def _aligned(axes: mpl.Axes, top: float, unit: str) -> None:
    """Put ticks where buffers may begin, if the axis counts single bytes."""
    if unit == "B":
        axes.set_yticks(range(0, int(top) + 1, ALIGNMENT * max(1, round(top / ALIGNMENT / 5))))


def _name(axes: mpl.Axes, at: tuple[float, float], label: str, steps: Any) -> None:
    """Write what a line or an area is where it is highest, on the side where there is room."""
    part = (at[0] - steps[0]) / max(steps[-1] - steps[0], 1)
    style: dict[str, Any] = {"textcoords": "offset points", "size": TICK, "bbox": BEHIND}
    side = "right" if part > 0.5 else "left"
    axes.annotate(label, at, (-6 if part > 0.5 else 6, 4), ha=side, va="bottom", **style)


def _steps(planned: Planned, held: Any, relative: bool) -> tuple[Any, Any]:
    """The steps of a program, or how far it is in percent, and what it holds at each."""
    held = held[planned.begin :]
    steps = np.arange(planned.begin, len(planned.alive) + 1, dtype=float)
    if relative:
        steps = (steps - steps[0]) / max(steps[-1] - steps[0], 1) * 100
    return steps, np.append(held, held[-1:])


INK, SOFT, CARD, GRAD = (theme.TOKENS[name][0] for name in ("ink", "soft", "card", "grad"))
BACKWARD: dict[str, Any] = {"color": GRAD, "ls": ":", "lw": 1.2, "marker": ""}
OTHERS = COLORS[1], COLORS[2], COLORS[4]


def _lifetimes(axes: mpl.Axes, planned: Planned, ends: tuple[float, float], i: int) -> None:
    shown = planned.lives[:BARS]
    for k, x in enumerate(shown):
        look = _look(x.retained, len(shown), value=k if len(shown) <= NAMED else None)
        axes.broken_barh([(x.start, x.end + 1 - x.start)], (k - 0.4, 0.8), **look)
    axes.set_ylim(len(shown) - 0.4, -0.6)
    axes.grid(visible=False, axis="y")
    axes.set_yticks([])
    for k, x in enumerate(shown if len(shown) <= NAMED else ()):
        _name_bar(axes, k, x, ends)
    values = len(planned.lives)
    some = len(shown) < values
    told = (
        row("chart_lifetimes_some", shown=len(shown), values=values)
        if some
        else row("chart_lifetimes", values=values)
    )
    told = row("chart_kept", what=told) if any(x.retained for x in shown) else told
    caption(axes, told[i], 10 if planned.boundary is None else 24)
    if planned.boundary is not None:
        place: dict[str, Any] = {"xycoords": axes.get_xaxis_transform(), "size": TICK}
        place |= {"textcoords": "offset points", "ha": "center", "color": GRAD}
        axes.annotate(row("chart_backward")[i], (planned.boundary, 1), (0, 3), **place)


def _name_bar(axes: mpl.Axes, k: int, life: Life, ends: tuple[float, float]) -> None:
    """Write what a bar is where there is most room: after it, before it or in it."""
    sides = {"after": ends[1] - life.end - 1, "before": life.start - ends[0]}
    sides["within"] = life.end + 1 - life.start
    name, pixel = life.name, (ends[1] - ends[0]) / across(axes)
    fits = [side for side, room in sides.items() if room > (wide(name, SMALL) + 8) * pixel]
    side = fits[0] if fits else max(sides, key=lambda each: sides[each])
    while len(name) > 2 and sides[side] < (wide(name, SMALL) + 8) * pixel:
        name = name[:-2] + "…"
    at = {"after": life.end + 1, "before": life.start, "within": life.start}[side]
    style: dict[str, Any] = {"textcoords": "offset points", "va": "center", "size": TICK}
    style |= {"ha": "right" if side == "before" else "left"}
    style |= {} if side == "within" and not life.retained else {"bbox": BEHIND}
    axes.annotate(name, (at, k), (-4 if side == "before" else 4, 0), **style)


def _map(axes: mpl.Axes, planned: Planned, ends: tuple[float, float], i: int) -> None:
    scale, unit = _unit(planned.arena or 1)
    axes.set_ylim(0, max(planned.arena, 1) / scale)
    axes.set_xlim(*ends)
    few = len(planned.lives) <= NAMED
    for k, x in enumerate(planned.lives):
        look = _look(x.retained, len(planned.lives), value=k if few else None)
        area = (x.start, x.offset / scale, x.end + 1 - x.start, x.bytes / scale)
        axes.add_patch(mpl.Rectangle(area[:2], *area[2:], **look))
        if few:
            _name_in(axes, x, area)
    _aligned(axes, planned.arena, unit)
    what = row("chart_map", unit=unit)
    caption(axes, (row("chart_aligned", what=what, bytes=ALIGNMENT) if unit == "B" else what)[i])


def _look(
    retained: bool, count: int = 1, mode: str = "static", value: int | None = None
) -> dict[str, Any]:
    """Return how a value is drawn; where there are many, their edges are finer.

    value: its number, if they are few, so that it has the same colour in each panel.
    """
    width = 0.8 if count <= BARS // 2 else 0.2
    fill = TINTS[mode] if value is None else VALUES[value % len(VALUES)]
    look = {"facecolor": fill[0], "edgecolor": MODES[mode][0], "lw": width}
    return {**look, "edgecolor": GRAD, "hatch": "////"} if retained else look

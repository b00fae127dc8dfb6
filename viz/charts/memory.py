"""Memory over time: what the tape holds while it runs, and what a program plans before it runs."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from minigrad.compiler import Program
from minigrad.dynamic.tensor import Tensor
from minigrad.static import Node
from viz.charts.chart import Chart, Row
from viz.charts.held import Measured, Planned, as_input, measured_of, plan_of, planned_of
from viz.picture import mpl, theme
from viz.picture.style import COLORS
from viz.words.text import Pair, printed, row

__all__ = ["memory"]

LISTED = 40  # values in the table
BARS = 60  # values that get a bar of their own


def memory(obj: Program | Callable[..., Any], *inputs: Any) -> Chart:
    """A chart of memory: how long values live, where they lie in the arena, how much is in use.

    obj: a program, for the shapes of its latest run or those declared, and other programs to
    compare it with, such as the same one with recomputation; or a function (or layer) of tensors,
    with arrays for it. A function is differentiated both ways: as a dynamic graph, which is
    recorded while it runs, and as a program, whose memory is planned; both on one chart. What
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
        planned, measured = planned_of(obj, arrays), measured_of(obj, arrays)
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
        size=(7.4, 8.6),
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
    heights = [2.0, 2.2, 2.0]
    use, lives, arena = figure.subplots(3, 1, gridspec_kw={"height_ratios": heights, "hspace": 0.6})
    _in_use(use, planned, measured, others, i)
    _lifetimes(lives, planned, i)
    _map(arena, planned, i)
    for axes in (lives, arena):
        axes.set_xlim(planned.begin, max(len(planned.alive), planned.begin + 1))


def _caption(axes: mpl.Axes, text: str) -> None:
    axes.text(0, 1.04, text, transform=axes.transAxes, va="bottom")


def _in_use(
    axes: mpl.Axes, planned: Planned, measured: Measured | None, others: Sequence[Planned], i: int
) -> None:
    """What is held over time; several runs stand side by side from their beginning to their end."""
    alone = measured is None and not others
    tops = [x.arena for x in (planned, *others)] + [int(x.alive.max(initial=1)) for x in others]
    tops += [int(planned.alive.max(initial=1)), planned.apart if alone else 0]
    tops += [measured.peak] if measured is not None else []
    scale, unit = _unit(max(tops))
    if measured is not None:
        along = np.linspace(0, 100, len(measured.alive))
        axes.plot(along, measured.alive / scale, **_line("eager", i))
    steps, held = _steps(planned, scale, alone)
    axes.fill_between(steps, held, step="post", color=theme.SKY, alpha=0.35, lw=0)
    axes.step(steps, held, where="post", **_line("alive", i))
    for number, (other, look) in enumerate(zip(others, itertools.cycle(OTHERS)), 2):
        label = row("chart_line_other", number=number)[i]
        axes.step(*_steps(other, scale, alone), where="post", label=label, **look)
    axes.axhline(planned.arena / scale, **_line("arena", i))
    if alone:
        axes.axhline(planned.apart / scale, **_line("apart", i))
        axes.xaxis.set_major_locator(mpl.MaxNLocator(integer=True))
    else:
        axes.set_xlabel(row("chart_progress")[i])
    axes.set_ylim(0, max(tops) / scale * 1.08)
    axes.set_xlim(steps[0], steps[-1])
    _caption(axes, row("chart_in_use" if alone else "chart_in_use_both", unit=unit)[i])
    axes.legend(frameon=False, loc="upper left", bbox_to_anchor=(1.01, 1.0))


def _steps(planned: Planned, scale: float, alone: bool) -> tuple[Any, Any]:
    """The steps of a program, or how far it is in percent, and what it holds at each."""
    alive = planned.alive[planned.begin :]
    steps = np.arange(planned.begin, len(planned.alive) + 1, dtype=float)
    if not alone:
        steps = (steps - steps[0]) / max(steps[-1] - steps[0], 1) * 100
    return steps, np.append(alive, alive[-1:]) / scale


OTHERS: tuple[dict[str, Any], ...] = (
    {"color": theme.GREEN, "linestyle": "-.", "lw": 1.8, "marker": ""},
    {"color": COLORS[3], "linestyle": ":", "lw": 2.2, "marker": ""},
    {"color": COLORS[4], "linestyle": "--", "lw": 1.8, "marker": ""},
)
LINES = {
    "eager": (theme.VERMILION, "-", 1.8),
    "alive": (theme.BLUE, "-", 1.8),
    "arena": (theme.BLACK, "--", 1.5),
    "apart": (theme.GREEN, ":", 2.0),
}


def _line(which: str, i: int) -> dict[str, Any]:
    color, style, width = LINES[which]
    label = row(f"chart_line_{which}")[i]
    return {"color": color, "linestyle": style, "lw": width, "marker": "", "label": label}


def _lifetimes(axes: mpl.Axes, planned: Planned, i: int) -> None:
    shown = planned.lives[:BARS]
    for k, x in enumerate(shown):
        axes.broken_barh(
            [(x.start, x.end + 1 - x.start)], (k - 0.4, 0.8), **_look(x.retained, len(shown))
        )
    axes.set_ylim(len(shown) - 0.4, -0.6)
    axes.grid(visible=False, axis="y")
    axes.grid(axis="x")
    named = shown if len(shown) <= 16 else ()
    axes.set_yticks(range(len(named)), labels=[x.name for x in named], fontsize=8)
    axes.xaxis.set_major_locator(mpl.MaxNLocator(integer=True))
    _caption(axes, row("chart_lifetimes", shown=len(shown), values=len(planned.lives))[i])
    if planned.boundary is not None:
        axes.axvline(planned.boundary, color=theme.BLACK, ls="--", lw=1.2)
    keys = [
        mpl.Patch(label=row(f"chart_{key}")[i], **_look(key == "kept")) for key in ("kept", "brief")
    ]
    axes.legend(handles=keys, frameon=False, loc="upper left", bbox_to_anchor=(1.01, 1.0))


def _map(axes: mpl.Axes, planned: Planned, i: int) -> None:
    scale, unit = _unit(planned.arena or 1)
    for x in planned.lives:
        where = (x.start, x.offset / scale)
        axes.add_patch(
            mpl.Rectangle(
                where, x.end + 1 - x.start, x.bytes / scale, **_look(x.retained, len(planned.lives))
            )
        )
    axes.set_ylim(0, max(planned.arena, 1) / scale)
    axes.xaxis.set_major_locator(mpl.MaxNLocator(integer=True))
    axes.set_xlabel(row("chart_step")[i])
    _caption(axes, row("chart_map", unit=unit)[i])


def _look(retained: bool, count: int = 1) -> dict[str, Any]:
    """How a value looks; the edges of many are finer, or nothing else would be seen."""
    width = 0.6 if count <= BARS // 2 else 0.2
    if retained:
        return {"facecolor": theme.ORANGE, "edgecolor": theme.BLACK, "hatch": "///", "lw": width}
    return {"facecolor": theme.SKY, "edgecolor": theme.BLUE, "hatch": "", "lw": width}

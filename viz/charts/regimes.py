"""Where one way is quicker, and where it is not: ratios over sizes, on two logarithmic axes."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from minigrad.diagnostics.messages import Pair
from viz.charts.caption import caption, name_ends
from viz.charts.chart import Chart, Row
from viz.picture import mpl, theme
from viz.picture.style import TICK, TINTS, colors_of, mode_of
from viz.words.text import in_both, mode_name, printed, row

__all__ = ["regimes"]

Spread = tuple[float, float, float]  # the median, and from where to where
Line = tuple[Pair, list[tuple[float, Spread]]]
ROOM = 1.35  # times: what either half has at least


def regimes(
    measured: Mapping[str, Mapping[float, Spread]] | Mapping[Pair, Mapping[float, Spread]],
    *,
    sides: tuple[str, str],
    x: Pair,
) -> Chart:
    """Draw for each workload the ratio of two sides over its size; below 1 the first is quicker.

    measured: for each workload (one name, or English and Chinese) and each size the ratio as
    `Bench.ratio` gives it: median, low, high. sides: the names of the two, as in "static / eager".
    x: what the size counts, with its unit. Bars reach from low to high.

    ValueError where nothing was measured, or a size or a ratio is not above 0.

    >>> spread = {16: (0.5, 0.4, 0.6), 1024: (1.1, 1.0, 1.2)}
    >>> regimes({"chain": spread}, sides=("static", "eager"), x=("elements", "元素")).alt[0]
    'Line chart: Ratios of the time taken, static / eager. chain: 16: 0.5; 1024: 1.1.'
    """
    lines = [(in_both(name), sorted(found.items())) for name, found in measured.items()]
    points = [point for _, found in lines for point in found]
    if not points or any(min(size, *spread) <= 0 for size, spread in points):
        raise ValueError(printed("regimes_form"))
    texts = [
        ". ".join(
            f"{name[i]}: " + "; ".join(f"{size:g}: {spread[0]:.3g}" for size, spread in found)
            for name, found in lines
        )
        for i in (0, 1)
    ]
    title, names = row("chart_ratios"), [mode_name(side) for side in sides]
    both_sides = (" / ".join(name[0] for name in names), " / ".join(name[1] for name in names))
    head = [row(f"chart_{key}") for key in ("workload", "median", "lowest", "highest")]
    return Chart(
        title=title,
        alt=row("chart_regimes_alt", sides=both_sides, all=(texts[0], texts[1])),
        head=(tuple(p[0] for p in head), tuple(p[1] for p in head)),
        rows=tuple(
            (_cells(name[0], size, spread), _cells(name[1], size, spread))
            for name, found in lines
            for size, spread in found
        ),
        draw=partial(_draw, lines=lines, x=x, sides=sides),
        size=(6.4, 3.8),
    )


def _cells(name: str, size: float, spread: Spread) -> Row:
    return f"{name}, {size:g}", *(f"{value:.3g}" for value in spread)


def _draw(
    figure: mpl.Figure, i: int, *, lines: list[Line], x: Pair, sides: tuple[str, str]
) -> None:
    axes = figure.add_subplot()
    colors = colors_of([name[0] for name, _ in lines])
    for (name, found), color in zip(lines, colors, strict=True):
        sizes = [size for size, _ in found]
        middle = [spread[0] for _, spread in found]
        below = [max(spread[0] - spread[1], 0) for _, spread in found]
        above = [max(spread[2] - spread[0], 0) for _, spread in found]
        more: dict[str, Any] = {"yerr": [below, above], "capsize": 3, "label": name[i]}
        axes.errorbar(sizes, middle, color=color, **more)
    axes.set_xscale("log")
    axes.set_yscale("log")
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_minor_formatter(mpl.NullFormatter())
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.yaxis.set_major_locator(mpl.LogLocator(subs=(1.0, 2.0, 5.0)))
    axes.yaxis.set_major_formatter("{x:g}")
    axes.set_xlabel(x[i])
    _halves(axes, sides, i)
    caption(axes, " / ".join(mode_name(side)[i] for side in sides))
    ends = [(*(found[-1][0], found[-1][1][0]), name[i]) for name, found in lines]
    name_ends(axes, [(*end, color) for end, color in zip(ends, colors, strict=True)])


def _halves(axes: mpl.Axes, sides: tuple[str, str], i: int) -> None:
    """Say in each half of the axes which side is quicker there, on its colour."""
    low, high = axes.get_ylim()
    low, high = min(low, 1 / ROOM), max(high, ROOM)
    axes.set_ylim(low, high)
    axes.axhline(1, color=theme.TOKENS["ink"][0], lw=1, marker="")
    for side, (a, b), at in zip(sides, ((low, 1), (1, high)), (0, 1), strict=True):
        if mode := mode_of(side):
            axes.axhspan(a, b, color=TINTS[mode][0], zorder=0, lw=0)
        style: dict[str, Any] = {"xycoords": "axes fraction", "textcoords": "offset points"}
        style |= {"ha": "right", "va": "top"} if at else {"ha": "left", "va": "bottom"}
        style |= {"size": TICK, "color": theme.TOKENS["soft"][0]}
        axes.annotate(
            row("chart_quicker", side=mode_name(side))[i],
            (at, at),
            (6 - 12 * at, 4 - 8 * at),
            **style,
        )

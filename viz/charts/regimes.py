"""Where one way is quicker, and where it is not: ratios over sizes, on two logarithmic axes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from minigrad.diagnostics.messages import Pair
from viz.charts.caption import axes_width, caption, name_ends
from viz.charts.chart import Chart, Row, heads
from viz.picture import mpl, theme
from viz.picture.style import MODES, TICK, TINTS, colors_of, mode_of
from viz.words.text import in_both, mode_name, row, row_text

__all__ = ["regimes"]

Spread = tuple[float, float, float]  # the median, and from where to where
Line = tuple[Pair, list[tuple[float, Spread]]]
WORD = 60  # pixels of a number below the axis
NEAR = 14  # points: numbers nearer to each other would overlap
ASIDE = 12  # pixels from what one workload has at a size to what another has there
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
    'Line chart: Ratios of the time taken, static / dynamic. chain: 16: 0.5; 1024: 1.1.'
    """
    lines = [(in_both(name), sorted(found.items())) for name, found in measured.items()]
    points = [point for _, found in lines for point in found]
    if not points or any(min(size, *spread) <= 0 for size, spread in points):
        raise ValueError(row_text("regimes_form"))
    told = [(n, "; ".join(f"{size:g}: {spread[0]:.3g}" for size, spread in f)) for n, f in lines]
    texts = [". ".join(f"{name[i]}: {ratios}" for name, ratios in told) for i in (0, 1)]
    names, x = [mode_name(side) for side in sides], in_both(x)
    both_sides = (" / ".join(name[0] for name in names), " / ".join(name[1] for name in names))
    return Chart(
        title=_claim(lines, names[0], x),
        alt=row("chart_regimes_alt", sides=both_sides, all=(texts[0], texts[1])),
        head=heads("workload", "median", "from", "to"),
        rows=tuple(
            (_cells(name[0], size, spread), _cells(name[1], size, spread))
            for name, found in lines
            for size, spread in found
        ),
        draw=partial(_draw, lines=lines, x=x, sides=sides),
        size=(6.4, 3.8),
    )


def _claim(lines: Sequence[Line], one: Pair, x: Pair) -> Pair:
    """Say for which sizes the first side is always quicker, by workload."""
    parts = []
    for name, found in lines:
        quicker = [size for size, spread in found if spread[2] < 1]
        sizes = [size for size, _ in found]
        start, stop = sizes.index(quicker[0]) if quicker else 0, len(quicker)
        if quicker != sizes[start : start + stop] or not quicker:
            continue
        end = "all" if stop == len(sizes) else "at" if stop == 1 else "from" if start else "to"
        size = f"{quicker[0 if end == 'from' else -1]:,.0f}"
        parts.append(row(f"chart_regimes_{end}", name=name, size=size, x=x))
    if not parts:
        return row("chart_regimes_none", one=one)
    all_ = "; ".join(pair[0] for pair in parts), "；".join(pair[1] for pair in parts)
    return row("chart_regimes", one=one, all=all_)


def _cells(name: str, size: float, spread: Spread) -> Row:
    return f"{name}, {size:g}", *(f"{value:.3g}" for value in spread)


def _draw(figure: mpl.Figure, i: int, *, lines: list[Line], x: Pair, sides: Sequence[str]) -> None:
    axes = figure.add_subplot()
    colors = colors_of([name[0] for name, _ in lines])
    every = [size for _, found in lines for size, _ in found]
    aside = ASIDE / axes_width(axes) * (np.arange(len(lines)) - (len(lines) - 1) / 2)
    there = {size: sorted(r[1:] for _, f in lines for s, r in f if s == size) for size in every}
    close = {s for s, bars in there.items() if any(a[1] >= b[0] for a, b in pairwise(bars))}
    shifts = (max(every) / min(every)) ** aside  # where one bar would lie on another
    pairs = zip(lines, shifts, strict=True)
    lines = [(n, [(s * by ** (s in close), r) for s, r in f]) for (n, f), by in pairs]
    ends = []
    for (name, found), color in zip(lines, colors, strict=True):
        sizes = np.array([size for size, _ in found])
        middle, low, high = np.array([spread for _, spread in found]).T
        more: dict[str, Any] = {"yerr": np.abs([middle - low, high - middle]), "capsize": 3}
        line, *_ = axes.errorbar(sizes, middle, color=color, lw=2, label=name[i], **more)
        ends.append((sizes[-1], middle[-1], name[i], color))
        look: dict[str, Any] = {"mfc": theme.TOKENS["paper"][0], "mec": color, "ms": 6, "zorder": 3}
        unsure = (low <= 1) & (high >= 1)  # hollow
        axes.plot(sizes[unsure], middle[unsure], line.get_marker(), color=color, **look)
    axes.set(xscale="log", yscale="log", xmargin=0.85 * WORD / axes_width(axes))
    left, right = axes.get_xlim()
    axes.set_xlim(left, right := right / (right / left) ** (0.4 * WORD / axes_width(axes)))
    near = (right / left) ** (WORD / axes_width(axes))
    ticks: list[float] = []  # the sizes that were measured, where each has room
    for size in sorted({*every}, reverse=True):
        if not ticks or ticks[-1] >= near * size:
            ticks.append(size)
    axes.set_xticks(ticks)
    axes.minorticks_off()
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.yaxis.set_major_locator(mpl.LogLocator(subs=(1.0, 2.0, 5.0)))
    axes.yaxis.set_major_formatter("{x:g}")
    axes.set_xlabel(row("chart_log", what=x)[i])
    _tint_halves(axes, sides, i)
    both = " / ".join(mode_name(side)[i] for side in sides)
    caption(axes, row("chart_ratio_sides", sides=both)[i])
    name_ends(axes, ends)
    taken: list[Any] = []  # where numbers are written, of those that differ from 1
    for (_, found), color in zip(lines, colors, strict=True):
        before = found[0][1][0]
        for size, (ratio, low, high) in found:
            at = axes.transData.transform((size, ratio))
            if not low <= 1 <= high and all(max(abs(at - other)) > NEAR for other in taken):
                taken.append(at)
                clear = -7, -4 + 8 * (ratio > before) - 8 * (ratio < before)  # of its own line
                place: dict[str, Any] = {"textcoords": "offset points", "ha": "right", "size": TICK}
                axes.annotate(f"{ratio:.2g}", (size, ratio), clear, color=color, **place)
            before = ratio


def _tint_halves(axes: mpl.Axes, sides: Sequence[str], i: int) -> None:
    """Tint the halves above and below 1 in the colour of the side that is quicker there."""
    low, high = axes.get_ylim()
    low, high = min(low, 1 / ROOM), max(high, ROOM)
    words = (high / low) ** 0.12  # beyond all points
    low, high = low / words, high * words
    axes.set_ylim(low, high)
    axes.axhline(1, color=theme.TOKENS["soft"][0], lw=1.2, marker="", zorder=1)
    for side, ends, at in zip(sides, ((low, 1), (1, high)), (0, 1), strict=True):
        mode = mode_of(side)
        color = MODES[mode][0] if mode else theme.TOKENS["soft"][0]
        tint = TINTS[mode][0] if mode else theme.TOKENS["card"][0]
        axes.axhspan(*ends, color=tint, lw=0, zorder=0)
        style: dict[str, Any] = {"xycoords": "axes fraction", "textcoords": "offset points"}
        style |= {"ha": "right", "va": "top"} if at else {"ha": "left", "va": "bottom"}
        label = f"{'↓↑'[at]} {row('chart_quicker', side=mode_name(side))[i]}"
        axes.annotate(label, (at, at), (8 - 16 * at, 5 - 10 * at), color=color, **style)

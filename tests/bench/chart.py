"""The targets as a picture: left of the line they were reached, right of it missed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import report
from matplotlib.figure import Figure
from measure import Row, Spread, Target

from viz import theme
from viz.charts import chart_style

Line = tuple[Row, Target, Spread, bool]
REACHED = {"marker": "o", "color": theme.BLUE, "label": "reached"}
MISSED = {"marker": "X", "color": theme.VERMILION, "label": "missed"}


def save(rows: Sequence[Row], path: Path) -> None:
    """Write the chart as PNG or SVG, chosen by the name's ending.

    A dot is the median, its bar reaches from the lowest to the highest start; both in units of what
    was aimed at. Colour is not alone: marks differ, and the words stand beside them.
    """
    with chart_style():
        figure = draw(rows)
        figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else {})


def lines(rows: Sequence[Row]) -> list[Line]:
    """Every target that was measured, in the order of the table."""
    found = []
    for row in rows:
        for target in row.targets:
            verdict = row.verdict(target)
            if verdict is not None:
                found.append((row, target, *verdict))
    return found


def draw(rows: Sequence[Row]) -> Figure:
    shown = lines(rows)
    figure = Figure(figsize=(12, 1.6 + 0.36 * len(shown)))
    axes = figure.add_subplot()
    for style in (REACHED, MISSED):
        _dots(
            axes,
            [(i, line) for i, line in enumerate(shown) if line[3] == (style is REACHED)],
            style,
        )
    axes.axvline(1, color=theme.BLACK, linewidth=1.2)
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter("{x:g}")
    axes.grid(axis="x")
    axes.grid(visible=False, axis="y")
    axes.set_ylim(max(len(shown), 1) - 0.5, -0.5)
    axes.set_yticks(range(len(shown)), [f"{r.name}\n{t.label}" for r, t, *_ in shown], fontsize=7.5)
    for i, (row, target, measured, reached) in enumerate(shown):
        word = "reached" if reached else "missed"
        text = f"{report.shown(row, target, measured.middle)}, aimed at ≤ "
        text += f"{report.shown(row, target, target.most)}: {word}"
        axes.annotate(text, (1.01, i), xycoords=("axes fraction", "data"), va="center", fontsize=8)
    axes.set_xlabel("measured, in units of what was aimed at (left of 1: reached)")
    axes.set_title(f"{sum(line[3] for line in shown)} of {len(shown)} targets reached")
    if shown:
        axes.legend(loc="lower right", bbox_to_anchor=(1, 1), ncols=2, frameon=False)
    return figure


def _dots(axes: Any, numbered: Sequence[tuple[int, Line]], style: dict[str, Any]) -> None:
    """Those of one verdict, with bars from start to start."""
    if not numbered:
        return
    places = [i for i, _ in numbered]
    parts = [[v / line[1].most for v in _three(line[2])] for _, line in numbered]
    middle = [m for m, _, _ in parts]
    reach = [[m - low for m, low, _ in parts], [high - m for m, _, high in parts]]
    bars = [[max(v, 0.0) for v in side] for side in reach]
    axes.errorbar(middle, places, xerr=bars, linestyle="none", capsize=3, **style)


def _three(found: Spread) -> tuple[float, float, float]:
    return found.middle, found.low, found.high

"""Ratios of what was measured: medians, and how far they spread from start to start."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from viz.charts.caption import BEHIND, folded
from viz.charts.chart import Chart, Row
from viz.picture import mpl, theme
from viz.picture.cards import wide
from viz.picture.style import MODES, PIXEL, TICK, mode_of
from viz.picture.theme import SMALL
from viz.words.text import printed, row

__all__ = ["ratios"]

LOWER = 0.42  # rows: a dot is below its words


@dataclass(frozen=True, slots=True)
class Ratio:
    """One side's time to another's: the median, the lowest and the highest median of one start."""

    workload: str
    side: str
    against: str
    middle: float
    low: float
    high: float

    @property
    def label(self) -> str:
        return f"{self.side} / {self.against}"


def ratios(source: str | Path | Mapping[str, Any], only: str = "") -> Chart:
    """A chart of ratios: a dot is a median, its bar the spread; left of the line is quicker.

    source: the file that `python tasks.py bench --json FILE` wrote, or what it holds; `only` picks
    the workloads whose names contain it.

    Raises ValueError for data of another form, or where no ratio is left; FileNotFoundError where
    there is no such file.

    >>> target = {"side": "ours", "against": "theirs", "most": 1.0}
    >>> target["measured"] = {"middle": 0.5, "low": 0.4, "high": 0.7}
    >>> ratios({"rows": [{"name": "sum", "targets": [target]}]}).alt[0]
    'Dot chart: Ratios of the time taken. sum, ours / theirs: 0.5 (0.4 to 0.7).'
    """
    data = source
    if not isinstance(data, Mapping):
        data = _loaded(data)
    found = [x for x in _read(data) if only in x.workload]
    if not found:
        raise ValueError(printed("ratios_none", only=only))
    spans = [
        row("chart_span", middle=f"{x.middle:.3g}", low=f"{x.low:.3g}", high=f"{x.high:.3g}")
        for x in found
    ]
    english, chinese = (
        sep.join(
            f"{x.workload}{comma}{x.label}{colon}{span[i]}"
            for x, span in zip(found, spans, strict=True)
        )
        for i, (sep, comma, colon) in enumerate([("; ", ", ", ": "), ("；", "，", "：")])
    )
    alt = row("chart_ratios_alt", all=(english, chinese))
    cells = [
        (f"{x.workload}: {x.label}", *(f"{v:.3g}" for v in (x.middle, x.low, x.high)))
        for x in found
    ]
    return Chart(
        title=row("chart_ratios"),
        alt=alt,
        head=_head(),
        rows=tuple((line, line) for line in cells),
        draw=lambda figure, i: _draw(figure, found, i),
        size=(6.4, _high(found)),
        pad=14,
    )


def _head() -> tuple[Row, Row]:
    pairs = [row(f"chart_{key}") for key in ("workload", "median", "lowest", "highest")]
    return tuple(p[0] for p in pairs), tuple(p[1] for p in pairs)


def _loaded(path: str | Path) -> Any:
    """What a file of figures holds."""
    try:
        return json.loads(Path(path).read_text("utf-8"))
    except FileNotFoundError as error:
        raise FileNotFoundError(printed("ratios_missing", path=path, folder=Path.cwd())) from error
    except ValueError:  # no JSON, or no text in UTF-8
        raise ValueError(printed("ratios_form", name=path)) from None


def _read(data: Mapping[str, Any]) -> list[Ratio]:
    """Every ratio that was measured, in the order of the file."""
    try:
        return [
            Ratio(
                str(r["name"]),
                str(t["side"]),
                str(t["against"]),
                *(float(t["measured"][key]) for key in ("middle", "low", "high")),
            )
            for r in data["rows"]
            for t in r["targets"]
            if t["against"] and "measured" in t
        ]
    except (KeyError, TypeError, ValueError):
        raise ValueError(printed("ratios_form", name="source")) from None


def _draw(figure: mpl.Figure, found: Sequence[Ratio], i: int) -> None:
    axes = figure.add_subplot()
    ink, paper = (theme.TOKENS[name][0] for name in ("ink", "paper"))
    axes.axvline(1, color=ink, lw=1, marker="")
    axes.set_xscale("log")
    at, rows = 0.0, []
    for k, x in enumerate(found):
        if k == 0 or x.workload != found[k - 1].workload:
            _say(axes, at, folded(x.workload, axes), ink)
            at += 1
        quicker = x.middle <= 1
        color = MODES[mode][0] if (mode := mode_of(x.side)) else ink
        style: dict[str, Any] = {
            "color": color,
            "marker": "o" if quicker else "X",
            "markersize": 7,
            "markeredgecolor": paper if quicker else color,
            "markerfacecolor": color if quicker else paper,
            "linestyle": "none",
            "capsize": 3,
        }
        reach = [[max(x.middle - x.low, 0)], [max(x.high - x.middle, 0)]]
        axes.errorbar([x.middle], [at + LOWER], xerr=reach, **style)
        rows.append(at)
        at += 1
    axes.xaxis.set_major_locator(mpl.LogLocator(subs=(1.0, 2.0, 5.0)))
    axes.xaxis.set_major_formatter("{x:g}")
    axes.xaxis.set_minor_formatter(mpl.NullFormatter())
    axes.grid(axis="x")
    axes.grid(visible=False, axis="y")
    axes.set_ylim(at - 0.2, -0.6)
    axes.set_yticks([])
    axes.set_xlabel(row("chart_ratio_axis")[i])
    for x, height in zip(found, rows, strict=True):
        middle = axes.transData.transform((x.middle, 0)) - axes.transAxes.transform((0, 0))
        words = f"{x.label}: {x.middle:.2g}"
        _say(axes, height, words, theme.TOKENS["soft"][0], float(middle[0]))


def _say(axes: mpl.Axes, at: float, words: str, color: str, middle: float = 0) -> None:
    """Write what stands below around a place in the axes: beside them it would take their width.

    middle: where, in pixels of the figure.
    """
    points = 72 / axes.figure.dpi
    total, need = axes.get_window_extent().width * points, wide(words, SMALL) * PIXEL
    left = max(4.0, min(middle * points - need / 2, total - need - 4))
    style: dict[str, Any] = {"xycoords": ("axes fraction", "data"), "textcoords": "offset points"}
    style |= {"va": "center", "size": TICK, "bbox": BEHIND, "color": color}
    axes.annotate(words, (0, at), (left, 0), **style)


def _high(found: Sequence[Ratio]) -> float:
    """Inches: a line for each ratio, and one for each workload above its own."""
    return 1.0 + 0.4 * (len(found) + len({x.workload for x in found}))

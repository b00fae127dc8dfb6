"""Ratios of what was measured: medians, and how far they spread from start to start."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from viz.charts.caption import folded, is_slim
from viz.charts.chart import Chart, Row
from viz.picture import mpl, theme
from viz.picture.style import MODES, TICK, mode_of
from viz.words.text import Pair, mode_name, printed, row

__all__ = ["ratios"]

ROOM = 1.12  # times: on either side of what is shown


@dataclass(frozen=True, slots=True)
class Ratio:
    """One side's time to another's: the median, the lowest and the highest median of one start."""

    workload: Pair
    side: str
    against: str
    middle: float
    low: float
    high: float

    @property
    def label(self) -> Pair:
        sides = [mode_name(side) for side in (self.side, self.against)]
        return " / ".join(side[0] for side in sides), " / ".join(side[1] for side in sides)


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
    found = [x for x in _read(data) if only in x.workload[0]]
    if not found:
        raise ValueError(printed("ratios_none", only=only))
    spans = [
        row("chart_span", middle=f"{x.middle:.3g}", low=f"{x.low:.3g}", high=f"{x.high:.3g}")
        for x in found
    ]
    english, chinese = (
        sep.join(
            f"{x.workload[i]}{comma}{x.label[i]}{colon}{span[i]}"
            for x, span in zip(found, spans, strict=True)
        )
        for i, (sep, comma, colon) in enumerate([("; ", ", ", ": "), ("；", "，", "：")])
    )
    alt = row("chart_ratios_alt", all=(english, chinese))
    lines = [
        tuple(
            (
                f"{x.workload[i]}{colon}{x.label[i]}",
                *(f"{v:.3g}" for v in (x.middle, x.low, x.high)),
            )
            for i, colon in enumerate((": ", "："))
        )
        for x in found
    ]
    return Chart(
        title=row("chart_ratios"),
        alt=alt,
        head=_head(),
        rows=tuple((line[0], line[1]) for line in lines),
        draw=lambda figure, i: _draw(figure, found, i),
        size=(6.4, 0.8 + 0.55 * len(found)),
        pad=14,
        more=0.22 * len(found),
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
                _label(r["name"]),
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


def _label(name: str | Sequence[str]) -> Pair:
    """What a workload is called: one text for both languages, or two."""
    english, chinese = (name, name) if isinstance(name, str) else name
    return str(english), str(chinese)


def _draw(figure: mpl.Figure, found: Sequence[Ratio], i: int) -> None:
    """A band for each ratio: its name on its left, and on a phone above it."""
    axes = figure.add_subplot()
    slim = is_slim(figure.get_figwidth())
    ink, paper, soft, card = (theme.TOKENS[name][0] for name in ("ink", "paper", "soft", "card"))
    axes.set_xscale("log")
    axes.set_xlim(min(1, *(x.low for x in found)) / ROOM, max(1, *(x.high for x in found)) * ROOM)
    half = 0.2 if slim else 0.38  # of a band, in rows
    for at, x in enumerate(found):
        axes.axhspan(at - half, at + half, color=card, zorder=0, lw=0)
        axes.plot([1, 1], [at - half, at + half], color=ink, lw=1, marker="")
        quicker = x.middle <= 1
        color = MODES[mode][0] if (mode := mode_of(x.side)) else ink
        style: dict[str, Any] = {
            "color": color,
            "marker": "o" if quicker else "X",
            "markersize": 8 if quicker else 9,
            "markeredgecolor": paper,
            "linestyle": "none",
            "capsize": 3,
        }
        reach = [[max(x.middle - x.low, 0)], [max(x.high - x.middle, 0)]]
        axes.errorbar([x.middle], [at], xerr=reach, **style)
        name, told = x.workload[i], f"{x.label[i]}{(': ', '：')[i]}{x.middle:.2g}"
        place: dict[str, Any] = {"xycoords": ("axes fraction", "data"), "va": "center"}
        place |= {"textcoords": "offset points", "size": TICK}
        if slim:
            words = folded(f"{name}{(', ', '，')[i]}{told}", axes)
            axes.annotate(words, (0, at - half), (0, 9), color=ink, **place)
        else:
            axes.annotate(name, (0, at), (-10, 8), ha="right", color=ink, **place)
            axes.annotate(told, (0, at), (-10, -8), ha="right", color=soft, **place)
    few = axes.get_xlim()[1] < 20 * axes.get_xlim()[0]
    subs = (1.0, 1.5, 2.0, 3.0, 5.0, 7.0) if few else (1.0, 2.0, 5.0)
    axes.xaxis.set_major_locator(mpl.LogLocator(subs=subs))
    axes.xaxis.set_major_formatter("{x:g}")
    axes.xaxis.set_minor_locator(mpl.NullLocator())
    axes.grid(visible=False)
    axes.set_ylim(len(found) - 1 + half + 0.12, -half - (0.4 if slim else 0.12))
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)
    axes.set_xlabel(row("chart_ratio_axis")[i])

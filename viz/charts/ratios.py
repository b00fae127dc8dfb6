"""Ratios of what was measured: medians, and how far they spread from start to start."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from viz.charts.caption import BEHIND, SPACED, folded, is_slim
from viz.charts.chart import Chart, Row, heads
from viz.charts.curves import spaced
from viz.picture import mpl, theme
from viz.picture.cards import wide
from viz.picture.style import MODES, TICK, TINTS, mode_of
from viz.picture.theme import SMALL
from viz.words.text import Pair, capital, in_both, mode_name, row, row_text

__all__ = ["ratios"]

Words = tuple[Pair, Pair]  # what a ratio is of, and what it says
VERDICTS = ("quicker", "slower", "alike")
BESIDE = 220  # pixels that are there beside the axes
LINE = 0.22  # of a band: room for another line above it
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
        return " / ".join(side[0] for side in sides), "比".join(side[1] for side in sides)

    @property
    def verdict(self) -> str:
        """Quicker or slower, where the whole spread is; alike, where it reaches over 1."""
        return "quicker" if self.high < 1 else "slower" if self.low > 1 else "alike"


def ratios(source: str | Path | Mapping[str, Any], only: str = "") -> Chart:
    """Chart ratios: a dot is a median, its bar the spread; left of 1 is quicker.

    source: the file that `python tasks.py bench --json FILE` wrote, or what it holds; `only` picks
    the workloads whose names contain it.

    Raises ValueError for data of another form, or where no ratio is left; FileNotFoundError where
    there is no such file.

    >>> target = {"side": "ours", "against": "theirs", "most": 1.0}
    >>> target["measured"] = {"middle": 0.5, "low": 0.4, "high": 0.7}
    >>> ratios({"rows": [{"name": "sum", "targets": [target]}]}).alt[0]
    'Dot chart: Ratios of the time taken. sum, ours / theirs: 0.5 (0.4 to 0.7).'
    """
    data = source if isinstance(source, Mapping) else _load(source)
    found = [x for x in _read(data) if only in x.workload[0]]
    if not found:
        raise ValueError(row_text("ratios_none", only=only))
    spans = [
        row("chart_span", middle=f"{x.middle:.3g}", low=f"{x.low:.3g}", high=f"{x.high:.3g}")
        for x in found
    ]
    pairs = [*zip(found, spans, strict=True)]
    english = "; ".join(f"{x.workload[0]}, {x.label[0]}: {span[0]}" for x, span in pairs)
    chinese = "；".join(f"{x.workload[1]}，{x.label[1]}：{span[1]}" for x, span in pairs)
    claim, one = _claim(found), len({x.label for x in found}) == 1
    words = [_row_texts(x, one) for x in found]
    longest = max(wide(text, SMALL) for pairs in words for pair in pairs for text in pair)
    return Chart(
        title=claim,
        alt=row("chart_ratios_alt", all=(english, chinese)),
        head=heads("workload", "median", "lowest", "highest"),
        rows=tuple((_cells(x, 0), _cells(x, 1)) for x in found),
        draw=lambda figure, i: _draw(figure, found, words, longest > BESIDE, i),
        size=(6.4, 1.0 + (0.55 + 0.15 * (longest > BESIDE)) * len(found)),
        pad=14,
        more=(0.2 + 0.24 * (longest // BESIDE)) * len(found),
    )


def _claim(found: Sequence[Ratio]) -> Pair:
    """Say how often it was quicker, slower, or no difference could be measured."""
    verdicts = [x.verdict for x in found]
    parts = [row(f"ratio_{v}_in", count=verdicts.count(v)) for v in VERDICTS if v in verdicts]
    all_ = ", ".join(pair[0] for pair in parts), "，".join(pair[1] for pair in parts)
    key = "chart_ratios_of" if len({x.label for x in found}) > 1 else "chart_ratios_against"
    names = {part: spaced(mode_name(getattr(found[0], part))) for part in ("side", "against")}
    return capital(row("chart_ratios", sides=row(key, **names), all=all_))


def _cells(x: Ratio, i: int) -> Row:
    numbers = (f"{v:.3g}" for v in (x.middle, x.low, x.high))
    return f"{x.workload[i]}{(': ', '：')[i]}{x.label[i]}", *numbers


def _load(path: str | Path) -> Any:
    """Load a file of measurements; raise FileNotFoundError or ValueError if that fails."""
    try:
        return json.loads(Path(path).read_text("utf-8"))
    except FileNotFoundError as error:
        raise FileNotFoundError(row_text("ratios_missing", path=path, folder=Path.cwd())) from error
    except ValueError:  # no JSON, or no text in UTF-8
        raise ValueError(row_text("ratios_form", name=path)) from None


def _read(data: Mapping[str, Any]) -> list[Ratio]:
    """Return every ratio that was measured, in the order of the file."""
    try:
        targets = ((in_both(r["name"]), t) for r in data["rows"] for t in r["targets"])
        told = [(name, t) for name, t in targets if t["against"] and "measured" in t]
        spans = [[float(t["measured"][key]) for key in ("middle", "low", "high")] for _, t in told]
        pairs = zip(told, spans, strict=True)
        return [Ratio(name, str(t["side"]), str(t["against"]), *span) for (name, t), span in pairs]
    except (KeyError, TypeError, ValueError):
        raise ValueError(row_text("ratios_form", name="source")) from None


def _row_texts(x: Ratio, one: bool) -> Words:
    """Return the label and the verdict of a ratio; one: the title names the sides of all."""
    label = row(f"ratio_{x.verdict}", factor=f"{max(x.middle, 1 / x.middle):.2g}")
    both = f"{x.label[0]}: {label[0]}", f"{x.label[1]}：{label[1]}"
    return x.workload, label if one else both


def _draw(
    figure: mpl.Figure, found: Sequence[Ratio], words: Sequence[Words], long: bool, i: int
) -> None:
    """Draw a band for each ratio, with its name on the left, or above if long or on a phone."""
    axes = figure.add_subplot()
    slim = long or is_slim(figure.get_figwidth())
    tokens = "ink", "paper", "soft", "card", "grad"
    ink, paper, soft, card, slow = (theme.TOKENS[name][0] for name in tokens)
    axes.set_xscale("log")
    axes.set_xlim(min(1, *(x.low for x in found)) / ROOM, max(1, *(x.high for x in found)) * ROOM)
    half, top = (0.22, 0.32) if slim else (0.42, 0.46)  # of a band: its number has room in it
    points: dict[str, Any] = {"textcoords": "offset points", "size": TICK}
    both = found[0].side, found[0].against
    sides = [*map(mode_of, both)]
    modes = (same := len({x.label for x in found}) == 1) and all(sides)  # each half is a mode's
    tints = [TINTS[side][0] if modes else card for side in sides]
    shades = [MODES[side][0] if modes else soft for side in sides]
    names = [n[i] if not k or n != words[k - 1][0] else "" for k, (n, _) in enumerate(words)]
    texts = []
    for name, (_, verdict) in zip(names, words, strict=True):
        said = (name and name + (": ", "：")[i], verdict[i])
        one = folded("".join(said), axes)
        texts.append("\n".join(folded(t.strip(), axes) for t in said if t) if "\n" in one else one)
    above = [LINE * text.count("\n") * slim for text in texts]
    at = 0.0
    for k, x in enumerate(found):
        at += k and 1 + above[k]
        for start, end, tint in zip((0, 1), (1, 1e9), tints, strict=True):
            axes.fill_between([start or 1e-9, end], at - top, at + half, color=tint, lw=0, zorder=0)
        axes.plot([1, 1], [at - top, at + half], color=ink, lw=1, marker="", zorder=1)
        alike, quick = x.verdict == "alike", MODES.get(mode_of(x.side), (ink, ink))[0]
        color = soft if alike else quick if x.low <= 1 else shades[1] if modes else slow
        axes.hlines(at, x.low, x.high, color=color, lw=7, alpha=0.45, zorder=2)
        style: dict[str, Any] = {"mec": color if alike else paper, "mfc": paper if alike else color}
        axes.plot([x.middle], [at], "os"[x.middle > 1], markersize=9, zorder=3, **style)
        value: dict[str, Any] = {"ha": "center", "color": ink, "zorder": 2}  # beneath its dot
        # It hides the line at 1, within its band.
        value |= {"bbox": {**BEHIND, "facecolor": tints[x.middle > 1], "pad": -1}}
        axes.annotate(f"{x.middle:.2g}", (x.middle, at), (0, 7), **value, **points)
        place = {"xycoords": ("axes fraction", "data"), "va": "center", **points}
        if slim:
            place |= {"va": "bottom", **SPACED}
            axes.annotate(texts[k], (0, at - top), (0, 3), **place)
        else:
            for line, y, shade in ((names[k], 8, ink), (words[k][1][i], -8, color)):
                axes.annotate(line, (0, at), (-10, y), ha="right", color=shade, **place)
    low, place = at + half, {"xycoords": ("axes fraction", "data"), "va": "top", **points}
    for k, (side, key) in enumerate(zip(both, ("chart_left", "chart_right"), strict=True)):
        text = row("chart_quicker", side=mode_name(side))[i] if modes else row(key)[i]
        place |= {"ha": ("left", "right")[k], "color": shades[k]}
        axes.annotate(f"{text} →" if k else f"← {text}", (k, low), (0, -4), **place)
    few = axes.get_xlim()[1] < 20 * axes.get_xlim()[0]
    subs = (1.0, 1.5, 2.0, 3.0, 5.0, 7.0) if few else (1.0, 2.0, 5.0)
    axes.xaxis.set_major_locator(mpl.LogLocator(subs=subs))
    axes.xaxis.set_major_formatter("{x:g}")
    axes.xaxis.set_minor_locator(mpl.NullLocator())
    axes.grid(visible=False)
    axes.set_ylim(low + 0.4, -top - (0.4 + above[0] if slim else 0.12))
    axes.spines["left"].set_visible(False)
    key, of = "chart_ratio_axis_of" if same else "chart_ratio_axis", map(mode_name, both)
    axes.set(yticks=[], xlabel=row(key, sides=" / ".join(name[i] for name in of))[i])

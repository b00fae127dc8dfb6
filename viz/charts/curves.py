"""Lines over steps: losses, norms, whatever is recorded once for each step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from minigrad.diagnostics.messages import Pair
from viz.charts.caption import Values, caption, name_ends
from viz.charts.chart import Chart, Row
from viz.picture import mpl
from viz.picture.style import GRADIENTS, colors_of
from viz.words.text import capital, in_both, mode_name, row

__all__ = ["curves"]

Label = str | Pair
Size = tuple[float, float]
HALO = 3.5  # points by which a line is wider than one that covers it
NEAR = 0.01  # of what is shown from lowest to highest: lines so near cover each other
FOLD = 0.6  # of a panel's height is between two
LEAST = 1e-4  # number that is written without a power of ten
POINTS = 500  # of a line that are drawn; of a longer one every second, third, …
POWERS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
HEAD: Row = "series", "count", "first", "last", "min", "max"
HEAD_ZH: Row = "序列", "个数", "首值", "末值", "最小值", "最大值"


@dataclass(frozen=True)
class Lines:
    """What one pair of axes shows: its title, the word at its axis, a row of numbers by name."""

    title: Pair
    y: Pair
    lines: Sequence[tuple[Pair, Values]]
    logy: bool = False
    gradient: bool = False  # shades of orange, as everywhere

    @property
    def drawn(self) -> list[tuple[Pair, Values]]:
        """The lines to draw: of equal ones the first, with the names of all."""
        found: dict[bytes, tuple[Pair, Values]] = {}
        for name, values in self.lines:
            (one, other), _ = found.get(key := values.tobytes(), (("", ""), values))
            named = (f"{one} and {name[0]}", f"{other}、{name[1]}") if one else name
            found[key] = named, values
        return [*found.values()]

    @property
    def claim(self) -> Pair:
        """What one sees in it, as the numbers have it."""
        found = _describe_ends(self.lines, self.logy)
        if [self.title] == [name for name, _ in self.lines]:
            return capital(found)
        if not self.title[0]:
            return self.title
        return capital((f"{self.title[0]}: {found[0]}", f"{self.title[1]}：{found[1].strip()}"))


def curves(
    series: Mapping[str, Sequence[float]] | Mapping[Label, Sequence[float]],
    *,
    title: Pair,
    x: Pair,
    y: Pair,
    logy: bool = False,
) -> Chart:
    """Draw each series over 0, 1, 2, … as a line in its own colour, labelled at its end.

    ``title``, ``x`` and ``y`` (axis labels, with the unit) are pairs (English, Chinese); so are
    the names of the series, or one string for both. The title goes on to say what the numbers show.
    Values that are not finite leave a gap.

    Raises:
        ValueError: there is no series, one is empty or not a plain sequence, or ``logy`` meets a
            value that is not above 0.

    >>> chart = curves(
    ...     {"SGD": [2, 1]}, title=("Loss", "损失"), x=("step", "步"), y=("loss", "损失")
    ... )
    >>> print(chart.title[0], chart.alt[0], sep="; ")  # doctest: +ELLIPSIS
    Loss: SGD falls from 2 to 1; Line chart: Loss. loss against step, 1 series. SGD, 2 values: ...
    """
    lines = [(mode_name(name), np.asarray(values, float)) for name, values in series.items()]
    _check(lines, logy)
    return stacked([Lines(in_both(title), in_both(y), lines, logy)], in_both(x))


def stacked(parts: Sequence[Lines], x: Pair, size: Size = (6.4, 3.4), first: int = 0) -> Chart:
    """Stack line charts over steps from `first`; the first one's claim is the title of all."""
    alt = []
    for i, (gap, words, end, sep) in enumerate(
        ((", ", " values: ", ". ", "; "), ("，", " 个值：", "。", "；"))
    ):
        texts = [
            f"{name[i]}{gap}{len(v)}{words}{_number(v[0])} → {_number(v[-1])}"
            for part in parts
            for name, v in part.lines
        ]
        about = {"title": end.join(p.title[i] for p in parts), "y": parts[0].y[i]}
        alt.append(row("chart_curves_alt", **about, x=x, count=len(texts), all=sep.join(texts))[i])
    return Chart(
        title=parts[0].claim,
        alt=(alt[0], alt[1]),
        head=(HEAD, HEAD_ZH),
        rows=tuple(((n[0], *_facts(v)), (n[1], *_facts(v))) for p in parts for n, v in p.lines),
        draw=partial(_draw_all, parts=parts, x=x, first=first),
        size=size,
        more=0.6 * (len(parts) - 1),
        tall=min(6.4, 3.2 * len(parts)),  # a wide screen shows as much at once
    )


def _describe_ends(lines: Sequence[tuple[Pair, Values]], logy: bool) -> Pair:
    """Describe where a single line starts and ends, or how the ends of several lines compare."""
    (name, values), *others = [(spaced(name), v) for name, v in lines]
    first, last = (float(values[k]) for k in (0, -1))
    if not others:
        way = "falls" if last < first else "rises" if last > first else "stays"
        both = {"first": spoken(first), "last": spoken(last)}
        return row(f"curve_{way if np.isfinite(last - first) else 'ends'}", name=name, **both)
    if all(_cover_counts([v for _, v in lines], logy)[:-1]):
        return row("curve_same", count=len(lines))
    ends = [(_end(v, np.nan)[1], spaced(name), v) for name, v in lines]
    (low, lowest, a), *_, (high, highest, b) = sorted(ends, key=lambda end: end[0])
    names = {"low": lowest, "high": highest}
    if others[1:]:
        return row("curve_span", **names)
    if not 0 < low < high < np.inf:
        return row("curve_alike" if low == high else "curve_lower", **names)
    if len(a) == len(b) and np.any(a > b):
        return row("curve_below", at=str(np.flatnonzero(a >= b)[-1] + 1), **names)
    if low > high / 2:
        return row("curve_percent", percent=f"{100 * (1 - low / high):.2g}", **names)
    return row("curve_times", times=spoken(float(f"{high / low:.2g}")), **names)


def spaced(name: Pair) -> Pair:
    """Put spaces around a name in Latin letters within a Chinese sentence."""
    return name[0], f" {name[1]} " if name[1][-1:].isascii() else name[1]


def spoken(value: float, powers: bool = False) -> str:
    """Format a number with few digits, for reading; powers: with one of ten, whatever its size.

    >>> spoken(0.12345), spoken(3.7e-7), spoken(5000.0)
    ('0.123', '3.7\xa0×\xa010⁻⁷', '5000')
    """
    if not np.isfinite(value) or value == 0 or (LEAST <= abs(value) < 1e6 and not powers):
        return f"{value + 0.0:.3g}" if not abs(value) >= 1000 else f"{value:.0f}"
    digits, power = f"{value:.1e}".split("e")
    ten = f"10{str(int(power)).translate(POWERS)}"
    return ten if digits == "1.0" else f"{digits}\xa0×\xa0{ten}"


def _check(lines: Sequence[tuple[Pair, Values]], logy: bool) -> None:
    if not lines:
        raise ValueError("curves: there is no series to draw; give at least one")
    for (name, _), values in lines:
        if values.ndim != 1 or not values.size:
            raise ValueError(f"curves: {name!r} must be a row of numbers, got shape {values.shape}")
        if logy and np.any(values <= 0):
            raise ValueError(f"curves: {name!r} has a value that is not above 0; use logy=False")


def _draw_all(figure: mpl.Figure, i: int, *, parts: Sequence[Lines], x: Pair, first: int) -> None:
    between = {"hspace": FOLD * min(1, 4 * len(parts) / figure.get_figwidth())}
    panels = np.ravel(figure.subplots(len(parts), 1, sharex=True, gridspec_kw=between))
    last = first - 1 + max(len(values) for part in parts for _, values in part.lines)
    found = mpl.MaxNLocator(8, integer=True, steps=[1, 2, 5, 10]).tick_values(first, last)
    clear = 0.11 * (last - first)  # of both ends, which have a tick, too
    ticks = [first, *(int(x) for x in found if first + clear / 2 < x < last - clear), last]
    for k, (axes, part) in enumerate(zip(panels, parts, strict=True)):
        _draw(axes, part, i, part.claim if k else part.y, ticks)
    panels[-1].set_xticks(sorted({*ticks}))
    panels[-1].set_xlabel(x[i])


def _draw(axes: mpl.Axes, part: Lines, i: int, above: Pair, ticks: Sequence[int]) -> None:
    drawn = part.drawn
    names = [(f"{n[i]} {spoken(float(v[-1]))}", v) for n, v in drawn]
    colors = colors_of([n[0] for n, _ in drawn])
    if part.gradient:
        colors = [GRADIENTS[k % len(GRADIENTS)][0] for k in range(len(names))]
    axes.yaxis.set_major_locator(mpl.MaxNLocator(5, steps=[1, 2, 2.5, 5, 10]))
    wide = 1.5 + HALO * np.array(_cover_counts([v for _, v in names], part.logy))
    for k, (name, values) in enumerate(drawn):
        at = np.unique([*range(0, len(values), -(-len(values) // POINTS)), len(values) - 1])
        last = len(at) - 1
        shift = k * max(1, last // len(ticks)) // len(names) if max(wide) > HALO else 0
        found = np.searchsorted(at, [t - ticks[0] for t in ticks]) - shift
        marked = sorted({last, *(int(m) for m in found if 0 <= m <= last)})
        look: dict[str, Any] = {"markevery": marked, "lw": wide[k], "zorder": 3}  # above the axis
        axes.plot(at + ticks[0], values[at], label=name[i], color=colors[k], clip_on=False, **look)
    axes.tick_params(axis="x", labelbottom=True)
    axes.margins(x=0)  # a line ends at its name
    if part.logy:
        _logarithmic(axes)
    low, high = axes.get_ylim()
    high = axes.dataLim.y1 if axes.dataLim.height > 0 else high  # no axis above what is drawn
    axes.set_ylim(0 if not part.logy and 0 < low < high / 2 else low, high)
    axes.yaxis.set_major_formatter(lambda tick, _: spoken(tick, part.logy and high > 100 * low))
    caption(axes, (row("chart_log", what=above) if part.logy else above)[i])
    ends = [(*_end(v, low, ticks[0]), n, c) for (n, v), c in zip(names, colors, strict=True)]
    name_ends(axes, ends)


def _cover_counts(lines: Sequence[Values], logy: bool) -> list[int]:
    """Count for each line the later ones that cover it: it must show on both sides of them."""
    drawn = [np.log(v) if logy else v for v in lines]
    finite = np.concatenate([v[np.isfinite(v)] for v in drawn])
    near = NEAR * float(np.ptp(finite)) if finite.size else 0.0

    def same(a: Values, b: Values) -> bool:
        count = min(len(a), len(b))
        with np.errstate(invalid="ignore"):
            return bool(np.mean(np.abs(a[:count] - b[:count]) <= near) > 0.5)

    return [sum(same(a, b) for b in drawn[k + 1 :]) for k, a in enumerate(drawn)]


def _logarithmic(axes: mpl.Axes) -> None:
    axes.set_yscale("log")
    bottom, top = axes.get_ylim()
    subs = (1.0, 2.0, 5.0) if top < 100 * bottom else (1.0,)
    axes.yaxis.set_major_locator(mpl.LogLocator(subs=subs))
    axes.yaxis.set_minor_locator(mpl.NullLocator())


def _end(values: Values, otherwise: float, start: int = 0) -> tuple[float, float]:
    """Return where a line from a step ends: at its last finite value."""
    finite = np.flatnonzero(np.isfinite(values))
    last = int(finite[-1]) if finite.size else 0
    return start + last, float(values[last]) if finite.size else otherwise


def _facts(values: Values) -> Row:
    finite = values[np.isfinite(values)]
    low, high = (_number(finite.min()), _number(finite.max())) if finite.size else ("nan", "nan")
    return str(len(values)), _number(values[0]), _number(values[-1]), low, high


def _number(value: float) -> str:
    return f"{value + 0.0:.4g}"  # adding 0 turns -0 into 0

"""Lines over steps: losses, norms, whatever is recorded once for each step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from minigrad.diagnostics.messages import Pair
from viz.charts.caption import Values, caption, name_ends
from viz.charts.chart import Chart, Row
from viz.picture import mpl
from viz.picture.style import colors_of
from viz.words.text import in_both

__all__ = ["curves"]

Label = str | Pair
HALO = 3.5  # points by which a line is wider than one that covers it
NEAR = 0.01  # of what is shown from lowest to highest: lines so near cover each other
HEAD: tuple[Row, Row] = (
    ("series", "count", "first", "last", "min", "max"),
    ("序列", "个数", "首值", "末值", "最小值", "最大值"),
)


def curves(
    series: Mapping[str, Sequence[float]] | Mapping[Label, Sequence[float]],
    *,
    title: Pair,
    x: Pair,
    y: Pair,
    logy: bool = False,
) -> Chart:
    """Draw each series over 0, 1, 2, … as a line of its own colour, named where it ends.

    ``title``, ``x`` and ``y`` (axis labels, with the unit) are pairs (English, Chinese); so are
    the names of the series, or one string for both. Values that are not finite leave a gap.

    Raises:
        ValueError: there is no series, one is empty or not a plain sequence, or ``logy`` meets a
            value that is not above 0.

    >>> curves({"SGD": [2, 1]}, title=("Loss", "损失"), x=("step", "步"), y=("loss", "损失")).alt[0]
    'Line chart: Loss. loss against step, 1 series. SGD, 2 values: 2 → 1.'
    """
    lines = [(in_both(name), np.asarray(values, dtype=float)) for name, values in series.items()]
    title, x, y = map(in_both, (title, x, y))
    colors = colors_of([name[0] for name, _ in lines])
    _check(lines, logy)
    english, chinese = (
        [f"{name[i]}{gap}{len(v)}{words}{_number(v[0])} → {_number(v[-1])}" for name, v in lines]
        for i, gap, words in [(0, ", ", " values: "), (1, "，", " 个值：")]
    )
    return Chart(
        title=title,
        alt=(
            f"Line chart: {title[0]}. {y[0]} against {x[0]}, {len(lines)} series. "
            f"{'; '.join(english)}.",
            f"折线图：{title[1]}。横轴为{x[1]}，纵轴为{y[1]}，共 {len(lines)} 条曲线。"
            f"{'；'.join(chinese)}。",
        ),
        head=HEAD,
        rows=tuple(((name[0], *_facts(v)), (name[1], *_facts(v))) for name, v in lines),
        draw=lambda figure, i: _draw_curves(
            figure, [(n[i], v) for n, v in lines], colors, x[i], y[i], logy
        ),
    )


def _check(lines: Sequence[tuple[Pair, Values]], logy: bool) -> None:
    if not lines:
        raise ValueError("curves: there is no series to draw; give at least one")
    for (name, _), values in lines:
        if values.ndim != 1 or not values.size:
            raise ValueError(f"curves: {name!r} must be a row of numbers, got shape {values.shape}")
        if logy and np.any(values <= 0):
            raise ValueError(f"curves: {name!r} has a value that is not above 0; use logy=False")


def _draw_curves(
    figure: mpl.Figure,
    lines: Sequence[tuple[str, Values]],
    colors: Sequence[str],
    x: str,
    y: str,
    logy: bool,
) -> None:
    axes = figure.add_subplot()
    axes.set_xlabel(x)
    axes.xaxis.set_major_locator(mpl.MaxNLocator(integer=True, steps=[1, 2, 5, 10]))
    axes.ticklabel_format(style="plain", useOffset=False)
    wide = 1.5 + HALO * np.array(_covered([v for _, v in lines], logy))
    for k, (name, values) in enumerate(lines):
        step = max(1, len(values) // 8)
        where = (k * step // len(lines), step)
        axes.plot(values, markevery=where, label=name, color=colors[k], lw=wide[k])
    if logy:
        _logarithmic(axes)
    caption(axes, y)
    ends = [_end(values, axes.get_ylim()[0]) for _, values in lines]
    name_ends(axes, [(*e, n, c) for e, (n, _), c in zip(ends, lines, colors, strict=True)])


def _covered(lines: Sequence[Values], logy: bool) -> list[int]:
    """For each line, how many drawn after it run where it runs: it must show on both sides."""
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
    axes.yaxis.set_major_formatter("{x:g}")
    axes.yaxis.set_minor_formatter(mpl.NullFormatter())


def _end(values: Values, otherwise: float) -> tuple[float, float]:
    """Where a line ends: at its last finite value."""
    finite = np.flatnonzero(np.isfinite(values))
    return (float(finite[-1]), float(values[finite[-1]])) if finite.size else (0.0, otherwise)


def _facts(values: Values) -> Row:
    finite = values[np.isfinite(values)]
    low, high = (_number(finite.min()), _number(finite.max())) if finite.size else ("nan", "nan")
    return str(len(values)), _number(values[0]), _number(values[-1]), low, high


def _number(value: float) -> str:
    return f"{value + 0.0:.4g}"  # adding 0 turns -0 into 0

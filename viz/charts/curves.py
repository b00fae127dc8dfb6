"""Lines over steps: losses, norms, whatever is recorded once for each step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from minigrad.diagnostics.messages import Pair
from viz.charts.caption import caption, is_slim
from viz.charts.chart import Chart, Row
from viz.picture import mpl
from viz.words.text import in_both

__all__ = ["curves"]

Label = str | Pair
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
    """Draw each series over 0, 1, 2, … as one line with its own colour, dashes and marker.

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
            figure, [(n[i], v) for n, v in lines], x[i], y[i], logy
        ),
    )


Values = NDArray[np.float64]


def _check(lines: Sequence[tuple[Pair, Values]], logy: bool) -> None:
    if not lines:
        raise ValueError("curves: there is no series to draw; give at least one")
    for (name, _), values in lines:
        if values.ndim != 1 or not values.size:
            raise ValueError(f"curves: {name!r} must be a row of numbers, got shape {values.shape}")
        if logy and np.any(values <= 0):
            raise ValueError(f"curves: {name!r} has a value that is not above 0; use logy=False")


def _draw_curves(
    figure: mpl.Figure, lines: Sequence[tuple[str, Values]], x: str, y: str, logy: bool
) -> None:
    axes = figure.add_subplot()
    axes.set_xlabel(x)
    axes.xaxis.set_major_locator(mpl.MaxNLocator(integer=True, steps=[1, 2, 5, 10]))
    axes.ticklabel_format(style="plain", useOffset=False)
    drawn = []
    for k, (name, values) in enumerate(lines):
        step = max(1, len(values) // 8)
        drawn += axes.plot(values, markevery=(k * step // len(lines), step), label=name)
    if logy:
        _logarithmic(axes)
    if is_slim(figure):
        return caption(axes, y, drawn)
    axes.set_ylabel(y, rotation=0, ha="left", va="bottom")
    axes.yaxis.set_label_coords(0, 1.03)
    bottom_and_top = axes.get_ylim()  # also brings the transforms up to date
    ends = [(0, _last_finite(values, bottom_and_top[0])) for _, values in lines]
    heights = (axes.transData - axes.transAxes).transform(ends)[:, 1]
    for (name, _), line, height in zip(lines, drawn, _spread(heights, 0.09), strict=True):
        _name_line(axes, line, name, height)
    return None


def _name_line(axes: mpl.Axes, line: mpl.Line2D, name: str, height: float) -> None:
    """Write the name at the right edge, behind a short piece of the line it belongs to."""
    key = mpl.Line2D([1.01, 1.05, 1.09], [height] * 3, markevery=[1], transform=axes.transAxes)
    key.set(color=line.get_color(), linestyle=line.get_linestyle(), marker=line.get_marker())
    axes.add_line(key).set_clip_on(False)
    axes.text(1.105, height, name, transform=axes.transAxes, va="center_baseline")


def _logarithmic(axes: mpl.Axes) -> None:
    axes.set_yscale("log")
    bottom, top = axes.get_ylim()
    subs = (1.0, 2.0, 5.0) if top < 100 * bottom else (1.0,)
    axes.yaxis.set_major_locator(mpl.LogLocator(subs=subs))
    axes.yaxis.set_major_formatter("{x:g}")
    axes.yaxis.set_minor_formatter(mpl.NullFormatter())


def _last_finite(values: Values, otherwise: float) -> float:
    finite = values[np.isfinite(values)]
    return float(finite[-1]) if finite.size else otherwise


def _spread(heights: Values, gap: float) -> Values:
    """Move heights apart, in their order, until neighbours differ by the gap; stay below 1."""
    order = np.argsort(heights, kind="stable")
    steps = gap * np.arange(len(heights))
    raised = np.maximum.accumulate(heights[order] - steps) + steps
    placed: Values = np.empty_like(raised)
    placed[order] = np.minimum(raised, max(1.0, steps[-1]) - steps[::-1])
    return placed


def _facts(values: Values) -> Row:
    finite = values[np.isfinite(values)]
    low, high = (_number(finite.min()), _number(finite.max())) if finite.size else ("nan", "nan")
    return str(len(values)), _number(values[0]), _number(values[-1]), low, high


def _number(value: float) -> str:
    return f"{value + 0.0:.4g}"  # adding 0 turns -0 into 0

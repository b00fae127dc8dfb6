"""Charts, drawn once in English and once in Chinese, with the same content as text.

Figures are made without pyplot and inside a style that is undone again, so a user's own plots,
back end and settings are never touched.
"""

import base64
import io
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import cache
from html import escape
from pathlib import Path
from typing import Any, Literal
from unicodedata import east_asian_width

import matplotlib as mpl
import numpy as np
from cycler import cycler
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.font_manager import fontManager
from matplotlib.lines import Line2D
from matplotlib.ticker import LogLocator, MaxNLocator, NullFormatter
from numpy.typing import NDArray

from minigrad.messages import Pair
from viz import theme

__all__ = ["Chart", "chart_style", "curves"]

Label = str | Pair
Lang = Literal["en", "zh"]
Row = tuple[str, ...]
LANGS: tuple[Lang, Lang] = ("en", "zh")

# Yellow is left out: on white it is invisible. Seven colours and four line styles: 28 pairs.
COLORS = [
    theme.BLUE,
    theme.VERMILION,
    theme.GREEN,
    theme.PINK,
    theme.ORANGE,
    theme.SKY,
    theme.BLACK,
]
LINES = ["-", "--", "-.", ":"]
MARKERS = ["o", "s", "^", "D", "v", "P", "X"]

STYLE: dict[Any, Any] = {
    "font.family": [theme.FONT_FAMILY, "DejaVu Sans"],
    "font.size": 11,
    "text.parse_math": False,  # a name such as "a$b$" is a name, not a formula
    "axes.unicode_minus": True,  # the font has U+2212
    "axes.titlesize": 14,
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": "#555555",
    "axes.axisbelow": True,
    "axes.grid": True,
    "axes.grid.axis": "y",
    "grid.color": "#DDDDDD",
    "axes.prop_cycle": cycler(color=COLORS * 4)
    + cycler(linestyle=LINES * 7)
    + cycler(marker=MARKERS * 4),
    "lines.linewidth": 2.0,
    "lines.markersize": 7.0,
    "lines.markeredgecolor": theme.WHITE,
    "figure.figsize": (6.4, 3.4),
    "figure.facecolor": theme.WHITE,
    "savefig.dpi": 200,
    "savefig.bbox": "tight",
    "savefig.pad_inches": 0.12,
    "svg.hashsalt": "minigrad",  # the same chart gives the same file
}
UNDATED: dict[str, dict[str, Any]] = {
    "png": {},
    "svg": {"Date": None},
    "pdf": {"CreationDate": None},
}

TABLE: Pair = ("The figures as a table", "数据表")
HEAD: tuple[Row, Row] = (
    ("series", "count", "first", "last", "min", "max"),
    ("序列", "个数", "首值", "末值", "最小值", "最大值"),
)


@cache
def _register_font() -> None:
    fontManager.addfont(theme.FONT_PATH)


def chart_style() -> AbstractContextManager[None]:
    """Return a context in which matplotlib draws as the lessons do, Chinese included.

    Figures must be made and saved inside it; afterwards the user's settings are back.

    >>> import matplotlib as mpl
    >>> with chart_style():
    ...     print(mpl.rcParams["font.family"])
    ['Noto Sans SC', 'DejaVu Sans']
    """
    _register_font()
    return mpl.rc_context(STYLE)


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart in two languages: title, alternative text, table and the function that draws it.

    ``draw(axes, i)`` paints with the texts of language i (0 English, 1 Chinese); ``head`` and
    ``rows`` hold the same content as text, one row for each series and language.
    """

    title: Pair
    alt: Pair
    head: tuple[Row, Row]
    rows: tuple[tuple[Row, Row], ...]
    draw: Callable[[Axes, int], None] = field(repr=False)

    def save(self, path: str | Path, lang: str = "en") -> None:
        """Write the chart in one language as PNG, SVG or PDF, chosen by the name's ending.

        Raises:
            ValueError: the ending or the language is none of these.

        >>> chart = curves({"SGD": [2.0, 1.0]}, title=("Loss", "损失"), x=("", ""), y=("", ""))
        >>> chart.save("loss.txt")
        Traceback (most recent call last):
        ValueError: save: the name ends in .png, .svg or .pdf, got 'loss.txt'
        """
        kind = Path(path).suffix[1:].lower()
        if kind not in UNDATED:
            raise ValueError(f"save: the name ends in .png, .svg or .pdf, got {str(path)!r}")
        if lang not in LANGS:
            raise ValueError(f'save: lang is "en" or "zh", got {lang!r}')
        Path(path).write_bytes(self._render(kind, LANGS.index(lang)))

    def _render(self, kind: str, i: int) -> bytes:
        with chart_style(), io.BytesIO() as file:
            figure = Figure()
            axes = figure.add_subplot()
            self.draw(axes, i)
            axes.set_title(self.title[i], pad=26)
            figure.savefig(file, format=kind, metadata=UNDATED[kind])
            return file.getvalue()

    def _repr_mimebundle_(self, **_: object) -> dict[str, str]:
        parts = "".join(self._html(i) for i in range(len(LANGS)))
        return {
            "text/plain": self._text(),
            "text/html": f'<figure class="mg-chart">{parts}</figure>',
        }

    def _html(self, i: int) -> str:
        png = self._render("png", i)
        width = int.from_bytes(png[16:20]) // 2  # the header's width; two pixels for each CSS pixel
        source = base64.b64encode(png).decode()
        return (
            f'<div lang="{LANGS[i]}"><img alt="{escape(self.alt[i])}" width="{width}" '
            f'style="max-width:100%" src="data:image/png;base64,{source}">'
            f"<details><summary>{TABLE[i]}</summary>{self._table(i)}</details></div>"
        )

    def _table(self, i: int) -> str:
        head = "".join(f'<th scope="col">{escape(name)}</th>' for name in self.head[i])
        rows = "".join(
            f'<tr><th scope="row">{escape(row[i][0])}</th>'
            + "".join(f"<td>{escape(cell)}</td>" for cell in row[i][1:])
            + "</tr>"
            for row in self.rows
        )
        return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"

    def _text(self) -> str:
        rows = [*self.head, *(tuple(map(_both, en, zh)) for en, zh in self.rows)]
        widths = [max(map(_columns, column)) for column in zip(*rows, strict=True)]
        lines = [
            "  ".join([_pad(name, widths[0]), *map(_pad_left, cells, widths[1:])])
            for name, *cells in rows
        ]
        return "\n".join([_both(*self.title), *lines])


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
    lines = [(_pair(name), np.asarray(values, dtype=float)) for name, values in series.items()]
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
        draw=lambda axes, i: _draw_curves(axes, [(n[i], v) for n, v in lines], x[i], y[i], logy),
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
    axes: Axes, lines: Sequence[tuple[str, Values]], x: str, y: str, logy: bool
) -> None:
    axes.set_xlabel(x)
    axes.set_ylabel(y, rotation=0, ha="left", va="bottom")
    axes.yaxis.set_label_coords(0, 1.03)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True, steps=[1, 2, 5, 10]))
    axes.ticklabel_format(style="plain", useOffset=False)
    drawn = []
    for k, (_, values) in enumerate(lines):
        step = max(1, len(values) // 8)
        drawn += axes.plot(values, markevery=(k * step // len(lines), step))
    if logy:
        _logarithmic(axes)
    bottom_and_top = axes.get_ylim()  # also brings the transforms up to date
    ends = [(0, _last_finite(values, bottom_and_top[0])) for _, values in lines]
    heights = (axes.transData - axes.transAxes).transform(ends)[:, 1]
    for (name, _), line, height in zip(lines, drawn, _spread(heights, 0.09), strict=True):
        _name_line(axes, line, name, height)


def _name_line(axes: Axes, line: Line2D, name: str, height: float) -> None:
    """Write the name at the right edge, behind a short piece of the line it belongs to."""
    key = Line2D([1.01, 1.05, 1.09], [height] * 3, markevery=[1], transform=axes.transAxes)
    key.set(color=line.get_color(), linestyle=line.get_linestyle(), marker=line.get_marker())
    axes.add_line(key).set_clip_on(False)
    axes.text(1.105, height, name, transform=axes.transAxes, va="center_baseline")


def _logarithmic(axes: Axes) -> None:
    axes.set_yscale("log")
    bottom, top = axes.get_ylim()
    subs = (1.0, 2.0, 5.0) if top < 100 * bottom else (1.0,)
    axes.yaxis.set_major_locator(LogLocator(subs=subs))
    axes.yaxis.set_major_formatter("{x:g}")
    axes.yaxis.set_minor_formatter(NullFormatter())


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


def _pair(label: Label) -> Pair:
    return (label, label) if isinstance(label, str) else label


def _both(english: str, chinese: str) -> str:
    """One line that serves readers of both languages."""
    text = english if english == chinese else f"{english} · {chinese}"
    return " ".join(text.split())


def _columns(text: str) -> int:
    """Columns of a terminal that a text takes; a Chinese character takes two."""
    return sum(2 if east_asian_width(character) in "WF" else 1 for character in text)


def _pad(text: str, width: int) -> str:
    return text + " " * (width - _columns(text))


def _pad_left(text: str, width: int) -> str:
    return " " * (width - _columns(text)) + text

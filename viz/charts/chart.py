"""What a chart is: drawn once in English and once in Chinese, with the same content as text.

Figures are made without pyplot and inside a style that is undone again, so a user's own plots,
back end and settings are never touched.
"""

from __future__ import annotations

import io
import os
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from html import escape
from itertools import product
from pathlib import Path
from string import Template
from typing import Any, Literal
from unicodedata import east_asian_width

from minigrad.diagnostics.messages import Pair
from viz import assets
from viz.assets import source
from viz.charts.caption import AXES, SPACED, align, folded, is_slim
from viz.charts.image import BROAD, BROADER, NARROW, as_image
from viz.page.document import DARK, FONT, LIGHT, Document, table_html
from viz.page.stored import ROOM
from viz.picture import mpl
from viz.picture.fonts import font_face
from viz.picture.style import UNDATED, chart_style
from viz.words.text import bilingual, in_language, row
from viz.words.user import ending, write

__all__ = ["Chart"]

Row = tuple[str, ...]
LANGS: tuple[Literal["en"], Literal["zh"]] = ("en", "zh")
# Pixels that a page has for a chart at least: on a phone, in a notebook, on a wide screen, and
# there beside the contents of a page to read.
PHONE, SCREEN, WIDE, BESIDE = 318, 656, 1180, 1060
LARGEST = round(1.15 * SCREEN)  # to which a chart grows with its page, so that its words stay small
IN_PAGE: Any = {"svg.fonttype": "none"}  # texts are texts
MARGIN = 0.02  # inches around it: its card has room
NEAR, TRIES = 8, 5  # pixels by which a chart may be narrower; how often it is tried
FINE = re.compile(r"(?<=\.\d)\d+(?= [\d\n-])")  # of a place, less than a tenth of a pixel


# A card as wide as its page. An image knows the system's theme; here we pass it the notebook's.
STYLE_OF_PAGE = Template(source("chart.css")).substitute(
    font=FONT, narrow=NARROW, broad=BROAD, largest=LARGEST, dark=DARK, light=LIGHT
)
TITLE = "font-size:16px;font-weight:600;text-align:left"
TABLE: Pair = ("The figures as a table", "数据表")


FORMATS = (".html", ".png", ".svg", ".pdf")


@dataclass(frozen=True, slots=True)
class Chart(Document):
    """A chart in two languages: title, alternative text, table and the function that draws it.

    ``draw(figure, i)`` paints with the texts of language i (0 English, 1 Chinese); ``head`` and
    ``rows`` hold the same content as text, one row for each series and language. ``size`` is width
    and height in inches, ``pad`` points between the title and the first axes. A notebook has it as
    wide as its cells; a page has it for a wide screen, too, where it is at least ``tall`` inches
    high, and for a phone, where it is ``more`` inches higher.
    """

    title: Pair
    alt: Pair
    head: tuple[Row, Row]
    rows: tuple[tuple[Row, Row], ...]
    draw: Callable[[mpl.Figure, int], None] = field(repr=False)
    size: tuple[float, float] = (6.4, 3.4)
    pad: float = 26
    more: float = 0
    tall: float = 0

    def save(self, path: str | Path, lang: str = "en") -> Path:
        """Write the chart in one language as PNG, SVG or PDF, or as HTML in both.

        The ending of the name chooses. An HTML file is a page that opens without a network.

        Raises:
            ValueError: the ending or the language is none of these.

        >>> from viz import curves
        >>> chart = curves({"SGD": [2.0, 1.0]}, title=("Loss", "损失"), x=("", ""), y=("", ""))
        >>> chart.save("loss.txt")  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        ValueError: save: the end of the file name decides the format, ... .save("loss.html").
        """
        kind = ending(path, FORMATS)[1:]
        if kind == "html":
            return Document.save(self, path)  # slots: made anew, so that super() is not known
        if lang not in LANGS:
            raise ValueError(f'save: lang is "en" or "zh", got {lang!r}')
        i = LANGS.index(lang)
        with chart_style(), io.BytesIO() as file:
            figure = self._figure(i, self.title[i], self.size[0])
            figure.savefig(file, format=kind, metadata=UNDATED[kind])
            write(path, file.getvalue())
        return Path(path)

    def _figure(self, i: int, title: str | None, wide: float) -> mpl.Figure:
        """Draw the chart, so many inches wide; without a title, to see how wide it comes out."""
        high = self.size[1] + self.more * is_slim(wide)
        figure = mpl.Figure((wide, max(high, self.tall) if wide > WIDE / 120 else high))
        self.draw(figure, i)
        for axes in figure.axes:
            axes.set_xlabel(folded(axes.get_xlabel(), axes), **SPACED)
            for line in axes.get_ygridlines():
                line.set_clip_on(False)  # whole at the top, too
        if title is not None:
            align(figure, figure.axes[0].set_title(title, pad=self.pad))
        return figure

    def _repr_mimebundle_(self, **_: object) -> dict[str, str]:
        return {"text/plain": self._text(), "text/html": self._shown(phone=ROOM in os.environ)}

    def _page(self) -> tuple[Pair, str]:
        return self.title, self._shown(phone=True)

    def _shown(self, phone: bool) -> str:
        wide, edge = (BESIDE, BROADER) if ROOM in os.environ else (WIDE, BROAD)
        widths = (SCREEN, PHONE, wide) if phone else (SCREEN,)
        svgs = self._svgs(*product(widths, range(len(LANGS))))
        parts = "".join(self._html(i, edge, *svgs[i :: len(LANGS)]) for i in range(len(LANGS)))
        title = f'<figcaption style="{TITLE}">{bilingual(self.title)}</figcaption>'
        return f'<figure class="mg-chart">{assets.style(self._css())}{title}{parts}</figure>'

    def _css(self) -> str:
        """Return the page's style with a font for the Chinese table: a machine may have none."""
        words = [TABLE[1], self.title[1], *self.head[1], *(x for row in self.rows for x in row[1])]
        return font_face("".join(words)) + STYLE_OF_PAGE

    def _html(self, i: int, edge: int, svg: str, *others: str) -> str:
        shown = as_image(svg, self.alt[i], edge, *others)
        head, *rows = [[*map(escape, row[i])] for row in (self.head, *self.rows)]
        table = table_html(head, rows, cells='style="text-align:right"')
        fold = f"<details><summary>{TABLE[i]}</summary>{table}</details>"
        return in_language(LANGS[i], shown + fold, "div")

    def _svgs(self, *asked: tuple[int, int]) -> list[str]:
        """Render the chart as SVG in each width and language, labels beside the axes included."""
        found, beside = [], 0.0  # pixels that are not of the axes: about the same in all of them
        for pixels, i in asked:
            with chart_style(), mpl.rc_context(IN_PAGE), io.StringIO() as file:
                for _ in range(TRIES):
                    title = "" if beside else None
                    figure = self._figure(i, title, max(1, (pixels - beside) / 96 / AXES))
                    figure.dpi = 72  # as an SVG has it: texts are measured as they are written
                    pen = mpl.RendererSVG(1, 1, io.StringIO())  # type: ignore[no-untyped-call]
                    box = figure.get_tightbbox(pen).padded(MARGIN)
                    over = round(box.width * 96) - pixels
                    if beside and -NEAR <= over <= 0:
                        break
                    beside += over + NEAR / 2
                figure.savefig(file, format="svg", bbox_inches=box, metadata=UNDATED["svg"])
                found.append(FINE.sub("", file.getvalue()))
        return found

    def _text(self) -> str:
        rows = [*self.head, *(tuple(map(_both, en, zh)) for en, zh in self.rows)]
        widths = [max(map(_columns, column)) for column in zip(*rows, strict=True)]
        lines = [
            "  ".join([_pad(name, widths[0]), *map(partial(_pad, left=True), cells, widths[1:])])
            for name, *cells in rows
        ]
        return "\n".join([_both(*self.title), *lines])


def heads(*keys: str) -> tuple[Row, Row]:
    """Return the heads of a table's columns in both languages."""
    pairs = [row(f"chart_{key}") for key in keys]
    return tuple(p[0] for p in pairs), tuple(p[1] for p in pairs)


def _both(english: str, chinese: str) -> str:
    """Join both languages on one line."""
    return " ".join((english if english == chinese else f"{english} · {chinese}").split())


def _columns(text: str) -> int:
    """Return the terminal columns that a text takes; a Chinese character takes two."""
    return sum(2 if east_asian_width(character) in "WF" else 1 for character in text)


def _pad(text: str, width: int, left: bool = False) -> str:
    return (str.rjust if left else str.ljust)(text, width - _columns(text) + len(text))

"""What a chart is: drawn once in English and once in Chinese, with the same content as text.

Figures are made without pyplot and inside a style that is undone again, so a user's own plots,
back end and settings are never touched.
"""

from __future__ import annotations

import base64
import io
from collections.abc import Callable
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Literal
from unicodedata import east_asian_width

from minigrad.diagnostics.messages import Pair
from viz.page.document import FONT, Document, table_html
from viz.picture import mpl
from viz.picture.fonts import font_face
from viz.picture.style import UNDATED, chart_style
from viz.words.user import write

__all__ = ["Chart"]

Lang = Literal["en", "zh"]
Row = tuple[str, ...]
LANGS: tuple[Lang, Lang] = ("en", "zh")


# On dark paper a chart is turned over: white becomes black, and the hues stay what they are.
STYLE_OF_PAGE = (
    f".mg-chart {{ {FONT}; margin: 8px 0; }} "
    ':is([data-jp-theme-light="false"], .vscode-dark, '
    ".vscode-high-contrast:not(.vscode-high-contrast-light)) .mg-chart img "
    "{ filter: invert(1) hue-rotate(180deg); border-radius: 4px; }"
)
RIGHT = 'style="text-align:right"'
TABLE: Pair = ("The figures as a table", "数据表")


@dataclass(frozen=True, slots=True)
class Chart(Document):
    """A chart in two languages: title, alternative text, table and the function that draws it.

    ``draw(figure, i)`` paints with the texts of language i (0 English, 1 Chinese); ``head`` and
    ``rows`` hold the same content as text, one row for each series and language. ``size`` is width
    and height in inches.
    """

    title: Pair
    alt: Pair
    head: tuple[Row, Row]
    rows: tuple[tuple[Row, Row], ...]
    draw: Callable[[mpl.Figure, int], None] = field(repr=False)
    size: tuple[float, float] = (6.4, 3.4)

    def save(self, path: str | Path, lang: str = "en") -> Path:
        """Write the chart in one language as PNG, SVG or PDF, or as HTML in both.

        The ending of the name chooses. An HTML file is a page that opens without a network.

        Raises:
            ValueError: the ending or the language is none of these.

        >>> from viz import curves
        >>> chart = curves({"SGD": [2.0, 1.0]}, title=("Loss", "损失"), x=("", ""), y=("", ""))
        >>> chart.save("loss.txt")
        Traceback (most recent call last):
        ValueError: save: the name ends in .html, .png, .svg or .pdf, got 'loss.txt'
        """
        kind = Path(path).suffix[1:].lower()
        if kind == "html":
            return Document.save(self, path)  # slots: made anew, so that super() is not known
        if kind not in UNDATED:
            raise ValueError(f"save: the name ends in .html, .png, .svg or .pdf, got {str(path)!r}")
        if lang not in LANGS:
            raise ValueError(f'save: lang is "en" or "zh", got {lang!r}')
        write(path, self._render(kind, LANGS.index(lang)))
        return Path(path)

    def _render(self, kind: str, i: int) -> bytes:
        with chart_style(), io.BytesIO() as file:
            figure = mpl.Figure(self.size)
            self.draw(figure, i)
            figure.axes[0].set_title(self.title[i], pad=26)
            figure.savefig(file, format=kind, metadata=UNDATED[kind])
            return file.getvalue()

    def _repr_mimebundle_(self, **_: object) -> dict[str, str]:
        return {"text/plain": self._text(), "text/html": self._page()[1]}

    def _page(self) -> tuple[Pair, str]:
        parts = "".join(self._html(i) for i in range(len(LANGS)))
        style = f"<style>{self._css()}</style>"
        return self.title, f'<figure class="mg-chart">{style}{parts}</figure>'

    def _css(self) -> str:
        """The font for the Chinese table: a machine may have none."""
        words = TABLE[1] + "".join(self.head[1]) + "".join("".join(row[1]) for row in self.rows)
        return font_face(words) + STYLE_OF_PAGE

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
        head, *rows = [self.head[i], *(row[i] for row in self.rows)]
        return table_html(
            list(map(escape, head)), [list(map(escape, row)) for row in rows], cells=RIGHT
        )

    def _text(self) -> str:
        rows = [*self.head, *(tuple(map(_both, en, zh)) for en, zh in self.rows)]
        widths = [max(map(_columns, column)) for column in zip(*rows, strict=True)]
        lines = [
            "  ".join([_pad(name, widths[0]), *map(_pad_left, cells, widths[1:])])
            for name, *cells in rows
        ]
        return "\n".join([_both(*self.title), *lines])


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

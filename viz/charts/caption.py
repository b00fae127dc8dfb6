"""What stands above the axes of a chart, which takes no width: what they show, and the legend."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from viz.page.scene import broken
from viz.picture import mpl
from viz.picture.cards import wide
from viz.picture.style import PIXEL
from viz.picture.theme import SMALL

__all__ = ["across", "caption", "folded", "is_slim"]

SLIM = 5  # inches; a narrower figure is for a phone
LINE = 16 * PIXEL  # points from line to line
KEY = 46  # pixels of an entry of a legend beside its words
AXES = 0.775  # of a figure's width are its axes


def is_slim(figure: Any) -> bool:
    """Whether the chart is for a phone: nothing stands beside its axes, long lines are folded."""
    return bool(figure.get_figwidth() < SLIM)


def across(figure: Any) -> float:
    """How wide the axes of a figure are, in pixels of a page."""
    return float(AXES * figure.get_figwidth() * 72 / PIXEL)


def folded(text: str, figure: Any) -> str:
    """A line as it is, on a phone in as many as fit."""
    return "\n".join(broken(text, across(figure))) if is_slim(figure) else text


def caption(axes: mpl.Axes, text: str, keys: Sequence[Any] | None = None) -> None:
    """What the axes show, above them, and between the two its legend, in rows as they fit."""
    place: dict[str, Any] = {"xycoords": "axes fraction", "textcoords": "offset points"}
    named = list(keys or axes.get_legend_handles_labels()[0])
    columns = len(named)
    if is_slim(axes.figure) and named:
        longest = max(wide(key.get_label(), SMALL) for key in named) + KEY
        columns = max(1, min(columns, int(across(axes.figure) / longest)))
    rows = -(-len(named) // columns) if named else 0
    height = 12 + (18 + LINE * (rows - 1) if named else 0)
    axes.annotate(folded(text, axes.figure), (0, 1), (0, height), **place)
    if named:
        where: dict[str, Any] = {
            "loc": "lower left",
            "bbox_to_anchor": (0, 1),
            "borderaxespad": 0.5,
        }
        axes.legend(handles=named, ncols=columns, columnspacing=1.5, borderpad=0, **where)

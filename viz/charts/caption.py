"""Words on a chart, where they belong: above the axes what they show, at a line's end its name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from viz.page.scene import broken
from viz.picture import mpl
from viz.picture.style import PIXEL, TICK

__all__ = [
    "BEHIND",
    "SPACED",
    "across",
    "align",
    "caption",
    "folded",
    "is_slim",
    "name_ends",
    "spread",
]

SLIM = 5  # inches; a narrower figure is for a phone
LINE = 16  # pixels from line to line
AXES = 0.775  # of a figure's width are its axes
SPACED: dict[str, Any] = {"linespacing": 1.35}  # lines of words
CAPTION = "what the axes show"
LEAD, DOT = 18, 7  # pixels from the end of a line to its name, and from a dot to the name
LONG = 200, 88  # pixels of a name at the end of a line, and on a phone
BEHIND: dict[str, Any] = {"facecolor": "#FFFFFF", "edgecolor": "none", "pad": 1.0}

Values = NDArray[np.float64]


def is_slim(inches: float) -> bool:
    """Whether a figure so wide is for a phone, where long lines are folded."""
    return bool(inches < SLIM)


def across(axes: Any) -> float:
    """How wide the axes are, in pixels of a page."""
    return float(axes.get_window_extent().width * 72 / axes.figure.dpi / PIXEL)


def folded(text: str, axes: Any) -> str:
    """A text in as many lines as fit above or below the axes, as they stand there."""
    return "\n".join(broken(text, across(axes)))


def caption(axes: mpl.Axes, text: str, above: float = 10) -> None:
    """What the axes show, so many points above them, where it takes no width."""
    place: dict[str, Any] = {"xycoords": "axes fraction", "textcoords": "offset points"}
    axes.annotate(folded(text, axes), (0, 1), (0, above), label=CAPTION, **SPACED, **place)


def align(figure: Any, title: Any) -> None:
    """Align the title and each caption with the left edge of the labels of their axes."""
    lefts: dict[int, float] = {}  # of the axes that stand below each other
    for axes in figure.axes:
        axes.get_ylim()  # also brings the transforms up to date
        whole, beside = axes.get_window_extent(), axes.yaxis.get_tightbbox()
        column = round(whole.x0)
        lefts[column] = min(lefts.get(column, 0.0), beside.x0 - whole.x0 if beside else 0.0)
    for axes in figure.axes:
        whole = axes.get_window_extent()
        left = lefts[round(whole.x0)]
        for text in axes.texts:
            if text.get_label() == CAPTION:
                text.xyann = (left * 72 / figure.dpi, text.xyann[1])
        if axes is title.axes:
            title.set_x(left / whole.width)


def name_ends(axes: mpl.Axes, ends: Sequence[tuple[float, float, str, str]]) -> None:
    """Name each line where it ends (x, y, name, colour), joined to its end by a stroke with a dot.

    Names that would overlap are moved apart. The limits of the axes are final.
    """
    figure: Any = axes.figure
    names = [
        "\n".join(broken(name, LONG[is_slim(figure.get_figwidth())])) for _, _, name, _ in ends
    ]
    axes.get_ylim()  # also brings the transforms up to date
    high = axes.get_window_extent().height * 72 / axes.figure.dpi
    at = (axes.transData - axes.transAxes).transform([(x, y) for x, y, *_ in ends])
    sizes = np.array([name.count("\n") + 1 for name in names]) * LINE * PIXEL / high
    placed = spread(np.clip(at[:, 1], 0, 1), sizes)
    for (x, y), height, name, (*_, color) in zip(at, placed, names, ends, strict=True):
        to: dict[str, Any] = {"xycoords": "axes fraction", "textcoords": "axes fraction"}
        stroke = {"arrowstyle": "-", "color": color, "lw": 1.2, "shrinkA": 5, "shrinkB": 0}
        stroke["relpos"] = (0, 0.5)
        right, dot = 1 + LEAD / across(axes), 1 + (LEAD - DOT) / across(axes)
        end: dict[str, Any] = {"s": 9, "color": color, "clip_on": False}
        axes.scatter([dot], [height], transform=axes.transAxes, **end)
        axes.annotate(
            name, (x, y), (right, height), va="center", size=TICK, arrowprops=stroke, **to
        )


def spread(heights: Values, sizes: Values) -> Values:
    """Move middles of such sizes apart, in their order, until none overlap; stay below 1."""
    order = np.argsort(heights, kind="stable")
    ends = np.cumsum(sizes[order])
    steps = ends - sizes[order] / 2 - sizes[order][0] / 2
    raised = np.maximum.accumulate(heights[order] - steps) + steps
    placed: Values = np.empty_like(raised)
    placed[order] = np.minimum(raised, max(1.0, steps[-1]) - steps[::-1])
    return placed

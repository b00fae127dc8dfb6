"""Words on a chart, where they belong: above the axes what they show, at a line's end its name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from viz.page.scene import fold_text
from viz.picture import mpl
from viz.picture.style import AXIS, PIXEL, TICK

__all__ = ["BEHIND", "SPACED", "align", "axes_width", "caption", "folded", "is_slim", "name_ends"]
__all__ += ["spread"]

SLIM = 5  # inches; a narrower figure is for a phone
LINE = 16  # pixels from line to line
AXES = 0.775  # of a figure's width are its axes
SPACED: dict[str, Any] = {"linespacing": 1.35}  # lines of words
CAPTION = "what the axes show"
EVEN = (0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95)  # of a width that lines may have instead
LEAD = 12  # pixels from the end of a line to its name
MOVED = 3  # points up or down, beyond which a stroke leads to a name
LONG = 200, 88  # pixels of a name at the end of a line, and on a phone
BEHIND: dict[str, Any] = {"facecolor": "#FFFFFF", "edgecolor": "none", "pad": 1.0}

Values = NDArray[np.float64]


def is_slim(inches: float) -> bool:
    """Return whether a figure of this width is for a phone, where long lines are wrapped."""
    return bool(inches < SLIM)


def axes_width(axes: Any) -> float:
    """Return the width of the axes in pixels of a page."""
    return float(axes.get_window_extent().width * 72 / axes.figure.dpi / PIXEL)


def folded(text: str, axes: Any, width: float = 0) -> str:
    """Wrap a text to a width, by default that of the axes, into lines of similar length."""
    width = width or axes_width(axes)
    lines = fold_text(text, width)
    tried = (fold_text(text, part * width) for part in EVEN)
    alike = (x for x in tried if len(x) == len(lines) and not x[-1].endswith("…"))
    return "\n".join(next(alike, lines))


def caption(axes: mpl.Axes, text: str, above: float = 10) -> None:
    """Write a caption `above` points over the axes; `align` gives it all the width there is."""
    place: dict[str, Any] = {"xycoords": "axes fraction", "textcoords": "offset points"}
    axes.annotate(text, (0, 1), (0, above), label=CAPTION, in_layout=False, **SPACED, **place)


def align(figure: Any, title: Any) -> None:
    """Move title and captions to the left edge of the labels; a caption has all the width."""
    right = max(axes.get_tightbbox().x1 for axes in figure.axes)  # without captions
    lefts: dict[int, float] = {}  # of the axes that stand below each other
    for axes in figure.axes:
        axes.get_ylim()  # also brings the transforms up to date
        whole, beside = axes.get_window_extent(), axes.yaxis.get_tightbbox()
        column = round(whole.x0)
        lefts[column] = min(lefts.get(column, 0.0), beside.x0 - whole.x0 if beside else 0.0)
    for axes in figure.axes:
        whole = axes.get_window_extent()
        left = lefts[round(whole.x0)]
        for text in (text for text in axes.texts if text.get_label() == CAPTION):
            text.set_in_layout(True)
            text.xyann = (left * 72 / figure.dpi, text.xyann[1])
            room = (right - whole.x0 - left) * 96 / figure.dpi
            text.set_text(folded(text.get_text(), axes, room))
        if axes is title.axes:
            title.set_x(left / whole.width)


def name_ends(axes: mpl.Axes, ends: Sequence[tuple[float, float, str, str]]) -> None:
    """Name each line where it ends (x, y, name, colour); a stroke joins a name that was moved."""
    axes.get_ylim()  # also brings the transforms up to date
    room = LONG[is_slim(axes_width(axes) / AXES / 96)]
    names = ["\n".join(fold_text(name, room)) for *_, name, _ in ends]
    high = axes.get_window_extent().height * 72 / axes.figure.dpi
    at = (axes.transData - axes.transAxes).transform([(x, y) for x, y, *_ in ends])
    sizes = np.array([name.count("\n") + 1 for name in names]) * LINE * PIXEL / high
    placed = spread(np.clip(at[:, 1], 0, 1), sizes)
    right = 1 + LEAD / axes_width(axes)
    for (x, y), height, name, (*_, color) in zip(at, placed, names, ends, strict=True):
        place: dict[str, Any] = {"xycoords": "axes fraction", "textcoords": "axes fraction"}
        place |= {"va": "center", "size": TICK, "color": color}
        if abs(height - y) * high > MOVED:
            place["arrowprops"] = {"arrowstyle": "-", "color": AXIS, "lw": 0.7, "shrinkB": 0}
            place["arrowprops"] |= {"shrinkA": 3, "relpos": (0, 0.5)}
        axes.annotate(name, (x, y), (right, height), **SPACED, **place)


def spread(heights: Values, sizes: Values) -> Values:
    """Move middles of such sizes apart, in their order, until none overlap; stay below 1."""
    order = np.argsort(heights, kind="stable")
    steps = np.cumsum(sizes[order]) - sizes[order] / 2 - sizes[order][0] / 2
    raised = np.maximum.accumulate(heights[order] - steps) + steps
    placed: Values = np.empty_like(raised)
    placed[order] = np.minimum(raised, max(1.0, steps[-1]) - steps[::-1])
    return placed

"""How matplotlib draws here: our font and colours, inside a style that is undone again."""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import cache
from typing import Any

from cycler import cycler

from viz.picture import mpl, theme

# Lines and markers are thin, so they have at least three times the contrast of white, and of black
# once they are turned over; the bright colours of the palette are darker here, as live curves are.
# Seven colours and four line styles: 28 pairs.
COLORS = [
    theme.BLUE,
    theme.VERMILION,
    theme.GREEN,
    "#A1527F",  # pink
    "#8A5F00",  # orange
    "#767676",
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


@cache
def _register_font() -> None:
    mpl.fontManager.addfont(theme.FONT_PATH)


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

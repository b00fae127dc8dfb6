"""How matplotlib draws here: our font and colours, inside a style that is undone again."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from contextlib import AbstractContextManager
from functools import cache
from typing import Any

from cycler import cycler

from viz.picture import mpl, theme

# On light and on dark paper; ink first, and late what means something in a drawing (built, run).
# Lines and markers are thin, so they have at least three times the contrast of their paper. Every
# line is solid, because a dashed one is a plan; each is named where it ends.
CURVES = (
    theme.TOKENS["ink"],
    ("#A1527F", "#E6A9CC"),
    ("#00755A", "#4DD6A8"),
    ("#767676", "#A3ACBB"),
    (theme.VERMILION, "#FF9A4D"),
)
COLORS = [light for light, _ in CURVES]
GRADIENTS = (theme.TOKENS["grad"], ("#702C00", "#FFD2B0"), ("#DB5F14", "#DB713A"))
# The two modes look the same in every chart, and nothing else looks so: lines, and areas.
MODES = {"dynamic": ("#8A5F00", theme.ORANGE), "static": (theme.BLUE, theme.SKY)}
TINTS = {"dynamic": ("#F8EFD9", "#33290F"), "static": ("#E3EEF8", "#15293B")}
# Which of a few values an area is; its name stands in it.
VALUES = (
    ("#D3E5F4", "#24567F"),
    ("#FAE7BF", "#6B5214"),
    ("#CDEBDD", "#1E6246"),
    ("#F1D6E6", "#6D3560"),
    ("#DEDAF6", "#4A3D8C"),
    ("#DFE3E9", "#4A5462"),
)
SAID = {"dynamic": r"\b(dynamic|eager)\b", "static": r"\b(static|compiled)\b"}
GRID = ("#E3E6EB", "#2B313B")
PAIRS = (
    *theme.TOKENS.values(),
    *CURVES,
    *GRADIENTS,
    *MODES.values(),
    *TINTS.values(),
    *VALUES,
    GRID,
)  # every colour of a chart
INK, SOFT, AXIS, PAPER = (theme.TOKENS[name][0] for name in ("ink", "soft", "line", "paper"))
PIXEL = 72 / 96  # in points: sizes of text are those of a page
TICK = theme.SMALL * PIXEL  # points of what stands beside axes and in bars

MARKERS = ["o", "s", "^", "D", "v"]

STYLE: dict[Any, Any] = {
    "font.family": [theme.FONT_FAMILY, "DejaVu Sans"],
    "font.size": theme.NAME * PIXEL,
    **dict.fromkeys(["text.color", "axes.titlecolor"], INK),
    **dict.fromkeys(["axes.labelcolor", "xtick.labelcolor", "ytick.labelcolor"], SOFT),
    **dict.fromkeys(["axes.edgecolor", "xtick.color", "ytick.color"], AXIS),
    **dict.fromkeys(
        ["axes.labelsize", "xtick.labelsize", "ytick.labelsize", "legend.fontsize"], TICK
    ),
    "text.hinting": "none",  # else a PNG is wider than its SVG
    "text.parse_math": False,  # a name such as "a$b$" is a name, not a formula
    "axes.unicode_minus": True,  # the font has U+2212
    "axes.titlesize": theme.LARGE * PIXEL,
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "axes.grid": True,
    "axes.grid.axis": "y",
    "grid.color": GRID[0],
    "axes.prop_cycle": cycler(color=COLORS) + cycler(marker=MARKERS),
    "lines.linewidth": 1.5,
    "lines.markersize": 6.0,
    "lines.markeredgecolor": PAPER,
    "figure.facecolor": PAPER,
    "axes.facecolor": PAPER,
    "legend.frameon": False,
    "hatch.linewidth": 0.6,
    "savefig.dpi": 2 * 96,  # two pixels for one of a page
    "savefig.bbox": "tight",
    "savefig.pad_inches": 0.12,
    "svg.hashsalt": "minigrad",  # the same chart gives the same file
}

UNDATED: dict[str, Any] = {"png": {}, "svg": {"Date": None}, "pdf": {"CreationDate": None}}


def mode_of(name: str) -> str:
    """Return the mode that a name refers to; "" if it is neither, or both.

    >>> mode_of("eager, 3 layers"), mode_of("static / eager"), mode_of("Adam")
    ('dynamic', '', '')
    """
    found = [mode for mode, words in SAID.items() if re.search(words, name)]
    return found[0] if len(found) == 1 else ""


def colors_of(names: Sequence[str]) -> list[str]:
    """Return a colour for each line: each mode has its own, the others share the rest.

    >>> colors_of(["static", "SGD", "eager"])
    ['#0072B2', '#1D2330', '#8A5F00']
    """
    modes = [mode_of(name) for name in names]
    others = itertools.cycle(COLORS)
    return [MODES[mode][0] if mode else next(others) for mode in modes]


@cache
def _register_font() -> None:
    mpl.fontManager.addfont(theme.FONT_PATH)
    bold = mpl.FontEntry(
        fname=str(theme.BOLD_PATH), name=theme.LATIN_FAMILY, weight=600, size="scalable"
    )
    mpl.fontManager.ttflist.append(bold)  # a name of its own: it lacks all that is not Latin


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

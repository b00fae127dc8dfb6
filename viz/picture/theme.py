"""The one place for colours, shapes and the font; nothing here draws.

Colour never stands alone: every kind of node has its own shape, every kind of edge its own line.
The colours are those of M. Okabe and K. Ito, Color Universal Design, 2008, which stay apart for
all common forms of colour blindness.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from minigrad.diagnostics.messages import Pair

BLUE = "#0072B2"
ORANGE = "#E69F00"
GREEN = "#009E73"
PINK = "#CC79A7"
SKY = "#56B4E9"
VERMILION = "#D55E00"
YELLOW = "#F0E442"
BLACK = "#000000"
WHITE = "#FFFFFF"
PALETTE = (BLUE, ORANGE, GREEN, PINK, SKY, VERMILION, YELLOW, BLACK)

FONT_FAMILY = "Noto Sans SC"
FONT_PATH = Path(__file__).parent / "fonts" / "NotoSansSC-subset.ttf"

Line = Literal["solid", "dashed", "dotted"]


@dataclass(frozen=True, slots=True)
class Style:
    """How one kind of node looks: fill colour, shape name of Graphviz, number of outlines, word."""

    fill: str
    shape: str
    label: Pair
    peripheries: int = 1

    @property
    def text(self) -> str:
        """The colour of writing on the fill."""
        return WHITE if self.fill in (BLUE, BLACK) else BLACK


@dataclass(frozen=True, slots=True)
class EdgeStyle:
    """How one kind of edge looks: colour, line, the sign written beside it, word."""

    color: str
    line: Line
    sign: str
    label: Pair


@dataclass(frozen=True, slots=True)
class Mark:
    """What has become of a node: colour and line of its outline, the sign written in it."""

    color: str
    line: Line
    sign: str
    width: float = 3.0


STYLES = {
    "input": Style(YELLOW, "box", ("input", "输入")),
    "parameter": Style(ORANGE, "hexagon", ("parameter", "参数")),
    "variable": Style(GREEN, "cylinder", ("variable", "变量")),
    "tensor": Style(WHITE, "parallelogram", ("tensor", "张量")),
    "constant": Style(WHITE, "note", ("constant", "常量")),
    "operator": Style(SKY, "ellipse", ("operator", "算子")),
    "control": Style(PINK, "diamond", ("control-flow operator", "控制流算子")),
    "assign": Style(GREEN, "cds", ("assignment", "赋值")),
    "gradient": Style(VERMILION, "octagon", ("gradient", "梯度")),
    "group": Style(WHITE, "component", ("group of nodes", "一组节点")),
    "output": Style(BLUE, "box", ("output", "输出"), peripheries=2),
}

EDGES = {
    "forward": EdgeStyle(BLACK, "solid", "", ("forward", "前向")),
    "gradient": EdgeStyle(VERMILION, "dashed", "∂", ("gradient", "梯度")),
    "loop": EdgeStyle(BLACK, "dashed", "⇒", ("to the next step of the loop", "到循环的下一步")),
    "control": EdgeStyle(BLACK, "dotted", "", ("control dependency", "控制依赖")),
}

# What each means is said in `viz.words.text`: mark_ran, mark_ghost, …
MARKS = {
    "ran": Mark(BLUE, "solid", "●"),
    "ghost": Mark(BLACK, "dashed", "○", 1.0),
    "absent": Mark(BLACK, "dotted", "·", 1.0),
    "baked": Mark(BLACK, "solid", "■"),
    "wrong": Mark(VERMILION, "dotted", "✗", 3.5),
    "gone": Mark(VERMILION, "dashed", "−"),
    "new": Mark(GREEN, "solid", "+", 3.5),
    "heir": Mark(GREEN, "dashed", "▲"),
    "moved": Mark(BLUE, "dotted", "~"),
    "now": Mark(VERMILION, "solid", "▶", 3.5),
    "ready": Mark(GREEN, "dotted", "▷", 3.5),
    "waits": Mark(BLACK, "dashed", "…", 1.0),
    "failed": Mark(VERMILION, "dashed", "✗", 4.0),
    "kept": Mark(BLUE, "solid", "◆"),
    "again": Mark(VERMILION, "dashed", "◇"),
}


def contrast(a: str, b: str) -> float:
    """Return the contrast ratio of two colours ``#RRGGBB``, from 1 (equal) to 21.

    Text needs at least 4.5, lines and shapes 3. Source: WCAG 2.2, success criteria 1.4.3, 1.4.11.

    >>> round(contrast("#000000", "#FFFFFF"), 2)
    21.0
    """
    dark, light = sorted([_luminance(a), _luminance(b)])
    return (light + 0.05) / (dark + 0.05)


def _luminance(color: str) -> float:
    """Relative luminance of a colour, from 0 (black) to 1 (white)."""
    if len(color) != 7 or color[0] != "#":
        raise ValueError(f"contrast: a colour is written #RRGGBB, got {color!r}")
    channels = [value / 255 for value in bytes.fromhex(color[1:])]
    red, green, blue = (
        c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue

"""The one place for colours, type, space and motion; nothing here draws.

Colour is grammar: neutral by default, one hue each for what is built, run, sent back, and happening
now; red only for what is wrong. It is never the only sign: a node's kind is a mark and a word, its
state is its material (a dashed outline is a plan, a fill has run). Dashes mean a plan and nothing
else; dots, what is gone or not there. What happens now has a halo outside its card.
docs/design.md says why.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from minigrad.diagnostics.messages import Pair

# On light and on dark paper.
TOKENS: Mapping[str, tuple[str, str]] = {
    "paper": ("#FFFFFF", "#14171D"),
    "ink": ("#1D2330", "#EEF1F6"),
    "soft": ("#5B6475", "#A3ACBB"),
    "line": ("#868F9E", "#6E7788"),
    "card": ("#F6F7F9", "#1D222B"),
    "built": ("#2F62C9", "#7AA2F7"),
    "fresh": ("#DFE9FB", "#1C2B49"),  # the fill of what a change has put in
    "run": ("#0F7A55", "#4CC38A"),
    "ran": ("#E4F1EC", "#1B322B"),  # the fill of what has run
    "grad": ("#B54708", "#FF9A62"),
    "below": ("#5B3FA8", "#A58BFF"),  # numbers below zero; unlike run and grad to every eye
    "now": ("#B07800", "#FFD04D"),
    "lit": ("#FFF3CC", "#40371A"),  # the fill of what is happening now, in code and tables
    "bad": ("#C01B37", "#FF6B81"),
    "spoilt": ("#FBE6E9", "#3B1A20"),  # the fill of what is wrong
}

SMALL, NAME, LARGE = 12, 13, 16  # sizes of text, px
ROUND = 10  # of a card's corners, px
MOTION = 420  # of a value from card to card, ms

# M. Okabe and K. Ito, Color Universal Design, 2008: for curves and heat maps, where many colours
# must stay apart for all common forms of colour blindness.
BLUE = "#0072B2"
ORANGE = "#E69F00"
SKY = "#56B4E9"
VERMILION = "#D55E00"

FONT_FAMILY = "Noto Sans SC"
FONT_PATH = Path(__file__).parent / "fonts" / "NotoSansSC-subset.ttf"
BOLD_PATH = FONT_PATH.with_name("NotoSansSC-latin-600.ttf")
LATIN_FAMILY = "Noto Sans Latin"  # of pages: the letters that it has in two weights

Line = Literal["solid", "dashed", "dotted"]
DASHES: Mapping[Line, str] = {"solid": "none", "dashed": "5 4", "dotted": "0.1 4"}  # dots are round


@dataclass(frozen=True, slots=True)
class Kind:
    """What a node is, the same in both modes: a small mark and a word."""

    mark: str
    label: Pair


@dataclass(frozen=True, slots=True)
class Mark:
    """What has become of a node: token and line of its outline, token of its fill, its sign.

    worded: a drawing says it in words, because the sign reads like an operator.
    """

    color: str
    line: Line
    fill: str
    sign: str
    width: float = 2.0
    worded: bool = False


KINDS = {
    "input": Kind("▷", ("input", "输入")),
    "parameter": Kind("◆", ("parameter", "参数")),
    "variable": Kind("◇", ("variable", "变量")),
    "tensor": Kind("□", ("tensor", "张量")),
    "constant": Kind("■", ("constant", "常量")),
    "operator": Kind("○", ("operator", "算子")),
    "control": Kind("△", ("control flow", "控制流")),
    "assign": Kind("←", ("assignment", "赋值")),
    "gradient": Kind("∂", ("gradient", "梯度")),
    "group": Kind("▲", ("group", "一组节点")),
    "module": Kind("▼", ("module", "模块")),
    "output": Kind("●", ("output", "输出")),
}

# To the next turn of a loop an arrow is dashed; what only waits for another is dotted.
EDGES: dict[str, Line] = {"forward": "solid", "loop": "dashed", "control": "dotted"}

# What each means is said in `viz.words.text`: mark_ran, mark_ghost, … No sign is a mark of KINDS.
MARKS = {
    "ran": Mark("run", "solid", "ran", "✓"),
    "ghost": Mark("built", "dashed", "none", "∅", 1.4),
    "absent": Mark("line", "dotted", "none", "•", 1.8),
    "baked": Mark("ink", "solid", "card", "!"),
    "wrong": Mark("bad", "solid", "spoilt", "✗", 1.4),
    "gone": Mark("line", "dotted", "none", "−", 1.5, True),
    "idle": Mark("line", "solid", "none", "¬", 1.0, True),
    "new": Mark("built", "solid", "fresh", "+", 3.0, True),
    "heir": Mark("built", "solid", "card", "»", 1.4, True),
    "moved": Mark("built", "solid", "card", "~", 1.4, True),
    "changed": Mark("ink", "solid", "none", "≠", 2.5, True),
    "now": Mark("now", "solid", "none", "▶", 3.0),  # a halo around the card, which keeps its look
    "ready": Mark("built", "dashed", "none", "→", 2.0),
    "waits": Mark("built", "dashed", "none", "…", 1.0),
    "failed": Mark("bad", "solid", "spoilt", "✗", 3.0),
    "origin": Mark("bad", "solid", "spoilt", "¡", 4.0, True),
    "kept": Mark("run", "solid", "ran", "★", 2.5),
    "again": Mark("soft", "dotted", "none", "☆", 1.8),
}

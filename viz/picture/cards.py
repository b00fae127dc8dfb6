"""The node card: what is written in it, how large it is, and how it is drawn as SVG.

Graphviz places the cards and does not draw them. From top to bottom: kind and name, sign and
value, shape, gradient, clock. A row that may appear later has its room from the start, so nothing
moves when it does.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from html import escape

from viz.picture import swatch
from viz.picture.boxes import PARAMETERS, PictureNode
from viz.picture.theme import KINDS, LARGE, MARKS, NAME, ROUND, SMALL
from viz.words.text import ROWS, Pair, row

NAME_LIMIT = 40  # characters of a label; the whole name stays in the table
LINE_LIMIT = 160  # characters of a tooltip
PAD = 12  # between the border of a card and what is written in it, px
GAP = 10  # between two words of a row, px
AROUND = 4  # between the border of a card and its halo, px
BOLD = 1.14  # how much wider bold words are
CONTROL = ("Cond", "While", "Scan")  # operators that have graphs inside
CELL = (8, 14, 3)  # of a call in a strip: width, height, and what is left to the next, px
ROWS_HIGH = {"head": 16, "main": 23, "cells": 24, "shape": 16, "grad": 18, "clock": 17}  # px
PICTURED = {"main": swatch.HIGH + 6, "grad": swatch.HIGH + 5, "numbers": 18}  # with a swatch, px
SECOND = 12  # by which a picture is higher for a second line of numbers on it, px
UNFIT = re.compile(r"[^ -~\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]+")  # for a line of XML
NARROW, WIDE = set("ijlt.,:;|!'()[]{} f\u2007"), set("mwMW@%+−×÷—…→←○●◆◇■□▲△▷▶✓★☆")
BOTH = re.compile(r'<tspan lang="en">([^<]*)</tspan> <tspan lang="zh">([^<]*)</tspan>')
OPERATOR = re.compile(r"<text data-op[^>]*>[^<]*</text>")
LARGER = 1.12  # by which its words need more room on a page that shows the card smaller
# Of compact cards: a letter, how many of a row, a number at least; a name, lines, calls, px.
# Colours without numbers are as large as a matrix of two lines and one column.
LETTER, LETTERS, SPARE, NAMED, LINE, PLAIN, CELLED = 5.8, 13, 14, 20, 14, 15, 16
DEL, SHORT, FEW = 11, 44, 8  # its ∂, a short name, px; and how many calls such a card shows of many
LATER = 14  # from one line of a clock to the next, px
Clock = tuple[Pair, ...]  # its lines: "built at step 3", "ran at step 7"


@dataclass(frozen=True, slots=True)
class State:
    """What has become of a node in one still: `classes` say how it looks, the texts what it holds.

    value, gradient: short, "" where there is none yet; swatch, back: the same as pictures, encoded.
    done: how much of a group has run, from 0 to 1. cells: the classes of each call in a strip.
    """

    classes: tuple[str, ...] = ()
    value: str = ""
    gradient: str = ""
    clock: Clock = ()
    done: float = 0
    cells: tuple[tuple[str, ...], ...] = ()
    swatch: str = ""
    back: str = ""


@dataclass(frozen=True, slots=True)
class CardSpace:
    """What a card keeps room for: characters of a value and of a gradient, lines of its clock.

    plan: whether it may be there before it has a value. languages: those that its words may be in;
    where there are several, a page may show both at once, the clock only if "both" is among them.
    low: its shape is in its first row, which makes it less high; 2 where groups of one number are
    to look like pictures, 3 where none says its kind. swatch, back: whether its value and its
    gradient are pictures, beneath which numbers are written where there is room for some; a low
    card of these has no other rows.
    origin: whether it will be the first to have NaN or ∞. compact: it is as large as its words,
    1 with a short name before its numbers, 2 with each above them, 3 with the whole name of a
    parameter. cells: how many lines of numbers fit on the cells of its pictures, which are the
    place for them if it has no other.
    """

    value: int = 0
    gradient: int = 0
    clock: int = 0
    plan: bool = False
    languages: tuple[str, ...] = ("en", "zh")
    low: int = 0
    swatch: bool = False
    back: bool = False
    origin: bool = False
    compact: int = 0
    cells: int = 0


@dataclass(frozen=True)
class Card:
    """One card before it has a place: its words, and its size in pixels."""

    node: PictureNode
    room: CardSpace = field(default_factory=CardSpace)
    like: Card | None = None  # the one of a union of pictures that it is as large as

    @property
    def kind(self) -> str:
        node = self.node
        if node.op in CONTROL and node.kind == "operator":
            return "control"
        if node.given:
            return node.kind if node.kind != "group" else "parameter"
        return "output" if node.is_output and node.kind == "operator" else node.kind

    @property
    def sign(self) -> str:
        """The heading: the operator's sign, or what a leaf is called."""
        return (self.node.sign or self.node.op) if self._operates else plain(self.node.label)

    @property
    def name(self) -> str:
        """The small name: the user's, else the operator's where the sign does not say it."""
        said = not self._operates or self.low or self.sign == self.node.op
        return self._own_name or ("" if said else self.node.op)

    @property
    def _own_name(self) -> str:
        return plain(self.node.name if self._operates else self.node.sign)

    @property
    def _tensors(self) -> Pair | None:
        """How many the parameters are that one card stands for."""
        several = self.node.op == PARAMETERS
        return row("card_tensors", count=len(self.node.members)) if several else None

    @property
    def shape(self) -> str:
        return plain(self.node.shape) if self.node.shape not in ("()", "?", "") else ""

    @property
    def low(self) -> bool:
        """Whether its shape replaces the operator's name, which its sign already says."""
        return bool(self.room.low and self.shape and not (self._own_name or self.room.swatch))

    @property
    def _operates(self) -> bool:
        return self.node.kind in ("operator", "module", "control", "assign", "gradient")

    @cached_property
    def rows(self) -> dict[str, int]:
        """The rows that there is room for, from the top, and how high each is."""
        room, high = self.room, ROWS_HIGH
        bare = room.swatch or room.low > 1 + (self.kind != "group" or bool(self.shape))
        said = room.origin or (self.node.cells and self.node.sign)  # what else is in it
        found = {} if room.low and bare and not said else {"head": high["head"]}
        found["main"] = high["main"]
        if room.swatch:  # its shape is beside it
            found["main"] = PICTURED["main"] + SECOND * (room.cells > 1 and not room.value)
            found |= {"value": PICTURED["numbers"]} if room.value else {}
        if self.node.cells:
            found["cells"] = high["cells"]
        if self.shape and not self.low and not room.swatch:
            found["shape"] = high["shape"]
        if room.back:
            found["grad"] = PICTURED["grad"] + found["main"] - PICTURED["main"]
            found |= {"sum": PICTURED["numbers"]} if room.gradient else {}
        elif room.gradient:
            found["grad"] = high["grad"]
        clock = high["clock"] + LATER * (room.clock - 1)
        return found | ({"clock": clock} if room.clock and not (room.low and bare) else {})

    @cached_property
    def size(self) -> tuple[int, int]:
        """Width and height in pixels: even numbers, so that the middle is one, too."""
        if self.like is not None or self.room.compact:
            return self.like.size if self.like else self._compact[:2]
        room, languages = self.room, self.room.languages
        every = {*languages, "both"} if len(languages) > 1 else languages
        head = max(map(self._head, every)) * ("head" in self.rows)
        none = max(wide(_half(ROWS["card_none"], x), SMALL) for x in every) if room.plan else 0
        longest = row("card_both", step=88)
        clock = LARGER * max(wide(_half(longest, x), SMALL) for x in languages) if room.clock else 0
        cells = len(self.node.cells) * (CELL[0] + CELL[2]) - CELL[2]
        sign, shape = wide(self.sign, LARGE) * BOLD, wide(self.shape, SMALL)
        value = (room.value + 3 * (self.sign == "While")) * 0.58 * (SMALL if room.swatch else LARGE)
        gradient = wide("∂ ", NAME) + room.gradient * 0.58 * (SMALL if room.back else NAME)
        aside = swatch.WIDE if room.swatch else max(value, none)
        main = (max(sign, shape) if room.swatch else sign) + _word_width(aside)
        back = wide("∂ ", NAME) + _word_width(swatch.WIDE) if room.back else 0
        width = 2 * PAD + max(head, main, cells, shape, value, gradient, back, clock)
        width, high = max(width, 60 if room.low > 2 else 72), 16 + sum(self.rows.values())
        return 2 * round(width / 2), 2 * round(high / 2)

    @cached_property
    def _compact(self) -> tuple[int, int, bool]:
        """Its size where its numbers are below its name, or behind one that is short."""
        room, dims = self.room, [*map(int, re.findall(r"\d+", self.node.shape))] or [0]
        many = room.swatch and not (room.value and dims[-1] <= LETTERS)
        dims = [2, 1] if many else dims
        lines = dims[-2] if dims[1:] and room.swatch else 1
        signs = 2 * dims[-1] + bool(dims[1:])  # brackets and commas, which it goes without
        each = [(n and n / lines - signs) or LETTERS / 2 for n in (room.value, room.gradient)]
        columns, most = max(dims[-1], 1), max(each[: 1 + room.back])
        across = min(most - columns, most / columns, LETTERS / columns) + 1  # the longest of a row
        least = SPARE + 4 * (room.compact > 2)  # 1 and 1 in cells side by side are no 11
        across = 30 * room.compact if many else columns * max(least, LETTER * across + 8)
        name = BOLD * wide(self.sign.rpartition(".")[2] if room.compact < 3 else self.sign, SMALL)
        leads = room.compact == 1 and name < SHORT and room.swatch and not self.node.cells
        line = LINE + 4 * (room.compact == 2) + 2 * (lines > 1)  # a phone shows it smaller
        above, before = (4, name + 7) if leads else (NAMED, DEL * room.back)
        if not room.swatch:
            below = wide("∂ ", SMALL) + LETTER * BOLD * room.gradient  # the line of its gradient
            across, line, before = GAP + max(name + LETTER * room.value, below), PLAIN - 2, 0
        cells = CELLED * (1 + bool(self.node.sign)) if self.node.cells else 0
        high = above + (line * lines + 2) * (1 + room.back) + cells
        wider = max(name + 6, across + before, min(len(self.node.cells), FEW) * CELL[0] + 2 * PAD)
        return 2 * round(wider / 2 + 3), 2 * round(high / 2), leads

    def _head(self, language: str) -> float:
        """Return the width of the first row, without the operator's name for both languages."""
        kind, origin = KINDS[self.kind], self.room.origin
        label = ROWS["mark_origin"] if origin else self._tensors or kind.label
        what = f"{kind.mark} {_half(label, language)}"
        name = self._own_name if origin or language == "both" else self.name
        return wide(what, SMALL) + _word_width(wide(self.shape if self.low else name, NAME))

    def svg(self, prefix: str, x: float, y: float, state: State) -> str:
        """Return the card as SVG at a place, in a state."""
        (width, height), room = self.size, self.room
        worn = {"output": self.node.is_output, "pictured": room.swatch, "back": room.back}
        worn |= {"compact": room.compact > 0, "leading": (self.like or self)._compact[2]}
        always = (f"mg-{x}" for x in worn if worn[x])  # in every state
        classes = ["node", f"mg-kind-{self.kind}", *state.classes, *always]
        low, parts = 8, []
        for name, high in self.rows.items():
            parts += self._row(name, low, low + high, state)
            low += high
        title = escape(plain(self.node.line or self.node.label, LINE_LIMIT))
        halo = _halo(width, height) if {"mg-now", "mg-heir"} & {*classes} else ""
        return (
            f'<g id="{prefix}-{self.node.id}" class="{" ".join(classes)}" '
            f'transform="translate({x:g},{y:g})"><title>{title}</title>{self._done(state)}{halo}'
            f'<rect class="mg-card" width="{width}" height="{height}" rx="{ROUND}"/>'
            f"{''.join(parts)}</g>"
        )

    def _row(self, name: str, top: int, low: int, state: State) -> list[str]:
        """Return the contents of a row, between two heights."""
        room, right = self.room, self.size[0] - PAD
        if name == "head":
            kind, marks = KINDS[self.kind], [x.removeprefix("mg-") for x in state.classes]
            labels = [ROWS[f"mark_{x}"] for x in marks if x in MARKS and MARKS[x].worded]
            labels += [self._tensors] if self._tensors else []
            what = f"{kind.mark} {bilingual([*labels, kind.label][0])}"
            word = text("mg-word" if labels else "mg-what", PAD, low - 4, what)
            return [word, self._aside(right, low - 4)]
        if name == "main":
            found = [text("mg-sign", PAD, top + 17, escape(self.sign))]
            if room.swatch:
                found.append(_swatch("value", right - swatch.WIDE, top + 3, state.swatch))
                found.append(text("mg-shape", PAD, top + 31, escape(self.shape)))
            elif room.value or state.value:
                found.append(text("mg-value", right, low - 6, escape(state.value), "end"))
            if room.plan and not (state.value or state.swatch):
                none = bilingual(ROWS["card_none"])
                found.append(text("mg-none", right, (top + low) / 2 + 5.5, none, "end"))
            return found
        if name == "cells":
            return self._cells(top, state)
        if name == "grad" and room.back:
            sign = text("mg-del", PAD, top + 20, "∂" if state.back else "")
            return [sign, _swatch("grad", right - swatch.WIDE, top + 2, state.back)]
        if name == "grad":
            return [text("mg-grad", PAD, low - 5, state.gradient and f"∂ {escape(state.gradient)}")]
        if name == "value":
            return [text("mg-value", right, low - 6, escape(state.value), "end")]
        if name == "sum":
            return [text("mg-grad", right, low - 6, escape(state.gradient), "end")]
        if name == "shape":
            return [text("mg-shape", PAD, low - 4, escape(self.shape))]
        said = [bilingual(line) for line in state.clock] or room.clock * [""]
        return [text("mg-clock", PAD, top + 13 + LATER * i, line) for i, line in enumerate(said)]

    def _aside(self, x: float, y: float) -> str:
        """Return the end of the first row: a name, or in a low card its shape."""
        if self.low:
            return text("mg-shape", x, y, escape(self.shape), "end")
        named = text("mg-name", x, y, escape(self.name), "end") if self.name else ""
        return named if self._own_name else named.replace("<text", '<text data-op=""', 1)

    def _cells(self, low: float, state: State) -> list[str]:
        """Return the calls in a strip, side by side over the width of the card."""
        broad, high, gap = (*CELL[:1], 7, *CELL[2:]) if self.room.compact else CELL
        count = min(len(self.node.cells), FEW if self.room.compact else 99)
        step = min((self.size[0] - 2 * PAD + gap) / count, 3 * (broad + gap))
        drawn = f'y="{low + 2}" width="{step - gap:g}" height="{high}" rx="2"'
        looks = state.cells[:count] or ((),) * count
        return [
            f'<g class="{" ".join(("mg-cell", *look))}">'
            f'<rect class="mg-cell-card" x="{PAD + step * k:g}" {drawn}/></g>'
            for k, look in enumerate(looks)
        ]

    def _done(self, state: State) -> str:
        """Return the bar for how much of a group has run, behind its outline."""
        if self.node.kind != "group":
            return ""
        width, height = self.size
        part = f'width="{width * state.done:.0f}" height="{height}" rx="{ROUND}"'
        return f'<rect class="mg-done" {part}/>'


def lines_on(picture: swatch.Raster | None) -> int:
    """Return how many lines of numbers fit on the cells of a picture; 0 if they don't."""
    if picture is None or picture.reduction or picture.kind == "tiles":
        return 0
    lines = [[re.sub(r"\.\d+e", "e", f"{v or 0:.2g}") for v in line] for line in picture.cells]
    most = max(wide(number, SMALL - 1) for line in lines for number in line) + PAD / 2
    return len(lines) if len(lines) <= 2 and most * len(lines[0]) <= swatch.WIDE else 0


def _halo(width: int, height: int) -> str:
    """Return a halo that marks what happens now, so that the card keeps its style."""
    size = f'width="{width + 2 * AROUND}" height="{height + 2 * AROUND}" rx="{ROUND + AROUND}"'
    return f'<rect class="mg-halo" x="-{AROUND}" y="-{AROUND}" {size}/>'


def _swatch(of: str, x: float, y: float, code: str) -> str:
    """Return a swatch at its place, with its contents."""
    return swatch.placed(of, x, y, swatch.drawn(code) if code else "")


def text(kind: str, x: float, y: float, inside: str, at: str = "start") -> str:
    """Return an SVG line of escaped text; x is its start, middle or end."""
    anchor = f' text-anchor="{at}"' if at != "start" else ""
    return f'<text class="{kind}" x="{x:g}" y="{y:g}"{anchor}>{inside}</text>'


def bilingual(pair: Pair) -> str:
    """Return both halves as SVG; a page shows one of them, or both side by side."""
    english, chinese = map(escape, pair)
    if english == chinese:
        return english
    return f'<tspan lang="en">{english}</tspan> <tspan lang="zh">{chinese}</tspan>'


def one_language(svg: str, language: str) -> str:
    """Return the drawing for use without style rules: one half of each pair, or "both".

    Both have room where the name of an operator would be.
    """
    svg = OPERATOR.sub("", svg) if language == "both" else svg
    return BOTH.sub({"en": r"\1", "zh": r"\2", "both": r"\1 \2"}[language], svg)


def plain(text: str, limit: int = NAME_LIMIT) -> str:
    """Return a text as one line of limited length, with characters that XML allows."""
    line = UNFIT.sub(" ", text)
    return line if len(line) <= limit else line[: limit - 1] + "…"


@lru_cache(maxsize=4096)
def wide(text: str, size: int) -> float:
    """Estimate the width of a text in pixels; rather too wide than too narrow."""
    return size * sum(map(_em, text))


def _em(c: str) -> float:
    if c > "\u2e7f":
        return 1.0
    if c in NARROW:
        return 0.34
    return 0.92 if c in WIDE else 0.7 if c.isupper() else 0.58


def _half(pair: Pair, language: str) -> str:
    return {"en": pair[0], "zh": pair[1], "both": " ".join(pair)}[language]


def _word_width(width: float) -> float:
    """Return the width that a second word takes in a row."""
    return width + GAP if width else 0

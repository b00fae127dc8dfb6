"""The picture that README, tour and L00 begin with: one formula both ways, and when each line runs.

It is drawn from two recordings of `y = x * x; z = y + 3` for three inputs. It plays once and rests
at its end, where it still says which of the two graphs was built once.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from letters import font_rules

import minigrad as mg
import viz
from minigrad import placeholder
from viz.film.film import Film
from viz.film.score import BOTH, Note, Score, components, score
from viz.picture.cards import wide
from viz.picture.drawing import alone
from viz.picture.motion import PLAYS
from viz.picture.theme import TOKENS

DATA = (5.0, 6.0, 7.0)
SECOND, PACE = 0.7, 0.62  # before the first step, and of a step, in seconds
CODE = 7.7285  # pixels of a letter of code
ROW, HEAD, FOOT = 42, 44, 40  # pixels of a row, and above and below all rows
SIGNS = {"Mul": "×", "Add": "+"}

WORDS: Mapping[str, tuple[str, str]] = {
    "dynamic": ("Dynamic graph", "动态图"),
    "static": ("Static graph", "静态图"),
    "dynamic_as": ("PyTorch", "PyTorch"),
    "static_as": ("TensorFlow 1, compilers", "TensorFlow 1、编译器"),
    "built": ("operators built", "个新建算子"),
    "ran": ("operator runs", "次算子运行"),
    "built_short": ("built", "个新建算子"),
    "ran_short": ("run", "次算子运行"),
    "run": ("run", "运行"),
    BOTH: ("build + run", "构建 + 运行"),
    "build": ("build", "构建"),
    "thrown": ("{} graphs, each thrown away", "{} 张图，用完就扔"),
    "kept": ("{} graph, kept", "{} 张图，一直保留"),
    "done": ("done", "完成"),
    "made": ("built", "已构建"),
    "did": ("ran", "已运行"),
    "held": ("value held", "已有值"),
    "waits": ("no value yet", "还没有值"),
    "now": ("now", "此刻"),
    "equal": ("✓ same results both ways, bit for bit", "✓ 两种方式结果逐位相同"),
    "alt": (
        "The lines y = x * x and z = y + 3 for the inputs 5, 6 and 7. The dynamic graph is built "
        "and run three times: 6 operators built, 6 run. The static graph is built once and run "
        "three times: 2 operators built, 6 run.",
        "对输入 5、6、7 计算 y = x * x 和 z = y + 3。动态图构建并运行三次：6 次构建，6 次运行；"
        "静态图只构建一次，运行三次：2 次构建，6 次运行。",
    ),
}


# ---- The two recordings -----------------------------------------------------------------------


def recorded() -> tuple[list[Film], bool]:
    """Both films, and whether both ways gave the same bits."""

    def step(value: float) -> Any:
        x = mg.tensor(value, requires_grad=True, name="x")
        y = x * x
        z = y + 3
        return z.numpy()  # with this the graph is thrown away

    with viz.live(pause=0) as drawing:
        dynamic = [step(value) for value in DATA]
    with mg.Graph(), mg.Session() as session, mg.record(values=True) as log:
        x = placeholder("x")
        y = x * x
        z = y + 3
        static = [session.run(z, {x: value}) for value in DATA]
    equal = np.array(dynamic).tobytes() == np.array(static).tobytes()
    return [*drawing.player.films, *viz.timeline(log).films], equal


# ---- What is seen when ------------------------------------------------------------------------


@dataclass(frozen=True)
class Staff:
    """A score with a column for each step in which something is noted: operands have their own."""

    film: Film
    score: Score
    columns: Sequence[tuple[int, bool]]  # step, and whether an operator

    @classmethod
    def of(cls, film: Film) -> Staff:
        made = score(film)
        columns = {(n.step, n.sort == "operator") for n in made.notes if n.sort != "constant"}
        return cls(film, made, sorted(columns))

    def notes(self) -> Iterator[tuple[int, Note]]:
        """What is noted, by its column."""
        for note in self.score.notes:
            if note.sort != "constant":
                yield self.columns.index((note.step, note.sort == "operator")), note

    def passed(self, step: int) -> int:
        """How many columns are over when a step ends."""
        return sum(at <= step for at, _ in self.columns)

    def phases(self) -> Iterator[tuple[str, int, int]]:
        """The phases by their first and last columns, with the operand that each begins with."""
        start = 0
        for phase in self.score.phases:
            end = self.passed(phase.end) - 1
            yield phase.kind, start, end
            start = end + 1

    def kept(self) -> tuple[str, int]:
        """Whether its graphs were thrown away or kept, and how many there were."""
        graphs = {i for i in components(self.film.picture).values() if i in self._operators()}
        freed = {track.freed for i in self._operators() if (track := self.film.tracks[i]).freed}
        if not freed:
            return "kept", len(graphs)
        if len(freed) != len(graphs):
            raise ValueError("some graphs were thrown away, and others were kept")
        return "thrown", len(freed)

    def _operators(self) -> set[str]:
        return {n.id for n in self.film.picture.nodes if n.kind == "operator"}

    def counts(self) -> Iterator[tuple[int, tuple[int, int]]]:
        """How many operators have been built and run, from each column that adds to them."""
        built = ran = 0
        for column, note in self.notes():
            if note.sort == "operator":
                built += note.kind != "run"
                ran += note.kind != "built"
                yield column, (built, ran)


class Spot(NamedTuple):
    """A card: its left upper corner and its size."""

    x: float
    y: float
    wide: float
    high: float


@dataclass(frozen=True)
class Layout:
    """Where everything lies; on a phone the score is below its graph."""

    width: int
    phone: bool = False

    @property
    def graph(self) -> float:
        """How wide the graph is."""
        return self.width - 40 if self.phone else self.width * 0.28

    @property
    def axis(self) -> float:
        return 46 if self.phone else self.graph + 203

    @property
    def row(self) -> float:
        return 36 if self.phone else ROW

    @property
    def head(self) -> float:
        return 34 if self.phone else HEAD

    @property
    def top(self) -> float:
        """Where the rows begin, from the top of a lane."""
        return self.head + (106 if self.phone else 0)

    @property
    def high(self) -> float:
        return self.top + 3 * self.row + (33 if self.phone else FOOT)

    def cards(self) -> dict[str, Spot]:
        """The places of x, ×, + and of the constant."""
        gap = 18 if self.phone else 16
        wide = (self.graph - 2 * gap) / 3
        y, high, below, low = (14, 44, 74, 28) if self.phone else (18, 54, 92, 34)
        spots = (Spot(12 + i * (wide + gap), self.head + y, wide, high) for i in range(3))
        found = dict(zip("x×+", spots, strict=True))
        inset = 14 if self.phone else 0  # there are words beside it
        spot = Spot(found["×"].x + inset, self.head + below, wide - inset, low)
        return {**found, "3": spot}


def at(column: float) -> float:
    return SECOND + PACE * column


# ---- The drawing ------------------------------------------------------------------------------


class Drawn:
    """The picture in one language."""

    def __init__(self, staffs: Sequence[Staff], layout: Layout, language: str, equal: bool) -> None:
        self.staffs, self.layout, self.equal = staffs, layout, equal
        self.spoken = 1 if language == "zh" else 0
        self.columns = max(len(staff.columns) for staff in staffs)
        self.column = (layout.width - layout.axis - 12) / self.columns
        self.radius = 10.6 if layout.phone else min(13.0, self.column * 0.42)

    def say(self, key: str, *about: object) -> str:
        return escape(WORDS[key][self.spoken].format(*about))

    def x(self, column: float) -> float:
        return self.layout.axis + self.column * (column + 0.5)

    def y(self, row: float) -> float:
        return self.layout.top + self.layout.row * (row + 0.5)

    def svg(self) -> str:
        high = self.layout.high
        lanes = [
            f'<g transform="translate(0 {i * (high + 1)})">{self.lane(staff)}</g>'
            f'<path class="hair" d="M0 {(i + 1) * (high + 1):g}H{self.layout.width}"/>'
            for i, staff in enumerate(self.staffs)
        ]
        phone = self.layout.phone
        key = 2 * (high + 1) + (20 if phone else 24)
        whole = key + (54 if phone else 14)
        end = _words("b run", 12, whole - (10 if phone else 14), self.say("equal"))
        last = self.key(key) + (_when(end, at(self.columns)) if self.equal else "")
        uncovered = _rect("sweep", 0, 0, self.x(self.columns - 0.5), high)
        sweep = f'<clipPath id="past">{uncovered}</clipPath>'
        return (
            f'<svg class="both-ways" width="{self.layout.width}" height="{whole:g}" role="img" '
            f'viewBox="0 0 {self.layout.width} {whole:g}"><title>{self.say("alt")}</title>'
            f"<defs>{sweep}{ARROW}</defs>{''.join(lanes)}{last}</svg>"
        )

    def key(self, y: float) -> str:
        """What the marks and lines of the score mean; on a phone in two rows."""
        looks = {
            "made": '<circle class="mark built" cx="9" r="8"/>',
            "did": '<circle class="mark run" cx="9" r="8"/>',
            "now": '<path class="playhead still" d="M4 -8V8"/>',
            "held": '<path class="life lives" d="M2 0H24"/>',
            "waits": '<path class="life waits" d="M2 0H24"/>',
        }
        phone = self.layout.phone
        x, found = 12.0 if phone else 0.37 * self.layout.width, ""
        for name, sign in looks.items():
            if phone and name == "held":
                x, y = 12.0, y + 22
            beside = {"held": 31, "waits": 31, "now": 12}.get(name, 23)
            found += f'<g transform="translate({x:g} {y - 4:g})">{sign}</g>'
            found += _words("soft", x + beside, y, self.say(name))
            x += beside + 20 + wide(WORDS[name][self.spoken], 13)
        return found

    def lane(self, staff: Staff) -> str:
        kind = staff.film.picture.kind
        name = f'<tspan class="b name">{self.say(kind)}</tspan>'
        system = f'<tspan class="soft" dx="10">{self.say(f"{kind}_as")}</tspan>'
        system = "" if self.layout.phone else system
        head = _words("", 12, self.layout.head - (11 if self.layout.phone else 15), name + system)
        return head + self.tally(staff) + self.graph(staff) + self.rows(staff)

    def tally(self, staff: Staff) -> str:
        """Both counts, up to each moment."""
        keys = ("built_short", "ran_short") if self.layout.phone else ("built", "ran")
        counts = dict(staff.counts())
        starts = [0.0, *map(at, counts)]
        found = []
        for start, end, numbers in zip(
            starts, [*starts[1:], None], [(0, 0), *counts.values()], strict=True
        ):
            told = " · ".join(
                f'<tspan class="b {look} large">{number}</tspan>'
                f'<tspan dx="4">{self.say(key)}</tspan>'
                for key, look, number in zip(keys, ("built", "run"), numbers, strict=True)
            )
            y = self.layout.head - (11 if self.layout.phone else 15)
            found.append(_when(_words("soft", self.layout.width - 12, y, told, "end"), start, end))
        return "".join(found)

    # the graph

    def graph(self, staff: Staff) -> str:
        """The cards as they are born, run, and are thrown away."""
        names = {n.id: SIGNS.get(n.op, "x") for n in staff.film.picture.nodes}
        dynamic = staff.film.picture.kind == "dynamic"
        phases = list(staff.phases())
        found, cards = [self.ghosts(0)], self.layout.cards()
        for number, (kind, start, end) in enumerate(phases):
            until = at(end + 1) if dynamic or number + 1 < len(phases) else None
            if dynamic and number:
                found.append(_when(self.ghosts(number), at(start), until))
            for column, note in staff.notes():
                if not start <= column <= end:
                    continue
                sign = names[note.nodes[-1]]
                then = self.card(sign, cards[sign], "" if note.kind == "built" else note.value)
                links = self.links(sign) if dynamic or kind == "build" else ""
                forever = kind == "build" and not dynamic
                found.append(_when(links, at(column), None if forever else until))
                planned = not dynamic and kind != "build"
                if planned:  # a run begins: what has not run yet is a plan again
                    plan = self.card(sign, cards[sign], "")
                    found.append(_when(plan, at(start), at(column)) if column > start else "")
                found.append(_when(then, at(column), until))
        word = self.fate(*staff.kept())
        begins = at(phases[-1][2] + 1)
        if dynamic:
            last = {names[n.nodes[-1]]: n.value for _, n in list(staff.notes())[-3:]}
            last["3"] = ""
            gone = "".join(self.card(sign, cards[sign], v, "gone") for sign, v in last.items())
            gone = f'<g class="past">{self.links("×")}{self.links("+")}</g>{gone}'
            found.append(_when(self.ghosts(len(phases) - 1) + gone, begins))
        return "".join(found) + _when(word, begins)

    def fate(self, key: str, count: int) -> str:
        """What becomes of the graphs; on a phone in two lines, beside the constant."""
        said, lay = self.say(key, count), self.layout
        if not lay.phone:
            return _words("b", 12, lay.head + 148, said)
        lines = re.split("(?<=[,，]) ?", said)
        return "".join(
            _words("b small", 12, lay.head + 84 + 17 * i, s) for i, s in enumerate(lines)
        )

    def card(self, sign: str, spot: Spot, value: str, look: str = "") -> str:
        x, y, wide, high = spot
        look = look or ("given" if sign == "x" and value else "ran" if value else "plan")
        middle = y + high / 2 + 7
        number = _words(f"b in {look}", x + wide - 7, middle, value, "end") if value else ""
        return _rect(f"card {look}", *spot) + _words(f"in {look}", x + 8, middle, sign) + number

    def links(self, sign: str) -> str:
        """What an operator reads: its arrows, and its constant."""
        cards = self.layout.cards()
        one, two, three, held = (cards[key] for key in ("x", "×", "+", "3"))
        if sign == "×":
            middle = one.y + one.high / 2
            ways = [f"M{one.x + one.wide:g} {middle + dy:g}H{two.x - 4:g}" for dy in (-8, 8)]
            return "".join(f'<path class="arrow" d="{way}"/>' for way in ways)
        if sign == "+":
            up, side = three.x + three.wide / 2, held.y + held.high / 2
            middle, below = two.y + two.high / 2, three.y + three.high + 4
            ways = [
                f"M{two.x + two.wide:g} {middle:g}H{three.x - 4:g}",
                f"M{held.x + held.wide:g} {side:g}Q{up:g} {side:g} {up:g} {below:g}",
            ]
            card = self.card("3", held, "", "given")
            return "".join(f'<path class="arrow" d="{way}"/>' for way in ways) + card
        return ""

    def ghosts(self, count: int) -> str:
        """The graphs before, thrown away, and the places of the next one."""
        return "".join(
            _rect("ghost" if n else "ghost to-come", x + 3 * n, y - 7 * n, wide, high)
            for n in range(count, -1, -1)
            for x, y, wide, high in self.layout.cards().values()
        )

    # the score

    def rows(self, staff: Staff) -> str:
        lay, dynamic = self.layout, staff.film.picture.kind == "dynamic"
        behind, names, past, stairs, boxes = [], [], [], [], []
        for i, row in enumerate(staff.score.rows):
            y, left = self.y(i), lay.axis - 169
            line = lay.axis + 7 if lay.phone else left + CODE * len(row.label) + 8
            behind.append(f'<path class="hair" d="M{line:g} {y:g}H{lay.width - 12}"/>')
            lit = _rect("lit", left - 6, y - 14, line - left, 28)
            for column, note in staff.notes():
                if note.row == i and not lay.phone and note.kind != "run":
                    names.append(_when(lit, at(column), at(column + 1)))
            name, _, does = row.label.partition(" = ")
            if not lay.phone:
                names.append(_words("code", left, y + 5, escape(row.label)))
            elif i:  # in two lines
                names.append(_words("code slim", 12, y - 3, f"{name} ="))
                names.append(_words("code slim", 12, y + 11, escape(does)))
            else:
                names.append(_words("code slim", 12, y + 4, name))
        for life in staff.score.lives:
            operator = any(n.row == life.row and n.sort == "operator" for n in staff.score.notes)
            start = staff.columns.index((life.start, operator))
            end = self.x(staff.passed(life.end) - 0.6) if dynamic else self.x(self.columns)
            runs = [c for c, n in staff.notes() if n.row == life.row and n.kind != "built"]
            begins = start if dynamic else runs[0]
            if begins > start:
                past.append(self.line("waits", life.row, self.x(start), self.x(begins)))
            past.append(self.line("lives", life.row, self.x(begins), end))
        notes = list(staff.notes())
        foot = lay.top + 3 * lay.row + (4 if lay.phone else 6)
        for kind, start, end in staff.phases():
            spots = [(c, f"{self.x(c):g} {self.y(n.row):g}") for c, n in notes if start <= c <= end]
            for (_, one), (column, other) in pairwise(spots):
                stair = f'<path class="stair {kind}" d="M{one}L{other}"/>'
                stairs.append(_when(stair, at(column)))
            left, said = self.x(start) - self.column * 0.44, self.say(kind)
            for now in range(start, end + 1):  # the box grows, once there is room for its word
                far = self.x(now) + self.column * 0.44 - left
                box = _rect(f"phase {kind}", left, foot, far, 26)
                if far <= wide(said, 13) + 8 and now < end:
                    continue
                small = "b tight" if lay.phone else "b small"
                box += _words(small, left + far / 2, foot + 17.5, said, "middle")
                boxes.append(_when(box, at(now), at(now + 1) if now < end else None))
        if end + 1 < self.columns:
            done = _words("soft small", self.x(end + 0.7), foot + 18, self.say("done"))
            boxes.append(_when(done, at(end + 1)))
        marks = [self.mark(column, note) for column, note in notes]
        x = self.x(self.columns - 0.4)
        head = f'<path class="playhead" d="M{x:g} {lay.top:g}V{foot:g}"/>'
        clip = '<g clip-path="url(#past)">'
        parts = [*behind, clip, *past, "</g>", *stairs, clip, *marks, "</g>", *boxes]
        return "".join([*parts, *names, head])

    def line(self, look: str, row: int, start: float, end: float) -> str:
        return f'<path class="life {look}" d="M{start:g} {self.y(row):g}H{end:g}"/>'

    def mark(self, column: int, note: Note) -> str:
        x, y, given = self.x(column), self.y(note.row), note.sort == "input"
        look = "given" if given and note.value else "declared" if given else note.kind
        outer = self.radius + (1.6 if note.kind == BOTH and not given else 0)
        ring = f'<circle class="mark {look}" cx="{x:g}" cy="{y:g}" r="{outer:g}"/>'
        inner = f'<circle class="mark run" cx="{x:g}" cy="{y:g}" r="{self.radius - 1.2:g}"/>'
        value = _words("b value", x, y + 4.3, note.value, "middle") if note.value else ""
        return ring + (inner if note.kind == BOTH and not given else "") + value


def _rect(look: str, x: float, y: float, wide: float, high: float) -> str:
    place = f'x="{x:g}" y="{y:g}" width="{wide:g}" height="{high:g}"'
    return f'<rect class="{look}" {place} rx="8"/>'


def _words(look: str, x: float, y: float, said: str, anchor: str = "start") -> str:
    return f'<text class="{look}" x="{x:g}" y="{y:g}" text-anchor="{anchor}">{said}</text>'


def _when(svg: str, start: float, end: float | None = None) -> str:
    """What is seen from one moment on, or from one to another; see `viz.picture.motion`."""
    if end is None:
        return f'<g class="mg-from" style="--for:{start:.2f}s">{svg}</g>'
    seconds = f"--at:{start:.2f}s;--for:{end - start:.2f}s"
    return f'<g class="mg-for" style="{seconds}">{svg}</g>'


ARROW = (
    '<marker id="tip" viewBox="0 0 8 8" refX="5" refY="4" markerWidth="6" markerHeight="6" '
    'orient="auto"><path d="M0 0L8 4L0 8z" class="tip"/></marker>'
)
STYLE = Path(__file__).with_suffix(".css")


def picture(language: str, width: int = 760, phone: bool = False, dark: bool | None = None) -> str:
    """The picture as an SVG file."""
    films, equal = recorded()
    drawn = Drawn([Staff.of(film) for film in films], Layout(width, phone), language, equal)
    style = swept(STYLE, drawn.columns, PACE, SECOND, drawn.column * drawn.columns)
    return finished(drawn.svg(), style, language, dark)


def swept(style: Path, columns: int, pace: float, delay: float, length: float) -> str:
    """The rules of a drawing whose playhead takes `pace` seconds from column to column."""
    rules = style.read_text("utf-8") + style.with_name("sweep.css").read_text("utf-8")
    for name, what in {
        "DURATION": f"{pace * columns:.2f}s",
        "COLUMNS": str(columns),
        "DELAY": f"{delay:.2f}s",
        "AXIS": f"{length:.1f}px",
    }.items():
        rules = rules.replace(name, what)
    return rules


def finished(svg: str, style: str, language: str, dark: bool | None) -> str:
    """A drawing as a file that plays once, with the colours by the names of the theme."""
    light, night = (
        ":root { " + " ".join(f"--{key}: {pair[i]};" for key, pair in TOKENS.items()) + " }"
        for i in (0, 1)
    )
    colors = light + f"\n@media (prefers-color-scheme: dark) {{ {night} }}\n"
    colors = colors if dark is None else night if dark else light
    return alone(svg, language, dark, PLAYS + colors + style, font_rules)

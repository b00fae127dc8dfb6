"""The score beneath a moving picture: a staff for each film, all on one axis of steps.

What a step adds is a separate part, which stays: pictures are made of the differences.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from html import escape
from itertools import pairwise
from math import dist

from viz.film.film import BUILT, GRADIENT, RUN, Film
from viz.film.score import BACKWARD, BOTH, BUILD, GRADIENTS, Note, Score, aligned, score, tallies
from viz.picture.cards import plain, text, wide
from viz.picture.drawing import EDGE
from viz.picture.theme import SMALL
from viz.words.text import ROWS, Pair

WIDE, CELL = 640, 100  # pixels of a score that is wider than what is drawn, at most; of its steps
ROW, MOST = 28, 224  # height of a row; of all rows of a film, at most, px
MANY, DIAGONAL = 40, 130  # rows, of which the marks make diagonals; how high these are, px
HEAD, AXIS, FOOT, PHASE = 28, 12, 38, 28  # heights above the rows, of their numbers, below, px
READABLE, CODE = 14, 0.34  # height of a row with its code, px; the code's part of the width
LARGEST, RINGED = 13, 8  # radius of a mark, and of one that has room for a ring, px
TICK = 34  # pixels from one number of the axis to the next, about
DOT = 5  # radius of a mark, px: smaller ones are dots
TALLIES = {BUILT: "tally_built", RUN: "tally_run", GRADIENT: "tally_gradient"}
LOOKS = {"built": "mg-born", "run": "mg-ran", BOTH: "mg-ran", "gradient": "mg-passed"}
SIGNS = {GRADIENTS: "∂", BACKWARD: "∂"}  # of phases too narrow for a word; others have a look
PHASES = {
    BUILD: "mg-born",
    GRADIENTS: "mg-asked",
    "run": "mg-ran",
    BOTH: "mg-at-once",
    BACKWARD: "mg-passed",
}


class Staffs:
    """All staffs. width: pixels of what is drawn above; room: those that there are."""

    def __init__(
        self, films: Sequence[Film], titles: Sequence[Pair], width: float, room: int, language: str
    ) -> None:
        self.spoken = int(language == "zh")
        scores = aligned([score(film) for film in films])
        rows = max(len(made.rows) for made in scores)
        self.row = DIAGONAL / rows if rows > MANY else min(ROW, MOST / max(rows, 1))
        self.readable = self.row >= READABLE
        longest = max((wide(row.label, SMALL) for made in scores for row in made.rows), default=0)
        self.left = EDGE + (min(longest + 20, CODE * width) if self.readable else 0)
        self.head = HEAD + AXIS * self.readable
        self.steps = max(len(film.frames) for film in films)
        self.width = max(width, min(room, WIDE, EDGE + self.left + CELL * self.steps))
        self.column = (self.width - EDGE - self.left) / self.steps
        self.radius = max(1.2, min(LARGEST, self.column * 0.43, self.row * 0.42))
        self.staffs: list[Staff] = []
        self.height = 6.0
        for film, title, made in zip(films, titles, scores, strict=True):
            self.staffs.append(Staff(self, film, title[self.spoken], made, self.height))
            self.height += self.head + self.row * len(made.rows) + FOOT

    def x(self, step: float) -> float:
        """Return the x of the middle of a column."""
        return round(self.left + self.column * (step + 0.5), 1)

    def parts(self, step: int) -> dict[str, str]:
        """Return all that is visible of the staffs at a step, from back to front."""
        found = {f"{n}-{i}": svg for i, s in enumerate(self.staffs) for n, svg in s.parts(step)}
        x = f"{self.x(step):g}"  # beneath the marks, and clear of words
        ways = (f"M{x},{s.y(-0.5):g}L{x},{s.y(len(s.score.rows) - 0.3):g}" for s in self.staffs)
        return {"playhead": f'<path class="mg-head" d="{"".join(ways)}"/>', **found}


class Staff:
    """The rows of one film, from `low` pixels on."""

    def __init__(self, staffs: Staffs, film: Film, title: str, score: Score, low: float) -> None:
        self.staffs, self.title, self.score, self.low = staffs, title, score, low
        self.counted = list(tallies(film))
        self.notes: dict[int, list[Note]] = defaultdict(list)
        for note in score.notes:
            if note.sort not in ("constant", "gradient"):  # the tally counts what it needs
                self.notes[note.step].append(note)
        self.held = {n.row: n.step for n in reversed(score.notes) if n.kind != "built"}  # at first
        self.stairs = self._stairs()

    def y(self, row: float) -> float:
        """Return the y of the middle of a row."""
        return self.low + self.staffs.head + self.staffs.row * (row + 0.5)

    def parts(self, step: int) -> Iterator[tuple[str, str]]:
        """Yield what is visible of the staff at a step, with names."""
        yield "rows", self._rows()
        yield "head", self._head(step)
        here = {note.row for note in self.notes.get(step, ())}
        for i, row in enumerate(self.score.rows if self.staffs.readable else ()):
            yield f"row{i}", self._line(i, row.label, i in here)
        for k in range(self.staffs.steps):
            yield f"step{k}", self._step(k) if k <= step else ""
        for i, phase in enumerate(self.score.phases):
            yield f"phase{i}", self._phase(*phase) if phase.start <= step else ""

    def _rows(self) -> str:
        all_, y = self.staffs, self.y(-0.5) - 4
        rows = range(len(self.score.rows)) if all_.row > DOT else ()
        way = f'<path class="mg-axis" d="M{all_.left:g},{{0:g}}L{all_.width - EDGE:g},{{0:g}}"/>'
        ticks = range(0, all_.steps * all_.readable, max(1, round(TICK / all_.column)))
        numbers = (text("mg-clock", all_.x(k), y, str(k), "middle") for k in ticks)
        return "".join([*(way.format(self.y(i)) for i in rows), *numbers])

    def _head(self, step: int) -> str:
        """Return the title and the counts as SVG; if rows have no names, the current row's too."""
        now = next(counts for i, counts in reversed(self.counted) if i <= step)
        spoken, last = self.staffs.spoken, self.counted[-1][1]
        counted = [(clock, key) for clock, key in TALLIES.items() if last[clock]]
        words = " · ".join(f"{now[clock]} {ROWS[key][spoken]}" for clock, key in counted)
        told = (f'<tspan class="mg-{k}">{now[c]}</tspan> {ROWS[k][spoken]}' for c, k in counted)
        axis = ROWS["score_axis"][spoken]
        left, y = EDGE * (1 + bool(self.title)) + wide(self.title, SMALL) * 1.3, self.low + 18
        room = self.staffs.width - 2 * EDGE - left - wide(words, SMALL)
        said = [axis] if self is self.staffs.staffs[0] and wide(axis, SMALL) <= room else []
        if not self.staffs.readable and self.notes.get(step):
            said.append(self.score.rows[self.notes[step][0].row].label)
        return (
            text("mg-count", EDGE, y, escape(self.title))
            + text("mg-clock", left, y, _short(" · ".join(said), room))
            + text("mg-clock", self.staffs.width - EDGE - 10, y, " · ".join(told), "end")
        )

    def _line(self, i: int, label: str, here: bool) -> str:
        """Return the code of a row as SVG, highlighted while it runs."""
        wide_, y = self.staffs.left - EDGE - 4, self.y(i)
        lit = f'<rect class="mg-lit" x="6" y="{y - 10:g}" width="{wide_:g}" height="20" rx="5"/>'
        return (lit if here else "") + text("mg-code", EDGE, y + 4, _short(label, wide_ - 10))

    def _stairs(self) -> dict[int, list[tuple[str, Note, Note]]]:
        """Return, by step, the pairs of marks that a phase connects."""
        found = defaultdict(list)
        ends = [-1, *(phase.end for phase in self.score.phases)]  # its inputs come before it
        for before, (kind, _, end) in zip(ends, self.score.phases, strict=False):
            down = -1 if kind == BACKWARD else 1
            there = (self.notes.get(k, ()) for k in range(before + 1, end + 1))
            within = [n for notes in there for n in sorted(notes, key=lambda n: down * n.row)]
            for one, other in pairwise(within):
                found[other.step].append((kind, one, other))
        return found

    def _step(self, k: int) -> str:
        """Return what a step adds: continuing lifetimes, lines from mark to mark, its marks."""
        staffs, stairs, lives = self.staffs, "", {"mg-life": "", "mg-life-plan": ""}
        marked = {note.row for note in self.notes.get(k - 1, ())}
        for row, start, end in self.score.lives:
            if start < k <= end + 1:  # up to this step, and a little further in the next
                left = staffs.x(k - 1) + staffs.radius * (row in marked)
                look = "mg-life" if self.held.get(row, k) < k else "mg-life-plan"
                right = staffs.x(k if k <= end else k - 0.6)
                lives[look] += f"M{left:g},{self.y(row):g}L{right:g},{self.y(row):g}"
        for kind, one, other in self.stairs.get(k, ()):
            stairs += f'<path class="mg-stair-{kind}" d="{self._between(one, other)}"/>'
        ways = (f'<path class="{look}" d="{way}"/>' for look, way in lives.items() if way)
        return "".join([*ways, stairs, *map(self._mark, self.notes.get(k, ()))])

    def _between(self, one: Note, other: Note) -> str:
        """Return a line from the border of one mark to that of the next."""
        (x, y), (u, v) = ((self.staffs.x(n.step), self.y(n.row)) for n in (one, other))
        part = min(0.5, self.staffs.radius / (dist((x, y), (u, v)) or 1))
        dx, dy = part * (u - x), part * (v - y)
        return f"M{x + dx:.1f},{y + dy:.1f}L{u - dx:.1f},{v - dy:.1f}"

    def _mark(self, note: Note) -> str:
        x, y, r = self.staffs.x(note.step), self.y(note.row), self.staffs.radius
        given = note.sort == "input" and note.kind != "built"
        if r < DOT:
            return _disc(f"mg-dot-{'given' if given else note.kind}", x, y, r)
        ringed = note.kind == BOTH and not given
        ring = _disc("mg-ring" if r >= RINGED else "mg-at-once", x, y, r) if ringed else ""
        within = r - 3 if ringed and r >= RINGED else r
        disc = _disc("mg-given" if given else LOOKS[note.kind], x, y, within)
        of = "-grad" * (note.kind == "gradient")
        said = text(f"mg-number{of}", x, y + 4, escape(note.value), "middle")
        half = (wide(note.value, SMALL) / 2, 5 * (len(note.value) > 1))  # corners lie in it, too
        shown = disc * (not ring or r >= RINGED) + said * (0 < dist(half, (0, 0)) < within + 0.5)
        return _disc("mg-cover", x, y, r) + ring + shown

    def _phase(self, kind: str, start: int, end: int) -> str:
        """Return a phase with its name, or where this has no room with its sign."""
        staffs, y = self.staffs, self.y(len(self.score.rows) - 0.5) + 6
        left, width = staffs.x(start - 0.46), (end - start + 0.92) * staffs.column
        word, sign = ROWS[f"phase_{kind}"][staffs.spoken], SIGNS.get(kind, "")
        said = next(said for said in (word, sign, "") if wide(said, SMALL) < width * 0.94)
        middle, low = left + width / 2, y + PHASE / 2
        shown = text("mg-mark", middle, low + 4.5, said, "middle")
        if kind == BOTH and not said:
            shown = _disc("mg-ring", middle, low, RINGED) + _disc("mg-ran", middle, low, DOT)
        return _box(PHASES[kind], left, y, width, PHASE, 6) + shown


def _box(look: str, x: float, y: float, wide: float, high: float, round_: float) -> str:
    """Return a rectangle in the style of cards in a state."""
    size = f'width="{wide:g}" height="{high:g}" rx="{round_:g}"'
    return f'<g class="{look}"><rect class="mg-card" x="{x:g}" y="{y:g}" {size}/></g>'


def _disc(look: str, x: float, y: float, r: float) -> str:
    return _box(look, x - r, y - r, 2 * r, 2 * r, r)


def _short(code: str, room: float) -> str:
    """Cut a line of code to the room there is."""
    most = next((n for n in range(len(code), 0, -1) if wide(code[:n], SMALL) <= room), 0)
    return escape(plain(code, max(most, 1)))

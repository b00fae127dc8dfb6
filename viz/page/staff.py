"""The score beneath a moving picture: a staff for each film, all on one axis of steps.

What a step adds is a separate part, which stays: pictures are made of the differences.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from html import escape
from math import ceil, dist

from viz.film.film import BUILT, GRADIENT, RUN, Film
from viz.film.score import BACKWARD, BOTH, BUILD, GRADIENTS, Note, Score, aligned, score, tallies
from viz.picture.cards import plain, text, wide
from viz.picture.drawing import EDGE
from viz.picture.theme import SMALL
from viz.words.text import ROWS, Pair

WIDE, CELL, TICK = 620, 100, 34  # pixels of a score wider than its graph; of steps; of numbers
ROW, LOW = 28, (24, 16)  # height of a row, px; on a phone, where one film is, and where two are
MOST, MANY, DIAGONAL = 224, 40, 130  # px of a film's rows, at most; rows of diagonals, their px
HEAD, AXIS, FOOT, PHASE = 28, 12, 40, 30  # heights above the rows, of their numbers, below, px
READABLE, CODE = 14, 0.34  # height of a row with its code, px; the code's part of the width
LARGEST, KEYED, SIGN = 13, 8, 16  # radius of a mark, of one in the key; width of a phase, px
RING, INNER = 1.6, 1.4  # from it to the ring of what was built and run at once, and to its edge
NUMBERED, DOT = 7, 4  # radius of marks that can show numbers, px, else filled; of no mere dots
TALLIES = {BUILT: "tally_built", RUN: "tally_run", GRADIENT: "tally_gradient"}
LOOKS = {"built": "mg-born", BOTH: "mg-ran", "run": "mg-ran", "declared": "mg-dot-declared"}
LOOKS |= {"given": "mg-given", "seed": "mg-dot-seed"}
FILLED = {"built": "mg-small-ring", BOTH: "mg-dot-run"}
KEYS = {"built": "key_built", BOTH: "phase_both", "run": "key_ran", "given": "key_input"}
KEYS |= {"declared": "", "seed": "key_seed"}  # one word for both of an input
KEY_LINE, KEY_GAP = 20, 12  # height of a line of the key, and from one entry to the next, px
PHASES = {BUILD: "mg-born", GRADIENTS: "mg-asked", "run": "mg-ran", BOTH: "mg-at-once"}
PHASES[BACKWARD] = LOOKS["gradient"] = "mg-passed"


class Staffs:
    """All staffs. width: pixels of what is drawn above; room: those that there are."""

    def __init__(
        self, films: Sequence[Film], titles: Sequence[Pair], width: float, room: int, language: str
    ) -> None:
        self.spoken = int(language == "zh")
        scores = aligned([score(film) for film in films])
        rows = max(len(made.rows) for made in scores)
        row = ROW if room >= WIDE else LOW[len(films) > 1]
        self.row = DIAGONAL / rows if rows > MANY else min(row, MOST / (rows or 1))
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
        if not all(s.holds(n) for s in self.staffs for notes in s.notes.values() for n in notes):
            self.radius = min(self.radius, NUMBERED - 0.5)  # no mark has a number
        self.key = self._key(films)

    def x(self, step: float) -> float:
        """Return the x of the middle of a column."""
        return round(self.left + self.column * (step + 0.5), 1)

    def parts(self, step: int) -> dict[str, str]:
        """Return all that is visible of the staffs at a step, from back to front."""
        found = {f"{n}-{i}": svg for i, s in enumerate(self.staffs) for n, svg in s.parts(step)}
        x = f"{self.x(step):g}"  # beneath the marks, and clear of words
        d = "".join(f"M{x},{s.y(-0.5):g}L{x},{s.y(len(s.score.rows) - 0.3):g}" for s in self.staffs)
        return {"playhead": f'<path class="mg-head" d="{d}"/>', **found, "key": self.key}

    def _key(self, films: Sequence[Film]) -> str:
        """Return what the marks mean, beneath all staffs, in as many lines as that takes."""
        seen = {_kind(n) for staff in self.staffs for notes in staff.notes.values() for n in notes}
        r = self.keyed = max(DOT - 1, min(KEYED, self.radius))
        keys = [(_look(k, r, 0, r), 2 * r, KEYS.get(k, k)) for k in LOOKS if k in seen]
        keys += [('<path class="mg-life" d="M0,0L18,0"/>', 18, "key_held")]
        keys += [('<path class="mg-head" d="M1,-8L1,8"/>', 2, "key_now")]
        if any(t.life(self.steps) is not t for film in films for t in film.tracks.values()):
            keys += [("".join(_box("mg-given", x, -5, 14, 10, 2) for x in (3, 0)), 17, "key_anew")]
        said = [(s, width + 6, ROWS[key][self.spoken] if key else "") for s, width, key in keys]
        rooms = [left + wide(word, SMALL) + KEY_GAP * bool(word) for _, left, word in said]
        whole, room = sum(rooms), self.width - 2 * EDGE
        room = min(room, whole / ceil(whole / room) + max(rooms) / 2)  # lines of similar length
        x, y, found = float(EDGE), self.height + KEY_LINE / 2, ""
        for (sign, left, word), taken in zip(said, rooms, strict=True):
            x, y = (x, y) if x + taken - KEY_GAP <= EDGE + room else (EDGE, y + KEY_LINE)
            word = text("mg-clock", left, 4, word)
            found += f'<g transform="translate({x:.0f},{y:.0f})">{sign}{word}</g>'
            x += taken
        self.height = y + KEY_LINE / 2
        return found


class Staff:
    """The rows of one film, from `low` pixels on."""

    def __init__(self, staffs: Staffs, film: Film, title: str, score: Score, low: float) -> None:
        self.staffs, self.title, self.score, self.low = staffs, title, score, low
        self.counted = list(tallies(film))
        self.notes: dict[int, list[Note]] = defaultdict(list)
        notes = [n for n in score.notes if n.sort not in ("constant", "gradient")]  # are counted
        for note in notes:
            self.notes[note.step].append(note)
        self.held = {n.row: n.step for n in reversed(notes) if n.kind != "built"}  # at first
        self.stairs = self._stairs(film)

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
            yield f"phase{i}", self._phase(i) if phase.start <= step else ""

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
        told = [f'<tspan class="mg-{k}">{now[c]}</tspan> {ROWS[k][spoken]}' for c, k in counted]
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

    def _stairs(self, film: Film) -> dict[int, list[tuple[str, Note, Note]]]:
        """Return, by step, the marks of a phase of which one reads the other, or is in a loop."""
        found = defaultdict(list)
        joins = {(e.source, e.target) for e in film.picture.edges}
        last = [-1, *(phase.end for phase in self.score.phases)]  # its inputs come before it
        for before, (kind, _, end) in zip(last, self.score.phases, strict=False):
            down = -1 if kind == BACKWARD else 1
            there = (self.notes.get(k, ()) for k in range(before + 1, end + 1))
            within = [n for notes in there for n in sorted(notes, key=lambda n: down * n.row)]
            for i, other in enumerate(within[1:]):
                flows = film.frames[other.step].flows if kind == BACKWARD else {}
                sent = {e.target for e in film.picture.edges if e.id in flows}
                one = [within[i], *(n for n in within[: i + 1] if sent & {*n.nodes})][-1]
                ends = [(a, b) for a in one.nodes for b in other.nodes]
                if any(a == b or "b" in a + b or {(a, b), (b, a)} & joins for a, b in ends):
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
        if other.step - one.step > 1 and v < y:  # around what lies between
            return f"M{x + self.staffs.radius:g},{y:g}Q{u:g},{y:g} {u:g},{v + self.staffs.radius:g}"
        return f"M{x + dx:.1f},{y + dy:.1f}L{u - dx:.1f},{v - dy:.1f}"

    def _mark(self, note: Note) -> str:
        x, y, r = self.staffs.x(note.step), self.y(note.row), self.staffs.radius
        of = "-grad" * (note.kind == "gradient")
        said = text(f"mg-number{of}", x, y + 4, escape(note.value), "middle")
        return _look(_kind(note), x, y, r) + said * (note.value > "" and r >= NUMBERED)

    def holds(self, note: Note) -> bool:
        """Return whether a number lies in its mark, with its corners."""
        half = (wide(note.value, SMALL) / 2, 5 * (len(note.value) > 1))
        return dist(half, (0, 0)) < self.staffs.radius - INNER * (_kind(note) == BOTH) + 0.5

    def _phase(self, i: int) -> str:
        """Return a phase with its name, in two lines or short or as a sign where room is scarce."""
        staffs, y = self.staffs, self.y(len(self.score.rows) - 0.5) + 6
        kind, start, _ = self.score.phases[i]
        wides = [(end - at + 0.92) * staffs.column for _, at, end in self.score.phases]
        more = [max(0, SIGN - w) / 2 for w in wides]  # a short one takes it from those beside it
        left = staffs.x(start - 0.46) - more[i] + sum(more[i - 1 : i])
        width = wides[i] + 2 * more[i] - sum(more[i - 1 : i]) - sum(more[i + 1 : i + 2])
        word, short = (ROWS[f"phase_{x}"][staffs.spoken] for x in (kind, "backward_short"))
        signs = {BACKWARD: [[short], ["∂"]], GRADIENTS: [["∂"]]}.get(kind, [])
        ways = [[word], word.replace(" +", "\n+").split("\n"), *signs]
        said = next((x for x in ways if max(wide(s, SMALL) for s in x) < width * 0.94), [""])
        middle, low = left + width / 2, y + PHASE / 2
        at = [(low + 11 - 6.5 * len(said) + 13 * i, line) for i, line in enumerate(said)]
        shown = "".join(text("mg-mark", middle, y, line, "middle") for y, line in at)
        sign = _look(BOTH, middle, low, staffs.keyed) * (kind == BOTH and not said[0])
        return _box(PHASES[kind], left, y, width, PHASE, 6) + shown + sign


def _box(look: str, x: float, y: float, wide: float, high: float, round_: float) -> str:
    """Return a rectangle in the style of cards in a state."""
    size = f'width="{wide:g}" height="{high:g}" rx="{round_:g}"'
    return f'<g class="{look}"><rect class="mg-card" x="{x:g}" y="{y:g}" {size}/></g>'


def _kind(note: Note) -> str:
    """Return how a note is marked, as of `LOOKS`."""
    of = {"built": "declared", "gradient": "gradient"}.get(note.kind, "given")  # of an input
    return {"input": of, "seed": "seed"}.get(note.sort, note.kind)


def _look(kind: str, x: float, y: float, r: float) -> str:
    """Return a mark: filled if it is small, with a ring if it was built and run at once."""
    if r < DOT:
        return _disc(f"mg-dot-{kind}", x, y, r)
    filled, ringed = r < NUMBERED, kind == BOTH
    look = FILLED.get(kind, f"mg-dot-{kind}") if filled else LOOKS[kind]
    ring = _disc("mg-small-ring" if filled else "mg-ring", x, y, r + RING) * ringed
    return _disc("mg-cover", x, y, r) + ring + _disc(look, x, y, r - INNER * ringed)


def _disc(look: str, x: float, y: float, r: float) -> str:
    return _box(look, x - r, y - r, 2 * r, 2 * r, r)


def _short(code: str, room: float) -> str:
    """Cut a line of code to the room there is."""
    most = next((n for n in range(len(code), 0, -1) if wide(code[:n], SMALL) <= room), 0)
    return escape(plain(code, max(most, 1)))

"""A long drawing in rows, as the lines of a text, so that all of it can be seen at once."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import pairwise

from viz.picture.place import Box, Course, Places, Point

ENOUGH = 0.7  # of its size, at which a drawing is left in one row: its values can be read
BETTER = 1.2  # how much more has to be seen in rows
APART, CLEAR = 12, 26  # a gap where a row can end; between two rows, px
SIDE, LANE, CORNER = 14, 7, 8  # from a row to the arrow around it; between two arrows; px
EDGE = 6  # above and below a row, px
WITHIN = 16  # between a card and the end of the frame's part in a row, px
FEW = 2  # arrows that may go on in a later row; more of them are a tangle
Curve = tuple[Point, ...]
Ends = tuple[str, str]


def wrapped(there: Places, ends: Mapping[str, Ends], width: float, high: float) -> Places:
    """Wrap a drawing that runs to the right to the rows in which most of it is visible.

    It is cut where no card is, and no frame that a row has room for; what a longer frame holds has
    one in each row. An arrow goes on around the end of its row, and what is
    only given goes to the row where it is read. ends: the boxes that each arrow joins, as it runs.
    """
    best, seen = there, _seen(there, width, high)
    if seen >= ENOUGH:
        return there
    whole = {i: box for i, (box, _) in there.frames.items() if box.width <= width}
    read = {(a, there.nodes[a].x, there.nodes[b].x) for a, b in ends.values()}  # across a cut
    every = _gaps([*there.nodes.values(), *whole.values()])
    gaps = [x for x in every if len({a for a, low, end in read if low < x < end}) <= FEW]
    for rows in range(2, len(gaps) + 2):
        made = _Rows(there, ends, whole, _cut_positions(gaps, there.width, rows)).places()
        now = _seen(made, width, high)
        if now > seen * (BETTER if best is there else 1):
            best, seen = made, now
        elif made.height > high / seen:
            break
    return best


def _seen(there: Places, width: float, high: float) -> float:
    """Return the scale at which all of it is visible."""
    return min(1, width / there.width, high / there.height)


def _gaps(boxes: Sequence[Box]) -> list[float]:
    """Return the middles of the gaps without a box, from left to right."""
    found, end = [], 0.0
    for box in sorted(boxes, key=lambda b: b.x):
        if end and box.x - end >= APART:
            found.append((box.x + end) / 2)
        end = max(end, box.x + box.width)
    return found


def _cut_positions(gaps: Sequence[float], width: float, rows: int) -> list[float]:
    """Return the gaps nearest to where rows of the same length would end."""
    ideal = (width * k / rows for k in range(1, rows))
    return sorted({min(gaps, key=lambda gap: abs(gap - x)) for x in ideal})


class _Rows:
    """A drawing that is cut at some places, from left to right."""

    def __init__(
        self,
        there: Places,
        ends: Mapping[str, Ends],
        whole: Mapping[str, Box],
        cuts: Sequence[float],
    ) -> None:
        self.there, self.whole, self.cuts = there, whole, cuts
        self.rows = self._assigned(ends)
        boxes = [*((self.rows[i], box) for i, box in there.nodes.items())]
        boxes += [(self._row(box), box) for box in whole.values()]
        self.framed = {i: self._parts(box) for i, (box, _) in there.frames.items()}
        boxes += [part for i, parts in self.framed.items() if i not in whole for part in parts]
        self.inside = [[box for row, box in boxes if row == k] for k in range(len(cuts) + 1)]
        self.pieces = {i: self._pieces(i, *ends[i]) for i in there.edges}
        # The arrows that go on in a later row, by the row that they leave; the lowest goes inside.
        self.around: defaultdict[int, list[str]] = defaultdict(list)
        for i, parts in sorted(self.pieces.items(), key=lambda item: -item[1][0][1][-1][1]):
            if len(parts) > 1:
                self.around[parts[0][0]].append(i)
        self.aside = SIDE + LANE * max(map(len, self.around.values()), default=0)
        self.ends: list[float] = []  # of the rows, where they are now: right, and below
        self.lows: list[float] = []
        self.shifts: list[Point] = []
        down = 0.0
        for k in range(len(cuts) + 1):
            left, right, top, bottom = self._span(k)
            self.shifts.append((self.aside - left, down - top))
            self.ends.append(self.aside + right - left)
            self.lows.append(down + bottom - top)
            down = self.lows[-1] + CLEAR + LANE * len(self.around[k])

    def places(self) -> Places:
        edges = {}
        for i, course in self.there.edges.items():
            k = self.pieces[i][-1][0]
            label = course.label and self._moved((course.label,), k)[0]
            edges[i] = Course(self._course(i), self._moved(course.tip, k), label)
        nodes = {i: self._boxed(box, self.rows[i]) for i, box in self.there.nodes.items()}
        frames, further = {}, {}
        for i, (_, name) in self.there.frames.items():
            parts = [self._boxed(box, k) for k, box in self.framed[i]]
            frames[i] = parts[0], self._moved((name,), self.framed[i][0][0])[0]
            further[i] = tuple(parts[1:])
        return Places(max(self.ends) + self.aside, self.lows[-1], nodes, edges, frames, further)

    def _parts(self, frame: Box) -> list[tuple[int, Box]]:
        """Return the part of a frame in each row: around the cards in it that are there."""
        found: dict[int, list[Box]] = {}
        for i, box in self.there.nodes.items():
            x, y = box.x + box.width / 2, box.y + box.height / 2
            if frame.x < x < frame.x + frame.width and frame.y < y < frame.y + frame.height:
                found.setdefault(self.rows[i], []).append(box)
        if len(found) < 2:
            return [(next(iter(found), self._row(frame)), frame)]
        parts = []
        for k, boxes in sorted(found.items()):
            left = min(b.x for b in boxes) - WITHIN
            right = max(b.x + b.width for b in boxes) + WITHIN
            parts.append((k, Box(left, frame.y, right - left, frame.height)))
        return parts

    def _row(self, box: Box) -> int:
        return bisect_left(self.cuts, box.x + box.width / 2)

    def _assigned(self, ends: Mapping[str, Ends]) -> dict[str, int]:
        """Return the row of each box; inputs are in the first row that reads them."""
        rows = {i: self._row(box) for i, box in self.there.nodes.items()}
        read: dict[str, list[int]] = {}
        led_to = {target for _, target in ends.values()}
        for source, target in ends.values():
            read.setdefault(source, []).append(rows[target])
        framed = self.whole.values()
        for i, readers in read.items():
            box = self.there.nodes[i]
            if i not in led_to and not any(f.x < box.x < f.x + f.width for f in framed):
                rows[i] = min(readers)
        return rows

    def _pieces(self, i: str, source: str, target: str) -> list[tuple[int, Curve]]:
        """Return the original parts of an arrow in the rows where it begins and ends."""
        points = self.there.edges[i].points
        first, last = self.rows[source], self.rows[target]
        if last <= first:
            return [(last, points)]
        end = max(box.x + box.width for box in self.inside[first])
        begun, _ = _split(points, min(self.cuts[first], end + 1))
        start = min(box.x for box in self.inside[last])
        _, ended = _split(points, max(self.cuts[last - 1], start - 1))
        return [(first, begun), (last, ended)]

    def _span(self, k: int) -> tuple[float, float, float, float]:
        """Return the edges of what is in a row: left, right, top, bottom."""
        inside = self.inside[k] or [Box(0, 0, 0, 0)]  # all of it went to the next row
        curves = [p for parts in self.pieces.values() for row, c in parts if row == k for p in c]
        ys = [y for _, y in curves]
        return (
            min(b.x for b in inside),
            max(b.x + b.width for b in inside),
            min([*ys, *(b.y for b in inside)]) - EDGE,
            max([*ys, *(b.y + b.height for b in inside)]) + EDGE,
        )

    def _moved(self, points: Curve, k: int) -> Curve:
        """Move points to their place in a row."""
        dx, dy = self.shifts[k]
        return tuple((x + dx, y + dy) for x, y in points)

    def _boxed(self, box: Box, k: int) -> Box:
        dx, dy = self.shifts[k]
        return Box(box.x + dx, box.y + dy, box.width, box.height)

    def _course(self, i: str) -> Curve:
        """Return an arrow in its row, or around the end of its row to the beginning of another."""
        (k, begun), *rest = self.pieces[i]
        here = self._moved(begun, k)
        if not rest:
            return here
        ((last, ended),) = rest
        there = self._moved(ended, last)
        lane = LANE * self.around[k].index(i)
        (x, y), (u, v) = here[-1], there[0]
        right, left = self.ends[k] + SIDE + lane, self.aside - SIDE - lane
        under = self.lows[k] + CLEAR / 2 + lane
        way = [(x, y), (right, y), (right, under), (left, under), (left, v), (u, v)]
        return (*here, *_rounded(way)[1:], *there[1:])


def _split(points: Curve, x: float) -> tuple[Curve, Curve]:
    """Split a curve where it first reaches x."""
    for k in range(0, len(points) - 3, 3):
        if points[k + 3][0] >= x:
            low, high = 0.0, 1.0
            for _ in range(20):
                t = (low + high) / 2
                low, high = (t, high) if _halves(points[k : k + 4], t)[0][3][0] < x else (low, t)
            left, right = _halves(points[k : k + 4], low)
            return (*points[:k], *left), (*right, *points[k + 4 :])
    return points, points[-1:]


def _halves(curve: Curve, t: float) -> tuple[Curve, Curve]:
    """Split a cubic curve in two, by de Casteljau's algorithm."""
    level, left, right = list(curve), [], []
    while level:
        left.append(level[0])
        right.append(level[-1])
        level = [(a + t * (c - a), b + t * (d - b)) for (a, b), (c, d) in pairwise(level)]
    return tuple(left), tuple(right[::-1])


def _rounded(corners: Sequence[Point]) -> Curve:
    """Return straight lines from corner to corner as cubic curves with rounded corners."""
    found: list[Point] = [corners[0]]
    for before, corner, after in zip(corners, corners[1:], corners[2:], strict=False):
        enter, leave = _rounding_start(corner, before), _rounding_start(corner, after)
        found += [*_straight(found[-1], enter), corner, corner, leave]
    return (*found, *_straight(found[-1], corners[-1]))


def _straight(a: Point, b: Point) -> list[Point]:
    return [*((a[0] + (b[0] - a[0]) * t, a[1] + (b[1] - a[1]) * t) for t in (1 / 3, 2 / 3)), b]


def _rounding_start(corner: Point, other: Point) -> Point:
    """Return the point near a corner at which the rounding begins."""
    (x, y), (u, v) = corner, other
    far = max(abs(u - x), abs(v - y), 1e-9)
    part = min(CORNER, far / 2) / far
    return x + (u - x) * part, y + (v - y) * part

"""A picture as SVG: cards where the layout engine placed them, arrows between them, frames around.

docs/design.md says why it looks so; `look` holds how.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Mapping, Set
from dataclasses import replace
from html import escape
from math import copysign, dist, hypot

from minigrad.diagnostics.messages import get_language
from viz.picture.boxes import Picture, PictureEdge
from viz.picture.cards import Card, CardSpace, State, one_language, plain, text, wide
from viz.picture.dot import INCH, dot
from viz.picture.fonts import face_in_cell, font_face
from viz.picture.layers import layered
from viz.picture.layout import LayoutError
from viz.picture.look import file_style, variables
from viz.picture.motion import along
from viz.picture.place import Box, Course, Places, Point, places
from viz.picture.references import Reference, ranks, references
from viz.picture.swatch import shared
from viz.picture.theme import LARGE
from viz.picture.wrap import wrapped

LAYOUT_LIMIT = 1500  # nodes; above, the layout takes many seconds and nothing can be read
ASIDE = 9  # between an arrow and the lane of its gradient, px
CLEAR = 40  # cards, up to which lanes avoid them, and points of a lane at which that is looked at
# Length of a lane's tip, how far it stays from a card's corners, and in which it turns there, px.
TIP, CORNER, BEND = 6, 5, 10
PAGE_WIDE, HALF_WIDE = 940, 500  # of a drawing alone and of one of two side by side, px
PAGE_HIGH = 420  # of what is seen of a drawing at once, px
SHORTEST, LONGEST, DOWN, LOW = 34, 84, 38, 30  # of arrows: to the right, down, and on a phone, px
BETWEEN = 11  # and between compact cards
# How much of what is seen in rows counts: a drawing without turns is easier to follow.
FOLLOWED = 0.9
STRAIGHT = 0.6  # and that where a drawing is higher than wide: turns cross all of it
HEADING = 34  # height of a title, px
EDGE = 12  # between the drawing and the border of its paper, px
FRAME, FRAME_NAME = 20, 20  # what a frame takes on both sides together, and its name, px
Rooms = Mapping[str, CardSpace]


def render(
    picture: Picture,
    prefix: str,
    rooms: Rooms | None = None,
    states: Mapping[str, State] | None = None,
    title: str = "",
    width: int = PAGE_WIDE,
    among: Picture | None = None,
    high: int = PAGE_HIGH,
) -> str:
    """Draw the picture as an <svg> element that fits `width` × `high` pixels as well as it can.

    rooms: what each card keeps room for; states: what each shows, and the classes of arrows. Every
    id begins with `prefix`. among: a union of pictures, which gives everything its place.
    Raises LayoutError when the picture is too large or there is no engine.
    """
    drawing, states = Drawing(picture, prefix, rooms or {}, width, among, high), states or {}
    frames = (drawing.frame(path) for path in drawing.whole.groups if path in picture.groups)
    edges = (drawing.edge(e, *states.get(e.id, State()).classes) for e in picture.edges)
    cards = (drawing.card(n.id, states.get(n.id, State())) for n in picture.nodes)
    clocks = [room.languages for room in (rooms or {}).values() if room.clock]
    spoken = "both" if any("both" in languages for languages in clocks) else get_language()
    return _svg_page(
        drawing.there, "".join([*frames, *cards, *edges]), title, spoken if clocks else ""
    )


class Drawing:
    """A picture laid out, part by part: cards, arrows and frames, each in its place.

    Raises LayoutError as `render` does.
    """

    def __init__(
        self,
        picture: Picture,
        prefix: str,
        rooms: Rooms,
        width: int = PAGE_WIDE,
        among: Picture | None = None,
        high: int = PAGE_HIGH,
    ) -> None:
        self.picture, self.whole, self.prefix = picture, among or picture, prefix
        if len(self.whole.nodes) > LAYOUT_LIMIT:
            raise LayoutError("too_large", nodes=len(self.whole.nodes))
        placed = cards_of(self.whole, rooms)
        self.there = laid_out(self.whole, placed, width, high)
        self.cards = {n.id: replace(placed[n.id], node=n, like=placed[n.id]) for n in picture.nodes}
        self._lanes = any(room.gradient or room.back for room in rooms.values())
        self._courses, self._begins = self._curves_and_references()
        self._sides = _lane_sides(picture, self._courses)
        few = self._lanes and len(self.cards) <= CLEAR
        for e in [e for e in picture.edges if few and e.id in self._courses and self._crosses(e)]:
            self._sides[e.id] *= -1

    def _crosses(self, e: PictureEdge) -> bool:
        """Return whether the lane of an arrow runs over a card between its ends."""
        way = [along(lane, k / CLEAR) for lane in [self.way(e, True)] for k in range(CLEAR)]
        boxes = [self.there.nodes[i] for i in self.cards if i not in (e.source, e.target)]
        return any(0 < x - b.x < b.width and 0 < y - b.y < b.height for x, y in way for b in boxes)

    def _curves_and_references(self) -> tuple[dict[str, Course], dict[str, Reference]]:
        """Return the curves of the drawn arrows, and the references at which they begin."""
        ids = {e.id for e in self.picture.edges}
        courses, begins = {i: self.there.edges[i] for i in ids & self.there.edges.keys()}, {}
        for ref in references(self.whole):
            there = [e.id for e in ref.edges if e.id in ids]
            if there:
                begins[there[0]] = ref
                courses.setdefault(there[0], self.there.edges[ref.drawn[0].id])
        return courses, begins

    def card(self, i: str, state: State) -> str:
        """Return the card of a node in a state."""
        place = self.there.nodes[i]
        return self.cards[i].svg(self.prefix, place.x, place.y, state)

    def frame(self, path: str) -> str:
        """Return the frame around a group."""
        number = self.whole.groups.index(path)
        box, (x, y) = self.there.frames[f"c{number}"]
        drawn = "".join(
            f'<rect class="mg-frame" x="{b.x:g}" y="{b.y:g}" width="{b.width:g}" '
            f'height="{b.height:g}" rx="12"/>'
            for b in (box, *self.there.further.get(f"c{number}", ()))
        )
        name = plain(path.rpartition("/")[2])
        return (
            f'<g id="{self.prefix}-c{number}" class="cluster">'
            f"<title>{escape(plain(path, 160))}</title>{drawn}"
            f"{text('mg-frame-name', x, y, escape(name), 'middle')}</g>"
        )

    def edge(self, e: PictureEdge, *states: str) -> str:
        """Return an arrow, with the reference at which it begins, if any; its states are classes.

        "" for all but one of several arrows that one reference represents.
        """
        if e.id not in self._courses:
            return ""
        names = (self.cards[i].node.label for i in (e.source, e.target))
        title = escape(plain(f"{' → '.join(names)} {e.shape}", 160))
        lane = self._lane_of(e) if self._lanes else ""
        course = self._courses[e.id]
        classes = " ".join(("edge", f"mg-edge-{e.kind}", *states))
        return (
            f'<g id="{self.prefix}-{e.id}" class="{classes}">'
            f"<title>{title}</title>"
            f'<path class="mg-line" d="{_curve(self.way(e))}"/>'
            f'<path class="mg-tip" d="{_corners(course.tip)}"/>{lane}'
            f"{_label(e, course, self.picture)}{self._reference(e)}</g>"
        )

    def _reference(self, e: PictureEdge) -> str:
        if e.id not in self._begins:
            return ""
        place = self.there.nodes[self._begins[e.id].id]
        return self._begins[e.id].svg(self.prefix, place.x, place.y)

    def _lane_of(self, e: PictureEdge) -> str:
        points = self.way(e, True)
        (x, y), (u, v) = points[-1], _normal(points[-2:])
        tip = ((x + u * 3, y + v * 3), (x + v * TIP, y - u * TIP), (x - u * 3, y - v * 3))
        return (
            f'<path class="mg-lane" d="{_curve(points)}"/>'
            f'<path class="mg-lane mg-lane-tip" d="{_corners(tip)}"/>'
        )

    def way(self, e: PictureEdge, back: bool = False) -> tuple[Point, ...]:
        """Return the curve of an arrow from its start; `back`: of its lane, from the arrow's end.

        A lane reaches from border to border, less its tip.
        """
        points = self._courses[e.id].points[:: -1 if e.kind == "loop" else 1]
        if not back:
            return points
        apex = max(self._courses[e.id].tip, key=lambda p: dist(p, points[-1]), default=points[-1])
        s, near = ASIDE * self._sides[e.id], (points[0], *points, points[-1])
        across = [_normal((near[i], near[i + 2])) for i in range(len(points))]
        most = self.there.width  # a lane may not leave the drawing beside an arrow at its border
        beside = zip(points, across, strict=True)
        lane = [(min(x + s * u, most), y + s * v) for (x, y), (u, v) in beside][::-1]
        lane[:2] = _lane_end(lane[0], lane[1], apex, self.there.nodes[e.target], 0)
        if e.id in self._begins:  # which is small and round: up to its box beside the arrow
            b, (x, y) = self.there.nodes[self._begins[e.id].id], lane[-1]
            u, v = (part or 1e-9 for part in _normal((lane[-2], lane[-1])))
            far = TIP + min((x - b.x - b.width * (v < 0)) / v, (b.y + b.height * (u > 0) - y) / u)
            lane[2:] = [(x - k * v, y + k * u) for k in (far + dist(lane[0], (x, y)) / 3, far)]
        else:
            lane[:-3:-1] = _lane_end(lane[-1], lane[-2], points[0], self.there.nodes[e.source], TIP)
        return tuple(lane)


def cards_of(picture: Picture, rooms: Rooms) -> dict[str, Card]:
    """Return a card for each node."""
    return {n.id: Card(n, rooms.get(n.id, CardSpace())) for n in picture.nodes}


def laid_out(
    picture: Picture, cards: Mapping[str, Card], width: int = PAGE_WIDE, high: int = PAGE_HIGH
) -> Places:
    """Lay out the picture with the layout engine, or with our own if that takes too long.

    What is long from left to right goes on in rows.
    """
    down, gap = _direction(picture, cards, width, high)
    there = places(source(picture, cards, width, high=high))
    if there is None:
        sizes = {i: card.size for i, card in cards.items()}
        there = layered(picture, sizes, references(picture), down, gap)
    return there if down else wrapped(there, _ends(picture), width, high)


def _ends(picture: Picture) -> dict[str, tuple[str, str]]:
    """Return the boxes that each arrow connects in the layout, from left to right."""
    begins = {e.id: ref.id for ref in references(picture) for e in ref.edges}
    return {
        e.id: (e.target, e.source) if e.kind == "loop" else (begins.get(e.id, e.source), e.target)
        for e in picture.edges
    }


def source(
    picture: Picture,
    cards: Mapping[str, Card],
    width: int = PAGE_WIDE,
    title: str = "",
    high: int = PAGE_HIGH,
) -> str:
    """Return the DOT text to lay out."""
    down, gap = _direction(picture, cards, width, high)
    low = not down and any(card.low for card in cards.values())
    rankdir = "TB" if down else "LR"
    airy = down and width > 2 * high
    return dot(picture, cards, rankdir, gap / INCH, title, low, references(picture), airy)


def _direction(
    picture: Picture, cards: Mapping[str, Card], width: int, high: int
) -> tuple[bool, float]:
    """Return whether to lay out downwards, if more is visible then, and the gap between ranks."""
    columns = _columns(picture)
    sizes = [[cards[i].size for i in ids] for ids in columns]
    # Of frames, one behind the other; and one in the other.
    along = FRAME * len(picture.groups) + 2 * EDGE
    beside = (FRAME + FRAME_NAME) * max((path.count("/") + 1 for path in picture.groups), default=0)
    long = sum(max(w for w, _ in column) for column in sizes) + along
    compact = any(card.room.compact for card in cards.values())
    tight = BETWEEN * (1 + bool(picture.owners))  # a gradient that goes through a body needs room
    gaps, fall = max(len(columns) - 1, 1), tight if compact else DOWN if width > high else LOW
    across = (
        long + gaps * SHORTEST,
        max(sum(h + ASIDE for _, h in rank) for rank in sizes)
        + max(beside, 2 * (FRAME + FRAME_NAME) * len(picture.owners)),  # bodies lie apart
    )
    down = (
        max(sum(w + ASIDE for w, _ in rank) for rank in sizes) + beside,
        sum(max(h for _, h in rank) for rank in sizes) + gaps * fall + along,
    )
    right, below = _fit_scale(*across, width, high), _fit_scale(*down, width, high)
    rows = range(2, len(columns) + 1)
    wraps = max((_fit_scale(across[0] / n, n * across[1], width, high) for n in rows), default=0)
    followed = FOLLOWED if width > high else STRAIGHT
    if not picture.edges or (below > right and below > followed * wraps):
        return True, fall
    return False, max(SHORTEST, min((width - long) / gaps, LONGEST))


def _columns(picture: Picture) -> list[list[str]]:
    """Return the nodes grouped by their distance from the start."""
    columns: dict[int, list[str]] = {}
    for i, rank in ranks(picture).items():
        columns.setdefault(rank, []).append(i)
    return [columns[rank] for rank in sorted(columns)]


def _fit_scale(wide: float, tall: float, width: int, high: int) -> float:
    """Return the scale at which all of it is visible at once."""
    return min(1, width / wide, high / tall)


def _svg_page(there: Places, inside: str, title: str, spoken: str) -> str:
    """Return the <svg> element, never shrunk, since what is too small cannot be read.

    spoken: what its clocks say where a page shows both languages: that for which they have room.
    """
    top = HEADING if title else 0
    width = max(there.width, wide(title, LARGE) + 2 * EDGE if title else 0)
    heading = text("mg-title", EDGE, 24, escape(plain(title, 160))) if title else ""
    return (
        f'<svg class="mg-svg{f" mg-{spoken}" if spoken in ("both", "zh") else ""}" '
        f'width="{width:.0f}" height="{there.height + top:.0f}" '
        f'viewBox="0 0 {width:.0f} {there.height + top:.0f}">{heading}'
        f'<g class="graph" transform="translate({(width - there.width) / 2:g},{top})">'
        f"{inside}</g></svg>"
    )


def _label(edge: PictureEdge, course: Course, picture: Picture) -> str:
    said = picture.edge_label(edge)
    return text("mg-edge-label", *course.label, escape(said), "middle") if course.label else ""


def _lane_sides(picture: Picture, courses: Mapping[str, Course]) -> dict[str, int]:
    """Return the side of each arrow's lane: the outer one if two arrows are side by side."""
    beside: dict[Set[str], list[PictureEdge]] = {}
    for e in picture.edges:
        if e.id in courses:
            beside.setdefault(frozenset((e.source, e.target)), []).append(e)
    sides = {}
    for edges in beside.values():
        placed = sorted(edges, key=lambda e: _bow(courses[e.id].points))
        for k, e in enumerate(placed):
            points, last = courses[e.id].points, len(placed) - 1
            inner = not last and _bow(points) > _bow((points[0], points[-1])) + ASIDE
            sides[e.id] = -1 if (inner or 2 * k < last) != (e.kind == "loop") else 1
    return sides


def _bow(points: tuple[Point, ...]) -> float:
    """Return how far the middle of a curve is to the side of its chord's direction."""
    (x, y), (dx, dy) = points[len(points) // 2], _normal(points)
    return x * dx + y * dy


def _normal(points: tuple[Point, ...]) -> Point:
    """Return the unit vector across a curve: down for one that runs to the right."""
    (x0, y0), (x1, y1) = points[0], points[-1]
    length = hypot(x1 - x0, y1 - y0) or 1
    return -(y1 - y0) / length, (x1 - x0) / length


def _lane_end(end: Point, near: Point, at: Point, card: Box, gap: float) -> tuple[Point, Point]:
    """Return a lane's end and its handle, on the nearest of the borders that its arrow is `at`."""
    low, size, found = (card.x, card.y), (card.width, card.height), []
    for k in (0, 1):
        out = 1 if at[k] > low[k] + size[k] / 2 else -1
        edge, first = low[k] + size[k] * (out > 0) + out * gap, low[1 - k] + CORNER
        aside = end[1 - k] - at[1 - k]  # however oblique, its head does not lie on the arrow
        level = at[1 - k] + copysign(max(abs(aside), ASIDE - 1), aside)
        level = min(max(level, first), first + size[1 - k] - 2 * CORNER)
        turn = out * edge + min(max(dist(end, near), 1), BEND)  # it arrives as its head points
        a, b = (edge, level), (out * max(out * near[k], turn), level)
        found.append((a, b) if k == 0 else (a[::-1], b[::-1]))
    return min(found, key=lambda ends: dist(ends[0], end))


def _curve(points: tuple[Point, ...]) -> str:
    first, *rest = map(_written, points)
    return f"M{first}C{' '.join(rest)}"


def _corners(points: tuple[Point, ...]) -> str:
    corners = points[:-1] if points[1:] and points[0] == points[-1] else points
    return f"M{'L'.join(map(_written, corners))}Z" if points else ""


def _written(point: Point) -> str:
    """Format a point of an SVG path, to a tenth of a pixel."""
    return ",".join(f"{round(x, 1):.8g}" for x in point)


# ---- For where no page gives it its style ------------------------------------------------------


def alone(
    svg: str,
    language: str = "",
    dark: bool | None = None,
    style: str = "",
    letters: Callable[[str], str] = font_face,
) -> str:
    """Make a drawing a standalone file: paper, style, one language, letters beyond ASCII.

    dark: None, as the reader prefers. style: more rules. letters: which font it brings along.
    """
    localized = shared(one_language(svg, language or get_language()))
    glyphs = "" if localized.isascii() else letters(re.sub("<[^>]*>", "", localized))
    paper = '<rect class="mg-paper" width="100%" height="100%"/>'
    head = f"<style>{glyphs}{file_style(localized, dark)}{style}</style>{paper}"
    drawn = re.sub(r"<svg\b[^>]*>", lambda found: found[0] + head, localized, count=1)
    return drawn.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1)


def as_image(svg: str, alt: str) -> str:
    """Return a drawing as `image`, with paper, style, and the colours a page would provide."""
    style = f"svg {{ color-scheme: light dark; {variables()} }}" if "var(--mg-" in svg else ""
    return image(alone(svg, style=style, letters=face_in_cell), alt)


def image(file: str, alt: str, others: Mapping[str, str] | None = None) -> str:
    """Return an SVG file as an <img> with alternative text, in a box that scrolls if too narrow.

    others: the files that are shown instead, by the media query that asks for each.
    Pages that are not trusted keep images and take inline drawings apart. An image cannot use the
    fonts and colours of its page, so it brings along its own, those of a dark page included.
    """
    sources = [f'<source media="{m}" {_source(o, "srcset")}>' for m, o in (others or {}).items()]
    shown = f'<img alt="{escape(alt)}" style="max-width:none" {_source(file, "src")}>'
    shown = f"<picture>{''.join(sources)}{shown}</picture>" if sources else shown
    return f'<div style="overflow-x:auto">{shown}</div>'


def _source(file: str, attribute: str) -> str:
    """Return the attributes of an element that shows an SVG file: its width, and a data URL."""
    width = re.search(r'width="(\d+)"', file)
    size = f'width="{width[1]}" ' if width else ""
    code = base64.b64encode(file.encode()).decode()
    return f'{size}{attribute}="data:image/svg+xml;base64,{code}"'

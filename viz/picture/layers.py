"""A layered layout of our own: for a drawing that took the layout engine too long.

Each group is laid out by itself and is a box in the one around it, so frames never overlap. Boxes
are in layers by how far they are from the start; sweeps put each near its neighbours. All of it
takes time in proportion to the boxes and arrows.

K. Sugiyama, S. Tagawa, M. Toda, Methods for Visual Understanding of Hierarchical System Structures,
1981.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from math import hypot

from viz.picture.boxes import Picture, PictureEdge, paths
from viz.picture.cards import plain, wide
from viz.picture.place import Box, Course, Places, Point
from viz.picture.references import FAR, Reference, depths
from viz.picture.theme import SMALL

EDGE, MARGIN, NAME = 12, 10, 20  # around the drawing, inside a frame, for the frame's name, px
APART = 16  # between two boxes of a layer, px
LINE = 10  # what an arrow takes that passes through a layer, px
SWEEPS = 4
TIP, HALF = 8, 3  # length and half the width of an arrow's tip, px
Size = tuple[float, float]  # along the layers, across them


@dataclass
class _Item:
    """What has a place in a group: a card, a reference, a group, or an arrow that passes."""

    name: str
    size: Size
    layer: int = 0
    along: float = 0
    across: float = 0
    before: list[_Item] = field(default_factory=list)
    after: list[_Item] = field(default_factory=list)


@dataclass
class _Inside:
    """A group that is laid out: its size, what is in it, and which way each arrow takes."""

    size: Size
    items: list[_Item]
    ways: dict[str, list[_Item]]


def layered(
    picture: Picture,
    sizes: Mapping[str, tuple[int, int]],
    references: Sequence[Reference],
    down: bool,
    gap: float,
) -> Places:
    """Lay out a picture in layers that follow each other downwards if `down`, else to the right.

    sizes: width and height of each card. gap: pixels between two layers.
    """
    return _Layering(picture, sizes, references, down, gap).places()


class _Layering:
    def __init__(
        self,
        picture: Picture,
        sizes: Mapping[str, tuple[int, int]],
        references: Sequence[Reference],
        down: bool,
        gap: float,
    ) -> None:
        self.picture, self.down, self.gap = picture, down, gap
        self.sizes = {**sizes, **{ref.id: ref.size for ref in references}}
        self.home = {n.id: n.group for n in picture.nodes}
        self.home |= {ref.id: ref.target.group for ref in references}
        begins = {e.id: ref for ref in references for e in ref.edges}
        self.arrows: list[tuple[PictureEdge, str, str]] = []  # from where to where it is drawn
        for e in picture.edges:
            ref = begins.get(e.id)
            if ref is None:
                ends = (e.target, e.source) if e.kind == "loop" else (e.source, e.target)
                self.arrows.append((e, *ends))
            elif e in ref.drawn:
                self.arrows.append((e, ref.id, e.target))
        self.inside: dict[str, _Inside] = {}
        self.found = Places(0, 0, {}, {}, {})

    def places(self) -> Places:
        groups = self.picture.groups
        numbers = {path: i for i, path in enumerate(groups)}
        members: dict[str, dict[str, None]] = {"": {}, **{path: {} for path in groups}}
        for i, group in self.home.items():
            around = ["", *paths(group)]
            for outer, inner in zip(around, [*around[1:], i], strict=True):
                members[outer].setdefault(inner if inner == i else f"/{inner}")
        between: dict[str, list[tuple[str, str, str]]] = {path: [] for path in members}
        for e, source, target in self.arrows:
            place, one, other = self._meet(source, target)
            if one != other:
                between[place].append((e.id, one, other))
        for path in (*reversed(groups), ""):  # inner ones first
            self.inside[path] = self._lay_out(members[path], between[path], path)
        width, height = self._turned(self.inside[""].size)
        self.found = Places(width + 2 * EDGE, height + 2 * EDGE, {}, {}, {})
        self._put("", (EDGE, EDGE), numbers)
        self._draw_arrows()
        return self.found

    def _turned(self, pair: Size) -> Size:
        """Convert (along, across) to (right, down), or back."""
        return pair[::-1] if self.down else pair

    def _meet(self, source: str, target: str) -> tuple[str, str, str]:
        """Return the innermost group around both ends, and their items in it."""
        one, other = ([*paths(self.home[i])] for i in (source, target))
        common = 0
        while common < min(len(one), len(other)) and one[common] == other[common]:
            common += 1
        first = f"/{one[common]}" if common < len(one) else source
        second = f"/{other[common]}" if common < len(other) else target
        return one[common - 1] if common else "", first, second

    # ---- One group ---------------------------------------------------------------------------

    def _lay_out(
        self, members: Mapping[str, None], arrows: Sequence[tuple[str, str, str]], path: str
    ) -> _Inside:
        items = {name: _Item(name, self._size(name)) for name in members}
        layers = depths(_reads(items, arrows))
        first = min(layers.values(), default=0)
        last = max(layers.values(), default=first)
        rows: list[list[_Item]] = [[] for _ in range(first, last + 1)]
        for name, item in items.items():
            item.layer = layers[name] - first
            rows[item.layer].append(item)
        ways: dict[str, list[_Item]] = {}
        for i, source, target in arrows:
            ways[i] = _joined(items[source], items[target], rows)
        _ordered(rows)
        _placed(rows)
        low = min((item.across for item in items.values()), default=0)
        start = 0.0
        for row in rows:
            thick = max((item.size[0] for item in row), default=0)
            for item in row:
                item.across -= low
                item.along = start + (thick - item.size[0]) / 2 if item.name else start
                item.size = item.size if item.name else (thick, item.size[1])
            start += thick + self.gap
        known = [item for row in rows for item in row]
        size = (
            max((item.along + item.size[0] for item in known), default=0),
            max((item.across + item.size[1] for item in known), default=0),
        )
        if path:
            width, height = self._turned(size)
            width = max(width, wide(plain(path.rpartition("/")[2]), SMALL))
            size = self._turned((width + 2 * MARGIN, height + 2 * MARGIN + NAME))
        return _Inside(size, known, ways)

    def _size(self, name: str) -> Size:
        return self.inside[name[1:]].size if name[0] == "/" else self._turned(self.sizes[name])

    def _put(self, path: str, at: Point, numbers: Mapping[str, int]) -> None:
        """Give everything in a group its place in the drawing."""
        inside = self.inside[path]
        if path:
            width, height = self._turned(inside.size)
            name = wide(plain(path.rpartition("/")[2]), SMALL)
            label = at[0] + MARGIN + name / 2, at[1] + MARGIN + 8
            self.found.frames[f"c{numbers[path]}"] = (Box(*at, width, height), label)
            at = at[0] + MARGIN, at[1] + MARGIN + NAME
        for item in inside.items:
            right, low = self._turned((item.along, item.across))
            place = at[0] + right, at[1] + low
            if item.name[:1] == "/":
                self._put(item.name[1:], place, numbers)
            elif item.name:
                self.found.nodes[item.name] = Box(*place, *self._turned(item.size))
            else:  # from here on in the drawing
                item.along, item.across = self._turned(place)

    # ---- Arrows ------------------------------------------------------------------------------

    def _draw_arrows(self) -> None:
        """Draw each arrow from side to side, through its places in the layers between."""
        ways = {i: way for inside in self.inside.values() for i, way in inside.ways.items()}
        bends: dict[str, list[Point]] = {}
        for e, source, _ in self.arrows:
            points = [self._side(source, 1, 0.5)]
            for item in ways.get(e.id, ()):
                middle = item.across + item.size[1] / 2
                points += [(item.along, middle), (item.along + item.size[0], middle)]
            bends[e.id] = points
        entering: dict[str, list[PictureEdge]] = {}
        for e, _, target in self.arrows:
            entering.setdefault(target, []).append(e)
        for target, edges in entering.items():
            edges.sort(key=lambda e: bends[e.id][-1][1])
            for k, e in enumerate(edges, 1):
                end = self._side(target, 0, k / (len(edges) + 1))
                self.found.edges[e.id] = self._course(e, [*bends[e.id], end])

    def _side(self, i: str, far: int, part: float) -> Point:
        """Return the point (along, across) of a card where arrows leave it (`far`) or enter."""
        box = self.found.nodes[i]
        along, across = self._turned((box.x, box.y))
        thick, long = self._turned((box.width, box.height))
        return along + far * thick, across + part * long

    def _course(self, e: PictureEdge, bends: list[Point]) -> Course:
        loop = e.kind == "loop"  # its tip is where it begins
        if loop:
            bends = [(bends[0][0] + TIP, bends[0][1]), *bends[1:]]
        else:
            bends = [*bends[:-1], (bends[-1][0] - TIP, bends[-1][1])]
        points = [bends[0]]
        for (x, y), (u, v) in pairwise(bends):
            reach = max(abs(u - x) / 2, min(hypot(u - x, v - y), 2 * self.gap) / 2)
            points += [(x + reach, y), (u - reach, v), (u, v)]
        end, sign = (bends[0], -1) if loop else (bends[-1], 1)
        tip = [(end[0], end[1] - HALF), (end[0] + sign * TIP, end[1]), (end[0], end[1] + HALF)]
        drawn, corners = ([self._turned(point) for point in some] for some in (points, tip))
        label = None
        if self.picture.edge_label(e):
            middle = len(bends) // 2
            (x, y), (u, v) = (self._turned(bends[k]) for k in (middle - 1, middle))
            label = (x + u) / 2, (y + v) / 2 - 4
        return Course(tuple(drawn), tuple(corners), label)


def _reads(
    items: Mapping[str, _Item], arrows: Sequence[tuple[str, str, str]]
) -> dict[str, list[str]]:
    reads: dict[str, list[str]] = {name: [] for name in items}
    for _, source, target in arrows:
        reads[target].append(source)
    return reads


def _joined(source: _Item, target: _Item, rows: Sequence[list[_Item]]) -> list[_Item]:
    """Make two items neighbours of each other, by the layers between; returns what is in these."""
    between = range(source.layer + 1, target.layer)
    way = [_Item("", (0, LINE), layer) for layer in between] if len(between) <= FAR else []
    for item in way:
        rows[item.layer].append(item)
    if source.layer < target.layer:
        chain = [source, *way, target]
        for one, other in pairwise(chain):
            one.after.append(other)
            other.before.append(one)
    return way


def _ordered(rows: Sequence[list[_Item]]) -> None:
    """Sort each layer by where the neighbours of its items are, from both sides in turn."""
    for sweep in range(SWEEPS):
        forward = sweep % 2 == 0
        for row in rows if forward else reversed(rows):
            for i, item in enumerate(row):
                item.across = i
            keys = {id(x): _mean_position(x.before if forward else x.after, x.across) for x in row}
            row.sort(key=lambda item: keys[id(item)])
            for i, item in enumerate(row):
                item.across = i


def _mean_position(neighbours: Sequence[_Item], otherwise: float) -> float:
    """Return the mean position of the neighbours, or `otherwise` without any."""
    return sum(x.across for x in neighbours) / len(neighbours) if neighbours else otherwise


def _placed(rows: Sequence[list[_Item]]) -> None:
    """Give each item a place across, in the order of its layer and near its neighbours."""
    for row in rows:
        low = 0.0
        for item in row:
            item.across = low
            low += item.size[1] + APART
    for sweep in range(2 * SWEEPS):
        for row in rows if sweep % 2 == 0 else reversed(rows):
            _settle(row)


def _settle(row: Sequence[_Item]) -> None:
    """Move the items of a layer to their preferred places, as far as their order allows.

    Items that would overlap form a block, which goes to the mean of their preferences (pool
    adjacent violators).
    """
    blocks: list[list[float]] = []  # sum of preferred places, weight, how many items
    offset = 0.0
    for item in row:
        near = [*item.before, *item.after]
        middles = [x.across + x.size[1] / 2 for x in near]
        preferred = sum(middles) / len(near) - item.size[1] / 2 if near else item.across
        weight = len(near) or 0.1
        blocks.append([(preferred - offset) * weight, weight, 1])
        while len(blocks) > 1 and blocks[-2][0] / blocks[-2][1] > blocks[-1][0] / blocks[-1][1]:
            last = blocks.pop()
            blocks[-1] = [a + b for a, b in zip(blocks[-1], last, strict=True)]
        offset += item.size[1] + APART
    places = [total / weight for total, weight, count in blocks for _ in range(int(count))]
    offset = 0.0
    for item, place in zip(row, places, strict=True):
        item.across = place + offset
        offset += item.size[1] + APART

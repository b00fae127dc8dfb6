"""The place of everything: the layout engine's output, parsed to plain numbers in pixels."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache
from xml.etree import ElementTree

from viz.picture.layout import LayoutTimeout, layout

NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e-?\d+)?")
Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle: its left upper corner and its size."""

    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class Course:
    """An arrow: a start and cubic curves, the corners of its tip, the place of its label."""

    points: tuple[Point, ...]
    tip: tuple[Point, ...]
    label: Point | None


@dataclass(frozen=True)
class Places:
    """A laid out drawing. Nodes and arrows by the ids in the DOT text, frames likewise."""

    width: float
    height: float
    nodes: dict[str, Box]
    edges: dict[str, Course]
    frames: dict[str, tuple[Box, Point]]
    further: dict[str, tuple[Box, ...]] = field(default_factory=dict)  # of a frame in several rows


@lru_cache(maxsize=512)
def places(source: str) -> Places | None:
    """Lay out DOT text; the same text is laid out once. None, if it takes the engine too long.

    Raises LayoutError as `layout` does.
    """
    try:
        root = ElementTree.fromstring(layout(source))
    except LayoutTimeout:
        return None
    _, _, width, height = _numbers(root.attrib["viewBox"])
    whole = root[0]
    right, down = _numbers(whole.attrib["transform"].partition("translate")[2])
    found = Places(width, height, {}, {}, {})
    for group in whole:
        kind, parts = group.get("class"), _Parts(group, right, down)
        if kind == "node":
            found.nodes[group.attrib["id"]] = parts.box()
        elif kind == "edge":
            found.edges[group.attrib["id"]] = parts.course()
        elif kind == "cluster":
            found.frames[group.attrib["id"]] = (parts.box(), parts.label() or (0, 0))
    return found


class _Parts:
    """What the engine has drawn for one node, arrow or frame, moved to where the drawing begins."""

    def __init__(self, group: ElementTree.Element, right: float, down: float) -> None:
        self.elements = [(e.tag.rpartition("}")[2], e.attrib) for e in group.iter()]
        self.right, self.down = right, down

    def _points(self, tag: str) -> tuple[Point, ...]:
        for name, look in self.elements:
            if name == tag:
                numbers = _numbers(look["d" if tag == "path" else "points"])
                pairs = zip(numbers[::2], numbers[1::2], strict=True)
                return tuple((x + self.right, y + self.down) for x, y in pairs)
        return ()

    def box(self) -> Box:
        xs, ys = zip(*self._points("polygon") or self._points("path"), strict=True)
        return Box(min(xs), min(ys), max(xs) - min(xs), max(ys) - min(ys))

    def course(self) -> Course:
        return Course(self._points("path"), self._points("polygon"), self.label())

    def label(self) -> Point | None:
        for name, look in self.elements:
            if name == "text":
                return float(look["x"]) + self.right, float(look["y"]) + self.down
        return None


def _numbers(text: str) -> list[float]:
    return [float(number) for number in NUMBER.findall(text)]

"""A film, or two beside each other, drawn at any moment: cards, what travels, captions, score.

A scene is many small parts, each an SVG text by its name, so that what stays is the same text and
need not be drawn again: moving pictures are made of the differences.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from typing import Any, NamedTuple

from viz.film.film import Film, Flow
from viz.film.states import on_cards
from viz.page.payload import home
from viz.page.staff import Staffs
from viz.page.together import SideBySide
from viz.picture import cards
from viz.picture.boxes import Picture, PictureEdge, paths
from viz.picture.cards import bilingual, text, wide
from viz.picture.drawing import EDGE, Drawing
from viz.picture.place import Point
from viz.picture.swatch import HIGH, WIDE, drawn, encoded, placed
from viz.picture.theme import NAME, ROUND
from viz.words.text import ROWS, Pair

LEAST = 640  # pixels of one drawing, if there are so many: a column of text, in which it is
GUTTER, SLIM = 28, 500  # between two drawings; width of all below which cards are smaller, px
TITLE, LINE = 30, 18  # heights of a title and of a line of a caption, px
LINES = 3  # of a caption, at most
SHEET = 4  # by which the card of an earlier call is seen behind another, px
SENTENCE = re.compile(r"\. |。(?=.)")  # how one ends that another one follows
HELD = re.compile(r"（(?:[^（）]{0,11}(?=）))?|(?<=\d) (?=[^\W\d])|(?<=∂) ")  # no line ends in it
CHIP, PAD = 22, 9  # height of what travels, and what it leaves free at its ends, px
SMALLER = 0.6  # of a swatch: its miniature
LANE = re.compile('<path class="mg-lane.*?/>')  # along which a gradient comes back
HALO = re.compile('(<g [^>]*) mg-now([^>]*(transform="[^>]*>).*?)(<rect class="mg-halo"[^>]*>)')
LONG = 26  # characters of a product on a chip; of a longer one the result alone


class Chip(NamedTuple):
    """What is seen to travel: its text, whether on the way back, and the curve that it takes.

    swatch: of a tensor, which is seen as a miniature of it
    """

    text: str
    back: bool
    way: tuple[Point, ...]
    swatch: str = ""

    @property
    def size(self) -> tuple[int, int]:
        """Width and height."""
        if self.swatch:
            return round(SMALLER * WIDE) + 6, round(SMALLER * HIGH) + 6
        return 2 * round((wide(self.text, NAME) + 2 * PAD) / 2), CHIP

    def svg(self) -> str:
        """Return the SVG of the chip, centred at (0, 0)."""
        width, height = self.size
        kind = "mg-returns" if self.back else "mg-travels"
        inside = text("mg-chip-text", 0, 4.5, escape(self.text), "middle")
        if self.swatch:
            wide, high = SMALLER * WIDE, SMALLER * HIGH
            cells = drawn(self.swatch, wide, high)
            inside = placed("grad" if self.back else "value", -wide / 2, -high / 2, cells)
        return (
            f'<g class="{kind}"><rect class="mg-chip" x="{-width / 2:g}" y="{-height / 2:g}" '
            f'width="{width}" height="{height}" rx="{5 if self.swatch else CHIP / 2:g}"/>'
            f"{inside}</g>"
        )


@dataclass(frozen=True)
class Moment:
    """A step while something travels to where it is needed, or once it has arrived."""

    step: int
    arrived: bool = True


class Scene:
    """One or two films of equal beginning, laid out once for all their steps.

    width: pixels for all of it; on a phone, cards are smaller and have no captions beneath, or
    one film is under the other. bare: drawings alone, without captions and score.
    Raises LayoutError where a film cannot be drawn.
    """

    def __init__(
        self,
        films: Sequence[Film],
        verdict: Pair | None = None,
        links: Sequence[Mapping[str, str]] = (),
        width: int = 830,
        bare: bool = False,
        language: str = "en",
    ) -> None:
        slim, gutters = bool(width < SLIM and films[1:] and not bare), GUTTER * (len(films) - 1)
        beside, each = SideBySide(films, links), (width - gutters) // len(films)
        least = 300 if bare or films[1:] else LEAST
        self.stages = [Stage(beside, i, each, least, language) for i in range(len(films))]
        self.stacked = slim and sum(stage.width for stage in self.stages) + gutters > width
        if self.stacked:
            self.stages = [Stage(beside, i, width, least, language) for i in range(len(films))]
        self.films, self.bare = films, bare or (slim and not self.stacked)
        self.steps = max(len(film.frames) for film in films)
        lines = max(stage.caption_lines for stage in self.stages)
        self.caption_height = 0 if self.bare else lines * LINE + 6
        heights = [stage.height + self.caption_height for stage in self.stages]
        self.high = sum(heights) if self.stacked else max(heights)
        widths = [stage.width + GUTTER for stage in self.stages]
        drawn = (max(widths) if self.stacked else sum(widths)) - GUTTER
        titles = [s.title if len(films) > 1 else ("", "") for s in self.stages]  # it is above
        self.score = None if bare else Staffs(films, titles, drawn, width, language)
        self.width = self.score.width if self.score else drawn
        i, colon = (1, "：") if language == "zh" else (0, ": ")
        ends = [f"{s.title[i]}{colon}{SENTENCE.split(s.said[-1][i])[-1]}" for s in self.stages]
        said = [*ends * (self.bare and not bare), *([verdict[i]] if verdict else [])]
        self.below = [line for text in said for line in fold_text(text, self.width - 2 * EDGE)]
        low = self.score.height + LINE * len(self.below) + 6 * bool(self.below) if self.score else 0
        self.height = self.high + low + 2 * EDGE
        self.aside = round(drawn)  # where the score begins if there is room beside
        self.broad = round(self.aside + self.width), round(max(self.high, low) + 2 * EDGE)

    def placed(self) -> Iterator[tuple[Stage, float, float]]:
        """Yield each stage, and the x and y at which it begins."""
        x, y = 0.0, float(EDGE)
        for stage in self.stages:
            yield stage, x, y
            x += (stage.width + GUTTER) * (not self.stacked)
            y += (stage.height + self.caption_height) * self.stacked

    def parts(self, moment: Moment, language: str) -> dict[str, str]:
        """Return all that is visible at a moment, from back to front."""
        found: dict[str, str] = {}
        for stage, x, y in self.placed():
            low = stage.height if self.stacked else self.high - self.caption_height
            there = stage.parts(moment, low, language)
            if self.bare:
                del there[f"{stage.prefix}said"]
            found |= together(stage.prefix, there, x, y)
        if self.score:
            staffs = self.score.parts(moment.step)
            if self.below and moment.step == self.steps - 1:
                staffs["verdict"] = set_lines(self.below, self.score.height)
            found |= together("score", staffs, 0, EDGE + self.high)
        return found

    def chips(self, step: int) -> list[Chip]:
        """Return what moves in a step: each chip with its path."""
        return [
            chip._replace(way=tuple((px + x, py + y) for px, py in chip.way))
            for stage, x, y in self.placed()
            for chip in separate_chips(stage.chips(step))
        ]

    def svg(self, inside: str) -> str:
        """Return an <svg> element around parts."""
        wide, high = round(self.width), round(self.height)
        start = f'<svg class="mg-svg" width="{wide}" height="{high}" viewBox="0 0 {wide} {high}">'
        return f"{start}{inside}</svg>"


def together(name: str, parts: Mapping[str, str], x: float, y: float) -> dict[str, str]:
    """Move parts: the first and the last entry are the two ends of one translated <g>."""
    start = f'<g class="mg-{name}" transform="translate({x:g},{y:g})">'
    return {f"{name}(": start, **parts, f"{name})": "</g>"}


def separate_chips(chips: Sequence[Chip]) -> list[Chip]:
    """Move chips that would overlap at the start beside each other."""
    placed: list[Chip] = []
    for chip in sorted(chips, key=lambda chip: chip.way[0]):
        x, y = chip.way[0]
        for other in placed:
            (ox, oy), sizes = other.way[0], zip(chip.size, other.size, strict=True)
            room, high = ((a + b) / 2 + 3 for a, b in sizes)
            if abs(x - ox) < room and abs(y - oy) < high:
                x, y = (x, oy + high) if abs(y - oy) > abs(x - ox) else (ox + room, y)
        dx, dy = x - chip.way[0][0], y - chip.way[0][1]
        placed.append(chip._replace(way=tuple((px + dx, py + dy) for px, py in chip.way)))
    return placed


class Stage:
    """One film of a scene: its title, its drawing, and what is said beneath."""

    def __init__(
        self, beside: SideBySide, number: int, width: int, least: int, language: str
    ) -> None:
        film, prefix = beside.films[number], f"s{number}"
        whole, titled = film.picture, len(beside.films) > 1
        self.film, self.prefix = film, prefix
        self.drawn = beside.drawn(number, film.first)
        among, rooms = beside.among(number, film.first, language)
        if width < SLIM / 2:
            bare: dict[str, Any] = {"clock": 0, "plan": False, "low": 3}
            rooms = {i: replace(r, value=max(r.value - 2, 0), **bare) for i, r in rooms.items()}
        self.title = ROWS[f"kind_{whole.kind}"] if titled or film.title is None else film.title
        self.drawing = Drawing(self.drawn, prefix, rooms, width, among)
        self.width = max(self.drawing.there.width, min(width, least))
        self.left = (self.width - self.drawing.there.width) / 2  # it is in the middle
        down = self.drawing.there.height > self.drawing.there.width
        self.behind = (SHEET, 0) if down else (0, -SHEET)  # of an earlier call, where no arrows end
        self.said = [*(frame.plain for frame in film.frames[:-1]), film.frames[-1].caption]
        captions = (half for said in self.said for half in said)
        self.caption_lines = max(len(fold_text(half, self.width - 2 * EDGE)) for half in captions)
        self.height = TITLE + self.drawing.there.height
        at_home = home(whole, self.drawn, prefix)
        edges = {f"{prefix}-{e.id}": e for e in self.drawn.edges}
        shown = ((e.id, at_home.get(at := f"{prefix}-{e.id}", at)) for e in whole.edges)
        self.arrows = {i: edges[at] for i, at in shown if at in edges}

    def flows(self, step: int) -> list[tuple[PictureEdge, Flow]]:
        """Return what moves in a step along the drawn arrows; one thing along each."""
        found: dict[str, tuple[PictureEdge, Flow]] = {}
        frames = self.film.frames[step : step + 1]  # none once it is over
        for i, flow in (one for frame in frames for one in frame.flows.items()):
            if i in self.arrows:
                found.setdefault(self.arrows[i].id, (self.arrows[i], flow))
        return list(found.values())

    def chips(self, step: int) -> list[Chip]:
        """Return what moves in a step, in the coordinates of the stage."""
        found = []
        for e, flow in self.flows(step):
            way = tuple((x + self.left, y + TITLE) for x, y in self._way(e, flow.back))
            raster, top = flow.value.raster, self.film.scales[flow.back]
            label = flow.text if flow.back and len(flow.text) <= LONG else flow.value.short
            found.append(Chip(label, flow.back, way, encoded(raster, top) if raster else ""))
        return found

    def _way(self, e: PictureEdge, back: bool) -> tuple[Point, ...]:
        """Return the path along an arrow, from the middle of one card to that of the other."""
        points = self.drawing.way(e, back)
        ends = [self.drawing.there.nodes[i] for i in (e.source, e.target)][:: -1 if back else 1]
        first, last = ((box.x + box.width / 2, box.y + box.height / 2) for box in ends)
        return (*_line(first, points[0]), *points[:-1], *_line(points[-1], last), last)

    def parts(self, moment: Moment, low: float, language: str) -> dict[str, str]:
        """Return the title, frames, arrows, cards and caption at a moment."""
        p, drawing = self.prefix, self.drawing
        flows = self.flows(moment.step)
        arriving = {e.source if flow.back else e.target: flow for e, flow in flows}
        there = card_states(self.film, self.drawn, moment, arriving)
        born = {i for i, state in there.items() if "mg-unborn" not in state.classes}
        inside = {path for n in self.drawn.nodes if n.id in born for path in paths(n.group)}
        tracks, past = self.film.tracks, enumerate(self.film.frames[: moment.step + 1])
        held = {e.id: tracks[e.source].life(moment.step) for e in self.film.picture.edges}
        back = {k: i for i, frame in past for k, flow in frame.flows.items() if flow.back}
        own = {k for k, i in back.items() if any(at <= i for at, _ in held[k].gradients)}
        used = {self.arrows[k].id for k in own & self.arrows.keys()}  # of this call
        flowing = {e.id for e, flow in flows if not flow.back and not moment.arrived}
        groups = self.drawn.groups
        found = {f"{p}/{path}": drawing.frame(path) if path in inside else "" for path in groups}
        for e in self.drawn.edges:
            worn = {"mg-back": e.id in used, "mg-flow": e.id in flowing}
            seen = {e.source, e.target} <= born
            svg = drawing.edge(e, *(x for x in worn if worn[x])) if seen else ""
            found[p + e.id] = svg if e.id in used else LANE.sub("", svg)
        for n in self.drawn.nodes:
            card = drawing.card(n.id, there[n.id]) if n.id in born else ""
            now = HALO.match(card)  # which comes and goes while the card stays
            found[f"{p}{n.id}now"] = f'<g class="mg-now" {now[3]}{now[4]}</g>' if now else ""
            box, (dx, dy) = drawing.there.nodes[n.id], self.behind
            size = f'width="{box.width:g}" height="{box.height:g}" rx="{ROUND}"'
            sheet = f'<rect class="mg-ref-card" x="{box.x + dx:g}" y="{box.y + dy:g}" {size}/>'
            found[p + n.id] = sheet * ("mg-anew" in card) + HALO.sub(r"\1\2", card)
        title = text("mg-title", EDGE, 20, bilingual(self.title))
        drawn = together(f"{p}drawn", found, self.left, TITLE)
        return {f"{p}title": title, **drawn, f"{p}said": self._caption(moment, low, language)}

    def _caption(self, moment: Moment, low: float, language: str) -> str:
        caption = self.said[min(moment.step, len(self.said) - 1)]
        said = set_lines(fold_text(caption[language == "zh"], self.width - 2 * EDGE), low)
        return said * (caption != ROWS["step_start"])  # which asks for a key


def set_lines(lines: Sequence[str], low: float) -> str:
    """Return lines of a caption as SVG, below a height."""
    said = (text("mg-caption", EDGE, low + LINE * i, escape(x)) for i, x in enumerate(lines, 1))
    return "".join(said)


def _line(start: Point, end: Point) -> tuple[Point, ...]:
    """Return a straight line as a Bézier curve, without its end."""
    (x, y), (u, v) = start, end
    return tuple((x + (u - x) * k / 3, y + (v - y) * k / 3) for k in range(3))


def card_states(
    film: Film, drawn: Picture, moment: Moment, arriving: Mapping[str, Flow]
) -> dict[str, cards.State]:
    """Return what each card shows at a moment; what is still moving has not arrived yet."""
    found = on_cards(film, moment.step, drawn)
    before = {} if moment.arrived else on_cards(film, max(moment.step - 1, 0), drawn)
    for i, flow in arriving.items():
        now = found[i]
        if moment.arrived:
            gradient = flow.sum if flow.sum and not now.back else now.gradient
            found[i] = replace(now, gradient=gradient)
        else:
            born = "mg-unborn" not in before[i].classes
            lit = tuple(x for x in now.classes if x == "mg-now")
            new = tuple(x for x in now.classes if x != "mg-ran")  # it is born, and waits for it
            found[i] = replace(before[i], classes=before[i].classes + lit if born else new)
    return found


def fold_text(said: str, width: float) -> list[str]:
    """Wrap a sentence to lines of at most this width; the last ends with … if text is cut.

    What follows a colon is a formula, or another sentence, as it is behind a full stop: if each
    of both fits a line, it has its own.
    """
    for mark in (SENTENCE.pattern, ": |："):
        head, end, tail = re.fullmatch(f"(.*?)({mark}|$)(.*)", said).groups()  # type: ignore[union-attr]
        if max(wide(part, NAME) for part in (head + end, tail)) <= width < wide(said, NAME):
            return [head + end.strip(), tail]
    lines = [""]
    for word in _break_words(said):
        if lines[-1] and wide(lines[-1] + word.rstrip(), NAME) > width:
            lines.append("")
        lines[-1] += word
    kept = [line.strip() for line in lines[:LINES]]
    return kept if len(lines) <= LINES else [*kept[:-1], kept[-1].rstrip(".。, ，") + "…"]


def _break_words(said: str) -> Iterator[str]:
    """Yield pieces after which a line may end: a space, or Chinese not followed by a mark.

    What is in short brackets stays together, and no line ends where they open.
    """
    word, held = "", {k for found in HELD.finditer(said) for k in range(*found.span())}
    for i, c in enumerate(said):
        word += c
        following = said[i + 1 : i + 2]
        chinese = max(c, following) > "\u2e7f" and following not in "，。：；）？！、"
        if i not in held and (c == " " or chinese):
            yield word
            word = ""
    yield word

"""The still of the explorer: an open module as a drawing, with results and gradients."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import sqrt
from pathlib import Path
from typing import Any

from minigrad.diagnostics.messages import choose, get_language
from viz import assets
from viz.explorer.explorer import Explorer
from viz.explorer.findings import path_of
from viz.explorer.portraits import ALPHABET, EMPTY, SPOILT, ZERO
from viz.picture import drawing
from viz.picture.boxes import Picture, PictureEdge, PictureNode, in_order
from viz.picture.cards import CardSpace, State, one_language
from viz.picture.layout import LayoutError
from viz.picture.paint import paint
from viz.picture.swatch import DIGITS, GAP, LEVELS, NAN
from viz.words.text import bilingual, both
from viz.words.user import ending, write

FORMATS = (".svg", ".pdf", ".png", ".html")
CODES = {chr(letter): code for code, letter in enumerate(ALPHABET)}
ROOM = 7  # characters of a number on a card
ENDS = 3  # blocks of a strip that are pictured, first ones and last ones

_numbers = itertools.count(1)


class Still:
    """The first view of an explorer as a drawing that a notebook shows, and that can be saved."""

    def __init__(self, explorer: Explorer) -> None:
        self.explorer = explorer
        self.picture, self._states = drawn(explorer.data)
        self._prefix = f"mgx{next(_numbers)}"

    def __str__(self) -> str:
        return choose(self.explorer.text(), "\n\n")

    __repr__ = __str__

    @property
    def svg(self) -> str:
        """The drawing as an <svg> element. Raises LayoutError without a layout engine."""
        return self._drawn("")

    def _drawn(self, title: str) -> str:
        rooms = {}
        for node in self.picture.nodes:
            s = self._states[node.id]
            value, gradient = (ROOM if x else 0 for x in (s.value, s.gradient))
            rooms[node.id] = CardSpace(value, gradient, swatch=bool(s.swatch), back=bool(s.back))
        return drawing.render(self.picture, self._prefix, rooms, self._states, title)

    @property
    def html(self) -> str:
        """The drawing with its title, for a page that runs no scripts."""
        heading = self.explorer._title()
        try:
            image = drawing.as_image(self.svg, both(heading))
        except LayoutError as error:
            image = f'<p class="mg-note">{bilingual(error.pair)}</p>'
        style = assets.style(assets.source("diagram.css"))
        caption = f"<figcaption>{bilingual(heading)}</figcaption>"
        return f'{style}<figure class="mg-diagram">{caption}{image}</figure>'

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        return {"text/plain": str(self), "text/html": self.html}

    def save(self, path: str | Path) -> Path:
        """Write the drawing, as .svg, .pdf or .png, or its explorer as a page, .html."""
        target = Path(path)
        suffix = ending(target, FORMATS)
        if suffix == ".html":
            return self.explorer.save(target)
        svg = self._drawn(choose(self.explorer._title(), " / "))
        if suffix == ".svg":
            write(target, drawing.alone(svg))
        else:
            write(target, paint(one_language(svg, get_language()), suffix[1:]))
        return target


def drawn(data: Mapping[str, Any]) -> tuple[Picture, Mapping[str, State]]:
    """Draw the module that is open at first; return its picture and the states of its cards."""
    made = _CardBuilder(data)
    group = data["nodes"][data.get("start", 0)]
    for number in group.get("children", ()):
        made.part(number)
    inputs: dict[str, list[str]] = {}
    for source, target in made.edges:
        inputs.setdefault(target, []).append(source)
    boxes = (replace(box, inputs=tuple(inputs.get(box.id, ()))) for box in made.boxes)
    return Picture(in_order(boxes), tuple(made.edges.values()), "static", {}), made.states


class _CardBuilder:
    """The cards of an open module while they are made, one after the other."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        self.data = data
        self.tensors = [*data["operators"], *data["inputs"]]
        self.failed: int = data.get("failed", -1)
        self.last = {x: i for i, o in enumerate(data["operators"]) for x in o["reads"]}  # reader
        self.home: dict[int, str] = {}  # of each tensor the card that gives it
        self.boxes: list[PictureNode] = []
        self.edges: dict[tuple[str, str], PictureEdge] = {}
        self.states: dict[str, State] = {}

    def part(self, number: int) -> None:
        """Add the card of a module or an operator, after what it reads."""
        nodes, outputs = self.data["nodes"], self.data["outputs"]
        part, new = nodes[number], f"n{number}"
        own = range(part["a"], part["b"])
        for read in (x for i in own for x in self.tensors[i]["reads"] if x not in own):
            self.read(new, read)
        self.home |= dict.fromkeys(own, new)
        out, inside = self.given(part), part.get("children")
        row, seen = self.tensors[out], [out]
        kind = part.get("kind") or ("" if inside else row["op"])
        if inside and part.get("repeats"):
            first = nodes[inside[0]]
            kind = f"{len(inside)} × {first.get('kind') or first.get('name', '')}"
            ends = inside if len(inside) <= 2 * ENDS else [*inside[:ENDS], *inside[-ENDS:]]
            seen = [self.given(nodes[i]) for i in ends]
        name = part.get("name") or row["sign"] or row["op"]
        what = "module" if inside or part.get("kind") else "operator"
        about = {"kind": what, "op": kind or name, "name": "", "sign": name}
        self.card(new, out, seen, **about, is_output=out in outputs)

    def given(self, part: Mapping[str, Any]) -> int:
        """Return the last tensor that a part hands on, or the one at which the run stopped."""
        own = range(part["a"], part["b"])
        if self.failed in own:
            return self.failed
        left = (x for x in own if x in self.data["outputs"] or self.last.get(x, -1) >= own.stop)
        return max(left, default=own.stop - 1)

    def read(self, reader: str, x: int) -> None:
        """Add an arrow from what gives a tensor: a part, an input, or a part outside."""
        row = self.tensors[x]
        if x not in self.home:
            self.home[x] = f"i{x}"
            name = row["name"] if "name" in row else path_of(self.data, x)
            self.card(f"i{x}", x, [x], kind="input", op="input", name=name)
        pair = self.home[x], reader
        if pair not in self.edges:
            edge = PictureEdge(f"e{len(self.edges) + 1}", *pair, 0, shape=_sizes(row))
            self.edges[pair] = edge
            self.states[edge.id] = State(("mg-back",) if "g" in row else ())

    def card(self, new: str, tensor: int, seen: Sequence[int], **about: Any) -> None:
        """Add a card, what it shows of a tensor, and the pictures of those that are shown."""
        row = self.tensors[tensor]
        value, back = (self.portraits([tensor], key)[0] for key in "vg")
        swatch, behind = (_swatch(self.portraits(seen, key)) for key in "vg")
        looks = {
            "failed": tensor == self.failed,
            "born": "unknown" in row and tensor != self.failed,
            "ran": "unknown" not in row and about["kind"] != "input",
        }
        number = all(n == 1 for n in row["shape"])
        text = "✗" if looks["failed"] else _short(value.get("mean")) if number else ""
        classes = tuple(f"mg-{look}" for look in looks if looks[look])
        norm = _short(back.get("norm"))
        self.states[new] = State(classes, text, norm, swatch=swatch, back=behind)
        self.boxes.append(PictureNode(id=new, shape=_sizes(row), dtype=row["dtype"], **about))

    def portraits(self, tensors: Sequence[int], key: str) -> list[Mapping[str, Any]]:
        rows = (self.tensors[x] for x in tensors)
        return [self.data["portraits"][row[key]] if key in row else {} for row in rows]


def _sizes(row: Mapping[str, Any]) -> str:
    return "×".join(map(str, row["shape"]))


def _short(x: object) -> str:
    return f"{x:.3g}" if isinstance(x, float) else str(x or "")


def _swatch(portraits: Sequence[Mapping[str, Any]]) -> str:
    """Join the pictures of tensors side by side, on one scale, as the one swatch of a card."""
    seen = [p for p in portraits if "cells" in p]
    if not seen:
        return ""
    high, wide = max(p["h"] for p in seen), -(-max(p["w"] for p in seen) // len(seen))
    top = max(p["scale"] for p in seen) or 1.0
    lines = (GAP.join(_line(p, wide, i / high, top) for p in seen) for i in range(high))
    kind = "t" if seen[0]["tile"] > 1 and len(seen) == 1 else "c"
    return f"{kind}{(wide + 1) * len(seen) - 1}:{''.join(lines)}"


def _line(portrait: Mapping[str, Any], wide: int, share: float, top: float) -> str:
    """Return one row of a picture, at this share of its height, as this many cells."""
    start, cells = int(share * portrait["h"]) * portrait["w"], portrait["cells"]
    full = portrait["scale"] / top
    return "".join(_letter(cells[start + i * portrait["w"] // wide], full) for i in range(wide))


def _letter(cell: str, full: float) -> str:
    code = CODES[cell]
    if code in (EMPTY, SPOILT):
        return GAP if code == EMPTY else NAN
    strength = round(LEVELS * sqrt(full * abs(code - ZERO) / 30))
    return DIGITS[LEVELS + (strength if code > ZERO else -strength)]

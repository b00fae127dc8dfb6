"""A board: several drawings side by side, marked anew at each step, with facts and a table beneath.

Where the player shows one run of a graph, a board shows what belongs to different graphs: those
before and after a pass, those of several ways to write one function. Scenes are plain data; each
drawing is laid out once, and the browser only changes marks.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from html import escape
from typing import Any

import traitlets

from minigrad.diagnostics.errors import GraphError
from minigrad.diagnostics.messages import choose
from minigrad.static import Graph
from viz import assets
from viz.page.page import SHEETS, Moved, Page
from viz.page.player import picture_table
from viz.page.scenes import FOCUS, Panel, Scene, Sheet, focus, legend, spoken
from viz.page.sheets import sheets
from viz.page.sliders import Slider
from viz.page.steps import held as shown_value
from viz.picture.cards import CardSpace, State
from viz.picture.drawing import PAGE_WIDE, as_image, render
from viz.picture.layout import LayoutError
from viz.picture.marks import states
from viz.picture.picture import Picture
from viz.picture.swatch import encoded, scale
from viz.picture.theme import MARKS
from viz.words.text import ROWS, Pair, bilingual, both, html

__all__ = ["Board"]

_numbers = itertools.count(1)
MODULES = (  # the browser's half
    *("widget", "places", "swatch", "brief", "camera", "zoom", "morph", "panel", "beside"),
    *("packing", "score", "board"),
)
WORDS = assets.words(*MODULES)
LONGEST = 12  # characters that a number and its sign take, at most
WIDE = 1240  # pixels across which a board has for its drawings, on a page of its own


class Board(Page):
    """Drawings side by side with a slider, step buttons and keys; made by viz.passes and others."""

    _esm = "".join(assets.source(f"{name}.js") for name in MODULES)
    _css = sheets(*SHEETS, "board", "score")
    off = traitlets.List(traitlets.Unicode()).tag(sync=True)
    inputs: traitlets.List[Any] = traitlets.List().tag(sync=True)

    def __init__(
        self,
        scenes: Sequence[Scene],
        sheet: Sheet | None = None,
        verdict: Pair | None = None,
        slider: Pair | None = None,
        switches: Sequence[str] = (),
        again: Callable[[list[str]], Board] | None = None,
        sliders: Sequence[Slider] = (),
        moved: Callable[[list[float]], Board] | None = None,
        numbers: Callable[[list[float]], Graph] | None = None,
        heading: Pair | None = None,
        moves: bool = False,
        lanes: Sequence[Mapping[str, Any]] = (),
    ) -> None:
        """Make a board of scenes; moves: a node keeps its id, and moves from picture to picture.
        lanes: a score with a column for each scene.
        """
        self.heading = heading or ROWS["page"]
        self._name = f"mgb{next(_numbers)}"
        self._switches, self._again = tuple(switches), again
        self.sliders, self._moved, self._moves = tuple(sliders), moved, moves
        self.numbers = numbers
        self.scenes, self.sheet, self.verdict = tuple(scenes), sheet, verdict
        self._lanes = list(lanes)
        self.slider = slider or ROWS["position"]
        self.index = max(0, len(self.scenes) - 1)  # it rests where all has happened
        self.data = self._payload()
        super().__init__()

    @traitlets.observe("off")
    def _on_switch(self, change: Any) -> None:
        """Make the scenes again in the kernel after a switch was turned off or on."""
        if self._again is not None:
            self._show(self._again(list(change["new"])))

    @traitlets.observe("inputs")
    def _move(self, change: Any) -> None:
        """Show the new values in the last scene after the reader moved an input."""
        moved = getattr(self, "_moved", None)  # none while it is made
        if moved is None:
            return
        try:
            made = moved(list(change["new"]))
        except GraphError as error:
            self.data = {**self.data, "trouble": str(error)}
        else:
            self.index = len(made.scenes) - 1
            self._show(made)

    def _moved_to(self, inputs: list[float], apart: bool = False) -> Moved:
        if self._moved is None:
            return {}, None
        made = self._moved(inputs)
        made._name = self._name
        data = made._payload(LONGEST)
        data["scenes"][-1]["inputs"] = []  # a page knows where its sliders are
        return data, len(made.scenes) - 1

    def _show(self, made: Board) -> None:
        self.scenes, self.sheet, self.verdict = made.scenes, made.sheet, made.verdict
        self.data = self._payload()

    # ---- As text -------------------------------------------------------------------------------

    def text(self) -> Pair:
        """Return all steps with their marks, the facts and the table, as text in both languages."""
        english, chinese = ("\n".join(self._lines(i)) for i in (0, 1))
        return english, chinese

    def _lines(self, i: int) -> list[str]:
        lines = []
        for number, scene in enumerate(self.scenes):
            lines.append(f"{number}. {scene.caption[i]}")
            differing = [panel for panel in scene.panels if not panel.alike]
            for panel in differing:
                lines += panel.text(i)
            if differing or not scene.panels:
                lines += [f"  {fact[i]}" for fact in scene.facts]
        if self.sheet:
            lines += self.sheet.text(i)
        if self.verdict:
            lines.append(self.verdict[i])
        return lines

    def __str__(self) -> str:
        return choose(self.text(), "\n\n")

    __repr__ = __str__

    # ---- For the browser -----------------------------------------------------------------------

    def _payload(self, longest: int = 0) -> dict[str, Any]:
        """Return all that the browser needs, as plain JSON; each picture is drawn once.

        longest: characters that every card has room for, whatever is written in it.
        """
        self._drawings: list[dict[str, Any]] = []
        self._drawn: dict[Any, int] = {}
        panels = [panel for scene in self.scenes for panel in scene.panels]
        held = {id(x): x for panel in panels for x in panel.held.values()}
        self._scale = scale(x.raster for x in held.values() if x.raster)
        self._known = {x: i for i, x in enumerate(held)}
        longest = max([longest, *(len(words) for p in panels for words in p.card_texts.values())])
        # by picture, of the cards that say something
        self._rooms: dict[int, dict[str, CardSpace]] = {}
        for panel in panels:
            rooms = self._rooms.setdefault(id(panel.among or panel.picture), {})
            rooms |= {i: rooms.get(i, CardSpace(value=longest)) for i in panel.card_texts}
            pictured = (i for i, x in panel.held.items() if x.raster)
            rooms |= dict.fromkeys(pictured, CardSpace(value=longest, swatch=True))
        shown = [self._scene(scene) for scene in self.scenes]
        return {
            "scenes": shown,
            "drawings": self._drawings,
            "values": [shown_value(x, self._scale) for x in held.values()],
            "moves": self._moves,
            "lanes": self._lanes,
            "sliders": [asdict(slider) for slider in self.sliders],
            "trouble": "",
            "switches": [{"key": key, "on": key not in self.off} for key in self._switches],
            "sheet": self.sheet.html() if self.sheet else "",
            "verdict": self.verdict,
            "words": {key: ROWS[key] for key in WORDS},
            "labels": {key: both(ROWS[key]) for key in WORDS},
            "slider": both(self.slider),
            "signs": {k: "" if mark.worded else mark.sign for k, mark in MARKS.items()}
            | {"value": "→"},
            "legend": {kind: ROWS[f"mark_{kind}"] for kind in MARKS}
            | {"value": ROWS["diff_value"]},
            "table_title": ROWS["table"],
        }

    def _scene(self, scene: Scene) -> dict[str, Any]:
        return {
            "caption": scene.caption,
            "say": both(scene.caption),
            "facts": scene.facts,
            "row": scene.row,
            "place": scene.place,
            "inputs": scene.inputs,
            "panels": [self._panel(panel, scene.drawing_count) for panel in scene.panels],
        }

    def _panel(self, panel: Panel, beside: int) -> dict[str, Any]:
        drawing = None if panel.picture is None else self._drawing(panel, beside)
        prefix = f"{self._name}-{drawing}-"
        return {
            "title": panel.title,
            "drawing": drawing,
            "marks": {f"{prefix}{i}": kind for i, kind in panel.marks.items()},
            "notes": {f"{prefix}{i}": text for i, text in panel.written.items() if text},
            "held": {f"{prefix}{i}": self._known[id(x)] for i, x in panel.held.items()},
            "code": [list(line) for line in panel.code],
            "svg": panel.svg,
            "message": panel.message,
        }

    def _drawing(self, panel: Panel, beside: int) -> int:
        """Return the number of a picture's drawing, which is made when first needed."""
        whole, key = panel.picture, _key(panel)
        if whole is None or key in self._drawn:
            return self._drawn[key]
        number = self._drawn[key] = len(self._drawings)
        picture = focus(whole, panel.marks)
        prefix = f"{self._name}-{number}"
        try:
            # What holds other graphs has its neighbours' room, too.
            few = WIDE * 2 // 3 if beside == 3 and whole.owners else PAGE_WIDE // beside
            width = WIDE if beside == 1 else few
            drawing = self._render(picture, prefix, panel, width, panel.states)
        except LayoutError as error:
            drawing = f"<p>{bilingual(error.pair)}</p>{picture_table(picture)}"
        self._drawings.append(
            {
                "svg": drawing,
                "prefix": prefix,
                "alt": both(picture.alt()),
                "nodes": {f"{prefix}-{n.id}": _about(n) for n in picture.nodes},
                "table": picture_table(whole),
            }
        )
        return number

    def _render(
        self, picture: Picture, prefix: str, panel: Panel, width: int, shown: Mapping[str, State]
    ) -> str:
        """Draw a picture so that it fits beside those it is shown with."""
        among = panel.among
        whole = among if among is not None and len(among.nodes) <= FOCUS else picture
        rooms = panel.rooms or self._rooms[id(panel.among or panel.picture)]
        return render(picture, prefix, rooms, shown, width=width, among=whole)

    # ---- Without widgets -----------------------------------------------------------------------

    def _still(self) -> str:
        """Return the drawings of the current step, and all steps as a list, as HTML."""
        if not self.scenes:
            return html("board_empty", "p")
        now = self.scenes[min(self.index, len(self.scenes) - 1)]
        width = PAGE_WIDE // now.drawing_count
        figures = "".join(self._figure(panel, width) for panel in now.panels)
        facts = "".join(f"<li>{bilingual(fact, 'div')}</li>" for fact in now.facts)
        facts = f"<ul>{facts}</ul>" if facts else ""
        sheet = self.sheet.html(now.row) if self.sheet else ""
        verdict = f"<b>{bilingual(self.verdict, 'div')}</b>" if self.verdict else ""
        steps = "".join(f"<li>{bilingual(s.caption)}</li>" for s in self.scenes)
        style = assets.style(assets.source("diagram.css"))
        return (
            f'{style}<figure class="mg-still">{bilingual(now.caption, "div")}'
            f'<div style="display:flex;flex-wrap:wrap;gap:12px">{figures}</div>'
            f"{bilingual(legend(now), 'div')}{facts}{sheet}{verdict}"
            f"<details><summary>{html('table')}</summary>"
            f"<ol start='0'>{steps}</ol></details></figure>"
        )

    def _figure(self, panel: Panel, width: int) -> str:
        parts = [f"<figcaption><b>{bilingual(panel.title, 'div')}</b></figcaption>"]
        if panel.picture is not None:
            drawing = self._drawings[self._drawn[_key(panel)]]
            svg = drawing["svg"]
            if svg.startswith("<svg"):
                rasters = ((i, x.raster) for i, x in panel.held.items())
                codes = {i: encoded(raster, self._scale) for i, raster in rasters if raster}
                marked = {**panel.states, **states(panel.marks, panel.written, codes)}
                picture = focus(panel.picture, panel.marks)
                svg = self._render(picture, drawing["prefix"], panel, width, marked)
                svg = as_image(svg, f"{drawing['alt']} {both(spoken(panel))}".strip())
            parts.append(svg)
        if drawn := re.search(r"<svg\b.*</svg>", panel.svg or "", re.DOTALL):
            svg = drawn[0].replace(' width="100%"', f' width="{PAGE_WIDE}"', 1)
            parts.append(as_image(svg, both(panel.title)))
        parts += [bilingual(panel.message, "div")] if panel.message else []
        if panel.code:
            code = "\n".join(f"{MARKS[k].sign if k else ' '} {line}" for k, line in panel.code)
            parts.append(f"<pre>{escape(code)}</pre>")
        return f'<figure style="margin:0;max-width:100%">{"".join(parts)}</figure>'


def _key(panel: Panel) -> Any:
    """Return the identity of a drawing: the picture and, of a large one, the part drawn."""
    large = panel.picture is not None and len(panel.picture.nodes) > FOCUS
    return id(panel.picture), id(panel.among), frozenset(panel.marks) if large else None


def _about(node: Any) -> dict[str, Any]:
    """Return what a click on a node shows."""
    title = (f"{node.label} · {node.title[0]}", f"{node.label} · {node.title[1]}")
    return {
        "title": title if node.title[0] else (node.label, node.label),
        "shape": node.shape,
        "line": node.line,
    }

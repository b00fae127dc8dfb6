"""The player: drawings that light up step by step, in the browser, without the kernel.

The kernel sends one picture per graph and the life of every node; the browser does the stepping.
The same module plays in a saved page.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any, Self

import traitlets

from minigrad.diagnostics.errors import GraphError
from minigrad.static import Graph
from viz import assets
from viz.film.film import GRADIENT, scales
from viz.film.frames import Film, Frame
from viz.page.page import SHEETS, Moved, Page
from viz.page.payload import MODULES, payload, picture_table, prefixes_of, view
from viz.page.sheets import sheets
from viz.page.sliders import Slider
from viz.page.strip import strip
from viz.page.together import SideBySide
from viz.picture.formula import heading
from viz.picture.layout import LayoutError
from viz.words.text import ROWS, Pair, bilingual, html, listed

__all__ = ["Player", "Slider", "picture_table"]

_numbers = itertools.count(1)
Links = Sequence[Mapping[str, str]]


class Player(Page):
    """One or two graphs with a slider, step buttons and keys; made by step, compare, timeline.

    films: one for each drawing. verdict: what was checked, written beneath. links: for each film
    but the first, which node of the first each of its nodes is. sliders, again: inputs to move,
    and what makes the films and the verdict for their new values; numbers: a graph of all that is
    shown, from these inputs. name: what the ids of the drawings begin with.
    """

    _esm = "".join(assets.source(f"{name}.js") for name in MODULES)
    _css = sheets(*SHEETS, "film", "score")
    index = traitlets.Int(-1).tag(sync=True)  # -1: at rest at its end; it plays once when seen
    inputs: traitlets.List[Any] = traitlets.List().tag(sync=True)
    films: tuple[Film, ...] = ()

    def __init__(
        self,
        films: Sequence[Film],
        verdict: Pair | None = None,
        links: Links = (),
        sliders: Sequence[Slider] = (),
        again: Callable[[list[float]], tuple[Sequence[Film], Pair | None]] | None = None,
        name: str = "",
        numbers: Callable[[list[float]], Graph] | None = None,
    ) -> None:
        self.sliders, self.numbers, self._again, self._name = tuple(sliders), numbers, again, name
        self.inputs = [slider.value for slider in sliders]
        self.show(films, verdict, links)
        super().__init__()
        self.on_msg(self._answer)

    def show(self, films: Sequence[Film], verdict: Pair | None = None, links: Links = ()) -> None:
        """Replace the films, in every place where the player is displayed.

        Drawings of the same graphs stay where they are, and only what is in them changes.
        """
        same = len(films) == len(self.films) and all(map(_matches, films, self.films)) and films
        name = self.data["name"] if same else self._name or f"mg{next(_numbers)}"
        graphs = self.data["graphs"] if same else None
        shared = scales(films)
        self.films = tuple(replace(film, shared=shared) for film in films)
        self.verdict, self.links = verdict, links
        sent = payload(self.films, verdict, name, graphs, links)
        self.data = {**sent, "sliders": [asdict(slider) for slider in self.sliders]}

    @traitlets.observe("inputs")
    def _move(self, change: Any) -> None:
        """Run again after the reader moved a slider; if that fails, say why and change nothing."""
        if self._again is None or not self.data:
            return
        try:
            films, verdict = self._again(list(change["new"]))
        except GraphError as error:
            self.data = {**self.data, "trouble": str(error)}
        else:
            self.show(films, verdict, self.links)

    def _title(self) -> Pair:
        """Return the kinds of the graphs, and their formula if it is short."""
        if not self.films or self.films[0].title:
            return (self.films[0].title if self.films else None) or ROWS["player"]
        drawn = [film.picture for film in self.films]
        kinds = dict.fromkeys(ROWS[f"kind_{p.kind}"] for p in drawn)
        return heading(drawn[0], listed(kinds, ", ", "、"))

    def _moved_to(self, inputs: list[float], apart: bool = False) -> Moved:
        if self._again is None:
            return {}, None
        films, verdict = self._again(inputs)
        same = len(films) == len(self.films) and all(map(_matches, films, self.films))
        graphs = self.data["graphs"] if same else None
        shared = scales(films)
        films = [replace(film, shared=shared) for film in films]
        return payload(films, verdict, self.data["name"], graphs, self.links, apart), None

    def _values(self, room: int) -> dict[str, Any]:
        """Return the page's values; if too large, without the drawings of single open groups."""
        values = super()._values(room)
        if room < 0:
            graphs = [dict(g) for g in values["data"]["graphs"]]
            for g in graphs:
                g["views"] = {k: v for k, v in g["views"].items() if k in (g["shown"], g["layers"])}
            values["data"] = {**values["data"], "graphs": graphs}
        return values

    def _answer(self, widget: Any, message: dict[str, Any], buffers: Any) -> None:
        """Send the drawing with other groups open that the browser requests."""
        if message.get("kind") == "view":
            number, opened = int(message["graph"]), frozenset(map(str, message["opened"]))
            prefix = prefixes_of(self.data["name"], self.films)[number]
            opened &= frozenset(self.films[number].picture.groups)
            made = view(SideBySide(self.films, self.links), number, prefix, opened)
            self.send({"kind": "view", "graph": number, "key": message["key"], "view": made})

    def at_the_end(self) -> Self:
        """Go to the last step, where everything can be seen, instead of the first."""
        self.index = max(0, len(self.data["frames"]) - 1)
        return self

    def at_backward(self) -> Self:
        """Go to the step where the backward pass begins; to the end if there is none."""
        marks = [[mark.clock for mark in frame.marks] for frame in self.frames]
        self.at_the_end()
        self.index = next((i for i, clocks in enumerate(marks) if GRADIENT in clocks), self.index)
        return self

    @property
    def frames(self) -> tuple[Frame, ...]:
        """The steps of the film (of the first one, if there are two)."""
        return self.films[0].frames if self.films else ()

    def text(self) -> Pair:
        """Return everything the player shows, as text in both languages."""
        if not self.films:
            return ROWS["player_empty"]
        films = listed((film.text() for film in self.films), "\n\n")
        return listed(filter(None, [films, self.verdict]), "\n")

    def _still(self) -> str:
        """Return what a page without widgets shows: a strip of stills, and the steps as a list."""
        if not self.films:
            return f"<p>{html('player_empty')}</p>"
        drawings = ""
        try:
            if all(film.picture.nodes for film in self.films):
                drawings = strip(self.films, self.links)
        except LayoutError as error:
            tables = "".join(picture_table(film.picture.fold()) for film in self.films)
            drawings = f'<p class="mg-note">{bilingual(error.pair)}</p>{tables}'
        steps = "".join(f"<ol>{''.join(_listed(film.frames))}</ol>" for film in self.films)
        summary = html("table")
        return (
            f'<figure class="mg-still">{drawings}'
            f"<details><summary>{summary}</summary>{steps}</details></figure>"
        )


def _listed(frames: Sequence[Frame]) -> Iterator[str]:
    """Yield the steps as items of a list; what a second call repeats is not said again.

    Strips are kept small: a browser counts on by itself, and ends an item where the next begins.
    """
    said = sorted({(f.plain, f.active): i for i, f in reversed([*enumerate(frames)])}.values())
    for i in said:
        yield f"<li{'' if i - 1 in said else f' value={i}'}>{bilingual(frames[i].caption)}"


def _matches(one: Film, other: Film) -> bool:
    """Return whether two films have the same drawing: the same boxes, whatever their values."""
    a, b = one.picture, other.picture
    return (a.kind, a.edges, a.owners) == (b.kind, b.edges, b.owners) and a.text() == b.text()

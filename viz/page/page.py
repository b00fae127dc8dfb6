"""What all widgets of frames share: their state, their text, and a page that needs no kernel."""

from __future__ import annotations

import os
from abc import ABCMeta, abstractmethod
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, cast

import anywidget
import traitlets

from minigrad.diagnostics.errors import GraphError
from minigrad.diagnostics.messages import choose
from minigrad.static import Graph
from viz import assets
from viz.page.document import packed, write_page
from viz.page.recompute import computing, program_at
from viz.page.sliders import Slider, kept
from viz.page.stored import PLAYED, with_fallback
from viz.page.stored import ROOM as ROOM_ASKED
from viz.words.text import ROWS, Pair, row

FINER = 10  # positions of a slider that a page computes, for each that the kernel has
ROOM = 900_000  # bytes of a saved page, fonts aside: it stays below 1 MB
Moved = tuple[dict[str, Any], int | None]  # content, and the step to show if it changes
SHEETS = ("theme", "player", "diagram", "language")  # what every page needs


class AbstractWidget(type(anywidget.AnyWidget), ABCMeta):  # type: ignore[misc]
    """Combine both metaclasses: a widget that lacks a method cannot be made."""


class Page(anywidget.AnyWidget, metaclass=AbstractWidget):
    """A widget that the kernel sends all its content once, and that the browser plays.

    `data` is the content as plain JSON, `index` the step that is shown. A notebook without widgets
    shows `_still()`, a terminal `text()`.
    """

    data = traitlets.Dict().tag(sync=True)
    index = traitlets.Int(0).tag(sync=True)
    heading: Pair = ROWS["page"]  # of a saved page
    sliders: tuple[Slider, ...] = ()
    # A graph of all that it shows, from the inputs with sliders; its operators may depend on these.
    numbers: Callable[[list[float]], Graph] | None = None

    @abstractmethod
    def text(self) -> Pair:
        """Return everything it shows, as text in both languages."""

    @abstractmethod
    def _still(self) -> str:
        """Return what a page without widgets shows."""

    def save(self, path: str | Path) -> Path:
        """Write one HTML file that plays without a kernel and without a network."""
        css = self._css + assets.source("page.css")
        values = self._values(ROOM - len(f"{css}{self._esm}{packed(self.data)}".encode()))
        told = "page_computes" if "fill" in values else "page_kept" if "kept" in values else ""
        note = row(told, count=len(values.get("kept", ()))) if told else None
        return write_page(path, self._title(), note=note, css=css, module=self._esm, values=values)

    def _values(self, room: int) -> dict[str, Any]:
        """Return what a page without a kernel plays: the positions of the sliders that fit in
        `room`, and what computes those in between, if there can be such a program.
        """
        start = {"trouble": "", **self.data}
        programs: dict[str, int] = {}

        def made(inputs: list[float]) -> dict[str, Any]:
            program = program_at(self.numbers, inputs)
            try:
                moved, index = self._moved_to(inputs, True)
            except GraphError as error:
                moved, index = {"trouble": str(error)}, None
            about = {"index": self.index if index is None else index}
            about["program"] = programs.setdefault(program, len(programs))
            return {"data": {**start, **moved}, **about}

        before = {"data": start, "index": self.index, "program": 0}
        sliders, positions = kept(self.sliders, made, before, room)
        if not positions:
            return {"data": self.data, "index": self.index}
        values = {"index": self.index, "kept": positions}
        if fill := computing([*programs], room):
            sliders = [replace(slider, step=slider.step / FINER) for slider in self.sliders]
            values["fill"] = fill
        return {"data": {**self.data, "sliders": [*map(asdict, sliders)]}, **values}

    def _title(self) -> Pair:
        """Return what it shows, in a few words."""
        return self.heading

    def _moved_to(self, inputs: list[float], apart: bool = False) -> Moved:
        """Return the content for other inputs; apart: with each sentence in a place of its own."""
        raise NotImplementedError

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        bundle = cast(Any, super()._repr_mimebundle_(**kwargs))
        if room := os.environ.get(ROOM_ASKED):
            values = self._values(int(room))
            made = {"script": self._esm, "style": self._css, "values": values}
            made["program"] = values.get("fill", {}).pop("program", "")
            (bundle[0] if isinstance(bundle, tuple) else bundle)[PLAYED] = made
        return with_fallback(bundle, choose(self.text(), "\n\n"), self._still())

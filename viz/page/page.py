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
from viz.page.recompute import recomputed
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
    numbers: Callable[[], Graph] | None = None  # all that it shows, from the inputs with sliders

    @abstractmethod
    def text(self) -> Pair:
        """Return everything it shows, as text in both languages."""

    @abstractmethod
    def _still(self) -> str:
        """Return what a page without widgets shows."""

    def save(self, path: str | Path) -> Path:
        """Write one HTML file that plays without a kernel and without a network."""
        css = self._css + assets.source("page.css")
        used = len(f"{css}{self._esm}{packed(self.data)}".encode())
        values = self._values(ROOM - used)
        told = "page_computes" if "fill" in values else "page_kept" if "kept" in values else ""
        note = row(told, count=len(values.get("kept", ()))) if told else None
        return write_page(path, self._title(), note=note, css=css, module=self._esm, values=values)

    def _values(self, room: int) -> dict[str, Any]:
        """Return what a page without a kernel plays: a program for the sliders, where there can be
        one, or else the positions of them that fit in `room`.
        """
        made = (self.sliders and self.numbers) and recomputed(
            self.sliders, lambda inputs: self._moved_to(inputs, True)[0], self.numbers, room
        )
        if made:
            fine = [replace(slider, step=slider.step / FINER) for slider in self.sliders]
            data = {**self.data, "sliders": [asdict(slider) for slider in fine]}
            return {"data": data, "index": self.index, "fill": made}
        sliders, positions = kept(self.sliders, self._page_data, room)
        if not positions:
            return {"data": self.data, "index": self.index}
        data = {**self.data, "sliders": [asdict(slider) for slider in sliders]}
        return {"data": data, "index": self.index, "kept": positions}

    def _title(self) -> Pair:
        """Return what it shows, in a few words."""
        return self.heading

    def _page_data(self, inputs: list[float]) -> dict[str, Any]:
        """Return what changes for these inputs on a page without a kernel, and the step to show."""
        try:
            data, index = self._moved_to(inputs)
        except GraphError as error:
            data, index = {"trouble": str(error)}, None
        changed = {k: v for k, v in data.items() if k != "sliders" and v != self.data.get(k)}
        return {"data": changed} if index is None else {"data": changed, "index": index}

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

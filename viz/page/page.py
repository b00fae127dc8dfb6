"""What all widgets of frames share: their state, their text, and a page that needs no kernel."""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from pathlib import Path
from typing import Any, cast

import anywidget
import traitlets

from minigrad.diagnostics.messages import choose
from viz import assets
from viz.page.document import write_page
from viz.words.text import ROWS, Pair

SHEETS = ("theme", "player", "diagram", "language")  # what every page needs


class AbstractWidget(type(anywidget.AnyWidget), ABCMeta):  # type: ignore[misc]
    """So that a widget that lacks a method is refused when it is made."""


class Page(anywidget.AnyWidget, metaclass=AbstractWidget):
    """A widget that the kernel sends all its content once, and that the browser plays.

    `data` is the content as plain JSON, `index` the step that is shown. A notebook without widgets
    shows `_still()`, a terminal `text()`.
    """

    data = traitlets.Dict().tag(sync=True)
    index = traitlets.Int(0).tag(sync=True)
    heading: Pair = ROWS["page"]  # of a saved page

    @abstractmethod
    def text(self) -> Pair:
        """Everything it tells, as text in both languages."""

    @abstractmethod
    def _still(self) -> str:
        """What a page without widgets shows."""

    def save(self, path: str | Path) -> Path:
        """Write one HTML file that plays without a kernel and without a network."""
        css = self._css + assets.source("page.css")
        values = {"data": self.data, "index": self.index}
        return write_page(path, self.heading, css=css, module=self._esm, values=values)

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        bundle = cast(Any, super()._repr_mimebundle_(**kwargs))
        data = bundle[0] if isinstance(bundle, tuple) else bundle
        data["text/plain"] = choose(self.text(), "\n\n")
        data["text/html"] = self._still()
        return bundle

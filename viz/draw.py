"""`viz.draw`: a diagram of a tensor, a node or a graph."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Mapping
from pathlib import Path
from types import FrameType
from typing import Any

from minigrad.eager import Tensor
from minigrad.values import Value
from viz import assets, dot
from viz.picture import Picture, picture
from viz.player import table
from viz.text import bilingual, both, html, printed

_numbers = itertools.count(1)
FORMATS = (".svg", ".pdf", ".png", ".dot", ".html")


class Diagram:
    """A drawing that a notebook shows; `str` of it is the graph as text."""

    def __init__(self, picture: Picture, fold: bool | None = None) -> None:
        self.full = picture
        folded = len(picture.nodes) > 60 if fold is None else fold
        self.picture = picture.fold() if folded else picture
        self._prefix = f"mgd{next(_numbers)}"

    def __str__(self) -> str:
        return self.picture.text() or printed("graph_empty")

    __repr__ = __str__

    @property
    def dot(self) -> str:
        """The drawing in the DOT language."""
        return dot.dot(self.picture, self._prefix, rankdir=self._rankdir)

    @property
    def _rankdir(self) -> str:
        return "LR" if len(self.picture.nodes) <= 40 else "TB"

    @property
    def svg(self) -> str:
        """The drawing as an <svg> element. Raises dot.LayoutError without a layout engine."""
        return dot.render(self.picture, self._prefix, rankdir=self._rankdir)

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        return {"text/plain": str(self), "text/html": self.html}

    @property
    def html(self) -> str:
        """The drawing with its description, and the same content as a table, in both languages."""
        if not self.picture.nodes:
            return f'<p class="mg-note">{html("graph_empty")}</p>'
        try:
            drawing, opened = dot.as_image(self.svg, both(self.picture.alt())), ""
        except dot.LayoutError as error:
            drawing, opened = f'<p class="mg-note">{bilingual(error.pair)}</p>', " open"
        style = f"<style>{assets.source('diagram.css')}</style>"
        return (
            f'{style}<figure class="mg-diagram">{drawing}<details{opened}><summary>'
            f"{html('table')}</summary>{table(self.picture)}</details></figure>"
        )

    def save(self, path: str | Path) -> Path:
        """Write the drawing; the ending chooses: .svg, .pdf, .png, .dot or .html."""
        target = Path(path)
        suffix = target.suffix.lower()
        if suffix not in FORMATS:
            raise ValueError(printed("save_format", suffix=suffix, known=", ".join(FORMATS)))
        if suffix == ".dot":
            target.write_text(self.dot, encoding="utf-8")
        elif suffix == ".html":
            page = f'<!DOCTYPE html><meta charset="utf-8"><title>graph</title>{self.html}'
            target.write_text(page, encoding="utf-8")
        else:
            target.write_bytes(dot.image(self.dot, suffix[1:]))
        return target


def draw(obj: Any, fold: bool | None = None) -> Diagram:
    """The diagram of a tensor, a node, a graph, a traced function, or a list of tensors or nodes.

    Of a tensor its tape is drawn, of a function its newest graph. Leaves without a name are called
    by the variable that holds them where `draw` is called. `fold` draws each layer as one box; by
    default only large graphs are folded. TypeError for other things.

    >>> import minigrad as mg
    >>> from viz import draw
    >>> x = mg.tensor(2.0, requires_grad=True)
    >>> y = x * x + 3
    >>> print(draw(y))
    n1: x = tensor ()
    n2: Mul(x, x) ()
    n3: 3 = Constant ()
    n4: y = Add(Mul, 3) ()  -> output
    """
    return Diagram(picture(obj, names_in(sys._getframe(1))), fold)


def names_in(frame: FrameType) -> Mapping[int, str]:
    """The names of variables in a frame, by `id` of the tensor, its tape node, or the node."""
    found: dict[int, str] = {}
    for scope in (frame.f_globals, frame.f_locals):
        for name, value in list(scope.items()):
            if isinstance(value, Value) and not name.startswith("_"):
                found[id(value)] = name
                if isinstance(value, Tensor) and value.creator is not None:
                    found[id(value.creator)] = name
    return found

"""`viz.draw`: a diagram of a tensor, a node or a graph."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Collection, Mapping
from functools import cached_property
from pathlib import Path
from types import FrameType
from typing import Any, overload

from minigrad.diagnostics.messages import get_language
from minigrad.dynamic.tape import TapeNode
from minigrad.dynamic.tensor import Tensor
from minigrad.ops.methods import Value
from viz import assets
from viz.explorer.still import Still
from viz.film.frames import NOTHING_KNOWN, Film, still_film
from viz.film.replay import values
from viz.page.payload import UNFOLD_LIMIT, picture_table, prefixes_of, still
from viz.page.player import Player
from viz.page.rooms import card_spaces
from viz.picture import drawing
from viz.picture.boxes import paths
from viz.picture.calls import layer_name
from viz.picture.cards import one_language
from viz.picture.foreign_engines import is_foreign
from viz.picture.formula import heading
from viz.picture.layout import LayoutError
from viz.picture.paint import paint
from viz.picture.picture import Picture, picture
from viz.views.explore import still_of
from viz.words.text import ROWS, Pair, bilingual, both, choose, html, row_text
from viz.words.user import ending, write

__all__ = ["Diagram", "draw"]

_numbers = itertools.count(1)
VALUES_LIMIT = 200  # nodes; up to here the operations run again, to show what each node holds
FORMATS = (".svg", ".pdf", ".png", ".dot", ".html")


class Diagram:
    """A drawing that a notebook shows; `str` of it is the graph as text."""

    def __init__(
        self,
        full: Picture,
        fold: bool | None = None,
        opened: Collection[str] = (),
        tensors: bool = False,
        title: str | None = None,
        *,
        note: Pair | None = None,
        values: Mapping[TapeNode, Any] = NOTHING_KNOWN,
    ) -> None:
        layers = frozenset(path for path in full.groups if path not in full.owners)
        plain = full.fold(layers)  # what there is without the insides of nodes
        folded = len(plain.nodes) > 60 if fold is None else fold
        self._shown = (full.overview() if folded else layers) | _named(full, opened)
        self.full, self.tensors, self.title, self.note = full, tensors, title, note
        self._values = values
        self.picture = self._view(self._shown)
        self._name = f"mgd{next(_numbers)}"
        self._prefix = prefixes_of(self._name, [None])[0]

    def _view(self, opened: Collection[str]) -> Picture:
        drawn = self.full.fold(opened)
        return drawn.with_tensors() if self.tensors else drawn

    @cached_property
    def film(self) -> Film:
        """The drawing as a film of one frame."""
        look = {"title": self.heading, "opened": self._shown, "tensors": self.tensors}
        return still_film(self.full, self.note or ("", ""), self._values, **look)

    @cached_property
    def player(self) -> Player:
        """The film, in which groups open and fold."""
        return Player([self.film], name=self._name)

    def __str__(self) -> str:
        return self.picture.text() or row_text("graph_empty")

    __repr__ = __str__

    @property
    def heading(self) -> Pair:
        """The title: as given, else what kind of graph it is; and its formula, if it is short."""
        kind = ROWS[f"kind_{self.full.kind}"] if self.title is None else (self.title, self.title)
        return heading(self.full, kind)

    @property
    def dot(self) -> str:
        """The drawing in the DOT language."""
        made = drawing.cards_of(self.picture, card_spaces(self.film, self.picture))
        return drawing.source(self.picture, made, title=choose(self.heading, " / "))

    @property
    def svg(self) -> str:
        """The drawing as an <svg> element. Raises LayoutError without a layout engine."""
        return still(self.film, self._prefix, self.picture)

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        still = {"text/plain": str(self), "text/html": self.html}
        if not self.picture.nodes:
            return still
        bundle = self.player._repr_mimebundle_(**kwargs)
        return {**(bundle[0] if isinstance(bundle, tuple) else bundle), **still}

    @property
    def html(self) -> str:
        """The drawing with its title, its description, and the same content as a table.

        It is what a page shows that runs no scripts, so a group cannot be opened on its own: the
        drawing with all groups open is there, too, as long as it can be surveyed.
        """
        if not self.picture.nodes:
            return f'<p class="mg-note">{html("graph_empty")}</p>'
        try:
            drawn, opened = drawing.as_image(self.svg, both(self.picture.alt())), ""
        except LayoutError as error:
            drawn, opened = f'<p class="mg-note">{bilingual(error.pair)}</p>', " open"
        style = assets.style(assets.source("diagram.css"))
        note = f'<p class="mg-note">{bilingual(self.note)}</p>' if self.note else ""
        return (
            f'{style}<figure class="mg-diagram"><figcaption>{bilingual(self.heading)}</figcaption>'
            f"{drawn}{note}{self._unfolded()}<details{opened}><summary>"
            f"{html('table')}</summary>{picture_table(self.picture)}</details></figure>"
        )

    def _unfolded(self) -> str:
        """Return the drawing with everything open, which a click shows."""
        if set(self.full.groups) <= self._shown or len(self.full.nodes) > UNFOLD_LIMIT:
            return ""
        whole = self._view(self.full.groups)
        try:
            svg = still(self.film, self._prefix, whole)
        except LayoutError:
            return ""
        summary = html("unfolded", nodes=len(whole.nodes))
        image = drawing.as_image(svg, both(whole.alt()))
        return f"<details><summary>{summary}</summary>{image}</details>"

    def save(self, path: str | Path) -> Path:
        """Write the drawing; the ending chooses: .svg, .pdf, .png, .dot or .html."""
        target = Path(path)
        suffix = ending(target, FORMATS)
        if suffix == ".html":
            return self.player.save(target)
        if suffix == ".dot":
            write(target, self.dot)
            return target
        svg = still(self.film, self._prefix, self.picture, title=choose(self.heading, " / "))
        spoken = one_language(svg, get_language())
        write(target, drawing.alone(svg) if suffix == ".svg" else paint(spoken, suffix[1:]))
        return target


def _named(full: Picture, names: Collection[str]) -> frozenset[str]:
    """Return the groups of these names: all calls of a layer, all that is inside a node."""
    labels = {n.id: n.label for n in full.nodes}
    owned = [(path, labels[owner]) for path, owner in full.owners.items()]
    found = set()
    for name in names:
        last = {path: path.rpartition("/")[2] for path in full.groups}
        meant = {path for path in last if name in (path, last[path], layer_name(last[path]))}
        meant |= {path for path, label in owned if label == name}
        if not meant:
            known = ", ".join(dict.fromkeys([*full.groups, *(label for _, label in owned)]))
            raise ValueError(row_text("open_unknown", name=repr(name), known=known or "-"))
        found |= {around for path in meant for around in paths(path)}
    return frozenset(found)


@overload
def draw(
    obj: Any,
    *,
    fold: bool | None = None,
    opened: Collection[str] = (),
    tensors: bool = False,
    title: str | None = None,
) -> Diagram: ...


@overload
def draw(obj: Any, *inputs: Any, **view: Any) -> Still: ...


def draw(
    obj: Any,
    *inputs: Any,
    fold: bool | None = None,
    opened: Collection[str] = (),
    tensors: bool = False,
    title: str | None = None,
    **view: Any,
) -> Diagram | Still:
    """Draw the diagram of a tensor, a node, a graph, a program, or a traced function.

    Lists of tensors or of nodes are drawn together. Of a tensor its tape is drawn, of a function
    its newest graph. Leaves without a name are called by the variable that holds them where `draw`
    is called. `fold` draws each layer as one box; by default only large graphs are folded.
    `opened` names groups to draw open, and branches, loops, functions and fused nodes whose insides
    to draw. With `tensors` the results of operators are boxes, too. `title` replaces the kind of
    graph. Of a model with its inputs, or of a graph with its feed, it is the still of what
    `step` shows with whole=True; `view` is what else that takes: depth, open, focus, loss, and the
    model's keyword arguments. TypeError for other things, ValueError for a name that is not there.

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
    if inputs or view:
        return still_of(obj, *inputs, **view)
    return diagram_of(obj, names_in(sys._getframe(1)), fold, opened, tensors, title)


def diagram_of(obj: Any, names: Mapping[int, str], *options: Any) -> Diagram:
    """Return the diagram of what `draw` takes, with variables' names as from `names_of`."""
    drawn = picture(obj, names, bodies=True)
    items = obj if isinstance(obj, (list, tuple)) else [obj]
    few = drawn.kind == "dynamic" and len(drawn.nodes) <= VALUES_LIMIT
    tensors = [t for t in items if isinstance(t, Tensor)]
    held: Mapping[Any, Any] = values(tensors) if few else NOTHING_KNOWN
    if any(map(is_foreign, items)):
        held = {x: x.value for x in drawn.ids if getattr(x, "value", None) is not None}
    return Diagram(drawn, *options, note=_note(drawn), values=held)


def _note(drawn: Picture) -> Pair | None:
    """Return a note on the state of a graph, or None."""
    if drawn.kind == "static":
        return ROWS["draw_unrun"] if drawn.nodes else None
    freed = any(isinstance(n, TapeNode) and n.saved is None for n in drawn.ids)
    return ROWS["draw_freed"] if freed else None


def names_in(frame: FrameType) -> Mapping[int, str]:
    """Return the names of variables in a frame, as `names_of` does."""
    return names_of(frame.f_globals, frame.f_locals)


def names_of(*scopes: Mapping[str, Any]) -> Mapping[int, str]:
    """Return the names of variables by `id` of the tensor, its tape node, or the node."""
    found: dict[int, str] = {}
    for scope in scopes:
        for name, value in list(scope.items()):
            known = isinstance(value, Value) or is_foreign(value)
            if known and name.isidentifier() and name[0] != "_":
                found[id(value)] = name
                if isinstance(value, Tensor) and value.creator is not None:
                    found[id(value.creator)] = name
    return found

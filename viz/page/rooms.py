"""What each card of a film keeps room for, so that nothing moves while it plays."""

from __future__ import annotations

from minigrad.diagnostics.messages import get_language
from viz.film.film import Film, Track
from viz.picture.boxes import NUMERIC, Picture, PictureNode
from viz.picture.cards import CardSpace, lines_on

FEW = 10  # cards that each say that they have no value yet; of more, the outlines say it
WIDTH = 5  # characters of a value in a box, at least


def card_spaces(film: Film, drawn: Picture, *languages: str) -> dict[str, CardSpace]:
    """Return the room each card keeps: for all it will ever show in one of these languages.

    If there is none, that is what a page can show; both at once, if that is chosen now.
    """
    few = len(drawn.nodes) <= FEW
    shown = languages or tuple(dict.fromkeys(("en", "zh", get_language())))
    return {n.id: _room(film, n, few, shown) for n in drawn.nodes}


def _room(film: Film, node: PictureNode, few: bool, languages: tuple[str, ...]) -> CardSpace:
    inside = _inside(film, node)
    several = node.given and node.kind == "group"  # of which none speaks for all
    value = not several and not (node.kind == "constant" and NUMERIC.match(node.name))
    values = [s for t in inside[-1:] for _, s in t.values]
    gradients = [s for t in inside[-1:] for _, s in t.gradients if not several]
    swatch = value and any(s.raster for s in values)
    longest = max((len(s.beside) for s in values), default=0)
    reached = [f"{len(inside)}/{len(inside)}"] * any(several and t.gradients for t in inside)
    gradient = max((len(text) for text in (reached or [s.beside for s in gradients])), default=0)
    value = value and bool(longest or few or not film.still)
    width = longest if swatch else max(WIDTH, longest + 1) if value else 0
    steps = {i for t in inside for i in (t.born, *(first for first, _ in t.values[:1]))}
    clock = 0 if film.still or node.kind == "constant" else min(len(steps), 2)
    # Where it plays, cards of both modes are of one size: the same node, the same place.
    plan = few and value and (film.picture.kind == "static" or not film.still)
    back = any(s.raster for s in gradients)
    origin = any(s.origin for s in (*values, *gradients))
    fits = (lines_on(s.raster) * (not s.bad) for s in (*values, *gradients))
    cells = min(fits) if swatch else 0
    return CardSpace(width, gradient, clock, plan, languages, 0, swatch, back, origin, 0, cells)


def _inside(film: Film, node: PictureNode) -> list[Track]:
    """Return the tracks of the nodes in a box; for an operator's result, that operator's."""
    ids = {"group": node.members, "tensor": node.inputs}.get(node.kind, (node.id,))
    return [film.tracks[i] for i in ids if i in film.tracks]

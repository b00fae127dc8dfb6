"""Films as plain JSON: all that the browser needs to play them. Texts are pairs of languages."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from html import escape
from typing import Any

from viz import assets
from viz.film.film import Film
from viz.film.listing import listing
from viz.film.node_details import fact_texts as about_node
from viz.film.node_details import node_details
from viz.film.states import calls, on_cards
from viz.page.rooms import card_spaces
from viz.page.steps import Swatches, Texts, file, frame, node, result, score_lanes
from viz.page.together import Rooms, SideBySide
from viz.picture.boxes import Picture, repeated
from viz.picture.drawing import render
from viz.picture.layout import LayoutError
from viz.picture.references import joined, references
from viz.words.progress import with_progress
from viz.words.text import ROWS, Pair, Right, bilingual, both, html

TABLE_LIMIT = 500  # rows; more cannot be surveyed and make a page slow
VIEWS_LIMIT = 60  # nodes; up to here each group can be opened without a kernel
EACH_LIMIT = 100  # boxes in all drawings with one group open, which need no kernel to open
UNFOLD_LIMIT = 400  # nodes; up to here all groups can be opened at once without a kernel
# Pixels of a drawing in a player, by how many there are: on a page, on a phone, in a notebook.
LAYOUTS = "svg", "narrow", "middle"
SIZES = {1: ((800, 350), (350, 400), (700, 270)), 2: ((560, 170), (165, 220), (345, 190))}
COMPACT = 0.92  # scale below which cards are no larger than their words
NARROW_LIMIT = 40  # boxes; more of them are too small on a phone, however they are laid out
# The browser's half, in the order in which they need each other.
MODULES = (
    *("widget", "places", "swatch", "brief", "camera", "zoom", "cards", "travel", "morph"),
    *("canvas", "scene", "score", "inspector", "keys", "screen", "player"),
)
WORDS = assets.words(*MODULES)
STILL = ("player", "keys")  # said in other words where nothing moves

View = dict[str, Any]


def payload(
    films: Sequence[Film],
    verdict: Pair | None,
    name: str,
    graphs: Sequence[dict[str, Any]] | None = None,
    links: Sequence[Mapping[str, str]] = (),
    apart: bool = False,
) -> dict[str, Any]:
    """Return all that is shown. `graphs` are those of an earlier payload of the same pictures.

    links: for films but the first, each node's partner there. apart: what is alike is sent twice.
    """
    prefixes = prefixes_of(name, films)
    pairs = list(zip(films, prefixes, strict=True))
    together = SideBySide(films, links)
    blocks = listing(step.lines for film in films for step in film.frames if step.lines)
    texts: Any = Apart() if apart else {}
    swatches: Swatches | None = None if apart else {}
    still = all(film.still for film in films)
    words = {key: ROWS[f"still_{key}" if still and key in STILL else key] for key in WORDS}
    return {
        "name": name,
        "graphs": graphs or [graph(together, i, prefix) for i, prefix in enumerate(prefixes)],
        "nodes": _nodes(pairs, texts, swatches),
        "edges": _edges(pairs),
        "links": _links(links, prefixes),
        "frames": _frames(pairs, texts, swatches),
        "texts": list(texts),  # after both, which fill it
        "swatches": list(swatches or ()),  # after both
        "lanes": score_lanes(pairs),
        "listing": [[file(block, films), block.first, block.lines] for block in blocks],
        "verdict": verdict,
        "equal": isinstance(verdict, Right),
        "still": still,
        "words": words,
        "labels": {key: both(words[key]) for key in WORDS},
    }


class Apart(list[Any]):
    """A table in which nothing that is the same is found again."""

    def setdefault(self, entry: Any, number: int) -> int:
        self.append(entry)
        return number


def _nodes(
    pairs: Sequence[tuple[Film, str]], texts: Texts, swatches: Swatches | None
) -> dict[str, Any]:
    return {
        f"{prefix}-{box.id}": node(film, box, film.tracks[box.id], answers[box.id], texts, swatches)
        for film, prefix in pairs
        for answers in [node_details(film.picture, film.tracks)]
        for box in with_progress(film.picture.nodes, "progress_nodes")
    }


def _frames(pairs: Sequence[tuple[Film, str]], texts: Texts, swatches: Swatches | None) -> Any:
    steps = max((len(film.frames) for film, _ in pairs), default=0)
    return [
        frame([(*pair, i) for pair in pairs], texts, swatches)
        for i in with_progress(range(steps), "progress_steps")
    ]


def _edges(pairs: Sequence[tuple[Film, str]]) -> dict[str, list[str]]:
    return {
        f"{p}-{e.id}": [f"{p}-{e.source}", f"{p}-{e.target}", f"{e.shape} {e.dtype}".strip()]
        for film, p in pairs
        for e in film.picture.edges
    }


def prefixes_of(name: str, films: Sequence[object]) -> list[str]:
    """Return the prefix of the ids in each drawing."""
    return [f"{name}{'abcdef'[i]}" for i in range(len(films))]


def _links(links: Sequence[Mapping[str, str]], prefixes: Sequence[str]) -> dict[str, str]:
    """Map each node to its counterpart in the first drawing."""
    each = [(p, *pair) for p, m in zip(prefixes[1:], links, strict=False) for pair in m.items()]
    return {f"{p}-{here}": f"{prefixes[0]}-{there}" for p, here, there in each}


# ---- Drawings --------------------------------------------------------------------------------


def graph(together: SideBySide, number: int, prefix: str) -> dict[str, Any]:
    """Return a graph with the drawings available without a kernel, by their open groups."""
    film = together.films[number]
    picture = film.picture
    layers = frozenset(path for path in picture.groups if path not in picture.owners)
    first = film.first
    requested = [first]
    strips = any(map(repeated, picture.groups))  # of which each opens by itself
    if len(picture.nodes) <= (VIEWS_LIMIT if strips else UNFOLD_LIMIT):
        requested.append(layers)
    room = EACH_LIMIT
    for group in _closed(picture.fold(first), picture, first).values():
        room -= len(picture.fold(first | group).nodes)
        if room >= 0 or len(picture.nodes) <= VIEWS_LIMIT:
            requested.append(first | group)
    if len(picture.nodes) <= VIEWS_LIMIT:
        requested.append(frozenset(picture.groups))
    return {
        "title": ROWS[f"kind_{picture.kind}"] if len(together.films) > 1 else film.title,
        "alt": both(picture.alt()),
        "plan": picture.kind == "static",
        "views": {key(opened): view(together, number, prefix, opened) for opened in requested},
        "shown": key(first),
        "layers": key(layers),
        "groups": picture.groups,
        "table": picture_table(picture.fold(layers)),
    }


def key(opened: Collection[str]) -> str:
    """Return the name of the drawing in which these groups are open."""
    return "\n".join(sorted(opened))


def _closed(drawn: Picture, whole: Picture, opened: Collection[str]) -> dict[str, frozenset[str]]:
    """Map each box that can be opened to the groups that this opens."""
    found = {}
    bodies: dict[str, set[str]] = {}
    for path, owner in whole.owners.items():
        bodies.setdefault(owner, set()).add(path)
    for n in drawn.nodes:
        if n.kind == "group":
            found[n.id] = frozenset({"/".join(filter(None, (n.group, n.name)))})
        elif n.id in bodies and not bodies[n.id] <= set(opened):
            found[n.id] = frozenset(bodies[n.id])
    return found


def view(together: SideBySide, number: int, prefix: str, opened: Collection[str]) -> View:
    """Return one drawing, and what is in its boxes."""
    film = together.films[number]
    whole, drawn = film.picture, together.drawn(number, opened)
    among, rooms = together.among(number, opened)
    closed = _closed(drawn, whole, opened)
    known = {e.id for e in whole.edges}  # of which the ends are sent once
    new = [e for e in drawn.edges if e.id not in known]
    made_by = {n.id: n.op for n in drawn.nodes}
    results = {
        n: result(film.tracks[n.inputs[0]], made_by[n.inputs[0]])
        for n in drawn.nodes
        if n.id not in film.tracks and n.kind == "tensor"
    }
    about: View = {
        "home": home(whole, drawn, prefix, among),
        "arrows": {
            f"{prefix}-{e.id}": [f"{prefix}-{i}" for i in (e.source, e.target)] for e in new
        },
        "counts": {
            f"{prefix}-{n.id}": [[f"{prefix}-{i}" for i in ids] for ids in calls(whole, n)]
            for n in drawn.nodes
            if n.kind == "group"
        },
        "closed": {f"{prefix}-{i}": sorted(groups) for i, groups in closed.items()},
        "open": {f"{prefix}-c{i}": path for i, path in enumerate(drawn.groups)},
        "nodes": {f"{prefix}-{n.id}": node(film, n, t, about_node(t)) for n, t in results.items()},
    }
    if not drawn.nodes:
        return {"svg": "", **about}
    try:
        smaller = 1 + (not film.still and any(room.swatch for room in rooms.values()))
        asked = 1 + (smaller if len(drawn.nodes) <= NARROW_LIMIT else 0)
        sizes = SIZES[1 if film.still else min(len(together.films), 2)]
        for name, size in zip(LAYOUTS[:asked], sizes, strict=False):
            svg = played(film, prefix, drawn, among, rooms, size)
            about |= {name: svg} if svg != about.get("svg") else {}
    except LayoutError as error:
        about["svg"] = f"<p>{bilingual(error.pair)}</p>{picture_table(drawn)}"
    return about


def played(
    film: Film, prefix: str, drawn: Picture, among: Picture, rooms: Rooms, size: tuple[int, int]
) -> str:
    """Draw a picture for a window size, with room for whatever its cards will show."""
    if film.still and size == SIZES[1][0]:
        return still(film, prefix, drawn)
    states = on_cards(film, len(film.frames) - 1, drawn) if film.still else {}
    bodies = 3 * bool(drawn.owners)  # of which many are in sight
    compact = {SIZES[2][1]: 1, SIZES[1][1]: 2, SIZES[1][2]: 3, SIZES[2][2]: 3}.get(size, bodies)
    low = (size != SIZES[1][0]) + (size == SIZES[2][0] and any(r.swatch for r in rooms.values()))
    rooms = {i: replace(room, low=low) for i, room in rooms.items()}
    bare = {i: replace(room, value=0, gradient=0) for i, room in rooms.items() if room.cells}
    full = rooms if compact else rooms | bare  # there its numbers are on its cells
    svg = render(drawn, prefix, full, states, "", size[0], among, size[1])
    wide, high = map(float, re.findall(r'(?:width|height)="(\d+)"', svg[:200]))
    many = any([drawn.owners, *(n.cells for n in drawn.nodes), *(r.swatch for r in rooms.values())])
    if not compact or not many or min(size[0] / wide, size[1] / high) > COMPACT:
        return svg
    rooms = {i: replace(room, compact=compact) for i, room in rooms.items()}
    return render(drawn, prefix, rooms, states, "", size[0], among, size[1])


def still(film: Film, prefix: str, drawn: Picture, title: str = "") -> str:
    """Draw the picture as at the end of the film. Raises LayoutError as `render` does."""
    room, states = card_spaces(film, drawn), on_cards(film, len(film.frames) - 1, drawn)
    return render(drawn, prefix, room, states, title)


def home(
    whole: Picture, drawn: Picture, prefix: str, among: Picture | None = None
) -> dict[str, str]:
    """Map each node or arrow that is not drawn to what is drawn in its place.

    among: what the drawing is laid out as.
    """
    home = {f"{prefix}-{i}": f"{prefix}-{box.id}" for box in drawn.nodes for i in box.members}
    between = {(e.source, e.target): f"{prefix}-{e.id}" for e in drawn.edges}
    there = {e.id for e in drawn.edges}
    refs = references(among or drawn)
    stands = {f"{prefix}-{i}": f"{prefix}-{j}" for i, j in joined(refs, there).items()}
    home |= stands
    for e in whole.edges:  # an arrow between two groups stands for all that join them
        ends = [home.get(f"{prefix}-{i}", f"{prefix}-{i}") for i in (e.source, e.target)]
        arrow = between.get((ends[0].rpartition("-")[2], ends[1].rpartition("-")[2]))
        if e.id not in there and arrow:
            home[f"{prefix}-{e.id}"] = stands.get(arrow, arrow)
    return home


def picture_table(picture: Picture) -> str:
    """Return the picture as an HTML table in both languages: the same data without a drawing."""
    names = {n.id: n.label for n in picture.nodes}
    keys = ("column_node", "column_operator", "column_inputs", "column_shape", "column_group")
    head = "".join(f'<th scope="col">{html(key)}</th>' for key in keys)
    lines = []
    for n in picture.nodes[:TABLE_LIMIT]:
        cells = (n.label, n.op, ", ".join(names[i] for i in n.inputs), n.shape, n.group)
        lines.append("".join(f"<td>{escape(c)}</td>" for c in cells))
    if len(picture.nodes) > TABLE_LIMIT:
        more = html("table_more", count=len(picture.nodes) - TABLE_LIMIT)
        lines.append(f'<td colspan="{len(keys)}">{more}</td>')
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    return (
        f'<table class="mg-table"><caption>{bilingual(picture.alt())}</caption>'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    )

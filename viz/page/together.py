"""Films side by side, laid out so that the same node is in the same place."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from viz.film.film import Film
from viz.page.rooms import card_spaces
from viz.picture.boxes import Picture
from viz.picture.cards import Card, CardSpace
from viz.picture.matching import aligned
from viz.picture.union import renamed, union

ALIKE = 1.3  # times the larger drawing, up to which a layout of both is worth its room
GROWS = ("value", "gradient", "clock", "plan", "swatch", "back")  # what a room may need
Rooms = dict[str, CardSpace]


class SideBySide:
    """Films that are shown beside each other.

    links: for each film but the first, which node of the first each of its nodes is.
    """

    def __init__(self, films: Sequence[Film], links: Sequence[Mapping[str, str]] = ()) -> None:
        self.films, self.links = films, links
        self._orders = orders(films, links)

    def drawn(self, number: int, opened: Collection[str]) -> Picture:
        """Return the picture of a film with these groups open, in the order of the first film."""
        film = self.films[number]
        opened_groups = frozenset(opened) & frozenset(film.picture.groups)
        return aligned(film.view(opened_groups), self._orders[number])

    def among(self, number: int, opened: Collection[str], *languages: str) -> tuple[Picture, Rooms]:
        """Return the picture by which a drawing is laid out, and the room that its cards keep.

        That is the union of the drawings of all films, in the ids of this one; where they are too
        different, it is the drawing itself.
        """
        each = [self.drawn(i, opened) for i in range(len(self.films))]
        both = zip(self.films, each, strict=True)
        rooms = [card_spaces(film, one, *languages) for film, one in both]
        if not self.links or any(film.still for film in self.films):
            return each[number], rooms[number]
        names = self._names(each)
        if len(set().union(*(n.values() for n in names))) > ALIKE * max(len(p.nodes) for p in each):
            return each[number], rooms[number]
        shared: Rooms = {}
        for new, own in zip(names, rooms, strict=True):
            for i, room in own.items():
                shared[new[i]] = _larger(room, shared.get(new[i], room))
        alike = [renamed(one, new) for one, new in zip(each, names, strict=True)]
        whole = union(*alike, key=lambda node: Card(node, shared[node.id]).size[0])
        back = {new: old for old, new in names[number].items()}
        arrows = {e.id: i.id for e, i in zip(alike[number].edges, each[number].edges, strict=True)}
        return _renamed(whole, back, arrows), {back.get(i, i): room for i, room in shared.items()}

    def _names(self, each: Sequence[Picture]) -> list[dict[str, str]]:
        """Map the ids of each drawing to shared ids for nodes that several drawings have."""
        first = each[0]
        homes = {i: n.id for n in first.nodes for i in (n.id, *n.members)}
        group = {n.id: n.kind == "group" for n in first.nodes}
        names = [{n.id: f"u{i}" for i, n in enumerate(first.nodes)}]
        for k, (drawn, link) in enumerate(zip(each[1:], self.links, strict=True), start=1):
            new: dict[str, str] = {}
            for n in drawn.nodes:
                there = Counter(homes[link[i]] for i in (n.id, *n.members) if link.get(i) in homes)
                same = next((i for i, _ in there.most_common(1)), "")
                free = same and names[0][same] not in new.values()
                alike = free and group[same] == (n.kind == "group")
                new[n.id] = names[0][same] if alike else f"u{k}-{n.id}"
            names.append(new)
        return names


def _larger(one: CardSpace, other: CardSpace) -> CardSpace:
    """Return a room large enough for both."""
    grown = {x: max(getattr(one, x), getattr(other, x)) for x in GROWS}
    return replace(one, **grown, cells=min(one.cells, other.cells))


def _renamed(picture: Picture, names: Mapping[str, str], edges: Mapping[str, str]) -> Picture:
    """Rename nodes and arrows of a picture; those without a new id keep theirs."""

    def new(i: str) -> str:
        return names.get(i, i)

    return Picture(
        tuple(replace(n, id=new(n.id), inputs=tuple(map(new, n.inputs))) for n in picture.nodes),
        tuple(
            replace(e, id=edges.get(e.id, e.id), source=new(e.source), target=new(e.target))
            for e in picture.edges
        ),
        picture.kind,
        {key: new(i) for key, i in picture.ids.items()},
        {path: new(i) for path, i in picture.owners.items()},
    )


def orders(films: Sequence[Film], links: Sequence[Mapping[str, str]]) -> list[dict[str, int]]:
    """Return the order of each film's nodes: that of their counterparts in the first film."""
    places = {n.id: i for i, n in enumerate(films[0].picture.nodes)} if links else {}
    known: list[dict[str, int]] = [{i: places[j] for i, j in link.items()} for link in links]
    return ([{}, *known] + [{}] * len(films))[: len(films)]

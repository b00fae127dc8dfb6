"""Pictures on top of each other: laid out once, so that the same node has the same place."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Mapping
from dataclasses import replace

from viz.picture.boxes import Picture, PictureNode, in_order

About = Callable[[PictureNode], Hashable]


class BoxIds:
    """Ids for the boxes of several pictures: those that are about the same get the same id.

    about: what a box is about, where its inputs have their new ids already. Boxes of one picture
    that are about the same are distinguished by their order.
    """

    def __init__(self, about: About) -> None:
        self.about = about
        self.known: dict[Hashable, str] = {}

    def of(self, picture: Picture) -> dict[str, str]:
        """Return the new id of each box of a picture."""
        new: dict[str, str] = {}
        seen: Counter[Hashable] = Counter()
        for n in picture.nodes:
            inputs = tuple(new.get(i, i) for i in n.inputs)
            about = self.about(replace(n, inputs=inputs))
            seen[about] += 1
            new[n.id] = self.known.setdefault((about, seen[about]), f"n{len(self.known) + 1}")
        return new


def renamed(picture: Picture, names: Mapping[str, str]) -> Picture:
    """Rename the boxes of a picture, and its arrows by their ends."""
    nodes = tuple(
        replace(n, id=names[n.id], inputs=tuple(names[i] for i in n.inputs)) for n in picture.nodes
    )
    edges = []
    for e in picture.edges:
        source, target = names[e.source], names[e.target]
        i = f"{e.id[0]}{source}-{target}-{e.index}"
        edges.append(replace(e, id=i, source=source, target=target))
    ids = {key: names[i] for key, i in picture.ids.items()}
    owners = {path: names[i] for path, i in picture.owners.items()}
    return Picture(nodes, tuple(edges), picture.kind, ids, owners)


def union(
    *pictures: Picture, key: Callable[[PictureNode], int] = lambda box: len(box.shape)
) -> Picture:
    """Return all boxes and arrows of some pictures; of boxes with one id, the widest."""
    nodes: dict[str, PictureNode] = {}
    for n in (n for picture in pictures for n in picture.nodes):
        old = nodes.get(n.id, n)
        wide = max(old, n, key=key)
        both = (*n.inputs, *(i for i in old.inputs if i not in n.inputs))
        nodes[n.id] = replace(wide, inputs=both, is_output=old.is_output or n.is_output)
    edges = {e.id: e for picture in pictures for e in picture.edges}
    ids = {key: i for picture in pictures for key, i in picture.ids.items()}
    owners = {path: i for picture in pictures for path, i in picture.owners.items()}
    return Picture(in_order(nodes.values()), tuple(edges.values()), pictures[0].kind, ids, owners)

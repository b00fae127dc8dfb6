"""Picture → DOT text: cards of fixed size, arrows, frames. The layout engine only places them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import graphviz

from viz.picture.boxes import Picture, PictureNode
from viz.picture.cards import Card, plain
from viz.picture.layout import FONTS
from viz.picture.references import Reference

STRAIGHT = "8"  # what is computed runs straight on; what is given joins from the side
CLOSE = {"nodesep": "0.2", "pad": "0.05"}, {"nodesep": "0.5", "pad": "0.05"}  # of compact cards
INCH = 72  # pixels; a point of Graphviz is a pixel here


def dot(
    picture: Picture,
    cards: Mapping[str, Card],
    rankdir: str = "LR",
    ranksep: float = 0.6,
    title: str = "",
    low: bool = False,
    references: Sequence[Reference] = (),
    airy: bool = False,
) -> str:
    """Return the picture in the DOT language, with each node as large as its card.

    The cards' texts are in it, too, for readers; the ids are those of the picture.
    low: it is as little high as it can be; airy: compact cards are far from each other.
    """
    small = any(card.room.compact or card.room.low > 2 for card in cards.values())
    graph = graphviz.Digraph(
        graph_attr={
            "rankdir": rankdir,
            "nodesep": "0.2" if low else "0.3",
            "ranksep": str(ranksep),
            **(CLOSE[airy] if small else {"pad": "0.17"}),
            **({"label": _escaped(title), "labelloc": "t"} if title else {}),
            "fontname": FONTS,
        },
        node_attr={"shape": "box", "style": "rounded", "fixedsize": "true", "fontsize": "10"},
        edge_attr={"fontname": FONTS, "fontsize": "12", "arrowsize": "0.7"},
    )
    down = rankdir == "TB"
    bodies = () if down else picture.owners  # downwards they would be too wide
    clusters = {p: _cluster(i, p, p in bodies) for i, p in enumerate(picture.groups)}
    # From left to right references are first: next to what is straight on, with inputs around them.
    boxes: list[PictureNode | Reference] = [*picture.nodes, *references]
    for box in sorted(boxes, key=lambda x: isinstance(x, Reference) is down):
        if isinstance(box, Reference):
            group, name, size = box.target.group, box.label, box.size
        else:
            group, size = box.group, cards[box.id].size
            name = f"{box.name} = {box.op}" if box.name and box.kind == "operator" else box.label
        clusters.get(group, graph).node(box.id, **_box(box.id, name, *size))
    for path in sorted(clusters, key=lambda path: -path.count("/")):  # inner first: they are copied
        clusters.get(path.rpartition("/")[0], graph).subgraph(clusters[path])
    hints = _hints(picture, low, down)
    begins = {e.id: ref for ref in references for e in ref.edges}
    for edge in picture.edges:
        label = _escaped(picture.edge_label(edge))
        if edge.id in begins:
            ref = begins[edge.id]
            if edge in ref.drawn:
                graph.edge(ref.id, edge.target, id=edge.id, label=label)
            continue
        back = edge.kind == "loop"  # laid out along the others, with its head at the other end
        graph.edge(
            edge.target if back else edge.source,
            edge.source if back else edge.target,
            id=edge.id,
            label=label,
            **hints[edge.id],
        )
    return str(graph.source)


def _box(i: str, label: str, width: float, height: float) -> dict[str, str]:
    """Return the attributes of a box of this size in pixels."""
    size = {"width": f"{width / INCH:.4f}", "height": f"{height / INCH:.4f}"}
    return {"label": _escaped(label), "id": i, **size}


def _hints(picture: Picture, low: bool, down: bool) -> dict[str, dict[str, str]]:
    """Return how each arrow is laid out: straight on, backwards, through a body's side.

    There it is in the middle of the side, and does not pass a corner.
    """
    straight = _aligned_nodes(picture, low)
    home = {n.id: n.group if n.group in picture.owners else "" for n in picture.nodes}
    found = {}
    for e in picture.edges:
        ends = ("headport", e.target, "wn"[down]), ("tailport", e.source, "es"[down])
        across = {k: p for k, i, p in ends if home[i] and home[e.source] != home[e.target]}
        found[e.id] = {"dir": "back"} if e.kind == "loop" else across
        found[e.id] |= {"weight": STRAIGHT} if e.source in straight else {}
    return found


def _aligned_nodes(picture: Picture, low: bool) -> set[str]:
    """Return the nodes aligned with their readers; low: including the first inputs."""
    reads = {n.id for n in picture.nodes if n.inputs}
    begins = {n.inputs[0] for n in picture.nodes if n.inputs and not reads & {*n.inputs}}
    return reads | begins if low else reads


def _cluster(index: int, path: str, body: bool) -> graphviz.Digraph:
    """Return a frame around the nodes of one group, as far from them as from those outside."""
    attributes = {
        "id": f"c{index}",
        "label": _escaped(path.rpartition("/")[2]),
        "fontname": FONTS,
        "fontsize": "16",  # with room for letters that stay readable where all of it is smaller
        "margin": "16" if body else "10",
        "labeljust": "l",
    }
    return graphviz.Digraph(name=f"cluster_{index}", graph_attr=attributes)


def _escaped(text: str) -> str:
    """Escape a text so that a label shows it as it is; otherwise <a> would be markup."""
    escaped: str = graphviz.nohtml(graphviz.escape(plain(text).replace("&", "&amp;")))
    return escaped

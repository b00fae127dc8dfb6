"""Small references beside the readers of a value, in place of arrows that would cross the drawing.

A value with many readers keeps its arrow to the first of them; each other reader has a reference
beside it, like the connectors between the pages of a flow chart. So has a reader that is far away,
and each call of a layer that shares its parameters with a strip of calls.
Only the drawing has references: text, tables and films use the arrows that they represent.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from html import escape

from viz.picture.boxes import PARAMETERS, Picture, PictureEdge, PictureNode, in_order
from viz.picture.cards import plain, text, wide
from viz.picture.theme import KINDS, SMALL
from viz.words.text import both, row

MANY = 6  # readers; a value with more has references
FAR = 12  # ranks; an arrow that crosses more is a reference
JOINED = 4  # references beside one reader; in place of more, there is one that names them all
PAD, HIGH = 9, 22  # beside the name, and the height of a reference, px


@dataclass(frozen=True, slots=True)
class Reference:
    """One reference: the values that it names, what reads them, and the arrows it represents.

    If it names one value, each of the arrows begins at it; else the first represents all.
    """

    id: str
    sources: tuple[PictureNode, ...]
    target: PictureNode
    edges: tuple[PictureEdge, ...]

    @property
    def drawn(self) -> tuple[PictureEdge, ...]:
        """The arrows that lead from it to the reader."""
        return self.edges if len(self.sources) == 1 else self.edges[:1]

    @property
    def label(self) -> str:
        """What is written in it: the mark and the name, or the first names and how many follow."""
        n = self.sources[0]  # the parameters of a layer are those of what it is beside
        kind, name = ("parameter", PARAMETERS) if n.op == PARAMETERS else (n.kind, n.label)
        named = f"{KINDS[kind].mark} {plain(name, 24)}"
        return named if len(self.sources) == 1 else f"{named} … +{len(self.sources) - 1}"

    @property
    def size(self) -> tuple[int, int]:
        """Width and height in pixels."""
        return 2 * round((wide(self.label, SMALL) + 2 * PAD) / 2), HIGH

    def svg(self, prefix: str, x: float, y: float) -> str:
        """Return the reference as SVG; `data-of` has the ids of the cards of its values."""
        width, height = self.size
        names = plain(", ".join(n.label for n in self.sources), 80)
        title = escape(both(row("reference", names=names)))
        named = " ".join(f"{prefix}-{n.id}" for n in self.sources)
        return (
            f'<g class="mg-ref" data-of="{escape(named)}" transform="translate({x:g},{y:g})">'
            f"<title>{title}</title>"
            f'<rect class="mg-ref-card" width="{width}" height="{height}" rx="{height // 2}"/>'
            f"{text('mg-ref-name', PAD, 15, escape(self.label))}</g>"
        )


def references(picture: Picture) -> tuple[Reference, ...]:
    """Return the references in a drawing of this picture, in the order of their readers."""
    nodes = {n.id: n for n in picture.nodes}
    rank = ranks(picture)
    arrows: dict[str, list[PictureEdge]] = {}
    for e in picture.edges:
        if e.kind != "loop":
            arrows.setdefault(e.source, []).append(e)
    referred: dict[str, dict[str, list[PictureEdge]]] = {}  # reader -> value -> arrows
    for source, leaving in arrows.items():
        readers = dict.fromkeys(e.target for e in leaving)
        first = min(readers, key=rank.__getitem__)
        many = len(readers) > MANY or (nodes[source].given and any(nodes[i].cells for i in readers))
        for e in leaving:
            if (many and e.target != first) or rank[e.target] - rank[source] > FAR:
                referred.setdefault(e.target, {}).setdefault(source, []).append(e)
    found: list[Reference] = []
    for n in picture.nodes:
        of = referred.get(n.id, {})
        each = [of] if len(of) > JOINED else [{source: edges} for source, edges in of.items()]
        for named in filter(None, each):
            edges = tuple(e for edges in named.values() for e in edges)
            sources = tuple(nodes[i] for i in named)
            found.append(Reference(f"ref{len(found) + 1}", sources, n, edges))
    return tuple(found)


def ranks(picture: Picture) -> dict[str, int]:
    """Return each node's distance from the start; inputs are just before their first reader."""
    reads: dict[str, list[str]] = {n.id: [] for n in picture.nodes}
    for e in picture.edges:
        if e.kind != "loop" and e.source != e.target:
            reads[e.target].append(e.source)
    return depths(reads)


def depths(reads: Mapping[str, Sequence[str]]) -> dict[str, int]:
    """Return each box's distance from the start, by the boxes that each one reads; as `ranks`.

    Where boxes read each other in a circle, one of them begins it.
    """
    boxes = [PictureNode(i, "", "", "", "", inputs=tuple(read)) for i, read in reads.items()]
    depth: dict[str, int] = {}
    nearest: dict[str, int] = {}
    for n in in_order(boxes):
        depth[n.id] = 1 + max((depth.get(i, 0) for i in n.inputs), default=0)
        for i in n.inputs:
            nearest[i] = min(nearest.get(i, depth[n.id]), depth[n.id])
    return {i: rank if reads[i] else nearest.get(i, 2) - 1 for i, rank in depth.items()}


def joined(references: Sequence[Reference], there: Collection[str]) -> dict[str, str]:
    """Map the arrows without a line of their own to the drawn arrow of the same reference.

    there: the arrows of a drawing, which may be a part of what the references are of.
    """
    of = [[e.id for e in r.edges if e.id in there] for r in references if len(r.sources) > 1]
    return {i: ids[0] for ids in of for i in ids[1:]}

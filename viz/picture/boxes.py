"""A drawing as plain data: boxes, arrows, groups that fold. No layout, no colours, no HTML."""

from __future__ import annotations

import heapq
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from minigrad.diagnostics.messages import one_line, well_formed
from viz.words.text import Pair, row

GIVEN = ("input", "parameter", "variable", "constant")  # kinds that compute nothing
PARAMETERS = "parameters"  # the operator of a folded group that holds nothing else
REPEATED = re.compile(r" × \d+(?: \(\d+\))?$")
NUMERIC = re.compile(r"-?(\d|(inf|nan|True|False)$)")  # names that are their values
CELLS = 24  # drawn in the card of a strip, at most
EASY = 20  # boxes that are surveyed at a glance; the first drawing opens groups up to here


@dataclass(frozen=True, slots=True)
class PictureNode:
    """One box of a drawing.

    `id` is stable: n1, n2, … in the order built, b1, b2, … inside of bodies, g1, g2, … for groups,
    t1, t2, … for tensors that are drawn.
    """

    id: str
    kind: str
    op: str
    name: str
    shape: str
    group: str = ""  # the path of the group it is in: "encoder/linear1"
    inputs: tuple[str, ...] = ()
    is_output: bool = False
    line: str = ""
    title: Pair = ("", "")
    members: tuple[str, ...] = ()  # of a folded group, or of folded bodies
    dtype: str = ""
    sign: str = ""  # what an operator is written with in a formula, ×, +, σ; what a strip is given
    cells: tuple[tuple[str, ...], ...] = ()  # of a folded strip: the members of each call
    built: str | None = None  # of what is in a strip: the group it was built in

    def __post_init__(self) -> None:
        for part in ("name", "group"):
            object.__setattr__(self, part, well_formed(getattr(self, part)))

    @property
    def given(self) -> bool:
        """Whether it computes nothing, as the parameters that the calls of a layer share."""
        return self.kind in GIVEN or self.op == PARAMETERS

    @property
    def layer(self) -> str:
        """The path of the layer that it was built in, whatever strip it is drawn in."""
        return self.group if self.built is None else self.built

    @property
    def label(self) -> str:
        """The first line in the box: what it is called."""
        return self.name or self.op


@dataclass(frozen=True, slots=True)
class PictureEdge:
    """One arrow, with the shape and the data type of what flows along it."""

    id: str
    source: str
    target: str
    index: int
    kind: str = "forward"
    shape: str = ""
    dtype: str = ""


@dataclass(frozen=True)
class Picture:
    """Nodes in the order built, and the arrows between them."""

    nodes: tuple[PictureNode, ...]
    edges: tuple[PictureEdge, ...]
    kind: str  # "dynamic" or "static"
    ids: Mapping[Any, str]  # from the engine's node (or leaf, or (node, operand)) to the id here
    owners: Mapping[str, str] = field(default_factory=dict)  # group of a body -> the node it is of

    @property
    def groups(self) -> tuple[str, ...]:
        """The paths of all groups, outer ones before those inside."""
        return tuple(dict.fromkeys(path for n in self.nodes for path in paths(n.group)))

    def text(self) -> str:
        """Return the picture as lines of text: stable, whatever engine lays it out."""
        by_id = {n.id: n for n in self.nodes}
        lines = []
        for n in self.nodes:
            inputs = ", ".join(by_id[i].label for i in n.inputs)
            call = f"{n.op}({inputs})" if n.inputs or n.kind in ("operator", "group") else n.op
            name = "" if n.label == n.op else f"{n.label} = "
            group = f"  [{n.group}]" if n.group else ""
            output = "  -> output" if n.is_output else ""
            lines.append(one_line(f"{n.id}: {name}{call} {n.shape}{group}{output}"))
        return "\n".join(lines)

    def edge_label(self, edge: PictureEdge) -> str:
        """Return the label of an arrow: the shape if it differs from the source's."""
        return edge.shape if edge.shape not in ("()", "?", self.shapes[edge.source]) else ""

    @cached_property
    def shapes(self) -> Mapping[str, str]:
        """The shape of each node's result."""
        return {n.id: n.shape for n in self.nodes}

    def alt(self) -> Pair:
        """Describe what the drawing shows, for screen readers."""
        if not self.nodes:
            return row("graph_empty")
        path = row("alt_path", start=self.nodes[0].label, end=self.nodes[-1].label)
        return row(f"alt_{self.kind}", nodes=len(self.nodes), edges=len(self.edges), path=path)

    def with_tensors(self) -> Picture:
        """Return the picture with the result of each operator in its own box."""
        nodes, edges = [], []
        made: dict[str, str] = {}  # operator -> the tensor it makes
        for n in self.nodes:
            inputs = tuple(made.get(i, i) for i in n.inputs)
            if n.kind != "operator":
                nodes.append(replace(n, inputs=inputs))
                continue
            made[n.id] = t = f"t{len(made) + 1}"
            nodes.append(replace(n, name="", shape="", inputs=inputs, is_output=False))
            result = PictureNode(t, "tensor", "tensor", n.name, n.shape, n.group, (n.id,))
            nodes.append(replace(result, is_output=n.is_output, line=n.line, dtype=n.dtype))
            edges.append(PictureEdge(f"r{len(made)}", n.id, t, 0, "forward", "", n.dtype))
        edges += [replace(e, source=made.get(e.source, e.source)) for e in self.edges]
        return replace(self, nodes=tuple(nodes), edges=tuple(edges))

    def with_inputs(self, names: Collection[str]) -> Picture:
        """Return the picture with the leaves of these names as inputs."""
        kinds = ("parameter", "variable")
        leaves = [n for n in self.nodes if n.name in names and n.kind in kinds]
        given = {n.id: replace(n, kind="input") for n in leaves}
        return replace(self, nodes=tuple(given.get(n.id, n) for n in self.nodes))

    def part(self, kept: Collection[str]) -> Picture:
        """Return the part of the picture with only these nodes and the arrows between them."""
        own = [n for n in self.nodes if n.id in kept]
        nodes = tuple(replace(n, inputs=tuple(i for i in n.inputs if i in kept)) for n in own)
        edges = tuple(e for e in self.edges if e.source in kept and e.target in kept)
        ids = {key: i for key, i in self.ids.items() if i in kept}
        owners = {path: i for path, i in self.owners.items() if i in kept}
        return Picture(nodes, edges, self.kind, ids, owners)

    def overview(self) -> frozenset[str]:
        """Return the groups to open at first: whole levels, as long as it all stays readable.

        A strip stays closed: its card shows the calls in it.
        """
        known = (path for path in self.groups if path not in self.owners)
        depths = {path: path.count("/") for path in known if not any(map(repeated, paths(path)))}
        chosen: frozenset[str] = frozenset()
        for depth in range(max(depths.values(), default=0)):  # the innermost level stays closed
            wider = chosen | {path for path, d in depths.items() if d == depth}
            if len(self.fold(wider).nodes) > EASY:
                break
            chosen = wider
        return chosen

    def fold(self, opened: Collection[str] = ()) -> Picture:
        """Return the picture with each group as one box, except the `opened` ones.

        A folded body becomes part of the node that it belongs to.
        """
        if all(path in opened for path in self.groups):
            return self
        return _Folding(self, opened).picture()


def repeated(group: str) -> bool:
    """Return whether a group is a strip of calls or rounds: its name says how many."""
    return bool(REPEATED.search(group))


def paths(group: str) -> list[str]:
    """Return a path and its parents, outermost first: "a/b" gives "a" and "a/b"."""
    parts = group.split("/") if group else []
    return ["/".join(parts[: i + 1]) for i in range(len(parts))]


class _Folding:
    """One folding of a picture: which box each node is in, and the boxes."""

    def __init__(self, whole: Picture, opened: Collection[str]) -> None:
        self.whole, self.opened = whole, frozenset(opened)
        self.nodes = {n.id: n for n in whole.nodes}
        self.numbers = {path: f"g{i}" for i, path in enumerate(whole.groups, 1)}
        self.home = {n.id: self._box(n.id) for n in whole.nodes}

    def _closed(self, group: str) -> str:
        """Return the outermost enclosing group that is not open; "" if all are open."""
        return next((path for path in paths(group) if path not in self.opened), "")

    def _box(self, node: str) -> str:
        """Return the id of the box in which a node is drawn."""
        closed = self._closed(self.nodes[node].group)
        while closed in self.whole.owners:  # a body in a body: its owner may be folded, too
            node = self.whole.owners[closed]
            closed = self._closed(self.nodes[node].group)
        return self.numbers[closed] if closed else node

    def picture(self) -> Picture:
        boxes: dict[str, PictureNode] = {}
        for n in self.whole.nodes:
            i = self.home[n.id]
            old = boxes.get(i)
            if i in self.nodes:  # drawn as it is, perhaps with a folded body inside
                own = old or self.nodes[i]
                boxes[i] = own if i == n.id else replace(own, members=(*own.members, n.id))
                continue
            path = self._closed(n.group)
            boxes[i] = PictureNode(
                id=i,
                kind="group",
                op="group",
                name=path.rpartition("/")[2],
                shape=n.shape if n.kind == "operator" or old is None else old.shape,
                group=path.rpartition("/")[0],
                is_output=n.is_output or (old is not None and old.is_output),
                members=(*(old.members if old else ()), n.id),
            )
        groups = {i: self._group(b) for i, b in boxes.items() if b.kind == "group"}
        bodies = {i: replace(b, members=(i, *b.members)) for i, b in boxes.items() if b.members}
        boxes |= bodies | groups
        edges = tuple(
            replace(e, shape="") if boxes[e.source].op == PARAMETERS else e for e in self._edges()
        )
        inputs: dict[str, list[str]] = {}
        for e in edges:
            if e.kind == "loop":  # what comes from the step before is no operand
                continue
            inputs.setdefault(e.target, []).append(e.source)
        nodes = [replace(b, inputs=tuple(inputs.get(i, ()))) for i, b in boxes.items()]
        ids = {key: self.home[i] for key, i in self.whole.ids.items()}
        left = {path: i for path, i in self.whole.owners.items() if path in self.opened}
        return Picture(in_order(nodes), edges, self.whole.kind, ids, left)

    def _group(self, box: PictureNode) -> PictureNode:
        """Return the box of a folded group: a strip has its calls, parameters have no shape."""
        inside = [self.nodes[i] for i in box.members]
        if all(n.kind == "parameter" for n in inside):
            return replace(box, op=PARAMETERS, shape="")
        path = "/".join(filter(None, (box.group, box.name)))
        calls: dict[str, tuple[str, ...]] = {}
        alone = all(n.group == path for n in inside)  # each round is an operator
        for n in inside if repeated(path) else ():
            inner, *_ = n.group[len(path) + 1 :].split("/")
            if n.kind not in GIVEN and (inner or alone):
                calls[inner or n.id] = (*calls.get(inner, ()), n.id)
        each, many = [*calls.values()], max(-(-len(calls) // CELLS), 1)
        cells = tuple(sum(each[k : k + many], ()) for k in range(0, len(each), many))
        given = [n.label for n in inside if n.kind == "input"] if cells else []
        return replace(box, cells=cells, sign=" … ".join(given[:1] + given[1:][-1:]))

    def _edges(self) -> tuple[PictureEdge, ...]:
        """Return the arrows between boxes: those of nodes as they are, one between two groups."""
        ends = {e.id: (self.home[e.source], self.home[e.target]) for e in self.whole.edges}
        as_it_is = {e.id for e in self.whole.edges if ends[e.id] == (e.source, e.target)}
        joined = {ends[i] for i in as_it_is}
        found, new = [], 0
        for e in self.whole.edges:
            source, target = ends[e.id]
            if e.id in as_it_is:
                found.append(e)
            elif e.kind != "loop" and source != target and (source, target) not in joined:
                joined.add((source, target))
                new += 1
                found.append(replace(e, id=f"f{new}", source=source, target=target, index=0))
        return tuple(found)


def in_order(nodes: Iterable[PictureNode]) -> tuple[PictureNode, ...]:
    """Sort boxes after the boxes they read, otherwise in the given order."""
    given = list(nodes)
    place = {n.id: i for i, n in enumerate(given)}
    readers: dict[str, list[str]] = {}
    missing = {n.id: len(set(n.inputs)) for n in given}
    for n in given:
        for i in set(n.inputs):
            readers.setdefault(i, []).append(n.id)
    ready = [place[i] for i, count in missing.items() if not count]
    heapq.heapify(ready)
    done: dict[str, PictureNode] = {}
    waiting = iter(range(len(given)))
    while len(done) < len(given):
        # where groups feed each other nothing is ready: then the first that is left
        n = given[heapq.heappop(ready) if ready else next(waiting)]
        if n.id in done:
            continue
        done[n.id] = n
        for reader in readers.get(n.id, ()):
            missing[reader] -= 1
            if not missing[reader]:
                heapq.heappush(ready, place[reader])
    return tuple(done.values())

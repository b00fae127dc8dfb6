"""What there is to draw, as plain data: nodes, edges, groups. No layout, no colours, no HTML.

A picture is made from tensors (the tape behind them) or from nodes of a static graph. Everything
else (DOT text, frames, tables, alternative text) is made from pictures.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from minigrad.baking import Traced
from minigrad.core import BaseNode, Spec, public_shape, show_shape
from minigrad.eager import Tensor
from minigrad.function import Function
from minigrad.graph import Graph, Node, ancestors
from minigrad.ops import state
from minigrad.tape import TapeNode
from viz.text import Pair, printed, row

KINDS = {
    state.placeholder: "input",
    state.variable: "variable",
    state.constant: "constant",
    state.assign: "assign",
    state.group: "control",
}


@dataclass(frozen=True, slots=True)
class PictureNode:
    """One box of a drawing. `id` is stable: n1, n2, … in the order built; groups are g1, g2, …"""

    id: str
    kind: str
    op: str
    name: str
    shape: str
    group: str = ""
    inputs: tuple[str, ...] = ()
    is_output: bool = False
    line: str = ""
    title: Pair = ("", "")
    members: tuple[str, ...] = ()  # of a folded group

    @property
    def label(self) -> str:
        """The first line in the box: what it is called."""
        return self.name or self.op


@dataclass(frozen=True, slots=True)
class PictureEdge:
    """One arrow, with the shape of what flows along it."""

    id: str
    source: str
    target: str
    index: int
    kind: str = "forward"
    shape: str = ""


@dataclass(frozen=True)
class Picture:
    """Nodes in the order built, and the arrows between them."""

    nodes: tuple[PictureNode, ...]
    edges: tuple[PictureEdge, ...]
    kind: str  # "dynamic" or "static"
    ids: Mapping[Any, str]  # from the engine's node (or leaf, or (node, operand)) to the id here

    @property
    def groups(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(n.group for n in self.nodes if n.group))

    def text(self) -> str:
        """The picture as lines of text: stable, whatever engine lays it out."""
        by_id = {n.id: n for n in self.nodes}
        lines = []
        for n in self.nodes:
            inputs = ", ".join(by_id[i].label for i in n.inputs)
            call = f"{n.op}({inputs})" if n.inputs or n.kind in ("operator", "group") else n.op
            name = "" if n.label == n.op else f"{n.label} = "
            group = f"  [{n.group}]" if n.group else ""
            output = "  -> output" if n.is_output else ""
            lines.append(f"{n.id}: {name}{call} {n.shape}{group}{output}")
        return "\n".join(lines)

    def alt(self) -> Pair:
        """What the drawing shows, for those who do not see it."""
        if not self.nodes:
            return row("graph_empty")
        path = row("alt_path", start=self.nodes[0].label, end=self.nodes[-1].label)
        key = f"alt_{self.kind}"
        return row(key, nodes=len(self.nodes), edges=len(self.edges), path=path)

    def fold(self) -> Picture:
        """The picture with each group (layer, name scope) drawn as one box."""
        if not self.groups:
            return self
        home = {n.id: n.group or n.id for n in self.nodes}
        new_id = {g: f"g{i}" for i, g in enumerate(self.groups, 1)}
        boxes: dict[str, PictureNode] = {}
        for n in self.nodes:
            key = home[n.id]
            if key == n.id:
                boxes[key] = n
                continue
            old = boxes.get(key)
            boxes[key] = PictureNode(
                id=new_id[key],
                kind="group",
                op="group",
                name=key,
                shape=n.shape if n.kind == "operator" or old is None else old.shape,
                is_output=n.is_output or (old is not None and old.is_output),
                members=(*(old.members if old else ()), n.id),
            )
        edges: dict[tuple[str, str], PictureEdge] = {}
        for e in self.edges:
            source, target = boxes[home[e.source]].id, boxes[home[e.target]].id
            if source != target and (source, target) not in edges:
                edge = replace(e, id=f"f{len(edges) + 1}", source=source, target=target, index=0)
                edges[source, target] = edge
        inputs: dict[str, list[str]] = {}
        for e in edges.values():
            inputs.setdefault(e.target, []).append(e.source)
        nodes = tuple(replace(b, inputs=tuple(inputs.get(b.id, ()))) for b in boxes.values())
        folded = {key: boxes[home[i]].id for key, i in self.ids.items()}
        return Picture(_sorted(nodes), tuple(edges.values()), self.kind, folded)


def _sorted(nodes: tuple[PictureNode, ...]) -> tuple[PictureNode, ...]:
    """Boxes after the boxes they read, else in the order given."""
    done: dict[str, PictureNode] = {}
    waiting = list(nodes)
    while waiting:
        ready = [n for n in waiting if all(i in done for i in n.inputs)]
        ready = ready or waiting[:1]  # two groups that feed each other: keep the order given
        done.update((n.id, n) for n in ready)
        waiting = [n for n in waiting if n.id not in done]
    return tuple(done.values())


def picture(obj: Any, names: Mapping[int, str] | None = None) -> Picture:
    """The picture of a tensor, a node, a graph, a traced function, or a list of tensors or nodes.

    `names` gives names to leaves that have none, by `id`. Raises TypeError for anything else.
    """
    names = names or {}
    if isinstance(obj, (Function, Traced)):
        obj = obj.graph
    if isinstance(obj, Graph):
        return graph_picture(obj.nodes, set(obj.outputs), names)
    items = list(obj) if isinstance(obj, (list, tuple)) else [obj]
    if items and all(isinstance(x, Node) for x in items):
        return graph_picture(ancestors(items), set(items), names)
    if items and all(isinstance(x, Tensor) for x in items):
        outputs = {t.creator for t in items if t.creator is not None}
        leaves = [t for t in items if t.creator is None]
        names = {**{id(t.creator): names[id(t)] for t in items if id(t) in names}, **names}
        return tape_picture(ancestors(outputs), outputs, leaves, names)
    raise TypeError(printed("cannot_draw", value=brief(obj)))


def brief(value: object) -> str:
    """A short account of any object for a message."""
    text = f"{type(value).__name__} {value!r}"
    return text if len(text) <= 80 else text[:77] + "..."


class _Builder:
    """Collects boxes and arrows, and numbers them."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.nodes: list[PictureNode] = []
        self.edges: list[PictureEdge] = []
        self.ids: dict[Any, str] = {}

    def node(self, key: Any, **about: Any) -> str:
        new = f"n{len(self.nodes) + 1}"
        self.ids[key] = new
        self.nodes.append(PictureNode(id=new, **about))
        return new

    def connect(self, source: str, target: str, index: int, kind: str, shape: str) -> None:
        new = f"e{len(self.edges) + 1}"
        self.edges.append(PictureEdge(new, source, target, index, kind, shape))

    def done(self) -> Picture:
        return Picture(tuple(self.nodes), tuple(self.edges), self.kind, self.ids)


def graph_picture(nodes: Iterable[Node], outputs: set[Node], names: Mapping[int, str]) -> Picture:
    """The picture of these nodes of a static graph, in the order built."""
    build = _Builder("static")
    for node in nodes:
        inputs = [(i, build.ids[x], x) for i, x in enumerate(node.inputs) if x in build.ids]
        automatic = node.name.rpartition("/")[2].startswith(node.op.name)
        name = names.get(id(node), "") if automatic else node.name.rpartition("/")[2]
        if node.op is state.constant and automatic:
            name = number(node.attrs["value"])
        kind = KINDS.get(node.op, "operator")
        target = build.node(
            node,
            kind=kind,
            op=node.op.name,
            name=name,
            shape=show_shape(node.shape),
            group=node.scope,
            inputs=tuple(i for _, i, _ in inputs),
            is_output=node in outputs,
            line=node.where.label,
            title=node.op.title,
        )
        for index, source, x in inputs:
            shape_only = index in node.op.shape_only
            edge_kind = "control" if shape_only else "forward"
            build.connect(source, target, index, edge_kind, show_shape(x.shape))
    return build.done()


def tape_picture(
    nodes: Iterable[TapeNode],
    outputs: Collection[TapeNode],
    leaves: Iterable[Tensor],
    names: Mapping[int, str],
) -> Picture:
    """The picture of these nodes of a tape, in the order recorded."""
    build = _Builder("dynamic")
    for leaf in leaves:
        _leaf(build, leaf, leaf, "", names)
    for node in nodes:
        inputs = [_operand(build, node, i, x, names) for i, x in enumerate(node.inputs)]
        target = build.node(
            node,
            kind="operator",
            op=node.op.name,
            name=names.get(id(node), ""),
            shape=show_shape(node.shape),
            group=node.scope,
            inputs=tuple(inputs),
            is_output=node in outputs,
            line=node.where.label,
            title=node.op.title,
        )
        for index, (source, x) in enumerate(zip(inputs, node.inputs, strict=True)):
            kind = "control" if index in node.op.shape_only else "forward"
            build.connect(source, target, index, kind, show_shape(getattr(x, "shape", ())))
    return build.done()


def _operand(build: _Builder, node: TapeNode, index: int, x: Any, names: Mapping[int, str]) -> str:
    if isinstance(x, BaseNode):
        return build.ids[x]
    if isinstance(x, Tensor):
        return _leaf(build, x, x, node.scope, names)
    key = (node, index)  # a number, or an array without gradient
    if isinstance(x, Spec):
        shape = show_shape(public_shape(x.shape))
        name = getattr(x, "name", None) or ""
        return build.node(key, kind="input", op="data", name=name, shape=shape)
    name = number(x)
    return build.node(key, kind="constant", op="Constant", name=name, shape="()", group=node.scope)


def _leaf(build: _Builder, key: Any, leaf: Tensor, scope: str, names: Mapping[int, str]) -> str:
    if key in build.ids:
        return build.ids[key]
    parameter = leaf.requires_grad and leaf.name is not None
    return build.node(
        key,
        kind="parameter" if parameter else "input",
        op="tensor",
        name=leaf.name or names.get(id(leaf), ""),
        shape=show_shape(leaf.shape),
        group=scope if parameter else "",
    )


def number(value: Any) -> str:
    """A number, a short array, or several of them, as written in a box."""
    if isinstance(value, tuple):
        shown = [number(x) for x in value]
        return "…" if "…" in shown else f"({', '.join(shown)})"
    array = np.asarray(value)
    if array.size == 1:
        x = array.reshape(-1)[0]
        return f"{x:.4g}" if array.dtype.kind == "f" else str(x)
    if array.ndim == 1 and array.size <= 3:
        return "[" + ", ".join(number(x) for x in array) + "]"
    return "…"

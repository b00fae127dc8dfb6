"""The picture of tensors (the tape behind them) or of nodes of a static graph.

Everything else (DOT text, frames, tables, alternative text) is made from pictures.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from minigrad.compiler import Program
from minigrad.control import COND, SCAN, WHILE
from minigrad.core import BaseNode, Spec, public_shape, show_shape
from minigrad.dynamic.tape import TapeNode
from minigrad.dynamic.tensor import Tensor
from minigrad.hybrid.tracing import Function, Traced
from minigrad.hybrid.tracing.calls import CallOp
from minigrad.ops import state
from minigrad.static import Graph, Node, ancestors, labels
from viz.picture import foreign_engines
from viz.picture.boxes import Picture, PictureEdge, PictureNode
from viz.picture.calls import Calls, in_layer, source_name, source_names
from viz.picture.formula import sign
from viz.picture.repeats import grouped
from viz.words.text import row_text

__all__ = ["Picture", "PictureEdge", "PictureNode", "graph_picture", "picture", "tape_picture"]

KINDS = {
    state.placeholder: "input",
    state.variable: "variable",
    state.constant: "constant",
    state.assign: "assign",
    state.group: "control",
}

NAMELESS: Mapping[int, str] = MappingProxyType({})


def picture(obj: Any, names: Mapping[int, str] = NAMELESS, bodies: bool = False) -> Picture:
    """Return the picture of a tensor, a node, a graph, a program, or a traced function.

    obj: may also be a list, or nodes of another engine. `names` gives names to leaves that have
    none, by `id`. With `bodies` the insides of branches, loops, calls and fused nodes are there,
    too, as groups that the node owns. Raises TypeError for anything else.
    """
    if isinstance(obj, (Function, Traced, Program)):
        obj = obj.graph
    if isinstance(obj, Graph):
        return graph_picture(obj.nodes, set(obj.outputs), names, bodies)
    items = list(obj) if isinstance(obj, (list, tuple)) else [obj]
    if items and all(isinstance(x, Node) for x in items):
        return graph_picture(ancestors(items), set(items), names, bodies)
    if items and all(isinstance(x, Tensor) for x in items):
        outputs = {t.creator for t in items if t.creator is not None}
        leaves = [t for t in items if t.creator is None]
        names = {**{id(t.creator): names[id(t)] for t in items if id(t) in names}, **names}
        return tape_picture(ancestors(outputs), outputs, leaves, names, bodies)
    if items and all(map(foreign_engines.is_foreign, items)):
        return foreign_engines.other_picture(foreign_engines.ancestors_of(items), items, names)
    raise TypeError(row_text("cannot_draw", value=brief(obj)))


def brief(value: object) -> str:
    """Describe any object in short, for a message."""
    text = f"{type(value).__name__} {value!r}"
    return text if len(text) <= 80 else text[:77] + "..."


class _Builder:
    """Collects boxes and arrows, and numbers them."""

    def __init__(
        self, kind: str, nodes: Sequence[BaseNode], names: Mapping[int, str], bodies: bool
    ) -> None:
        self.kind, self.names, self.bodies = kind, names, bodies
        self.calls = Calls(nodes)
        self.nodes: list[PictureNode] = []
        self.edges: list[PictureEdge] = []
        self.ids: dict[Any, str] = {}
        self.owners: dict[str, str] = {}
        self.handed: set[tuple[str, int]] = set()  # operands that only go on to branches and loops
        self.called: Mapping[Node, str] = {}
        self.numbers = {"n": 0, "b": 0, "e": 0, "d": 0, "l": 0}

    def _new(self, letter: str) -> str:
        self.numbers[letter] += 1
        return f"{letter}{self.numbers[letter]}"

    def node(self, key: Any, letter: str = "n", **about: Any) -> str:
        new = self.ids[key] = self._new(letter)
        self.nodes.append(PictureNode(id=new, **about))
        return new

    def connect(self, source: str, target: str, index: int, kind: str, x: Any) -> None:
        """Add an arrow for `x` as operand `index`; the results of a body have −1, −2, …

        The id of one inside, into or out of a body begins with d, of one back in a loop with l.
        """
        spec = {"shape": _shape(x), "dtype": str(getattr(x, "dtype", ""))}
        inside = "b" in (source[0], target[0])
        new = self._new("l" if kind == "loop" else "d" if inside else "e")
        self.edges.append(PictureEdge(new, source, target, index, kind, **spec))

    def operands(self, node: BaseNode, target: str, sources: Iterable[tuple[int, str]]) -> None:
        for index, source in sources:
            kind = "control" if index in node.op.shape_only else "forward"
            self.connect(source, target, index, kind, node.inputs[index])

    def static(
        self, node: Node, outputs: Collection[Node], path: str, letter: str, calls: Calls
    ) -> str:
        """Add the box of a node of a static graph, with its arrows, in the group `path`."""
        inputs = [(i, self.ids[x]) for i, x in enumerate(node.inputs) if x in self.ids]
        automatic = node.name.rpartition("/")[2].startswith(node.op.name)
        label = self.called.get(node, node.name).rpartition("/")[2]
        name = self.names.get(id(node), "") if automatic else label
        if node.op is state.constant and automatic:
            name = number(node.attrs["value"]).replace("…", "")
        kind = KINDS.get(node.op, "operator")
        if node.attrs.get("role") == "parameter" and in_layer(node.scope):
            kind = "parameter"
        group = calls.shared(node.scope, node) if kind == "parameter" else calls.group(node.scope)
        target = self.node(
            node,
            letter,
            kind=kind,
            op=node.op.name,
            sign=sign(node.op),
            name=name,
            shape=show_shape(node.shape),
            group="/".join(filter(None, (path, group))),
            inputs=tuple(i for _, i in inputs),
            is_output=node in outputs,
            line=node.where.label,
            title=node.op.title,
            dtype=str(node.dtype),
        )
        self.operands(node, target, inputs)
        for index, x in enumerate(node.controls, len(node.inputs)):
            if x in self.ids and node.op is not state.constant:  # a constant waits for nothing
                self.connect(self.ids[x], target, index, "control", x)
        return target

    def insides(self, node: BaseNode, target: str, sources: Sequence[str]) -> None:
        """Add the graphs inside a node, each as a group that it owns."""
        box = self.nodes[-1]
        for key, body in bodies_of(node).items() if self.bodies else ():
            label = f"{box.label.replace('/', '∕')}: {BODIES.get(key, key)}"
            path = "/".join(filter(None, (box.group, label)))
            path = path if path not in self.owners else f"{path} ({target})"
            self.owners[path] = target
            skipped = len(sources) - len(body.inputs)  # the condition of a branch
            entered = {x: k for k, x in enumerate(body.inputs, skipped)}
            read = {x for n in body.nodes for x in n.inputs} | set(body.outputs)
            calls = Calls(body.nodes)
            for inner in body.nodes:
                if inner in entered and inner not in read:
                    continue  # what this body takes only because another one needs it
                new = self.static(inner, (), path, "b", calls)
                if inner in entered and skipped in (0, 1):
                    self.connect(sources[entered[inner]], new, 0, "forward", inner)
                    if node.op in (*LOOPS, COND):
                        self.handed.add((target, entered[inner]))
                self.insides(inner, new, [self.ids[x] for x in inner.inputs])
            for index, result in enumerate(body.outputs):
                self.connect(self.ids[result], target, -1 - index, "forward", result)
            if key == "body" and node.op in LOOPS:
                self.carry(body, node.attrs)

    def carry(self, body: Graph, attrs: Mapping[str, Any]) -> None:
        """Add the arrows back in a loop: from a step's results to its inputs and the test's."""
        results = body.outputs[: attrs.get("carries")]
        for k, graph in enumerate(dict.fromkeys((body, attrs.get("test", body))), 1):
            for result, own, taken in zip(results, body.inputs, graph.inputs, strict=False):
                if taken in self.ids and result is not own:
                    self.connect(self.ids[result], self.ids[taken], k, "loop", result)

    def done(self) -> Picture:
        own = (e for e in self.edges if (e.target, e.index) not in self.handed)
        return grouped(Picture(tuple(self.nodes), tuple(own), self.kind, self.ids, self.owners))


LOOPS = (WHILE, SCAN)
BODIES = {"orelse": "else"}  # what the engine's names of bodies are in Python's words


def bodies_of(node: BaseNode) -> dict[str, Graph]:
    """Return the graphs in a node: branches, a loop's test and step, a function's body."""
    if isinstance(node.op, CallOp):
        return {"body": node.op.call.body}
    return {key: value for key, value in node.attrs.items() if isinstance(value, Graph)}


def _shape(x: Any) -> str:
    return show_shape(public_shape(x.shape) if isinstance(x, Spec) else getattr(x, "shape", ()))


def graph_picture(
    nodes: Iterable[Node], outputs: set[Node], names: Mapping[int, str], bodies: bool = False
) -> Picture:
    """Return the picture of these nodes of a static graph, in the order built."""
    nodes = [*nodes]
    build = _Builder("static", nodes, names, bodies)
    build.called = labels(nodes)
    for node in nodes:
        target = build.static(node, outputs, "", "n", build.calls)
        build.insides(node, target, [build.ids[x] for x in node.inputs if x in build.ids])
    return build.done()


def tape_picture(
    nodes: Iterable[TapeNode],
    outputs: Collection[TapeNode],
    leaves: Iterable[Tensor],
    names: Mapping[int, str],
    bodies: bool = False,
) -> Picture:
    """Return the picture of these nodes of a tape, in the order recorded."""
    nodes = [*nodes]
    names = {**source_names(nodes), **{i: name for i, name in names.items() if name}}
    build = _Builder("dynamic", nodes, names, bodies)
    for leaf in leaves:
        _leaf(build, leaf, leaf, "")
    for node in nodes:
        inputs = [_operand(build, node, i, x) for i, x in enumerate(node.inputs)]
        target = build.node(
            node,
            kind="operator",
            op=node.op.name,
            sign=sign(node.op),
            name=names.get(id(node), ""),
            shape=show_shape(node.shape),
            group=build.calls.group(node.scope),
            inputs=tuple(inputs),
            is_output=node in outputs,
            line=node.where.label,
            title=node.op.title,
            dtype=str(node.dtype),
        )
        build.operands(node, target, enumerate(inputs))
        build.insides(node, target, inputs)
    return build.done()


def _operand(build: _Builder, node: TapeNode, index: int, x: Any) -> str:
    if isinstance(x, BaseNode):
        return build.ids[x]
    if isinstance(x, Tensor):
        return _leaf(build, x, x, node.scope)
    key = (node, index)  # a number, or an array without gradient
    if isinstance(x, Spec):
        name = getattr(x, "name", None) or source_name(node, index)
        about = {"shape": _shape(x), "dtype": str(x.dtype)}
        return build.node(key, kind="input", op="data", name=name, **about)
    about = {"name": number(x), "shape": "()", "dtype": str(np.asarray(x).dtype)}
    return build.node(
        key, kind="constant", op="Constant", group=build.calls.group(node.scope), **about
    )


def _leaf(build: _Builder, key: Any, leaf: Tensor, scope: str) -> str:
    if key in build.ids:
        return build.ids[key]
    layer = leaf.requires_grad and leaf.name is not None
    return build.node(
        key,
        kind="parameter" if leaf.requires_grad and in_layer(scope) else "input",
        op="tensor",
        name=leaf.name or build.names.get(id(leaf), ""),
        shape=show_shape(leaf.shape),
        group=build.calls.shared(scope, leaf) if layer else "",
        dtype=str(leaf.dtype),
    )


def number(value: Any, digits: int = 4) -> str:
    """Format a number, a short array, or several of them, for a box."""
    if isinstance(value, tuple):
        shown = [number(x) for x in value]
        return "…" if "…" in shown else f"({', '.join(shown)})"
    array = np.asarray(value)
    if array.size == 1:
        x = array.reshape(-1)[0]
        text = f"{x:.{digits}g}" if array.dtype.kind in "fc" else str(x)
        return text.replace("nan", "NaN").replace("inf", "∞")
    if array.ndim == 1 and array.size <= 3:
        return "[" + ", ".join(number(x) for x in array) + "]"
    return "…"

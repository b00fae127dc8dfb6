"""How a pass makes a new graph out of an old one, and says what it changed and why.

A pass never changes a graph. It goes through the nodes in order and gives each one a successor:
itself, as long as nothing before it changed; a copy on new operands; or something better. Nodes
that nothing needs any more stay until the pass that removes them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from minigrad.core import Attrs, Op, context
from minigrad.graph import Graph, Node
from minigrad.messages import Pair, choose, fill
from minigrad.ops import state


@dataclass(frozen=True, slots=True)
class Change:
    """One thing a pass did: which nodes it took, what stands for them now, and the reason."""

    kind: str
    before: tuple[Node, ...]
    after: tuple[Node, ...]
    reason: Pair

    @property
    def what(self) -> str:
        """The nodes by name: what there was, and what there is now."""
        gone = ", ".join(n.name for n in self.before)
        return f"{gone} → {', '.join(n.name for n in self.after) or '∅'}"

    @property
    def why(self) -> str:
        """The reason, in the chosen language."""
        return choose(self.reason)

    def __str__(self) -> str:
        return f"{self.what}: {self.why}"


class Rewrite:
    """A new graph in the making."""

    def __init__(self, graph: Graph) -> None:
        self.before = graph
        self.after = Graph()
        self.new: dict[Node, Node] = {}
        self.changes: list[Change] = []
        self._sequence: list[Node] = []

    def walk(self, rule: Callable[[Node, tuple[Node, ...]], Node | None]) -> Graph:
        """Ask the rule about every node; where it has no answer, the node stays as it is."""
        for node in self.before.nodes:
            inputs = tuple([self.new[x] for x in node.inputs])
            better = rule(node, inputs)
            self.put(node, self.keep(node, inputs) if better is None else better)
        return self.finish()

    def put(self, node: Node, successor: Node) -> None:
        """Say what stands for a node from now on."""
        self.new[node] = successor
        self._sequence.append(successor)

    def keep(self, node: Node, inputs: Sequence[Node], **attrs: Any) -> Node:
        """The node itself, or a copy if its operands (or attributes) are new."""
        controls = tuple([self.new[x] for x in node.controls]) if node.controls else ()
        pairs = [*zip(inputs, node.inputs, strict=True), *zip(controls, node.controls, strict=True)]
        if not attrs and all(a is b for a, b in pairs):
            return node
        return self.make(node.op, inputs, node, {**node.attrs, **attrs}, controls, node.name)

    def make(
        self,
        op: Op,
        inputs: Sequence[Node],
        like: Node,
        attrs: Attrs | None = None,
        controls: tuple[Node, ...] = (),
        name: str | None = None,
    ) -> Node:
        """A new node with the line and scope of the node that it is made for."""
        scope, context.scope = context.scope, ""
        try:
            node = self.after.add(op, inputs, attrs or {}, name or op.name)
        finally:
            context.scope = scope
        node.code, node.lasti, node.scope, node.controls = (
            *(like.code, like.lasti, like.scope),
            controls,
        )
        self._sequence.append(node)
        return node

    def constant(self, value: Any, like: Node) -> Node:
        """A new constant."""
        array = np.asarray(value)[()]
        attrs = {"value": array, "shape": array.shape, "dtype": array.dtype}
        return self.make(state.constant, (), like, attrs)

    def note(
        self, kind: str, before: Iterable[Node], after: Iterable[Node], key: str, **fields: object
    ) -> None:
        """Remember what was done and why; `key` is a row of the messages."""
        self.changes.append(Change(kind, tuple(before), tuple(after), fill(key, **fields)))

    def finish(self) -> Graph:
        """The new graph, in the old order; the old one if nothing is new."""
        old, nodes = self.before, list(dict.fromkeys(self._sequence))
        if list(map(id, nodes)) == list(map(id, old.nodes)):
            return old
        inputs, outputs, effects = (
            [self.new[x] for x in side] for side in (old.inputs, old.outputs, old.effects)
        )
        return frozen(nodes, inputs, outputs, effects, old.single)


def frozen(
    nodes: Sequence[Node],
    inputs: Sequence[Node],
    outputs: Sequence[Node],
    effects: Sequence[Node],
    single: bool,
) -> Graph:
    """A graph of these nodes, in this order."""
    graph = Graph()
    graph._nodes = list(nodes)
    graph.inputs, graph.outputs, graph.effects = tuple(inputs), tuple(outputs), tuple(effects)
    graph.single = single
    return graph.freeze()


def key_of(node: Node, inputs: Sequence[Node]) -> Any:
    """Equal for nodes that compute the same: operator, operands, attributes."""
    attrs = tuple(sorted((k, _hashable(v)) for k, v in node.attrs.items())) if node.attrs else ()
    return node.op.name, tuple(map(id, inputs)), tuple(map(id, node.controls)), attrs


def _hashable(value: Any) -> Any:
    if isinstance(value, (np.ndarray, np.generic)):
        array = np.asarray(value)
        return array.shape, array.dtype.str, array.tobytes() if array.nbytes <= 4096 else id(value)
    if isinstance(value, tuple):
        return tuple(map(_hashable, value))
    return str(value) if isinstance(value, (bool, int, float, str, np.dtype)) else id(value)

"""The rewriting of graphs by passes, with a record of what changed and why.

A pass never changes a graph. It goes through the nodes in order and gives each one a successor:
itself, as long as nothing before it changed; a copy on new operands; or something better. Nodes
that nothing needs any more stay until the pass that removes them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from operator import is_
from typing import Any, TypeVar

import numpy as np

from minigrad import ops
from minigrad.core import Attrs, Op, Spec
from minigrad.diagnostics.messages import Pair, choose, fill
from minigrad.ops import state
from minigrad.static import Graph, Node, has_effect

Pass = Callable[[Graph], Any]
P = TypeVar("P", bound=Pass)

PLACES: dict[int, Pass] = {}
ON_REQUEST: list[Pass] = []


def in_pipeline(*places: int) -> Callable[[P], P]:
    """Make a pass run by default, at these places: the smallest number comes first."""

    def enter(function: P) -> P:
        if taken := PLACES.keys() & places:
            raise ValueError(f"{function.__name__}: another pass has place {taken}")
        PLACES.update(dict.fromkeys(places, function))
        return function

    return enter


def inexact(function: P) -> P:
    """Let a pass run on request only: it may change rounding, or NaN and infinities."""
    ON_REQUEST.append(function)
    return function


@dataclass(frozen=True, slots=True)
class Change:
    """One change by a pass: the nodes it replaced, their replacements, and the reason."""

    kind: str
    before: tuple[Node, ...]
    after: tuple[Node, ...]
    reason: Pair

    @property
    def what(self) -> str:
        """The nodes by name, before and after."""
        gone = ", ".join(n.name for n in self.before)
        return f"{gone} → {', '.join(n.name for n in self.after) or '∅'}"

    @property
    def why(self) -> str:
        """The reason, in the chosen language."""
        return choose(self.reason)

    def __str__(self) -> str:
        return f"{self.what}: {self.why}"


class Rewrite:
    """A new graph in the making: what is not touched is not copied."""

    def __init__(self, graph: Graph) -> None:
        self.before = graph
        self.after = Graph()
        # Where the nodes were built; what is built on new ones, such as gradients, goes there, too.
        self.home = graph.outputs[0].graph if graph.outputs else graph
        self.new: dict[Node, Node] = {}  # successors, of nodes that have another than themselves
        self.copies: set[Node] = set()  # the same but for operands, whose specs are the same
        self.changes: list[Change] = []
        self._sequence: list[Node] = []
        self._moved = False  # a node that is run in order was copied

    def walk(
        self,
        rule: Callable[[Node, tuple[Node, ...]], Node | None],
        where: Collection[Op] | None = None,
    ) -> Graph:
        """Apply the rule to every node (with an operator in `where`) and its new operands.

        Where it has no answer, the node stays as it is.
        """
        if where is not None and self.before.operators.isdisjoint(where):
            return self.before
        new, place = self.new, self._sequence.append
        successor, untouched = new.get, new.keys().isdisjoint
        for node in self.before._nodes:
            inputs = node.inputs
            stale = bool(new) and not untouched(inputs)
            if stale:
                inputs = tuple([successor(x, x) for x in inputs])
            if where is None or node.op in where:
                better = rule(node, inputs)
                if better is not None:
                    self.put(node, better)
                    continue
            if stale or node.controls or (self._moved and is_ordered(node)):
                self.put(node, self.keep(node, inputs))
            else:
                place(node)
        return self.finish()

    def of(self, node: Node) -> Node:
        """Return the node that replaces a node, or itself."""
        return self.new.get(node, node)

    def operands(self, node: Node) -> tuple[Node, ...]:
        """Return the nodes that replace a node's operands."""
        return tuple([self.new.get(x, x) for x in node.inputs])

    def put(self, node: Node, successor: Node) -> None:
        """Set the replacement of a node."""
        if successor is not node:
            self.new[node] = successor
        self._sequence.append(successor)

    def keep(self, node: Node, inputs: Sequence[Node], again: bool = False, **attrs: Any) -> Node:
        """Return the node, or a copy if its operands or attributes are new, or if requested.

        What happens after something that was copied is copied as well: executors go by the order
        in which nodes were made.
        """
        controls = tuple([self.of(x) for x in node.controls]) if node.controls else ()
        same, alike = not (attrs or again), not attrs
        for a, b in zip(inputs, node.inputs, strict=True):
            if a is not b:
                same = False
                alike = alike and (a.spec is b.spec or a.spec == b.spec)
        same = same and (not controls or all(map(is_, controls, node.controls)))
        ordered = is_ordered(node)
        if same and not (ordered and self._moved):
            return node
        self._moved = self._moved or ordered
        if not alike:
            all_attrs = {**node.attrs, **attrs}
            return self.make(node.op, inputs, node, all_attrs, controls, node.name)
        copy = self.make(node.op, inputs, node, node.attrs, controls, node.name, node.spec)
        if not again:  # such a copy may yet be given another spec
            self.copies.add(copy)
        return copy

    def make(
        self,
        op: Op,
        inputs: Sequence[Node],
        like: Node,
        attrs: Attrs | None = None,
        controls: tuple[Node, ...] = (),
        name: str | None = None,
        spec: Spec | None = None,
    ) -> Node:
        """Make a new node with the line and scope of the node it is made for."""
        node = self.after.derived(op, tuple(inputs), attrs or {}, like, name or op.name, spec)
        node.graph, node.controls = self.home, controls
        self._sequence.append(node)
        return node

    def constant(self, value: Any, like: Node) -> Node:
        """Make a new constant."""
        array = np.asarray(value)[()]
        attrs = {"value": array, "shape": array.shape, "dtype": array.dtype}
        return self.make(state.constant, (), like, attrs)

    def note(
        self, kind: str, before: Iterable[Node], after: Iterable[Node], key: str, **fields: object
    ) -> None:
        """Record what was done and why; `key` is a row of the messages."""
        self.changes.append(Change(kind, tuple(before), tuple(after), fill(key, **fields)))

    def finish(self) -> Graph:
        """Return the new graph in the old order, or the old graph if nothing is new."""
        old = self.before
        if not self.new and len(self._sequence) == len(old._nodes):
            return old
        inputs, outputs, effects = (
            [self.of(x) for x in side] for side in (old.inputs, old.outputs, old.effects)
        )
        graph = frozen_graph(dict.fromkeys(self._sequence), inputs, outputs, effects, old.single)
        graph.notes[Rewrite] = self.copies  # until it is verified
        return graph


def outermost(function: Callable[[Graph], Any]) -> Callable[[Graph], Any]:
    """Mark a pass that wants the whole graph, and not the bodies of branches and loops as well."""
    function.outermost = True  # type: ignore[attr-defined]
    return function


def is_ordered(node: Node) -> bool:
    """Return whether it matters when this node runs, not only on what operands."""
    op = node.op
    if op.infer is None:
        return op.impure or op is state.assign
    return has_effect(node)


def ordered_nodes(graph: Graph) -> list[Node]:
    """Return the nodes whose order matters."""
    some = {op for op in graph.operators if op.infer or op.impure or op is state.assign}
    return [n for n in graph.nodes if n.op in some and is_ordered(n)] if some else []


def needed_nodes(graph: Graph) -> set[Node]:
    """Return the nodes that lead to an output or have an effect."""
    needed = {*graph.inputs, *graph.outputs, *graph.effects, *ordered_nodes(graph)}
    need = needed.update
    for node in reversed(graph._nodes):
        if node in needed:
            need(node.inputs)
            if node.controls:
                need(node.controls)
    return needed


def frozen_graph(
    nodes: Iterable[Node],
    inputs: Sequence[Node],
    outputs: Sequence[Node],
    effects: Sequence[Node],
    single: bool,
) -> Graph:
    """Make a frozen graph of these nodes, in this order."""
    graph = Graph()
    graph._nodes = list(nodes)
    graph.inputs, graph.outputs, graph.effects = tuple(inputs), tuple(outputs), tuple(effects)
    graph.single = single
    return graph.freeze()


COMMUTE = {ops.add, ops.mul}  # their operands may change places, to the last bit


def key_of(node: Node, inputs: Sequence[Node]) -> Any:
    """Return a key that is equal for nodes that compute the same.

    By identity, because == on nodes builds a node.
    """
    if not node.attrs:
        read = [id(x) for x in inputs]
        return node.op.name, *(sorted(read) if node.op in COMMUTE else read)
    if node.op is state.constant:
        return node.op.name, _hashable(node.attrs["value"])
    attrs = [(k, _hashable(v)) for k, v in sorted(node.attrs.items())]
    return node.op.name, *map(id, inputs), tuple(attrs)


def _hashable(value: Any) -> Any:
    if isinstance(value, (np.ndarray, np.generic)):
        array = np.asarray(value)
        return array.shape, array.dtype, array.tobytes() if array.nbytes <= 4096 else id(value)
    if isinstance(value, tuple):
        return tuple(map(_hashable, value))
    if isinstance(value, np.dtype):
        return value
    return str(value) if isinstance(value, (bool, int, float, str)) else id(value)

"""Fusion: neighbours that work on each element by itself become one node, with one kernel.

A region may be fused if nothing outside lies between two of its members: what a member feeds must
not come back into the region by way of a node that stays outside. A matrix product or convolution
whose result only one region reads is fused in front of it: bias, activation and the like are
applied to the result while it is at hand.
"""

from __future__ import annotations

from collections.abc import Iterable

from minigrad import ops
from minigrad.core import Spec
from minigrad.fused import FUSED, region
from minigrad.graph import Graph, Node
from minigrad.ops.parts import output
from minigrad.passes.rewrite import Change, Rewrite

MOST_MEMBERS = 64
MOST_STEPS = 400  # how far a path is followed before fusing is given up
PRODUCTS = {ops.matmul: "matmul", ops.conv2d: "conv"}


class Regions:
    """Which nodes belong together so far."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.place = {node: i for i, node in enumerate(graph.nodes)}
        self.readers: dict[Node, list[Node]] = {node: [] for node in graph.nodes}
        for node in graph.nodes:
            for x in dict.fromkeys((*node.inputs, *node.controls)):
                self.readers[x].append(node)
        self.of: dict[Node, list[Node]] = {}

    def group(self, node: Node) -> list[Node]:
        return self.of.get(node) or [node]

    def try_merge(self, *nodes: Node) -> bool:
        """Fuse the regions of these nodes, if that is allowed."""
        groups = {id(g): g for g in map(self.group, nodes)}
        members = [n for g in groups.values() for n in g]
        if len(members) > MOST_MEMBERS or self._crossed(members):
            return False
        members.sort(key=self.place.__getitem__)
        for node in members:
            self.of[node] = members
        return True

    def _crossed(self, members: list[Node]) -> bool:
        """Whether a path leads out of the members and back into them (or is too long to tell)."""
        inside, first = set(members), min(map(self.place.__getitem__, members))
        waiting = [x for n in members for x in n.inputs if x not in inside]
        seen: set[Node] = set()
        while waiting:
            node = waiting.pop()
            if node in inside:
                return True
            if node in seen or (self.place[node] < first and node not in self.of):
                continue
            if len(seen) > MOST_STEPS:
                return True
            group = self.group(node)  # another region runs as a whole
            seen.update(group)
            if all(self.place[n] < first for n in group):
                continue
            waiting.extend(x for n in group for x in n.inputs if x not in seen)
        return False

    def outputs(self, members: list[Node]) -> list[Node]:
        """The members that somebody outside reads."""
        inside, ends = set(members), set(self.graph.outputs) | set(self.graph.effects)
        return [n for n in members if n in ends or any(r not in inside for r in self.readers[n])]

    def units(self) -> Iterable[list[Node]]:
        """The regions and the single nodes, in an order in which they can be computed."""
        done: set[Node] = set()
        for last in self.graph.nodes:
            waiting = [last]
            while waiting:
                node = waiting[-1]
                if node in done:
                    waiting.pop()
                    continue
                members = self.group(node)
                inside = set(members)
                needed = [
                    x
                    for n in members
                    for x in (*n.inputs, *n.controls)
                    if x not in done and x not in inside
                ]
                if needed:
                    waiting += needed
                    continue
                done.update(members)
                yield members


def _by_element(node: Node) -> bool:
    plain = node.op.elementwise and not (node.op.effect or node.op.impure or node.controls)
    return plain and node.spec.shape not in (None, ())


def fuse(graph: Graph) -> tuple[Graph, list[Change]]:
    """Make one node of neighbours that work element by element on one shape."""
    regions = Regions(graph)
    for node in graph.nodes:
        if _by_element(node):
            for x in node.inputs:
                if _by_element(x) and x.spec.shape == node.spec.shape:
                    regions.try_merge(x, node)
    for node in graph.nodes:
        if node.op in PRODUCTS and not node.controls:
            _join_reader(regions, node)
    return _emit(regions)


def _join_reader(regions: Regions, product: Node) -> None:
    """Fuse a product with the one region that reads it."""
    readers = regions.readers[product]
    ends = (*regions.graph.outputs, *regions.graph.effects)
    if not readers or any(product is x for x in ends) or not all(map(_by_element, readers)):
        return
    group = regions.group(readers[0])
    members = {id(n) for n in group}
    alone = all(id(r) in members for r in readers) and not any(n.op in PRODUCTS for n in group)
    if alone and readers[0].spec.shape == product.spec.shape:
        regions.try_merge(product, readers[0])


def _emit(regions: Regions) -> tuple[Graph, list[Change]]:
    rewrite = Rewrite(regions.graph)
    for members in regions.units():
        if len(members) == 1:
            (node,) = members
            rewrite.put(node, rewrite.keep(node, tuple(rewrite.new[x] for x in node.inputs)))
            continue
        ends = regions.outputs(members)
        inputs, body = region(members, ends)
        kinds = [PRODUCTS[n.op] for n in members if n.op in PRODUCTS]
        attrs = {"body": body, "kind": kinds[0] if kinds else "elementwise"}
        operands = [rewrite.new[x] for x in inputs]
        fused = rewrite.make(FUSED, operands, members[-1], attrs, name=_name(members))
        for i, node in enumerate(ends):
            one = len(ends) == 1
            part = fused if one else rewrite.make(output, (fused,), node, {"index": i})
            rewrite.put(node, part)
        key = "pass_fused_product" if kinds else "pass_fused"
        rewrite.note("fused", members, [fused], key, count=len(members))
    return rewrite.finish(), rewrite.changes


def _name(members: list[Node]) -> str:
    names = [n.op.name for n in members]
    return "+".join(names if len(names) <= 4 else [*names[:3], f"{len(names) - 3}more"])


def stretch(graph: Graph) -> tuple[Graph, list[Change]]:
    """Let an operator stretch a single number itself instead of reading a full array of it."""
    rewrite = Rewrite(graph)

    def is_number(x: Node) -> bool:
        return x.op is ops.broadcast_like and x.inputs[0].spec.shape == ()

    def fits(node: Node, others: list[Node]) -> bool:
        shapes: list[Spec] = [x.spec for x in others]
        return any(s.shape is not None and s.shape == node.spec.shape for s in shapes)

    def rule(node: Node, inputs: tuple[Node, ...]) -> Node | None:
        numbers = [x for x in inputs if is_number(x)]
        if not node.op.elementwise or not numbers or node.controls:
            return None
        if not fits(node, [x for x in inputs if not is_number(x)]):
            return None
        plain = [x.inputs[0] if is_number(x) else x for x in inputs]
        better = rewrite.keep(node, plain)
        rewrite.note("simplified", numbers, [better], "pass_stretch")
        return better

    return rewrite.walk(rule), rewrite.changes

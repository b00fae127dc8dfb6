"""Fusion: neighbours that work on each element by itself become one node, with one kernel.

Every node and region has a rank, and reads from lower ranks only; so no region can come to wait
for itself, whatever is fused. A node joins the regions it reads where that keeps the ranks in
order: one walk along the graph. Then what a region computes for a single later one moves there, if
memory is free for longer that way: 1 − y² is a matter of backward, which has y at hand. A matrix
product or convolution whose result only one region reads is fused in front of it: bias, activation
and the like are applied while the result is at hand.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence

from minigrad import ops
from minigrad.ops import state
from minigrad.ops.parts import output
from minigrad.passes.hoisting import is_total
from minigrad.passes.rewrite import Change, Rewrite, in_pipeline, is_ordered
from minigrad.static import Graph, Node
from minigrad.static.fused import FUSED, region

__all__ = ["fuse", "stretch"]

MOST_MEMBERS = 64
MOST_READERS = 64  # of a region or value that are looked at
GIVEN = {state.placeholder, state.variable, state.constant}  # there as long as the program runs
STRETCHES = {ops.broadcast_like, ops.broadcast_to}
PRODUCTS = {ops.matmul: "matmul", ops.conv2d: "conv"}


class Unit:
    """Nodes that run as one: a fused region, or a single node.

    rank     higher than that of every unit it reads
    product  whether it starts with a product
    """

    __slots__ = ("absorbed", "members", "product", "rank", "readers")

    def __init__(self, node: Node, rank: int) -> None:
        self.members, self.rank = [node], rank
        self.readers: list[Unit] = []
        self.absorbed: Unit | None = None
        self.product = False

    def now(self) -> Unit:
        """Return the unit that this one became part of, or itself."""
        unit = self
        while unit.absorbed is not None:
            unit = unit.absorbed
        return unit


class Regions:
    """Which nodes belong together."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.ends = {*graph.outputs, *graph.effects}
        self.of: dict[Node, Unit] = {}
        self.first: dict[Node, tuple[Node, ...]] = {}  # what must happen before, of effects
        for node in graph.nodes:
            ordered = not node.op.elementwise and is_ordered(node)
            if ordered:
                self.first[node] = tuple(self.first)[-1:]
            read = {self.of[x].now(): x for x in self._before(node)}
            unit = self._joined(node, read) if _by_element(node) else None
            if unit is None:
                unit = Unit(node, 1 + max([u.rank for u in read], default=-1))
                for other in read:
                    other.readers.append(unit)
            self.of[node] = unit
        self._leave_to_readers()
        for node in graph.nodes:
            if node.op in PRODUCTS and not node.controls:
                self._join_reader(node)

    def _before(self, node: Node) -> tuple[Node, ...]:
        """Return the nodes that must run before this one."""
        if node.controls or node in self.first:
            return *node.inputs, *node.controls, *self.first.get(node, ())
        return node.inputs

    def _joined(self, node: Node, read: dict[Unit, Node]) -> Unit | None:
        """Return the unit that an elementwise node can join, or None."""
        shape = node.spec.shape
        fit = [
            u
            for u, x in read.items()
            if _by_element(x) and x.spec.shape == shape and len(u.members) < MOST_MEMBERS
        ]
        if not fit:
            return None
        others = [u.rank for u in read if u not in fit]
        rank = max(max(others, default=-1) + 1, max([u.rank for u in fit]))
        fit.sort(key=lambda u: -u.rank)
        chosen: list[Unit] = []
        count = 1
        for unit in fit:
            if unit.rank == rank or self._can_rise(unit, rank, chosen):
                if count + len(unit.members) <= MOST_MEMBERS:
                    chosen.append(unit)
                    count += len(unit.members)
                elif unit.rank == rank:
                    return None  # it would have to be read, and is not below
        return self._merge(node, rank, chosen, read) if chosen else None

    def _can_rise(self, unit: Unit, rank: int, chosen: Sequence[Unit]) -> bool:
        """Return whether all readers of the unit stay above it."""
        if len(unit.readers) > MOST_READERS:
            return False
        readers = [r.now() for r in unit.readers]
        return all(r.rank > rank or r is unit or r in chosen for r in readers)

    def _merge(self, node: Node, rank: int, chosen: list[Unit], read: Iterable[Unit]) -> Unit:
        whole = max(chosen, key=lambda u: len(u.members))
        for unit in chosen:
            if unit is not whole:
                whole.members += unit.members
                whole.readers += unit.readers
                unit.absorbed = whole
        for other in read:
            if other not in chosen:
                other.readers.append(whole)
        whole.members.append(node)
        whole.rank = rank
        return whole

    def _leave_to_readers(self) -> None:
        """Move nodes into the one later region that reads them, if that keeps less memory alive."""
        nodes = self.graph.nodes
        self.readers: dict[Node, list[Node]] = {node: [] for node in nodes}
        for node in nodes:
            for x in self._before(node):
                self.readers[x].append(node)
        for node, unit in self.of.items():
            self.of[node] = unit.now()
        for node in reversed(nodes):
            if _by_element(node) and node not in self.ends:
                units = {self.of[r] for r in self.readers[node]}
                unit = units.pop() if len(units) == 1 else self.of[node]
                if unit is not self.of[node]:
                    self._leave(node, unit)

    def _leave(self, node: Node, reader: Unit) -> None:
        """Move a node to the region that reads it, with all that was computed for it alone."""
        (first, *_), unit = reader.members, self.of[node]
        if not _by_element(first) or first.spec.shape != node.spec.shape:
            return
        moved, read = {node}, dict[Node, None]()
        waiting = [node]
        while waiting:
            for x in waiting.pop().inputs:
                alone = self.of[x] is unit and x not in self.ends and _by_element(x)
                if alone and moved.issuperset(self.readers[x]):
                    moved.add(x)
                    waiting.append(x)
                else:
                    read[x] = None
        longer = sum(self._longer(x, moved, reader.rank) for x in read if x not in moved)
        if longer >= (reader.rank - unit.rank) * node.dtype.itemsize:
            return
        if len(reader.members) + len(moved) > MOST_MEMBERS:
            return
        unit.members = [x for x in unit.members if x not in moved]
        reader.members += moved
        self.of.update(dict.fromkeys(moved, reader))

    def _longer(self, x: Node, moved: Container[Node], rank: int) -> int:
        """Return how much longer a value lives, times its bytes, if these read it at that rank."""
        if x in self.ends or x.op in GIVEN or x.spec.shape == ():
            return 0
        readers = [r for r in self.readers[x][-MOST_READERS:] if r not in moved]
        last = max([self.of[n].rank for n in (x, *readers)])
        return max(0, rank - last) * x.dtype.itemsize

    def _join_reader(self, product: Node) -> None:
        """Fuse a product with the one region that reads it: no path can lead around it."""
        unit = self.of[product]
        readers = {self.of[r].now() for r in self.readers[product]}
        if len(readers) != 1 or product in self.ends:
            return
        (reader,) = readers
        first = reader.members[0]
        plain = _by_element(first) and first.spec.shape == product.spec.shape
        if plain and not reader.product and len(reader.members) < MOST_MEMBERS:
            reader.members.append(product)
            reader.product, unit.absorbed = True, reader

    def units(self) -> Iterator[tuple[list[Node], list[Node]]]:
        """Yield each unit's members and those that others read, in an order to compute them."""
        nodes, done = self.graph.nodes, set[Node]()
        place = {node: i for i, node in enumerate(nodes)}
        of = {node: unit.now() for node, unit in self.of.items()}
        for unit in dict.fromkeys(of.values()):
            unit.members.sort(key=place.__getitem__)
        ends = self.ends | {
            x for n in nodes for x in (*n.inputs, *n.controls) if of[x] is not of[n]
        }
        for last in nodes:
            waiting = [last] if of[last].members[-1] is last else []
            while waiting:
                node = waiting[-1]
                if node in done:
                    waiting.pop()
                    continue
                members = of[node].members
                inside = of[node]
                needed = [
                    x
                    for n in members
                    for x in self._before(n)
                    if x not in done and of[x] is not inside
                ]
                if needed:
                    waiting += needed
                    continue
                done.update(members)
                yield members, [n for n in members if n in ends]


def _by_element(node: Node) -> bool:
    op = node.op
    return (
        op.elementwise
        and node.spec.shape not in (None, ())
        and not (op.effect or op.impure or node.controls)
    )


@in_pipeline(90)
def fuse(graph: Graph) -> tuple[Graph, list[Change]]:
    """Make one node of neighbours that work element by element on one shape.

    >>> import minigrad as mg
    >>> with mg.Graph():
    ...     x = mg.placeholder("x", (3, 4))
    ...     graph = mg.build_graph(x, mg.tanh(mg.exp(x)))
    >>> print(graph.optimize(["fuse"]).text())
    %0 = Placeholder "x" : float32[3, 4]
    %1 = Fused(%0, kind=elementwise) body {
        %0 = Placeholder "x" : float32[3, 4]
        %1 = Exp(%0) : float32[3, 4]
        %2 = Tanh(%1) : float32[3, 4]
        return %2
    } : float32[3, 4]
    return %1
    """
    if not any(map(_by_element, graph.nodes)):
        return graph, []
    regions, rewrite = Regions(graph), Rewrite(graph)
    for members, ends in regions.units():
        if len(members) == 1:
            (node,) = members
            rewrite.put(node, rewrite.keep(node, rewrite.operands(node)))
            continue
        inputs, body = region(members, ends)
        kinds = [PRODUCTS[n.op] for n in members if n.op in PRODUCTS]
        attrs = {"body": body, "kind": kinds[0] if kinds else "elementwise"}
        operands = [rewrite.of(x) for x in inputs]
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


@in_pipeline(30)
def stretch(graph: Graph) -> tuple[Graph, list[Change]]:
    """Stretch single numbers as late as can be: an operator does that itself, or to its result.

    >>> import minigrad as mg
    >>> with mg.Graph():
    ...     x = mg.placeholder("x", (3, 4))
    ...     graph = mg.build_graph(x, mg.gradients(mg.sum(mg.exp(x)), x))
    >>> print(graph.optimize(["stretch", "remove_dead"]).text())
    %0 = Placeholder "x" : float32[3, 4]
    %1 = Exp(%0) : float32[3, 4]
    %2 = Constant 1.0 : float32[]
    %3 = Mul(%2, %1) : float32[3, 4]
    return %3
    """
    rewrite = Rewrite(graph)
    if graph.operators.isdisjoint(STRETCHES):
        return graph, []

    def is_number(x: Node) -> bool:
        return x.op in STRETCHES and x.inputs[0].spec.shape == ()

    def rule(node: Node, inputs: tuple[Node, ...]) -> Node | None:
        numbers, shape = [x for x in inputs if is_number(x)], node.spec.shape
        if not numbers or node.controls or shape is None:
            return None
        plain = [x.inputs[0] if is_number(x) else x for x in inputs]
        if any(x.spec.shape == shape and not is_number(x) for x in inputs):
            better = rewrite.keep(node, plain)
            rewrite.note("simplified", numbers, [better], "pass_stretch")
            return better
        whole = next((x for x in numbers if x.spec.shape == shape), None)
        if whole is None or any(x.spec.shape != () for x in plain) or not is_total(node):
            return None
        number = rewrite.make(node.op, plain, node, node.attrs)
        better = rewrite.make(whole.op, (number, *whole.inputs[1:]), node, whole.attrs)
        rewrite.note("simplified", [node], [number, better], "pass_stretch_later")
        return better

    return rewrite.walk(rule, {op for op in graph.operators if op.elementwise}), rewrite.changes

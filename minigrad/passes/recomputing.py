"""Recomputation (checkpointing): less memory for a second run of parts of the forward pass.

Backward reads values of the forward pass, so they are kept until then: n layers, n arrays. Instead
some can be dropped and computed once more when they are read. If every k-th is kept, n/k + k
arrays are alive at once; k = √n is the least (Chen et al. 2016, "Training Deep Nets with
Sublinear Memory Cost").
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from minigrad.diagnostics.arguments import open_shape, whole
from minigrad.diagnostics.errors import GraphError
from minigrad.diagnostics.source import here
from minigrad.passes.layout import RESHAPES, SOURCES, Layout, concrete_specs, kinds_of
from minigrad.passes.plan import share_buffers
from minigrad.passes.rewrite import Change, Rewrite, outermost
from minigrad.static import Graph, Node

__all__ = ["recompute"]

Shapes = Mapping[str, Sequence[int]]
GROWTH = 1.25  # from one length of a segment to the next that is tried
PATIENCE = 4  # lengths without a gain after which no longer ones are tried


def recompute(budget: int, shapes: Shapes | None = None) -> Callable[[Graph], Any]:
    """Make a pass that recomputes forward values until the plan fits `budget` bytes.

    What costs least comes first: element-wise values whose operands are kept anyway, then segments
    of growing length, and of these no more than needed. Results are the same bit for bit: random
    masks are functions of seed and count, and whatever has an effect runs once. Meant for a graph
    with gradients, before `fuse`. shapes: lengths of open placeholders by name, to plan with.
    Raises GraphError when no choice is within the budget, and says the least that is.

    >>> import minigrad as mg
    >>> with mg.Graph():
    ...     x = y = mg.placeholder("x", shape=(1000,))
    ...     for _ in range(48):
    ...         y = mg.tanh(y)
    ...     graph = mg.build_graph(x, mg.gradients(mg.sum(y), x)[0])
    >>> less = graph.optimize([mg.passes.recompute(64_000)])
    >>> [g.compile(optimize=False).plan.bytes // 4000 for g in (graph, less)]
    [50, 15]
    """
    whole("recompute", "budget", budget, most=None)
    given = {name: open_shape("recompute", shape) for name, shape in (shapes or {}).items()}

    @outermost
    def recompute(graph: Graph) -> tuple[Graph, list[Change]]:
        return _Segments(graph, given).within(budget)

    return recompute


class _Segments:
    """The forward pass of a graph, and which of its values backward finds when it reads them."""

    def __init__(self, graph: Graph, shapes: Mapping[str, Any]) -> None:
        self.graph, self.shapes = graph, shapes
        nodes = graph.nodes
        self.place = {node: i for i, node in enumerate(nodes)}
        backward = (i for i, n in enumerate(nodes) if "gradients" in n.scope.split("/"))
        self.split = next(backward, len(nodes))
        ends = {*graph.outputs, *graph.effects}
        self.there = {n for n in nodes if n in ends or not _may_run_again(n)}
        self.there.update(nodes[self.split :])
        late = {x for n in nodes[self.split :] for x in n.inputs}
        self.read = [n for n in nodes[: self.split] if n in late and n not in self.there]
        self.until = {x: i for i, n in enumerate(nodes[: self.split]) for x in n.inputs}

    # ---- Choosing ---------------------------------------------------------------------------

    def within(self, budget: int) -> tuple[Graph, list[Change]]:
        """Return the graph with the cheapest choice within the budget."""
        least = now = self.bytes(self.graph)
        if now <= budget:
            return self.graph, []
        tried = 0
        for kept in self._choices():
            now = self.bytes(self.built(kept, [])[0])
            if now <= budget:
                return self._recompute_fewest(kept, budget)
            tried = 0 if now < least else tried + 1
            least = min(least, now)
            if tried > PATIENCE:
                break
        raise GraphError("recompute_budget", budget=budget, least=least, ran=here())

    def _recompute_fewest(self, kept: set[Node], budget: int) -> tuple[Graph, list[Change]]:
        """Recompute only as many of this choice's first values as the budget needs."""
        dropped = [x for x in self.read if x not in kept]
        low, high = 0, len(dropped)
        while low < high:
            middle = (low + high) // 2
            if self.bytes(self.built(kept, dropped[middle:])[0]) <= budget:
                high = middle
            else:
                low = middle + 1
        return self.built(kept, dropped[high:])

    def _choices(self) -> Iterator[set[Node]]:
        """Yield sets of values to keep, from cheap to expensive."""
        for chains in (False, True):
            cheap = self._cheap(chains)
            if cheap:
                yield {x for x in self.read if x not in cheap}
        length = 2
        while length < len(self.read):
            yield self._segments(length)
            length = max(length + 1, int(length * GROWTH))

    def _cheap(self, chains: bool) -> set[Node]:
        """Return values that need no product or sum: from kept operands, or from each other."""
        cheap, late = set[Node](), set(self.read)
        for node in self.read:
            plain = node.op.elementwise or node.op in RESHAPES
            kept = (
                x in self.there or (x in late and (chains or x not in cheap)) for x in node.inputs
            )
            if plain and all(kept):
                cheap.add(node)
        return cheap

    def _segments(self, length: int) -> set[Node]:
        """Return what is needed at the ends of segments of this length, and all of the last one."""
        ends = {self.place[x] for x in self.read[length - 1 :: length]}
        kept: set[Node] = set()
        open_: dict[Node, None] = {}  # values that a later node of the forward pass reads
        for i, node in enumerate(self.graph.nodes[: self.split]):
            for x in node.inputs:
                if self.until[x] == i:
                    open_.pop(x, None)
            if self.until.get(node, i) > i:
                open_[node] = None
            if i in ends:
                kept.update(open_)
        kept.update(x for x in self.read if self.place[x] > max(ends))
        return kept

    def bytes(self, graph: Graph) -> int:
        """Return the bytes that a program for the graph plans."""
        shapes = {}
        for node in graph.placeholders:
            shape = self.shapes.get(node.name, node.shape)
            if shape is None or None in shape:
                raise GraphError("open_plan", name=node.name, defined=node.where, ran=here())
            shapes[node] = tuple(shape)
        specs = concrete_specs(graph, shapes)
        return share_buffers(Layout(graph, kinds_of(graph, specs)).requests(specs)).bytes

    # ---- Building ---------------------------------------------------------------------------

    def built(self, kept: set[Node], also: Sequence[Node]) -> tuple[Graph, list[Change]]:
        """Build the graph whose backward pass recomputes what is neither kept nor there anyway."""
        there = self.there | kept | {*also}
        rewrite, again = Rewrite(self.graph), dict[Node, Node]()
        last: Node | None = None  # of backward, so far
        for i, node in enumerate(self.graph.nodes):
            if i < self.split:
                rewrite.put(node, node)
                continue
            waiting = [x for x in node.inputs if x not in there]
            own = [x for x in node.inputs if self.place[x] >= self.split]
            after = rewrite.of(own[0]) if own else last
            while waiting:
                x = waiting[-1]
                needed = [y for y in x.inputs if y not in there and y not in again]
                if x in again or not needed:
                    waiting.pop()
                    if x not in again:
                        again[x] = self._recompute_copy(x, again, after, rewrite)
                else:
                    waiting += needed
            inputs = [again[x] if x in again else rewrite.of(x) for x in node.inputs]
            rewrite.put(node, rewrite.keep(node, inputs, again=bool(again and node.inputs)))
            last = rewrite.of(node)
        return rewrite.finish(), rewrite.changes

    def _recompute_copy(
        self, node: Node, again: Mapping[Node, Node], after: Node | None, rewrite: Rewrite
    ) -> Node:
        """Copy the node, to run when backward reaches it if it starts from kept values.

        Otherwise it would be merged with the first again, or run as early.
        """
        inputs = [again.get(x, x) for x in node.inputs]
        first = all(x not in again for x in node.inputs)
        controls = (after,) if first and after is not None else ()
        copy = rewrite.make(node.op, inputs, node, node.attrs, controls, node.name, node.spec)
        rewrite.note("recomputed", [node], [copy], "pass_recomputed")
        return copy


def _may_run_again(node: Node) -> bool:
    op = node.op
    simple = op not in SOURCES and not (op.effect or op.impure or node.controls)
    return simple and node.spec.shape != ()

"""The treatment of each value of a graph, decided once for all input sizes.

source   fed, a variable or a constant
alias    another value in another shape
whole    a fused region with several results: not a value itself
planned  in the arena
result   in an array of its own, because the caller or a variable keeps it
free     as it comes: what has no known shape, and what executors handle
"""

from __future__ import annotations

import functools
import operator
from collections import Counter
from collections.abc import Mapping

from minigrad import control, ops
from minigrad.core import Spec, TupleSpec
from minigrad.diagnostics.errors import GraphError
from minigrad.diagnostics.source import here
from minigrad.ops import parts, state
from minigrad.passes.plan import Request, depth_first, share_buffers
from minigrad.static import Graph, Node
from minigrad.static.fused import FUSED
from minigrad.static.handlers import HANDLERS, number_counters
from minigrad.static.run import Step

SOURCES = (state.placeholder, state.variable, state.constant)
# The same elements in the same order: the result is the operand in another shape.
RESHAPES = (
    *(ops.reshape, ops.reshape_like, ops.expand_dims, ops.squeeze),
    *(ops.identity, ops.stop_gradient),
)

Shape = tuple[int, ...]
Specs = dict[Node, Spec]
Kinds = tuple[str, ...]


def concrete_specs(graph: Graph, shapes: Mapping[Node, Shape]) -> Specs:
    """Infer every node's spec from the shapes of the inputs by the operators' rules."""
    known: Specs = {}
    for node in graph.nodes:
        if node in shapes:
            known[node] = Spec(shapes[node], node.spec.dtype)
        elif node.inputs:
            try:
                known[node] = node.op.spec([known[x] for x in node.inputs], node.attrs)
            except GraphError as error:
                error.defined, error.ran = error.defined or node.where, here()
                raise
        else:
            known[node] = node.spec
    return known


def is_known(spec: Spec) -> bool:
    """Return whether every length is known."""
    return spec.shape is not None and all(type(n) is int for n in spec.shape)


def kinds_of(graph: Graph, specs: Mapping[Node, Spec]) -> Kinds:
    """Return the kind of each node, before it is known what the caller keeps."""
    found: dict[Node, str] = {}
    for node in graph.nodes:
        sure = node.op is parts.output or all(is_known(specs[x]) for x in node.inputs)
        found[node] = _kind(node, specs[node], found) if sure else "free"
    return tuple(found.values())


def _kind(node: Node, spec: Spec, found: Mapping[Node, str]) -> str:
    op = node.op
    if op in SOURCES:
        return "source"
    if op is FUSED and isinstance(spec, TupleSpec):
        return "whole" if all(map(is_known, spec.parts)) else "free"
    if op is parts.output and found[node.inputs[0]] == "whole":
        return "planned"
    if op in HANDLERS or op.impure or not is_known(spec):
        return "free"
    return "alias" if op in RESHAPES else "planned"


class Layout:
    """The treatment of each node, and the lifetime of each value.

    specs: sizes by which the order of the nodes is chosen, that in which they were built or depth
    first, whichever needs less memory.
    """

    def __init__(
        self, graph: Graph, kinds: Kinds, specs: Mapping[Node, Spec] | None = None
    ) -> None:
        self.graph, self.kinds, self.order = graph, kinds, graph.nodes
        self.kind = dict(zip(graph.nodes, kinds, strict=True))
        self.root: dict[Node, Node] = {}  # of an alias: whose elements it shows
        for node in self.order:
            alias = self.kind[node] == "alias"
            self.root[node] = self.root[node.inputs[0]] if alias else node
        self.parts = self._region_results()
        self.assigned = self._in_place_values()
        for x in (*graph.outputs, *self.assigned):
            if self.kind[self.root[x]] == "planned":
                self.kind[self.root[x]] = "result"
        self.steps = self._steps()
        self.lives = self._lifetimes()
        if specs is not None:
            self._choose_order(specs)

    def _choose_order(self, specs: Mapping[Node, Spec]) -> None:
        as_built, lives = self.order, self.lives
        self.order = depth_first(self.graph)
        if all(map(operator.is_, self.order, as_built)):
            return
        bytes_as_built = share_buffers(self.requests(specs)).bytes
        self.lives = self._lifetimes()
        if share_buffers(self.requests(specs)).bytes >= bytes_as_built:
            self.order, self.lives = as_built, lives

    def _in_place_values(self) -> dict[Node, Node]:
        """Return the values that are computed in a variable's memory."""
        found: dict[Node, Node] = {}
        assigns = [node for node in self.order if node.op is state.assign]
        times = Counter(node.inputs[0] for node in assigns)
        for variable, value in (node.inputs for node in assigns):
            if self.kind[value] == "planned" and value not in found and times[variable] == 1:
                found[value] = variable
        returned = {self.root[x] for x in self.graph.outputs}
        return {x: v for x, v in found.items() if x not in returned}

    def adopts(self, node: Node) -> bool:
        """Return whether an assigned value is in the variable's own memory after a run."""
        return self.assigned.get(node.inputs[1]) is node.inputs[0]

    @functools.cached_property
    def noted(self) -> set[Node]:
        """Assignments whose results nothing reads, made at the end of a run."""
        if any(node.op is state.read_value for node in self.order):
            return set()
        read = {x for node in self.order if node.op is not state.group for x in node.inputs}
        read.update(self.graph.outputs)
        made = {n for n in self.order if n.op is state.assign and self.adopts(n)}
        return made - read

    def _region_results(self) -> dict[Node, dict[int, Node]]:
        """Return for each region with several results the nodes of these results."""
        found: dict[Node, dict[int, Node]] = {}
        for node in self.order:
            if node.op is parts.output and self.kind[node.inputs[0]] == "whole":
                of = found.setdefault(node.inputs[0], {})
                first = of.setdefault(node.attrs["index"], node)
                if first is not node:  # the same result once more
                    self.kind[node], self.root[node] = "alias", self.root[first]
        return found

    def _steps(self) -> dict[Node, Step]:
        """Prepare the bodies of branches and loops once."""
        found = {n: Step(n, [], 0, ()) for n in self.order if n.op in HANDLERS}
        number_counters(found.values())
        for node in self.order:
            if node.op is control.HISTORY:
                found[node.inputs[0]].keeps_history = True
        return found

    def _lifetimes(self) -> dict[Node, tuple[int, int]]:
        """Return each planned value's first and last step, in their order."""
        place = {node: i for i, node in enumerate(self.order)}
        end = dict(place)
        for node, i in place.items():
            for x in node.inputs:
                end[self.root[x]] = max(end[self.root[x]], i)
        start = {n: place[n.inputs[0]] if n.op is parts.output else i for n, i in place.items()}
        return {
            n: (start[n], end[n])
            for n in sorted(self.order, key=start.__getitem__)
            if self.kind[n] == "planned"
        }

    def requests(self, specs: Mapping[Node, Spec]) -> list[Request]:
        """Return the values that need a place in the arena, with their sizes."""
        over = self.graph.in_place
        return [
            Request(n, shape_of(specs[n]), *life, (over[n],) if n in over else ())
            for n, life in self.lives.items()
        ]


def shape_of(spec: Spec) -> Shape:
    """Return the shape of a spec in which every length is known."""
    return spec.shape  # type: ignore[return-value]

"""A graph inside another: what it takes from around it, and how tensors are read meanwhile."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any, Self

from minigrad.core import Attrs, Dtype, Op, ancestors, as_array, context, int64
from minigrad.diagnostics.errors import GraphError, TraceError
from minigrad.diagnostics.messages import fill
from minigrad.diagnostics.source import here
from minigrad.ops import state
from minigrad.static.current import building
from minigrad.static.graph import Graph, has_effect
from minigrad.static.node import Node

# What belongs to the outermost graph, because a run of it has feeds and a session.
OUTSIDE_ONLY = {state.placeholder, state.variable, state.assign, state.initialize, state.read_value}


class Body(Graph):
    """A graph inside another: a branch, the step of a loop, a traced function.

    What it uses from outside becomes a further input, a capture: a node of the graph around it,
    or (with nothing around it) a tensor, whose value is taken anew at each call.
    """

    claimed = frozenset()  # nodes in here aren't fed by name
    reads_tensors = True

    def __init__(self, outer: Graph | None = None, function: str = "") -> None:
        super().__init__()
        self.outer = outer
        self.function = function  # the name of the function that is traced
        self.captures: dict[Node, Any] = {}  # for each stand-in the node or tensor it stands for
        self.numbers: dict[Node, Dtype] = {}  # see `number_behind`, as of:
        self.choices: dict[Node, Node] = {}  # results of branches that choose among numbers

    @contextlib.contextmanager
    def extended(self) -> Iterator[None]:
        """Build more on a finished body, such as gradients, and remove it again afterwards."""
        kept = self._nodes, self._names
        self._nodes, self._names, self.frozen = (
            list(self._nodes),
            {k: [*v] for k, v in self._names.items()},
            False,
        )
        try:
            with self:
                yield
        finally:
            (self._nodes, self._names), self.frozen = kept, True

    def lift(self, x: Any, dtype: Dtype | None = None, who: str = "constant") -> Node:
        if isinstance(x, Node):
            return x if x.graph is self else self._capture(x)
        if hasattr(type(x), "as_node") or self.refers_to(x):
            return self._capture(x)
        return self.constant(as_array(x, dtype, who))

    def inside(self, x: Node) -> tuple[Op, Attrs] | None:
        """Return what this input becomes in graphs after `close_over`; None: it stays an input."""
        return None

    def returned(self) -> tuple[Sequence[Any], bool]:
        """Return what the function returned, nodes or arrays, and whether it is a single value."""
        return self.outputs, self.single

    def refers_to(self, x: Any) -> bool:
        """Return whether this array is used by reference, not as the constant that it is now."""
        return isinstance(self.outer, Body) and self.outer.refers_to(x)

    def _capture(self, x: Any) -> Node:
        """Return the stand-in for a node or tensor from outside, the same one at each use."""
        if id(x) not in self._lifted:
            source = (
                x if self.outer is None or x in self.outer else self.outer.lift(x, who="capture")
            )
            if isinstance(source, Node) and not self._surrounded_by(source):
                raise source.graph.wrong_graph_error(source, "capture")
            known = source is not x and id(source) in self._lifted
            node = self._lifted[id(source)][1] if known else self._stand_in(source)
            self._lifted[id(x)] = (x, node)
            self._lifted[id(source)] = (source, node)
        return self._lifted[id(x)][1]

    def _surrounded_by(self, node: Node) -> bool:
        """Return whether a body may read the node: its graph is around it, or still open."""
        if self.outer is not None:
            return node in self.outer
        body = isinstance(node.graph, Body)
        return not node.graph.frozen and (not body or node.graph in building.stack)

    def _stand_in(self, source: Any) -> Node:
        """Make a copy of a constant, or a placeholder for a value from outside."""
        if isinstance(source, Node) and source.op is state.constant:
            source.graph.embedded.add(source)
            return self.constant(source.attrs["value"])
        shape = source.spec.shape if isinstance(source, Node) else source.shape
        attrs = {"shape": shape, "dtype": source.dtype}
        node = self.input(attrs, getattr(source, "name", None) or "captured")
        self.captures[node] = source
        return node

    def python_value(self, node: Node, use: str) -> Any:
        if self.outer is None:
            return super().python_value(node, use)
        return self.outer.python_value(node, use)  # a traced function knows its arguments' names

    def wrong_graph_error(self, node: Node, who: str) -> GraphError:
        outermost: Body = self
        while isinstance(outermost.outer, Body):
            outermost = outermost.outer
        name = outermost.function
        where = (name, name) if name else fill("a_body")
        about = {"name": node.name, "op": node.op, "function": where}
        return TraceError("leaked", **about, defined=node.where, ran=here())

    def input(self, attrs: Attrs, name: str | None) -> Node:
        """Add a placeholder to this graph, outside any scope."""
        scope, context.now.scope = context.now.scope, ""
        try:
            return super().add(state.placeholder, (), attrs, name)
        finally:
            context.now.scope = scope

    def buffer(self, x: Any) -> Node:
        return self.lift(x if self.outer is None else self.outer.buffer(x))

    def is_variable(self, node: Node) -> bool:
        source = self.captures.get(node)
        if isinstance(source, Node) and source.graph.is_variable(source):
            raise GraphError("assign_in_body", op="Assign", name=node.name, defined=here())
        return False

    def run_counter(self) -> Node:
        """Return the outermost graph's counter; a traced function gets its own as an input."""
        if self._counter is None:
            if self.outer is not None:
                self._counter = self.lift(self.outer.run_counter())
            else:
                self._counter = self.input({"shape": (), "dtype": int64}, "run_counter")
        return self._counter

    def call_counter(self, calls: Iterator[int]) -> Node:
        """Count one more call in the outermost graph; a traced function gets it as an input."""
        if self.outer is not None:
            return self.lift(self.outer.call_counter(calls))
        return self.input({"shape": (), "dtype": int64}, "call_counter")

    def add(self, op: Op, inputs: Sequence[Node], attrs: Attrs, name: str | None = None) -> Node:
        if op in OUTSIDE_ONLY:
            raise GraphError("inside_body", op=op.name, defined=here())
        return super().add(op, inputs, attrs, name)

    def finish(self, inputs: Sequence[Node], outputs: Sequence[Node]) -> Self:
        """Freeze: keep what the outputs need and what has an effect, drop everything else."""
        self.inputs, self.outputs = tuple(inputs), tuple(outputs)
        self.effects = tuple(n for n in self._nodes if has_effect(n))
        self._nodes = ancestors([*self.inputs, *self.outputs, *self.effects])
        return self.freeze()


def number_behind(x: Any) -> Node | None:
    """Return the loop state behind x that starts from a Python number, or None.

    As long as the loop is being built, such a state has no data type of its own: its body notes in
    `numbers` which one it is to have.
    """
    while isinstance(x, Node) and isinstance(x.graph, Body):
        if x in x.graph.numbers:
            return x
        x = x.graph.captures.get(x, x.graph.choices.get(x))
    return None


@contextlib.contextmanager
def tensors_as_nodes(graph: Graph) -> Iterator[None]:
    """Read tensors as nodes of `graph` inside the block, even without a node among the operands.

    A layer that is called with a node may so compute with its parameters alone.
    """
    building.enter(graph, Node.reader)
    try:
        yield
    finally:
        building.leave(graph)


class without_listeners:
    """Keep scratch nodes built in the block out of the user's recordings, scopes and graphs."""

    def __enter__(self) -> None:
        now = context.now
        self.audience, self.scope = now.audience, now.scope
        now.audience, now.scope = object(), ""
        self.graph = Graph().__enter__()

    def __exit__(self, *exc: object) -> None:
        self.graph.__exit__()
        now = context.now
        now.audience, now.scope = self.audience, self.scope

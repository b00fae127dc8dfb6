"""The graph: nodes in the order in which they were built, and queries about them."""

from __future__ import annotations

import hashlib
import itertools
import sys
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from minigrad.core import (
    Array,
    Attrs,
    Dtype,
    Op,
    PublicShape,
    Spec,
    as_array,
    context,
    events,
    in_body,
    int64,
    next_order,
    public_shape,
    show_shape,
)
from minigrad.diagnostics.errors import (
    ArgumentError,
    FrozenGraphError,
    GraphError,
    TraceError,
    VerifyError,
)
from minigrad.diagnostics.messages import fill
from minigrad.diagnostics.source import Location, caller, here
from minigrad.ops import state
from minigrad.static.current import building, lifting
from minigrad.static.gradient_list import Gradients
from minigrad.static.labels import DECLARED, labels
from minigrad.static.node import Node
from minigrad.static.order import dependency_order, topological_orders
from minigrad.static.text import describe
from minigrad.static.traced_length import with_lengths

__all__ = ["Graph"]

if TYPE_CHECKING:  # `minigrad.methods` adds these when it loads
    from minigrad.methods import GraphMethods
else:
    GraphMethods = object


class Graph(GraphMethods):
    """Nodes in the order in which they were built.

    An open graph is a place to build in: `with mg.Graph() as g:`. A frozen one has inputs and
    outputs and never changes; passes and executors take that.

    >>> import minigrad as mg
    >>> with mg.Graph() as g:
    ...     x = mg.placeholder("x", shape=())
    ...     graph = mg.build_graph(x, x * x)
    >>> g, graph
    (<Graph: 2 nodes, 0 outputs, open>, <Graph: 2 nodes, 1 outputs, frozen>)
    """

    claimed: ClassVar[Container[Op]] = DECLARED  # operators whose nodes are called as written
    reads_tensors: ClassVar[bool] = False  # tensors are read as nodes while it is built
    open_lengths = False  # lengths that Python reads from shapes are traced, see `TracedLength`
    history: tuple[Any, ...] = ()  # what each optimiser pass did to make this graph

    def __init__(self) -> None:
        self._nodes: list[Node] = []
        self._names: dict[str, list[int]] = {}  # for each how many others have it
        self._lifted: dict[int, tuple[Any, Node]] = {}
        self.inputs: tuple[Node, ...] = ()
        self.outputs: tuple[Node, ...] = ()
        self.effects: tuple[Node, ...] = ()  # run with the outputs though nothing reads them
        self.updates: list[Any] = []  # new values of buffers, such as running means
        self._counter: Node | None = None
        self._layers: dict[int, tuple[Any, int, Iterator[int]]] = {}  # see `call_counter`
        self.expected: list[tuple[Any, Callable[[int], bool]]] = []  # see `TracedLength.expect`
        self.single = False  # one output was asked for, not a list of them
        self.frozen = False
        self._operators: frozenset[Op] | None = None
        self._labels: dict[Node, str] | None = None
        self.embedded: set[Node] = set()  # constants that a branch or loop has copies of
        self.in_place: dict[Node, Node] = {}  # which operand a result is written over
        self.notes: dict[Any, Any] = {}  # what others keep with this graph, by keys of their own

    @property
    def nodes(self) -> tuple[Node, ...]:
        """All nodes, in an order in which they can be computed."""
        return tuple(self._nodes)

    @property
    def variables(self) -> tuple[Node, ...]:
        """The nodes whose values a session keeps."""
        return tuple(n for n in self._nodes if n.op is state.variable)

    @property
    def placeholders(self) -> tuple[Node, ...]:
        """The nodes that are fed."""
        return tuple(n for n in self._nodes if n.op is state.placeholder)

    @property
    def operators(self) -> frozenset[Op]:
        """The operators that occur."""
        if self._operators is not None:
            return self._operators
        found = frozenset([n.op for n in self._nodes])
        if self.frozen:
            self._operators = found
        return found

    @property
    def labels(self) -> Mapping[Node, str]:
        """The unique label of each node: its name, numbered if a newer node has the same."""
        if self._labels is not None:
            return self._labels
        found = labels(self._nodes)
        if self.frozen:
            self._labels = found
        return found

    def __contains__(self, x: Any) -> bool:
        """Return whether this is a node of this graph."""
        return isinstance(x, Node) and x.graph is self

    def __enter__(self) -> Self:
        leaves_body = in_body() and building.stack[-1] is not self
        active = None if leaves_body else context.now.active_reader
        building.enter(self, Node.reader if self.reads_tensors else active)
        return self

    def __exit__(self, *exc: object) -> None:
        building.leave(self)

    def __repr__(self) -> str:
        kind = "frozen" if self.frozen else "open"
        return f"<Graph: {len(self._nodes)} nodes, {len(self.outputs)} outputs, {kind}>"

    def add(self, op: Op, inputs: Sequence[Node], attrs: Attrs, name: str | None = None) -> Node:
        """Append one node and infer its shape and data type, so that mistakes show here."""
        code, lasti = caller(sys._getframe(1))
        if self.frozen:
            raise FrozenGraphError("frozen", op=op.name, defined=Location(code, lasti))
        try:
            spec = op.spec([x.spec for x in inputs], attrs)
        except GraphError as error:
            error.defined = error.defined or Location(code, lasti)
            raise
        scope = context.now.scope
        node = Node()
        node.op, node.inputs, node.attrs, node.spec = op, tuple(inputs), attrs, spec
        node.order, node.scope, node.graph = next_order(), scope, self
        node.code, node.lasti = code, lasti
        claimed = name is not None and op in self.claimed
        node.name = (self._claim if claimed else self._unique)(name or op.name, scope)
        node.controls = building.controls and self._own_controls()
        self._nodes.append(node)
        if events.listeners:
            events.emit("built", op, node)
        return node

    def _own_controls(self) -> tuple[Node, ...]:
        return tuple(x for x in building.controls if x.graph is self)

    def _claim(self, name: str, scope: str) -> str:
        """Return the name as written; `labels` tells nodes with equal names apart."""
        full = f"{scope}/{name}" if scope else name
        self._names.setdefault(full, [0])
        return full

    def _unique(self, name: str, scope: str) -> str:
        full = f"{scope}/{name}" if scope else name
        mine = [0]
        while (used := self._names.setdefault(full, mine)) is not mine:  # no two threads get it
            used[0] += 1
            full = f"{full}_{used[0]}"
        return full

    def lift(self, x: Any, dtype: Dtype | None = None, who: str = "constant") -> Node:
        """Return any operand as a node of this graph; a tensor or number becomes a node once."""
        if isinstance(x, Node):
            if x.graph is not self:
                raise x.graph.wrong_graph_error(x, who)
            return x
        if hasattr(type(x), "as_node"):  # a Tensor: it knows whether it is a variable
            if id(x) not in self._lifted:
                with lifting:  # perhaps another thread has done it in the meantime
                    if id(x) not in self._lifted:
                        self._lifted[id(x)] = (x, x.as_node(self))
            return self._lifted[id(x)][1]
        if isinstance(x, Gradients):
            raise x.refusal(who)
        return self.constant(as_array(x, dtype, who))

    def lifted(self, x: Any) -> Node | None:
        """Return the node that a tensor became in this graph, or None."""
        return self._lifted[id(x)][1] if id(x) in self._lifted else None

    def buffer(self, x: Any) -> Node:
        """Return the variable for a tensor that is kept between runs without a gradient."""
        with lifting:
            if id(x) not in self._lifted:
                self._lifted[id(x)] = (x, self.variable(np.array(x._array)[()], x.name, "buffer"))
        return self._lifted[id(x)][1]

    def is_variable(self, node: Node) -> bool:
        """Return whether `assign` can give this node a new value."""
        return node.op is state.variable

    def assigned(self, variable: Node, value: Node) -> Node:
        """Return a node that gives the variable this value when it is fetched."""
        return self.add(state.assign, (variable, value), {})

    def parameters(self, nodes: Iterable[Node]) -> list[Node]:
        """Return the variables that training changes: of floats, without the buffers of layers."""
        return [
            x
            for x in nodes
            if x.op is state.variable and x.dtype.kind == "f" and x.attrs.get("role") != "buffer"
        ]

    def run_counter(self) -> Node:
        """Return a node that counts the earlier runs of this graph in the session (int64)."""
        with lifting:
            if self._counter is None:
                self._counter = self.add(state.run_counter, (), {"shape": (), "dtype": int64})
            return self._counter

    def call_counter(self, calls: Iterator[int]) -> Node:
        """Return a node with the number of one more call of a layer (int64).

        In runs of the whole graph its calls count on as `next(calls)` does in a dynamic graph:
        with two uses of the layer, 0 and 1 in the first run of a session, 2 and 3 in the second.
        """
        with lifting:
            if id(calls) not in self._layers:
                known = [n.attrs.get("layer", -1) for n in self._nodes if n.op is state.run_counter]
                self._layers[id(calls)] = calls, max(known, default=-1) + 1, itertools.count()
        _, layer, uses = self._layers[id(calls)]
        attrs = {"shape": (), "dtype": int64, "layer": layer, "use": next(uses)}
        return self.add(state.run_counter, (), attrs)

    def constant(self, value: Array, name: str | None = None) -> Node:
        """Add a node that has this value; see `mg.constant`."""
        return self.add(state.constant, (), state.valued(value), name)

    def variable(
        self, value: Array, name: str | None = None, role: state.Role | None = None
    ) -> Node:
        """Add a variable with this initial value; see `mg.Variable` and, on roles, `state`."""
        return self.add(state.variable, (), state.valued(value, role), name)

    def freeze(self) -> Self:
        """Allow no further node. (TensorFlow 1: graph.finalize().)"""
        self.frozen = True
        return self

    def __getitem__(self, name: str) -> Node:
        """Return the node of that name."""
        for node, label in self.labels.items():
            if label == name:
                return node
        names = ", ".join(self.labels[n] for n in self._nodes[:20]) or "-"
        raise GraphError("unknown_name", name=name, names=names)

    def replace(self, replacements: Mapping[Node, Node]) -> Graph:
        """Return the graph with some nodes replaced, for example a placeholder by a result.

        Returns a new frozen graph. Its inputs are those that were not replaced, needed or not, and
        the placeholders that came in; they are fed as before. CycleError, naming the path, when a
        node would come to depend on itself.
        """
        graph = Graph()
        new: dict[Node, Node] = {}
        kept = [x for x in self.inputs if x not in replacements]
        for node in dependency_order([*kept, *self.outputs, *self.effects], replacements):
            inputs = tuple(new[replacements.get(x, x)] for x in node.inputs)
            controls = tuple(new[replacements.get(x, x)] for x in node.controls)
            new[node] = graph._take(node, inputs, controls, self.labels.get(node))
        graph.inputs = tuple(dict.fromkeys([*(new[x] for x in kept), *graph.placeholders]))
        graph.outputs = tuple(new[replacements.get(x, x)] for x in self.outputs)
        graph.effects = tuple(new[replacements.get(x, x)] for x in self.effects)
        graph.single = self.single
        return graph.freeze()

    def orders(self) -> Iterator[tuple[Node, ...]]:
        """Yield every topological order of the nodes, first the one they were built in.

        Placeholders, variables and constants wait for nothing and come first in all. A chain has
        one order; their number can grow with the factorial of the number of nodes, so take
        what you need: `itertools.islice(graph.orders(), 10)`.

        >>> import minigrad as mg
        >>> with mg.Graph():
        ...     a = mg.placeholder("a")
        ...     d = mg.sin(a) + mg.cos(a)
        ...     graph = mg.build_graph(a, d)
        >>> for order in graph.orders():
        ...     print(" ".join(str(node.op) for node in order))
        Placeholder Sin Cos Add
        Placeholder Cos Sin Add
        """
        return topological_orders(self._nodes)

    def reordered(self, order: Sequence[Node]) -> Graph:
        """Return a frozen graph that has, and runs, its nodes in this order.

        ArgumentError when `order` does not hold each node once, or a node before one it depends on.

        >>> import minigrad as mg
        >>> with mg.Graph():
        ...     a = mg.placeholder("a")
        ...     graph = mg.build_graph(a, mg.sin(a) + mg.cos(a))
        >>> for order in graph.orders():
        ...     print(mg.run(graph.reordered(order), {"a": 0.0}))
        1.0
        1.0
        """
        if len(order) != len(self._nodes) or {*order} != {*self._nodes}:
            raise ArgumentError("order_nodes", given=len(order), nodes=len(self._nodes))
        other = Graph()
        new: dict[Node, Node] = {}
        for node in order:
            early = [x for x in (*node.inputs, *node.controls) if x not in new]
            if early:
                raise ArgumentError(
                    "order_early", node=node.name, missing=early[0].name, defined=node.where
                )
            inputs, controls = (tuple(new[x] for x in xs) for xs in (node.inputs, node.controls))
            new[node] = other._take(node, inputs, controls, self.labels[node])
        other.inputs = tuple(new[x] for x in self.inputs)
        other.outputs = tuple(new[x] for x in self.outputs)
        other.effects = tuple(new[x] for x in self.effects)
        other.single = self.single
        return other.freeze().verify()

    def shape_of(self, node: Node) -> PublicShape | None:
        """Return what Python may know of a node's shape while the graph is built."""
        return public_shape(node.spec.shape)

    def add_copy(
        self,
        node: Node,
        inputs: tuple[Node, ...],
        spec: Spec | None = None,
        name: str | None = None,
        attrs: Attrs | None = None,
    ) -> Node:
        """Append a node like `node`, of whatever graph, on other inputs: same name, same line.

        spec: what is known of it, where that is known already. name, attrs: others than its own.
        """
        copy = Node()
        attrs = node.attrs if attrs is None else attrs
        copy.op, copy.attrs, copy.inputs = node.op, attrs, inputs
        copy.order, copy.scope, copy.graph = next_order(), node.scope, self
        copy.code, copy.lasti, copy.name = node.code, node.lasti, name or node.name
        if spec is None:
            spec = node.op.spec([x.spec for x in inputs], attrs) if inputs else node.spec
        copy.spec = spec
        copy.controls = ()
        self._names.setdefault(copy.name, [0])
        self._nodes.append(copy)
        return copy

    def _take(
        self,
        node: Node,
        inputs: tuple[Node, ...],
        controls: tuple[Node, ...],
        name: str | None = None,
    ) -> Node:
        """Copy a node of another graph; a placeholder is shared, so that it is fed as before."""
        if node.op is state.placeholder and not controls:
            self._names.setdefault(node.name, [0])
            self._nodes.append(node)
            return node
        copy = self.add_copy(node, inputs, name=name)
        copy.controls = controls
        return copy

    def derived(
        self,
        op: Op,
        inputs: tuple[Node, ...],
        attrs: Attrs,
        like: Node,
        name: str,
        spec: Spec | None = None,
    ) -> Node:
        """Append a node that is made for `like`, of whatever graph: on its line, in its scope."""
        node = Node()
        node.op, node.inputs, node.attrs, node.graph = op, inputs, attrs, self
        node.order, node.scope = next_order(), like.scope
        node.code, node.lasti = like.code, like.lasti
        node.spec = op.spec([x.spec for x in inputs], attrs) if spec is None else spec
        node.name, node.controls = self._unique(name, ""), ()
        self._nodes.append(node)
        if events.listeners:
            events.emit("built", op, node)
        return node

    def inline(self, body: Graph, values: Sequence[Node], effects: bool = True) -> tuple[Node, ...]:
        """Append the nodes of `body`, its inputs replaced by `values`; return its outputs here.

        Without `effects` nothing is printed or asserted once more: only values are wanted.
        """
        new = self.inlined(body, values, effects)
        return tuple(new[x] for x in body.outputs)

    def inlined(
        self, body: Graph, values: Sequence[Node], effects: bool = True
    ) -> dict[Node, Node]:
        """Inline `body` like `inline`; return for each of its nodes the one in its place here."""
        new: dict[Node, Node] = dict(zip(body.inputs, values, strict=True))
        for node in body.nodes:
            if node in new:
                continue
            if node.op.impure and not effects:
                new[node] = new[node.inputs[0]]
                continue
            name = self._unique(node.name, context.now.scope)
            attrs = with_lengths(node.attrs, new) if body.open_lengths else node.attrs
            copy = self.add_copy(node, tuple(new[x] for x in node.inputs), name=name, attrs=attrs)
            new[node] = copy
            copy.attrs = attrs if effects else without_effects(attrs)
            copy.controls = (*self._own_controls(), *(new[x] for x in node.controls))
            copy.scope = "/".join(filter(None, (context.now.scope, node.scope)))
            if events.listeners:
                events.emit("built", copy.op, copy)
        return new

    def wrong_graph_error(self, node: Node, who: str) -> GraphError:
        """Return the error about a node of this graph that was used in another one."""
        return GraphError("other_graph", op=who, name=node.name, defined=here())

    def python_value(self, node: Node, use: str) -> Any:
        """Raise TraceError: a node has no value while the graph is built.

        `use` is the row of messages that tells what Python wanted it for.
        """
        raise TraceError(
            "symbolic_bool" if use == "use_bool" else "symbolic_value",
            name=node.name,
            op=node.op,
            shape=show_shape(node.shape),
            use=fill(use),
            defined=node.where,
            ran=here(),
        )

    def verify(self, verified: Container[Node] = ()) -> Self:
        """Check that every record agrees with its operator's rules; VerifyError names the node.

        verified: nodes whose records were checked before; only their order is.
        """
        seen: set[Node] = set()
        known, see, frozen = seen.issuperset, seen.add, self.frozen
        for node in self._nodes:
            if frozen and not (known(node.inputs) and (not node.controls or known(node.controls))):
                late = next(x for x in (*node.inputs, *node.controls) if x not in seen)
                reason = f"operand {late.name} does not come before it"
                raise VerifyError("verify", name=node.name, op=node.op, reason=reason)
            if node not in verified:
                _verify_record(node)
            see(node)
        for x in (*self.inputs, *self.outputs, *self.effects):
            if self.frozen and x not in seen:
                raise VerifyError("verify", name=x.name, op=x.op, reason="it is not in the graph")
        return self

    def text(self, names: bool = True) -> str:
        """Write the graph as text, one line for each node, equal on every machine.

        Without `names`, placeholders and variables are told apart by their numbers alone.

        >>> import minigrad as mg
        >>> with mg.Graph():
        ...     x = mg.placeholder("x", shape=(None, 2))
        ...     print(mg.build_graph(x, x * x + 3).text())
        %0 = Placeholder "x" : float32[None, 2]
        %1 = Mul(%0, %0) : float32[None, 2]
        %2 = Constant 3.0 : float32[]
        %3 = Add(%1, %2) : float32[None, 2]
        return %3
        """
        called = self.labels if names else None
        number = {node: f"%{i}" for i, node in enumerate(self._nodes)}
        lines = [
            f"{number[n]} = {describe(n, number, bodies_of(n.attrs), called)} : {n.spec}"
            for n in self._nodes
        ]
        if self.outputs:
            lines.append("return " + ", ".join(number[n] for n in self.outputs))
        return "\n".join(lines)

    def counted(self) -> Counter[str]:
        """Count the nodes of each operator, inner graphs included."""
        counts: Counter[str] = Counter()
        waiting: list[Graph] = [self]
        while waiting:
            for node in waiting.pop()._nodes:
                counts[node.op.name] += 1
                waiting += bodies_of(node.attrs).values()
        return counts

    def hash(self) -> str:
        """Return a fingerprint of the structure, equal for equal graphs, whatever is fed to them.

        Names are no structure: a graph built again has new ones, and the same hash.
        """
        return hashlib.sha256(self.text(names=False).encode()).hexdigest()[:16]


def _verify_record(node: Node) -> None:
    spec = node.op.spec([x.spec for x in node.inputs], node.attrs)
    for body in bodies_of(node.attrs).values():
        body.verify()
    claimed = node.spec
    if spec == claimed:
        return
    if public_shape(spec.shape) != node.shape or spec.dtype != claimed.dtype:
        reason = f"it claims {node.spec}, the operator gives {spec}"
        raise VerifyError("verify", name=node.name, op=node.op, reason=reason)


def bodies_of(attrs: Attrs) -> dict[str, Graph]:
    """Return the graphs among attributes (branches, steps of loops) in the order of names."""
    found = {k: v for k, v in attrs.items() if isinstance(v, Graph)} if attrs else {}
    return dict(sorted(found.items())) if len(found) > 1 else found


def without_effects(attrs: Attrs) -> Attrs:
    """Return attributes whose graphs, inner ones included, print and assert nothing."""
    return {k: _silent(v) if isinstance(v, Graph) and v.effects else v for k, v in attrs.items()}


def _silent(body: Graph) -> Graph:
    stands: dict[Node, Node] = {}
    for node in body.nodes:
        if node.op.impure:
            stands[node] = stands.get(node.inputs[0], node.inputs[0])
    graph = body.replace(stands)
    for node in graph.nodes:
        node.attrs = without_effects(node.attrs)
    graph.effects = ()
    return graph


def has_effect(node: Node) -> bool:
    """Return whether running this node has an effect, in it or in a branch or loop inside."""
    op = node.op
    return op.impure or (
        op.infer is not None and any(body.effects for body in bodies_of(node.attrs).values())
    )

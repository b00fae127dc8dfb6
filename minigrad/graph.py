"""The static graph: nodes that are built and not run, and the graph that holds them."""

from __future__ import annotations

import hashlib
import sys
import threading
from collections.abc import Iterable, Mapping, Sequence
from operator import attrgetter
from typing import Any, ClassVar, Self

import numpy as np

from minigrad import events, ops
from minigrad.core import (
    Array,
    Attrs,
    BaseNode,
    Dtype,
    Op,
    PublicShape,
    Reader,
    Spec,
    as_array,
    as_weak,
    context,
    is_weak,
    next_order,
    public_shape,
    show_shape,
    unify,
)
from minigrad.errors import (
    CycleError,
    FrozenGraphError,
    GraphError,
    ShapeError,
    TraceError,
    VerifyError,
)
from minigrad.messages import fill
from minigrad.ops import state
from minigrad.source import Location, caller, here
from minigrad.values import Value


class Node(BaseNode, Value):
    """A value of a static graph: its shape and data type are known, the value is not yet.

    Nodes are made by `placeholder`, `Variable`, `constant` and by operators on them, and never
    change afterwards.
    """

    __slots__ = ("__weakref__", "graph", "name", "spec")
    reader: ClassVar[Reader]
    graph: Graph
    name: str
    spec: Spec

    @property
    def shape(self) -> PublicShape | None:
        """The shape; None stands for an unknown length, or for a wholly unknown shape."""
        return public_shape(self.spec.shape)

    @property
    def dtype(self) -> Dtype:
        return self.spec.dtype

    @property
    def ndim(self) -> int:
        """The number of axes; ShapeError when it is not known."""
        if self.spec.shape is None:
            raise ShapeError(
                "rank_unknown", op=self.op.name, name=self.name, defined=self.where, ran=here()
            )
        return len(self.spec.shape)

    def __repr__(self) -> str:
        return f"<Node {self.name} = {self.op}: {self.dtype} {show_shape(self.shape)}, no value>"

    __str__ = __repr__

    def _no_value(self, use: str) -> TraceError:
        return TraceError(
            "symbolic_value",
            name=self.name,
            op=self.op,
            shape=show_shape(self.shape),
            use=fill(use),
            defined=self.where,
            ran=here(),
        )

    def __bool__(self) -> bool:
        raise TraceError(
            "symbolic_bool",
            name=self.name,
            op=self.op,
            shape=show_shape(self.shape),
            defined=self.where,
            ran=here(),
        )

    def __float__(self) -> float:
        raise self._no_value("use_number")

    __int__ = __index__ = item = __float__

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        raise self._no_value("use_array")

    def numpy(self) -> Any:
        raise self._no_value("use_array")

    def __iter__(self) -> Any:
        raise self._no_value("use_loop")

    def __len__(self) -> int:
        raise self._no_value("use_loop")


class Graph:
    """Nodes in the order in which they were built.

    An open graph is a place to build in: `with mg.Graph() as g:`. A frozen one has inputs and
    outputs and never changes; passes and executors take that.
    """

    def __init__(self) -> None:
        self._nodes: list[Node] = []
        self._names: dict[str, int] = {}
        self._lifted: dict[int, tuple[Any, Node]] = {}
        self.inputs: tuple[Node, ...] = ()
        self.outputs: tuple[Node, ...] = ()
        self.single = False  # one output was asked for, not a list of them
        self.frozen = False

    @property
    def nodes(self) -> tuple[Node, ...]:
        """All nodes, in an order in which they can be computed."""
        return tuple(self._nodes)

    @property
    def variables(self) -> tuple[Node, ...]:
        return tuple(n for n in self._nodes if n.op is state.variable)

    @property
    def placeholders(self) -> tuple[Node, ...]:
        return tuple(n for n in self._nodes if n.op is state.placeholder)

    def __enter__(self) -> Self:
        _building.stack.append(self)
        return self

    def __exit__(self, *exc: object) -> None:
        _building.stack.remove(self)

    def __repr__(self) -> str:
        kind = "frozen" if self.frozen else "open"
        return f"<Graph: {len(self._nodes)} nodes, {len(self.outputs)} outputs, {kind}>"

    def add(self, op: Op, inputs: Sequence[Node], attrs: Attrs, name: str | None = None) -> Node:
        """Append one node; its shape and data type are inferred here, so mistakes show here."""
        code, lasti = caller(sys._getframe(1))
        where = Location(code, lasti)
        if self.frozen:
            raise FrozenGraphError("frozen", op=op.name, defined=where)
        try:
            spec = op.spec([x.spec for x in inputs], attrs)
        except GraphError as error:
            error.defined = error.defined or where
            raise
        node = Node()
        node.op, node.inputs, node.attrs, node.spec = op, tuple(inputs), attrs, spec
        node.order, node.scope, node.graph = next_order(), context.scope, self
        node.code, node.lasti = code, lasti
        node.name = self._unique(name or op.name, context.scope)
        self._nodes.append(node)
        if events.listeners:
            events.emit("built", op, node)
        return node

    def _unique(self, name: str, scope: str) -> str:
        full = f"{scope}/{name}" if scope else name
        used = self._names[full] = self._names.get(full, -1) + 1
        return self._unique(f"{name}_{used}", scope) if used else full

    def lift(self, x: Any, dtype: Dtype | None = None, who: str = "constant") -> Node:
        """Any operand as a node of this graph: a tensor or number becomes a node once."""
        if isinstance(x, Node):
            return x
        if hasattr(type(x), "as_node"):  # a Tensor: it knows whether it is a variable
            if id(x) not in self._lifted:
                self._lifted[id(x)] = (x, x.as_node(self))
            return self._lifted[id(x)][1]
        return self.constant(as_array(x, dtype, who))

    def lifted(self, x: Any) -> Node | None:
        """The node that a tensor became in this graph, if it did."""
        return self._lifted[id(x)][1] if id(x) in self._lifted else None

    def constant(self, value: Array, name: str | None = None) -> Node:
        attrs = {"value": value, "shape": value.shape, "dtype": value.dtype}
        return self.add(state.constant, (), attrs, name)

    def variable(self, value: Array, name: str | None = None) -> Node:
        attrs = {"value": value, "shape": value.shape, "dtype": value.dtype}
        return self.add(state.variable, (), attrs, name)

    def freeze(self) -> Self:
        """Allow no further node. (TensorFlow 1: graph.finalize().)"""
        self.frozen = True
        return self

    def __getitem__(self, name: str) -> Node:
        """The node of that name."""
        for node in self._nodes:
            if node.name == name:
                return node
        names = ", ".join(n.name for n in self._nodes[:20])
        raise GraphError("unknown_name", name=name, names=names)

    def replace(self, replacements: Mapping[Node, Node]) -> Graph:
        """The graph with some nodes replaced by others, for example a placeholder by a result.

        Returns a new frozen graph. CycleError, naming the path, when a node would come to depend
        on itself.
        """
        graph = Graph()
        new: dict[Node, Node] = {}
        for node in _dependency_order(self.outputs, replacements):
            with_new_inputs = tuple(new[replacements.get(x, x)] for x in node.inputs)
            new[node] = graph.add_copy(node, with_new_inputs)
        graph.inputs = tuple(new[x] for x in self.inputs if x in new)
        graph.outputs = tuple(new[replacements.get(x, x)] for x in self.outputs)
        graph.single = self.single
        return graph.freeze()

    def add_copy(self, node: Node, inputs: tuple[Node, ...]) -> Node:
        """Append a node like `node`, of whatever graph, on other inputs: same name, same line."""
        copy = Node()
        copy.op, copy.attrs, copy.inputs = node.op, node.attrs, inputs
        copy.order, copy.scope, copy.graph = next_order(), node.scope, self
        copy.code, copy.lasti, copy.name = node.code, node.lasti, node.name
        copy.spec = node.op.spec([x.spec for x in inputs], node.attrs) if inputs else node.spec
        self._nodes.append(copy)
        return copy

    def verify(self) -> Self:
        """Check that every record agrees with its operator's rules; VerifyError names the node."""
        seen: set[Node] = set()
        for node in self._nodes:
            for x in node.inputs:
                if self.frozen and x not in seen:
                    reason = f"operand {x.name} does not come before it"
                    raise VerifyError("verify", name=node.name, op=node.op, reason=reason)
            spec = node.op.spec([x.spec for x in node.inputs], node.attrs)
            if public_shape(spec.shape) != node.shape or spec.dtype != node.dtype:
                reason = f"it claims {node.spec}, the operator gives {spec}"
                raise VerifyError("verify", name=node.name, op=node.op, reason=reason)
            seen.add(node)
        return self

    def text(self) -> str:
        """The graph as text, one line a node: the same for the same graph on every machine.

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
        number = {node: f"%{i}" for i, node in enumerate(self._nodes)}
        lines = [f"{number[n]} = {_describe(n, number)} : {n.spec}" for n in self._nodes]
        if self.outputs:
            lines.append("return " + ", ".join(number[n] for n in self.outputs))
        return "\n".join(lines)

    def hash(self) -> str:
        """A fingerprint of the structure: equal for equal graphs, whatever is fed to them."""
        return hashlib.sha256(self.text().encode()).hexdigest()[:16]


def _describe(node: Node, number: Mapping[Node, str]) -> str:
    if node.op in (state.placeholder, state.variable):
        text = f'{node.op} "{node.name}"'
        return text if node.op is state.placeholder else f"{text} {_digest(node.attrs['value'])}"
    if node.op is state.constant:
        return f"{node.op} {_digest(node.attrs['value'])}"
    shown = [f"{k}={getattr(v, 'name', v)}" for k, v in sorted(node.attrs.items())]
    return f"{node.op}({', '.join([*(number.get(x, '?') for x in node.inputs), *shown])})"


def _digest(value: Array) -> str:
    """A short value itself, a long one by its fingerprint."""
    if value.size <= 8:
        return str(value.tolist())
    return "#" + hashlib.sha256(np.ascontiguousarray(value).tobytes()).hexdigest()[:12]


class GraphReader:
    """How a static graph reads `a * b`: add a node, run nothing."""

    level = 2

    def apply(self, op: Op, operands: tuple[Any, ...], attrs: Attrs) -> Node:
        graph = _graph_of(op, operands)
        given = [as_weak(x) for x in operands]
        mixed = [x if is_weak(x) else graph.lift(x, who=op.name) for x in given]
        return graph.add(op, [graph.lift(x) for x in unify(op, mixed, _cast)], attrs)


def _cast(x: Any, dtype: Dtype) -> Any:
    return ops.cast(x, dtype=dtype)


def _graph_of(op: Op, operands: Iterable[Any]) -> Graph:
    """The one graph that all node operands belong to."""
    nodes = [x for x in operands if isinstance(x, Node)]
    graph = nodes[0].graph
    if _building.stack and _building.stack[-1].frozen:
        raise FrozenGraphError("frozen", op=op.name, defined=here())
    for node in nodes:
        if node.graph is not graph:
            raise GraphError("other_graph", op=op.name, name=node.name, defined=here())
    return graph


Node.reader = GraphReader()


class _Building(threading.local):
    """The graphs that new nodes go to: the innermost `with graph:`, else the default one."""

    def __init__(self) -> None:
        self.default = Graph()
        self.stack: list[Graph] = []


_building = _Building()


def get_default_graph() -> Graph:
    """The graph that new placeholders, variables and constants are added to."""
    return _building.stack[-1] if _building.stack else _building.default


def reset_default_graph() -> None:
    """Start over with an empty default graph; nodes of the old one stay usable."""
    _building.default = Graph()


def expect_node(what: str, x: Any, graph: Graph | None = None) -> Node:
    """A node, or the node that a tensor became in the graph; GraphError for anything else."""
    node = x if isinstance(x, Node) else (graph or get_default_graph()).lifted(x)
    if node is None:
        raise GraphError("not_a_node", what=what, value=repr(x)[:60], defined=here())
    return node


def ancestors(outputs: Iterable[BaseNode]) -> list[Any]:
    """All nodes that `outputs` depend on, themselves included, in the order they were built."""
    found = set(outputs)
    waiting = list(found)
    while waiting:
        for x in waiting.pop().inputs:
            if isinstance(x, BaseNode) and x not in found:
                found.add(x)
                waiting.append(x)
    return sorted(found, key=attrgetter("order"))


def _dependency_order(outputs: Iterable[Node], replaced: Mapping[Node, Node]) -> list[Node]:
    """Nodes after their (replaced) inputs; CycleError when there is no such order."""
    done: dict[Node, bool] = {}  # False while the node's inputs are being visited
    order: list[Node] = []
    path: list[Node] = []
    waiting: list[tuple[Node, bool]] = [(replaced.get(n, n), False) for n in outputs]
    while waiting:
        node, visited = waiting.pop()
        if visited:
            done[node] = True
            order.append(path.pop())
        elif node not in done:
            done[node] = False
            path.append(node)
            waiting.append((node, True))
            waiting.extend((replaced.get(x, x), False) for x in reversed(node.inputs))
        elif not done[node]:
            start = [n is node for n in path].index(True)  # == would build a node
            names = [n.name for n in path[start:]] + [node.name]
            raise CycleError("cycle", path=" → ".join(names), defined=node.where, ran=here())
    return order

"""The static graph: nodes that are built and not run, and the graph that holds them."""

from __future__ import annotations

import contextlib
import hashlib
import os
import sys
import threading
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence, Set
from operator import attrgetter
from textwrap import indent
from typing import Any, ClassVar, Self

import numpy as np

from minigrad import events, ops, saving
from minigrad.core import (
    NODE_SLOTS,
    Array,
    Attrs,
    BaseNode,
    Dim,
    Dtype,
    Op,
    PublicShape,
    Reader,
    Spec,
    as_array,
    as_weak,
    context,
    int64,
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
    change afterwards. `inputs` are the nodes that this one reads, `op` is its operator, `name` its
    name in the graph. Using it where Python needs a value raises TraceError.

    >>> import minigrad as mg
    >>> with mg.Graph():
    ...     x = mg.placeholder("x", shape=(None, 3))
    ...     x * 2
    <Node Mul = Mul: float32 (None, 3), no value>
    """

    __slots__ = (*NODE_SLOTS, "__weakref__", "controls", "graph", "name", "spec")
    reader: ClassVar[Reader]
    inputs: tuple[Node, ...]
    controls: tuple[Node, ...]
    graph: Graph
    name: str
    spec: Spec

    @property
    def shape(self) -> PublicShape | None:
        """The shape; None stands for an unknown length, or for a wholly unknown shape."""
        return public_shape(self.spec.shape)

    @property
    def dtype(self) -> Dtype:
        """The data type of the value to come."""
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

    def __bool__(self) -> bool:
        return bool(self.graph.python_value(self, "use_bool"))

    def __float__(self) -> float:
        return float(self.graph.python_value(self, "use_number"))

    def __int__(self) -> int:
        return int(self.graph.python_value(self, "use_number"))

    def __index__(self) -> int:
        return int(self.graph.python_value(self, "use_number").__index__())

    def item(self) -> Any:
        """TraceError: a node has no value. A tensor gives its single number."""
        return self.graph.python_value(self, "use_number").item()

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        return np.array(self.graph.python_value(self, "use_array"), *args, **kwargs)

    def numpy(self) -> Any:
        """TraceError: a node has no value. A tensor gives its array."""
        return self.graph.python_value(self, "use_array")

    def __iter__(self) -> Iterator[Any]:
        return iter([self[i] for i in range(len(self.graph.python_value(self, "use_loop")))])

    def __len__(self) -> int:
        return len(self.graph.python_value(self, "use_loop"))

    def detach(self) -> Node:
        """The same value, through which no gradient flows."""
        return self._apply(ops.stop_gradient)

    def backward(self, *args: Any, **kwargs: Any) -> None:
        """TraceError: the gradients of a node are nodes, from `mg.gradients`."""
        raise self._refusal("node_backward", "backward")

    def register_hook(self, *args: Any, **kwargs: Any) -> None:
        """TraceError: the gradients of a node are nodes, from `mg.gradients`."""
        raise self._refusal("node_backward", "register_hook")

    def retain_grad(self) -> None:
        """TraceError: the gradients of a node are nodes, from `mg.gradients`."""
        raise self._refusal("node_backward", "retain_grad")

    def copy_(self, value: Any) -> None:
        """TraceError: a node never changes. A variable gets new values from `mg.assign`."""
        raise self._refusal("node_in_place", "copy_")

    def __setitem__(self, key: Any, value: Any) -> None:
        raise self._refusal("node_in_place", "x[…] =")

    def _refusal(self, key: str, use: str) -> TraceError:
        return TraceError(key, use=use, name=self.name, op=self.op, defined=self.where, ran=here())


class Graph:
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

    _optimizer: ClassVar[Callable[[Graph, Any], Graph]]  # set by `minigrad.passes`
    _compiler: ClassVar[Callable[..., Any]]  # set by `minigrad.compiled`
    history: tuple[Any, ...] = ()  # what each optimiser pass did to make this graph

    def __init__(self) -> None:
        self._nodes: list[Node] = []
        self._names: dict[str, int] = {}
        self._lifted: dict[int, tuple[Any, Node]] = {}
        self.inputs: tuple[Node, ...] = ()
        self.outputs: tuple[Node, ...] = ()
        self.effects: tuple[Node, ...] = ()  # run with the outputs though nobody reads them
        self.updates: list[Any] = []  # new values of buffers, such as running means
        self._counter: Node | None = None
        self.single = False  # one output was asked for, not a list of them
        self.frozen = False
        self.shared: Any = None  # the session of all functions that `theano_function` made

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

    def __contains__(self, x: Any) -> bool:
        """Whether this is a node that was built in this graph."""
        return isinstance(x, Node) and x.graph is self

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
        node.name = self._unique(name or op.name, scope)
        node.controls = _building.controls and self._own_controls()
        self._nodes.append(node)
        if events.listeners:
            events.emit("built", op, node)
        return node

    def _own_controls(self) -> tuple[Node, ...]:
        return tuple(x for x in _building.controls if x.graph is self)

    def _unique(self, name: str, scope: str) -> str:
        full = f"{scope}/{name}" if scope else name
        while (used := self._names.get(full)) is not None:
            self._names[full] = used + 1
            full = f"{full}_{used + 1}"
        self._names[full] = 0
        return full

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

    def buffer(self, x: Any) -> Node:
        """The variable for a tensor that is kept from run to run though it has no gradient."""
        if id(x) not in self._lifted:
            self._lifted[id(x)] = (x, self.variable(np.array(x.data)[()], x.name))
        return self._lifted[id(x)][1]

    def run_counter(self) -> Node:
        """How many times this graph was run before in the session, an int64 number."""
        if self._counter is None:
            self._counter = self.add(state.run_counter, (), {"shape": (), "dtype": int64})
        return self._counter

    def constant(self, value: Array, name: str | None = None) -> Node:
        """A node that has this value; see `mg.constant`."""
        attrs = {"value": value, "shape": value.shape, "dtype": value.dtype}
        return self.add(state.constant, (), attrs, name)

    def variable(self, value: Array, name: str | None = None) -> Node:
        """A node that begins with this value; see `mg.Variable`."""
        attrs = {"value": value, "shape": value.shape, "dtype": value.dtype}
        return self.add(state.variable, (), attrs, name)

    def optimize(self, passes: Any = None) -> Graph:
        """The graph after these optimiser passes; see `minigrad.passes.optimize`."""
        return self._optimizer(passes)

    def compile(self, optimize: bool = True, executor: str = "numpy", session: Any = None) -> Any:
        """A program: this graph made ready to run many times; see `minigrad.compiled.Program`."""
        return self._compiler(optimize, executor, session)

    def freeze(self) -> Self:
        """Allow no further node. (TensorFlow 1: graph.finalize().)"""
        self.frozen = True
        return self

    def __getitem__(self, name: str) -> Node:
        """The node of that name."""
        for node in self._nodes:
            if node.name == name:
                return node
        names = ", ".join(n.name for n in self._nodes[:20]) or "-"
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
            new[node].controls = tuple(new[replacements.get(x, x)] for x in node.controls)
        graph.inputs = tuple(new[x] for x in self.inputs if x in new)
        graph.outputs = tuple(new[replacements.get(x, x)] for x in self.outputs)
        graph.single = self.single
        return graph.freeze()

    def add_copy(self, node: Node, inputs: tuple[Node, ...], spec: Spec | None = None) -> Node:
        """Append a node like `node`, of whatever graph, on other inputs: same name, same line.

        spec: what is known of it, where that is known already.
        """
        copy = Node()
        copy.op, copy.attrs, copy.inputs = node.op, node.attrs, inputs
        copy.order, copy.scope, copy.graph = next_order(), node.scope, self
        copy.code, copy.lasti, copy.name = node.code, node.lasti, node.name
        if spec is None:
            spec = node.op.spec([x.spec for x in inputs], node.attrs) if inputs else node.spec
        copy.spec = spec
        copy.controls = ()
        self._nodes.append(copy)
        return copy

    def derived(
        self, op: Op, inputs: tuple[Node, ...], attrs: Attrs, like: Node, name: str
    ) -> Node:
        """Append a node that is made for `like`, of whatever graph: on its line, in its scope."""
        node = Node()
        node.op, node.inputs, node.attrs, node.graph = op, inputs, attrs, self
        node.order, node.scope = next_order(), like.scope
        node.code, node.lasti = like.code, like.lasti
        node.spec = op.spec([x.spec for x in inputs], attrs)
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
        """Like `inline`; returns for each node of `body` the one that stands for it here."""
        new: dict[Node, Node] = dict(zip(body.inputs, values, strict=True))
        for node in body.nodes:
            if node in new:
                continue
            if node.op.impure and not effects:
                new[node] = new[node.inputs[0]]
                continue
            copy = new[node] = self.add_copy(node, tuple(new[x] for x in node.inputs))
            copy.controls = (*self._own_controls(), *(new[x] for x in node.controls))
            copy.name = self._unique(node.name, context.scope)
            copy.scope = "/".join(filter(None, (context.scope, node.scope)))
            if events.listeners:
                events.emit("built", copy.op, copy)
        return new

    def python_value(self, node: Node, use: str) -> Any:
        """What Python may know of the value of a node while it is built: nothing, says the error.

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
        known = seen.issuperset
        for node in self._nodes:
            if self.frozen and not (known(node.inputs) and known(node.controls)):
                late = next(x for x in (*node.inputs, *node.controls) if x not in seen)
                reason = f"operand {late.name} does not come before it"
                raise VerifyError("verify", name=node.name, op=node.op, reason=reason)
            if node not in verified:
                _verify_record(node)
            seen.add(node)
        for x in (*self.inputs, *self.outputs, *self.effects):
            if self.frozen and x not in seen:
                raise VerifyError("verify", name=x.name, op=x.op, reason="it is not in the graph")
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

    def counted(self) -> Counter[str]:
        """How many nodes there are of each operator, those of inner graphs included."""
        counts: Counter[str] = Counter()
        waiting: list[Graph] = [self]
        while waiting:
            for node in waiting.pop()._nodes:
                counts[node.op.name] += 1
                waiting += [body for body in node.attrs.values() if isinstance(body, Graph)]
        return counts

    def save(self, path: str | os.PathLike[str], session: Any = None) -> None:
        """Write the graph into one file: JSON and arrays, no code; `mg.load_graph` reads it.

        Variables are saved with their initial values, or with those that `session` holds now. The
        same graph gives the same bytes. An older file of that name stays whole until the new one
        is complete. Raises FormatError for what is no data, such as a function in an attribute.
        """
        saving.save(self, path, session)

    def hash(self) -> str:
        """A fingerprint of the structure: equal for equal graphs, whatever is fed to them."""
        return hashlib.sha256(self.text().encode()).hexdigest()[:16]


def _verify_record(node: Node) -> None:
    spec = node.op.spec([x.spec for x in node.inputs], node.attrs)
    for body in node.attrs.values():
        if isinstance(body, Graph):
            body.verify()
    if public_shape(spec.shape) != node.shape or spec.dtype != node.dtype:
        reason = f"it claims {node.spec}, the operator gives {spec}"
        raise VerifyError("verify", name=node.name, op=node.op, reason=reason)


def _describe(node: Node, number: Mapping[Node, str]) -> str:
    if node.op in (state.placeholder, state.variable):
        text = f'{node.op} "{node.name}"'
        return text if node.op is state.placeholder else f"{text} {_digest(node.attrs['value'])}"
    if node.op is state.constant:
        return f"{node.op} {_digest(node.attrs['value'])}"
    operands = [number.get(x, "?") for x in node.inputs]
    operands += ["^" + number.get(x, "?") for x in node.controls]
    bodies = {k: v for k, v in sorted(node.attrs.items()) if isinstance(v, Graph)}
    shown = [f"{k}={_plain(v)}" for k, v in sorted(node.attrs.items()) if k not in bodies]
    inner = [f" {k} {{\n{indent(body.text(), '    ')}\n}}" for k, body in bodies.items()]
    return f"{node.op}({', '.join([*operands, *shown])}){''.join(inner)}"


def _plain(value: Any) -> str:
    """An attribute as text that does not depend on the machine."""
    if isinstance(value, (np.ndarray, np.generic)):
        return _digest(np.asarray(value))
    if isinstance(value, tuple) and any(isinstance(n, Dim) for n in value):
        return str(public_shape(value))
    return str(getattr(value, "name", value))


def _digest(value: Array) -> str:
    """A short value itself, a long one by its fingerprint."""
    if value.size <= 8:
        return str(value.tolist())
    return "#" + hashlib.sha256(np.ascontiguousarray(value).tobytes()).hexdigest()[:12]


# What belongs to the outermost graph, because a run of it has feeds and a session.
OUTSIDE_ONLY = {state.placeholder, state.variable, state.assign, state.initialize, state.read_value}


class Body(Graph):
    """A graph inside another: a branch, the step of a loop, a traced function.

    What it uses from outside becomes a further input, a capture: a node of the graph around it,
    or (with nothing around it) a tensor, whose value is taken anew at each call.
    """

    def __init__(self, outer: Graph | None = None, function: str = "") -> None:
        super().__init__()
        self.outer = outer
        self.function = function  # the name of the function that is traced
        self.captures: dict[Node, Any] = {}  # for each stand-in the node or tensor it stands for

    def __enter__(self) -> Self:
        events.listeners.append(_ignore)  # where anybody listens, tensors ask whether `in_body`
        return super().__enter__()

    def __exit__(self, *exc: object) -> None:
        super().__exit__(*exc)
        events.listeners.remove(_ignore)

    @contextlib.contextmanager
    def extended(self) -> Iterator[None]:
        """Build more on a finished body, its gradients for example; none of it stays in it."""
        kept = self._nodes, self._names
        self._nodes, self._names, self.frozen = list(self._nodes), dict(self._names), False
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

    def refers_to(self, x: Any) -> bool:
        """Whether this array is used by reference, not as the constant that it is now."""
        return isinstance(self.outer, Body) and self.outer.refers_to(x)

    def _capture(self, x: Any) -> Node:
        """What stands here for a node or tensor from outside, the same at each use."""
        if id(x) not in self._lifted:
            source = x if self.outer is None or x in self.outer else self.outer.lift(x)
            if isinstance(source, Node) and not self._surrounded_by(source):
                raise _stranger(source, "capture")
            known = source is not x and id(source) in self._lifted
            node = self._lifted[id(source)][1] if known else self._stand_in(source)
            self._lifted[id(x)] = (x, node)
            self._lifted[id(source)] = (source, node)
        return self._lifted[id(x)][1]

    def _surrounded_by(self, node: Node) -> bool:
        """Whether the node is of the graph around; a function may use those of any open graph."""
        if self.outer is not None:
            return node in self.outer
        body = isinstance(node.graph, Body)
        return not node.graph.frozen and (not body or node.graph in _building.stack)

    def _stand_in(self, source: Any) -> Node:
        """A constant once more, or a placeholder for a value from outside."""
        if isinstance(source, Node) and source.op is state.constant:
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

    def input(self, attrs: Attrs, name: str | None) -> Node:
        """A placeholder of this graph, outside any scope."""
        scope, context.scope = context.scope, ""
        try:
            return super().add(state.placeholder, (), attrs, name)
        finally:
            context.scope = scope

    def buffer(self, x: Any) -> Node:
        return self.lift(x if self.outer is None else self.outer.buffer(x))

    def run_counter(self) -> Node:
        """The counter of the outermost graph; a traced function is given its own as an input."""
        if self._counter is None:
            if self.outer is not None:
                self._counter = self.lift(self.outer.run_counter())
            else:
                self._counter = self.input({"shape": (), "dtype": int64}, "run_counter")
        return self._counter

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


def has_effect(node: Node) -> bool:
    """Whether something happens when this node runs, in it or in a branch or loop that it holds."""
    bodies = (v for v in node.attrs.values() if isinstance(v, Graph))
    return node.op.impure or any(body.effects for body in bodies)


def _ignore(event: events.Event) -> None:
    """Listen to nothing."""


def in_body() -> bool:
    """Whether tensors are read as nodes: in a branch, a loop step, a traced function, a layer."""
    top = _building.stack[-1] if _building.stack else None
    return top is not None and (isinstance(top, Body) or top is _building.lifting)


@contextlib.contextmanager
def tensors_as_nodes(graph: Graph) -> Iterator[None]:
    """Read tensors as nodes of `graph` inside the block, even where there is no node beside them.

    A layer that is called with a node may so compute with its parameters alone.
    """
    before, _building.lifting = _building.lifting, graph
    _building.stack.append(graph)
    events.listeners.append(_ignore)  # where anybody listens, tensors ask whether `in_body`
    try:
        yield
    finally:
        events.listeners.remove(_ignore)
        _building.stack.pop()
        _building.lifting = before


def _stranger(node: Node, who: str) -> GraphError:
    """The error about a node that has no business in the graph at hand."""
    if not isinstance(node.graph, Body):
        return GraphError("other_graph", op=who, name=node.name, defined=here())
    body: Any = node.graph
    while isinstance(body.outer, Body):
        body = body.outer
    where = (body.function, body.function) if body.function else fill("a_body")
    return TraceError(
        "leaked", name=node.name, op=node.op, function=where, defined=node.where, ran=here()
    )


class GraphReader:
    """How a static graph reads `a * b`: add a node, run nothing."""

    level = 2

    def apply(self, op: Op, operands: tuple[Any, ...], attrs: Attrs) -> Node:
        if context.now.recording and _ready(op, operands):
            ready: Graph = operands[0].graph
            return ready.add(op, operands, attrs)
        graph = graph_of(op, operands)
        given = [as_weak(op, x) for x in operands]
        mixed = [x if is_weak(x) else graph.lift(x, who=op.name) for x in given]
        node = graph.add(op, [graph.lift(x) for x in unify(op, mixed, _cast)], attrs)
        if context.recording or node.dtype.kind != "f" or op is ops.stop_gradient:
            return node
        return graph.add(ops.stop_gradient, (node,), {})  # no_grad while building


def _ready(op: Op, operands: tuple[Any, ...]) -> bool:
    """Whether these are nodes of the graph being built, and need no conversion."""
    if not operands or type(operands[0]) is not Node:
        return False
    graph, dtype = operands[0].graph, operands[0].spec.dtype
    stack = _building.stack
    if (stack[-1] if stack else graph) is not graph or (not stack and isinstance(graph, Body)):
        return False
    for x in operands:
        if type(x) is not Node or x.graph is not graph or x.spec.dtype is not dtype:
            return False
    return dtype.kind == "f" or op.inputs is None


def _cast(x: Any, dtype: Dtype) -> Any:
    return ops.cast(x, dtype=dtype)


def graph_of(op: Op, operands: Iterable[Any]) -> Graph:
    """The body being built, else the one graph that all node operands belong to."""
    if _building.stack and isinstance(_building.stack[-1], Body):
        return _building.stack[-1]
    nodes = [x for x in operands if isinstance(x, Node)]
    graph = nodes[0].graph if nodes else get_default_graph()
    if isinstance(graph, Body):
        raise _stranger(nodes[0], op.name)
    if _building.stack and _building.stack[-1].frozen:
        raise FrozenGraphError("frozen", op=op.name, defined=here())
    for node in nodes:
        if node.graph is not graph:
            raise _stranger(node, op.name)
    return graph


Node.reader = GraphReader()


class _Building(threading.local):
    """The graphs that new nodes go to: the innermost `with graph:`, else the default one."""

    def __init__(self) -> None:
        self.default = Graph()
        self.stack: list[Graph] = []
        self.lifting: Graph | None = None  # a layer is building into it
        self.controls: tuple[Node, ...] = ()


_building = _Building()


def get_default_graph() -> Graph:
    """The graph that new placeholders, variables and constants are added to.

    It is that of the innermost `with mg.Graph():`, or the one that is there from the start.
    (tf.get_default_graph.)

    >>> import minigrad as mg
    >>> with mg.Graph() as graph:
    ...     mg.get_default_graph() is graph
    True
    """
    return _building.stack[-1] if _building.stack else _building.default


@contextlib.contextmanager
def control_dependencies(nodes: Iterable[Node]) -> Iterator[None]:
    """Nodes built inside the block run after `nodes`, though they need no value from them.

    >>> import minigrad as mg
    >>> with mg.Graph(), mg.Session() as sess:
    ...     x = mg.constant(2.0)
    ...     with mg.control_dependencies([mg.Print(x, "x is")]):
    ...         y = x * x
    ...     float(sess.run(y))
    x is 2.0
    4.0
    """
    before = _building.controls
    _building.controls = (*before, *(expect_node("control_dependencies", x) for x in nodes))
    try:
        yield
    finally:
        _building.controls = before


def reset_default_graph() -> None:
    """Start over with an empty default graph; nodes of the old one stay usable.

    For notebooks, where a cell that is run twice would build twice. (tf.reset_default_graph.)

    >>> import minigrad as mg
    >>> x = mg.placeholder("x")
    >>> mg.reset_default_graph()
    >>> mg.placeholder("x").name  # not x_1
    'x'
    """
    _building.default = Graph()


def expect_node(what: str, x: Any, graph: Graph | None = None) -> Node:
    """A node, or the node that a tensor became in the graph; GraphError for anything else."""
    node = x if isinstance(x, Node) else (graph or get_default_graph()).lifted(x)
    if node is None:
        raise GraphError("not_a_node", what=what, value=repr(x)[:60], defined=here())
    return node


def ancestors(outputs: Iterable[BaseNode], given: Set[Any] = frozenset()) -> list[Any]:
    """All nodes that `outputs` depend on, themselves included, in the order they were built.

    What leads to `given` nodes is left out.
    """
    found = set(outputs)
    waiting = [x for x in found if x not in given] if given else list(found)
    while waiting:
        node = waiting.pop()
        for x in (*node.inputs, *node.controls) if node.controls else node.inputs:
            if isinstance(x, BaseNode) and x not in found:
                found.add(x)
                if x not in given:
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
            before = (*node.inputs, *node.controls)
            waiting.extend((replaced.get(x, x), False) for x in reversed(before))
        elif not done[node]:
            start = [n is node for n in path].index(True)  # == would build a node
            names = [n.name for n in path[start:]] + [node.name]
            raise CycleError("cycle", path=" → ".join(names), defined=node.where, ran=here())
    return order

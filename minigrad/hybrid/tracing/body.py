"""Tracing: a Python function is run once on stand-ins, and what it builds is kept as a graph."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from minigrad.core import Attrs, Dim, Op, Spec, as_array, context, int64, is_weak, show_shape
from minigrad.core.structure import LEAF, flatten, rebuild, transform
from minigrad.diagnostics.errors import DtypeError, FormatError, TraceError
from minigrad.diagnostics.messages import fill
from minigrad.diagnostics.source import here
from minigrad.dynamic.recording import at_once, recording
from minigrad.dynamic.tensor import Tensor
from minigrad.hybrid.buffers import BufferUpdate
from minigrad.hybrid.tracing.calls import building
from minigrad.hybrid.tracing.keys import TensorSpec, brief_repr, is_array
from minigrad.ops import state
from minigrad.static import Body, Node, ancestors


class TracedBody(Body):
    """The graph of a function that is being traced; it knows its arguments by their names."""

    def __init__(self, function: str, code: Any = None) -> None:
        super().__init__(None, function)
        self.code = code
        self.arguments: dict[Node, str] = {}
        self.buffers: set[int] = set()  # captured tensors that are kept from run to run
        self.referred: set[int] = set()  # arrays that are used by reference
        self.counters: dict[Node, Iterator[int] | None] = {}  # of what; None: of the calls of this
        self.sources: dict[Node, Callable[[], Any]] = {}  # the present values of what is captured
        self.arrangement: Arrangement | None = None

    def argument(self, spec: Spec, place: str, name: str | None = None) -> Node:
        """Add the stand-in for one argument."""
        node = self.input({"shape": spec.shape, "dtype": spec.dtype}, name or place)
        if self.code is not None:
            node.code, node.lasti = self.code, 0  # the line of the function's `def`
        self.arguments[node] = place
        return node

    def refers_to(self, x: Any) -> bool:
        return id(x) in self.referred

    def buffer(self, x: Any) -> Node:
        self.buffers.add(id(x))
        return super().buffer(x)

    def is_variable(self, node: Node) -> bool:
        source = self.captures.get(node)
        return isinstance(source, Tensor) and source.is_leaf

    def assigned(self, variable: Node, value: Node) -> Node:
        tensor = self.captures[variable]
        self.buffers.add(id(tensor))
        self.updates.append(BufferUpdate(tensor, value, frozenset()))
        return value

    def run_counter(self) -> Node:
        node = super().run_counter()
        self.counters[node] = None
        return node

    def call_counter(self, calls: Iterator[int]) -> Node:
        node = super().call_counter(calls)
        self.counters[node] = calls
        return node

    def inside(self, x: Node) -> tuple[Op, Attrs] | None:
        if x in self.counters:
            return state.run_counter, self._counter_attrs(x)
        if x not in self.captures:
            return None
        value = self.sources[x]() if x in self.sources else self.captures[x]
        if isinstance(value, Node):
            about: dict[str, Any] = {"function": self.function, "name": value.name, "op": value.op}
            raise FormatError("format_captured", **about, defined=value.where)
        array = np.array(value._array if isinstance(value, Tensor) else value)[()]
        if id(self.captures[x]) in self.buffers:
            return state.variable, state.valued(array, "buffer")
        if isinstance(value, Tensor) and value.is_leaf and value.requires_grad:
            return state.variable, state.valued(array, "parameter")
        return state.constant, state.valued(array)

    def _counter_attrs(self, x: Node) -> Attrs:
        """Return a counter's attributes; for a layer's, which layer and which of its uses."""
        attrs: Attrs = {"shape": (), "dtype": int64}
        of_layers = [(n, calls) for n, calls in self.counters.items() if calls is not None]
        layers = [*dict.fromkeys(id(calls) for _, calls in of_layers)]
        uses = [n for n, calls in of_layers if calls is self.counters[x]]
        if not uses:
            return attrs
        layer, use = layers.index(id(self.counters[x])), [n is x for n in uses].index(True)
        return {**attrs, "layer": layer, "use": use}

    def returned(self) -> tuple[Sequence[Any], bool]:
        if self.arrangement is None:
            return super().returned()
        leaves, skeleton = flatten(self.arrangement.of(self.outputs))
        strange = [x for x in leaves if not isinstance(x, Node) and not is_weak(x)]
        if strange:
            raise FormatError(
                "format_returned", function=self.function, value=brief_repr(strange[0])
            )
        return [as_array(x, None, "save") if is_weak(x) else x for x in leaves], skeleton is LEAF

    def python_value(self, node: Node, use: str) -> Any:
        if self.frozen:  # tracing is over: it was kept somewhere
            raise self.wrong_graph_error(node, "")
        about = {"name": node.name, "op": node.op, "shape": show_shape(node.shape)}
        names = ", ".join(self.arguments_behind(node))
        key = "from_arguments" if names else "from_nowhere"
        behind = fill(key, names=names, **about)
        if node in self.arguments:
            behind = fill("an_argument", name=names)
        raise TraceError(
            "traced_value",
            about=behind,
            function=self.function,
            use=fill(use),
            defined=node.where,
            ran=here(),
        )

    def arguments_behind(self, node: Node) -> list[str]:
        """Return the names of the arguments that a node is computed from, in order."""
        found: set[Node] = set()
        waiting = [node]
        while waiting:
            for x in ancestors([waiting.pop()]):
                if x in self.arguments:
                    found.add(x)
                elif isinstance(x.graph, Body) and isinstance(x.graph.captures.get(x), Node):
                    waiting.append(x.graph.captures[x])
        return [name for node, name in self.arguments.items() if node in found]


@contextlib.contextmanager
def clean_context() -> Iterator[None]:
    """Trace in a clean context: no scope, and the tape switched on."""
    scope, context.now.scope = context.now.scope, ""
    try:
        with building, recording(True), at_once():
            yield
    finally:
        context.now.scope = scope


def stand_ins(body: TracedBody, arrays: Sequence[tuple[str, Any]]) -> list[Node]:
    """Make a placeholder for each tensor or spec; equal open lengths stay equal.

    `arrays` are pairs of what it is called and what it is.
    """
    lengths: dict[Dim, Dim] = {}
    nodes = []
    for place, x in arrays:
        if x.dtype.kind not in "fiub":
            raise DtypeError("not_numeric", op=body.function, value=repr(x)[:60], defined=here())
        shape = x.spec.shape if isinstance(x, (Node, TensorSpec)) else x.shape
        if shape is not None:
            shape = tuple(lengths.setdefault(n, Dim()) if isinstance(n, Dim) else n for n in shape)
        name = x.name if isinstance(x, TensorSpec) else None
        nodes.append(body.argument(Spec(shape, x.dtype), place, name))
    return nodes


def replace_tensors(arguments: Any, nodes: Sequence[Node]) -> Any:
    """Replace each tensor, array, node or TensorSpec in the arguments by a node."""
    rest = iter(nodes)
    return transform(arguments, lambda x: next(rest) if is_array(x) else x)


class Arrangement:
    """How a function arranges its results: nodes by their number among the outputs, and constants.

    What is no tensor and no array (a number, a string, None) is returned as it is.
    """

    def __init__(self, result: Any, body: Body) -> None:
        leaves, self._skeleton = flatten(result)
        lifted = [body.lift(x) if is_array(x) else None for x in leaves]
        self.outputs = list(dict.fromkeys(x for x in lifted if x is not None))
        number = {node: i for i, node in enumerate(self.outputs)}
        self._places = [None if x is None else number[x] for x in lifted]
        self._constants = [None if is_array(x) else x for x in leaves]
        self.single = self._skeleton is LEAF and self._places == [0]

    def of(self, values: Sequence[Any]) -> Any:
        """Arrange the outputs as the function returned them."""
        if self.single:
            return values[0]
        pairs = zip(self._places, self._constants, strict=True)
        leaves = [constant if i is None else values[i] for i, constant in pairs]
        return rebuild(self._skeleton, leaves)

"""Running a graph: a flat list of steps, made once, then done again for every feed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from minigrad import events
from minigrad.core import Array, Op, explain, fits, public_shape, show_shape, spec_of
from minigrad.errors import FeedError, GraphError, NotFedError, ShapeError, UninitializedError
from minigrad.graph import Graph, Node, ancestors
from minigrad.ops import state
from minigrad.source import here

Variables = dict[Node, Array]


class Step:
    """One node of the program, and which results are no longer needed after it."""

    __slots__ = ("handler", "node", "release", "sources", "target")

    def __init__(
        self, node: Node, sources: list[int], target: int, release: tuple[int, ...]
    ) -> None:
        self.node, self.sources, self.target, self.release = node, sources, target, release
        self.handler = HANDLERS.get(node.op, _run_kernel)


class Run:
    """What one run of a program works on: its feeds, its variables, the updates it will make."""

    def __init__(self, feeds: Mapping[Node, Array], variables: Variables, target: Node) -> None:
        self.feeds, self.variables, self.target = feeds, variables, target
        self.updates: Variables = {}


class Program:
    """A graph made ready to run: the reference executor.

    It runs every node of the graph as it stands, in the order built, by the kernels that the
    dynamic graph uses, so both modes give the same bits. A result is dropped after its last use.
    """

    def __init__(self, outputs: Sequence[Node]) -> None:
        self.outputs = tuple(outputs)
        self.nodes: list[Node] = ancestors(outputs)
        self.placeholders = [n for n in self.nodes if n.op is state.placeholder]
        slot = {node: i for i, node in enumerate(self.nodes)}
        last_use = dict(slot)
        for node in self.nodes:
            last_use.update((x, slot[node]) for x in node.inputs)
        last_use.update((x, len(slot)) for x in self.outputs)
        ends: dict[int, list[int]] = {}
        for node, end in last_use.items():
            ends.setdefault(end, []).append(slot[node])
        self._results = [slot[x] for x in self.outputs]
        self.steps = [
            Step(node, [slot[x] for x in node.inputs], i, tuple(ends.get(i, ())))
            for i, node in enumerate(self.nodes)
        ]

    def __call__(self, feeds: Mapping[Node, Array], variables: Variables) -> list[Any]:
        """Run once. `variables` changes only if the whole run succeeded.

        Results share no memory with feeds, variables or constants.
        """
        if not self.outputs:
            return []
        run = Run(feeds, variables, self.outputs[0])
        values: list[Any] = [None] * len(self.steps)
        for step in self.steps:
            operands = [values[i] for i in step.sources]
            values[step.target] = step.handler(run, step.node, operands)
            for i in step.release:
                values[i] = None
        variables.update(run.updates)
        return [_own(x.op, values[i]) for x, i in zip(self.outputs, self._results, strict=True)]


def _own(op: Op, value: Any) -> Any:
    """A result that the caller may change without touching anything of ours."""
    borrowed = op in HANDLERS or getattr(value, "base", None) is not None
    return value.copy() if borrowed and isinstance(value, np.ndarray) else value


def _run_kernel(run: Run, node: Node, operands: list[Any]) -> Array:
    op = node.op
    try:
        value = op.run(None, *operands, **node.attrs)
    except GraphError as error:
        error.defined, error.ran = node.where, here()
        raise
    except (ValueError, IndexError, TypeError) as reason:
        found = explain(op, [spec_of(x) for x in operands], node.attrs, reason)
        found.defined, found.ran = node.where, here()
        raise found from None
    if events.listeners:
        events.emit("run", op, node, value, tuple(operands))
    return value


def _placeholder(run: Run, node: Node, operands: list[Any]) -> Array:
    if node not in run.feeds:
        raise NotFedError(
            "not_fed",
            name=node.name,
            shape=show_shape(node.shape),
            dtype=node.dtype,
            target=run.target.name,
            defined=node.where,
            ran=here(),
        )
    return _read(node, run.feeds[node])


def _variable(run: Run, node: Node, operands: list[Any]) -> Array:
    if node not in run.variables:
        raise UninitializedError(
            "uninitialized",
            name=node.name,
            shape=show_shape(node.shape),
            defined=node.where,
            ran=here(),
        )
    return _read(node, run.variables[node])


def _constant(run: Run, node: Node, operands: list[Any]) -> Array:
    return _read(node, node.attrs["value"])


def _read(node: Node, value: Array) -> Array:
    if events.listeners:
        events.emit("read", node.op, node, value)
    return value


def _assign(run: Run, node: Node, operands: list[Any]) -> Array:
    variable, value = node.inputs[0], operands[1]
    if value.shape != variable.shape:
        raise ShapeError(
            "assign_shape",
            op="Assign",
            name=variable.name,
            expected=show_shape(variable.shape),
            shape=value.shape,
            defined=node.where,
            ran=here(),
        )
    run.updates[variable] = _own(node.op, value)  # a copy: `value` may be fetched, too
    if events.listeners:
        events.emit("run", node.op, node, value, tuple(operands))
    return value


def _initialize(run: Run, node: Node, operands: list[Any]) -> None:
    for variable in node.attrs["variables"]:
        run.updates[variable] = variable.attrs["value"].copy()


def _group(run: Run, node: Node, operands: list[Any]) -> None:
    return None


HANDLERS: dict[Op, Callable[[Run, Node, list[Any]], Any]] = {
    state.placeholder: _placeholder,
    state.variable: _variable,
    state.constant: _constant,
    state.assign: _assign,
    state.initialize: _initialize,
    state.group: _group,
}


def check_feeds(graph: Graph, feed_dict: Mapping[Any, Any] | None) -> dict[Node, Any]:
    """The fed values as arrays of the placeholders' types and shapes, or the error that says why.

    Keys are placeholders of the graph, or their names.
    """
    feeds: dict[Node, Any] = {}
    for key, value in (feed_dict or {}).items():
        named = [n for n in graph.placeholders if n.name == key] if isinstance(key, str) else [key]
        if not named or not isinstance(named[0], Node) or named[0].op is not state.placeholder:
            names = ", ".join(n.name for n in graph.placeholders) or "-"
            shown = key.name if isinstance(key, Node) else repr(key)
            raise FeedError("feed_key", key=shown, names=names, ran=here())
        feeds[named[0]] = _fed(named[0], value)
    return feeds


def _fed(node: Node, value: Any) -> Array:
    about: dict[str, Any] = {"name": node.name, "defined": node.where, "ran": here()}
    try:
        given = np.asarray(value)
        if given.dtype.kind not in "fiub":
            raise TypeError(value)  # NumPy would make NaN of None, and drop imaginary parts
        array = np.ascontiguousarray(given, dtype=node.dtype).reshape(given.shape)
    except (TypeError, ValueError):
        brief = repr(value)[:60]
        raise FeedError("feed_value", value=brief, dtype=node.dtype, **about) from None
    if given.dtype.kind == "f" and node.dtype.kind != "f":
        raise FeedError("feed_type", expected=node.dtype, dtype=given.dtype, **about)
    if not fits(array.shape, node.spec.shape):
        shape, expected = show_shape(array.shape), show_shape(public_shape(node.spec.shape))
        raise FeedError("feed_shape", shape=shape, expected=expected, **about)
    return array[()] if array.ndim == 0 else array


def run(graph: Graph, feed_dict: Mapping[Any, Any] | None = None) -> Any:
    """Run a graph from `build_graph` once; keys of `feed_dict` are placeholders or their names.

    One output gives one array, a list gives a list. A graph with variables needs a Session, which
    keeps their values. Raises NotFedError, FeedError, UninitializedError.
    """
    if not isinstance(graph, Graph) or not graph.outputs:
        raise GraphError("no_outputs", ran=here())
    results = Program(graph.outputs)(check_feeds(graph, feed_dict), {})
    return results[0] if graph.single else results

"""Theano's way to run a graph: `function` makes a Python function out of inputs and outputs.

In Theano's terms a placeholder is a symbolic variable, and a variable is a shared one: all
functions see its value, and keep it from call to call.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from minigrad import ops
from minigrad.core import Array, as_array, fits, show_shape
from minigrad.diagnostics import arguments
from minigrad.diagnostics.errors import FeedError, GraphError, NotFedError, ShapeError
from minigrad.diagnostics.messages import fill
from minigrad.diagnostics.source import here
from minigrad.ops import state
from minigrad.static import Graph, Node, expect_node, expect_one_graph
from minigrad.static.build import assign
from minigrad.static.current import lifting
from minigrad.static.feeds import check_feeds
from minigrad.static.run import Interpreter
from minigrad.static.session import Session

__all__ = ["theano_function"]

Pairs = Mapping[Any, Any] | Iterable[tuple[Any, Any]]


def theano_function(
    inputs: Sequence[Any],
    outputs: Any = None,
    updates: Pairs | None = None,
    givens: Pairs | None = None,
) -> TheanoFunction:
    """Compile a function of the inputs that returns the outputs: an array, or a list of them.

    inputs: placeholders. updates: pairs (variable, its new value), done after all outputs were
    computed, so every read sees the old values. givens: pairs (node, what stands in for it), of
    the same data type. Variables start with their initial values, and all functions of one graph
    share them. Raises GraphError for an update of something else than a variable, NotFedError for a
    placeholder that no input feeds. (After theano.function; theano.shared is `mg.Variable`.)

    >>> import minigrad as mg
    >>> with mg.Graph():
    ...     state, step = mg.Variable(0.0), mg.placeholder("step", shape=())
    ...     count_up = mg.theano_function([step], state, updates=[(state, state + step)])
    ...     [float(count_up(x)) for x in (1, 10, 100)], float(count_up.get_value(state))
    ([0.0, 1.0, 11.0], 111.0)
    """
    return TheanoFunction(inputs, outputs, _as_pairs(updates), _as_pairs(givens))


class TheanoFunction:
    """The result of `theano_function`; call it with one value for each input, in order or by name.

    `session` holds the values of the variables.
    """

    def __init__(
        self,
        inputs: Sequence[Any],
        outputs: Any,
        updates: list[tuple[Any, Any]],
        givens: list[tuple[Any, Any]],
    ) -> None:
        self.inputs = tuple(map(_node, arguments.listed("theano_function", "inputs", inputs)))
        for x in self.inputs:
            if x.op is not state.placeholder:
                raise GraphError("function_input", name=x.name, op=x.op, defined=here())
        self.single = not isinstance(outputs, (list, tuple))
        listed = [] if outputs is None else [outputs] if self.single else outputs
        self.outputs = tuple(_node(y) for y in listed)
        assigned = [assign(_node(w), value) for w, value in updates]
        self.updates = {node.inputs[0]: node for node in assigned}
        if len(self.updates) < len(assigned):
            raise GraphError("updated_twice", op="theano_function", defined=here())
        if not self.outputs and not self.updates:
            raise GraphError("no_outputs", defined=here())
        self.givens = {_node(x): _stand_in(_node(x), value) for x, value in givens}
        self._givens = Interpreter(list(self.givens.values()))
        self._program = Interpreter([*self.outputs, *self.updates.values()], list(self.givens))
        results = (*self.outputs, *self.updates)
        expect_one_graph("theano_function", results, self.inputs)
        self._expect_inputs()
        self.session = _session_of(results[0].graph)

    def _expect_inputs(self) -> None:
        needed = {*self._program.placeholders} - {*self.givens} | {*self._givens.placeholders}
        for x in sorted(needed - {*self.inputs}, key=lambda x: x.order):
            raise NotFedError("function_needs", name=x.name, defined=x.where, ran=here())

    def __call__(self, *values: Any, **named: Any) -> Any:
        """Run once: compute the outputs, then update the variables.

        Raises FeedError for another number of values, or for values of another shape or type; then
        no variable has changed.
        """
        names = [x.name for x in self.inputs[len(values) :]]
        twice = bool(named) and len({*names}) < len(names)
        if len(values) > len(self.inputs) or named.keys() != {*names} or twice:
            expected = ", ".join(x.name for x in self.inputs) or "-"
            given = ", ".join([*(f"#{i}" for i in range(1, len(values) + 1)), *named]) or "-"
            raise FeedError("function_arguments", expected=expected, given=given, ran=here())
        arguments = [*values, *(named[name] for name in names)]
        return self.session.turn.run(self._run, dict(zip(self.inputs, arguments, strict=True)))

    def _run(self, given: dict[Any, Any]) -> Any:
        feeds = check_feeds(self.session.graph, given)
        variables = self.session.variables
        self._initialize()
        if self.givens:
            found = self._givens(feeds, dict(variables))  # a copy: only the program updates
            feeds.update(zip(self.givens, found, strict=True))
        results = self._program(feeds, variables)[: len(self.outputs)]
        return None if not results else results[0] if self.single else results

    def _initialize(self) -> None:
        """Give the variables that were never used before their initial values."""
        values = self.session.variables
        for node in (*self._givens.nodes, *self._program.nodes):
            if node.op is state.variable and node not in values:
                values[node] = node.attrs["value"].copy()

    def get_value(self, variable: Any) -> Array:
        """Return a copy of a variable's current value. (Theano: variable.get_value().)"""
        node = _variable("get_value", variable)
        values = self.session.variables
        value: Array = values[node] if node in values else node.attrs["value"]
        return value.copy()

    def set_value(self, variable: Any, value: Any) -> None:
        """Give a variable a new value of its shape. (Theano: variable.set_value().)"""
        node = _variable("set_value", variable)
        array = as_array(value, node.dtype, "set_value")
        if not fits(array.shape, node.spec.shape):
            shapes: dict[str, Any] = {"expected": show_shape(node.shape), "shape": array.shape}
            raise ShapeError("assign_shape", op="set_value", name=node.name, **shapes, ran=here())
        self.session.turn.run(self.session.variables.__setitem__, node, array)

    def __repr__(self) -> str:
        names = ", ".join(x.name for x in self.inputs)
        outputs = ", ".join(y.name for y in self.outputs) or "None"
        updates = f", updates {', '.join(w.name for w in self.updates)}" if self.updates else ""
        return f"<function ({names}) -> {outputs}{updates}>"


def _as_pairs(pairs: Pairs | None) -> list[tuple[Any, Any]]:
    items = pairs.items() if isinstance(pairs, Mapping) else () if pairs is None else pairs
    found = arguments.listed("theano_function", "updates", items)
    if not all(isinstance(pair, (tuple, list)) and len(pair) == 2 for pair in found):
        raise arguments.refuse("theano_function", "updates", pairs, fill("expect_pairs"))
    return [(x, value) for x, value in found]


def _node(x: Any) -> Node:
    return expect_node("theano_function", x)


def _variable(who: str, x: Any) -> Node:
    node = _node(x)
    if node.op is not state.variable:
        raise GraphError("not_a_variable", op=who, value=node.name, defined=here())
    return node


def _stand_in(node: Node, value: Any) -> Node:
    """Return what is computed instead of a node, in its data type."""
    other: Node = node.graph.lift(value, node.dtype, "theano_function")
    if not fits(other.spec.shape, node.spec.shape):
        expected, shape = show_shape(node.shape), show_shape(other.shape)
        about: dict[str, Any] = {"name": node.name, "expected": expected, "shape": shape}
        raise ShapeError("given_shape", op="theano_function", **about, defined=here())
    if other.dtype != node.dtype:
        other = ops.cast(other, dtype=node.dtype)
    return other


def _session_of(graph: Graph) -> Session:
    """Return the one session of all functions of a graph."""
    with lifting:
        session: Session | None = graph.notes.get(TheanoFunction)
        if session is None:
            session = graph.notes[TheanoFunction] = Session(graph)
    return session

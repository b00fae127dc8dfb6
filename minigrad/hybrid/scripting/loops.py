"""Loops of rewritten code: they run in Python until a node decides, then the graph loops on.

What a loop carries from step to step are the numbers in its variables; everything else in them
must stay what it is. A flag that a `break` or `return` sets ends the loop; where it is a node, the
graph asks it before each step.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from minigrad import control, ops
from minigrad.core import Spec
from minigrad.core.structure import flatten, rebuild
from minigrad.diagnostics.errors import ScriptError
from minigrad.diagnostics.source import here
from minigrad.hybrid.scripting.carry import (
    Carry,
    State,
    initial_placeholder,
    name_errors,
    spec_of_carried,
)
from minigrad.hybrid.scripting.missing import MaybeUndefined, Undefined, is_missing
from minigrad.hybrid.scripting.regions import build_region, note_lost_names
from minigrad.hybrid.scripting.runtime import and_, branch, is_symbolic, not_, split_names
from minigrad.static import Body, Graph, graph_of

Step = Callable[..., Any]


class SymbolicIterable:
    """An iterable whose length only the graph knows."""

    def __iter__(self) -> Iterator[Any]:
        raise ScriptError("script_comprehension", defined=here())


class NodeRange(SymbolicIterable):
    """A range whose bounds or step are nodes: whole numbers, from start to before stop."""

    def __init__(self, start: Any, stop: Any, step: Any) -> None:
        self.start, self.stop, self.step = start, stop, step

    def is_before_stop(self, i: Any) -> Any:
        """Return whether i is before the stop."""
        if is_symbolic(self.step):
            return (self.stop - i) * self.step > 0
        return i < self.stop if self.step > 0 else i > self.stop


class NodeRows(SymbolicIterable):
    """Nodes that are gone through together along their first axis, perhaps with a counter."""

    def __init__(self, tree: Any, start: Any = None) -> None:
        self.tree, self.start = tree, start


# ---- The statements -----------------------------------------------------------------------------


def while_(test: Step, body: Step, gives: str = "", state: State = (), stop: str = "") -> State:
    """Run a loop while test(*state) holds and no flag is set; return the variables."""
    loop = Loop("while", body, split_names(gives), split_names(stop))
    try:
        return loop.run_while(test, state)
    except Exception as error:
        note_lost_names(error, gives)
        raise


def for_(items: Any, body: Step, gives: str = "", state: State = (), stop: str = "") -> State:
    """Run body(element, *state) for each element until a flag is set; return the variables.

    A range with nodes as bounds, and the rows of a node, become a loop of the graph. Everything
    else Python goes through; where a node decides on `break`, a range becomes a loop of the graph,
    and each later element of anything else a branch.
    """
    loop = Loop("for", body, split_names(gives), split_names(stop))
    try:
        return loop.run_for(items, state)
    except Exception as error:
        note_lost_names(error, gives)
        raise


class Loop:
    """One loop: its body, the names of its variables, and those of them that end it when set."""

    def __init__(self, who: str, body: Step, names: Sequence[str], stops: Sequence[str]) -> None:
        self.who, self.body, self.names = who, body, names
        self.stops = [names.index(flag) for flag in stops]

    def no_flag_set(self, state: State) -> Any:
        """Return whether no flag is set: True, False, or a node."""
        flags = [state[i] for i in self.stops]
        if any(not is_symbolic(f) and f for f in flags):
            return False
        unset = [not_(f) for f in flags if is_symbolic(f)]
        return functools.reduce(ops.logical_and, unset) if unset else True

    def step(self, *given: Any) -> State:
        """Run one step as part of the graph."""
        with build_region(self.body):
            result: State = self.body(*given) or ()
            return result

    def step_if(self, clear: Any, element: Any, state: State) -> State:
        """Run one step unless a flag is set."""
        if not is_symbolic(clear):
            return (self.body(element, *state) or ()) if clear else state
        step = functools.wraps(self.body)(lambda: self.body(element, *state))
        return branch(clear, step, lambda: state, self.names)

    def run_while(self, test: Step, state: State) -> State:
        """Run `while` in Python until a node decides."""
        while True:
            holds = self.no_flag_set(state)
            if not is_symbolic(holds):
                holds = holds and test(*state)
            if is_symbolic(holds):
                return self.build_while(graph_of(control.WHILE, [holds]), test, state)
            if not holds:
                return state
            state = self.body(*state) or ()

    def run_for(self, items: Any, state: State) -> State:
        """Run `for` in Python if the elements are known."""
        if isinstance(items, NodeRange):
            return self.build_range_for(items, state)
        if isinstance(items, NodeRows) or is_symbolic(items):
            return self.build_scan_for(
                items if isinstance(items, NodeRows) else NodeRows(items), state
            )
        for element in items:
            clear = self.no_flag_set(state)
            if is_symbolic(clear) and isinstance(items, range):
                return self.build_range_for(NodeRange(element, items.stop, items.step), state)
            state = self.step_if(clear, element, state)
            if self.no_flag_set(state) is False:
                break
        return state

    # ---- In the graph -----------------------------------------------------------------------

    def build_while(self, graph: Graph, test: Step, state: State) -> State:
        """Build `while` as a loop of the graph."""
        state = self._initial_state(graph, state)
        carry = Carry(self.who, self.names, state)

        def going(*numbers: Any) -> Any:
            now = carry.with_numbers(numbers)
            return and_(self.no_flag_set(now), lambda: test(*now))

        def step(*numbers: Any) -> tuple[Any, ...]:
            return carry.values(self.step(*carry.with_numbers(numbers)), numbers)

        with name_errors(self.who, carry.owners) as names:
            inside = names.inside
            values = control.add_loop(graph, inside(going), inside(step), carry.numbers)
        return carry.with_numbers(values)

    def build_range_for(self, span: NodeRange, state: State) -> State:
        """Build `for` over a range as a loop of the graph, with a counter as another variable."""
        graph = graph_of(control.WHILE, [span.start, span.stop, span.step, self.no_flag_set(state)])
        loop = self._with_counter(lambda i, *now: (i + span.step, *(self.body(i, *now) or ())))
        return loop.build_while(
            graph, lambda i, *now: span.is_before_stop(i), (span.start, *state)
        )[1:]

    def build_scan_for(self, rows: NodeRows, state: State) -> State:
        """Build `for` over the rows of nodes as a scan."""
        if rows.start is None:
            return self._scan(rows.tree, state)
        loop = self._with_counter(lambda row, i, *now: (i + 1, *(self.body((i, row), *now) or ())))
        return loop._scan(rows.tree, (rows.start, *state))[1:]

    def _with_counter(self, body: Step) -> Loop:
        stops = [self.names[i] for i in self.stops]
        return Loop(self.who, functools.wraps(self.body)(body), ["counter", *self.names], stops)

    def _scan(self, tree: Any, state: State) -> State:
        sequences, skeleton = flatten(tree)
        graph = graph_of(control.SCAN, sequences)
        specs = [control.slice_spec(graph.lift(x)) for x in sequences]
        state = self._initial_state(graph, state, specs, skeleton)
        carry = Carry(self.who, self.names, state)

        def step(numbers: Sequence[Any], row: list[Any]) -> tuple[Any, None]:
            now = carry.with_numbers(numbers)
            with build_region(self.body):
                new = self.step_if(self.no_flag_set(now), rebuild(skeleton, row), now)
            return carry.values(new, numbers), None

        with name_errors(self.who, carry.owners) as names:
            values, _ = control.scan(names.inside(step), carry.numbers, sequences)
        return carry.with_numbers(values)

    def _initial_state(
        self, graph: Graph, state: State, specs: Sequence[Spec] = (), skeleton: Any = None
    ) -> State:
        """Return the state with placeholder values for variables that the first step sets.

        One step is built to see what that will be, and thrown away. Whether a variable was given
        its value, the loop carries beside it.
        """
        missing = [i for i, value in enumerate(state) if is_missing(value)]
        if not missing:
            return state
        carry, scratch = Carry(self.who, self.names, state), Body(graph)
        with scratch:
            known = [*map(spec_of_carried, carry.numbers), *specs]
            inputs = [scratch.input({"shape": s.shape, "dtype": s.dtype}, None) for s in known]
            numbers = zip(inputs, carry.numbers, strict=False)
            scratch.numbers = {node: node.dtype for node, x in numbers if control.is_from_python(x)}
            rows, n = inputs[len(carry.numbers) :], len(carry.numbers)
            element = [rebuild(skeleton, rows)] if rows else []
            new = self.step(*element, *carry.with_numbers(inputs[:n]))
        begun = list(state)
        for i in missing:
            if not is_missing(new[i]):
                first = initial_placeholder(
                    new[i].value if isinstance(new[i], MaybeUndefined) else new[i]
                )
                late = isinstance(state[i], Undefined)
                begun[i] = MaybeUndefined(first, False, self.names[i]) if late else first
        return tuple(begun)


# ---- What loops go through ----------------------------------------------------------------------


def length(x: Any) -> Any:
    """Return the length of the first axis: a Python number if it is known, else a node."""
    known = x.shape[0] if x.shape else None
    if known is not None:
        return known
    return ops.cast(ops.count(x, x[:1]), dtype=np.dtype(np.int64))


def python_test(test: Any) -> Any:
    """Return a comprehension's condition, which Python must be able to decide."""
    if is_symbolic(test):
        raise ScriptError("script_comprehension", defined=here())
    return test


def python_items(xs: Iterable[Any]) -> Iterable[Any]:
    """Return what a comprehension iterates over, which Python must be able to count."""
    if is_symbolic(xs) or isinstance(xs, SymbolicIterable):
        raise ScriptError("script_comprehension", defined=here())
    return xs

"""Handlers for operators that have no kernel: sources, variables and counters.

Branches and loops enter their handlers themselves, see `control.steps`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from minigrad.core import Array, Op, events, show_shape
from minigrad.diagnostics.errors import NotFedError, ShapeError, UninitializedError
from minigrad.diagnostics.source import here
from minigrad.ops import parts, state
from minigrad.static import Node

if TYPE_CHECKING:
    from minigrad.static.run import Step

Variables = dict[Node, Array]
HANDLERS: dict[Op, Callable[[Any, Any, list[Any]], Any]] = {}
# Called with all steps of a new program in which the operator occurs.
PREPARED: dict[Op, Callable[[Sequence[Step]], None]] = {}
# Each looks through the nodes of such a program; what it gives is called after each run with the
# values that came of it, and a function that gives the values of other nodes in the same run.
WATCHES: dict[Op, Callable[[Sequence[Node]], Callable[..., None] | None]] = {}


def handles(op: Op) -> Callable[[Any], Any]:
    """Enter a function (run, step, operands) -> value as what executors do with an operator."""

    def enter(handler: Any) -> Any:
        HANDLERS[op] = handler
        return handler

    return enter


class RunState:
    """The state of one run of a program: its feeds, its variables, the updates it will make."""

    def __init__(self, feeds: Mapping[Node, Array], variables: Variables, target: Any) -> None:
        self.feeds, self.variables, self.target = feeds, variables, target
        self.updates: Variables = {}
        self.histories: dict[Node, list[Any]] = {}  # the states that a loop went through


def ran(node: Node, value: Any, operands: list[Any]) -> Any:
    """Report that a node ran."""
    if events.listeners:
        events.emit("run", node.op, node, value, tuple(operands))
    return value


def expect_fed(node: Node, feeds: Mapping[Node, Array], target: Node) -> None:
    """Raise NotFedError unless this placeholder, which `target` needs, has a value."""
    if node not in feeds:
        namesake = next((x for x in feeds if x.name == node.name), None)
        raise NotFedError(
            "not_fed" if namesake is None else "not_fed_namesake",
            other="" if namesake is None else namesake.where.label,
            name=node.name,
            shape=show_shape(node.shape),
            dtype=node.dtype,
            target=target.name,
            defined=node.where,
            ran=here(),
        )


@handles(state.placeholder)
def _placeholder(run: RunState, step: Step, operands: list[Any]) -> Array:
    expect_fed(step.node, run.feeds, run.target)
    return read(step.node, run.feeds[step.node])


def value_of(node: Node, variables: Variables) -> Array:
    """Return the current value of a variable; UninitializedError if it has none."""
    if node in variables:
        return variables[node]
    if "role" not in node.attrs:
        raise UninitializedError(
            "uninitialized",
            name=node.name,
            shape=show_shape(node.shape),
            defined=node.where,
            ran=here(),
        )
    return node.attrs["value"]


@handles(state.variable)
def _variable(run: RunState, step: Step, operands: list[Any]) -> Array:
    return read(step.node, value_of(step.node, run.variables))


@handles(state.constant)
def _constant(run: RunState, step: Step, operands: list[Any]) -> Array:
    return read(step.node, step.node.attrs["value"])


def read(node: Node, value: Array) -> Array:
    """Report that a value enters a run."""
    if events.listeners:
        events.emit("read", node.op, node, value)
    return value


def copied(value: Any, name: str, shape: Any, defined: Any = None) -> Any:
    """Copy a value for the variable of this name and shape; the original may be fetched, too."""
    if value.shape != shape:
        expected = show_shape(shape)
        about: dict[str, Any] = {"shape": value.shape, "defined": defined, "ran": here()}
        raise ShapeError("assign_shape", op="Assign", name=name, expected=expected, **about)
    return value.copy()[()]


@handles(state.assign)
def _assign(run: RunState, step: Step, operands: list[Any]) -> Array:
    node, variable, value = step.node, step.node.inputs[0], operands[1]
    run.updates[variable] = copied(value, variable.name, variable.shape, node.where)
    return ran(node, value, operands)


@handles(state.initialize)
def _initialize(run: RunState, step: Step, operands: list[Any]) -> None:
    for variable in step.node.attrs["variables"]:
        run.updates[variable] = variable.attrs["value"].copy()


@handles(state.group)
def _group(run: RunState, step: Step, operands: list[Any]) -> None:
    return None


@handles(state.read_value)
def _read_value(run: RunState, step: Step, operands: list[Any]) -> Array:
    return run.updates.get(step.node.inputs[0], operands[0])


@handles(state.run_counter)
def _run_counter(run: RunState, step: Step, operands: list[Any]) -> Array:
    count = run.variables.get(step.node, np.int64(0))
    run.updates[step.node] = count + np.int64(1)
    use, uses = step.place
    return read(step.node, count * np.int64(uses) + np.int64(use))


@handles(parts.output)
def _output(run: RunState, step: Step, operands: list[Any]) -> Array:
    return read(step.node, operands[0][step.node.attrs["index"]])


def counter_numbers(nodes: Iterable[Node]) -> dict[Node, tuple[int, int]]:
    """Return each counter's number among those of its layer, and how many there are."""
    layers: dict[Any, list[Node]] = {}
    for node in nodes:
        if node.op is state.run_counter:
            layers.setdefault(node.attrs.get("layer"), []).append(node)
    found: dict[Node, tuple[int, int]] = {}
    for layer, uses in layers.items():
        order = sorted({0 if layer is None else n.attrs["use"] for n in uses})
        found.update((n, (order.index(n.attrs.get("use", 0)), len(order))) for n in uses)
    return found


def number_counters(steps: Iterable[Any]) -> None:
    """Number the steps of one program that count calls of layers."""
    counting = {step.node: step for step in steps if step.node.op is state.run_counter}
    for node, place in counter_numbers(counting).items():
        counting[node].place = place


PREPARED[state.run_counter] = number_counters

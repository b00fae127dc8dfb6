"""A layout made ready for inputs of certain sizes, and run.

A run makes the calls of a list, one after the other. A program with branches or loops runs as the
text of these calls: for small bodies that takes a third of the time. Where a listener or a schedule
needs to know of each call, it is the list for all programs.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from operator import length_hint
from typing import Any

import numpy as np

from minigrad.compiler.builder import Builder
from minigrad.compiler.executors import Executor
from minigrad.compiler.memory import DoubleBuffer, outside_arena, unshared
from minigrad.compiler.slots import JoinedCalls, KernelCall, Slot
from minigrad.compiler.text.program import FILE, Text, write
from minigrad.core import STOPS, Array, Spec, events, explain, float32, silence, spec_of
from minigrad.diagnostics.errors import GraphError
from minigrad.diagnostics.source import here
from minigrad.ops import state
from minigrad.passes.layout import Layout, Specs
from minigrad.passes.plan import Lifetime, Plan, Request, share_buffers
from minigrad.static import Node
from minigrad.static.handlers import HANDLERS, RunState, Variables, value_of


class VariableTable:
    """Variables by the names that the text has for them."""

    __slots__ = ("nodes", "values")

    def __init__(self, nodes: Mapping[str, Node], values: Variables) -> None:
        self.nodes, self.values = nodes, values

    def __getitem__(self, name: str) -> Array:
        return value_of(self.nodes[name], self.values)

    def get(self, name: str, default: Any) -> Any:
        return self.values.get(self.nodes[name], default)

    def update(self, updates: Mapping[str, Any]) -> None:
        for name, value in updates.items():
            self.values[self.nodes[name]] = value


class SpecializedProgram:
    """The calls of a program for one choice of input shapes.

    pairs: for each variable the two arrays that its values alternate between, shared by all
    choices of shapes.
    apart: no two values share memory, so that calls of several nodes may run at once.
    planner: gives each value its place otherwise.
    """

    def __init__(
        self,
        layout: Layout,
        specs: Specs,
        executor: Executor,
        pairs: dict[Node, DoubleBuffer],
        apart: bool = False,
        planner: Callable[[Sequence[Request]], Plan] = share_buffers,
    ) -> None:
        self.layout, self.specs, self.executor = layout, specs, executor
        self.built = built = Builder(layout, specs, executor.choose, apart, planner=planner)
        self.plan, self.arena, self.scratch_bytes = built.plan, built.arena, built.scratch_bytes
        self.calls, self.slots, self.scratch = built.calls, built.slots, built.scratch_blocks
        self._run = RunState({}, {}, None)
        self._last = {call.node: call for call in self.calls}
        self._fed = [(x, s) for x, s in self.slots.items() if s.kind == "fed"]
        self._variables = [(x, s) for x, s in self.slots.items() if s.kind == "variable"]
        results = [slot for slot in self.slots.values() if slot.kind == "result"]
        self._buffers = {x: DoubleBuffer(x.shape, x.spec.dtype) for x in results}
        self._updated: list[tuple[Node, Slot, Slot, DoubleBuffer]] = []  # the variable, old and new
        for node, variable in layout.assigned.items():
            slot = self.slots[node]
            self._buffers[slot] = buffer = pairs.setdefault(variable, self._buffers[slot])
            self._updated.append((variable, self.slots[variable], slot, buffer))
        returned = {*results}.difference(slot for _, _, slot, _ in self._updated)
        self._returned = [(x, self._buffers[x]) for x in results if x in returned]
        self._results = [self.slots[x] for x in layout.graph.outputs]
        # What a run lets go of at its end, and the arguments that then hold nothing.
        self._borrowed = [x for x in self.slots.values() if x.kind in ("fed", "free")] + [*returned]
        self._lent: list[tuple[list[Any], int]] = []
        free = (call.node for call in self.calls if call.function is None)
        self._allocates = not layout.noted.issuperset(free)
        self.repeats = any(step.bodies for step in layout.steps.values())

    # ---- The text -----------------------------------------------------------------------------

    @functools.cached_property
    def flat(self) -> list[KernelCall]:
        """The calls of a run: neighbouring kernels in C are one."""
        calls = [x for x in self.calls if x.node not in self.layout.noted]
        return self.executor.join(calls, self.slots) if self.executor.join else calls

    @functools.cached_property
    def text(self) -> Text:
        """The text that is run."""
        return write(self.built, self.flat, self._buffers)

    @functools.cached_property
    def shown(self) -> Text:
        """The text with each C kernel as a call of its own."""
        alone = not any(isinstance(call.function, JoinedCalls) for call in self.flat)
        return self.text if alone else write(self.built, self.calls, self._buffers)

    @functools.cached_property
    def _function(self) -> Callable[..., list[Any]]:
        found: Callable[..., list[Any]] = self.text.load()
        return found

    @functools.cached_property
    def _named_inputs(self) -> tuple[list[tuple[str, Node]], dict[str, Node]]:
        fed = [(key, x) for x, key in self.text.keys.items() if x.op is state.placeholder]
        return fed, {key: x for x, key in self.text.keys.items() if x.op is not state.placeholder}

    # ---- Running ------------------------------------------------------------------------------

    def run(self, feeds: Mapping[Node, Array], variables: Variables) -> list[Any]:
        """Run once. Results share no memory with anything; variables change only at the end."""
        if events.listeners:
            return self._report(feeds, variables)
        if self.repeats:
            return self._run_text(feeds, variables)
        calls = self._bound  # before `begin`, which fills in the arguments
        self.begin(feeds, variables)
        silence().run(self._make, calls)
        return self.finish(variables)

    def _report(self, feeds: Mapping[Node, Array], variables: Variables) -> list[Any]:
        self.begin(feeds, variables)
        with self.held():
            silence().run(self._report_calls)
            return self.finish(variables)

    def _run_text(self, feeds: Mapping[Node, Array], variables: Variables) -> list[Any]:
        fed, kept = self._named_inputs
        given = {key: feeds[x] for key, x in fed}
        try:
            found: list[Any] = silence().run(self._function, given, VariableTable(kept, variables))
            return found
        except (GraphError, *STOPS) as error:
            raise self.error_for(*self._failed_node(error)) from None

    def _failed_node(self, error: Exception) -> tuple[Node, Exception, list[Any]]:
        """Return the node whose line failed, the error, and the node's operands."""
        trace, found = error.__traceback__, None
        while trace is not None:
            if trace.tb_frame.f_code.co_filename == FILE:
                found = trace
            trace = trace.tb_next
        if found is None:
            raise error
        line, frame = self.text.code[found.tb_lineno - 1], found.tb_frame
        node = self.layout.graph.outputs[0] if line.node is None else line.node
        node = next((_node_of(call) for call in self.flat if call.node is node), node)
        known = {**frame.f_globals, **frame.f_locals}
        operands = [self.built.specs.get(x, x.spec) for x in node.inputs]
        if line.operands:  # names, or numbers as they are written
            names = [name.removesuffix("[()]") for name in line.operands]
            operands = [known.get(*pair) for pair in zip(names, operands, strict=True)]
        return node, error, operands

    @contextlib.contextmanager
    def held(self) -> Iterator[None]:
        """Report to listeners what a run holds: the arena until it ends, and what outlives it."""
        events.emit("held", None, self.plan, bytes=self.arena.block.nbytes)
        for slot in self._buffers:
            events.emit("held", None, slot.node, slot.array, bytes=slot.array.nbytes)
        try:
            yield
        finally:
            events.emit("released", None, self.plan)

    # ---- Call by call -------------------------------------------------------------------------

    def begin(self, feeds: Mapping[Node, Array], variables: Variables) -> None:
        """Set the arrays that the calls of a run read: feeds, variables and spare buffers.

        What `Slot.set` does is written out here, because the smallest programs feel each call.
        """
        if self._allocates:
            self._run = RunState(feeds, variables, self.layout.graph.outputs[0])
        for node, slot in self._fed:
            slot.current = array = feeds[node]
            for arguments, i in slot.uses:
                arguments[i] = array
            if slot.views:
                slot.show()
        for node, slot in self._variables:
            array = variables.get(node)
            if array is not slot.current or array is None:
                slot.set(value_of(node, variables))
        for _, old, slot, buffer in self._updated:
            slot.current = array = buffer.other(old.current)
            for arguments, i in slot.uses:
                arguments[i] = array
            if slot.views:
                slot.show()
        for slot, buffer in self._returned:
            slot.current = array = buffer.free()
            for arguments, i in slot.uses:
                arguments[i] = array
            if slot.views:
                slot.show()

    def finish(self, variables: Variables) -> list[Any]:
        """Return the results after all calls; the variables take their new values."""
        if self._allocates:
            variables.update(self._run.updates)
        for variable, _, slot, _ in self._updated:
            array = slot.current
            variables[variable] = array if array.ndim else array[()]
        results = []
        for slot in self._results:
            value = slot.current
            if slot.kind != "result":
                value = unshared(slot.array)
                if events.listeners and isinstance(value, np.ndarray):
                    events.emit("held", None, slot.node, value, bytes=value.nbytes)
            elif not value.ndim:
                value = value[()]
            results.append(value)
        self.forget()
        return results

    def forget(self) -> None:
        """Let go of the arrays of a run, so that the caller is the only one to hold them."""
        for slot in self._borrowed:
            slot.current = None
        for arguments, i in self._lent:
            arguments[i] = None

    @functools.cached_property
    def _bound(self) -> list[tuple[Callable[..., Any], Sequence[Any]]]:
        """The calls with their arguments, into which `begin` puts the arrays that change."""
        found = [
            (self.perform, (call,)) if call.function is None else call.bound() for call in self.flat
        ]
        for slot in self._borrowed:  # which grows meanwhile
            self._borrowed += slot.views
        self._lent = [use for slot in self._borrowed for use in slot.uses]
        return found

    def _make(self, calls: Sequence[tuple[Callable[..., Any], Sequence[Any]]]) -> None:
        left = iter(calls)
        try:
            for function, arguments in left:
                function(*arguments)
        except (GraphError, *STOPS) as error:
            failed = self.flat[-1 - length_hint(left)]
            found = self.error_for(_node_of(failed), error)
            self.forget()
            raise found from None

    def _report_calls(self) -> None:
        """Make the calls, none of them joined, and report each to listeners."""
        done = 0
        for call in self.calls:
            done = self._tell_buffers(done, self._place[call.node])
            try:
                self.perform(call)
                self.report(call)
            except (GraphError, *STOPS) as error:
                raise self.error_for(_node_of(call), error) from None
        self._tell_buffers(done, len(self._place))

    def error_for(
        self, node: Node, error: Exception, operands: Sequence[Any] | None = None
    ) -> Exception:
        """Return the error of a node as one of ours, with the lines that define and run it."""
        if not isinstance(error, GraphError):
            if operands is None:
                operands = [self.slots[x].array for x in node.inputs]
            unknown = Spec(None, float32)
            specs = [spec_of(a) if hasattr(a, "shape") else unknown for a in operands]
            error = explain(node.op, specs, node.attrs, error)
            error.defined, error.ran = node.where, here()
        error.defined, error.ran = error.defined or node.where, error.ran or here()
        return error

    def perform(self, call: KernelCall) -> None:
        """Make one call."""
        if call.function is not None:
            call()
            return
        node, given, arena = call.node, call.arrays, self.arena.block
        if node.op is state.assign and len(given) == 1:  # the memory changes hands
            (value,) = given
            self.slots[node].set(value)
            if node not in self.layout.noted:
                self._run.updates[node.inputs[0]] = value
            if events.listeners:
                events.emit("run", state.assign, node, value, (value,))
            return
        values = [x[()] if isinstance(x, np.ndarray) and not x.ndim else x for x in given]
        step = self.layout.steps.get(node)
        if step is None:
            value = node.op.run(None, *values, **node.attrs)
        else:
            if step.keeps_history:  # its states are read when the arena was written to again
                values = [outside_arena(x, arena) for x in values]
            value = step.handler(self._run, step, values)
        self.slots[node].set(outside_arena(value, arena))

    def _tell_buffers(self, done: int, step: int) -> int:
        """Report the buffers that are taken and freed until this step begins."""
        for now in range(done, step + 1):
            for kind, life in self._buffer_events.get(now, ()):
                value = self.slots[life.node].array if kind == "taken" else None
                events.emit(
                    kind, life.node.op, life.node, value, position=life.buffer, bytes=life.bytes
                )
        return step + 1

    @functools.cached_property
    def _place(self) -> dict[Node, int]:
        return {node: i for i, node in enumerate(self.layout.order)}

    @functools.cached_property
    def _buffer_events(self) -> dict[int, list[tuple[str, Lifetime]]]:
        """The buffer events by the step that they precede: buffers read last become free."""
        found: dict[int, list[tuple[str, Lifetime]]] = {}
        for life in self.plan.lifetimes:
            found.setdefault(life.end + 1, []).append(("freed", life))
            found.setdefault(life.start, []).append(("taken", life))
        for some in found.values():
            some.sort(key=lambda x: x[0])
        return found

    def report(self, call: KernelCall) -> None:
        """Report each kernel to listeners; a fused region is one; handlers report themselves."""
        node = call.node
        if call is not self._last[node] or node.op in HANDLERS:
            return
        operands = tuple(_listener_copy(self.slots[x].array) for x in node.inputs)
        whole = self.layout.kind[node] == "whole"
        slot = self.slots[node]
        if slot.kind == "free" and isinstance(slot.array, np.ndarray):
            events.emit("held", None, node, slot.array, bytes=slot.array.nbytes)
        value = None if whole else _listener_copy(slot.array)
        events.emit("run", node.op, node, value, operands)


def _node_of(call: KernelCall) -> Node:
    """Return the node that a call belongs to."""
    return call.function.node if isinstance(call.function, JoinedCalls) else call.node


def _listener_copy(value: Any) -> Any:
    """Copy a value for a listener, as its memory is written to again; not counted as new."""
    return value.copy().view() if isinstance(value, np.ndarray) else value

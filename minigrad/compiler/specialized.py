"""A layout made ready for inputs of certain sizes, and run.

A run executes the text of the calls, as one Python function. The calls are made one by one if a
listener or a schedule needs to know of each, and in the first run of a program, which is less work
than compiling its text.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from minigrad.compiler.builder import Builder
from minigrad.compiler.executors import Choose, Joined, joined
from minigrad.compiler.layout import Layout, Specs
from minigrad.compiler.memory import DoubleBuffer, apart, own
from minigrad.compiler.plan import Lifetime, Plan, Wanted, share_buffers
from minigrad.compiler.slots import Call, Slot
from minigrad.compiler.text.program import FILE, Text, write
from minigrad.core import STOPS, Array, Spec, events, explain, float32, silence, spec_of
from minigrad.diagnostics.errors import GraphError
from minigrad.diagnostics.source import here
from minigrad.ops import state
from minigrad.static import Node
from minigrad.static.handlers import HANDLERS, Run, Variables, value_of


class Named:
    """Variables by the names that the text has for them."""

    __slots__ = ("nodes", "values")

    def __init__(self, nodes: Mapping[str, Node], values: Variables) -> None:
        self.nodes, self.values = nodes, values

    def __getitem__(self, name: str) -> Array:
        node = self.nodes[name]
        found = self.values.get(node)
        return value_of(node, self.values) if found is None else found

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
        choose: Choose,
        pairs: dict[Node, DoubleBuffer],
        apart: bool = False,
        planner: Callable[[Sequence[Wanted]], Plan] = share_buffers,
    ) -> None:
        self.layout, self.specs = layout, specs
        self.built = built = Builder(layout, specs, choose, apart, planner=planner)
        self.plan, self.arena, self.scratch_bytes = built.plan, built.arena, built.scratch_bytes
        self.calls, self.slots, self.scratch = built.calls, built.slots, built.scratch_blocks
        self._run = Run({}, {}, None)
        self._last = {call.node: call for call in self.calls}
        self._fed = [(x, s) for x, s in self.slots.items() if s.kind in ("fed", "variable")]
        self._twos: dict[Slot, DoubleBuffer] = {}
        for node, slot in self.slots.items():
            if slot.kind == "result":
                two, variable = DoubleBuffer(slot.shape, slot.spec.dtype), layout.assigned.get(node)
                self._twos[slot] = two if variable is None else pairs.setdefault(variable, two)
        self._often = any(step.bodies for step in layout.steps.values())

    # ---- The text -----------------------------------------------------------------------------

    @functools.cached_property
    def flat(self) -> list[Call]:
        """The calls of a run: neighbouring kernels in C are one."""
        return joined([x for x in self.calls if x.node not in self.layout.noted], self.slots)

    @functools.cached_property
    def text(self) -> Text:
        """The text that is run."""
        return write(self.built, self.flat, self._twos)

    @functools.cached_property
    def shown(self) -> Text:
        """The text with each C kernel as a call of its own."""
        alone = not any(isinstance(call.function, Joined) for call in self.flat)
        return self.text if alone else write(self.built, self.calls, self._twos)

    @functools.cached_property
    def _function(self) -> Callable[..., list[Any]]:
        found: Callable[..., list[Any]] = self.text.load()
        return found

    @functools.cached_property
    def _named(self) -> tuple[list[tuple[str, Node]], dict[str, Node]]:
        fed = [(key, x) for x, key in self.text.keys.items() if x.op is state.placeholder]
        return fed, {key: x for x, key in self.text.keys.items() if x.op is not state.placeholder}

    # ---- Running ------------------------------------------------------------------------------

    def run(self, feeds: Mapping[Node, Array], variables: Variables) -> list[Any]:
        """Run once. Results share no memory with anything; variables change only at the end."""
        if not events.listeners and self._often:
            return self._run_text(feeds, variables)
        self._often = True
        self.begin(feeds, variables)
        with self.held() if events.listeners else contextlib.nullcontext():
            silence().run(self._go)
            return self.finish(variables)

    def _run_text(self, feeds: Mapping[Node, Array], variables: Variables) -> list[Any]:
        fed, kept = self._named
        given = {key: feeds[x] for key, x in fed}
        try:
            found: list[Any] = silence().run(self._function, given, Named(kept, variables))
            return found
        except GraphError as error:
            node = self._failed(error)[0]
            error.defined, error.ran = error.defined or node.where, error.ran or here()
            raise
        except STOPS as reason:
            raise self.explained(*self._failed(reason), reason) from None

    def _failed(self, error: BaseException) -> tuple[Node, list[Any]]:
        """Return the node whose line failed, and its operands."""
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
        if line.operands:
            return node, [eval(x, frame.f_globals, frame.f_locals) for x in line.operands]
        return node, [self.built.specs.get(x) for x in node.inputs]

    @contextlib.contextmanager
    def held(self) -> Iterator[None]:
        """Report to listeners what a run holds: the arena until it ends, and what outlives it."""
        events.emit("held", None, self.plan, bytes=self.arena.block.nbytes)
        for slot in self._twos:
            events.emit("held", None, slot.node, slot.array, bytes=slot.array.nbytes)
        try:
            yield
        finally:
            events.emit("released", None, self.plan)

    # ---- Call by call -------------------------------------------------------------------------

    def begin(self, feeds: Mapping[Node, Array], variables: Variables) -> None:
        """Set the arrays that the calls of a run read: feeds, variables and spare buffers."""
        self._run = Run(feeds, variables, self.layout.graph.outputs[0])
        for node, slot in self._fed:
            slot.array = feeds[node] if slot.kind == "fed" else value_of(node, variables)
        for slot, two in self._twos.items():
            variable = self._assigned(slot)
            of = None if variable is None else value_of(variable, variables)
            slot.array = two.free() if variable is None else two.other(of)

    def _assigned(self, slot: Slot) -> Node | None:
        """Return the variable whose value this will be."""
        return None if slot.node is None else self.layout.assigned.get(slot.node)

    def finish(self, variables: Variables) -> list[Any]:
        """Return the results after all calls; the variables take their new values."""
        variables.update(self._run.updates)
        for slot in self._twos:
            variable = self._assigned(slot)
            if variable is not None:
                variables[variable] = slot.array if slot.array.ndim else slot.array[()]
        results = []
        for node in self.layout.graph.outputs:
            slot = self.slots[node]
            value = slot.array if slot.kind == "result" else own(slot.array)
            results.append(value[()] if isinstance(value, np.ndarray) and not value.ndim else value)
            if events.listeners and slot.kind != "result" and isinstance(value, np.ndarray):
                events.emit("held", None, node, value, bytes=value.nbytes)
        for slot in (*self._twos, *(slot for _, slot in self._fed)):
            slot.array = None  # the caller is the only one to hold it
        return results

    def _go(self) -> None:
        if not events.listeners:
            for call in self.flat:
                self._try(call)
            return
        told = 0
        for call in self.calls:
            told = self._tell_buffers(told, self._place[call.node])
            self._try(call)
        self._tell_buffers(told, len(self._place))

    def _try(self, call: Call) -> None:
        try:
            self.perform(call)
            if events.listeners:
                self.tell(call)
        except GraphError as error:
            where = _node_of(call).where
            error.defined, error.ran = error.defined or where, error.ran or here()
            raise
        except STOPS as reason:
            node = _node_of(call)
            arrays = [self.slots[x].array for x in node.inputs]
            raise self.explained(node, arrays, reason) from None

    def perform(self, call: Call) -> None:
        """Make one call."""
        if call.function is not None:
            call()
            return
        node, given, arena = call.node, call.arrays, self.arena.block
        if node.op is state.assign and len(given) == 1:  # the memory changes hands
            (value,) = given
            self._run.updates[node.inputs[0]] = self.slots[node].array = value
            if events.listeners:
                events.emit("run", state.assign, node, value, (value,))
            return
        values = [x[()] if isinstance(x, np.ndarray) and not x.ndim else x for x in given]
        step = self.layout.steps.get(node)
        if step is None:
            value = node.op.run(None, *values, **node.attrs)
        else:
            if step.keeps_history:  # its states are read when the arena was written to again
                values = [apart(x, arena) for x in values]
            value = step.handler(self._run, step, values)
        self.slots[node].array = apart(value, arena)

    def _tell_buffers(self, told: int, step: int) -> int:
        """Report the buffers that are taken and freed until this step begins."""
        for now in range(told, step + 1):
            for kind, life in self._moments.get(now, ()):
                value = self.slots[life.node].array if kind == "taken" else None
                events.emit(
                    kind, life.node.op, life.node, value, position=life.buffer, bytes=life.bytes
                )
        return step + 1

    @functools.cached_property
    def _place(self) -> dict[Node, int]:
        return {node: i for i, node in enumerate(self.layout.order)}

    @functools.cached_property
    def _moments(self) -> dict[int, list[tuple[str, Lifetime]]]:
        """The buffer events by the step that they precede: buffers read last become free."""
        found: dict[int, list[tuple[str, Lifetime]]] = {}
        for life in self.plan.lifetimes:
            found.setdefault(life.end + 1, []).append(("freed", life))
            found.setdefault(life.start, []).append(("taken", life))
        for some in found.values():
            some.sort(key=lambda x: x[0])
        return found

    def explained(self, node: Node, operands: Sequence[Any], reason: Exception) -> GraphError:
        """Convert NumPy's error about a node to one of ours."""
        unknown = Spec(None, float32)
        specs = [spec_of(a) if hasattr(a, "shape") else unknown for a in operands]
        found = explain(node.op, specs, node.attrs, reason)
        found.defined, found.ran = node.where, here()
        return found

    def tell(self, call: Call) -> None:
        """Report each kernel to listeners; a fused region is one; handlers report themselves."""
        node = call.node
        if call is not self._last[node] or node.op in HANDLERS:
            return
        operands = tuple(_seen(self.slots[x].array) for x in node.inputs)
        whole = self.layout.kind[node] == "whole"
        slot = self.slots[node]
        if slot.kind == "free" and isinstance(slot.array, np.ndarray):
            events.emit("held", None, node, slot.array, bytes=slot.array.nbytes)
        value = None if whole else _seen(slot.array)
        events.emit("run", node.op, node, value, operands)


def _node_of(call: Call) -> Node:
    """Return the node that a call belongs to."""
    return call.function.node if isinstance(call.function, Joined) else call.node


def _seen(value: Any) -> Any:
    """Copy a value for a listener, as its memory is written to again; not counted as new."""
    return value.copy().view() if isinstance(value, np.ndarray) else value

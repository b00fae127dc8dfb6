"""A layout made ready for inputs of certain sizes, and run.

Nothing is looked up while it runs: each call is a function with its arrays. What changes from run
to run (feeds, variables, results) is put in its place first.
"""

from __future__ import annotations

import contextlib
import copy
import functools
import sys
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from minigrad import events
from minigrad.compiled.builder import Builder
from minigrad.compiled.inner import Inner, is_steady
from minigrad.compiled.joining import Joined, flat
from minigrad.compiled.kernels import Choose, tiled
from minigrad.compiled.layout import Layout, Specs, is_known
from minigrad.compiled.slots import Call, Slot
from minigrad.core import STOPS, Array, Spec, explain, float32, silence, spec_of
from minigrad.errors import GraphError
from minigrad.execute import HANDLERS, Run, Step, Variables, value_of
from minigrad.graph import Node, bodies_of
from minigrad.ops import state
from minigrad.plan import Lifetime
from minigrad.source import here

Pairs = dict[Node, list[Array]]


class Bound:
    """The calls of a program for one choice of input shapes.

    pairs: for each variable the two arrays that its values alternate between, shared by all
    choices of shapes.
    apart: no two values lie in the same memory, so that calls of several nodes may run at once.
    exact: only calls that give the same bits as the kernels of the operators.
    """

    def __init__(
        self,
        layout: Layout,
        specs: Specs,
        choose: Choose,
        pairs: Pairs,
        apart: bool = False,
        exact: bool = False,
    ) -> None:
        self.layout, self.specs, self.pairs = layout, specs, pairs
        self._run = Run({}, {}, None)
        built = Builder(layout, specs, choose, apart, exact, self._emit_free)
        self.plan, self.arena, self.scratch_bytes = built.plan, built.arena, built.scratch_bytes
        self.calls, self.slots, self.scratch = built.calls, built.slots, built.scratch_blocks
        self._last = {call.node: call for call in self.calls}
        self._told = [call.ready() for call in self.calls]
        self.flat = flat([call for call in self.calls if not self._idle(call)], self.slots)
        found = [(x, s) for x, s in self.slots.items() if s.kind in ("fed", "variable", "result")]
        self._fed = [(x, s) for x, s in found if s.kind == "fed"]
        self._read = [(x, s) for x, s in found if s.kind == "variable"]
        self._new = [
            (layout.assigned[x], s, pairs.setdefault(layout.assigned[x], []))
            for x, s in found
            if x in layout.assigned
        ]
        self._results = [
            Result(s) for x, s in found if s.kind == "result" and x not in layout.assigned
        ]
        self._outputs = [
            (self.slots[x], self.slots[x].kind == "result") for x in layout.graph.outputs
        ]

    # ---- What is not computed into a known place ----------------------------------------------

    def _emit_free(self, build: Builder, node: Node) -> None:
        """A value that is made anew at each run, and put where it is read."""
        slot, operands = build.slots[node], [build.slots[x] for x in node.inputs]
        if node.op is state.group:
            return
        if node.op is state.assign and self._adopts(node):
            build.call(self._adopt(node, slot), operands[1])
            return
        given = [_given(node, i, x) for i, x in enumerate(operands)]
        handler, step = HANDLERS.get(node.op), self.layout.steps.get(node)
        if step is not None and step.bodies:
            step = _with_planned_bodies(step)
        arena = build.arena.block

        def compute(*given: Any) -> None:
            values = [x[()] if isinstance(x, np.ndarray) and not x.ndim else x for x in given]
            if handler is not None and step is not None:
                if step.keeps_history:  # its states are read when the arena was written to again
                    values = [_outside(x, arena) for x in values]
                value = handler(self._run, step, values)
            else:
                value = node.op.run(None, *values, **node.attrs)
            slot.put(_outside(value, arena))

        build.call(compute, *given)

    def _adopts(self, node: Node) -> bool:
        """Whether the memory of a value becomes that of the variable, after a run that succeeds."""
        return self.layout.assigned.get(node.inputs[1]) is node.inputs[0]

    def _adopt(self, node: Node, slot: Slot) -> Any:
        variable = node.inputs[0]

        def adopt(value: Array) -> None:
            self._run.updates[variable] = value
            slot.put(value)
            if events.listeners:
                events.emit("run", state.assign, node, value, (value,))

        return adopt

    def _idle(self, call: Call) -> bool:
        """Whether a call does only what the end of the run does, as nobody reads its result."""
        node = call.node
        if node.op is not state.assign or not self._adopts(node):
            return False
        graph = self.layout.graph
        read = any(n.op is state.read_value for n in graph.nodes)
        return not (read or self.slots[node].uses or any(node is x for x in graph.outputs))

    # ---- Running ----------------------------------------------------------------------------

    def run(self, feeds: Mapping[Node, Array], variables: Variables) -> list[Any]:
        """Run once. Results share no memory with anything; variables change only at the end."""
        self.begin(feeds, variables)
        if events.listeners:
            with self.held():
                silence().run(self._go)
                return self.finish(variables)
        silence().run(self._go)
        return self.finish(variables)

    @contextlib.contextmanager
    def held(self) -> Iterator[None]:
        """Tell listeners what memory a run holds: the arena until it ends, and what outlives it."""
        events.emit("held", None, self.plan, bytes=self.arena.block.nbytes)
        for slot in [x.slot for x in self._results] + [slot for _, slot, _ in self._new]:
            events.emit("held", None, slot.node, slot.array, bytes=slot.array.nbytes)
        try:
            yield
        finally:
            events.emit("released", None, self.plan)

    def begin(self, feeds: Mapping[Node, Array], variables: Variables) -> None:
        """Put in its place what the calls of a run find there."""
        self._run = Run(feeds, variables, self.layout.graph.outputs[0])
        for node, slot in self._fed:
            value = feeds[node]
            if slot.array is not value:
                slot.put(value)
        for node, slot in self._read:
            value = value_of(node, variables)
            if slot.array is not value:
                slot.put(value)
        for variable, slot, pair in self._new:
            slot.put(_other(pair, value_of(variable, variables), slot))
        for result in self._results:
            result.renew()

    def finish(self, variables: Variables) -> list[Any]:
        """The results, after all calls; the variables take their new values."""
        variables.update(self._run.updates)
        for variable, slot, _ in self._new:
            variables[variable] = slot.array if slot.array.ndim else slot.array[()]
        results = [_own(slot.array, mine) for slot, mine in self._outputs]
        if events.listeners:
            for result, (slot, mine) in zip(results, self._outputs, strict=True):
                if not mine and isinstance(result, np.ndarray):
                    events.emit("held", None, slot.node, result, bytes=result.nbytes)
        return results

    def _go(self) -> None:
        args: list[Any] = []
        try:
            if events.listeners:
                told = 0
                for call, (function, args) in zip(self.calls, self._told, strict=True):
                    told = self._tell_buffers(told, self._place[call.node])
                    function(*args)
                    self.tell(call)
                self._tell_buffers(told, len(self._place))
            else:
                for function, args in self.flat:
                    function(*args)
        except GraphError as error:
            node = self._node_of(args)
            error.defined, error.ran = error.defined or node.where, error.ran or here()
            raise
        except STOPS as reason:
            raise self.explained(self._node_of(args), reason) from None

    def _tell_buffers(self, told: int, step: int) -> int:
        """Tell of the buffers that are taken and freed until this step begins."""
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
        """By step what happens to buffers as it begins: those that were read last are free."""
        found: dict[int, list[tuple[str, Lifetime]]] = {}
        for life in self.plan.lifetimes:
            found.setdefault(life.end + 1, []).append(("freed", life))
            found.setdefault(life.start, []).append(("taken", life))
        for some in found.values():
            some.sort(key=lambda x: x[0])
        return found

    def _node_of(self, args: list[Any]) -> Node:
        """The node that a call was at work for, by the arguments of the call."""
        joined = [f.node for f, given in self.flat if given is args and isinstance(f, Joined)]
        return joined[0] if joined else next(c.node for c in self.calls if c.args is args)

    def explained(self, node: Node, reason: Exception) -> GraphError:
        """What NumPy stumbled over while it worked for a node, in our words."""
        arrays = [self.slots[x].array for x in node.inputs]
        specs = [spec_of(a) if hasattr(a, "shape") else Spec(None, float32) for a in arrays]
        found = explain(node.op, specs, node.attrs, reason)
        found.defined, found.ran = node.where, here()
        return found

    def tell(self, call: Call) -> None:
        """Tell listeners of each kernel; a fused region is one, and handlers tell themselves."""
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


def _with_planned_bodies(step: Step) -> Step:
    """The same step, whose bodies are planned where that changes no bit."""
    planned = copy.copy(step)
    for name, body in bodies_of(step.node.attrs).items():
        if is_steady(body):
            planned.bodies = {**planned.bodies, name: Inner(body, _bind_body)}
    return planned


def _bind_body(layout: Layout, specs: Specs) -> Bound:
    return Bound(layout, specs, tiled, {}, exact=True)


class Result:
    """The memory of a result: that of an earlier run, once the caller has let it go.

    Two arrays take turns where the caller still holds the last one while the next is computed.
    """

    def __init__(self, slot: Slot) -> None:
        self.slot = slot
        self.held = -1  # how many references there are while only this program has the array
        self.spare: list[Array] = []

    def renew(self) -> None:
        slot = self.slot
        if slot.array is not None and sys.getrefcount(slot.array) == self.held:
            return
        last, spare = slot.array, self.spare
        if spare and sys.getrefcount(spare[0]) == ALONE:
            slot.put(spare.pop())
        else:
            slot.put(np.empty(slot.shape, slot.spec.dtype))
        spare[:] = [] if last is None else [last]
        self.held = sys.getrefcount(slot.array)


ALONE = sys.getrefcount([np.empty(0)][0])  # of an array that only one list holds


def _given(node: Node, i: int, x: Slot) -> Any:
    """A Spec where only the shape is read, so that the data need not be there."""
    return x.spec if i in node.op.shape_only and is_known(x.spec) else x


def _outside(value: Any, arena: Array) -> Any:
    """A value that stays what it is when the arena is written to again."""
    if isinstance(value, tuple):
        return tuple(_outside(part, arena) for part in value)
    if getattr(value, "base", None) is not None and np.may_share_memory(value, arena):
        return value.copy()
    return value


def _other(pair: list[Array], now: Array, slot: Slot) -> Array:
    """Of the two arrays of a variable the one that does not hold its value now."""
    for array in pair:
        if array is not now:
            return array
    pair.append(np.empty(slot.shape, slot.spec.dtype))
    return pair[-1]


def _own(value: Any, mine: bool) -> Any:
    """A result that the caller may keep: his own array, a copy of what is ours, or a number."""
    if not isinstance(value, np.ndarray):
        return value
    if not mine:
        value = value.copy()
    return value if value.ndim else value[()]


def _seen(value: Any) -> Any:
    """A copy for a listener to keep, since the memory is written to again; not counted as new."""
    return value.copy().view() if isinstance(value, np.ndarray) else value

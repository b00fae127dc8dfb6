"""A layout made ready for inputs of certain sizes: the memory, and a flat list of calls into it.

Nothing is looked up while it runs: each call is a function with its arrays. What changes from run
to run (feeds, variables, results) is put in its place first.
"""

from __future__ import annotations

import functools
import math
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from minigrad import events
from minigrad.compiled.kernels import Choose, region_of
from minigrad.compiled.layout import Layout, Specs, concrete_specs, is_known, shape_of
from minigrad.compiled.slots import Call, Slot
from minigrad.core import Array, Spec, explain, float32, silence, spec_of
from minigrad.errors import GraphError
from minigrad.execute import HANDLERS, Run, Variables
from minigrad.fused import FUSED
from minigrad.graph import Node
from minigrad.ops import parts, state
from minigrad.plan import ALIGNMENT, Arena, Plan, aligned, lay_apart, share_buffers
from minigrad.source import here
from minigrad.tiles import Place, Region, direct

Pairs = dict[Node, list[Array]]


class Bound:
    """The calls of a program for one choice of input shapes.

    pairs: for each variable the two arrays that its values alternate between, shared by all
    choices of shapes.
    apart: no two values lie in the same memory, so that calls of several nodes may run at once.
    """

    def __init__(
        self,
        layout: Layout,
        specs: Specs,
        choose: Choose,
        in_place: bool,
        pairs: Pairs,
        apart: bool = False,
    ) -> None:
        self.layout, self.specs, self.pairs = layout, specs, pairs
        wanted = layout.wanted(specs, in_place and not apart)
        self.plan: Plan = lay_apart(wanted) if apart else share_buffers(wanted)
        self.arena = Arena(self.plan)
        self.calls: list[Call] = []
        self._choose = choose
        self._scratch: list[tuple[Slot, int]] = []
        self._used = self.scratch_bytes = 0
        self._run = Run({}, {}, None)
        self.slots: dict[Node, Slot] = {}
        lives = {x.node: x for x in self.plan.lifetimes}
        for node in layout.order:
            array = self.arena.array(lives[node]) if node in lives else None
            self.slots[node] = self._slot(node, array)
        for node in layout.order:
            self._used = self.scratch_bytes if apart else 0
            self._emit(node)
        self._place_scratch()
        self._by_kind = {
            kind: [(x, s) for x, s in self.slots.items() if s.kind == kind]
            for kind in ("fed", "variable", "result")
        }
        self._held: dict[Node, int] = {}
        self._last = {call.node: call for call in self.calls}
        self._flat = [
            (functools.partial(c.function, **c.attrs) if c.attrs else c.function, c.args)
            for c in self.calls
        ]

    # ---- Preparing --------------------------------------------------------------------------

    def _slot(self, node: Node, array: Array) -> Slot:
        kind, spec = self.layout.kind[node], self.specs[node]
        if node.op is state.constant:
            return Slot("constant", spec, np.asarray(node.attrs["value"]), node)
        if kind == "alias":
            again = node.op is parts.output  # a result that is chosen twice
            of = self.slots[self.layout.root[node] if again else node.inputs[0]]
            view = of.view(shape_of(spec), "reshape", spec.shape)
            view.node = node
            return view
        if kind == "source":
            kind = "fed" if node.op is state.placeholder else "variable"
        return Slot(kind, spec, array, node)

    def call(self, node: Node, function: Callable[..., Any], *operands: Any, **attrs: Any) -> None:
        """Add a call; operands are slots, or values as they are."""
        self.calls.append(Call(function, operands, attrs, node))

    def scratch(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Slot:
        """Memory for the calls of one node; those of the next may use it again."""
        slot = Slot("scratch", Spec(shape, dtype))
        self._scratch.append((slot, self._used))
        self._used += aligned(math.prod(shape) * dtype.itemsize)
        self.scratch_bytes = max(self.scratch_bytes, self._used)
        return slot

    def _place_scratch(self) -> None:
        block = np.empty(self.scratch_bytes + ALIGNMENT, np.uint8)
        start = -block.ctypes.data % ALIGNMENT
        for slot, offset in self._scratch:
            size = math.prod(slot.shape) * slot.spec.dtype.itemsize
            flat = block[start + offset : start + offset + size].view(slot.spec.dtype)
            slot.put(flat.reshape(slot.shape))

    def _emit(self, node: Node) -> None:
        kind = self.layout.kind[node]
        if kind == "free":
            self._emit_free(node)
        elif kind in ("planned", "result", "whole") and node.op is not parts.output:
            results = self._results(node)
            operands = [self.slots[x] for x in node.inputs]
            specs = [x.spec for x in results], [x.spec for x in operands]
            chosen = self._choose(node, *specs)
            if chosen is not None:
                self.call(node, chosen, *results, *operands)
            elif node.op is FUSED:
                self._emit_region(node, results, operands)
            else:
                self._emit_kernel(node, node, results[0], operands)

    def _results(self, node: Node) -> list[Slot]:
        """Where the results go; one that nobody reads goes into scratch memory."""
        if self.layout.kind[node] != "whole":
            return [self.slots[node]]
        chosen = self.layout.parts.get(node, {})
        specs: Sequence[Spec] = self.specs[node].parts  # type: ignore[attr-defined]
        return [
            self.slots[chosen[i]] if i in chosen else self.scratch(shape_of(s), s.dtype)
            for i, s in enumerate(specs)
        ]

    def _emit_kernel(self, node: Node, of: Node, out: Slot, operands: Sequence[Slot]) -> None:
        """The calls for one operator, a node by itself or (`of`) a step of a fused one."""
        ufunc = direct(of)
        if ufunc is not None:
            self.call(node, ufunc, *operands, out)
            return
        given = [x.spec if i in of.op.shape_only else x for i, x in enumerate(operands)]
        self.call(node, of.op.run, out, *given, **of.attrs)

    def _emit_region(self, node: Node, outputs: list[Slot], operands: list[Slot]) -> None:
        """A region without a kernel of its own: its operators are calls like all others."""
        region = region_of(node.attrs["body"])
        body = region.body
        known = concrete_specs(
            body, {x: y.shape for x, y in zip(body.inputs, operands, strict=True)}
        )
        places = self._places(region, outputs, operands)
        for step in region.steps:
            sources = [
                places(p, known[x]) for p, x in zip(step.sources, step.node.inputs, strict=True)
            ]
            self._emit_kernel(node, step.node, places(step.target, known[step.node]), sources)
        for p, i in region.copies:
            self.call(node, np.copyto, outputs[i], places(p, known[body.outputs[i]]))

    def _places(
        self, region: Region, outputs: list[Slot], operands: list[Slot]
    ) -> Callable[[Place, Spec], Slot]:
        made: dict[tuple[Any, ...], Slot] = {}

        def place(p: Place, spec: Spec) -> Slot:
            if p.kind == "input":
                return operands[p.number]
            if p.kind == "output":
                return outputs[p.number]
            key = (p.kind, p.number, spec.shape)
            if key not in made and p.kind == "constant":
                made[key] = Slot("constant", spec, region.constants[p.number])
            elif key not in made:
                made[key] = self.scratch(shape_of(spec), spec.dtype)
            return made[key]

        return place

    def _emit_free(self, node: Node) -> None:
        """A value that is made anew at each run, and put where it is read."""
        slot, operands = self.slots[node], [self.slots[x] for x in node.inputs]
        if node.op is state.assign and self.layout.assigned.get(node.inputs[1]) is node.inputs[0]:
            self.call(node, self._adopt(node), operands[1])
            return
        given = [self._given(node, i, x) for i, x in enumerate(operands)]
        handler, step = HANDLERS.get(node.op), self.layout.steps.get(node)

        def compute(*values: Any) -> None:
            if handler is not None and step is not None:
                slot.put(handler(self._run, step, list(values)))
            else:
                slot.put(node.op.run(None, *values, **node.attrs))

        self.call(node, compute, *given)

    def _given(self, node: Node, i: int, x: Slot) -> Any:
        """A Spec where only the shape is read, so that the data need not be there."""
        return x.spec if i in node.op.shape_only and is_known(x.spec) else x

    def _adopt(self, node: Node) -> Callable[[Array], None]:
        """The memory of a value becomes that of the variable, when the run has succeeded."""
        variable, slot = node.inputs[0], self.slots[node]

        def adopt(value: Array) -> None:
            self._run.updates[variable] = value
            slot.put(value)
            if events.listeners:
                events.emit("run", state.assign, node, value, (value,))

        return adopt

    # ---- Running ----------------------------------------------------------------------------

    def run(self, feeds: Mapping[Node, Array], variables: Variables) -> list[Any]:
        """Run once. Results share no memory with anything; variables change only at the end."""
        self.begin(feeds, variables)
        silence().run(self._go)
        return self.finish(variables)

    def finish(self, variables: Variables) -> list[Any]:
        """The results, after all calls; the variables take their new values."""
        variables.update(self._run.updates)
        return [self._own(x) for x in self.layout.graph.outputs]

    def begin(self, feeds: Mapping[Node, Array], variables: Variables) -> None:
        """Put in its place what the calls of a run find there."""
        self._run = Run(feeds, variables, self.layout.graph.outputs[0])
        for node, slot in self._by_kind["fed"]:
            slot.put(feeds[node])
        for node, slot in self._by_kind["variable"]:
            if node not in variables:
                HANDLERS[node.op](self._run, self.layout.steps[node], [])  # says what is missing
            if slot.array is not variables[node]:
                slot.put(variables[node])
        for node, slot in self._by_kind["result"]:
            if node in self.layout.assigned:
                slot.put(self._other(self.layout.assigned[node], slot.spec))
            elif slot.array is None or sys.getrefcount(slot.array) != self._held[node]:
                slot.put(np.empty(slot.shape, slot.spec.dtype))  # the caller has the last one
                self._held[node] = sys.getrefcount(slot.array)

    def _other(self, variable: Node, spec: Spec) -> Array:
        """Of the two arrays of a variable the one that does not hold its value now."""
        pair = self.pairs.setdefault(variable, [])
        for array in pair:
            if array is not self._run.variables[variable]:
                return array
        pair.append(np.empty(shape_of(spec), spec.dtype))
        return pair[-1]

    def _go(self) -> None:
        args: list[Any] = []
        try:
            if events.listeners:
                for call, (function, args) in zip(self.calls, self._flat, strict=True):
                    function(*args)
                    self.tell(call)
            else:
                for function, args in self._flat:
                    function(*args)
        except GraphError as error:
            node = self._node_of(args)
            error.defined, error.ran = error.defined or node.where, error.ran or here()
            raise
        except (ValueError, IndexError, TypeError) as reason:
            raise self.explained(self._node_of(args), reason) from None

    def _node_of(self, args: list[Any]) -> Node:
        return next(c.node for c in self.calls if c.args is args)

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
        operands = tuple(self.slots[x].array for x in node.inputs)
        whole = self.layout.kind[node] == "whole"
        events.emit("run", node.op, node, None if whole else self.slots[node].array, operands)

    def _own(self, node: Node) -> Any:
        slot = self.slots[node]
        if slot.kind == "result" and node not in self.layout.assigned:
            return slot.array if slot.array.ndim else slot.array[()]
        return slot.array.copy()[()] if isinstance(slot.array, np.ndarray) else slot.array

"""From a layout and the sizes of the inputs to memory and a flat list of calls into it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from minigrad import ops
from minigrad.compiler.executors import Choose, batch_last, expand, tiled
from minigrad.compiler.slots import CallList, Slot, base_of, batch_first, like
from minigrad.core import Array, Spec
from minigrad.ops import parts, state
from minigrad.passes.layout import Layout, Specs, concrete_specs, is_known, shape_of
from minigrad.passes.plan import Arena, Plan, Request, separate_buffers, share_buffers
from minigrad.passes.regions import Place, Region, region_of
from minigrad.static import Node
from minigrad.static.fused import FUSED


class Builder(CallList):
    """Makes the slots of all values and the calls that fill them, node by node.

    apart: no two values share memory, so that calls of several nodes may run at once.
    exact: only calls that give the same bits as the kernels of the operators.
    planner: gives each value its place, unless each has memory of its own.
    """

    def __init__(
        self,
        layout: Layout,
        specs: Specs,
        choose: Choose,
        apart: bool = False,
        exact: bool = False,
        planner: Callable[[Sequence[Request]], Plan] = share_buffers,
    ) -> None:
        super().__init__()
        self.layout, self.specs, self.exact = layout, specs, exact
        requests = layout.requests(specs)
        self.plan: Plan = separate_buffers(requests) if apart else planner(requests)
        self.arena = Arena(self.plan)
        self.slots: dict[Node, Slot] = {}
        self.kernel_bytes = 0
        self._choose, self._apart = choose, apart
        self._kept: dict[Any, Any] = {}
        lives = {x.node: x for x in self.plan.lifetimes}
        turned = batch_last(layout, specs) if choose is tiled and not exact else set()
        for node in layout.order:
            array = self.arena.array(lives[node]) if node in lives else None
            self.slots[node] = (
                self._batch_last_slot(node, array) if node in turned else self._slot(node, array)
            )
        weights = [n.inputs for n in layout.order if n.op is ops.conv2d_weight]
        self._weighed = {self.slots[inputs[1]] for inputs in weights}
        for node in layout.order:
            if not apart:
                self.shared.used = 0
            self.node, self.part = node, None
            self._emit(node)
        self.scratch_bytes = self.place() + self.kernel_bytes
        self.scratch_blocks = [("scratch", self.shared.memory), ("lasting", self.lasting.memory)]

    def _batch_last_slot(self, node: Node, array: Array) -> Slot:
        """Return the slot of images that are stored with the batch as the last axis."""
        n, c, height, width = shape_of(self.specs[node])
        form = c, height, width, n
        base = Slot("planned", Spec(form, node.dtype), array.reshape(form), node)
        found = batch_first(base)
        found.node = node
        return found

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

    # ---- What is shared between nodes ---------------------------------------------------------

    def kept(self, key: Any, make: Callable[[], Any]) -> Any:
        if self._apart:  # the second node would have to wait for the first
            return make()
        if key not in self._kept:
            self.shared, before = self.lasting, self.shared
            self._kept[key] = make()
            self.shared = before
        return self._kept[key]

    def needs_columns(self, x: Slot) -> bool:
        return x in self._weighed

    # ---- Nodes and regions --------------------------------------------------------------------

    def _emit(self, node: Node) -> None:
        kind = self.layout.kind[node]
        if kind == "free":
            self._emit_free(node)
        elif kind in ("planned", "result", "whole") and node.op is not parts.output:
            results = self._result_slots(node)
            operands = [self.slots[x] for x in node.inputs]
            chosen = self._choose_kernel(node, results, operands)
            if chosen is not None:
                kernel, given = chosen
                self.call(kernel, *given)
                self.kernel_bytes += getattr(kernel, "scratch_bytes", 0)
            elif node.op is FUSED:
                self._emit_region(node, results, operands)
            else:
                expand(self, node, results[0], operands)

    def _emit_free(self, node: Node) -> None:
        """Emit a value that is allocated again at each run."""
        operands = [_shape_only(node, i, self.slots[x]) for i, x in enumerate(node.inputs)]
        if node.op is state.assign and self.layout.adopts(node):
            operands = operands[1:]
        if node.op is not state.group:
            self.call(None, *operands)

    def _choose_kernel(
        self, node: Node, results: list[Slot], operands: list[Slot]
    ) -> tuple[Any, list[Slot]] | None:
        """Return the executor's kernel, if it has one, and its operands.

        Kernels want their arrays as they lie in memory: all with the batch last, or none.
        """
        given = [*results, *operands]
        bases = [base_of(x) for x in given]
        if any(base is not None for base in bases):
            if any(b is None and x.shape != () for b, x in zip(bases, given, strict=True)):
                return None
            given = [base or x for base, x in zip(bases, given, strict=True)]
        n = len(results)
        kernel = self._choose(node, [x.spec for x in given[:n]], [x.spec for x in given[n:]])
        return None if kernel is None else (kernel, given)

    def _result_slots(self, node: Node) -> list[Slot]:
        """Return the slots of the results; unread ones go into scratch memory."""
        if self.layout.kind[node] != "whole":
            return [self.slots[node]]
        chosen = self.layout.parts.get(node, {})
        specs: Sequence[Spec] = self.specs[node].parts  # type: ignore[attr-defined]
        return [
            self.slots[chosen[i]] if i in chosen else self.scratch(shape_of(s), s.dtype)
            for i, s in enumerate(specs)
        ]

    def _emit_region(self, node: Node, outputs: list[Slot], operands: list[Slot]) -> None:
        """Emit a region without a kernel of its own: one call for each operator."""
        region = region_of(node.attrs["body"])
        body = region.body
        known = concrete_specs(
            body, {x: y.shape for x, y in zip(body.inputs, operands, strict=True)}
        )
        places = self._place_slots(region, outputs, operands)
        for step in region.steps:
            sources = [
                places(p, known[x]) for p, x in zip(step.sources, step.node.inputs, strict=True)
            ]
            self.part = step.node
            expand(self, step.node, places(step.target, known[step.node]), sources)
        for p, i in region.copies:
            self.call(np.copyto, outputs[i], places(p, known[body.outputs[i]]))

    def _place_slots(
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
                made[key] = self.constant(region.constants[p.number], spec.dtype)
            elif key not in made:
                made[key] = like(self, outputs[0], shape_of(spec), spec.dtype)
            return made[key]

        return place


def _shape_only(node: Node, i: int, x: Slot) -> Any:
    """Return a Spec if only the shape is read, so that the data need not be there."""
    return x.spec if i in node.op.shape_only and is_known(x.spec) else x

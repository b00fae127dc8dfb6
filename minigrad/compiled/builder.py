"""From a layout and the sizes of the inputs to memory and a flat list of calls into it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from minigrad.compiled.expand import expand
from minigrad.compiled.kernels import Choose, region_of
from minigrad.compiled.layout import Layout, Specs, concrete_specs, shape_of
from minigrad.compiled.slots import Call, Scratch, Slot
from minigrad.core import Array, Spec
from minigrad.fused import FUSED
from minigrad.graph import Node
from minigrad.ops import parts, state
from minigrad.plan import Arena, Plan, lay_apart, share_buffers
from minigrad.tiles import Place, Region


class Builder:
    """Makes the slots of all values and the calls that fill them, node by node.

    apart: no two values lie in the same memory, so that calls of several nodes may run at once.
    free: makes the call for a node that is not computed into a known place.
    """

    def __init__(
        self,
        layout: Layout,
        specs: Specs,
        choose: Choose,
        apart: bool,
        free: Callable[[Builder, Node], None],
    ) -> None:
        self.layout, self.specs = layout, specs
        wanted = layout.wanted(specs)
        self.plan: Plan = lay_apart(wanted) if apart else share_buffers(wanted)
        self.arena = Arena(self.plan)
        self.calls: list[Call] = []
        self.slots: dict[Node, Slot] = {}
        self.kernel_bytes = 0
        self._part: Node | None = None  # the operator of a fused region that is written out
        self._choose, self._apart, self._free = choose, apart, free
        self._constants: dict[Any, Slot] = {}
        self._scratch = Scratch()
        self._lasting = Scratch()
        self._kept: dict[Any, Any] = {}
        lives = {x.node: x for x in self.plan.lifetimes}
        for node in layout.order:
            array = self.arena.array(lives[node]) if node in lives else None
            self.slots[node] = self._slot(node, array)
        for node in layout.order:
            if not apart:
                self._scratch.used = 0
            self._node, self._part = node, None
            self._emit(node)
        self.scratch_bytes = self._scratch.place() + self._lasting.place() + self.kernel_bytes
        self.scratch_blocks = [("scratch", self._scratch.memory), ("lasting", self._lasting.memory)]

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

    # ---- What calls are written with ----------------------------------------------------------

    def call(self, function: Callable[..., Any], *operands: Any, **attrs: Any) -> None:
        """Add a call for the node at hand; operands are slots, or values as they are."""
        self.calls.append(Call(function, operands, attrs, self._node))
        self.calls[-1].part = self._node if self._part is None else self._part

    def constant(self, value: Any, dtype: np.dtype[Any]) -> Slot:
        """An array that never changes; one without axes is what NumPy takes in most quickly."""
        array = np.asarray(value, dtype)
        key = array.shape, dtype, array.tobytes()
        if key not in self._constants:
            self._constants[key] = Slot("constant", Spec(array.shape, dtype), array)
        return self._constants[key]

    def scratch(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Slot:
        """Memory for the calls of one node; those of the next may use it again."""
        return self._scratch.take(shape, dtype)

    def kept(self, key: Any, make: Callable[[], Any]) -> Any:
        """What `make` computes for several nodes, once; its scratch memory is not used again."""
        if self._apart:  # the second node would have to wait for the first
            return make()
        if key not in self._kept:
            self._scratch, before = self._lasting, self._scratch
            self._kept[key] = make()
            self._scratch = before
        return self._kept[key]

    # ---- Nodes and regions --------------------------------------------------------------------

    def _emit(self, node: Node) -> None:
        kind = self.layout.kind[node]
        if kind == "free":
            self._free(self, node)
        elif kind in ("planned", "result", "whole") and node.op is not parts.output:
            results = self._results(node)
            operands = [self.slots[x] for x in node.inputs]
            chosen = self._choose(node, [x.spec for x in results], [x.spec for x in operands])
            if chosen is not None:
                self.call(chosen, *results, *operands)
                self.kernel_bytes += getattr(chosen, "scratch_bytes", 0)
            elif node.op is FUSED:
                self._emit_region(node, results, operands)
            else:
                expand(self, node, results[0], operands)

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
            self._part = step.node
            expand(self, step.node, places(step.target, known[step.node]), sources)
        for p, i in region.copies:
            self.call(np.copyto, outputs[i], places(p, known[body.outputs[i]]))

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
                made[key] = self.constant(region.constants[p.number], spec.dtype)
            elif key not in made:
                made[key] = self.scratch(shape_of(spec), spec.dtype)
            return made[key]

        return place

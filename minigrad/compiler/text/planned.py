"""Calls into planned memory as lines of text, with the bodies that can be planned as well."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from minigrad import control, ops
from minigrad.compiler.builder import Builder
from minigrad.compiler.executors import Tiles, tiled
from minigrad.compiler.memory import DoubleBuffer, outside_arena, unshared
from minigrad.compiler.slots import KernelCall, Slot
from minigrad.compiler.text.lines import INDENT, Line, LineWriter, indent_lines
from minigrad.compiler.text.names import literal
from minigrad.diagnostics.errors import GraphError
from minigrad.ops import parts, state
from minigrad.passes.layout import (
    RESHAPES,
    SOURCES,
    Layout,
    Shape,
    Specs,
    concrete_specs,
    kinds_of,
)
from minigrad.passes.plan import aligned_memory
from minigrad.static import Graph, Node, bodies_of
from minigrad.static.fused import FUSED
from minigrad.static.run import Interpreter

# Beside element-wise operators: what gives contiguous results of contiguous operands. The order in
# memory is the order in which sums and products add up.
STEADY = {
    *(*SOURCES, *RESHAPES, ops.matmul, ops.sum, ops.mean, ops.sum_like, FUSED, parts.output),
    *(control.COND, control.WHILE, control.SCAN, control.HISTORY),
}


def is_steady(body: Graph) -> bool:
    """Return whether planned calls give the kernels' bits, here and in all inner graphs."""
    waiting = [body]
    while waiting:
        for node in waiting.pop().nodes:
            if not (node.op.elementwise or node.op in STEADY) or node.op.impure:
                return False
            waiting += bodies_of(node.attrs).values()
    return True


class Planned:
    """Writes the calls of a graph into planned memory: those of a program, or of a body."""

    def __init__(
        self,
        text: LineWriter,
        built: Builder,
        twos: Mapping[Slot, DoubleBuffer],
        given: Mapping[Node, str] | None = None,
    ) -> None:
        self.text, self.built, self.layout, self.twos = text, built, built.layout, twos
        self.lines: list[Line] = []
        self.name: dict[Slot, str] = {built.slots[x]: name for x, name in (given or {}).items()}
        self.blocks: list[tuple[str, Any]] = []
        self.arena = ""
        for wish, memory in [("arena", built.arena.block), *built.scratch_blocks]:
            if memory.nbytes or wish == "arena":
                self.blocks.append((self._block(wish, memory), memory))
        self.arena = self.blocks[0][0]

    def _block(self, wish: str, memory: Any) -> str:
        text = self.text
        return text.give(wish, memory, lambda: f"{text.imported(aligned_memory)}({memory.nbytes})")

    def write(self, calls: Sequence[KernelCall]) -> None:
        """Write one or several lines for each call."""
        noted = self.layout.noted
        for call in calls:
            if call.node in noted:
                continue
            if call.function is None:
                self._free(call)
            elif isinstance(call.function, Tiles):
                self._tiles(call, call.function)
            else:
                self.lines.append(self._line(call))
        for call in self.built.calls:
            if call.node in noted:
                self._free(call)

    def result(self, node: Node) -> str:
        """Return the expression that hands out a result; one in a reused buffer is copied."""
        if node.op is state.group:
            return "None"
        slot = self.built.slots[node]
        if slot.kind == "result":
            return self.scalar(slot)
        return f"{self.text.imported(unshared)}({self.of(slot)})"

    # ---- Calls --------------------------------------------------------------------------------

    def _line(self, call: KernelCall) -> Line:
        given = [*map(self.of, call.operands), *self.text.attrs(call.attrs)]
        return Line(f"{self._function(call)}({', '.join(given)})", call.node, call.part)

    def _function(self, call: KernelCall) -> str:
        function: Any = call.function
        name = getattr(function, "__name__", "")
        owner = getattr(function, "__self__", None)
        if isinstance(owner, np.ufunc):
            return f"np.{owner.__name__}.{name}"
        if getattr(np, name, None) is function:
            return f"np.{name}"
        if call.part.op.run is function:
            return self.text.kernel(call.part.op)
        if (getattr(function, "__module__", "") or "").startswith("minigrad.") and name:
            return self.text.imported(function)
        return self.text.table.name(function, name or "kernel")

    def _free(self, call: KernelCall) -> None:
        node, slot = call.node, self.built.slots[call.node]
        operands = [self.scalar(x) for x in call.operands]
        if node.op is state.assign and len(operands) == 1:  # the memory changes hands
            key = self.text.keys[node.inputs[0]]
            self.lines.append(Line(f"updates[{key!r}] = {operands[0]}", node))
            self.name[slot] = operands[0]
            return
        of_memory = [isinstance(x, Slot) and x.fixed for x in call.operands]
        step = self.layout.steps.get(node)
        bodies, keeps = ({}, False) if step is None else (step.bodies, step.keeps_history)
        if keeps:  # its states are read when the arena was written to again
            operands = [
                self._apart(x) if mine else x for x, mine in zip(operands, of_memory, strict=True)
            ]
        functions = {wish: self._body(node, wish, body) for wish, body in bodies.items()}
        self.name[slot] = name = self.text.names.new(node.name)
        loop = bodies.get("body")
        self.lines += self.text.lines(node, name, operands, functions, loop, keeps)
        if any(of_memory):
            self.lines.append(Line(f"{name} = {self._apart(name)}", node))

    def _apart(self, text: str) -> str:
        return f"{self.text.imported(outside_arena)}({text}, {self.arena})"

    def scalar(self, x: Any) -> str:
        """Return an operand for kernels outside the plan: without axes, a NumPy number."""
        array = isinstance(x, Slot) and x.kind not in ("fed", "variable", "free")
        return f"{self.of(x)}[()]" if array and x.spec.shape == () else self.of(x)

    # ---- Bodies -------------------------------------------------------------------------------

    def _body(self, node: Node, wish: str, body: Interpreter) -> str:
        """Return the name of a body's function, planned if its shapes are known beforehand."""
        graph = bodies_of(node.attrs)[wish]
        specs = self._specs_within(graph, node)
        if specs is None:
            return self.text.function(wish, body)
        layout = Layout(graph, kinds_of(graph, specs), specs)
        names = {x: self.text.names.new(x.name) for x in body.given}
        built = Builder(layout, specs, tiled, exact=True)
        inner = Planned(self.text, built, {}, names)
        inner.write(built.calls)
        results = [inner.scalar(built.slots[x]) for x in body.outputs]
        return self.text.define(wish, list(names.values()), inner.lines, results)

    def _specs_within(self, graph: Graph, node: Node) -> Specs | None:
        """Return the specs within a body if they are equal at every step, or None.

        An error in a branch that isn't taken doesn't matter.
        """
        shapes = self._shapes_within(node)
        if shapes is None or not graph.outputs or not is_steady(graph):
            return None
        try:
            specs = concrete_specs(graph, dict(zip(graph.inputs, shapes, strict=True)))
        except GraphError:
            return None
        states = graph.outputs[: node.attrs["carries"]] if graph is node.attrs.get("body") else ()
        steady = all(specs[y].shape == s for y, s in zip(states, shapes, strict=False))
        return specs if steady else None

    def _shapes_within(self, node: Node) -> list[Shape] | None:
        """Return the shapes of the bodies' inputs; None if one is unknown or not contiguous."""
        specs = [self.built.specs[x] for x in node.inputs]
        if not self._in_order.issuperset(node.inputs) or any(x.shape is None for x in specs):
            return None
        shapes: list[Any] = [x.shape for x in specs]
        if node.op is control.COND:
            shapes = shapes[1:]
        n, m = node.attrs.get("carries", 0), node.attrs.get("sequences", 0)
        shapes[n : n + m] = [shape[1:] for shape in shapes[n : n + m]]
        known = all(type(length) is int for shape in shapes for length in shape)
        return shapes if known else None

    @functools.cached_property
    def _in_order(self) -> set[Node]:
        """The values that are stored in row-major order."""
        found: set[Node] = set()
        for node in self.layout.order:
            kind = self.layout.kind[node]
            if kind == "source":
                value = node.attrs.get("value")
                steady = value is None or np.asarray(value).flags.c_contiguous
            else:
                inside = all(map(is_steady, bodies_of(node.attrs).values()))
                steady = (node.op.elementwise or node.op in STEADY) and inside
                steady = steady and found.issuperset(node.inputs)
            if steady or kind in ("planned", "result"):
                found.add(node)
        return found

    # ---- Tiles --------------------------------------------------------------------------------

    def _tiles(self, call: KernelCall, tiles: Tiles) -> None:
        """Write a loop over the tiles of a fused region."""
        tile = tiles.tile
        inner = (*tile.outputs, *tile.inputs)
        sliced = [True] * len(tile.outputs) + tiles.sliced
        inside: list[Line] = []
        for x, slot, moves in zip(call.operands, inner, sliced, strict=True):
            outer = text = self.of(x)
            if tiles.flat:
                form = "-1" if moves else "()"
                self.name[slot] = text = self.text.names.new(f"{outer}_flat")
                self.lines.append(Line(f"{text} = {outer}.reshape({form})"))
            if moves:
                self.name[slot] = name = self.text.names.new(f"{outer}_tile")
                inside.append(Line(f"{name} = {text}[start:stop]"))
            else:
                self.name[slot] = text
        for inner_call in tile.calls:
            for x in inner_call.operands:
                inside += self._scratch_of_tile(x, tile.shared.slots)
            line = self._line(inner_call)
            inside.append(line._replace(node=call.node))
        self.lines += [
            Line(f"for start in range(0, {tiles.length}, {tiles.rows}):", call.node),
            Line(f"{INDENT}stop = min(start + {tiles.rows}, {tiles.length})"),
            *indent_lines(inside),
        ]

    def _scratch_of_tile(self, x: Any, taken: Sequence[tuple[Slot, int]]) -> list[Line]:
        """Return the part of the tile memory that this tile needs, named at its first use."""
        if not isinstance(x, Slot) or x in self.name:
            return []
        if x.source is not None:
            source, method, args = x.source
            lines = self._scratch_of_tile(source, taken)
            self.name[x] = self.text.names.new("tile")
            return [*lines, Line(f"{self.name[x]} = {self._view(source, method, args)}")]
        if all(x is not slot for slot, _ in taken):
            return []
        dtype = f"np.{x.spec.dtype.name}"
        memory = self.text.give("memory", x.array, lambda: f"np.empty({x.shape}, {dtype})")
        self.name[x] = self.text.names.new("tile")
        return [Line(f"{self.name[x]} = {memory}[: stop - start]")]

    # ---- Arrays -------------------------------------------------------------------------------

    def of(self, x: Any) -> str:
        """Return the expression for an operand; an array is defined when first met."""
        if not isinstance(x, Slot):
            return self.text.value(x, "value")
        if x not in self.name:
            if x.fixed:
                self._give(x)
            else:
                self._define(x)
        return self.name[x]

    def _wish(self, x: Slot) -> str:
        if x.node is None:
            return x.kind if x.source is None else f"{self.of(x.source[0])}_{x.source[1]}"
        return x.node.name

    def _give(self, x: Slot) -> None:
        """Add memory that exists from the beginning."""
        node = x.node if x.source is None else None
        if x.source is not None:
            self.of(x.source[0])
        self.name[x] = self.text.give(self._wish(x), x.array, lambda: self._origin(x), node)

    def _define(self, x: Slot) -> None:
        """Define an array that changes from run to run."""
        origin, wish = self._moving(x), self._wish(x)
        self.name[x] = name = self.text.names.new(wish)
        self.lines.append(Line(f"{name} = {origin}", None if x.source is not None else x.node))

    def _moving(self, x: Slot) -> str:
        if x.source is not None:
            return self._view(*x.source)
        node: Any = x.node
        if x.kind != "result":
            return self.text.read(node)
        two = self.twos.get(x) or DoubleBuffer(x.shape, x.spec.dtype)
        form = f"{x.shape}, np.{x.spec.dtype.name}"
        variable = self.layout.assigned.get(node)
        wish = f"{(node if variable is None else variable).name}_two"
        name = self.text.give(wish, two, lambda: f"{self.text.imported(DoubleBuffer)}({form})")
        if variable is None:
            return f"{name}.free()"
        return f"{name}.other({self.of(self.built.slots[variable])})"

    def _view(self, source: Slot, method: str, args: tuple[Any, ...]) -> str:
        given = ", ".join(self.text.value(a, "form") for a in args)
        return f"{self.of(source)}.{method}({given})"

    def _origin(self, x: Slot) -> str:
        if x.source is not None:
            return self._view(*x.source)
        if x.kind == "constant":
            return literal(x.array) or self.text.table.name(x.array, self._wish(x))
        dtype = f"np.{x.spec.dtype.name}"
        for name, memory in self.blocks:
            start = x.array.ctypes.data - memory.ctypes.data
            if 0 <= start <= memory.nbytes - x.array.nbytes:
                part = f"{name}[{start}:{start + x.array.nbytes}]"
                return f"{part}.view({dtype}).reshape({x.shape})"
        return f"np.empty({x.shape}, {dtype})"

"""A program as Python that a student can read, and that gives the same results when it is run.

The text makes the memory of the plan, one name for each array, and defines
`program(feeds, variables)`: a line for each call, with the node it works for and the user's line in
a comment. Fused regions are loops over tiles; branches and loops of the graph are `if` and `while`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from minigrad.compiled.bound import Bound
from minigrad.compiled.naming import Names, Table, literal
from minigrad.compiled.reading import INDENT, Reader, remark
from minigrad.compiled.slots import Call, Slot
from minigrad.compiled.tiling import Tiles
from minigrad.core import REGISTRY
from minigrad.execute import Program as Interpreter
from minigrad.graph import Graph, Node
from minigrad.ops import state

RESERVED = (
    *(
        "np",
        "feeds",
        "variables",
        "updates",
        "constants",
        "program",
        "own",
        "apart",
        "stacked",
        "block",
    ),
    *("REGISTRY", "Spec", "arena", "scratch", "lasting", "start", "stop", "range", "len", "min"),
    *("reversed", "tuple", "float", "slice", "row", "s", "isinstance", "dict", "map"),
)
APART = '''
def apart(value):
    """What lies in the arena, which is written to again, is copied."""
    if isinstance(value, tuple):
        return tuple(map(apart, value))
    borrowed = getattr(value, "base", None) is not None and np.may_share_memory(value, arena)
    return value.copy() if borrowed else value
'''
OWN = '''
def own(value):
    """A result that shares no memory with what is used again."""
    return value.copy()[()] if isinstance(value, np.ndarray) else value
'''


class Writer:
    """Puts the text together: head, memory, and the function."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.names = Names(set(RESERVED))
        self.table = Table(self.names)
        self.keys = {x: graph.labels[x] for x in (*graph.placeholders, *_kept(graph))}
        self.reader = Reader(self.names, self.table, self.keys)
        self.imports = {"from minigrad.core import REGISTRY, Spec": None}
        self.memory: list[str] = []
        self.lines: list[str] = []
        self.blocks: list[tuple[str, Any]] = []

    def text(self, about: str, results: Sequence[str]) -> str:
        """The whole script."""
        feeds = ", ".join(repr(self.keys[x]) for x in self.graph.placeholders)
        variables = ", ".join(repr(self.keys[x]) for x in _kept(self.graph))
        head = [
            '"""' + about,
            "",
            "program(feeds, variables) returns the list of results; new values of variables are",
            "put into that dictionary. `constants` must be there: what is too large to be written.",
            "All calls work in the same memory: one at a time.",
            '"""',
            "",
            f"# feeds: {feeds or 'none'}",
            f"# variables: {variables or 'none'}",
            "",
            "import numpy as np",
            "",
            *self.imports,
            "",
        ]
        inside = [
            "updates = {}",
            *self.lines,
            "variables.update(updates)",
            f"return [{', '.join(results)}]",
        ]
        function = ["", "", "def program(feeds, variables):", *(INDENT + x for x in inside)]
        written = "\n".join([*self.lines, *results])
        helpers = [h for h in (OWN, APART) if f"{h[5:].partition('(')[0]}(" in written]
        middle = [*self.reader.preamble(), *"\n".join(helpers).splitlines(), "", *self.memory]
        return "\n".join(_plain(line) for line in [*head, *middle, *function]) + "\n"


def _plain(line: str) -> str:
    """A line without what could end it or a string early."""
    return "".join(c if c.isprintable() else " " for c in line).rstrip()


def _kept(graph: Graph) -> list[Node]:
    """What is kept from run to run."""
    return [n for n in graph.nodes if n.op in (state.variable, state.run_counter)]


def write_reference(graph: Graph, interpreter: Interpreter) -> tuple[str, dict[str, Any]]:
    """The text of the reference executor, and its constants."""
    writer = Writer(graph)
    writer.lines, names = writer.reader.program(interpreter, [])
    about = f"{len(writer.lines)} lines: one operator after the other, as the graph has them."
    return writer.text(about, [f"own({name})" for name in names]), writer.table.values


def write_bound(bound: Bound) -> tuple[str, dict[str, Any]]:
    """The text of a bound program, and its constants."""
    return Planned(bound).written()


class Planned(Writer):
    """Writes the calls of a program into planned memory."""

    def __init__(self, bound: Bound) -> None:
        super().__init__(bound.layout.graph)
        self.bound = bound
        self.name: dict[Slot, str] = {}
        self.blocks = [("arena", bound.arena.block), *bound.scratch]
        self.imports["from minigrad.plan import block"] = None
        for name, block in self.blocks:
            if block.nbytes or name == "arena":
                self.memory.append(f"{name} = block({block.nbytes})")

    def written(self) -> tuple[str, dict[str, Any]]:
        for call in self.bound.calls:
            if self.bound.layout.kind[call.node] == "free":
                self._free(call)
            elif isinstance(call.function, Tiles):
                self._tiles(call, call.function)
            else:
                self.lines.append(self._line(call))
        results = [self._result(x) for x in self.graph.outputs]
        plan = self.bound.plan
        about = (
            f"{len(self.bound.calls)} calls; {len(plan.lifetimes)} values in {len(plan.buffers)} "
            f"buffers of {plan.bytes:,} bytes."
        )
        return self.text(about, results), self.table.values

    def _result(self, node: Node) -> str:
        slot = self.bound.slots[node]
        if node.op is state.group:
            return "None"
        mine = slot.kind == "result"
        name = self.of(slot)
        return (name if slot.shape else f"{name}[()]") if mine else f"own({name})"

    # ---- Calls --------------------------------------------------------------------------------

    def _line(self, call: Call) -> str:
        given = [self.of(x) for x in call.operands]
        given += [f"{k}={self.reader.value(v, k)}" for k, v in call.attrs.items()]
        return f"{self._function(call.function)}({', '.join(given)})  {remark(call.part)}"

    def _function(self, function: Any) -> str:
        name = getattr(function, "__name__", "")
        owner = getattr(function, "__self__", None)
        if isinstance(owner, np.ufunc):
            return f"np.{owner.__name__}.{name}"
        if getattr(np, name, None) is function:
            return f"np.{name}"
        for op in REGISTRY.values():
            if op.run is function:
                return self.reader.kernel(op)
        module = getattr(function, "__module__", "") or ""
        if module.startswith("minigrad.") and name.isidentifier():
            self.imports[f"from {module} import {name}"] = None
            self.names.taken.add(name)
            return str(name)
        return self.table.name(function, name or "kernel")

    def _free(self, call: Call) -> None:
        node = call.node
        slot, operands = self.bound.slots[node], [self._scalar(x) for x in call.operands]
        if node.op is state.assign and len(operands) == 1:  # the memory changes hands
            key = self.keys[node.inputs[0]]
            self.lines.append(f"updates[{key!r}] = {operands[0]}  {remark(node)}")
            self.name[slot] = operands[0]
            return
        step = self.bound.layout.steps.get(node)
        self.name[slot] = name = self.names.new(node.name)
        bodies = step.bodies if step is not None else {}
        keeps = step is not None and step.keeps_history
        self.lines += self.reader.lines(node, name, operands, bodies, keeps)
        if any(isinstance(x, Slot) and self._of_memory(x) for x in call.operands):
            self.lines.append(f"{name} = apart(name)".replace("(name)", f"({name})"))

    def _scalar(self, x: Any) -> str:
        """An operand as kernels outside the plan take it: without axes, as a NumPy number."""
        memory = isinstance(x, Slot) and x.kind != "free" and x.spec.shape == ()
        return f"{self.of(x)}[()]" if memory else self.of(x)

    def _tiles(self, call: Call, tiles: Tiles) -> None:
        """A loop over the tiles of a fused region."""
        tile = tiles.tile
        outer = [self.of(x) for x in call.operands]
        inner = (*tile.outputs, *tile.inputs)
        sliced = [True] * len(tile.outputs) + tiles.sliced
        inside: list[str] = []
        for text, slot, moves in zip(outer, inner, sliced, strict=True):
            outer_name = text
            if tiles.flat:
                form = "-1" if moves else "()"
                self.lines.append(f"{self._fresh(slot, text)} = {text}.reshape({form})")
                text = self.name[slot]
            if moves:
                name = self.names.new(f"{outer_name}_tile")
                inside.append(f"{name} = {text}[start:stop]")
                self.name[slot] = name
            elif not tiles.flat:
                self.name[slot] = text
        for inner_call in tile.calls:
            for x in inner_call.operands:
                inside += self._scratch_of_tile(x, tile.shared.slots)
            inside.append(self._line(inner_call))
        self.lines += [
            f"for start in range(0, {tiles.length}, {tiles.rows}):  {remark(call.node)}",
            f"{INDENT}stop = min(start + {tiles.rows}, {tiles.length})",
            *(INDENT + line for line in inside),
        ]

    def _fresh(self, slot: Slot, wish: str) -> str:
        self.name[slot] = name = self.names.new(f"{wish}_flat")
        return name

    def _scratch_of_tile(self, x: Any, taken: Sequence[tuple[Slot, int]]) -> list[str]:
        """The part of the memory of a tile that this tile needs, named at its first use."""
        if not isinstance(x, Slot) or x in self.name:
            return []
        if x.source is not None:
            source, method, args = x.source
            lines = self._scratch_of_tile(source, taken)
            self.name[x] = self.names.new("tile")
            return [*lines, f"{self.name[x]} = {self._view(source, method, args)}"]
        if all(x is not slot for slot, _ in taken):
            return []
        memory, self.name[x] = self.names.new("memory"), self.names.new("tile")
        self.memory.append(f"{memory} = np.empty({x.shape}, np.{x.spec.dtype.name})")
        return [f"{self.name[x]} = {memory}[: stop - start]"]

    # ---- Arrays -------------------------------------------------------------------------------

    def of(self, x: Any) -> str:
        """The expression for an operand; an array is defined where it is met first."""
        if not isinstance(x, Slot):
            return self.reader.value(x, "value")
        if x not in self.name:
            line = self._define(x)
            fixed = x.kind in ("planned", "scratch", "constant") or self._of_memory(x)
            (self.memory if fixed else self.lines).append(line)
        return self.name[x]

    def _of_memory(self, x: Slot) -> bool:
        """Whether a view shows memory that is there from the beginning."""
        while x.source is not None:
            x = x.source[0]
        return x.kind in ("planned", "scratch", "constant")

    def _define(self, x: Slot) -> str:
        wish = x.kind if x.node is None else x.node.name
        if x.source is not None:
            source, method, args = x.source
            base = self.of(source)
            self.name[x] = self.names.new(f"{base}_{method}" if x.node is None else wish)
            return f"{self.name[x]} = {self._view(source, method, args)}"
        self.name[x] = self.names.new(wish)
        line = f"{self.name[x]} = {self._origin(x, wish)}"
        return line if x.node is None else f"{line}  {remark(x.node)}"

    def _view(self, source: Slot, method: str, args: tuple[Any, ...]) -> str:
        given = ", ".join(str(self.reader.value(a, "form")) for a in args)
        return f"{self.of(source)}.{method}({given})"

    def _origin(self, x: Slot, wish: str) -> str:
        if x.node is not None and x.kind in ("fed", "variable"):
            return self.reader.given(x.node)
        dtype = f"np.{x.spec.dtype.name}"
        if x.kind == "result":
            return f"np.empty({x.shape}, {dtype})"
        if x.kind == "constant":
            return literal(x.array) or self.table.name(x.array, wish)
        for name, block in self.blocks:
            start = x.array.ctypes.data - block.ctypes.data
            if 0 <= start <= block.nbytes - x.array.nbytes:
                part = f"{name}[{start}:{start + x.array.nbytes}]"
                return f"{part}.view({dtype}).reshape({x.shape})"
        return f"np.empty({x.shape}, {dtype})"

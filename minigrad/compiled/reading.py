"""Nodes as lines of Python that call one kernel after the other, as the reference runs them."""

from __future__ import annotations

import operator as py
from collections.abc import Mapping, Sequence
from typing import Any

from minigrad import control
from minigrad.compiled.naming import Names, Table, literal
from minigrad.core import REGISTRY, Op
from minigrad.execute import Program as Interpreter
from minigrad.execute import places
from minigrad.fused import FUSED
from minigrad.graph import Node
from minigrad.ops import parts, state

INDENT = "    "
SIGNS: dict[Any, str] = {
    py.add: "{} + {}",
    py.sub: "{} - {}",
    py.mul: "{} * {}",
    py.truediv: "{} / {}",
    py.neg: "-{}",
    py.lt: "{} < {}",
    py.le: "{} <= {}",
    py.gt: "{} > {}",
    py.ge: "{} >= {}",
    py.eq: "{} == {}",
    py.ne: "{} != {}",
}
STACKED = """
def stacked(values, empty):
    # the values of all steps along a new first axis
    return np.stack(values) if values else empty
"""


def remark(node: Node) -> str:
    """The name of a node and the user's line, as a comment."""
    text = f"{node.name} · {node.where.place}"
    return "# " + "".join(c if c.isprintable() else " " for c in text)


class Reader:
    """Writes nodes; what the lines need besides NumPy is collected on the way."""

    def __init__(self, names: Names, table: Table, known: Mapping[Node, str]) -> None:
        self.names, self.table, self.keys = names, table, known
        self.places = places(known)
        self.kernels: dict[Op, str] = {}
        self.stacks = False
        self._histories: dict[Node, str] = {}

    def kernel(self, op: Op) -> str:
        """The name of an operator's kernel."""
        if op not in self.kernels:
            self.kernels[op] = self.names.new(op.name)
        return self.kernels[op]

    def value(self, value: Any, wish: str) -> str:
        """An expression for a value: itself, or where it is loaded from."""
        text = literal(value)
        return self.table.name(value, wish) if text is None else text

    def given(self, node: Node) -> str:
        """The value of a placeholder or variable; without axes it is a NumPy number."""
        where = "feeds" if node.op is state.placeholder else "variables"
        return f"{where}[{self.keys[node]!r}]" + ("" if node.spec.shape else "[()]")

    def program(
        self, interpreter: Interpreter, given: Sequence[str]
    ) -> tuple[list[str], list[str]]:
        """The lines of a graph whose inputs are called so, and the names of its outputs."""
        name: dict[Node, str] = dict(zip(interpreter.given, given, strict=True))
        lines: list[str] = []
        for step in interpreter.steps:
            node = step.node
            operands = [name[x] for x in node.inputs]
            text = literal(node.attrs["value"]) if node.op is state.constant else None
            if text is not None and node.spec.shape == ():
                name[node] = text
                continue
            name[node] = self.names.new(node.name)
            lines += self.lines(node, name[node], operands, step.bodies, step.keeps_history)
        return lines, [name[x] for x in interpreter.outputs]

    def lines(
        self,
        node: Node,
        name: str,
        operands: Sequence[str],
        bodies: Mapping[str, Interpreter],
        keeps: bool,
    ) -> list[str]:
        """The lines that give the value of a node a name."""
        write = {
            state.assign: self._assign,
            state.initialize: self._initialize,
            state.run_counter: self._run_counter,
            FUSED: self._fused,
        }.get(node.op)
        if write is not None:
            found = write(node, name, operands)
        elif node.op in (control.COND, control.WHILE, control.SCAN):
            found = self._control(node, name, operands, bodies, keeps)
        else:
            found = [f"{name} = {self._expression(node, operands)}"]
        return [line if line.endswith(":") else f"{line}  {remark(node)}" for line in found]

    def _expression(self, node: Node, operands: Sequence[str]) -> str:
        op = node.op
        if op is state.placeholder or op is state.variable:
            return self.given(node)
        if op is state.constant:
            return self.value(node.attrs["value"], node.name)
        if op is state.group:
            return "None"
        if op is state.read_value:
            return f"updates.get({self.keys[node.inputs[0]]!r}, {operands[0]})"
        if op is parts.output:
            return f"{operands[0]}[{node.attrs['index']}]"
        if op is control.HISTORY:
            loop, i = node.inputs[0], node.attrs["index"]
            like = loop.attrs["body"].inputs[i]
            return self._stacked(f"s[{i}] for s in {self._histories[loop]}", like)
        if not node.attrs and op.symbol in SIGNS:
            return SIGNS[op.symbol].format(*operands)
        if not node.attrs and op.ufunc is not None:
            return f"np.{op.ufunc.__name__}({', '.join(operands)})"
        return f"{self.kernel(op)}({', '.join(['None', *operands, *self.attrs(node)])})"

    def attrs(self, node: Node) -> list[str]:
        """The attributes of a node as arguments."""
        return [f"{k}={self.value(v, k)}" for k, v in node.attrs.items()]

    # ---- Variables ----------------------------------------------------------------------------

    def _assign(self, node: Node, name: str, operands: Sequence[str]) -> list[str]:
        key = self.keys[node.inputs[0]]
        return [f"{name} = updates[{key!r}] = {operands[1]}.copy()"]

    def _initialize(self, node: Node, name: str, operands: Sequence[str]) -> list[str]:
        first = {v: self.value(v.attrs["value"], v.name) for v in node.attrs["variables"]}
        found = [f"updates[{self.keys[v]!r}] = {text}.copy()" for v, text in first.items()]
        return [*found, f"{name} = None"]

    def _run_counter(self, node: Node, name: str, operands: Sequence[str]) -> list[str]:
        key, (use, uses) = self.keys[node], self.places[node]
        lines = [
            f"{name} = variables.get({key!r}, np.int64(0))",
            f"updates[{key!r}] = {name} + np.int64(1)",
        ]
        if (use, uses) != (0, 1):
            lines.append(f"{name} = {name} * np.int64({uses}) + np.int64({use})")
        return lines

    # ---- What holds graphs of its own ---------------------------------------------------------

    def _fused(self, node: Node, name: str, operands: Sequence[str]) -> list[str]:
        """The operators of a region, one after the other."""
        body = node.attrs["body"]
        lines, results = self.program(Interpreter(body.outputs, body.inputs), operands)
        return [*lines, f"{name} = {_one_or_all(results)}"]

    def _function(self, wish: str, body: Interpreter) -> tuple[str, list[str]]:
        """A body as a function of its inputs, which returns the list of its outputs."""
        name = self.names.new(wish)
        given = [self.names.new(x.name) for x in body.given]
        lines, results = self.program(body, given)
        inside = [*lines, f"return [{', '.join(results)}]"]
        return name, [f"def {name}({', '.join(given)}):", *(INDENT + line for line in inside)]

    def _control(
        self,
        node: Node,
        name: str,
        operands: Sequence[str],
        bodies: Mapping[str, Interpreter],
        keeps: bool,
    ) -> list[str]:
        called: dict[str, str] = {}
        lines: list[str] = []
        for wish, body in bodies.items():
            called[wish], more = self._function(wish, body)
            lines += more
        if node.op is control.COND:
            return lines + self._branch(name, operands, called, len(bodies["then"].outputs))
        n = node.attrs["carries"]
        now = self.names.new("now")
        lines.append(f"{now} = [{', '.join(operands[:n])}]")
        history = self.names.new("history") if keeps else ""
        if keeps:
            self._histories[node] = history
            lines.append(f"{history} = []")
        write = self._while if node.op is control.WHILE else self._scan
        return lines + write(node, name, operands, bodies, (called, now, history))

    def _branch(
        self, name: str, operands: Sequence[str], called: Mapping[str, str], count: int
    ) -> list[str]:
        pred, given = operands[0], ", ".join(operands[1:])
        end = "[0]" if count == 1 else ""
        return [
            f"if {pred}:",
            f"{INDENT}{name} = {called['then']}({given}){end}",
            "else:",
            f"{INDENT}{name} = {called['orelse']}({given}){end}",
        ]

    def _while(self, node: Node, name: str, operands: Any, bodies: Any, about: Any) -> list[str]:
        called, now, history = about
        n, most = node.attrs["carries"], node.attrs["max_steps"]
        given = ", ".join([f"*{now}", *operands[n:]])
        count = self.names.new("count")
        limit = "" if most is None else f"{count} < {most} and "
        keep = [f"{INDENT}{history}.append({now})"] if history else []
        return [
            f"{count} = 0",
            f"while {limit}{called['test']}({given})[0]:",
            *keep,
            f"{INDENT}{now} = {called['body']}({given})",
            f"{INDENT}{count} += 1",
            f"{name} = {now}[0]" if n == 1 else f"{name} = tuple({now})",
        ]

    def _scan(self, node: Node, name: str, operands: Any, bodies: Any, about: Any) -> list[str]:
        called, now, history = about
        n, m, reverse = node.attrs["carries"], node.attrs["sequences"], node.attrs["reverse"]
        at, rows, found = (self.names.new(wish) for wish in ("t", "rows", "found"))
        steps = f"range(len({operands[n]}))"
        given = [f"*{now}", *(f"{x}[{at}]" for x in operands[n : n + m]), *operands[n + m :]]
        outputs = bodies["body"].outputs[n:]
        stacks = [self._stacked(f"row[{i}] for row in {rows}", x) for i, x in enumerate(outputs)]
        keep = [f"{INDENT}{history}.append({now})"] if history else []
        turn = [f"{x}.reverse()" for x in (rows, history) if x and reverse]
        states = [f"{now}[{i}]" for i in range(n)]
        return [
            f"{rows} = []",
            f"for {at} in {f'reversed({steps})' if reverse else steps}:",
            *keep,
            f"{INDENT}{found} = {called['body']}({', '.join(given)})",
            f"{INDENT}{now} = {found}[:{n}]",
            f"{INDENT}{rows}.append({found}[{n}:])",
            *turn,
            f"{name} = {_one_or_all([*states, *stacks])}",
        ]

    def _stacked(self, values: str, like: Node) -> str:
        self.stacks = True
        lengths = tuple(0 if n is None else n for n in like.shape or ())
        return f"stacked([{values}], np.zeros({(0, *lengths)}, np.{like.dtype.name}))"

    def preamble(self) -> list[str]:
        """The definitions that the lines rely on."""
        lines = [
            f"{name} = REGISTRY[{op.name!r}].run"
            if REGISTRY.get(op.name) is op
            else f"{name} = {self.table.name(op.run, op.name)}"
            for op, name in self.kernels.items()
        ]
        return lines + (["", *STACKED.splitlines()] if self.stacks else [])


def _one_or_all(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"({', '.join(names)})"

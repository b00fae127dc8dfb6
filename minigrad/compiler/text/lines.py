"""Nodes as lines of Python that call one kernel after the other, as the reference runs them."""

from __future__ import annotations

import operator as py
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from minigrad import control
from minigrad.compiler.text.names import UniqueNames, ValueTable, literal
from minigrad.control.steps import scan_outputs, stack_steps, step_indices
from minigrad.core import REGISTRY, Op
from minigrad.ops import parts, state
from minigrad.static import Graph, Node
from minigrad.static.fused import FUSED
from minigrad.static.handlers import copied, counter_numbers
from minigrad.static.run import Interpreter

INDENT = "    "
RESERVED = (
    *("np", "feeds", "variables", "updates", "constants", "program", "REGISTRY", "Spec"),
    *("start", "stop", "range", "min", "reversed", "tuple", "float", "slice", "s"),
)
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


class Line(NamedTuple):
    """A line, the node that it works for, the part of a fused one, and what the node reads.

    operands: expressions for the values that the line works on, where no plan knows their shapes.
    """

    text: str
    node: Node | None = None
    part: Node | None = None
    operands: Sequence[str] = ()

    def indent(self) -> Line:
        return self._replace(text=INDENT + self.text)

    @property
    def shown(self) -> str:
        """The line with the name of the node and the user's line, as a comment."""
        if self.node is None:
            return one_line_comment(self.text)
        part = self.node if self.part is None else self.part
        return one_line_comment(f"{self.text}  # {part.name} · {part.where.place}")


def one_line_comment(text: str) -> str:
    """Return a line without characters that could end it or a string early."""
    return "".join(c if c.isprintable() else " " for c in text).rstrip()


def indent_lines(lines: Sequence[Line]) -> list[Line]:
    return [line.indent() for line in lines]


class GivenName(NamedTuple):
    """A name that is defined before the text runs: its value, and the text that defines it."""

    value: Any
    text: Callable[[], str]
    node: Node | None = None


class LineWriter:
    """Writes nodes; what the lines need besides NumPy is collected on the way."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.names = UniqueNames(set(RESERVED))
        self.table = ValueTable(self.names)
        kept = [n for n in graph.nodes if n.op in (state.variable, state.run_counter)]
        self.keys = {x: graph.labels[x] for x in (*graph.placeholders, *kept)}
        self.numbers = counter_numbers(self.keys)
        self.given: dict[str, GivenName] = {}
        self.imports: dict[Any, str] = {}
        self.functions: list[Line] = []
        self._kernels: dict[Op, str] = {}
        self._histories: dict[Node, str] = {}

    # ---- Names --------------------------------------------------------------------------------

    def give(self, wish: str, value: Any, text: Callable[[], str], node: Node | None = None) -> str:
        """Name a value that exists before the program runs."""
        name = self.names.new(wish)
        self.given[name] = GivenName(value, text, node)
        return name

    def imported(self, value: Any) -> str:
        """Return the imported name of a function or class of ours."""
        if value not in self.imports:
            self.imports[value] = self.names.new(value.__name__)
        return self.imports[value]

    def kernel(self, op: Op) -> str:
        """Return the name of an operator's kernel."""
        if op not in self._kernels:

            def text() -> str:
                known = REGISTRY.get(op.name) is op
                return f"REGISTRY[{op.name!r}].run" if known else self.table.name(op.run, op.name)

            self._kernels[op] = self.give(op.name, op.run, text)
        return self._kernels[op]

    def value(self, value: Any, wish: str) -> str:
        """Return an expression for a value: a literal, or where it is loaded from."""
        text = literal(value)
        return self.table.name(value, wish) if text is None else text

    def read(self, node: Node) -> str:
        """Return the expression of a placeholder or variable; without axes, a NumPy number."""
        where = "feeds" if node.op is state.placeholder else "variables"
        return f"{where}[{self.keys[node]!r}]" + ("" if node.spec.shape else "[()]")

    # ---- Graphs -------------------------------------------------------------------------------

    def program(
        self, interpreter: Interpreter, given: Sequence[str]
    ) -> tuple[list[Line], list[str]]:
        """Write the lines of a graph with these input names; return its outputs' names."""
        name: dict[Node, str] = dict(zip(interpreter.given, given, strict=True))
        lines: list[Line] = []
        for step in interpreter.steps:
            node = step.node
            operands = [name[x] for x in node.inputs]
            text = literal(node.attrs["value"]) if node.op is state.constant else None
            if text is not None and node.spec.shape == ():
                name[node] = text
                continue
            name[node] = self.names.new(node.name)
            bodies = {wish: self.function(wish, body) for wish, body in step.bodies.items()}
            loop = step.bodies.get("body")
            lines += self.lines(node, name[node], operands, bodies, loop, step.keeps_history)
        return lines, [name[x] for x in interpreter.outputs]

    def function(self, wish: str, body: Interpreter) -> str:
        """Return the name of a function of a body's inputs that returns its list of outputs."""
        given = [self.names.new(x.name) for x in body.given]
        lines, results = self.program(body, given)
        return self.define(wish, given, lines, results)

    def define(
        self, wish: str, given: Sequence[str], lines: Sequence[Line], results: Sequence[str]
    ) -> str:
        """Put a function in front of the program."""
        name = self.names.new(wish)
        inside = indent_lines([*lines, Line(f"return [{', '.join(results)}]")])
        self.functions += [Line(""), Line(f"def {name}({', '.join(given)}):"), *inside, Line("")]
        return name

    def lines(
        self,
        node: Node,
        name: str,
        operands: Sequence[str],
        bodies: Mapping[str, str],
        loop: Interpreter | None = None,
        keeps: bool = False,
    ) -> list[Line]:
        """Write the lines that assign a node's value to a name.

        bodies: the functions of what it holds. loop: the body of a loop. keeps: its states, too.
        """
        if node.op is FUSED:
            return self._fused(node, name, operands)
        write = {
            state.assign: self._assign,
            state.initialize: self._initialize,
            state.run_counter: self._run_counter,
        }.get(node.op)
        if write is not None:
            found = write(node, name, operands)
        elif node.op is control.COND:
            found = self._branch(node, name, operands, bodies)
        elif node.op in (control.WHILE, control.SCAN):
            found = self._loop(node, name, operands, bodies, loop, keeps)
        else:
            found = [f"{name} = {self._expression(node, operands)}"]
        return [Line(text, node, None, operands) for text in found]

    def _expression(self, node: Node, operands: Sequence[str]) -> str:
        op = node.op
        if op is state.placeholder or op is state.variable:
            return self.read(node)
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
            like = self.table.name(loop.attrs["body"].inputs[i], "like")
            rows = f"[s[{i}] for s in {self._histories[loop]}]"
            return f"{self.imported(stack_steps)}({rows}, {like})"
        if not node.attrs and op.symbol in SIGNS:
            return SIGNS[op.symbol].format(*operands)
        if not node.attrs and op.ufunc is not None:
            return f"np.{op.ufunc.__name__}({', '.join(operands)})"
        return f"{self.kernel(op)}({', '.join(['None', *operands, *self.attrs(node.attrs)])})"

    def attrs(self, attrs: Mapping[str, Any]) -> list[str]:
        """Write attributes as arguments."""
        return [f"{k}={self.value(v, k)}" for k, v in attrs.items()]

    def _fused(self, node: Node, name: str, operands: Sequence[str]) -> list[Line]:
        """Write the operators of a region, one after the other."""
        body = node.attrs["body"]
        lines, results = self.program(Interpreter(body.outputs, body.inputs), operands)
        found = [Line(x.text, node, x.node if x.part is None else x.part, operands) for x in lines]
        return [*found, Line(f"{name} = {_unpack_target(results)}", node)]

    # ---- Variables ----------------------------------------------------------------------------

    def _assign(self, node: Node, name: str, operands: Sequence[str]) -> list[str]:
        variable, key = node.inputs[0], self.keys[node.inputs[0]]
        given = f"{operands[1]}, {variable.name!r}, {tuple(variable.shape or ())}"
        return [f"{name} = updates[{key!r}] = {self.imported(copied)}({given})"]

    def _initialize(self, node: Node, name: str, operands: Sequence[str]) -> list[str]:
        first = {v: self.value(v.attrs["value"], v.name) for v in node.attrs["variables"]}
        found = [f"updates[{self.keys[v]!r}] = {text}.copy()" for v, text in first.items()]
        return [*found, f"{name} = None"]

    def _run_counter(self, node: Node, name: str, operands: Sequence[str]) -> list[str]:
        key, (use, uses) = self.keys[node], self.numbers[node]
        lines = [
            f"{name} = variables.get({key!r}, np.int64(0))",
            f"updates[{key!r}] = {name} + np.int64(1)",
        ]
        if (use, uses) != (0, 1):
            lines.append(f"{name} = {name} * np.int64({uses}) + np.int64({use})")
        return lines

    # ---- Branches and loops -------------------------------------------------------------------

    def _branch(
        self, node: Node, name: str, operands: Sequence[str], bodies: Mapping[str, str]
    ) -> list[str]:
        pred, given = operands[0], ", ".join(operands[1:])
        one = len(node.attrs["then"].outputs) == 1
        found = {k: f"{body}({given})" for k, body in bodies.items()}
        values = {k: f"{text}[0]" if one else f"tuple({text})" for k, text in found.items()}
        return [
            f"if {pred}:",
            f"{INDENT}{name} = {values['then']}",
            "else:",
            f"{INDENT}{name} = {values['orelse']}",
        ]

    def _loop(
        self,
        node: Node,
        name: str,
        operands: Sequence[str],
        bodies: Mapping[str, str],
        loop: Interpreter | None,
        keeps: bool,
    ) -> list[str]:
        now = self.names.new("now")
        lines, step = [f"{now} = [{', '.join(operands[: node.attrs['carries']])}]"], []
        if keeps:
            self._histories[node] = history = self.names.new("history")
            lines.append(f"{history} = []")
            step.append(f"{INDENT}{history}.append({now})")
        write = self._while if node.op is control.WHILE else self._scan
        return [*lines, *write(node, name, operands, bodies, (now, step, loop))]

    def _while(
        self, node: Node, name: str, operands: Any, bodies: Mapping[str, str], about: Any
    ) -> list[str]:
        now, step, _ = about
        n, most = node.attrs["carries"], node.attrs["max_steps"]
        given = ", ".join([f"*{now}", *operands[n:]])
        test = f"{bodies['test']}({given})[0]"
        lines = [f"while {test}:"]
        if most is not None:
            count = self.names.new("count")
            lines = [f"{count} = 0", f"while {count} < {most} and {test}:"]
            step = [f"{INDENT}{count} += 1", *step]
        done = f"{now}[0]" if n == 1 else f"tuple({now})"
        return [*lines, *step, f"{INDENT}{now} = {bodies['body']}({given})", f"{name} = {done}"]

    def _scan(
        self, node: Node, name: str, operands: Any, bodies: Mapping[str, str], about: Any
    ) -> list[str]:
        now, step, loop = about
        n, m, reverse = node.attrs["carries"], node.attrs["sequences"], node.attrs["reverse"]
        at, rows, found = (self.names.new(wish) for wish in ("t", "rows", "found"))
        sequences, captured = operands[n : n + m], operands[n + m :]
        times = f"{self.imported(step_indices)}([{', '.join(sequences)}])"
        given = ", ".join([f"*{now}", *(f"{x}[{at}]" for x in sequences), *captured])
        lines = [f"for {at} in {f'reversed({times})' if reverse else times}:", *step]
        turned = [self._histories[node]] if step else []
        states = [f"{now}[{i}]" for i in range(n)]
        if len(loop.outputs) == n:
            lines.append(f"{INDENT}{now} = {bodies['body']}({given})")
        else:
            lines = [f"{rows} = []", *lines]
            lines += [
                f"{INDENT}{found} = {bodies['body']}({given})",
                f"{INDENT}{now} = {found}[:{n}]",
                f"{INDENT}{rows}.append({found}[{n}:])",
            ]
            turned.append(rows)
            of = f"[{', '.join(sequences)}], [{', '.join(captured)}]"
            body = self.table.name(loop, "body")
            states.append(f"*{self.imported(scan_outputs)}({body}, {rows}, {now}, {of})")
        if reverse:
            lines += [f"{x}.reverse()" for x in turned]
        one = "[0]" if len(loop.outputs) == 1 else ""
        return [*lines, f"{name} = ({', '.join(states)},){one}"]


def _unpack_target(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"({', '.join(names)})"

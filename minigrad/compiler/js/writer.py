"""A program as one JavaScript expression: memory by the plan, one line for each step."""

from __future__ import annotations

import base64
import functools
import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from minigrad import control
from minigrad.compiler.js import scalars
from minigrad.compiler.js.kernels import KERNELS, Call, Shape, stretched, strides
from minigrad.compiler.js.scalars import EXACT, LAST, TYPES, expression, number, quoted
from minigrad.compiler.layout import Layout, Specs, concrete_specs, is_known, kinds_of, shape_of
from minigrad.compiler.plan import Plan, share_buffers
from minigrad.core import Spec, TupleSpec
from minigrad.diagnostics.errors import GraphError
from minigrad.diagnostics.source import here
from minigrad.ops import parts, state
from minigrad.ops.activations import FAR, NEAR
from minigrad.static import Node, bodies_of
from minigrad.static.fused import FUSED
from minigrad.static.handlers import Variables

MOST_WRITTEN = 8  # elements of an array that is written out
DEFINITION = re.compile(r"^const (\w+) = .*?;\n(?=\n*const |\n*\Z)", re.MULTILINE | re.DOTALL)
WORD = re.compile(r"\w+")
Names = Mapping[Any, str]


@functools.cache
def runtime() -> dict[str, str]:
    """Return what texts call, by name."""
    text = Path(__file__).with_name("runtime.js").read_text("utf-8")
    text = f"const near = {json.dumps(NEAR)};\nconst far = {json.dumps(FAR)};\n{text}"
    return {m[1]: m[0] for m in DEFINITION.finditer(re.sub(r" *// .*", "", text))}


def called(code: str) -> list[str]:
    """Return the parts of the runtime that a text names, and what those name."""
    found, waiting = set[str](), [code]
    while waiting:
        new = runtime().keys() & {*WORD.findall(waiting.pop())} - found
        found |= new
        waiting += [runtime()[name] for name in new]
    return [part.strip() for name, part in runtime().items() if name in found]


def refusal(node: Node, key: str, **about: object) -> GraphError:
    return GraphError(key, op=node.op.name, name=node.name, defined=node.where, ran=here(), **about)


def listed(spec: Spec) -> Sequence[Spec]:
    return spec.parts if isinstance(spec, TupleSpec) else [spec]


class Text:
    """What the graphs of one program share: numbers for names, tables, lines that make arrays."""

    def __init__(self, variables: Variables) -> None:
        self.variables, self.count = variables, 0
        self.tables: dict[str, str] = {}
        self.lines: list[str] = []

    def new(self, stem: str) -> str:
        self.count += 1
        return f"{stem}{self.count}"

    def table(self, code: str) -> str:
        """Name what is made once; equal ones are shared."""
        return self.tables.setdefault(code, f"t{len(self.tables)}")

    def made(self, stem: str, code: str, about: str = "") -> str:
        """Name what each network makes for itself."""
        name = self.new(stem)
        self.lines.append(f"const {name} = {code};{about and f'  // {quoted(about)}'}")
        return name

    def array(self, spec: Spec, arguments: object, about: str = "") -> str:
        return self.made("v", f"new {TYPES[spec.dtype.name][0]}({arguments})", about)

    def stored(self, node: Node, value: Any) -> str:
        """Make an array with these values."""
        flat = np.ravel(value)
        if flat.dtype.kind in "iu" and flat.size and max(int(flat.max()), -int(flat.min())) > LAST:
            raise refusal(node, "js_integer")
        exact = flat.astype("<f8" if flat.dtype == np.int64 else flat.dtype.newbyteorder("<"))
        code, kind = base64.b64encode(exact.tobytes()).decode(), TYPES[flat.dtype.name][0]
        few = flat[:MOST_WRITTEN]  # the shortest text of each is enough for its data type
        few = few.astype(str).astype(float) if flat.dtype.kind == "f" else few
        arguments = f"[{', '.join(number(x).strip('()') for x in few)}]"
        if not exact.tobytes().strip(b"\0"):  # zeros, as every typed array begins
            arguments = str(flat.size)
        elif flat.size > MOST_WRITTEN:
            arguments = self.table(f'decoded("{code}", {kind})')
        return self.array(Spec((), flat.dtype), arguments, node.name)


class Steps:
    """Writes the steps of one graph: a program's, or a body's.

    name: the arrays of nodes, and of (node, i) for one of several results.
    rows: statements with the node that each works for and the values that it computes.
    """

    def __init__(self, text: Text, layout: Layout, specs: Specs, plan: Plan, names: Names) -> None:
        self.text, self.layout, self.specs, self.labels = text, layout, specs, layout.graph.labels
        self.name: dict[Any, str] = {**names}
        self.rows: list[tuple[str, Node, Sequence[Node]]] = []
        self.updates: dict[str, str] = {}  # what each variable becomes at the end
        self.places = {x.node: plan.buffers[x.buffer].offset for x in plan.lifetimes}
        self.memory = text.made("memory", f"new ArrayBuffer({plan.bytes})") if self.places else ""
        for node in layout.order:
            if node.op in FREE:
                FREE[node.op](self, node)
            elif layout.kind[node] not in ("source", "alias") and node.op is not parts.output:
                self._operator(node)

    def shape(self, node: Node, spec: Spec | None = None) -> Shape:
        """Return a shape that is known; GraphError if it isn't, or if no array holds the values."""
        spec = self.specs[node] if spec is None else spec
        if not is_known(spec) or spec.dtype.name not in TYPES:
            raise refusal(node, "js_dtype" if is_known(spec) else "js_open", dtype=spec.dtype)
        return shape_of(spec)

    def of(self, node: Node) -> str:
        """Return the name of a node's array, made when first met."""
        root = self.layout.root.get(node, node)  # a region's constant is not among them
        if root.op is parts.output and (root.inputs[0], root.attrs["index"]) in self.name:
            return self.name[root.inputs[0], root.attrs["index"]]
        if root not in self.name:
            self.name[root] = self._array(root)
        return self.name[root]

    def all(self, nodes: Sequence[Node], end: str = "") -> str:
        return f"[{', '.join(self.of(x) + end for x in nodes)}]"

    def _array(self, node: Node) -> str:
        size = math.prod(self.shape(node, self.specs.get(node, node.spec)))
        if node.op in (state.constant, state.variable):
            return self.text.stored(node, self.text.variables.get(node, node.attrs["value"]))
        at = f"{self.memory}, {self.places[node]}, {size}" if node in self.places else size
        return self.text.array(self.specs[node], at, self.labels[node])

    # ---- Operators ----------------------------------------------------------------------------

    def _operator(self, node: Node) -> None:
        """Write an operator, or a region as one loop behind the product that it may begin with."""
        inside, ends, values, specs, names = [node], [node], [node], self.specs, dict[Node, str]()
        if node.op is FUSED:
            body, shapes = node.attrs["body"], map(self.shape, node.inputs)
            names = {x: self.of(y) for x, y in zip(body.inputs, node.inputs, strict=True)}
            specs = concrete_specs(body, dict(zip(body.inputs, shapes, strict=True)))
            inside = [x for x in body.nodes if x not in names and x.op is not state.constant]
            chosen = self.layout.parts.get(node, {0: node})
            ends, values = [body.outputs[i] for i in chosen], [*chosen.values()]
        stored = {x: self.of(y) for x, y in zip(ends, values, strict=True)}
        members, code = [x for x in inside if x.op.elementwise], ""
        for x in inside:
            if x.op.name not in KERNELS and x.op.name not in scalars.ANY | scalars.WRITERS:
                raise refusal(x, "js_refused")
            if not x.op.elementwise:
                same = [y for end, y in stored.items() if end.dtype == x.dtype]
                names[x] = (same or [self.text.array(specs[x], math.prod(shape_of(specs[x])))])[0]
                code += f"{self._call(x, names, specs)}; "
        code += self._loop(members, stored, names, specs) if members else ""
        self.rows.append((code.rstrip(), node, values))

    def _call(self, node: Node, names: Names, specs: Specs) -> str:
        facts = [(self.shape(node, specs[x]), specs[x].dtype) for x in (node, *node.inputs)]
        shapes, dtypes = [shape for shape, _ in facts], [dtype for _, dtype in facts]
        read = [names[x] if x in names else self.of(x) for x in node.inputs]
        own = node.op.name, node.attrs, names[node], read
        call = Call(*own, shapes[0], dtypes[0], shapes[1:], dtypes[1:], self.text.table)
        return KERNELS[node.op.name](call)

    def _loop(self, members: Sequence[Node], stored: Names, names: Names, specs: Specs) -> str:
        """Write a loop over the elements of one shape.

        stored: the arrays of results; names: those of what is read and isn't a node out here.
        """
        shape = self.shape(members[0], specs[members[0]])
        size, uses = math.prod(shape), {x for node in members for x in node.inputs}
        inside, lines, ends = dict[Node, str](), list[str](), list[str]()

        def read(x: Node) -> str:
            if x.op is state.constant and np.size(x.attrs["value"]) == 1:
                return number(np.ravel(x.attrs["value"])[0])
            at = position(self.shape(x, specs[x]), shape)
            return inside.get(x) or f"{names[x] if x in names else self.of(x)}[{at}]"

        for node in members:
            self.shape(node, specs[node])
            given, known = [read(x) for x in node.inputs], node.op.selectors
            source = next(specs[x].dtype for i, x in enumerate(node.inputs) if i not in known)
            code = expression(node.op.name, node.attrs, node.dtype, source, given)
            if node not in stored or node in uses or node.dtype == np.int64:
                inside[node] = self.text.new("x")
                lines.append(f"const {inside[node]} = {TYPES[node.dtype.name][1].format(code)};")
            if node in stored:
                at = "0" if size == 1 else "i"
                ends.append(f"{stored[node]}[{at}] = {inside.get(node, code)};")
        text = "\n      ".join([*lines, *ends])
        text = f"{{\n      {text}\n    }}" if "\n" in text else text
        return text if size == 1 else f"for (let i = 0; i < {size}; i++) {text}"

    # ---- Branches and loops -------------------------------------------------------------------

    def results(self, node: Node) -> str:
        """Make the arrays of the results of a branch or loop, and return their list."""
        for i, spec in enumerate(listed(self.specs[node])):
            self.name[node, i] = self.text.array(spec, math.prod(self.shape(node, spec)))
        self.name[node] = self.name[node, 0]
        return f"[{', '.join(self.name[node, i] for i in range(len(listed(self.specs[node]))))}]"

    def body(self, node: Node, which: str, first: int, rows: range, states: Sequence[Spec]) -> str:
        """Write a body as a function of arrays, and return its name.

        first: the first operand that it takes. rows: those of which it takes one row at a time.
        states: the specs that its first results must have.
        """
        graph, given = bodies_of(node.attrs)[which], list[Shape]()
        for i, x in enumerate(node.inputs[first:]):
            spec = self.specs[x]
            if i in rows and spec.shape is not None:  # their number may be open
                spec = Spec(spec.shape[1:], spec.dtype)
            given.append(self.shape(x, spec))
        specs = concrete_specs(graph, dict(zip(graph.inputs, given, strict=True)))
        if any(specs[x].shape != s.shape for x, s in zip(graph.outputs, states, strict=False)):
            raise refusal(node, "js_open")
        layout = Layout(graph, kinds_of(graph, specs), specs)
        names, plan = {x: self.text.new("p") for x in graph.inputs}, layout.requests(specs)
        inner = Steps(self.text, layout, specs, share_buffers(plan), names)
        found = inner.all(graph.outputs, ".slice()")
        lines = [f"    {code}  // {quoted(inner.labels[x])}" for code, x, _ in inner.rows]
        lines = [f"({', '.join(names.values())}) => {{", *lines, f"    return {found};", "  }"]
        return self.text.made(which, "\n".join(lines))


def position(shape: Shape, to: Shape) -> str:
    """Return the position in an operand of the element that belongs to position i of the result."""
    if math.prod(to) == 1 or shape == to:
        return "0" if math.prod(to) == 1 else "i"
    axes: list[tuple[int, int, int]] = []  # of equal kind, as one: length, stride out, stride in
    for n, out, own in zip(to, strides(to), stretched(shape, to), strict=True):
        if axes and n != 1 and axes[-1][2] == own * n:
            axes[-1] = (axes[-1][0] * n, out, own)
        elif n != 1:
            axes.append((n, out, own))
    terms = []
    for k, (n, out, own) in enumerate(axes):
        at = "i" if out == 1 else f"(i / {out} | 0)"
        terms += [f"{at}{f' % {n}' if k else ''}{f' * {own}' if own > 1 else ''}"] if own else []
    return " + ".join(terms) or "0"


# ---- What executors handle by name --------------------------------------------------------------


def _assign(steps: Steps, node: Node) -> None:
    variable, value = node.inputs
    if (shape := steps.shape(value)) != (expected := steps.shape(variable)):
        raise refusal(node, "assign_shape", shape=shape, expected=expected)
    if steps.layout.adopts(node):
        steps.name[node] = steps.of(value)
    else:
        steps.rows.append((f"{steps.of(node)}.set({steps.of(value)});", node, [node]))
    steps.updates[steps.of(variable)] = steps.of(node)


def _initialize(steps: Steps, node: Node) -> None:
    for x in filter(steps.specs.__contains__, node.attrs["variables"]):
        steps.updates[steps.of(x)] = steps.text.stored(x, x.attrs["value"])


def _read_value(steps: Steps, node: Node) -> None:
    variable = steps.of(node.inputs[0])
    steps.name[node] = steps.updates.get(variable, variable)


def _cond(steps: Steps, node: Node) -> None:
    names, specs = steps.results(node), listed(steps.specs[node])
    then, orelse = (steps.body(node, which, 1, range(0), specs) for which in ("then", "orelse"))
    taken = f"({steps.of(node.inputs[0])}[0] ? {then} : {orelse})(...{steps.all(node.inputs[1:])})"
    steps.rows.append((f"setAll({names}, {taken});", node, []))


def _loop(steps: Steps, node: Node) -> None:
    """Write a loop; the states that it goes through are kept if they are read."""
    attrs, names = node.attrs, steps.results(node)
    n, m = attrs["carries"], attrs.get("sequences", 0)
    states, rows = [steps.specs[x] for x in node.inputs[:n]], range(n, n + m)
    given = [names, steps.all(node.inputs[:n], ".slice()"), steps.all(node.inputs[n + m :])]
    given.append(steps.body(node, "body", 0, rows, states))
    if node.op is control.WHILE:
        given.append(steps.body(node, "test", 0, rows, []))
        given.append("Infinity" if attrs["max_steps"] is None else str(attrs["max_steps"]))
    else:
        pairs = [(x, steps.of(x)) for x in node.inputs[n : n + m]]
        found = [f"parts({y}, {steps.shape(x)[0]})" if y[0] == "v" else y for x, y in pairs]
        given += [f"[{', '.join(found)}]", json.dumps(attrs["reverse"])]
    if steps.layout.steps[node].keeps_history:
        steps.name[node, "past"] = steps.text.made("past", "[]")
        given.append(steps.name[node, "past"])
    name = "whileLoop" if node.op is control.WHILE else "scan"
    steps.rows.append((f"{name}({', '.join(given)});", node, []))


def _history(steps: Steps, node: Node) -> None:
    past = steps.name[node.inputs[0], "past"]
    steps.name[node] = f"{past}.map((now) => now[{node.attrs['index']}])"


Handler = Callable[[Steps, Node], None]
FREE: dict[Any, Handler] = {control.COND: _cond, control.HISTORY: _history, state.assign: _assign}
FREE |= {control.WHILE: _loop, control.SCAN: _loop, state.read_value: _read_value}
FREE |= {state.initialize: _initialize, state.group: lambda steps, node: None}

# ---- The whole ----------------------------------------------------------------------------------

PROGRAM = """(() => {{
"use strict";
const make = () => {{
  {memory}
  const steps = [
    {steps}
  ];
  return network([{given}], steps, [{results}], [{updates}], [{variables}]);
}};
{functions}
return make;
}})()
"""


def write(layout: Layout, specs: Specs, plan: Plan, variables: Variables) -> str:
    """Write the program; `variables` are the values that its variables begin with."""
    graph, text = layout.graph, Text(variables)
    steps = Steps(text, layout, specs, plan, {})

    def about(x: Node, more: str = "") -> str:
        facts = quoted(steps.labels[x]), quoted(x.op.name), [*steps.shape(x)], quoted(x.dtype.name)
        return f"[{steps.of(x)}, {', '.join(map(str, facts))}{more}]"

    kept = [x for x in graph.nodes if x.op is state.variable]
    rows = [", ".join([f"[() => {{ {x} }}", *map(about, values)]) for x, _, values in steps.rows]
    written = {
        "steps": "\n    ".join(f"{row}]," for row in rows),
        "given": ", ".join(about(x, f", {EXACT[x.dtype.kind]}") for x in graph.placeholders),
        "results": ", ".join(map(about, graph.outputs)),
        "updates": ", ".join(f"[{to}, {value}]" for to, value in steps.updates.items()),
        "variables": ", ".join(f"[{quoted(steps.labels[x])}, {steps.of(x)}]" for x in kept),
    }
    written["memory"] = "\n  ".join(text.lines)  # the others have met all arrays
    tables = "\n".join(f"const {name} = {code};" for code, name in text.tables.items())
    functions = called(PROGRAM.format(**written, functions=tables))
    return PROGRAM.format(**written, functions="\n".join([*functions, tables]))

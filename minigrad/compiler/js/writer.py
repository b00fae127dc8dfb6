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
from minigrad.compiler.js.kernels import KERNELS, KernelCall, Shape, broadcast_strides, strides
from minigrad.compiler.js.scalars import TYPED_ARRAYS, expression, literal, quote
from minigrad.core import Spec, TupleSpec
from minigrad.diagnostics.errors import GraphError
from minigrad.diagnostics.source import here
from minigrad.ops import parts, state
from minigrad.ops.activations import FAR, NEAR
from minigrad.passes.layout import Layout, Specs, concrete_specs, is_known, kinds_of, shape_of
from minigrad.passes.plan import Plan, share_buffers
from minigrad.static import Node, bodies_of
from minigrad.static.fused import FUSED
from minigrad.static.handlers import Variables

MAX_LITERAL_ELEMENTS = 8  # elements of an array that is written out
JS_DEFINITION = re.compile(r"^const (\w+) = .*?;\n(?=\n*const |\n*\Z)", re.MULTILINE | re.DOTALL)
IDENTIFIER = re.compile(r"\w+")
SUPPORTED = {*KERNELS, *scalars.FLOAT_TEMPLATES, *scalars.ATTRIBUTE_TEMPLATES}
ArrayNames = Mapping[Any, str]


@functools.cache
def read_runtime() -> dict[str, str]:
    """Return what texts call, by name."""
    text = Path(__file__).with_name("runtime.js").read_text("utf-8")
    text = f"const near = {json.dumps(NEAR)};\nconst far = {json.dumps(FAR)};\n{text}"
    return {m[1]: m[0] for m in JS_DEFINITION.finditer(re.sub(r" *// .*", "", text))}


def find_runtime_functions(code: str) -> list[str]:
    """Return the parts of the runtime that a text names, and what those name."""
    found, waiting = set[str](), [code]
    while waiting:
        new = read_runtime().keys() & {*IDENTIFIER.findall(waiting.pop())} - found
        found |= new
        waiting += [read_runtime()[name] for name in new]
    return [part.strip() for name, part in read_runtime().items() if name in found]


def error_for(node: Node, key: str, **info: object) -> GraphError:
    return GraphError(key, op=node.op.name, name=node.name, defined=node.where, ran=here(), **info)


def flatten_spec(spec: Spec) -> Sequence[Spec]:
    return spec.parts if isinstance(spec, TupleSpec) else [spec]


class SourceBuilder:
    """What the graphs of one program share: numbers for names, tables, lines that make arrays."""

    def __init__(self, variables: Variables) -> None:
        self.variables, self.count = variables, 0
        self.constants: dict[str, str] = {}
        self.declarations: list[str] = []

    def unique_name(self, stem: str) -> str:
        self.count += 1
        return f"{stem}{self.count}"

    def share_constant(self, code: str) -> str:
        """Name what is made once; equal ones are shared."""
        return self.constants.setdefault(code, f"t{len(self.constants)}")

    def declare(self, stem: str, code: str, comment: str = "") -> str:
        """Name what each network makes for itself."""
        name = self.unique_name(stem)
        self.declarations.append(f"const {name} = {code};{comment and f'  // {quote(comment)}'}")
        return name

    def declare_array(self, spec: Spec, arguments: object, comment: str = "") -> str:
        return self.declare("v", f"new {TYPED_ARRAYS[spec.dtype.name][0]}({arguments})", comment)

    def declare_values(self, node: Node, value: Any) -> str:
        """Make an array with these values."""
        flat = np.ravel(value)
        whole = flat.dtype.kind in "iu" and flat.size
        if whole and max(int(flat.max()), -int(flat.min())) > scalars.MAX_SAFE_INTEGER:
            raise error_for(node, "js_integer")
        exact = flat.astype("<f8" if flat.dtype == np.int64 else flat.dtype.newbyteorder("<"))
        code, kind = base64.b64encode(exact.tobytes()).decode(), TYPED_ARRAYS[flat.dtype.name][0]
        few = flat[:MAX_LITERAL_ELEMENTS]  # the shortest text of each is enough for its data type
        few = few.astype(str).astype(float) if flat.dtype.kind == "f" else few
        arguments = f"[{', '.join(literal(x).strip('()') for x in few)}]"
        if not exact.tobytes().strip(b"\0"):  # zeros, as every typed array begins
            arguments = str(flat.size)
        elif flat.size > MAX_LITERAL_ELEMENTS:
            arguments = self.share_constant(f'decoded("{code}", {kind})')
        return self.declare_array(Spec((), flat.dtype), arguments, node.name)


class GraphWriter:
    """Writes the steps of one graph: a program's, or a body's.

    arrays: their names by node, and by (node, i) for one of several results.
    statements: each with the node that it works for and the values that it computes.
    """

    def __init__(
        self, source: SourceBuilder, layout: Layout, specs: Specs, plan: Plan, names: ArrayNames
    ) -> None:
        self.source, self.layout, self.specs = source, layout, specs
        self.labels = layout.graph.labels
        self.arrays: dict[Any, str] = {**names}
        self.statements: list[tuple[str, Node, Sequence[Node]]] = []
        self.updates: dict[str, str] = {}  # what each variable becomes at the end
        self.offsets = {x.node: plan.buffers[x.buffer].offset for x in plan.lifetimes}
        buffer = f"new ArrayBuffer({plan.bytes})"
        self.memory = source.declare("memory", buffer) if self.offsets else ""
        for node in layout.order:
            if node.op in HANDLERS:
                HANDLERS[node.op](self, node)
            elif layout.kind[node] not in ("source", "alias") and node.op is not parts.output:
                self._write_operator(node)

    def known_shape(self, node: Node, spec: Spec | None = None) -> Shape:
        """Return a shape that is known; GraphError if it isn't, or if no array holds the values."""
        spec = self.specs[node] if spec is None else spec
        if not is_known(spec) or spec.dtype.name not in TYPED_ARRAYS:
            raise error_for(node, "js_dtype" if is_known(spec) else "js_open", dtype=spec.dtype)
        return shape_of(spec)

    def array_of(self, node: Node) -> str:
        """Return the name of a node's array, made when first met."""
        root = self.layout.root.get(node, node)  # a region's constant is not among them
        if root.op is parts.output and (root.inputs[0], root.attrs["index"]) in self.arrays:
            return self.arrays[root.inputs[0], root.attrs["index"]]
        if root not in self.arrays:
            self.arrays[root] = self._declare_array(root)
        return self.arrays[root]

    def array_list(self, nodes: Sequence[Node], suffix: str = "") -> str:
        return f"[{', '.join(self.array_of(x) + suffix for x in nodes)}]"

    def _declare_array(self, node: Node) -> str:
        size = math.prod(self.known_shape(node, self.specs.get(node, node.spec)))
        if node.op in (state.constant, state.variable):
            value = self.source.variables.get(node, node.attrs["value"])
            return self.source.declare_values(node, value)
        at = f"{self.memory}, {self.offsets[node]}, {size}" if node in self.offsets else size
        return self.source.declare_array(self.specs[node], at, self.labels[node])

    # ---- Operators ----------------------------------------------------------------------------

    def _write_operator(self, node: Node) -> None:
        """Write an operator, or a region as one loop behind the product that it may begin with."""
        inside, ends, values, specs, names = [node], [node], [node], self.specs, dict[Node, str]()
        if node.op is FUSED:
            body, shapes = node.attrs["body"], map(self.known_shape, node.inputs)
            names = {x: self.array_of(y) for x, y in zip(body.inputs, node.inputs, strict=True)}
            specs = concrete_specs(body, dict(zip(body.inputs, shapes, strict=True)))
            inside = [x for x in body.nodes if x not in names and x.op is not state.constant]
            chosen = self.layout.parts.get(node, {0: node})
            ends, values = [body.outputs[i] for i in chosen], [*chosen.values()]
        stored = {x: self.array_of(y) for x, y in zip(ends, values, strict=True)}
        members, code = [x for x in inside if x.op.elementwise], ""
        for x in inside:
            if x.op.name not in SUPPORTED:
                raise error_for(x, "js_refused")
            if not x.op.elementwise:
                same = [y for end, y in stored.items() if end.dtype == x.dtype]
                size = math.prod(shape_of(specs[x]))
                names[x] = same[0] if same else self.source.declare_array(specs[x], size)
                code += f"{self._write_kernel(x, names, specs)}; "
        code += self._write_elementwise(members, stored, names, specs) if members else ""
        self.statements.append((code.rstrip(), node, values))

    def _write_kernel(self, node: Node, names: ArrayNames, specs: Specs) -> str:
        facts = [(self.known_shape(node, specs[x]), specs[x].dtype) for x in (node, *node.inputs)]
        shapes, dtypes = [shape for shape, _ in facts], [dtype for _, dtype in facts]
        read = [names[x] if x in names else self.array_of(x) for x in node.inputs]
        own = node.op, node.attrs, names[node], read
        types = shapes[0], dtypes[0], shapes[1:], dtypes[1:]
        return KERNELS[node.op.name](KernelCall(*own, *types, self.source.share_constant))

    def _write_elementwise(
        self, members: Sequence[Node], stored: ArrayNames, names: ArrayNames, specs: Specs
    ) -> str:
        """Write a loop over the elements of one shape.

        stored: the arrays of results; names: those of what is read and isn't a node out here.
        """
        shape = self.known_shape(members[0], specs[members[0]])
        size, uses = math.prod(shape), {x for node in members for x in node.inputs}
        inside, lines, ends = dict[Node, str](), list[str](), list[str]()

        def read(x: Node) -> str:
            if x.op is state.constant and np.size(x.attrs["value"]) == 1:
                return literal(np.ravel(x.attrs["value"])[0])
            at = index_expression(self.known_shape(x, specs[x]), shape)
            return inside.get(x) or f"{names[x] if x in names else self.array_of(x)}[{at}]"

        for node in members:
            self.known_shape(node, specs[node])
            given, known = [read(x) for x in node.inputs], node.op.selectors
            source = next(specs[x].dtype for i, x in enumerate(node.inputs) if i not in known)
            code = expression(node.op.name, node.attrs, node.dtype, source, given)
            if node not in stored or node in uses or node.dtype == np.int64:
                inside[node] = self.source.unique_name("x")
                code = TYPED_ARRAYS[node.dtype.name][1].format(code)
                lines.append(f"const {inside[node]} = {code};")
            if node in stored:
                at = "0" if size == 1 else "i"
                ends.append(f"{stored[node]}[{at}] = {inside.get(node, code)};")
        text = "\n      ".join([*lines, *ends])
        text = f"{{\n      {text}\n    }}" if "\n" in text else text
        return text if size == 1 else f"for (let i = 0; i < {size}; i++) {text}"

    # ---- Branches and loops -------------------------------------------------------------------

    def declare_results(self, node: Node) -> str:
        """Make the arrays of the results of a branch or loop, and return their list."""
        found = []
        for spec in flatten_spec(self.specs[node]):
            size = math.prod(self.known_shape(node, spec))
            found.append(self.source.declare_array(spec, size))
        self.arrays |= {(node, i): name for i, name in enumerate(found)} | {node: found[0]}
        return f"[{', '.join(found)}]"

    def write_body(
        self, node: Node, key: str, first: int, rows: range, states: Sequence[Spec]
    ) -> str:
        """Write a body as a function of arrays, and return its name.

        first: the first operand that it takes. rows: those of which it takes one row at a time.
        states: the specs that its first results must have.
        """
        graph, given = bodies_of(node.attrs)[key], list[Shape]()
        for i, x in enumerate(node.inputs[first:]):
            spec = self.specs[x]
            if i in rows and spec.shape is not None:  # their number may be open
                spec = Spec(spec.shape[1:], spec.dtype)
            given.append(self.known_shape(x, spec))
        specs = concrete_specs(graph, dict(zip(graph.inputs, given, strict=True)))
        if any(specs[x].shape != s.shape for x, s in zip(graph.outputs, states, strict=False)):
            raise error_for(node, "js_open")
        layout = Layout(graph, kinds_of(graph, specs), specs)
        names = {x: self.source.unique_name("p") for x in graph.inputs}
        plan = share_buffers(layout.requests(specs))
        inner = GraphWriter(self.source, layout, specs, plan, names)
        found = inner.array_list(graph.outputs, ".slice()")
        lines = [f"    {code}  // {quote(inner.labels[x])}" for code, x, _ in inner.statements]
        lines = [f"({', '.join(names.values())}) => {{", *lines, f"    return {found};", "  }"]
        return self.source.declare(key, "\n".join(lines))


def index_expression(shape: Shape, to: Shape) -> str:
    """Return the position in an operand of the element that belongs to position i of the result."""
    if math.prod(to) == 1 or shape == to:
        return "0" if math.prod(to) == 1 else "i"
    axes: list[tuple[int, int, int]] = []  # of equal kind, as one: length, stride out, stride in
    for n, out, own in zip(to, strides(to), broadcast_strides(shape, to), strict=True):
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


def _write_assign(writer: GraphWriter, node: Node) -> None:
    variable, value = node.inputs
    if (shape := writer.known_shape(value)) != (expected := writer.known_shape(variable)):
        raise error_for(node, "assign_shape", shape=shape, expected=expected)
    if writer.layout.adopts(node):
        writer.arrays[node] = writer.array_of(value)
    else:
        code = f"{writer.array_of(node)}.set({writer.array_of(value)});"
        writer.statements.append((code, node, [node]))
    writer.updates[writer.array_of(variable)] = writer.array_of(node)


def _write_initialize(writer: GraphWriter, node: Node) -> None:
    for x in filter(writer.specs.__contains__, node.attrs["variables"]):
        writer.updates[writer.array_of(x)] = writer.source.declare_values(x, x.attrs["value"])


def _write_read_value(writer: GraphWriter, node: Node) -> None:
    variable = writer.array_of(node.inputs[0])
    writer.arrays[node] = writer.updates.get(variable, variable)


def _write_cond(writer: GraphWriter, node: Node) -> None:
    names, specs = writer.declare_results(node), flatten_spec(writer.specs[node])
    sides = ("then", "orelse")
    then, orelse = (writer.write_body(node, side, 1, range(0), specs) for side in sides)
    test, given = writer.array_of(node.inputs[0]), writer.array_list(node.inputs[1:])
    taken = f"({test}[0] ? {then} : {orelse})(...{given})"
    writer.statements.append((f"setAll({names}, {taken});", node, []))


def _write_loop(writer: GraphWriter, node: Node) -> None:
    """Write a loop; the states that it goes through are kept if they are read."""
    attrs, names = node.attrs, writer.declare_results(node)
    n, m = attrs["carries"], attrs.get("sequences", 0)
    states, rows = [writer.specs[x] for x in node.inputs[:n]], range(n, n + m)
    given = [names, writer.array_list(node.inputs[:n], ".slice()")]
    given.append(writer.array_list(node.inputs[n + m :]))
    given.append(writer.write_body(node, "body", 0, rows, states))
    if node.op is control.WHILE:
        given.append(writer.write_body(node, "test", 0, rows, []))
        given.append("Infinity" if attrs["max_steps"] is None else str(attrs["max_steps"]))
    else:
        pairs = [(x, writer.array_of(x)) for x in node.inputs[n : n + m]]
        found = [f"parts({y}, {writer.known_shape(x)[0]})" if y[0] == "v" else y for x, y in pairs]
        given += [f"[{', '.join(found)}]", json.dumps(attrs["reverse"])]
    if writer.layout.steps[node].keeps_history:
        writer.arrays[node, "past"] = writer.source.declare("past", "[]")
        given.append(writer.arrays[node, "past"])
    name = "whileLoop" if node.op is control.WHILE else "scan"
    writer.statements.append((f"{name}({', '.join(given)});", node, []))


def _write_history(writer: GraphWriter, node: Node) -> None:
    past = writer.arrays[node.inputs[0], "past"]
    writer.arrays[node] = f"{past}.map((now) => now[{node.attrs['index']}])"


Handler = Callable[[GraphWriter, Node], None]
HANDLERS: dict[Any, Handler] = {control.COND: _write_cond, control.HISTORY: _write_history}
HANDLERS |= {control.WHILE: _write_loop, control.SCAN: _write_loop, state.assign: _write_assign}
HANDLERS |= {state.read_value: _write_read_value, state.initialize: _write_initialize}
HANDLERS |= {state.group: lambda writer, node: None}

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
    graph, source = layout.graph, SourceBuilder(variables)
    writer = GraphWriter(source, layout, specs, plan, {})

    def about(x: Node, more: str = "") -> str:
        name, op, dtype = quote(writer.labels[x]), quote(x.op.name), quote(x.dtype.name)
        facts = name, op, [*writer.known_shape(x)], dtype
        return f"[{writer.array_of(x)}, {', '.join(map(str, facts))}{more}]"

    casts, kept = scalars.CHECKED_CASTS, [x for x in graph.nodes if x.op is state.variable]
    rows = [", ".join([f"[() => {{ {x} }}", *map(about, ys)]) for x, _, ys in writer.statements]
    written = {
        "steps": "\n    ".join(f"{row}]," for row in rows),
        "given": ", ".join(about(x, f", {casts[x.dtype.kind]}") for x in graph.placeholders),
        "results": ", ".join(map(about, graph.outputs)),
        "updates": ", ".join(f"[{to}, {value}]" for to, value in writer.updates.items()),
        "variables": ", ".join(f"[{quote(writer.labels[x])}, {writer.array_of(x)}]" for x in kept),
    }
    written["memory"] = "\n  ".join(source.declarations)  # the others have met all arrays
    tables = "\n".join(f"const {name} = {code};" for code, name in source.constants.items())
    functions = find_runtime_functions(PROGRAM.format(**written, functions=tables))
    return PROGRAM.format(**written, functions="\n".join([*functions, tables]))

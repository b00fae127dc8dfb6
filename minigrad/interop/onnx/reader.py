"""An ONNX model as a graph: read as data, node by node, and built the ordinary way."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from minigrad.core import Array, context, name_scope
from minigrad.diagnostics.errors import FormatError, GraphError
from minigrad.diagnostics.source import here
from minigrad.interop.onnx import arrangement as arrangement
from minigrad.interop.onnx import control as control
from minigrad.interop.onnx import convolutions as convolutions
from minigrad.interop.onnx import elementwise as elementwise
from minigrad.interop.onnx import lengths
from minigrad.interop.onnx import norms as norms
from minigrad.interop.onnx import picking as picking
from minigrad.interop.onnx import pools as pools
from minigrad.interop.onnx import products as products
from minigrad.interop.onnx import quantized as quantized
from minigrad.interop.onnx import recurrent as recurrent
from minigrad.interop.onnx import reductions as reductions
from minigrad.interop.onnx import resize as resize
from minigrad.interop.onnx.call import TABLE, OnnxCall
from minigrad.interop.onnx.functions import function_body
from minigrad.interop.onnx.lengths import Lengths
from minigrad.interop.onnx.proto import (
    attributes,
    check_model,
    initializers,
    label,
    load_model,
    topological_sort,
)
from minigrad.interop.onnx.tensors import OTHERS, array_of, dtype_of
from minigrad.static import Graph, Node, get_default_graph
from minigrad.static.build import build_graph, placeholder

__all__ = ["from_onnx"]

MOST_FOLDED = 1 << 28  # elements of a value that is computed while the graph is built
DEEPEST = 32  # functions and bodies in each other
# What rules raise for a model that has no right to what it asks for.
RULE_ERRORS = (TypeError, ValueError, LookupError, ArithmeticError, AttributeError, MemoryError)
BUFFERS = {"BatchNormalization": (3, 4)}  # operands that training does not change


def from_onnx(
    model: Any,
    known: Mapping[str, Any] | None = None,
    *,
    shapes: Mapping[str, Sequence[int | None]] | None = None,
) -> Graph:
    """Return the graph of an ONNX model: a path, a file's bytes, or an `onnx.ModelProto`.

    Placeholders have the names of the model's inputs; an axis of an input without a fixed length
    stays open. Weights are variables that training can change; all other stored values are
    constants. known: values of inputs, by name, that the graph is built with, such as the shape of
    a reshape; they are no placeholders. shapes: for inputs by name, if the model leaves more axes
    open than the graph can be built with. FormatError, with the reason, for what is no model, or
    uses what has no counterpart here; MissingPackageError without the extra `onnx`.

    >>> import minigrad as mg
    >>> x = mg.placeholder("x", shape=(None, 2))
    >>> model = mg.build_graph(x, mg.relu(x) * 3).to_onnx()
    >>> graph = mg.from_onnx(model)
    >>> graph.placeholders[0].shape
    (None, 2)
    >>> mg.run(graph, {"x": [[1, -1]]}).tolist()
    [[3.0, 0.0]]
    """
    scope, context.now.scope = context.now.scope, ""
    try:
        proto = load_model(model)
        return _Reader(check_model(proto), known or {}, shapes or {}).graph()
    except FormatError as error:
        if error.key == "onnx_load":
            raise
        name = os.fspath(model) if isinstance(model, (str, os.PathLike)) else "model"
        about: dict[str, Any] = {"reason": error.pair, "ran": here()}
        raise FormatError("onnx_load", path=name, **about) from error
    finally:
        context.now.scope = scope


class _Reader:
    """A reader of a model, with the values read so far by name."""

    def __init__(self, model: Any, known: Mapping[str, Any], shapes: Mapping[str, Any]) -> None:
        self.model, self.known, self.shapes = model, known, shapes
        inputs = {x.name for x in model.graph.input}
        for name in (*known, *shapes):
            if name not in inputs:
                raise FormatError("onnx_no_input", name=ascii(name)[:100], names=", ".join(inputs))
        self.versions = {o.domain or "ai.onnx": o.version for o in model.opset_import}
        self.functions = {(f.domain or "ai.onnx", f.name): f for f in model.functions}
        self.scopes: list[dict[str, Any]] = []
        self.depth = 0
        self.home = Graph()

    def graph(self) -> Graph:
        proto = self.model.graph
        values: dict[str, Any] = {"": None}
        self.scopes.append(values)
        with self.home:
            self._read_weights(proto, values)
            inputs = self._read_inputs(proto, values)
            self._read_nodes(proto.node, list(values))
            outputs = [self._read_output(values, o.name) for o in proto.output]
            return build_graph(inputs, outputs[0] if len(outputs) == 1 else outputs)

    def _read_weights(self, proto: Any, values: dict[str, Any]) -> None:
        """Add float arrays as variables; scalars and integers stay constant."""
        buffers = {
            node.input[i]
            for node in proto.node
            for i in BUFFERS.get(node.op_type, ())
            if i < len(node.input)
        }
        for tensor in initializers(proto).values():
            array = array_of(tensor)
            if array.ndim and array.dtype.kind == "f":
                role: Any = "buffer" if tensor.name in buffers else "parameter"
                values[tensor.name] = self.home.variable(array, tensor.name or None, role)
            else:
                values[tensor.name] = array[()]
        if proto.sparse_initializer:
            raise FormatError("onnx_unsupported", op="sparse_initializer", what="sparse")

    def _read_inputs(self, proto: Any, values: dict[str, Any]) -> list[Node]:
        found = []
        for given in proto.input:
            if given.name in values:
                continue  # older models name their weights as inputs
            if given.name in self.known:
                values[given.name] = self._known_input(given)
                continue
            kind = given.type.WhichOneof("value")
            if kind != "tensor_type":
                raise FormatError("onnx_type", kind=str(kind), name=ascii(given.name)[:100])
            about = given.type.tensor_type
            dtype, shape = dtype_of(about.elem_type, given.name), None
            if given.name in self.shapes:
                shape = list(self.shapes[given.name])
            elif about.HasField("shape"):
                shape = [self._length(d) for d in about.shape.dim]
            x = placeholder(given.name, shape=shape, dtype=dtype)
            values[given.name] = x
            found.append(x)
        return found

    @staticmethod
    def _length(dim: Any) -> int | None:
        if not dim.HasField("dim_value"):
            return None
        return int(dim.dim_value) if 0 <= dim.dim_value < 1 << 40 else None

    def _known_input(self, given: Any) -> Any:
        value = self.known[given.name]
        if isinstance(value, list) and value and isinstance(value[0], np.ndarray):
            return list(value)  # a sequence
        if value is None or (isinstance(value, list) and not value):
            return value
        dtype = None
        if given.type.WhichOneof("value") == "tensor_type":
            dtype = dtype_of(given.type.tensor_type.elem_type, given.name)
        return np.asarray(value, dtype)[()]

    def _read_output(self, values: dict[str, Any], name: str) -> Any:
        if name not in values:
            raise FormatError("onnx_missing", name=ascii(name)[:100])
        x = values[name]
        if x is None or isinstance(x, list):
            raise FormatError("onnx_type", kind="sequence", name=ascii(name)[:100])
        return self.lift(x)

    # ---- Nodes ----------------------------------------------------------------------------------

    def _read_nodes(self, nodes: Sequence[Any], given: Iterable[str]) -> None:
        for node in topological_sort(nodes, given):
            self._read_node(node)

    def _lookup(self, name: str) -> Any:
        for values in reversed(self.scopes):
            if name in values:
                return values[name]
        raise FormatError("onnx_missing", name=ascii(name)[:100])

    def _read_node(self, node: Any) -> None:
        operands = [self._lookup(name) for name in node.input]
        while operands and operands[-1] is None:
            operands.pop()
        try:
            results = self._convert_node(node, operands)
        except FormatError as error:
            if error.key in ("onnx_node", "onnx_value", "onnx_operator", "onnx_type"):
                raise
            raise self._error_for(node, error.pair) from error
        except GraphError as error:
            error.defined = None
            raise self._error_for(node, error.pair) from error
        except RULE_ERRORS as error:
            text = f"{type(error).__name__}: {error}"[:100]
            raise self._error_for(node, (text, text)) from error
        results = results if isinstance(results, tuple) else (results,)
        for x in results:  # a view takes no memory, but what reads it would
            if isinstance(x, np.ndarray) and x.size > MOST_FOLDED:
                raise FormatError(
                    "onnx_size", name=ascii(node.name)[:100], shape=str(x.shape)[:100]
                )
        for name, value in zip(node.output, results, strict=False):
            if name:
                self.scopes[-1][name] = value
        for name in node.output[len(results) :]:
            if name:
                raise FormatError("onnx_unsupported", op=node.op_type, what=f"output {name[:40]}")

    @staticmethod
    def _error_for(node: Any, reason: Any) -> FormatError:
        return FormatError("onnx_node", op=node.op_type[:60], name=label(node), reason=reason)

    def _convert_node(self, node: Any, operands: list[Any]) -> Any:
        domain = node.domain or "ai.onnx"
        version = self.versions.get(domain, 0)
        call = OnnxCall(self, node, operands, attributes(node), version)
        if (domain, node.op_type) in self.functions:
            return self._inline_function(self.functions[domain, node.op_type], node, operands)
        if any(isinstance(x, Lengths) for x in operands) and node.op_type in lengths.RULES:
            found = lengths.RULES[node.op_type](call, operands)
            if found is not None:
                return found
        rule = TABLE.get(node.op_type) if domain == "ai.onnx" else None
        if rule is None:
            body = function_body(node, domain, version, [self.lift_or_none(x) for x in operands])
            if body is None:
                raise FormatError("onnx_operator", op=ascii(node.op_type)[:60], domain=domain[:60])
            return self._inline_function(body, node, operands)
        with _node_scope(node.name):
            return rule(call)

    def lift_or_none(self, x: Any) -> Any:
        return x if x is None or isinstance(x, list) else self.lift(x)

    def _inline_function(self, body: Any, node: Any, operands: list[Any]) -> tuple[Any, ...]:
        """Inline a function's nodes with the attributes of the call; return its results."""
        if self.depth >= DEEPEST:
            raise FormatError("onnx_depth", name=ascii(node.op_type)[:60], most=DEEPEST)
        values: dict[str, Any] = {"": None, **dict.fromkeys(body.input)}
        values.update(zip(body.input, operands, strict=False))
        given = {a.name: a for a in node.attribute}
        given = {**{a.name: a for a in body.attribute_proto}, **given}
        outer, self.scopes = self.scopes, [values]
        versions = self.versions
        self.versions = {
            **versions,
            **{o.domain or "ai.onnx": o.version for o in body.opset_import},
        }
        self.depth += 1
        try:
            self._read_nodes([_fill_attributes(inner, given) for inner in body.node], list(values))
            for name, used in zip(body.output, node.output, strict=False):
                if used:  # ONNX's own bodies leave out what this call does not read
                    self._lookup(name)
            return tuple(map(values.get, body.output))
        finally:
            self.scopes, self.versions = outer, versions
            self.depth -= 1

    def body(self, proto: Any, operands: Sequence[Any]) -> list[Any]:
        """Inline a branch or loop body for these operands; return its results."""
        if self.depth >= DEEPEST:
            raise FormatError("onnx_depth", name=ascii(proto.name)[:60], most=DEEPEST)
        values: dict[str, Any] = {"": None}
        values.update((name, array_of(t)[()]) for name, t in initializers(proto).items())
        values.update(zip((i.name for i in proto.input), operands, strict=True))
        self.scopes.append(values)
        self.depth += 1
        try:
            self._read_nodes(proto.node, list(values))
            return [self._lookup(o.name) for o in proto.output]
        finally:
            self.scopes.pop()
            self.depth -= 1

    def lift(self, x: Any) -> Node:
        """Return a value as a node of the graph that is being built."""
        if isinstance(x, Lengths):
            x = x.node() if any(not isinstance(n, int) for n in x.items) else _as_array(x)
        return x if isinstance(x, Node) else get_default_graph().constant(np.asarray(x)[()])

    def unsupported_type(self, number: Any, name: str) -> FormatError:
        return FormatError("onnx_type", kind=OTHERS.get(number, str(number)), name=name)


def _as_array(x: Lengths) -> Array:
    array = np.array(x.items, np.int64)
    return array[0] if x.single else array


def _fill_attributes(node: Any, given: Mapping[str, Any]) -> Any:
    """Replace a function node's attribute references by the attributes of the call."""
    if not any(a.ref_attr_name or a.HasField("g") for a in node.attribute):
        return node
    copy = type(node)()
    copy.CopyFrom(node)
    del copy.attribute[:]
    for a in node.attribute:
        if not a.ref_attr_name:
            added = copy.attribute.add()
            added.CopyFrom(a)
            if a.HasField("g"):
                inner = [_fill_attributes(n, given) for n in a.g.node]
                del added.g.node[:]
                added.g.node.extend(inner)
        elif a.ref_attr_name in given:
            added = copy.attribute.add()
            added.CopyFrom(given[a.ref_attr_name])
            added.name = a.name
    return copy


class _node_scope:
    """A name scope from a node's name: encoder/layer for /encoder/layer/MatMul."""

    def __init__(self, name: str) -> None:
        parts = [p for p in name.split("/")[:-1] if p]
        self.inner = name_scope("/".join(parts)) if parts else None

    def __enter__(self) -> None:
        if self.inner is not None:
            self.inner.__enter__()

    def __exit__(self, *exc: object) -> None:
        if self.inner is not None:
            self.inner.__exit__(*exc)

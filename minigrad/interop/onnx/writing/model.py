"""A graph as an ONNX model, which the `onnx` package checks before anything is written."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from minigrad.core import Array
from minigrad.diagnostics import files
from minigrad.diagnostics.arguments import expect
from minigrad.diagnostics.errors import FormatError, UninitializedError
from minigrad.diagnostics.source import here
from minigrad.interop.onnx.writing import elementwise as elementwise
from minigrad.interop.onnx.writing import images as images
from minigrad.interop.onnx.writing import shapes as shapes
from minigrad.interop.onnx.writing.builder import OPSET, OnnxGraphBuilder
from minigrad.interop.onnx.writing.control import histories, write
from minigrad.ops import state
from minigrad.static import Graph, Node, close_over
from minigrad.static.build import placeholder

__all__ = ["to_onnx"]

IR_VERSION = 9  # of opset 20


def to_onnx(
    graph: Graph,
    path: str | os.PathLike[str] | None = None,
    session: Any = None,
    *,
    shapes: Mapping[str, Sequence[int | None]] | None = None,
) -> Any:
    """Convert the graph to an `onnx.ModelProto`; write it to `path` if given.

    Inputs and outputs have the names of their nodes, a length that is open has a name as well,
    and each node tells the line that defined it. Variables are written with their initial
    values, or with those that `session` holds now. shapes: of inputs by name, for placeholders
    without one, which a model cannot have. The `onnx` package checks the model before
    anything is written: `pip install "minigrad-lessons[onnx]"`. Raises FormatError for what
    ONNX has no operators for, such as an assignment.

    >>> import minigrad as mg
    >>> x = mg.placeholder("x", shape=(None, 3))
    >>> model = mg.to_onnx(mg.build_graph(x, mg.tanh(x)))  # doctest: +SKIP
    >>> [node.op_type for node in model.graph.node]  # doctest: +SKIP
    ['Tanh']
    """
    expect(isinstance(graph, Graph), to_onnx, "mg.to_onnx(mg.build_graph(x, y), path)")
    graph.verify()
    try:
        whole = close_over(graph)
        values = {} if session is None else session.variables
        known = {whole.labels[x]: values[x] for x in whole.variables if x in values}
        model = _build_model(_with_input_shapes(whole, shapes or {}), known)
    except (FormatError, UninitializedError) as error:
        raise FormatError("onnx_save", reason=error.pair, ran=here()) from error
    if path is not None:
        files.write(path, model.SerializeToString())
    return model


def _with_input_shapes(graph: Graph, shapes: Mapping[str, Sequence[int | None]]) -> Graph:
    """Return the graph with these input shapes; FormatError if an input still has none."""
    labels, new = {x: graph.labels[x] for x in graph.inputs}, {}
    for name in shapes:
        if name not in labels.values():
            raise FormatError("onnx_no_input", name=name, names=", ".join(labels.values()))
    with Graph():
        for x, name in labels.items():
            if name in shapes:
                new[x] = placeholder(name, shape=tuple(shapes[name]), dtype=x.dtype)
            elif x.spec.shape is None:
                raise FormatError("onnx_no_shape", name=name)
    return graph.replace(new) if new else graph


def _build_model(graph: Graph, values: Mapping[str, Array]) -> Any:
    w = OnnxGraphBuilder()
    onnx = w.onnx
    w.histories = histories(graph)
    labels = graph.labels
    for x in (*graph.inputs, *graph.variables):
        w.values[x] = w.name(labels.get(x, x.name))
    inputs = [w.value_info(w.values[x], x) for x in graph.inputs]
    weights = [_initializer(w, x, values.get(labels[x])) for x in graph.variables]
    if graph.effects:
        w.node = graph.effects[0]
        raise w.refuse("effect")
    write(w, graph.nodes)
    results = [_add_output(w, labels, y, i) for i, y in enumerate(graph.outputs)]
    proto = onnx.helper.make_graph(
        w.nodes, "minigrad", inputs, results, initializer=[*weights, *w.constants]
    )
    model = onnx.helper.make_model(
        proto,
        producer_name="minigrad",
        opset_imports=[onnx.helper.make_opsetid("", OPSET)],
        ir_version=IR_VERSION,
    )
    try:
        onnx.checker.check_model(model, full_check=True)
    except (onnx.checker.ValidationError, onnx.shape_inference.InferenceError) as error:
        text = str(error)[:300]
        raise FormatError("onnx_checked", reason=text) from error
    return model


def _initializer(w: OnnxGraphBuilder, x: Node, present: Array | None) -> Any:
    """Return a variable's initializer: its present value, or its initial one."""
    value: Array = x.attrs["value"] if present is None else present
    w.node = x
    w.dtype_number(value.dtype)
    return w.onnx.numpy_helper.from_array(np.array(value, order="C"), w.values[x])


def _add_output(w: OnnxGraphBuilder, labels: Any, y: Node, i: int) -> Any:
    """Add an output with its own name: a value may be returned twice, or be an input."""
    w.node = None
    source = w.values[y]
    own = w.name(labels.get(y, y.name) if y.op is not state.placeholder else f"output_{i}")
    w.nodes.append(w.onnx.helper.make_node("Identity", [source], [own], name=own))
    return w.value_info(own, y)

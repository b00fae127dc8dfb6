"""A graph as an ONNX model, which the `onnx` package checks before anything is written."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from minigrad.core import Array
from minigrad.diagnostics import files
from minigrad.diagnostics.errors import FormatError, UninitializedError
from minigrad.diagnostics.source import here
from minigrad.interop.onnx.writing import elementwise as elementwise
from minigrad.interop.onnx.writing import images as images
from minigrad.interop.onnx.writing import shapes as shapes
from minigrad.interop.onnx.writing.control import histories, write
from minigrad.interop.onnx.writing.sheet import OPSET, Sheet
from minigrad.ops import state
from minigrad.static import Graph, Node, closed

IR_VERSION = 9  # of opset 20


def to_onnx(graph: Graph, path: str | os.PathLike[str] | None = None, session: Any = None) -> Any:
    """The ModelProto of a graph, written to `path` if there is one; see `Graph.to_onnx`."""
    graph.verify()
    try:
        model = _model(closed(graph), session)
    except (FormatError, UninitializedError) as error:
        raise FormatError("onnx_save", reason=error.pair, ran=here()) from error
    if path is not None:
        files.write(path, model.SerializeToString())
    return model


def _model(graph: Graph, session: Any) -> Any:
    w = Sheet()
    onnx = w.onnx
    w.histories = histories(graph)
    labels = graph.labels
    for x in (*graph.inputs, *graph.variables):
        w.values[x] = w.name(labels.get(x, x.name))
    inputs = [w.info(w.values[x], x) for x in graph.inputs]
    weights = [_weight(w, x, session) for x in graph.variables]
    if graph.effects:
        w.node = graph.effects[0]
        raise w.refuse("effect")
    write(w, graph.nodes)
    results = [_result(w, labels, y, i) for i, y in enumerate(graph.outputs)]
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


def _weight(w: Sheet, x: Node, session: Any) -> Any:
    """The present value of a variable."""
    known = session is not None and x in session.variables
    value: Array = session.variables[x] if known else x.attrs["value"]
    w.node = x
    w.number(value.dtype)
    return w.onnx.numpy_helper.from_array(np.array(value, order="C"), w.values[x])


def _result(w: Sheet, labels: Any, y: Node, i: int) -> Any:
    """An output with a name of its own: one value may be given twice, or be an input."""
    w.node = None
    source = w.values[y]
    own = w.name(labels.get(y, y.name) if y.op is not state.placeholder else f"output_{i}")
    w.nodes.append(w.onnx.helper.make_node("Identity", [source], [own], name=own))
    return w.info(own, y)

"""ONNX Runtime: the models as ONNX files, for inference."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import onnxruntime
from measure import Side
from models import A, B, C, D, Linear, Model, points
from onnx import TensorProto, helper, numpy_helper

RUNTIME = "ONNX Runtime"
OPSET, FILE_VERSION = 17, 8


Shape = tuple[int, ...]


def session(nodes: list[Any], given: dict[str, Any], shape: Shape, result: Shape) -> Any:
    """What runs a graph from x to y, on one thread."""
    graph = helper.make_graph(
        nodes,
        "bench",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, result)],
        [numpy_helper.from_array(value, name) for name, value in given.items()],
    )
    built = helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=FILE_VERSION
    )
    onnx.checker.check_model(built)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    return onnxruntime.InferenceSession(
        built.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )


def running(made: Any, x: Any) -> Side:
    results: list[Any] = [None]

    def work() -> None:
        results[0] = made.run(None, {"x": x})

    return Side(work, lambda: results[0])


def inference(model: Model) -> Side:
    given: dict[str, Any] = {}
    nodes = []
    parameters = iter(model.parameters())
    value = "x"
    for i, layer in enumerate(model.layers):
        operands, facts = [value], {}
        if isinstance(layer, str):
            kind = {"relu": "Relu", "pool": "MaxPool", "flatten": "Flatten"}[layer]
            facts = {"kernel_shape": [2, 2], "strides": [2, 2]} if layer == "pool" else {}
        else:
            given |= {f"w{i}": next(parameters), f"b{i}": next(parameters)}
            operands += [f"w{i}", f"b{i}"]
            if isinstance(layer, Linear):
                kind, facts = "Gemm", {"transB": 1}
            else:
                kind, facts = "Conv", {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1]}
        value = "y" if i + 1 == len(model.layers) else f"v{i}"
        nodes.append(helper.make_node(kind, operands, [value], **facts))
    return running(
        session(nodes, given, model.batch, (model.batch[0], model.classes)), model.data()[0]
    )


def elementwise(count: int) -> Side:
    given = {name: np.float32(v) for name, v in {"a": A, "b": B, "c": C, "d": D}.items()}
    steps = [
        ("Mul", "x a", "ax"),
        ("Add", "ax b", "u"),
        ("Sigmoid", "u", "s"),
        ("Mul", "x c", "cx"),
        ("Add", "cx d", "v"),
        ("Tanh", "v", "t"),
        ("Mul", "s t", "st"),
        ("Add", "st x", "y"),
    ]
    nodes = [helper.make_node(kind, read.split(), [made]) for kind, read, made in steps]
    arrays = {name: np.asarray(value) for name, value in given.items()}
    return running(session(nodes, arrays, (count,), (count,)), points(count))

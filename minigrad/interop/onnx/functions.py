"""ONNX operators that ONNX defines as functions: their bodies are read as other nodes."""

from __future__ import annotations

from typing import Any

from minigrad.interop.extra import import_extra
from minigrad.interop.onnx.tensors import NUMBERS
from minigrad.static import Node


def function_body(node: Any, domain: str, version: int, operands: list[Any]) -> Any:
    """Return the FunctionProto that defines an operator for these operands, or None."""
    onnx = import_extra("onnx", extra="onnx")
    space = "" if domain == "ai.onnx" else domain
    try:
        schema = onnx.defs.get_schema(node.op_type, version, space)
    except onnx.defs.SchemaError:
        return None
    if schema.has_function:
        chosen = _newest_version(schema.function_opset_versions, version)
        return _with_defaults(_parse(schema.get_function_with_opset_version(chosen)), schema)
    if schema.has_context_dependent_function:
        kinds = [_type_proto(onnx, x) for x in operands]
        chosen = _newest_version(schema.context_dependent_function_opset_versions, version)
        text = schema.get_context_dependent_function_with_opset_version(
            chosen, node.SerializeToString(), kinds
        )
        return _with_defaults(_parse(text), schema)
    return None


def _newest_version(versions: list[int], version: int) -> int:
    """Return the newest version that the model's opset allows, or else the oldest."""
    return max([v for v in versions if v <= version], default=min(versions))


def _with_defaults(body: Any, schema: Any) -> Any:
    """Add to a body the default values of attributes that a call may leave out."""
    named = {a.name for a in body.attribute_proto}
    for name, attribute in schema.attributes.items():
        if name not in named and attribute.default_value.type:
            body.attribute_proto.add().CopyFrom(attribute.default_value)
    return body


def _parse(text: bytes) -> Any:
    onnx = import_extra("onnx", extra="onnx")
    body = onnx.FunctionProto()
    body.ParseFromString(text)
    return body


def _type_proto(onnx: Any, x: Any) -> bytes:
    """Return an operand's serialized TypeProto: its type and the lengths that are known."""
    if not isinstance(x, Node):
        return bytes(onnx.TypeProto().SerializeToString())
    proto = onnx.helper.make_tensor_type_proto(NUMBERS[x.dtype], x.shape)
    return bytes(proto.SerializeToString())

"""The file of a model, believed in nothing: what it claims is held against what there is."""

from __future__ import annotations

import os
from typing import Any

from minigrad.diagnostics import files
from minigrad.diagnostics.errors import FormatError
from minigrad.interop.extra import wanted

LARGEST = 1 << 31  # bytes of a file, which is what protobuf can hold
MOST_NODES = 1 << 20
DEEPEST = 32


def loaded(model: Any) -> Any:
    """The ModelProto of a path, of bytes, or as it is; FormatError for what is none."""
    onnx = wanted("onnx", extra="onnx")
    if isinstance(model, onnx.ModelProto):
        return model
    if isinstance(model, (bytes, bytearray, memoryview)):
        data = bytes(model)
    elif isinstance(model, (str, os.PathLike)):
        data = _read(model)
    else:
        raise FormatError("onnx_no_model", kind=type(model).__name__)
    proto = onnx.ModelProto()
    try:
        proto.ParseFromString(data)
    except Exception as error:  # protobuf's own errors differ from version to version
        raise FormatError("onnx_no_model", kind=type(error).__name__) from error
    if not proto.HasField("graph") or not proto.opset_import:
        raise FormatError("onnx_no_model", kind=f"{len(data)} bytes")
    if isinstance(model, (str, os.PathLike)):
        _external(proto, os.path.dirname(os.path.abspath(os.fspath(model))))
    return proto


def _read(path: Any) -> bytes:
    with files.opened(path) as file:
        about = os.fstat(file.fileno())
        kind = files.kind_of(about)
        if kind is not None:
            raise FormatError("format_irregular", kind=kind)
        if about.st_size > LARGEST:
            raise FormatError("onnx_size", name="file", shape=f"{about.st_size} bytes")
        return file.read()


def _external(model: Any, folder: str) -> None:
    """Read data that lies beside the model: in its folder, and no more than is claimed."""
    for tensor in model.graph.initializer:
        if not tensor.external_data:
            continue
        told = {entry.key: entry.value for entry in tensor.external_data}
        place = os.path.realpath(os.path.join(folder, told.get("location", "")))
        inside = os.path.commonpath([os.path.realpath(folder), place]) == os.path.realpath(folder)
        name = ascii(tensor.name)[:100]
        if not inside or os.path.isabs(told.get("location", "")) or not os.path.isfile(place):
            raise FormatError("onnx_outside", name=name, location=ascii(told.get("location"))[:100])
        try:
            start, length = int(told.get("offset", 0)), int(told.get("length", -1))
        except ValueError:
            raise FormatError("onnx_outside", name=name, location=str(told)[:100]) from None
        size = os.path.getsize(place)
        length = size - start if length < 0 else length
        if start < 0 or start + length > size:
            raise FormatError("onnx_count", name=name, shape="", held=size, expected=start + length)
        with open(place, "rb") as file:
            file.seek(start)
            tensor.raw_data = file.read(length)
        del tensor.external_data[:]
        tensor.data_location = 0


def checked(model: Any) -> Any:
    """The model, if its nodes are in an order in which they can be computed, and it is no bomb."""
    seen = {t.name for t in model.graph.initializer} | {i.name for i in model.graph.input}
    for name, times in _counts(i.name for i in model.graph.input).items():
        if times > 1:
            raise FormatError("onnx_twice", name=ascii(name)[:100])
    _walk(model.graph, seen, 0, [0])
    _functions(model)
    return model


def _counts(names: Any) -> dict[str, int]:
    found: dict[str, int] = {}
    for name in names:
        found[name] = found.get(name, 0) + 1
    return found


def _walk(graph: Any, seen: set[str], depth: int, count: list[int]) -> None:
    """Every name is read after it was written, once; FormatError where it is not."""
    if depth > DEEPEST:
        raise FormatError("onnx_depth", name=ascii(graph.name)[:60], most=DEEPEST)
    later = {name for node in graph.node for name in node.output if name}
    own: set[str] = set()
    for node in graph.node:
        count[0] += 1
        if count[0] > MOST_NODES:
            raise FormatError("onnx_size", name="graph", shape=f"{count[0]} nodes")
        for name in node.input:
            if name and name not in seen:
                about = ascii(name)[:100]
                if name in later:
                    op = ascii(node.name or node.op_type)[:60]
                    raise FormatError("onnx_cycle", name=about, op=op)
                raise FormatError("onnx_missing", name=about)
        for attribute in node.attribute:
            for body in [attribute.g] if attribute.HasField("g") else attribute.graphs:
                inner = seen | {i.name for i in body.input} | {t.name for t in body.initializer}
                _walk(body, inner, depth + 1, count)
        for name in node.output:
            if name in own:
                raise FormatError("onnx_twice", name=ascii(name)[:100])
            if name:
                own.add(name)
                seen.add(name)


def _functions(model: Any) -> None:
    """No function may call itself, by whatever detour."""
    calls = {(f.domain, f.name): {(n.domain, n.op_type) for n in f.node} for f in model.functions}
    done: set[Any] = set()

    def visit(key: Any, path: tuple[Any, ...]) -> None:
        if key in path:
            names = " → ".join(name for _, name in (*path, key))
            raise FormatError("onnx_cycle", name=ascii(key[1])[:60], op=names[:100])
        if key in done or key not in calls:
            return
        if len(path) > DEEPEST:
            raise FormatError("onnx_depth", name=ascii(key[1])[:60], most=DEEPEST)
        for other in calls[key]:
            visit(other, (*path, key))
        done.add(key)

    for key in calls:
        visit(key, ())


def attributes(node: Any) -> dict[str, Any]:
    """The attributes of a node by their names: numbers, texts, lists of them, tensors, graphs."""
    found: dict[str, Any] = {}
    for a in node.attribute:
        if a.type == 1:
            found[a.name] = a.f
        elif a.type == 2:
            found[a.name] = a.i
        elif a.type == 3:
            found[a.name] = a.s.decode("utf-8", "replace")
        elif a.type in (4, 5):
            found[a.name] = a.t if a.type == 4 else a.g
        elif a.type in (6, 7, 8):
            found[a.name] = [*(a.floats or a.ints or a.strings)]
            if a.type == 8:
                found[a.name] = [s.decode("utf-8", "replace") for s in a.strings]
        else:
            found[a.name] = a
    return found

"""ONNX model files, which are untrusted: their claims are checked against their data."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence, Set
from graphlib import CycleError, TopologicalSorter
from heapq import heapify, heappop, heappush
from typing import Any

from minigrad.diagnostics import files
from minigrad.diagnostics.errors import FormatError
from minigrad.interop.extra import import_extra

LARGEST = 1 << 31  # bytes of a file, which is what protobuf can hold
MOST_NODES = 1 << 20
DEEPEST = 32


def load_model(model: Any) -> Any:
    """Return the ModelProto of a path, of bytes, or itself; FormatError for anything else."""
    onnx = import_extra("onnx", extra="onnx")
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
        _read_external(proto, os.path.dirname(os.path.abspath(os.fspath(model))))
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


def _read_external(model: Any, folder: str) -> None:
    """Read external data from the model's folder, and no more than it claims."""
    for tensor in model.graph.initializer:
        if not tensor.external_data:
            continue
        info = {entry.key: entry.value for entry in tensor.external_data}
        place = os.path.realpath(os.path.join(folder, info.get("location", "")))
        inside = os.path.commonpath([os.path.realpath(folder), place]) == os.path.realpath(folder)
        name = ascii(tensor.name)[:100]
        if not inside or os.path.isabs(info.get("location", "")) or not os.path.isfile(place):
            raise FormatError("onnx_outside", name=name, location=ascii(info.get("location"))[:100])
        try:
            start, length = int(info.get("offset", 0)), int(info.get("length", -1))
        except ValueError:
            raise FormatError("onnx_outside", name=name, location=str(info)[:100]) from None
        size = os.path.getsize(place)
        length = size - start if length < 0 else length
        if start < 0 or start + length > size:
            raise FormatError("onnx_count", name=name, shape="", held=size, expected=start + length)
        with open(place, "rb") as file:
            file.seek(start)
            tensor.raw_data = file.read(length)
        del tensor.external_data[:]
        tensor.data_location = 0


def check_model(model: Any) -> Any:
    """Return the model; FormatError for missing or repeated names, cycles, or its size."""
    _check_graph(model.graph, frozenset(), 0, [0])
    _check_functions(model)
    return model


def _check_graph(graph: Any, outside: Set[str], depth: int, count: list[int]) -> None:
    """Raise FormatError for undefined or repeated names, also in the bodies of nodes."""
    if depth > DEEPEST:
        raise FormatError("onnx_depth", name=ascii(graph.name)[:60], most=DEEPEST)
    count[0] += len(graph.node)
    if count[0] > MOST_NODES:
        raise FormatError("onnx_size", name="graph", shape=f"{count[0]} nodes")
    inputs = [i.name for i in graph.input]
    _expect_distinct(inputs)
    stored = initializers(graph).keys() | {t.values.name for t in graph.sparse_initializer}
    topological_sort(graph.node, stored.union(inputs))
    known = outside | stored | set(inputs) | {name for node in graph.node for name in node.output}
    for node in graph.node:
        for name in node.input:
            if name and name not in known:
                raise FormatError("onnx_missing", name=ascii(name)[:100])
        for body in _bodies(node):
            _check_graph(body, known, depth + 1, count)


def initializers(graph: Any) -> dict[str, Any]:
    """Return the stored tensors of a graph by their names.

    Some exporters store one twice; FormatError if the copies differ.
    """
    found: dict[str, Any] = {}
    for tensor in graph.initializer:
        other = found.setdefault(tensor.name, tensor)
        if other is not tensor and other != tensor:
            raise FormatError("onnx_twice", name=ascii(tensor.name)[:100])
    return found


def _expect_distinct(names: Iterable[str]) -> None:
    """Raise FormatError for repeated names; empty ones, which mean no value, don't count."""
    seen: set[str] = set()
    for name in filter(None, names):
        if name in seen:
            raise FormatError("onnx_twice", name=ascii(name)[:100])
        seen.add(name)


def topological_sort(nodes: Sequence[Any], given: Iterable[str]) -> list[Any]:
    """Sort nodes so that each follows those it reads from; sorted nodes keep their order.

    ONNX demands this order of a file, but ONNX Runtime runs files without it, and tools write them.
    given: names that have a value before the first node. FormatError for nodes that form a cycle
    and for two that give the same name.
    """
    _expect_distinct([*given, *(name for node in nodes for name in node.output)])
    makers = {name: i for i, node in enumerate(nodes) for name in node.output if name}
    sorter = TopologicalSorter(
        {i: {makers[x] for x in _names_read(node) if x in makers} for i, node in enumerate(nodes)}
    )
    try:
        sorter.prepare()
    except CycleError as error:
        path = [label(nodes[i]) for i in error.args[1]]
        raise FormatError("onnx_cycle", op=path[0], path=" → ".join(path)[:200]) from None
    ready, ordered = list(sorter.get_ready()), []
    heapify(ready)
    while ready:
        i = heappop(ready)
        ordered.append(nodes[i])
        sorter.done(i)
        for other in sorter.get_ready():
            heappush(ready, other)
    return ordered


def _names_read(node: Any) -> set[str]:
    """Return the names that a node reads, including outer names that its bodies read."""
    names = set(node.input)
    for body in _bodies(node):
        own = {x.name for x in (*body.input, *body.initializer)}
        own.update(name for inner in body.node for name in inner.output)
        inside = {name for inner in body.node for name in _names_read(inner)}
        names |= (inside | {x.name for x in body.output}) - own
    return names


def _bodies(node: Any) -> Iterator[Any]:
    """Yield the graphs that a node holds: the branches of an If, the body of a loop."""
    for attribute in node.attribute:
        yield from [attribute.g] if attribute.HasField("g") else attribute.graphs


def label(node: Any) -> str:
    """Return a node's name for messages: its own, or that of its first output."""
    return ascii(node.name or next(iter(node.output), node.op_type))[:100]


def _check_functions(model: Any) -> None:
    """Raise FormatError for functions with equal names and for recursive ones."""
    functions = {(f.domain, f.name): f for f in model.functions}
    _expect_distinct(f"{f.domain}.{f.name}" for f in model.functions)
    calls = {key: set(_called_operators(f.node)) & functions.keys() for key, f in functions.items()}
    try:
        TopologicalSorter(calls).prepare()
    except CycleError as error:
        path = [ascii(name)[:60] for _, name in reversed(error.args[1])]
        raise FormatError("onnx_cycle", op=path[0], path=" → ".join(path)[:200]) from None


def _called_operators(nodes: Iterable[Any]) -> Iterator[tuple[str, str]]:
    """Yield the domain and name of each operator that nodes call, also in their bodies."""
    for node in nodes:
        yield node.domain, node.op_type
        for body in _bodies(node):
            yield from _called_operators(body.node)


def attributes(node: Any) -> dict[str, Any]:
    """Return a node's attributes by name: numbers, strings, lists of them, tensors, graphs."""
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

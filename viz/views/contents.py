"""The contents of a graph's file, as a table."""

from __future__ import annotations

import importlib
import json
import os
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from viz.views.tables import Table
from viz.words.text import ROWS, row

__all__ = ["contents"]


class Contents(Table):
    """The nodes in a file, as a table.

    `parts`: its operators, arrays, inputs and outputs by name, and its version.
    """

    def __init__(self, files: Sequence[str], nodes: Sequence[Sequence[Any]], parts: Any) -> None:
        head = [ROWS[f"contents_{key}"] for key in ("number", "operator", "name", "reads")]
        cells = [[number, *fields] for number, fields in enumerate(nodes)]
        fields = [tuple((str(x) or "–",) * 2 for x in line) for line in cells]
        super().__init__(row("contents", names=", ".join(files)), head, fields)
        *names, version = parts
        self.parts = [*(" ".join(part) for part in names), str(version)]


def contents(path: str | os.PathLike[str]) -> Contents:
    """Show what the file of a saved graph or an ONNX model contains: its nodes, in order.

    Python's own `zipfile` and `json` read a saved graph, the package `onnx` the other.

    >>> import minigrad as mg, viz
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "double.graph"
    >>> with mg.Graph():
    ...     x = mg.placeholder("x", shape=())
    ...     mg.build_graph(x, x + x).save(path)
    >>> print(contents(path))
    in the file: graph.json
    number | operator | name | reads
    0 | Placeholder | x | –
    1 | Add | Add | 0, 0
    """
    if Path(path).suffix == ".onnx":
        return _onnx_contents(path)
    with zipfile.ZipFile(path) as file:
        files, document = file.namelist(), json.loads(file.read("graph.json"))
    main = document["graphs"][0]
    nodes, names = main["nodes"], [node["name"] for node in main["nodes"]]
    reads = [", ".join(map(str, node.get("inputs", []))) for node in nodes]
    rows = [(node["op"], node["name"], read) for node, read in zip(nodes, reads, strict=True)]
    computed = [node["op"] for node in nodes if "inputs" in node]
    held = [node["name"] for node in nodes if "value" in node.get("attrs", {})]
    ends = ([names[i] for i in main[key]] for key in ("inputs", "outputs"))
    return Contents(files, rows, (computed, held, *ends, document["version"]))


def _onnx_contents(path: str | os.PathLike[str]) -> Contents:
    model = importlib.import_module("onnx").load(os.fspath(path))
    graph = model.graph
    rows = [(node.op_type, node.name, ", ".join(node.input)) for node in graph.node]
    named = ([x.name for x in part] for part in (graph.initializer, graph.input, graph.output))
    parts = [node.op_type for node in graph.node], *named, model.opset_import[0].version
    return Contents([Path(path).name], rows, parts)

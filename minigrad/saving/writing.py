"""Writing a graph to a file: its nodes as JSON, one a line, and its arrays.

The document holds
    format, version   what this is
    lines             the user's lines that defined the nodes: [file or cell, number, text]
    graphs            inner graphs (branches, bodies of loops) before those that hold them; the
                      last one is the graph that was saved. Each has `nodes` in an order in which
                      they can be computed, and its inputs, outputs and effects by number
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from typing import Any

from minigrad.core import REGISTRY, Array, Attrs, Op
from minigrad.diagnostics import foreign
from minigrad.diagnostics.arguments import expect
from minigrad.diagnostics.errors import FormatError, UninitializedError
from minigrad.diagnostics.source import here
from minigrad.ops import state
from minigrad.saving import archive
from minigrad.saving.encoding import DEEPEST, Encoder, claim, text
from minigrad.static import Graph, bodies_of, close_over

__all__ = ["save"]

FORMAT, VERSION = "minigrad graph", 1
MOST_NODES = 1_000_000  # inner graphs counted wherever they stand


def save(graph: Graph, path: str | os.PathLike[str], session: Any = None) -> None:
    """Write the graph into one file: JSON and arrays, no code; `mg.load_graph` reads it.

    Variables are saved with their initial values, or with those that `session` holds now. Of
    a traced function all is saved that it read from around: parameters and buffers as
    variables with their present values, other tensors as constants; what it returned becomes
    a list of outputs. The same graph gives the same bytes. An older file of that name stays
    whole until the new one is complete. Raises FormatError for what is no data, such as a
    function in an attribute; ArgumentError for what is no graph.

    >>> import minigrad as mg
    >>> import tempfile
    >>> with mg.Graph(), tempfile.TemporaryDirectory() as folder:
    ...     x = mg.placeholder("x", shape=())
    ...     mg.save(mg.build_graph(x, x * x), f"{folder}/square.graph")
    ...     mg.load_graph(f"{folder}/square.graph")
    <Graph: 2 nodes, 1 outputs, frozen>
    """
    expect(isinstance(graph, Graph), save, foreign.OF_GRAPHS["save"].shown)
    graph.verify()
    values = None if session is None else session.variables
    try:
        document, arrays = _Writer(values).document(close_over(graph))
    except FormatError as error:
        raise FormatError("format_save", reason=error.pair, ran=here()) from None
    archive.write(path, document, arrays)


class _Writer:
    """A writer that numbers a file's contents and writes them."""

    def __init__(self, values: Mapping[Any, Array] | None) -> None:
        self.values = values
        self.encoder = Encoder()
        self.lines: dict[tuple[str, int, str], int] = {}
        self.places: dict[tuple[Any, int], int] = {}
        self.graphs: dict[int, int] = {}

    def document(self, graph: Graph) -> tuple[str, list[Array]]:
        graphs = [self._graph(g) for g in self._ordered(graph)]
        head = f'"format": {json.dumps(FORMAT)}, "version": {VERSION}'
        lines = _listed(json.dumps(line) for line in self.lines)
        whole = f'{{{head},\n"lines": {lines},\n"graphs": {_listed(graphs)}}}\n'
        if len(whole) > archive.LONGEST_DOCUMENT:
            what, limit = f"bytes of {archive.DOCUMENT}", archive.LONGEST_DOCUMENT
            raise FormatError("format_limit", what=what, count=len(whole), limit=limit)
        return whole, self.encoder.arrays

    def _ordered(self, graph: Graph) -> list[Graph]:
        """Return the inner graphs, each once and before those that hold it, then the graph."""
        order: list[Graph] = []
        extent = Extent()
        waiting: list[tuple[Graph, bool]] = [(graph, False)]
        while waiting:
            g, visited = waiting.pop()
            if id(g) in self.graphs:
                continue
            if not visited:
                inner = [x for node in g.nodes for x in bodies_of(node.attrs).values()]
                waiting += [(g, True), *((x, False) for x in reversed(inner))]
                continue
            for node in g.nodes:
                extent.node(node.attrs)
            extent.close(g)
            self.graphs[id(g)] = len(order)
            order.append(g)
        return order

    def _graph(self, graph: Graph) -> str:
        number = {node: i for i, node in enumerate(graph.nodes)}
        names = graph.labels
        nodes = _listed(json.dumps(self._node(n, number, names)) for n in graph.nodes)
        facts = {
            "inputs": [number[x] for x in graph.inputs],
            "outputs": [number[x] for x in graph.outputs],
            "effects": [number[x] for x in graph.effects],
            "single": graph.single,
            "frozen": graph.frozen,
        }
        return f'{json.dumps(facts)[:-1]}, "nodes": {nodes}}}'

    def _node(self, node: Any, number: dict[Any, int], names: Mapping[Any, str]) -> dict[str, Any]:
        about: dict[str, Any] = {"name": node.name, "op": node.op}
        op: Op = node.op
        if REGISTRY.get(op.name) is not op:
            raise FormatError("format_operator", op=op.name)
        try:
            record: dict[str, Any] = {"op": op.name, "name": text(names[node])}
            if node.inputs:
                record["inputs"] = [number[x] for x in node.inputs]
            if node.controls:
                record["controls"] = [number[x] for x in node.controls]
        except KeyError as error:
            other = getattr(error.args[0], "name", "?")
            raise FormatError("format_foreign", other=other, **about) from None
        if attrs := self._attrs(node, number):
            record["attrs"] = attrs
        if node.scope:
            record["scope"] = text(str(node.scope))  # without what a drawing knows of its calls
        record["line"] = self._line(node)
        record["value"] = claim(node.spec)
        return record

    def _attrs(self, node: Any, number: dict[Any, int]) -> dict[str, Any]:
        attrs = dict(node.attrs)
        if node.op in (state.variable, state.constant):
            del attrs["shape"], attrs["dtype"]  # those of the value
        if node.op is state.variable and self.values is not None:
            value = self.values.get(node, node.attrs["value"] if "role" in node.attrs else None)
            if value is None:
                shape = node.shape
                raise UninitializedError(
                    "uninitialized", name=node.name, shape=shape, defined=node.where, ran=here()
                )
            attrs["value"] = value
        encoded = {}
        for key, value in sorted(attrs.items()):
            try:
                encoded[key] = self.encoder.value(value, number, self.graphs)
            except (TypeError, KeyError):
                about = {"name": node.name, "op": node.op, "attr": key}
                brief = repr(value)[:60]
                raise FormatError("format_no_data", value=brief, **about) from None
        return encoded

    def _line(self, node: Any) -> int:
        """Return the number of the user's line; many nodes share one."""
        key = node.code, node.lasti
        if key not in self.places:
            where = node.where
            line = _storable(where.file), where.lineno, _storable(where.text)
            self.places[key] = self.lines.setdefault(line, len(self.lines))
        return self.places[key]


class Extent:
    """The number of nodes, with inner graphs counted at each use, and the nesting depth.

    FormatError when they are too many: a graph that holds another twice, which holds another
    twice, is short as a file and endless as a text.
    """

    def __init__(self) -> None:
        self._total = self._size = self._height = 0
        self._done: dict[int, tuple[int, int]] = {}

    def node(self, attrs: Attrs) -> None:
        """Count a node of the present graph, with the graphs among its attributes."""
        inner = [self._done[id(g)] for g in bodies_of(attrs).values()]
        size = 1 + sum(size for size, _ in inner)
        self._total += size
        self._size += size
        self._height = max(self._height, *(height for _, height in inner), 0)
        if self._total > MOST_NODES:
            raise FormatError("format_limit", what="nodes", count=self._total, limit=MOST_NODES)
        if self._height >= DEEPEST:
            raise FormatError("format_limit", what="depth", count=self._height + 1, limit=DEEPEST)

    def close(self, graph: Graph) -> None:
        """Complete the current graph; what follows belongs to the next one."""
        self._done[id(graph)] = self._size, self._height + 1
        self._size = self._height = 0


def _storable(words: str) -> str:
    return words[:200].encode(errors="replace").decode()


def _listed(rows: Iterable[str]) -> str:
    """Write a JSON list with each item on its own line."""
    return "[\n" + ",\n".join(rows) + "\n]"

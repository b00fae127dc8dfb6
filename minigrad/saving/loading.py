"""Loading a graph from a file: read as data, fully checked, built the ordinary way.

Every node goes through `Graph.add`, so shapes and data types are inferred again and checked against
what the file claims. Nothing in the file is executed, and a file that is refused leaves nothing
behind.
"""

from __future__ import annotations

import os
from collections.abc import Sequence, Set
from typing import Any

import numpy as np

from minigrad.control import wellformed as wellformed  # branches and loops, which files may hold
from minigrad.core import REGISTRY, Attrs, Op, context
from minigrad.diagnostics import files
from minigrad.diagnostics.errors import FormatError, GraphError
from minigrad.diagnostics.messages import fill
from minigrad.diagnostics.source import SavedLine, here
from minigrad.ops import state
from minigrad.saving.archive import Archive
from minigrad.saving.encoding import Decoder, claim, items, text, whole
from minigrad.saving.wellformed import possible, problem
from minigrad.saving.writing import FORMAT, VERSION, Extent
from minigrad.static import Graph, Node
from minigrad.static import fused as fused

__all__ = ["load_graph"]

# What shape rules and `infer` raise for attributes that they were not made for.
_SENSELESS = (TypeError, ValueError, LookupError, ArithmeticError, AttributeError, MemoryError)
REMEDIES = {
    "format_newer": "format_update",
    "format_operator": "format_import",
    "format_irregular": "format_copy",
}


def load_graph(path: str | os.PathLike[str]) -> Graph:
    """Load a graph that `mg.save` wrote; it runs without the code that built it.

    Its text, its hash and its results are those of the graph that was saved; of a traced function
    it takes the arguments alone, and parameters are variables. Its nodes can be built upon
    (`mg.gradients(graph.outputs[0], graph.inputs)`, then `mg.build_graph`), as those of any graph
    from `build_graph`; the default graph is not touched. Raises FormatError, with the reason, for
    a file that is damaged, of a newer version, no file, or not what it claims; then nothing is
    loaded.

    >>> import minigrad as mg
    >>> import tempfile
    >>> with mg.Graph():
    ...     x = mg.placeholder("x", shape=(None, 2))
    ...     graph = mg.build_graph(x, x * x + 3)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     graph.save(f"{folder}/square.graph")
    ...     loaded = mg.load_graph(f"{folder}/square.graph")
    >>> loaded.text() == graph.text()
    True
    >>> mg.run(loaded, {"x": [[1, 2]]}).tolist()
    [[4.0, 7.0]]
    """
    scope, context.now.scope = context.now.scope, ""
    try:
        with files.opened(path) as file:
            kind = files.kind_of(os.fstat(file.fileno()))
            if kind is not None:
                raise FormatError("format_irregular", kind=kind)
            return _Loader(Archive(file)).graph()
    except FormatError as error:
        remedy = fill(REMEDIES.get(error.key, "format_again"))
        about: dict[str, Any] = {"reason": error.pair, "remedy": remedy, "ran": here()}
        raise FormatError("format_load", path=os.fspath(path), **about) from None
    finally:
        context.now.scope = scope


_DOCUMENT = frozenset(("format", "version", "lines", "graphs"))
_GRAPH = frozenset(("inputs", "outputs", "effects", "single", "frozen", "nodes"))
_NODE = frozenset(("op", "name", "line", "value"))
_KEPT = frozenset(("value", "role"))  # of a variable: shape and data type are those of the value
_FULL_NODE = _NODE | {"inputs", "controls", "attrs", "scope"}


def record(x: Any, required: Set[str], possible: Set[str]) -> dict[str, Any]:
    """Return a JSON object; FormatError unless it has these keys and no others."""
    if type(x) is not dict or not required <= x.keys() <= possible:
        keys = sorted(map(str, x))[:20] if type(x) is dict else type(x).__name__
        expected = f"{{{', '.join(sorted(required))}}}"
        raise FormatError("format_value", expected=expected, value=ascii(keys)[:100])
    return x


def _boolean(x: Any) -> bool:
    if type(x) is not bool:
        raise FormatError("format_value", expected="true, false", value=ascii(x)[:60])
    return x


def _chosen(numbers: Any, nodes: Sequence[Node]) -> tuple[Node, ...]:
    return tuple(nodes[whole(i, len(nodes))] for i in items(numbers))


class _Loader:
    """The graphs of one archive, inner ones first."""

    def __init__(self, archive: Archive) -> None:
        self.archive = archive
        self.decoder = Decoder(archive.array)
        self.lines: list[SavedLine] = []
        self.names: set[str] = set()  # of the graph being read
        self.graphs: list[Graph] = []
        self.extent = Extent()

    def graph(self) -> Graph:
        document = self.archive.document()
        self._expect_version(document)
        record(document, _DOCUMENT, _DOCUMENT)
        self.lines = [self._line(*items(line, 3)) for line in items(document["lines"])]
        for each in items(document["graphs"]):
            self.graphs.append(self._graph(each))
        if not self.graphs:
            raise FormatError("format_value", expected="graph", value="[]")
        self.archive.finish()
        return self.graphs[-1]

    @staticmethod
    def _expect_version(document: Any) -> None:
        kind = document.get("format") if type(document) is dict else None
        if kind != FORMAT:
            raise FormatError("format_value", expected=FORMAT, value=ascii(kind)[:60])
        version = whole(document.get("version"))
        if version > VERSION:
            raise FormatError("format_newer", version=version, known=VERSION)
        if version < VERSION:
            raise FormatError("format_value", expected=str(VERSION), value=str(version))

    @staticmethod
    def _line(file: Any, number: Any, words: Any) -> SavedLine:
        return SavedLine(text(file), whole(number), text(words))

    def _graph(self, given: Any) -> Graph:
        facts = record(given, _GRAPH, _GRAPH)
        home = Graph()  # stays open, so that gradients can be built
        nodes: list[Node] = []
        self.names = set()
        waiting = items(facts["nodes"])[::-1]
        facts["nodes"].clear()  # so that each record is free once its node is built
        while waiting:
            each = waiting.pop()
            try:
                nodes.append(self._node(home, nodes, each))
            except FormatError as error:
                if error.key == "format_operator":
                    raise
                name = ascii(each.get("name") if type(each) is dict else None)[:100]
                about: dict[str, Any] = {"index": len(nodes), "name": name, "reason": error.pair}
                raise FormatError("format_node", **about) from None
        graph = _with_ends(home, facts, nodes)
        self.extent.close(graph)
        return graph

    def _node(self, home: Graph, nodes: list[Node], given: Any) -> Node:
        facts = record(given, _NODE, _FULL_NODE)
        op = REGISTRY.get(text(facts["op"]))
        if op is None:
            raise FormatError("format_operator", op=ascii(facts["op"])[:100])
        operands = _chosen(facts.get("inputs", []), nodes)
        attrs = self._attrs(op, operands, facts.get("attrs", {}), nodes)
        name = text(facts["name"])
        if not name or name in self.names:
            raise FormatError("format_name", name=ascii(name)[:100])
        self.names.add(name)
        node = _added(home, op, operands, attrs, name)
        if op is state.run_counter:
            home._counter = home._counter if "layer" in attrs else node
        node.controls = _chosen(facts["controls"], nodes) if "controls" in facts else ()
        node.scope = text(facts.get("scope", ""))
        node.code, node.lasti = self.lines[whole(facts["line"], len(self.lines))], 0
        if claim(node.spec) != facts["value"]:
            claimed = ascii(facts["value"])[:100]
            raise FormatError("format_claim", claimed=claimed, found=str(claim(node.spec)))
        return node

    def _attrs(self, op: Op, operands: Sequence[Node], given: Any, nodes: list[Node]) -> Attrs:
        if type(given) is not dict:
            raise FormatError("format_value", expected="{...}", value=ascii(given)[:60])
        named = nodes if op is state.initialize else ()
        attrs = {k: self.decoder.value(v, named, self.graphs) for k, v in given.items()}
        if op in (state.variable, state.constant) and {"value"} <= attrs.keys() <= _KEPT:
            value = attrs["value"]
            if isinstance(value, (np.ndarray, np.generic)):
                attrs = {**state.valued(value), **attrs}
        self.extent.node(attrs)
        found = problem(op, operands, attrs)
        if found is not None:
            raise FormatError("format_call", op=op.name, problem=found)
        return attrs


def _added(home: Graph, op: Op, operands: Sequence[Node], attrs: Attrs, name: str) -> Node:
    """Add the node; FormatError if the operator's own rules refuse it."""
    try:
        node = home.add(op, operands, attrs, name)
    except GraphError as error:
        error.defined = None
        raise FormatError("format_rule", reason=error.pair) from None
    except _SENSELESS as error:
        raise FormatError("format_call", op=op.name, problem=ascii(error)[:100]) from None
    if not possible(node.spec):
        raise FormatError("format_call", op=op.name, problem=ascii(attrs)[:100])
    return node


def _with_ends(home: Graph, facts: dict[str, Any], nodes: list[Node]) -> Graph:
    """Return the graph with its ends; a frozen one with outputs leaves its home graph open."""
    ends = [_chosen(facts[key], nodes) for key in ("inputs", "outputs", "effects")]
    if any(x.op is not state.placeholder for x in ends[0]) or len({*ends[0]}) < len(ends[0]):
        names = ", ".join(ascii(x.name)[:50] for x in ends[0])
        raise FormatError("format_value", expected="inputs", value=names[:100])
    graph = Graph() if _boolean(facts["frozen"]) and ends[1] else home
    graph._nodes = nodes
    graph.inputs, graph.outputs, graph.effects = ends
    graph.single = _boolean(facts["single"])
    if facts["frozen"]:
        graph.freeze()
    return graph

"""In-place marking: which results overwrite an operand, which can halve the memory."""

from __future__ import annotations

from collections.abc import Mapping

from minigrad.passes.layout import RESHAPES, SOURCES
from minigrad.passes.regions import region_of
from minigrad.passes.rewrite import Change, Rewrite, frozen_graph, in_pipeline
from minigrad.static import Graph, Node
from minigrad.static.fused import FUSED

__all__ = ["mark_in_place"]


@in_pipeline(110)
def mark_in_place(graph: Graph) -> tuple[Graph, list[Change]]:
    """Let results overwrite an operand that nothing reads afterwards, element by element.

    The graph computes what it did; `graph.in_place` says for such nodes which operand it is, and
    the plan gives both the same memory. Later passes forget it, so it comes last.

    >>> import minigrad as mg
    >>> with mg.Graph():
    ...     x = mg.placeholder("x", shape=(3, 4))
    ...     graph = mg.build_graph(x, mg.sum(mg.tanh(mg.exp(x).sum(axis=0))))
    >>> marked = graph.optimize(["mark_in_place"])
    >>> [(node.name, x.name) for node, x in marked.in_place.items()]
    [('Tanh', 'Sum')]
    """
    if all(node.spec.shape == () for node in graph.nodes):
        return graph, []
    root = _roots(graph)
    last = _last_readers(graph, root)
    found: dict[Node, Node] = {}
    rewrite = Rewrite(graph)
    for node in graph.nodes:
        for x in node.inputs:
            fits = x.spec.shape is not None and x.spec == node.spec and x.spec.shape != ()
            if fits and last.get(x) is node and _reads_before_it_writes(node, x, root):
                found[node] = x
                rewrite.note("in_place", [x], [node], "pass_in_place", name=x.name)
                break
    if not found:
        return graph, []
    marked = frozen_graph(graph.nodes, graph.inputs, graph.outputs, graph.effects, graph.single)
    marked.in_place.update(found)
    return marked, rewrite.changes


mark_in_place.outermost = True  # type: ignore[attr-defined]  # bodies run without a plan


def _roots(graph: Graph) -> dict[Node, Node]:
    """Map each node to the node whose elements it shows: another one for a change of shape."""
    root: dict[Node, Node] = {}
    for node in graph.nodes:
        root[node] = root[node.inputs[0]] if node.op in RESHAPES else node
    return root


def _last_readers(graph: Graph, root: Mapping[Node, Node]) -> dict[Node, Node | None]:
    """Map each value to its last reader; None if it must stay or isn't ours."""
    last: dict[Node, Node | None] = {}
    for node in graph.nodes:
        last.update((root[x], node) for x in node.inputs)
    for node in graph.nodes:
        if node.op in SOURCES or (node.op.effect and node.op is not FUSED):
            last[node] = None
        if root[node] is not node:
            last[node] = None  # whose life it is depends on others
    last.update((root[x], None) for x in (*graph.outputs, *graph.effects))
    return last


def _reads_before_it_writes(node: Node, x: Node, root: Mapping[Node, Node]) -> bool:
    """Return whether each element of x is read before that of the result is written."""
    if sum(root[y] is root[x] for y in node.inputs) != 1:
        return False
    if node.op is not FUSED:
        return node.op.ufunc is not None
    if node.attrs["kind"] != "elementwise":
        return False
    region = region_of(node.attrs["body"])
    (number,) = [i for i, y in enumerate(node.inputs) if y is x]
    reads = [
        i
        for i, step in enumerate(region.steps)
        if any(p.kind == "input" and p.number == number for p in step.sources)
    ]
    writes = [i for i, step in enumerate(region.steps) if step.target.kind == "output"]
    if not reads or not writes or region.copies:
        return False
    first, end = min(writes), max(reads)
    return end < first or (end == first and region.steps[end].node.op.ufunc is not None)

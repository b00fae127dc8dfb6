"""Constant folding, removal of duplicate computations, and dead code elimination."""

from __future__ import annotations

from minigrad.core import run_kernel
from minigrad.diagnostics.errors import GraphError
from minigrad.ops import state
from minigrad.passes.rewrite import Change, Rewrite, in_pipeline, key_of, needed_nodes
from minigrad.static import Graph, Node

__all__ = ["fold_constants", "merge_common", "remove_dead"]

LARGEST = 1 << 16  # elements; a larger constant would cost more memory than it saves time


@in_pipeline(40)
def fold_constants(graph: Graph) -> tuple[Graph, list[Change]]:
    """Compute whatever depends on constants alone, with the kernels that the run would use.

    >>> import minigrad as mg
    >>> with mg.Graph():
    ...     x = mg.placeholder("x", (3, 4))
    ...     graph = mg.build_graph(x, x * (mg.constant(2.0) + 1))
    >>> print(graph.optimize(["fold_constants", "remove_dead"]).text())
    %0 = Placeholder "x" : float32[3, 4]
    %1 = Constant 3.0 : float32[]
    %2 = Mul(%0, %1) : float32[3, 4]
    return %2
    """
    rewrite, constant = Rewrite(graph), state.constant

    def rule(node: Node, inputs: tuple[Node, ...]) -> Node | None:
        op = node.op
        for i, x in enumerate(inputs):
            if x.op is not constant and not (i in op.shape_only and _is_known(x)):
                return None
        if op.effect or op.impure or not inputs or node.controls:
            return None
        shape = node.spec.shape
        size = 1
        for n in shape or ():
            size *= n if isinstance(n, int) else LARGEST + 1
        if shape is None or size > LARGEST:
            return None
        operands = [x.attrs["value"] if x.op is constant else x.spec for x in inputs]
        try:
            folded = rewrite.constant(run_kernel(op, operands, node.attrs), node)
        except GraphError:  # it fails when it is run, and only then
            return None
        rewrite.note("folded", [node], [folded], "pass_folded")
        return folded

    return rewrite.walk(rule), rewrite.changes


def _is_known(x: Node) -> bool:
    return x.spec.shape is not None and all(isinstance(n, int) for n in x.spec.shape)


@in_pipeline(70)
def merge_common(graph: Graph) -> tuple[Graph, list[Change]]:
    """Compute the same thing once: same operator, same operands, same attributes.

    >>> import minigrad as mg
    >>> with mg.Graph():
    ...     x = mg.placeholder("x", (3, 4))
    ...     graph = mg.build_graph(x, mg.exp(x) * mg.exp(x))
    >>> print(graph.optimize(["merge_common"]).text())
    %0 = Placeholder "x" : float32[3, 4]
    %1 = Exp(%0) : float32[3, 4]
    %2 = Mul(%1, %1) : float32[3, 4]
    return %2
    """
    rewrite = Rewrite(graph)
    seen: dict[object, Node] = {}

    def rule(node: Node, inputs: tuple[Node, ...]) -> Node | None:
        op = node.op
        if op.impure or (op.effect and op is not state.constant) or node.controls:
            return None
        key = key_of(node, inputs)
        first = seen.get(key)
        if first is None:
            first = seen[key] = rewrite.keep(node, inputs)
        elif op is not state.constant:
            rewrite.note("merged", [node], [first], "pass_merged", name=first.name)
        return first

    return rewrite.walk(rule), rewrite.changes


@in_pipeline(80, 100)
def remove_dead(graph: Graph) -> tuple[Graph, list[Change]]:
    """Remove nodes that lead to no output and have no effect.

    >>> import minigrad as mg
    >>> with mg.Graph():
    ...     x = mg.placeholder("x", (3, 4))
    ...     graph = mg.build_graph(x, x * 1)
    >>> print(graph.optimize(["simplify", "remove_dead"]).text())
    %0 = Placeholder "x" : float32[3, 4]
    return %0
    """
    rewrite = Rewrite(graph)
    needed = needed_nodes(graph)
    if len(needed) == len(graph.nodes):
        return graph, []
    for node in graph.nodes:
        if node in needed:
            rewrite.put(node, node)
        else:
            rewrite.note("removed", [node], [], "pass_dead")
    return rewrite.finish(), rewrite.changes

"""Find where an error came from: the nodes in its traceback, and which of them failed.

The frames of a traceback keep their variables. What the engine was working on when it stopped is
found there, so that nothing has to be recorded in advance.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from traceback import walk_tb
from types import FrameType
from typing import Any

from minigrad.core import BaseNode, Op
from minigrad.diagnostics.errors import GraphError
from minigrad.dynamic.tensor import Tensor
from minigrad.static import Graph, Node, ancestors
from viz.picture.boxes import Picture, PictureEdge, PictureNode
from viz.picture.picture import graph_picture, picture


@dataclass(frozen=True)
class Failure:
    """The graph as far as there was one, the box that failed, and what had run before."""

    picture: Picture | None
    failed: str = ""
    ran: frozenset[str] = frozenset()
    waits: frozenset[str] = frozenset()


def frames_of(error: BaseException) -> list[FrameType]:
    """Return the frames that the error passed through, the innermost first."""
    return [frame for frame, _ in walk_tb(error.__traceback__)][::-1]


def failure(error: BaseException, names: Mapping[int, str]) -> Failure:
    """Find in the traceback a run that stopped, an operator that failed to build, or a tape."""
    frames = [frame.f_locals for frame in frames_of(error)]
    node = failing_node(error)
    if node is not None:
        return _stopped(node, frames, names)
    refused = next(_refused(frames), None)
    if refused is not None:
        return _failed_graph(*refused, error, names)
    found = _newest_graph(frames, names)
    # An error of Python's own says nothing about the graph that happened to be there.
    return found if isinstance(error, GraphError) else replace(found, failed="")


def failing_node(error: BaseException) -> Node | None:
    """Return the node that an executor was running, if the error was defined there."""
    frames = [frame.f_locals for frame in frames_of(error)]
    where = error.defined if isinstance(error, GraphError) else None
    for local in frames:
        node = local.get("node")
        if isinstance(node, Node) and (where is None or node.where == where):
            return node
    return None


def _stopped(node: Node, frames: Sequence[Mapping[str, Any]], names: Mapping[int, str]) -> Failure:
    """Return the failure of a run of a graph that stopped at this node."""
    outputs = next(_outputs(frames), (node,))
    nodes = ancestors([*outputs, node])
    drawn = graph_picture(nodes, set(outputs), names)
    ran = {drawn.ids[x] for x in _finished_nodes(frames) if x in drawn.ids}
    failed = drawn.ids[node]
    rest = {n.id for n in drawn.nodes} - ran - {failed}
    return Failure(drawn, failed, frozenset(ran), frozenset(rest))


def _outputs(frames: Sequence[Mapping[str, Any]]) -> Iterator[tuple[Node, ...]]:
    """Yield the outputs to compute, from the outermost frame that knows them."""
    for local in reversed(frames):
        for value in (local.get("graph"), local.get("self")):
            outputs = getattr(value, "outputs", None) or getattr(
                getattr(value, "graph", None), "outputs", None
            )
            if outputs and all(isinstance(x, Node) for x in outputs):
                yield tuple(outputs)


def _finished_nodes(frames: Sequence[Mapping[str, Any]]) -> list[BaseNode]:
    """Return the nodes whose steps had finished."""
    for local in frames:
        step, steps = local.get("step"), getattr(local.get("self"), "steps", None)
        if step is not None and isinstance(steps, list) and any(s is step for s in steps):
            return [s.node for s in steps[: [s is step for s in steps].index(True)]]
    return []


def _refused(frames: Sequence[Mapping[str, Any]]) -> Iterator[tuple[Op, list[Any]]]:
    """Yield an operator that could not be applied, and its operands."""
    for local in frames:
        for key in ("inputs", "operands", "tensors"):
            op, given = local.get("op"), local.get(key)
            listed = list(given) if isinstance(given, (list, tuple)) else []
            if isinstance(op, Op) and any(isinstance(x, (Tensor, Node)) for x in listed):
                yield op, listed


def _failed_graph(
    op: Op, operands: list[Any], error: BaseException, names: Mapping[int, str]
) -> Failure:
    """Return the graph of the operands, with a box for the operator that was never added to it."""
    known = [x for x in operands if isinstance(x, (Tensor, Node))]
    kind = Node if isinstance(known[0], Node) else Tensor
    drawn = picture([x for x in known if isinstance(x, kind)], names)
    nodes = tuple(replace(n, is_output=False) for n in drawn.nodes)
    keys = [x.creator or x if isinstance(x, Tensor) else x for x in known]
    inputs = tuple(drawn.ids[key] for key in keys if key in drawn.ids)
    line, about = getattr(getattr(error, "defined", None), "label", ""), (op.name, "", "?")
    box = PictureNode("failed", "operator", *about, inputs=inputs, line=line, title=op.title)
    edges = [PictureEdge(f"x{k}", source, box.id, k) for k, source in enumerate(inputs)]
    whole = Picture((*nodes, box), (*drawn.edges, *edges), drawn.kind, drawn.ids)
    return Failure(whole, box.id, frozenset(n.id for n in nodes if kind is Tensor))


def _newest_graph(frames: Sequence[Mapping[str, Any]], names: Mapping[int, str]) -> Failure:
    """Return the newest tensor or node in a frame, with all that it depends on."""
    for local in frames:
        tensors = [x for x in local.values() if isinstance(x, Tensor)]
        ends = [(x.creator.order, i) for i, x in enumerate(tensors) if x.creator is not None]
        if ends:
            newest_tensor = tensors[max(ends)[1]]
            drawn = picture(newest_tensor, names)
            return Failure(drawn, drawn.ids[newest_tensor.creator])
        nodes = [x for x in local.values() if isinstance(x, Node)]
        graphs = [x for x in local.values() if isinstance(x, Graph) and x.nodes]
        if nodes:
            newest = max(nodes, key=lambda n: n.order)
            drawn = picture(newest, names)
            return Failure(drawn, drawn.ids[newest])
        if graphs:
            return Failure(picture(graphs[0], names))
    return Failure(None)

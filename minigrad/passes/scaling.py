"""Where a number is multiplied in: before a product, after a sum, wherever it meets the fewest.

None of this is exact. s · (a @ b) and a @ (s · b) round differently. Even a power of two, which
rounds nothing, can be moved only as long as nothing overflows or gets too small for full
precision on the way: with b = 1e30 and s = 2³⁰ the one may be finite and the other not. Shapes
tell nothing of that, so these passes are made on request, whatever the factor is.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from minigrad import ops
from minigrad.core import Shape
from minigrad.graph import Graph, Node
from minigrad.passes.rewrite import Change, Rewrite

# They hand a factor on: f(s · x) = s · f(x).
LINEAR = (
    *(ops.sum, ops.mean, ops.sum_like, ops.transpose, ops.reshape, ops.reshape_like, ops.neg),
    *(ops.broadcast_like, ops.broadcast_to, ops.expand_dims),
)


def sink_scalars(graph: Graph) -> tuple[Graph, list[Change]]:
    """Multiply by single numbers (learning rate, 1/batch) where the fewest numbers are.

    A factor moves from the result of a product to its smaller operand, out of an operand to a
    smaller result, and along with sums and rearrangements; two factors become one. Results differ
    by rounding, and where something overflows or underflows on the way. Lengths must be known.

    >>> import minigrad as mg
    >>> with mg.Graph():
    ...     x, g = mg.placeholder("x", (64, 784)), mg.placeholder("g", (64, 10))
    ...     graph = mg.build_graph([x, g], 0.1 * mg.REGISTRY["MatMul"](x, g, transpose_a=True))
    >>> graph.optimize(["sink_scalars"]).outputs[0].inputs[1]
    <Node Mul = Mul: float32 (64, 10), no value>
    """
    changes: list[Change] = []
    for _ in range(MOST_WALKS):
        graph, more = _sunk(graph)
        if not more:
            break
        changes += more
    return graph, changes


MOST_WALKS = 16  # a factor moves by one operator in each


def _sunk(graph: Graph) -> tuple[Graph, list[Change]]:
    rewrite, readers = Rewrite(graph), _readers(graph)

    def alone(x: Node) -> bool:
        return readers.get(x, 0) == 1

    def rule(node: Node, inputs: tuple[Node, ...]) -> Node | None:
        if node.controls or any(a is not b for a, b in zip(inputs, node.inputs, strict=True)):
            return None  # its operands moved in this walk: it is its turn in the next
        better = _before(node, rewrite, alone)
        return _above(node, rewrite, alone) if better is None else better

    return rewrite.walk(rule, MOVES), rewrite.changes


MOVES = {ops.mul, ops.div, ops.matmul, *LINEAR}


def _readers(graph: Graph) -> dict[Node, int]:
    found: dict[Node, int] = {}
    for node in graph.nodes:
        for x in node.inputs:
            found[x] = found.get(x, 0) + 1
    for x in (*graph.outputs, *graph.effects):
        found[x] = found.get(x, 0) + 2
    return found


def _size(shape: Shape | None) -> int | None:
    if shape is None or not all(isinstance(n, int) for n in shape):
        return None
    return math.prod(shape)  # type: ignore[arg-type]


def _factor(node: Node) -> tuple[int, Node, Node] | None:
    """Where the number stands in a product or quotient, the number, and what it is applied to."""
    if node.op not in (ops.mul, ops.div) or node.dtype.kind != "f":
        return None
    a, b = node.inputs
    if b.spec.shape == () and a.spec.shape not in ((), None):
        return 1, b, a
    if node.op is ops.mul and a.spec.shape == () and b.spec.shape not in ((), None):
        return 0, a, b
    return None


def _applied(scale: Node, place: int, number: Node, x: Node, rewrite: Rewrite) -> Node:
    return rewrite.make(scale.op, (number, x) if place == 0 else (x, number), scale)


def _note(rewrite: Rewrite, node: Node, better: Node, number: Node, sizes: tuple[int, int]) -> None:
    fields: dict[str, Any] = {"factor": number.name, "many": sizes[0], "fewer": sizes[1]}
    rewrite.note("sunk", [node], [better], "pass_sunk", **fields)


def _before(node: Node, rewrite: Rewrite, alone: Any) -> Node | None:
    """s · f(x) as f(s · x), where x is smaller."""
    found = _factor(node)
    if found is None:
        return None
    place, number, y = found
    if y.op not in (ops.matmul, *LINEAR) or y.controls or not alone(y):
        return None
    operands = y.inputs if y.op is ops.matmul else y.inputs[:1]
    sizes = [n for x in operands if (n := _size(x.spec.shape)) is not None]
    many = _size(node.spec.shape)
    if many is None or len(sizes) < len(operands):
        return None
    i = sizes.index(min(sizes))
    if sizes[i] >= many or operands[i].dtype != node.dtype:
        return None
    inputs = list(y.inputs)
    inputs[i] = _applied(node, place, number, inputs[i], rewrite)
    better = rewrite.make(y.op, inputs, y, y.attrs)
    _note(rewrite, node, better, number, (many, sizes[i]))
    return better


def _above(node: Node, rewrite: Rewrite, alone: Any) -> Node | None:
    """f(s · x) as s · f(x), where that is smaller, or where nothing else is in the way."""
    many, after = 0, _size(node.spec.shape)
    for i, x in enumerate(node.inputs):
        found = _factor(x) if x.op in (ops.mul, ops.div) and alone(x) and not x.controls else None
        if found is None or after is None or i in node.op.shape_only:
            continue
        place, number, inner = found
        many = _size(x.spec.shape) or 0
        if node.op in (ops.mul, ops.div) and _factor(node) is not None:
            return _together(node, x, rewrite)
        if node.op not in (ops.matmul, *LINEAR) or after >= many:
            continue
        inputs = list(node.inputs)
        inputs[i] = inner
        moved = rewrite.make(node.op, inputs, node, node.attrs)
        better = _applied(x, place, number, moved, rewrite)
        _note(rewrite, node, better, number, (many, after))
        return better
    return None


def _together(node: Node, x: Node, rewrite: Rewrite) -> Node | None:
    """s · (r · x) as (s · r) · x: of single numbers there is one to multiply."""
    outer, inner = _factor(node), _factor(x)
    if outer is None or inner is None or outer[2] is not x or node.op is not x.op:
        return None
    both = rewrite.make(ops.mul, (outer[1], inner[1]), node)
    better = rewrite.make(node.op, (inner[2], both), node)
    size = _size(node.spec.shape) or 0
    _note(rewrite, node, better, both, (2 * size, size + 1))
    return better


def column_sums(graph: Graph) -> tuple[Graph, list[Change]]:
    """Sum the columns of a matrix as a product with ones, which takes a third of the time.

    The product adds in another order, so results differ by rounding; NaN and infinity stay.

    >>> import minigrad as mg
    >>> with mg.Graph():
    ...     x = mg.placeholder("x", (64, 10))
    ...     graph = mg.build_graph(x, mg.sum(x, axis=0)).optimize(["column_sums"])
    >>> graph.outputs[0]
    <Node MatMul = MatMul: float32 (10,), no value>
    """
    rewrite = Rewrite(graph)

    def rule(node: Node, inputs: tuple[Node, ...]) -> Node | None:
        (x,) = inputs
        shape = x.spec.shape
        flat = shape is not None and len(shape) == 2 and x.dtype.kind == "f"
        if not flat or shape is None or not isinstance(shape[0], int) or node.controls:
            return None
        axis = node.attrs.get("axis")
        if axis not in (0, -2, (0,), (-2,)) or node.attrs.get("keepdims") or shape[0] < 2:
            return None
        ones = rewrite.constant(np.ones(shape[0], x.dtype), node)
        product = rewrite.make(ops.matmul, (ones, x), node)
        rewrite.note("simplified", [node], [product], "pass_column_sums")
        return product

    return rewrite.walk(rule, (ops.sum,)), rewrite.changes

"""Algebra that is exact in floating-point arithmetic, NaN, infinities and −0 included.

x + 0 is not among it (−0 + 0 is +0), nor x · 0 or x − x (NaN, infinity). Such rules change bits,
and are in the table that only `fast_math` uses.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from minigrad import ops
from minigrad.core import Dim, Spec
from minigrad.ops import state
from minigrad.passes.rewrite import Change, Rewrite, in_pipeline, inexact
from minigrad.static import Graph, Node

__all__ = ["fast_math", "simplify", "tidy_shapes"]

Rule = Callable[[Node, tuple[Node, ...], Rewrite], Node | None]


def value_of(x: Node) -> float | None:
    """Return the number that a constant holds in all its elements, or None."""
    if x.op is not state.constant:
        return None
    array = np.asarray(x.attrs["value"])
    if array.size == 0 or array.dtype.kind not in "fiu":
        return None
    first = array.flat[0]
    return float(first) if array.size == 1 or bool((array == first).all()) else None


def same(a: Spec, b: Spec) -> bool:
    """Return whether a value of one spec can replace a value of the other."""
    return a.shape is not None and a.shape == b.shape and a.dtype == b.dtype


def _is_constant(x: Node, number: float) -> bool:
    value = value_of(x)
    return (
        value is not None
        and value == number
        and math.copysign(1, value) == math.copysign(1, number)
    )


NEUTRAL_RIGHT = {ops.mul: 1.0, ops.div: 1.0, ops.sub: 0.0, ops.add: -0.0, ops.pow: 1.0}
NEUTRAL_LEFT = {ops.mul: 1.0, ops.add: -0.0}


def _drop_neutral(node: Node, inputs: tuple[Node, ...], rewrite: Rewrite) -> Node | None:
    """Replace x·1, x÷1, x−0, x+(−0) and x¹ by x."""
    a, b = inputs
    op, constant = node.op, state.constant
    if b.op is constant and _is_constant(b, NEUTRAL_RIGHT[op]) and same(a.spec, node.spec):
        return a
    if a.op is constant and op in NEUTRAL_LEFT and _is_constant(a, NEUTRAL_LEFT[op]):
        return b if same(b.spec, node.spec) else None
    return None


def _drop_repeated(node: Node, inputs: tuple[Node, ...], rewrite: Rewrite) -> Node | None:
    """Replace −(−x) by x, | |x| | by |x|, relu(relu(x)) by relu(x), identity(x) by x."""
    x = inputs[0]
    if node.op is ops.identity:
        return x
    if node.op is ops.neg and x.op is ops.neg:
        return x.inputs[0]
    if node.op in (ops.abs, ops.relu) and x.op is node.op:
        return x
    if node.op is ops.abs and x.op is ops.neg:
        return rewrite.make(ops.abs, x.inputs, node)
    if node.op is ops.cast and x.dtype == node.dtype:
        return x
    return None


def _power_of_two(number: float | None) -> bool:
    """Return whether a number's inverse is exact, and far from the ends of the range."""
    if not number or not 2.0**-100 <= abs(number) <= 2.0**100:
        return False
    return math.frexp(abs(number))[0] == 0.5


def _use_cheaper_op(node: Node, inputs: tuple[Node, ...], rewrite: Rewrite) -> Node | None:
    """Replace x² by x·x, x ÷ 2ⁿ by x · 2⁻ⁿ, x + (−y) by x − y, x − (−y) by x + y."""
    a, b = inputs
    number = value_of(b) if b.op is state.constant and b.spec.shape == () else None
    if node.op is ops.pow and number == 2 and same(a.spec, node.spec):
        return rewrite.make(ops.mul, (a, a), node)
    if node.op is ops.div and _power_of_two(number):
        inverse = rewrite.constant(np.asarray(1 / (number or 1), node.dtype), node)
        return rewrite.make(ops.mul, (a, inverse), node)
    if node.op is ops.add and b.op is ops.neg:
        return rewrite.make(ops.sub, (a, b.inputs[0]), node)
    if node.op is ops.sub and b.op is ops.neg:
        return rewrite.make(ops.add, (a, b.inputs[0]), node)
    return None


def _drop_reshapes(node: Node, inputs: tuple[Node, ...], rewrite: Rewrite) -> Node | None:
    """Remove a change of shape that changes nothing, or that a later one undoes."""
    op, x = node.op, inputs[0]
    if op is not ops.transpose:
        plain = op is not ops.broadcast_like or node.attrs.get("keepdims", True)
        if plain and same(x.spec, node.spec):
            return x
    if op in (ops.reshape, ops.reshape_like) and x.op in (ops.reshape, ops.reshape_like):
        if same(x.inputs[0].spec, node.spec):
            return x.inputs[0]
        return rewrite.make(op, (x.inputs[0], *inputs[1:]), node, node.attrs)
    if op is ops.transpose and x.op is ops.transpose:
        return _transposed_twice(node, x, rewrite)
    return None


def _transposed_twice(node: Node, x: Node, rewrite: Rewrite) -> Node | None:
    if node.spec.shape is None:
        return None
    n = len(node.spec.shape)
    first, second = (
        tuple(range(n))[::-1] if a is None else tuple(i % n for i in a)
        for a in (x.attrs.get("axes"), node.attrs.get("axes"))
    )
    both = tuple(first[i] for i in second)
    if both == tuple(range(n)):
        return x.inputs[0]
    return rewrite.make(ops.transpose, x.inputs, node, {"axes": both})


def _drop_transposes(node: Node, inputs: tuple[Node, ...], rewrite: Rewrite) -> Node | None:
    """Fold a transposition into aᵀ @ b: the product reads the operand as it lies in memory."""
    attrs: dict[str, Any] = dict(node.attrs)
    operands, changed = list(inputs), False
    for i, side in enumerate(("transpose_a", "transpose_b")):
        x = operands[i]
        flat = x.op is ops.transpose and x.attrs.get("axes") in (None, (1, 0), (-1, -2))
        if flat and x.spec.shape is not None and len(x.spec.shape) == 2:
            operands[i], attrs[side] = x.inputs[0], not attrs.get(side, False)
            changed = True
    if not changed:
        return None
    return rewrite.make(ops.matmul, operands, node, attrs)


def _drop_zeros(node: Node, inputs: tuple[Node, ...], rewrite: Rewrite) -> Node | None:
    """Replace x + 0 by x, x · 0 and x − x by 0: with fast_math only (NaN, infinity, −0)."""
    a, b = inputs
    if node.op is ops.add and value_of(b) == 0 and same(a.spec, node.spec):
        return a
    if node.op is ops.add and value_of(a) == 0 and same(b.spec, node.spec):
        return b
    zero = node.op is ops.mul and 0 in (value_of(a), value_of(b))
    known = node.spec.shape is not None and not any(isinstance(n, Dim) for n in node.spec.shape)
    if (zero or (node.op is ops.sub and a is b)) and known:
        return rewrite.constant(np.zeros(node.spec.shape or (), node.dtype), node)
    return None


# Each row: the operators a rule looks at, the rule, and the reason it gives.
Table = tuple[tuple[tuple[Any, ...], Rule, str], ...]
EXACT: Table = (
    ((ops.mul, ops.div, ops.sub, ops.add, ops.pow), _drop_neutral, "pass_neutral"),
    ((ops.neg, ops.abs, ops.relu, ops.identity, ops.cast), _drop_repeated, "pass_twice"),
    ((ops.pow, ops.div, ops.add, ops.sub), _use_cheaper_op, "pass_cheaper"),
)
SHAPES: Table = (
    (
        (
            *(ops.reshape, ops.reshape_like, ops.sum_like),
            *(ops.broadcast_like, ops.broadcast_to, ops.transpose),
        ),
        _drop_reshapes,
        "pass_shapes",
    ),
    ((ops.matmul,), _drop_transposes, "pass_matrix"),
)
FAST: Table = (((ops.add, ops.mul, ops.sub), _drop_zeros, "pass_fast"),)


def _apply_table(graph: Graph, table: Table) -> tuple[Graph, list[Change]]:
    rules: dict[Any, list[tuple[Rule, str]]] = {}
    for operators, rule, reason in table:
        for op in operators:
            rules.setdefault(op, []).append((rule, reason))
    rewrite = Rewrite(graph)

    def apply(node: Node, inputs: tuple[Node, ...]) -> Node | None:
        for rule, reason in rules.get(node.op, ()):
            better = None if node.controls else rule(node, inputs, rewrite)
            if better is not None:
                rewrite.note("simplified", [node], [better], reason)
                return better
        return None

    return rewrite.walk(apply, rules), rewrite.changes


@in_pipeline(50)
def simplify(graph: Graph) -> tuple[Graph, list[Change]]:
    """Replace operations by cheaper ones that give the same bits.

    >>> import minigrad as mg
    >>> with mg.Graph():
    ...     x = mg.placeholder("x", (3, 4))
    ...     graph = mg.build_graph(x, x / 4)
    >>> print(graph.optimize(["simplify", "remove_dead"]).text())
    %0 = Placeholder "x" : float32[3, 4]
    %1 = Constant 0.25 : float32[]
    %2 = Mul(%0, %1) : float32[3, 4]
    return %2
    """
    return _apply_table(graph, EXACT)


@in_pipeline(20)
def tidy_shapes(graph: Graph) -> tuple[Graph, list[Change]]:
    """Remove changes of shape that change nothing or undo each other.

    >>> import minigrad as mg
    >>> with mg.Graph():
    ...     x = mg.placeholder("x", (3, 4))
    ...     graph = mg.build_graph(x, x.T.T)
    >>> print(graph.optimize(["tidy_shapes"]).text())
    %0 = Placeholder "x" : float32[3, 4]
    %1 = Transpose(%0, axes=None) : float32[4, 3]
    return %0
    """
    return _apply_table(graph, SHAPES)


@inexact
def fast_math(graph: Graph) -> tuple[Graph, list[Change]]:
    """Apply rules that may change NaN, infinities and the sign of zero; only on request.

    >>> import minigrad as mg
    >>> with mg.Graph():
    ...     x = mg.placeholder("x", (3, 4))
    ...     graph = mg.build_graph(x, mg.exp(x) + 0)
    >>> print(graph.optimize(["fast_math", "remove_dead"]).text())
    %0 = Placeholder "x" : float32[3, 4]
    %1 = Exp(%0) : float32[3, 4]
    return %1
    """
    return _apply_table(graph, FAST)

"""Gradients: the one backward sweep, which both modes use, and the check against differences.

The gradient rules are the operators' own. On plain arrays the sweep computes numbers, on tensors
it records a new tape (higher orders), on nodes it builds gradient nodes.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from minigrad import events, ops
from minigrad.core import Attrs, Dim, Dtype, Op, PublicShape, Shape, Spec, context, fits
from minigrad.errors import GradientError
from minigrad.graph import Graph, Node, ancestors, expect_node
from minigrad.ops import state
from minigrad.source import here

NOTHING, SHAPE, DATA = 0, 1, 2


@dataclass(frozen=True, slots=True)
class Retained:
    """What the gradient rules of one operator read, for one choice of operands with gradients.

    `parts` says for the result and each operand: NOTHING, SHAPE or DATA. `wanted` are the
    positions of the operands that get a gradient.
    """

    parts: tuple[int, ...]
    wanted: tuple[int, ...]
    has_data: bool
    has_shapes: bool


def retained(op: Op, mask: tuple[bool, ...], specs: Sequence[Spec], attrs: Attrs) -> Retained:
    """What must be kept for the backward pass: derived by building the rules once, symbolically.

    `specs` are those of the result and the operands; `mask` says which operands want a gradient.
    Nothing is wanted of an operand that has no rule.
    """
    wanted = tuple(i for i, want in enumerate(mask) if want and op.has_rule(i))
    with listen_to_nobody():
        scratch = Graph()
        g, *values = [_Probe.of(scratch, spec) for spec in (specs[0], *specs)]
        results = pull_back(op, wanted, g, values, attrs)
    position: dict[Node, int] = {node: i for i, node in enumerate(values)}
    parts = [SHAPE if x.looked_at else NOTHING for x in values]
    for result in results:
        for reader in ancestors([result]) if isinstance(result, Node) else ():
            for i, x in enumerate(reader.inputs):
                if x in position:
                    part = SHAPE if i in reader.op.shape_only else DATA
                    parts[position[x]] = max(parts[position[x]], part)
        if isinstance(result, Node) and result in position:
            parts[position[result]] = DATA
    return Retained(tuple(parts), wanted, DATA in parts, SHAPE in parts)


def pull_back(op: Op, wanted: Iterable[int], g: Any, values: Sequence[Any], attrs: Attrs) -> Any:
    """The gradients of the operands at the positions `wanted`, by the operator's rules."""
    if not isinstance(op.vjp, tuple):
        parts = op.vjp(g, *values, wanted=tuple(wanted), **attrs)
        return [parts[i] for i in wanted]
    rules = [op.vjp[i] for i in wanted]
    return [None if rule is None else rule(g, *values, **attrs) for rule in rules]


class _Probe(Node):
    """A placeholder that notices when a rule looks at its shape or data type."""

    __slots__ = ("looked_at",)
    looked_at: bool

    @classmethod
    def of(cls, graph: Graph, spec: Spec) -> _Probe:
        probe = cls()
        probe.op, probe.inputs, probe.attrs, probe.spec = state.placeholder, (), {}, spec
        probe.order, probe.graph, probe.name, probe.looked_at = 0, graph, "?", False
        probe.controls = ()
        return probe

    @property
    def shape(self) -> PublicShape | None:
        self.looked_at = True
        return super().shape

    @property
    def ndim(self) -> int:
        self.looked_at = True
        return super().ndim

    @property
    def dtype(self) -> Dtype:
        self.looked_at = True
        return super().dtype


class listen_to_nobody:
    """Keep the building of scratch nodes out of recordings, scopes and graphs of the user."""

    def __enter__(self) -> None:
        self.kept, self.scope = list(events.listeners), context.scope
        events.listeners.clear()
        context.scope = ""
        self.graph = Graph().__enter__()

    def __exit__(self, *exc: object) -> None:
        self.graph.__exit__()
        events.listeners.extend(self.kept)
        context.scope = self.scope


def sweep(
    nodes: Sequence[Any],
    gradients: dict[Any, Any],
    read: Callable[[Any], tuple[Sequence[Any], Iterable[int]]] | None = None,
    keep: Container[Any] = (),
) -> None:
    """Walk `nodes` (in the order built) backwards, and add up gradients in `gradients`.

    `read(node)` gives its result and operands as the rules shall see them, and the positions of
    the operands that want a gradient; without it, what the node of a tape saved. Gradients of
    nodes not in `keep` are dropped once used.
    """
    known, listeners, scalar = gradients.get, events.listeners, np.generic
    for node in reversed(nodes):
        g = gradients.pop(node, None)
        if g is None:
            continue
        if keep and node in keep:
            gradients[node] = g
        op, attrs, inputs = node.op, node.attrs, node.inputs
        values, wanted = read(node) if read else (node.saved, node.kept.wanted)
        rules = op.vjp
        parts = None if type(rules) is tuple else pull_back(op, wanted, g, values, attrs)
        for place, i in enumerate(wanted):
            if parts is not None:
                part = parts[place]
                if part is None:
                    continue
            else:
                part = rules[i](g, *values, **attrs) if attrs else rules[i](g, *values)
            target = inputs[i]
            if op.broadcasts and not isinstance(part, scalar):  # a scalar fits already
                part = unbroadcast(part, target)
            before = known(target)
            total = gradients[target] = part if before is None else before + part
            if listeners:
                events.emit("contributed", op, target, total, (g, part), node, i)


def unbroadcast(part: Any, target: Any) -> Any:
    """Sum a gradient over the axes along which its operand had been repeated."""
    if isinstance(target, Node):
        mine, wanted = part.spec.shape, target.spec.shape  # tells unknown lengths apart
    else:
        mine, wanted = part.shape, target.shape
    if mine == wanted and mine is not None:
        return part
    lead = 0 if mine is None or wanted is None else len(mine) - len(wanted)
    if mine is None or wanted is None or _may_stretch(mine[lead:], wanted):
        like = target if isinstance(target, Node) else Spec(target.shape, target.dtype)
        return ops.sum_like(part, like)
    return ops.sum(part, axis=tuple(range(lead)))


def _may_stretch(mine: Shape, wanted: Shape) -> bool:
    pairs = zip(mine, wanted, strict=True)
    return any(m != n and (n == 1 or isinstance(n, Dim)) for m, n in pairs)


def gradients(ys: Any, xs: Any, grad_ys: Any = None) -> Any:
    """Nodes for the gradients of (the sum of) `ys` with respect to `xs`.

    Nothing is computed: the gradients are more nodes of the same graph. One node for `xs` gives
    one node, a list gives a list. An `x` that `ys` do not depend on gets None. (TensorFlow 1:
    tf.gradients.)

    >>> import minigrad as mg
    >>> x = mg.placeholder("x", shape=())
    >>> dx = mg.gradients(x * x + 3, x)
    >>> float(mg.run(mg.build_graph(x, dx), {x: 2}))
    4.0
    """
    outputs = [expect_node("gradients", y) for y in (ys if isinstance(ys, (list, tuple)) else [ys])]
    graph = outputs[0].graph
    many = isinstance(xs, (list, tuple))
    targets = [_target(x, graph) for x in (xs if many else [xs])]
    seeds = grad_ys if isinstance(grad_ys, (list, tuple)) else [grad_ys] * len(outputs)
    found: dict[Any, Any] = {}
    with scoped("gradients"):
        for y, seed in zip(outputs, seeds, strict=True):
            one = graph.constant(y.dtype.type(1)) if seed is None else graph.lift(seed, y.dtype)
            if seed is not None and not fits(one.spec.shape, y.spec.shape):
                raise GradientError("seed_shape", seed=one.shape, shape=y.shape, defined=here())
            g = one if y.spec.shape == one.spec.shape else ops.broadcast_like(one, y)
            found[y] = found[y] + g if y in found else g
        nodes = ancestors(outputs)
        known = set(targets) - {None}
        leading = set(known)  # nodes that some target leads to
        for node in nodes:
            if not leading.isdisjoint(node.inputs):
                leading.add(node)
        sweep(
            [n for n in nodes if n in leading],
            found,
            lambda node: ((node, *node.inputs), _followed(node, leading)),
            keep=known,
        )
    result = [found.get(x) for x in targets]
    return result if many else result[0]


def _target(x: Any, graph: Graph) -> Node | None:
    """The node of a target; a tensor that the graph does not use has none, and no gradient."""
    return graph.lifted(x) if hasattr(type(x), "as_node") else expect_node("gradients", x, graph)


def _followed(node: Node, leading: set[Any]) -> list[int]:
    """Operands that lead to a target and have a rule; no gradient flows through the others."""
    return [i for i, x in enumerate(node.inputs) if x in leading and node.op.has_rule(i)]


class scoped:
    """Build nodes inside a named scope; drawings fold what belongs together. (tf.name_scope.)

    >>> import minigrad as mg
    >>> with mg.Graph(), mg.name_scope("encoder"):
    ...     mg.placeholder("x", shape=(3,))
    <Node encoder/x = Placeholder: float32 (3,), no value>
    """

    def __init__(self, name: str) -> None:
        self.name = name

    def __enter__(self) -> str:
        self.outer = context.scope
        context.scope = f"{self.outer}/{self.name}" if self.outer else self.name
        return context.scope

    def __exit__(self, *exc: object) -> None:
        context.scope = self.outer

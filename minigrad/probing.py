"""What gradient rules read: found by building each rule once, from nodes that nobody else sees."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from minigrad.core import Attrs, Dtype, Op, PublicShape, Spec, context
from minigrad.graph import Graph, Node, ancestors
from minigrad.ops import state

NOTHING, SHAPE, DATA = 0, 1, 2


@dataclass(frozen=True, slots=True)
class Retained:
    """What the gradient rules of one operator read, for one choice of operands with gradients.

    `parts` says for the result and each operand: NOTHING, SHAPE or DATA. `wanted` are the
    positions of the operands that get a gradient. `ranked`: a rule asked for the number of axes.
    """

    parts: tuple[int, ...]
    wanted: tuple[int, ...]
    ranked: bool = False


def retained(op: Op, mask: tuple[bool, ...], specs: Sequence[Spec], attrs: Attrs) -> Retained:
    """What must be kept for the backward pass: derived by building the rules once, symbolically.

    `specs` are those of the result and the operands; `mask` says which operands want a gradient.
    Nothing is wanted of an operand that has no rule.
    """
    wanted = tuple(i for i, want in enumerate(mask) if want and op.has_rule(i))
    probes, results = build(op, wanted, specs, attrs)
    values = probes[1:]
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
    return Retained(tuple(parts), wanted, any(x.ranked for x in probes))


def build(
    op: Op, wanted: Sequence[int], specs: Sequence[Spec], attrs: Attrs
) -> tuple[list[_Probe], list[Any]]:
    """Stand-ins for gradient, result and operands, and what the rules make of them."""
    with listen_to_nobody():
        scratch = Graph()
        probes = [_Probe.of(scratch, spec) for spec in (specs[0], *specs)]
        return probes, pull_back(op, wanted, probes[0], probes[1:], attrs)


def pull_back(op: Op, wanted: Iterable[int], g: Any, values: Sequence[Any], attrs: Attrs) -> Any:
    """The gradients of the operands at the positions `wanted`, by the operator's rules."""
    if not isinstance(op.vjp, tuple):
        parts = op.vjp(g, *values, wanted=tuple(wanted), **attrs)
        return [parts[i] for i in wanted]
    rules = [op.vjp[i] for i in wanted]
    return [None if rule is None else rule(g, *values, **attrs) for rule in rules]


class _Probe(Node):
    """A placeholder that notices when a rule looks at its shape or data type."""

    __slots__ = ("looked_at", "ranked")
    looked_at: bool
    ranked: bool

    @classmethod
    def of(cls, graph: Graph, spec: Spec) -> _Probe:
        probe = cls()
        probe.op, probe.inputs, probe.attrs, probe.spec = state.placeholder, (), {}, spec
        probe.order, probe.graph, probe.name, probe.controls = 0, graph, "?", ()
        probe.looked_at = probe.ranked = False
        return probe

    @property
    def shape(self) -> PublicShape | None:
        self.looked_at = self.ranked = True
        return super().shape

    @property
    def ndim(self) -> int:
        self.looked_at = self.ranked = True
        return super().ndim

    @property
    def dtype(self) -> Dtype:
        self.looked_at = True
        return super().dtype


class listen_to_nobody:
    """Keep the building of scratch nodes out of recordings, scopes and graphs of the user."""

    def __enter__(self) -> None:
        now = context.now
        self.told, self.scope = now.told, now.scope
        now.told, now.scope = object(), ""
        self.graph = Graph().__enter__()

    def __exit__(self, *exc: object) -> None:
        self.graph.__exit__()
        now = context.now
        now.told, now.scope = self.told, self.scope

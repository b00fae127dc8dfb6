"""What gradient rules read: found by applying each rule once to stand-ins, which note it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from minigrad import ops
from minigrad.core import (
    Attrs,
    BaseNode,
    Dtype,
    Op,
    PublicShape,
    Reader,
    Spec,
    ancestors,
    as_array,
    as_weak,
    is_weak,
    next_order,
    public_shape,
    spec_of,
    unify,
)
from minigrad.ops.methods import Value

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
    """What must be kept for the backward pass: derived by applying the rules once to stand-ins.

    `specs` are those of the result and the operands; `mask` says which operands want a gradient.
    Nothing is wanted of an operand that has no rule.
    """
    wanted = tuple(i for i, want in enumerate(mask) if want and op.has_rule(i))
    probes, results = build(op, wanted, specs, attrs)
    values = probes[1:]
    position = {probe: i for i, probe in enumerate(values)}
    parts = [SHAPE if x.looked_at else NOTHING for x in values]
    made = [x for x in results if isinstance(x, Probe)]
    for reader in ancestors(made):
        for i, x in enumerate(reader.inputs):
            if isinstance(x, Probe) and x in position:
                part = SHAPE if i in reader.op.shape_only else DATA
                parts[position[x]] = max(parts[position[x]], part)
    for result in made:
        if result in position:
            parts[position[result]] = DATA
    return Retained(tuple(parts), wanted, any(x.ranked for x in probes))


def build(
    op: Op, wanted: Sequence[int], specs: Sequence[Spec], attrs: Attrs
) -> tuple[list[Probe], list[Any]]:
    """Stand-ins for gradient, result and operands, and what the rules make of them."""
    probes = [Probe(spec) for spec in (specs[0], *specs)]
    return probes, pull_back(op, wanted, probes[0], probes[1:], attrs)


def pull_back(op: Op, wanted: Iterable[int], g: Any, values: Sequence[Any], attrs: Attrs) -> Any:
    """The gradients of the operands at the positions `wanted`, by the operator's rules."""
    if not isinstance(op.vjp, tuple):
        parts = op.vjp(g, *values, wanted=tuple(wanted), **attrs)
        return [parts[i] for i in wanted]
    rules = [op.vjp[i] for i in wanted]
    return [None if rule is None else rule(g, *values, **attrs) for rule in rules]


class Probe(BaseNode, Value):
    """A stand-in for a value, or what a rule made of some; it notices who looks at it."""

    __slots__ = ("attrs", "inputs", "looked_at", "op", "order", "ranked", "spec")
    reader: ClassVar[Reader]

    def __init__(
        self, spec: Spec, op: Any = None, inputs: tuple[Any, ...] = (), attrs: Any = None
    ) -> None:
        self.spec, self.op, self.inputs, self.attrs = spec, op, inputs, attrs
        self.order, self.looked_at, self.ranked = next_order(), False, False

    @property
    def shape(self) -> PublicShape | None:
        self.looked_at = self.ranked = True
        return public_shape(self.spec.shape)

    @property
    def ndim(self) -> int:
        self.looked_at = self.ranked = True
        return self.spec.ndim

    @property
    def dtype(self) -> Dtype:
        self.looked_at = True
        return self.spec.dtype


class _ProbeReader:
    """How a stand-in reads `a * b`: note operator and operands, and infer what comes of it."""

    level = 3

    def apply(self, op: Op, operands: Sequence[Any], attrs: Attrs) -> Probe:
        given = [as_weak(op, x) for x in operands]
        given = [
            x if isinstance(x, Probe) or is_weak(x) else as_array(x, None, op.name) for x in given
        ]
        values = given if _alike(op, given) else unify(op, given, _cast)
        specs = [x.spec if isinstance(x, Probe) else spec_of(x) for x in values]
        return Probe(op.spec(specs, attrs), op, tuple(values), attrs)


def _alike(op: Op, operands: Sequence[Any]) -> bool:
    """Whether these are stand-ins that need no conversion: then nobody looks at their type."""
    if not all(isinstance(x, Probe) for x in operands):
        return False
    dtypes = {x.spec.dtype for x in operands}
    return op.inputs is None or (len(dtypes) == 1 and dtypes.pop().kind == "f")


def _cast(x: Any, dtype: Dtype) -> Any:
    return ops.cast(x, dtype=dtype)


Probe.reader = _ProbeReader()

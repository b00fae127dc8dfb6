"""The values that gradient rules read, found by applying each rule once to stand-ins."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from minigrad import ops
from minigrad.backprop.rules import DATA, NOTHING, SHAPE, Retained, pull_back
from minigrad.core import (
    Attrs,
    BaseNode,
    Dtype,
    Op,
    PublicShape,
    Reader,
    Spec,
    as_array,
    as_weak,
    is_weak,
    next_order,
    public_shape,
    spec_of,
    unify,
)
from minigrad.ops.methods import Value


def retained(op: Op, mask: tuple[bool, ...], specs: Sequence[Spec], attrs: Attrs) -> Retained:
    """Derive what must be saved for backward by applying the rules once to stand-ins.

    `specs` are those of the result and the operands; `mask` says which operands want a gradient.
    An operand without a rule gets none.
    """
    wrt = tuple(i for i, want in enumerate(mask) if want and op.has_rule(i))
    if not wrt:
        return Retained((NOTHING,) * len(specs), ())
    probes, results = build(op, wrt, specs, attrs)
    for x in results:
        if isinstance(x, Probe):
            x.read(DATA)  # one of them may be handed on as it is
    return Retained(tuple([x.part for x in probes[1:]]), wrt, any(x.ranked for x in probes))


def build(
    op: Op, wrt: Sequence[int], specs: Sequence[Spec], attrs: Attrs
) -> tuple[list[Probe], list[Any]]:
    """Make stand-ins for gradient, result and operands; return them and the rules' results."""
    probes = [Probe(spec) for spec in (specs[0], *specs)]
    return probes, pull_back(op, wrt, probes[0], probes[1:], attrs)


class Probe(BaseNode, Value):
    """A stand-in for a value or for a rule's result; it records what is read of it."""

    __slots__ = ("attrs", "inputs", "op", "order", "part", "ranked", "spec")
    reader: ClassVar[Reader]

    def __init__(
        self, spec: Spec, op: Any = None, inputs: tuple[Any, ...] = (), attrs: Any = None
    ) -> None:
        self.spec, self.op, self.inputs, self.attrs = spec, op, inputs, attrs
        self.order, self.part, self.ranked = next_order(), NOTHING, False

    def read(self, part: int) -> None:
        """Note how much of the value a rule reads."""
        self.part = max(self.part, part)

    @property
    def shape(self) -> PublicShape | None:
        self.ranked = True
        self.read(SHAPE)
        return public_shape(self.spec.shape)

    @property
    def ndim(self) -> int:
        self.ranked = True
        self.read(SHAPE)
        return self.spec.ndim

    @property
    def dtype(self) -> Dtype:
        self.read(SHAPE)
        return self.spec.dtype


class _ProbeReader:
    """The reader of `a * b` on stand-ins: record operator and operands, infer the result."""

    level = 3

    def apply(self, op: Op, operands: Sequence[Any], attrs: Attrs) -> Probe:
        given = [as_weak(op, x) for x in operands]
        given = [
            x if isinstance(x, Probe) or is_weak(x) else as_array(x, None, op.name) for x in given
        ]
        values = unify(op, given, _cast)
        for i, x in enumerate(values):
            if isinstance(x, Probe):
                x.read(SHAPE if i in op.shape_only else DATA)
        specs = [x.spec if isinstance(x, Probe) else spec_of(x) for x in values]
        return Probe(op.spec(specs, attrs), op, tuple(values), attrs)


def _cast(x: Any, dtype: Dtype) -> Any:
    return ops.cast(x, dtype=dtype)


Probe.reader = _ProbeReader()

"""Operators with several values: a tuple that flows along one edge, and the choice of one of them.

The gradient of such a value is a `Parts`: a gradient for each value that was used.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from minigrad.core import Array, Attrs, Op, Reader, Spec, TupleSpec, into, operator
from minigrad.diagnostics.errors import VerifyError


class Parts:
    """Gradients by the value they belong to; adding two adds them value by value.

    A gradient that is no `Parts` belongs to value 0.
    """

    __slots__ = ("parts",)
    reader: ClassVar[Reader]

    def __init__(self, parts: Mapping[Any, Any]) -> None:
        self.parts = dict(parts)

    @classmethod
    def of(cls, g: Any) -> Parts:
        return g if isinstance(g, Parts) else cls({0: g})

    def __add__(self, other: Any) -> Parts:
        total = dict(self.parts)
        for key, part in Parts.of(other).parts.items():
            total[key] = total[key] + part if key in total else part
        return Parts(total)


class PartsReader:
    """The reader of `a + b` where one of them is a `Parts`, the only operation on it."""

    level = 9

    def apply(self, op: Op, operands: tuple[Any, ...], attrs: Attrs) -> Parts:
        a, b = operands
        total: Parts = Parts.of(a) + b
        return total


Parts.reader = PartsReader()


def _output_spec(specs: Sequence[Spec], attrs: Attrs) -> Spec:
    whole, index = specs[0], attrs["index"]
    if not isinstance(whole, TupleSpec) or not 0 <= index < len(whole.parts):
        raise VerifyError("no_part", op="Output", index=index, spec=str(whole))
    return whole.parts[index]


def _output(out: Array | None, values: Any, index: int) -> Array:
    return into(out, values[index])


output: Op = operator(
    "Output",
    shape=lambda *shapes, **attrs: None,
    infer=_output_spec,
    run=_output,
    vjp=(lambda g, y, values, index: Parts({index: g}),),
    inputs=None,
    effect=True,
    title=("one of several results", "多个结果之一"),
    formula="{0}[i]",
)

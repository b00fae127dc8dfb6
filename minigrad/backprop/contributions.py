"""Shares: how much of a gradient each operand gets, in the operand's own shape."""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import Any

import numpy as np

from minigrad import ops
from minigrad.backprop.needs import pull_back
from minigrad.core import Attrs, BaseNode, Dim, Op, Shape, Spec
from minigrad.diagnostics.errors import GradientError
from minigrad.diagnostics.source import here
from minigrad.ops.shape import single_axes_first

ndarray = np.ndarray

Contribution = tuple[Any, Any, int]  # where to, how much, and for which operand


class _Freed:
    """Stands where a node saved something that a backward pass has used and dropped."""

    def __repr__(self) -> str:
        return "freed"


FREED = _Freed()


def freed(node: BaseNode) -> GradientError:
    """The error about a node of which a backward pass dropped what this one wants to read."""
    return GradientError("freed", op=node.op, defined=node.where, ran=here())


def contributions(
    op: Op,
    wanted: Sequence[int],
    g: Any,
    values: Sequence[Any],
    attrs: Attrs,
    targets: Sequence[Any],
    fit: Container[int],
) -> list[Contribution]:
    """What the rules give to each wanted operand; nothing is said of one to which nothing flows."""
    found = []
    for i, part in zip(wanted, pull_back(op, wanted, g, values, attrs), strict=True):
        if part is not None:
            target = targets[i]
            found.append((target, unbroadcast(part, target) if i in fit else part, i))
    return found


def plain(x: Any) -> Any:
    """The array of a tensor that has no history; anything else as it is."""
    return x.data if hasattr(x, "creator") and not x.requires_grad else x


def shape_of(source: Any) -> Any:
    """What stands for an operand of which only shape and data type are read."""
    if isinstance(source, BaseNode):
        return source
    if type(source) is tuple:
        return Spec(*source[:2])
    return Spec(source.shape, source.dtype) if hasattr(source, "shape") else source


def unbroadcast(part: Any, target: Any) -> Any:
    """Sum a gradient over the axes along which its operand had been repeated."""
    if type(part) is ndarray:
        mine, wanted = part.shape, target.shape
        lead = len(mine) - len(wanted)
        if lead > 0 and mine[lead:] == wanted:  # as for a bias
            if single_axes_first(mine, lead):
                return part.reshape(wanted)  # what the sum would give
            return ops.sum.run(None, part, axis=tuple(range(lead)))
    spec = getattr(target, "spec", None)  # of a node: it tells unknown lengths apart
    mine, wanted = (part.spec.shape, spec.shape) if spec else (part.shape, target.shape)
    if mine == wanted and mine is not None:
        return part
    lead = 0 if mine is None or wanted is None else len(mine) - len(wanted)
    if mine is None or wanted is None or _may_stretch(mine[lead:], wanted):
        return ops.sum_like(part, shape_of(target))
    return ops.sum(part, axis=tuple(range(lead)))


def _may_stretch(mine: Shape, wanted: Shape) -> bool:
    pairs = zip(mine, wanted, strict=True)
    return any(m != n and (n == 1 or isinstance(n, Dim)) for m, n in pairs)

"""How the gradient of a result becomes gradients of its operands: an operator's rules, applied.

Each operand at `wrt` (with respect to) gets its contribution, in the operand's own shape.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from minigrad import ops
from minigrad.core import Attrs, BaseNode, Dim, Op, Shape, Spec, context
from minigrad.diagnostics.errors import GradientError
from minigrad.diagnostics.source import here
from minigrad.ops.shape import single_axes_first

ndarray = np.ndarray

Contribution = tuple[Any, Any, int]  # where to, how much, and for which operand
Rules = tuple[Callable[..., Any] | None, ...] | Callable[..., Any]  # as `Op.vjp` holds them
Pull = Callable[[Any, Any], Iterable[Contribution]]
NOTHING, SHAPE, DATA = 0, 1, 2


@dataclass(frozen=True, slots=True)
class Retained:
    """The values that an operator's gradient rules read, for one choice of operands with gradients.

    `usage` says for the result and each operand: NOTHING, SHAPE or DATA. `wrt` are the
    positions of the operands that get a gradient. `ranked`: a rule asked for the number of axes.
    """

    usage: tuple[int, ...]
    wrt: tuple[int, ...]
    ranked: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Pullback:
    """The rules of one operator for operands of which those at `wrt` get a gradient.

    `pull(g, node)` gives (where to, how much, position) for each operand at `wrt`, in order; it
    reads what the node saved. `usage` is what the rules read of the result and of each operand,
    `keeps` which of these the node must save, `count` how many operands there are.
    """

    op: Op
    usage: tuple[int, ...]
    wrt: tuple[int, ...]
    pull: Pull
    keeps: tuple[bool, ...]
    has_data: bool
    count: int

    @classmethod
    def interpreting(cls, op: Op, needs: Retained) -> Pullback:
        """Make a pullback that applies the operator's rules themselves."""
        usage = needs.usage
        fit = range(len(usage)) if op.broadcasts else ()
        pull = functools.partial(apply_rules, op, needs, fit)
        keeps = tuple([used == DATA for used in usage])
        return cls(op, usage, needs.wrt, pull, keeps, DATA in usage, len(usage) - 1)


def apply_rules(
    op: Op, needs: Retained | Pullback, fit: Container[int], g: Any, node: Any
) -> list[Contribution]:
    """Apply the operator's rules directly: for any number of operands, and with attributes.

    The operands `fit` may have been repeated.
    """
    sources, saved = node.sources, node.saved
    if saved is None:
        raise freed(node)
    values = [
        shape_of(source) if part == SHAPE else value
        for value, part, source in zip(saved, needs.usage, (node, *sources), strict=True)
    ]
    return contributions(op, needs.wrt, g, values, node.attrs, sources, fit)


def contributions(
    op: Op,
    wrt: Sequence[int],
    g: Any,
    values: Sequence[Any],
    attrs: Attrs,
    targets: Sequence[Any],
    fit: Container[int],
) -> list[Contribution]:
    """Return what the rules contribute to each operand at `wrt`, if a gradient flows to it."""
    found = []
    rules = context.now.rules.get(op)
    for i, part in zip(wrt, pull_back(op, wrt, g, values, attrs, rules), strict=True):
        if part is not None:
            target = targets[i]
            found.append((target, unbroadcast(part, target) if i in fit else part, i))
    return found


@contextlib.contextmanager
def following(rules: Mapping[Op, Rules]) -> Iterator[None]:
    """Differentiate these operators by other rules inside the block: by those of another system.

    Systems differ where a function has a corner. A rule may read what the operator's own rule
    reads, and nothing else: the tape saved no more.
    """
    now = context.now
    before, now.rules = now.rules, rules
    try:
        yield
    finally:
        now.rules = before


def pull_as_followed(g: Any, node: Any) -> list[Contribution]:
    """Return what a node of the tape contributes by the rules now in force (see `following`)."""
    op = node.op
    if op not in context.now.rules:
        found: list[Contribution] = node._pullback.pull(g, node)
        return found
    fit = range(node._pullback.count) if op.broadcasts else ()
    return apply_rules(op, node._pullback, fit, g, node)


def pull_back(
    op: Op,
    wrt: Iterable[int],
    g: Any,
    values: Sequence[Any],
    attrs: Attrs,
    others: Rules | None = None,
) -> Any:
    """Return the gradients of the operands at `wrt`, by the operator's rules or by others."""
    vjp = op.vjp if others is None else others
    if not isinstance(vjp, tuple):
        parts = vjp(g, *values, wrt=tuple(wrt), **attrs)
        return [parts[i] for i in wrt]
    rules = [vjp[i] for i in wrt]
    return [None if rule is None else rule(g, *values, **attrs) for rule in rules]


def unbroadcast(part: Any, target: Any) -> Any:
    """Sum a gradient over the axes along which its operand had been repeated."""
    if type(part) is ndarray:
        actual, expected = part.shape, target.shape
        lead = len(actual) - len(expected)
        if lead > 0 and actual[lead:] == expected:  # as for a bias
            if single_axes_first(actual, lead):
                return part.reshape(expected)  # what the sum would give
            return ops.sum.run(None, part, axis=tuple(range(lead)))
    spec = getattr(target, "spec", None)  # of a node: it tells unknown lengths apart
    actual, expected = (part.spec.shape, spec.shape) if spec else (part.shape, target.shape)
    if actual == expected and actual is not None:
        return part
    lead = 0 if actual is None or expected is None else len(actual) - len(expected)
    if actual is None or expected is None or _may_stretch(actual[lead:], expected):
        return ops.sum_like(part, shape_of(target))
    return ops.sum(part, axis=tuple(range(lead)))


def _may_stretch(actual: Shape, expected: Shape) -> bool:
    pairs = zip(actual, expected, strict=True)
    return any(m != n and (n == 1 or isinstance(n, Dim)) for m, n in pairs)


def plain(x: Any) -> Any:
    """Return the array of a tensor without history; anything else unchanged."""
    return x._array if hasattr(x, "creator") and not x.requires_grad else x


def shape_of(source: Any) -> Any:
    """Return a stand-in for an operand whose values aren't read, only its shape and data type."""
    if isinstance(source, BaseNode):
        return source
    if type(source) is tuple:
        return Spec(*source[:2])
    return Spec(source.shape, source.dtype) if hasattr(source, "shape") else source


class _Freed:
    """A placeholder for a saved value that a backward pass has used and freed."""

    def __repr__(self) -> str:
        return "freed"


FREED = _Freed()


def freed(node: BaseNode) -> GradientError:
    """Return the error about a node whose saved values an earlier backward pass has freed."""
    return GradientError("freed", op=node.op, defined=node.where, ran=here())

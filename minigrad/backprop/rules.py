"""How the gradient of a result becomes gradients of its operands: an operator's rules, applied.

What they need is derived, not declared: the rules are applied once to stand-ins, and what these
are asked for is what the tape must keep.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Container, Iterable
from dataclasses import dataclass
from typing import Any

from minigrad.backprop.contributions import Contribution, contributions, freed, shape_of
from minigrad.backprop.needs import DATA, SHAPE, Retained
from minigrad.core import Op

Pull = Callable[[Any, Any], Iterable[Contribution]]


@dataclass(frozen=True, slots=True, eq=False)
class Pullback:
    """The rules of one operator for operands of which those at `wanted` get a gradient.

    `pull(g, node)` gives (where to, how much, position) for each wanted operand, in their order; it
    reads what the node saved. `parts` is what the rules read of the result and of each operand,
    `keeps` which of these the node must save, `count` how many operands there are.
    """

    op: Op
    parts: tuple[int, ...]
    wanted: tuple[int, ...]
    pull: Pull
    keeps: tuple[bool, ...]
    has_data: bool
    count: int

    @classmethod
    def interpreting(cls, op: Op, needs: Retained) -> Pullback:
        """The rules as they stand."""
        parts = needs.parts
        fit = range(len(parts)) if op.broadcasts else ()
        pull = functools.partial(apply_rules, op, needs, fit)
        keeps = tuple([part == DATA for part in parts])
        return cls(op, parts, needs.wanted, pull, keeps, DATA in parts, len(parts) - 1)


def apply_rules(
    op: Op, needs: Retained, fit: Container[int], g: Any, node: Any
) -> list[Contribution]:
    """Apply the rules as they stand: for any number of operands, and with attributes.

    The operands `fit` may have been repeated.
    """
    sources, saved = node.sources, node.saved
    if saved is None:
        raise freed(node)
    values = [
        shape_of(source) if part == SHAPE else value
        for value, part, source in zip(saved, needs.parts, (node, *sources), strict=True)
    ]
    return contributions(op, needs.wanted, g, values, node.attrs, sources, fit)

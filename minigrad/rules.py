"""How the gradient of a result becomes gradients of its operands: an operator's rules, applied.

What they need is derived, not declared: the rules are applied once to stand-ins, and what these
are asked for is what the tape must keep.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable
from dataclasses import dataclass
from typing import Any

from minigrad.core import Op
from minigrad.probing import DATA, SHAPE, Retained
from minigrad.shares import Share, freed, shape_of, shares

Pull = Callable[[Any, Any], Iterable[Share]]
Push = Callable[[Any, Any, dict[Any, Any], Callable[[Any, Any], None], bool], None]


@dataclass(frozen=True, slots=True, eq=False)
class Pullback:
    """The rules of one operator for operands of which those at `wanted` get a gradient.

    `pull(g, node)` gives (where to, how much, position) for each wanted operand, in their order; it
    reads what the node saved. `push(g, node, found, add, drop)` puts them into `found` instead,
    or calls `add(where, how much)` where there is a gradient already; with `drop` the node forgets
    what it saved. `parts` is what the rules read of the result and of each operand, `keeps` which
    of these the node must save, `count` how many operands there are.
    """

    op: Op
    parts: tuple[int, ...]
    wanted: tuple[int, ...]
    pull: Pull
    push: Push
    keeps: tuple[bool, ...]
    has_data: bool
    count: int

    @classmethod
    def interpreting(cls, op: Op, needs: Retained) -> Pullback:
        """The rules as they stand."""
        parts = needs.parts
        pull = interpreted(op, needs, range(len(parts)) if op.broadcasts else ())
        keeps = tuple(part == DATA for part in parts)
        return cls(
            op, parts, needs.wanted, pull, pushing(pull), keeps, True in keeps, len(keeps) - 1
        )


def interpreted(op: Op, needs: Retained, fit: Container[int]) -> Pull:
    """Apply the rules as they stand: for any number of operands, and with attributes."""
    parts, wanted = needs.parts, needs.wanted

    def pull(g: Any, node: Any) -> list[Share]:
        sources, saved = node.sources, node.saved
        if saved is None:
            raise freed(node)
        values = [
            shape_of(source) if part == SHAPE else value
            for value, part, source in zip(saved, parts, (node, *sources), strict=True)
        ]
        return shares(op, wanted, g, values, node.attrs, sources, fit)

    return pull


def pushing(pull: Pull) -> Push:
    """The other form of a pullback, see there."""

    def push(
        g: Any, node: Any, found: dict[Any, Any], add: Callable[[Any, Any], None], drop: bool
    ) -> None:
        shares = pull(g, node)
        if drop:
            node.release()
        for target, part, _ in shares:
            if target in found:
                add(target, part)
            else:
                found[target] = part

    return push

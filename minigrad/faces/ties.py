"""Rules of other systems for gradients at corners and ties, used by compatibility layers.

The rules, for `following`, say how a gradient is shared between equal values.
"""

from __future__ import annotations

from typing import Any

import minigrad as mg
from minigrad import ops as ops
from minigrad.backprop.rules import following as following
from minigrad.ops import corners as corners


def _first_wins(op: Any, wins: Any) -> dict[Any, Any]:
    """Return gradient rules by which the first operand gets all where it wins, else none."""
    return {
        op: (
            lambda g, y, a, b: mg.where(wins(a, b), g, 0),
            lambda g, y, a, b: mg.where(wins(a, b), 0, g),
        )
    }


def _grad_to_each_max(g: Any, y: Any, x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    options = {"axis": axis, "keepdims": keepdims}
    largest = ops.broadcast_like(y, x, **options)
    return mg.where(mg.equal(x, largest), ops.broadcast_like(g, x, **options), 0)


# Of two equal operands the first gets the whole gradient, or the second.
FIRST = _first_wins(ops.maximum, mg.greater_equal) | _first_wins(ops.minimum, mg.less_equal)
SECOND = _first_wins(ops.maximum, mg.greater) | _first_wins(ops.minimum, mg.less)
# Each of several largest elements gets the whole gradient.
EACH: dict[Any, Any] = {ops.max: (_grad_to_each_max,), ops.min: (_grad_to_each_max,)}

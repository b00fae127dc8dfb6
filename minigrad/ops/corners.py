"""Functions of two halves, written so that the slope where they meet is the right one.

`where` computes both halves and hands the gradient to the chosen one. What must not be computed in
the other half, such as a root of 0 or an exponential that overflows, gets a harmless operand there.
"""

from __future__ import annotations

from typing import Any

from minigrad.ops.effects import stop_gradient
from minigrad.ops.elementwise import exp, log, maximum, minimum, sqrt
from minigrad.ops.logic import where

__all__ = ["at_least", "at_most", "bounded_log", "elu", "hardtanh", "root"]


def root(x: Any) -> Any:
    """√x with the slope 0 at 0, where that of the square root is infinite."""
    above = x > 0
    return where(above, sqrt(where(above, x, 1)), stop_gradient(x))  # which keeps NaN


def elu(x: Any, alpha: Any = 1.0, scale: float = 1.0) -> Any:
    """x above 0, alpha × (exp(scale × x) − 1) below; the slope at 0 is alpha × scale."""
    above = x > 0
    below = where(above, 0, x)
    below = below if scale == 1 else below * scale
    return where(above, x, (exp(below) - 1) * alpha)


def bounded_log(x: Any, least: float, lowest: float, slope: float) -> Any:
    """log x; for less than `least` it is the number `lowest`, with a slope of its own."""
    small = x < least
    line = (x - stop_gradient(x)) * slope + lowest
    return where(small, line, log(where(small, 1, x)))


def hardtanh(x: Any, low: float, high: float) -> Any:
    """x between two numbers; unlike that of `clip`, the slope on the bounds is 0."""
    return where(x <= low, low, where(x >= high, high, x))


def at_least(x: Any, low: Any) -> Any:
    """The larger of two; where they are equal, x gets the whole gradient."""
    return where(x >= low, x, maximum(x, low))  # which is NaN where one of them is


def at_most(x: Any, high: Any) -> Any:
    """The smaller of two; where they are equal, x gets the whole gradient."""
    return where(x <= high, x, minimum(x, high))

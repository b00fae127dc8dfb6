"""Piecewise functions, written so that the gradient where the pieces meet is right.

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
    """Compute √x with slope 0 at 0, where that of the square root is infinite."""
    above = x > 0
    return where(above, sqrt(where(above, x, 1)), stop_gradient(x))  # which keeps NaN


def elu(x: Any, alpha: Any = 1.0, scale: float = 1.0) -> Any:
    """Compute x above 0, alpha × (exp(scale × x) − 1) below; its slope at 0 is alpha × scale."""
    above = x > 0
    below = where(above, 0, x)
    below = below if scale == 1 else below * scale
    return where(above, x, (exp(below) - 1) * alpha)


def bounded_log(x: Any, least: float, lowest: float, slope: float) -> Any:
    """Compute log x; below `least` return the number `lowest`, with a slope of its own."""
    small = x < least
    line = (x - stop_gradient(x)) * slope + lowest
    return where(small, line, log(where(small, 1, x)))


def hardtanh(x: Any, low: float, high: float) -> Any:
    """Clip x between two numbers; unlike with `clip`, the slope on the bounds is 0."""
    return where(x <= low, low, where(x >= high, high, x))


def at_least(x: Any, low: Any) -> Any:
    """Return the larger of two; if they are equal, x gets the whole gradient."""
    return where(x >= low, x, maximum(x, low))  # which is NaN where one of them is


def at_most(x: Any, high: Any) -> Any:
    """Return the smaller of two; if they are equal, x gets the whole gradient."""
    return where(x <= high, x, minimum(x, high))

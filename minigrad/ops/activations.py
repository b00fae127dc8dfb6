"""Activation functions, and the functions that they are made of."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from minigrad.core import Array, Op, Sample, float32, float64, into
from minigrad.ops.define import ANY, elementwise, smooth
from minigrad.ops.elementwise import exp
from minigrad.ops.logic import where

__all__ = ["erf", "gelu", "relu", "sigmoid", "softplus", "step", "tanh"]

tanh: Op = smooth(
    "Tanh",
    np.tanh,
    vjp=(lambda g, y, x: g * (1 - y * y),),
    title=("hyperbolic tangent", "双曲正切"),
    formula="tanh({0})",
)


def _sigmoid(out: Array, x: Array) -> Array:
    """Compute 1 / (1 + exp(−x)), accurate to a few units in the last place on both sides.

    The exponential overflows far on the left, and 1 / infinity is the right answer there.
    """
    if out is None and not x.ndim:
        return 1 / (1 + np.exp(-x))
    e = np.negative(x, out=out)
    np.exp(e, out=e)
    e += 1
    return np.reciprocal(e, out=e)


sigmoid = smooth(
    "Sigmoid",
    _sigmoid,
    vjp=(lambda g, y, x: g * y * (1 - y),),
    title=("logistic sigmoid", "Sigmoid 函数"),
    formula="σ({0})",
)


_ZERO = np.zeros((), float32)


def _zero(x: Array) -> Array:
    """Return 0 in the data type of x, as an array without axes: NumPy compares fastest with it."""
    return _ZERO if x.dtype is float32 else np.zeros((), x.dtype)


def _relu(out: Array, x: Array) -> Array:
    zero = _zero(x)
    return np.maximum(x, zero) if out is None else np.maximum(x, zero, out=out)


relu = elementwise(
    "ReLU",
    _relu,
    vjp=(lambda g, y, x: where(y > 0, g, 0),),  # the slope at 0 is taken as 0
    title=("rectified linear unit", "ReLU 激活函数"),
    formula="max({0}, 0)",
    samples=ANY,
)


def _step(out: Array, x: Array) -> Array:
    if out is not None:
        return np.greater(x, 0, out=out, casting="unsafe")
    return np.greater(x, _zero(x)).astype(x.dtype)


step: Op = elementwise(
    "Step",
    _step,
    vjp=(None,),
    title=("unit step: 1 where positive", "阶跃：正数为 1，其余为 0"),
    formula="[{0} > 0]",
    samples=ANY,
)


def _softplus(out: Array, x: Array) -> Array:
    return np.logaddexp(x, x.dtype.type(0), out=out)


softplus = smooth(
    "Softplus",
    _softplus,
    vjp=(lambda g, y, x: g * sigmoid(x),),
    title=("smooth ReLU: log(1 + exp(x))", "平滑的 ReLU：log(1 + exp(x))"),
    formula="softplus({0})",
)

# W. J. Cody, Rational Chebyshev approximations for the error function, Math. Comp. 23 (1969):
# numerator and denominator of erf(x) / x in x² near 0, and of exp(x²) erfc(x) in x further out.
NEAR = (
    (
        1.85777706184603153e-1,
        3.16112374387056560e0,
        1.13864154151050156e2,
        3.77485237685302021e2,
        3.20937758913846947e3,
    ),
    (
        1.0,
        2.36012909523441209e1,
        2.44024637934444173e2,
        1.28261652607737228e3,
        2.84423683343917062e3,
    ),
)
FAR = (
    (
        2.15311535474403846e-8,
        5.64188496988670089e-1,
        8.88314979438837594e0,
        6.61191906371416295e1,
        2.98635138197400131e2,
        8.81952221241769090e2,
        1.71204761263407058e3,
        2.05107837782607147e3,
        1.23033935479799725e3,
    ),
    (
        1.0,
        1.57449261107098347e1,
        1.17693950891312499e2,
        5.37181101862009858e2,
        1.62138957456669019e3,
        3.29079923573345963e3,
        4.36261909014324716e3,
        3.43936767414372164e3,
        1.23033935480374942e3,
    ),
)
NEARBY, SATURATED = 0.46875, 6.0  # erf(6) = 1 - 2e-17


def _ratio(x: Array, numerator: Sequence[float], denominator: Sequence[float]) -> Array:
    """Evaluate a quotient of two polynomials, highest power first, by Horner's rule."""
    top, bottom = np.full_like(x, numerator[0]), np.full_like(x, denominator[0])
    for a, b in zip(numerator[1:], denominator[1:], strict=True):
        top *= x
        top += a
        bottom *= x
        bottom += b
    return top / bottom


def error_function(x: Array) -> Array:
    """Compute erf in float64, within 5 units in the last place; return the data type of x."""
    wide = np.atleast_1d(np.asarray(x, float64))
    size = np.abs(wide)
    near = size <= NEARBY
    middle, outer = wide[near], np.minimum(size[~near], SATURATED)
    result = np.empty_like(wide)
    result[near] = middle * _ratio(middle * middle, *NEAR)
    tail = np.exp(-outer * outer) * _ratio(outer, *FAR)
    result[~near] = np.copysign(1 - tail, wide[~near])
    result = result.astype(x.dtype, copy=False)
    return result if x.ndim else result[0]


erf = smooth(
    "Erf",
    lambda out, x: into(out, error_function(x)),
    vjp=(lambda g, y, x: g * (2 / math.sqrt(math.pi)) * exp(-(x * x)),),
    title=("error function", "误差函数"),
    formula="erf({0})",
)

HALF, ROOT, SLOPE, CUBIC = 0.5, math.sqrt(0.5), math.sqrt(2 / math.pi), 0.044715


def _gelu(out: Array, x: Array, approximate: str = "none") -> Array:
    number = x.dtype.type
    if approximate == "tanh":
        inner = np.tanh(number(SLOPE) * (x + number(CUBIC) * x * x * x))
    else:
        inner = error_function(x * number(ROOT))
    inner = (inner + 1) * x
    return np.multiply(inner, number(HALF), out=out)


def _gelu_gradient(g: Any, y: Any, x: Any, approximate: str = "none") -> Any:
    """Build the derivative of gelu, Φ(x) + x φ(x), with Φ as in the kernel."""
    if approximate == "tanh":
        t = tanh(SLOPE * (x + CUBIC * x * x * x))
        return g * (HALF * (1 + t) + HALF * x * (1 - t * t) * SLOPE * (1 + 3 * CUBIC * x * x))
    density = exp(-HALF * x * x) * (HALF * SLOPE)  # φ(x) = exp(−x²/2) / √(2π)
    return g * (HALF * (1 + erf(x * ROOT)) + x * density)


gelu = smooth(
    "GELU",
    _gelu,
    vjp=(_gelu_gradient,),
    title=("Gaussian error linear unit", "GELU 激活函数"),
    formula="gelu({0})",
    samples=(*ANY, Sample([(2, 3)], {"approximate": "tanh"})),
)

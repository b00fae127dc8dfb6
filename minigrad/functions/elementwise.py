"""Functions of each element by itself, for arrays, tensors and graph nodes alike.

Operands are broadcast against each other. Data types follow PyTorch: a Python number takes the
type of the other operand, a float wins over integers, and functions of real numbers make float32
of integers. A NumPy scalar counts as a Python number. A tensor or node without axes is a value like
any other, whose type counts (in PyTorch it gives way to one with axes): float64 beside float32
makes float64. Shapes that do not fit raise ShapeError.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy.typing as npt

from minigrad import ops
from minigrad.diagnostics import arguments
from minigrad.diagnostics.errors import DtypeError
from minigrad.diagnostics.messages import fill
from minigrad.diagnostics.source import here

__all__ = [
    "abs",
    "atan",
    "cast",
    "ceil",
    "clip",
    "cos",
    "erf",
    "exp",
    "floor",
    "floor_divide",
    "gelu",
    "isnan",
    "log",
    "log1p",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "maximum",
    "minimum",
    "mod",
    "pow",
    "relu",
    "round",
    "sigmoid",
    "sign",
    "sin",
    "softplus",
    "sqrt",
    "tanh",
    "where",
]


def exp(x: Any) -> Any:
    """Compute eˣ; infinity if it is too large for the data type.

    >>> import minigrad as mg
    >>> mg.exp(mg.tensor([0.0, 1000.0]))
    tensor([ 1., inf])
    """
    return ops.exp(x)


def log(x: Any) -> Any:
    """Compute the natural logarithm; −infinity at 0, NaN below.

    >>> import minigrad as mg
    >>> mg.log(mg.tensor([1.0, 0.0, -1.0]))
    tensor([  0., -inf,  nan])
    """
    return ops.log(x)


def log1p(x: Any) -> Any:
    """Compute log(1 + x), accurate for x near 0.

    >>> import minigrad as mg
    >>> mg.log1p(mg.tensor(1e-10)).item() > 0
    True
    """
    return ops.log1p(x)


def sqrt(x: Any) -> Any:
    """Compute the square root; NaN below 0, and an infinite gradient at 0.

    >>> import minigrad as mg
    >>> mg.sqrt(mg.tensor([4.0, 9.0]))
    tensor([2., 3.])
    """
    return ops.sqrt(x)


def pow(x: Any, exponent: Any) -> Any:
    """Raise x to the power of `exponent`, also x ** exponent; 0 ** 0 is 1, with gradient 0.

    Integers to a negative integer power raise ShapeError, as they would not stay integers.

    >>> import minigrad as mg
    >>> mg.pow(mg.tensor([-2.0, 3.0]), 2)
    tensor([4., 9.])
    """
    return ops.pow(x, exponent)


def sin(x: Any) -> Any:
    """Compute the sine of an angle in radians.

    >>> import minigrad as mg
    >>> mg.sin(mg.tensor(0.0)).item()
    0.0
    """
    return ops.sin(x)


def cos(x: Any) -> Any:
    """Compute the cosine of an angle in radians.

    >>> import minigrad as mg
    >>> mg.cos(mg.tensor(0.0)).item()
    1.0
    """
    return ops.cos(x)


def abs(x: Any) -> Any:
    """Compute the absolute value; its gradient at 0 is 0.

    >>> import minigrad as mg
    >>> mg.abs(mg.tensor([-2, 3]))
    tensor([2, 3])
    """
    return ops.abs(x)


def sign(x: Any) -> Any:
    """Return −1, 0 or 1; the gradient is 0.

    >>> import minigrad as mg
    >>> mg.sign(mg.tensor([-2.0, 0.0, 3.0]))
    tensor([-1.,  0.,  1.])
    """
    return ops.sign(x)


def floor(x: Any) -> Any:
    """Round down; the gradient is 0.

    >>> import minigrad as mg
    >>> mg.floor(mg.tensor([1.5, -1.5]))
    tensor([ 1., -2.])
    """
    return ops.floor(x)


def ceil(x: Any) -> Any:
    """Round up; the gradient is 0.

    >>> import minigrad as mg
    >>> mg.ceil(mg.tensor([1.5, -1.5]))
    tensor([ 2., -1.])
    """
    return ops.ceil(x)


def round(x: Any) -> Any:
    """Round to the nearest integer, ties to even; the gradient is 0.

    >>> import minigrad as mg
    >>> mg.round(mg.tensor([0.5, 1.5, 2.4]))
    tensor([0., 2., 2.])
    """
    return ops.round(x)


def floor_divide(a: Any, b: Any) -> Any:
    """Divide a by b and round down, also written a // b; the gradient is 0.

    Floats divided by 0 give infinity or NaN, integers raise NumericError.

    >>> import minigrad as mg
    >>> mg.floor_divide(mg.tensor([7, -7]), 2)
    tensor([ 3, -4])
    """
    return ops.floor_divide(a, b)


def mod(a: Any, b: Any) -> Any:
    """Compute the remainder a − b × (a // b), also written a % b; its sign is that of b.

    Floats modulo 0 give NaN, integers raise NumericError. (torch.remainder, tf.math.floormod.)

    >>> import minigrad as mg
    >>> mg.mod(mg.tensor([7, -7]), 4)
    tensor([3, 1])
    """
    return ops.mod(a, b)


def maximum(a: Any, b: Any) -> Any:
    """Return the larger of two elements, or NaN; equal ones share the gradient.

    >>> import minigrad as mg
    >>> mg.maximum(mg.tensor([1.0, 5.0]), 3.0)
    tensor([3., 5.])
    """
    return ops.maximum(a, b)


def minimum(a: Any, b: Any) -> Any:
    """Return the smaller of two elements, or NaN; equal ones share the gradient.

    >>> import minigrad as mg
    >>> mg.minimum(mg.tensor([1.0, 5.0]), 3.0)
    tensor([1., 3.])
    """
    return ops.minimum(a, b)


def clip(x: Any, low: float | None = None, high: float | None = None) -> Any:
    """Clip the elements between two numbers; None leaves a side open. (torch.clamp.)

    The gradient is 1 inside and on the bounds, 0 outside. With low > high everything is high.

    >>> import minigrad as mg
    >>> mg.clip(mg.tensor([-2.0, 0.5, 2.0]), -1.0, 1.0)
    tensor([-1. ,  0.5,  1. ])
    """
    return ops.clip(
        x, low=arguments.bound("Clip", "low", low), high=arguments.bound("Clip", "high", high)
    )


def where(condition: Any, a: Any = None, b: Any = None) -> Any:
    """Choose a where the condition holds, else b; only the chosen one gets a gradient.

    What was not chosen does no harm, not even infinity or NaN. The condition is bool, otherwise
    DtypeError. Both values have to be given: ArgumentError for the form that asks for positions.

    >>> import minigrad as mg
    >>> x = mg.tensor([-1.0, 2.0])
    >>> mg.where(x > 0, x, 0)
    tensor([0., 2.])
    """
    if a is None or b is None:
        name = "a" if a is None else "b"
        raise arguments.refuse("Where", name, None, fill("expect_both_values"))
    return ops.where(condition, a, b)


def logical_and(a: Any, b: Any) -> Any:
    """Return True where both are true (not 0); for bools also written a & b.

    >>> import minigrad as mg
    >>> mg.logical_and(mg.tensor([True, True]), mg.tensor([True, False]))
    tensor([ True, False])
    """
    return ops.logical_and(a, b)


def logical_or(a: Any, b: Any) -> Any:
    """Return True where one or both are true (not 0); for bools also written a | b.

    >>> import minigrad as mg
    >>> mg.logical_or(mg.tensor([False, True]), mg.tensor([False, False]))
    tensor([False,  True])
    """
    return ops.logical_or(a, b)


def logical_xor(a: Any, b: Any) -> Any:
    """Return True where exactly one is true (not 0); for bools also written a ^ b.

    >>> import minigrad as mg
    >>> mg.logical_xor(mg.tensor([True, True]), mg.tensor([True, False]))
    tensor([False,  True])
    """
    return ops.logical_xor(a, b)


def logical_not(x: Any) -> Any:
    """Return True where x is false (0); for bools also written ~x.

    >>> import minigrad as mg
    >>> mg.logical_not(mg.tensor([True, False]))
    tensor([False,  True])
    """
    return ops.logical_not(x)


def isnan(x: Any) -> Any:
    """Return True where x is NaN.

    >>> import minigrad as mg
    >>> mg.isnan(mg.tensor([1.0, float("nan")]))
    tensor([False,  True])
    """
    return ops.isnan(x)


def cast(x: Any, dtype: npt.DTypeLike) -> Any:
    """Cast the elements to another data type, and a gradient back. (x.astype.)

    None flows through integers and bools.

    >>> import minigrad as mg
    >>> mg.cast(mg.tensor([1.7, -1.7]), int)
    tensor([ 1, -1])
    """
    return ops.convert(x, arguments.as_dtype("cast", dtype))


def atan(x: Any) -> Any:
    """Compute the angle whose tangent is x, between −π/2 and π/2.

    >>> import minigrad as mg
    >>> mg.atan(mg.tensor([0.0, 1.0]))
    tensor([0.       , 0.7853982])
    """
    return ops.atan(x)


def tanh(x: Any) -> Any:
    """Compute the hyperbolic tangent, between −1 and 1.

    >>> import minigrad as mg
    >>> mg.tanh(mg.tensor([0.0, 100.0]))
    tensor([0., 1.])
    """
    return ops.tanh(x)


def sigmoid(x: Any) -> Any:
    """Compute 1 / (1 + e⁻ˣ), between 0 and 1.

    >>> import minigrad as mg
    >>> mg.sigmoid(mg.tensor([0.0, -200.0]))
    tensor([0.5, 0. ])
    """
    return ops.sigmoid(x)


def relu(x: Any) -> Any:
    """Compute max(x, 0); the gradient at 0 is 0.

    >>> import minigrad as mg
    >>> mg.relu(mg.tensor([-1.0, 2.0]))
    tensor([0., 2.])
    """
    return ops.relu(x)


def gelu(x: Any, approximate: Literal["none", "tanh"] = "none") -> Any:
    """Compute x Φ(x) with the normal distribution Φ, exactly or by its tanh approximation.

    Raises DtypeError for another `approximate`. (D. Hendrycks, K. Gimpel, arXiv:1606.08415.)

    >>> import minigrad as mg
    >>> mg.gelu(mg.tensor([-1.0, 0.0, 1.0]))
    tensor([-0.15865526,  0.        ,  0.8413447 ])
    """
    if approximate not in ("none", "tanh"):
        raise DtypeError(
            "option", op="GELU", value=approximate, choices="none, tanh", defined=here()
        )
    return ops.gelu(x, approximate=approximate)


def softplus(x: Any) -> Any:
    """Compute log(1 + eˣ), a smooth ReLU, without overflow.

    >>> import minigrad as mg
    >>> mg.softplus(mg.tensor([-200.0, 200.0]))
    tensor([  0., 200.])
    """
    return ops.softplus(x)


def erf(x: Any) -> Any:
    """Compute the error function 2/√π ∫₀ˣ exp(−t²) dt, within 5 float64 units in the last place.

    >>> import minigrad as mg
    >>> mg.erf(mg.tensor([0.0, 1.0]))
    tensor([0.       , 0.8427008])
    """
    return ops.erf(x)

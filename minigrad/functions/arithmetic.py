"""Python's operators as named functions, for arrays, tensors and graph nodes alike.

Arrays and numbers alone give plain arrays, as with every function. Operands are broadcast against
each other; data types are those of `minigrad.functions.elementwise`. Shapes that do not fit raise
ShapeError. The long names are those of NumPy, TensorFlow, JAX and PyTorch.
"""

from __future__ import annotations

from typing import Any

from minigrad import ops

__all__ = [
    "add",
    "div",
    "divide",
    "equal",
    "greater",
    "greater_equal",
    "less",
    "less_equal",
    "mul",
    "multiply",
    "neg",
    "negative",
    "not_equal",
    "sub",
    "subtract",
]


def add(a: Any, b: Any) -> Any:
    """Add element by element; for bools, True if one or both are true.

    >>> import minigrad as mg
    >>> mg.add(mg.tensor([1.0, 2.0]), 10)
    tensor([11., 12.])
    """
    return ops.add(a, b)


def subtract(a: Any, b: Any) -> Any:
    """Subtract b from a element by element; DtypeError for two bools.

    >>> import minigrad as mg
    >>> mg.subtract(mg.tensor([1.0, 2.0]), 10)
    tensor([-9., -8.])
    """
    return ops.sub(a, b)


def multiply(a: Any, b: Any) -> Any:
    """Multiply element by element; the matrix product is `matmul`.

    >>> import minigrad as mg
    >>> mg.multiply(mg.tensor([[1.0], [2.0]]), mg.tensor([3.0, 4.0]))
    tensor([[3., 4.],
            [6., 8.]])
    """
    return ops.mul(a, b)


def divide(a: Any, b: Any) -> Any:
    """Divide a by b element by element; integers give float32, division by 0 infinity or NaN.

    >>> import minigrad as mg
    >>> mg.divide(mg.tensor([1.0, -1.0, 0.0]), 0)
    tensor([ inf, -inf,  nan])
    """
    return ops.div(a, b)


def negative(x: Any) -> Any:
    """Negate element by element; DtypeError for bools.

    >>> import minigrad as mg
    >>> mg.negative(mg.tensor([1.0, -2.0]))
    tensor([-1.,  2.])
    """
    return ops.neg(x)


sub, mul, div, neg = subtract, multiply, divide, negative


# ---- Comparisons: no gradient flows; beside NaN only `not_equal` is true ------------------------


def equal(a: Any, b: Any) -> Any:
    """Return True where a == b; no gradient flows. To compare as a whole, use `mg.all`.

    >>> import minigrad as mg
    >>> mg.equal(mg.tensor([1.0, 2.0, float("nan")]), mg.tensor([1.0, 3.0, float("nan")]))
    tensor([ True, False, False])
    """
    return ops.equal(a, b)


def not_equal(a: Any, b: Any) -> Any:
    """Return True where a != b or one is NaN; no gradient flows.

    >>> import minigrad as mg
    >>> mg.not_equal(mg.tensor([1.0, 2.0]), 2)
    tensor([ True, False])
    """
    return ops.not_equal(a, b)


def less(a: Any, b: Any) -> Any:
    """Return True where a < b; no gradient flows.

    >>> import minigrad as mg
    >>> mg.less(mg.tensor([1.0, 2.0]), 2)
    tensor([ True, False])
    """
    return ops.less(a, b)


def less_equal(a: Any, b: Any) -> Any:
    """Return True where a <= b; no gradient flows.

    >>> import minigrad as mg
    >>> mg.less_equal(mg.tensor([1.0, 2.0]), 1)
    tensor([ True, False])
    """
    return ops.less_equal(a, b)


def greater(a: Any, b: Any) -> Any:
    """Return True where a > b; no gradient flows.

    >>> import minigrad as mg
    >>> mg.greater(mg.tensor([1.0, 2.0]), 1)
    tensor([False,  True])
    """
    return ops.greater(a, b)


def greater_equal(a: Any, b: Any) -> Any:
    """Return True where a >= b; no gradient flows.

    >>> import minigrad as mg
    >>> mg.greater_equal(mg.tensor([1.0, 2.0]), 2)
    tensor([False,  True])
    """
    return ops.greater_equal(a, b)

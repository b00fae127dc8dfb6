"""What Python's signs do, under names: for arrays, tensors and graph nodes alike.

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
    """a + b, element by element; of bools True where one or both are true.

    >>> import minigrad as mg
    >>> mg.add(mg.tensor([1.0, 2.0]), 10)
    tensor([11., 12.])
    """
    return ops.add(a, b)


def subtract(a: Any, b: Any) -> Any:
    """a − b, element by element; of two bools DtypeError.

    >>> import minigrad as mg
    >>> mg.subtract(mg.tensor([1.0, 2.0]), 10)
    tensor([-9., -8.])
    """
    return ops.sub(a, b)


def multiply(a: Any, b: Any) -> Any:
    """a × b, element by element; the product of matrices is `matmul`.

    >>> import minigrad as mg
    >>> mg.multiply(mg.tensor([[1.0], [2.0]]), mg.tensor([3.0, 4.0]))
    tensor([[3., 4.],
            [6., 8.]])
    """
    return ops.mul(a, b)


def divide(a: Any, b: Any) -> Any:
    """a ÷ b, element by element; of integers float32. By 0 it gives infinity or NaN.

    >>> import minigrad as mg
    >>> mg.divide(mg.tensor([1.0, -1.0, 0.0]), 0)
    tensor([ inf, -inf,  nan])
    """
    return ops.div(a, b)


def negative(x: Any) -> Any:
    """−x, element by element; of bools DtypeError.

    >>> import minigrad as mg
    >>> mg.negative(mg.tensor([1.0, -2.0]))
    tensor([-1.,  2.])
    """
    return ops.neg(x)


sub, mul, div, neg = subtract, multiply, divide, negative


# ---- Comparisons: no gradient flows; beside NaN only `not_equal` is true ------------------------


def equal(a: Any, b: Any) -> Any:
    """True where a == b; no gradient flows. Whether all are equal says `mg.all(mg.equal(a, b))`.

    >>> import minigrad as mg
    >>> mg.equal(mg.tensor([1.0, 2.0, float("nan")]), mg.tensor([1.0, 3.0, float("nan")]))
    tensor([ True, False, False])
    """
    return ops.equal(a, b)


def not_equal(a: Any, b: Any) -> Any:
    """True where a != b, and beside NaN; no gradient flows.

    >>> import minigrad as mg
    >>> mg.not_equal(mg.tensor([1.0, 2.0]), 2)
    tensor([ True, False])
    """
    return ops.not_equal(a, b)


def less(a: Any, b: Any) -> Any:
    """True where a < b; no gradient flows.

    >>> import minigrad as mg
    >>> mg.less(mg.tensor([1.0, 2.0]), 2)
    tensor([ True, False])
    """
    return ops.less(a, b)


def less_equal(a: Any, b: Any) -> Any:
    """True where a <= b; no gradient flows.

    >>> import minigrad as mg
    >>> mg.less_equal(mg.tensor([1.0, 2.0]), 1)
    tensor([ True, False])
    """
    return ops.less_equal(a, b)


def greater(a: Any, b: Any) -> Any:
    """True where a > b; no gradient flows.

    >>> import minigrad as mg
    >>> mg.greater(mg.tensor([1.0, 2.0]), 1)
    tensor([False,  True])
    """
    return ops.greater(a, b)


def greater_equal(a: Any, b: Any) -> Any:
    """True where a >= b; no gradient flows.

    >>> import minigrad as mg
    >>> mg.greater_equal(mg.tensor([1.0, 2.0]), 2)
    tensor([False,  True])
    """
    return ops.greater_equal(a, b)

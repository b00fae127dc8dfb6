"""Functions for arrays, tensors and graph nodes alike; and the ways to make tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from minigrad import ops
from minigrad.backprop import scoped
from minigrad.core import as_array, float32
from minigrad.eager import Tensor
from minigrad.errors import ShapeError
from minigrad.source import here

exp, log, sqrt, tanh, sigmoid, relu = (
    ops.exp,
    ops.log,
    ops.sqrt,
    ops.tanh,
    ops.sigmoid,
    ops.relu,
)
matmul, softmax, log_softmax = ops.matmul, ops.softmax, ops.log_softmax
sum, mean, argmax, reshape, transpose = (
    ops.sum,
    ops.mean,
    ops.argmax,
    ops.reshape,
    ops.transpose,
)


def cross_entropy(scores: Any, labels: Any) -> Any:
    """The mean cross-entropy between softmax(scores) and class numbers: one number.

    scores: (n, classes), not yet normalised; labels: (n,) integers from 0.
    Raises ShapeError or DtypeError when the two do not belong together.

    >>> import minigrad as mg
    >>> round(mg.cross_entropy(mg.tensor([[2.0, 0.0]]), mg.tensor([0])).item(), 4)
    0.1269
    """
    with scoped("loss"):
        return ops.mean(ops.softmax_cross_entropy(scores, labels))


def tensor(
    data: Any,
    requires_grad: bool = False,
    dtype: npt.DTypeLike | None = None,
    name: str | None = None,
) -> Tensor:
    """A tensor with a copy of the data: numbers, nested lists or an array.

    float32 unless `dtype` or an integer, bool or NumPy array says otherwise. `name` is shown in
    drawings. Raises DtypeError for what is not numbers, and for integers with requires_grad.

    >>> import minigrad as mg
    >>> mg.tensor([[1.0, 2.0]], requires_grad=True)
    tensor([[1., 2.]], requires_grad=True)
    """
    given = data.data if isinstance(data, Tensor) else data
    return Tensor(given if dtype is None else as_array(given, dtype, "tensor"), requires_grad, name)


def zeros(
    *shape: int | Sequence[int], dtype: npt.DTypeLike = float32, requires_grad: bool = False
) -> Tensor:
    """A tensor of zeros: zeros(2, 3) or zeros((2, 3))."""
    return Tensor(np.zeros(_lengths(shape), dtype), requires_grad)


def ones(
    *shape: int | Sequence[int], dtype: npt.DTypeLike = float32, requires_grad: bool = False
) -> Tensor:
    """A tensor of ones: ones(2, 3) or ones((2, 3))."""
    return Tensor(np.ones(_lengths(shape), dtype), requires_grad)


def arange(*bounds: float, dtype: npt.DTypeLike | None = None) -> Tensor:
    """Evenly spaced numbers, as range() counts them; float32 when a bound is a float."""
    whole = all(isinstance(b, (int, np.integer)) for b in bounds)
    return Tensor(np.arange(*bounds, dtype=dtype or (np.int64 if whole else float32)))


def randn(
    *shape: int | Sequence[int],
    seed: int | None = None,
    dtype: npt.DTypeLike = float32,
    requires_grad: bool = False,
) -> Tensor:
    """Numbers drawn from the standard normal distribution; the same `seed`, the same numbers."""
    drawn = np.random.default_rng(seed).standard_normal(_lengths(shape))
    return Tensor(drawn.astype(dtype), requires_grad)


def _lengths(shape: tuple[Any, ...]) -> tuple[int, ...]:
    nested = len(shape) == 1 and isinstance(shape[0], (tuple, list))
    lengths = tuple(shape[0]) if nested else shape
    if any(not isinstance(n, (int, np.integer)) or n < 0 for n in lengths):
        raise ShapeError("lengths", op="tensor", shape=lengths, defined=here())
    return tuple(int(n) for n in lengths)


def Print(x: Any, message: str = "") -> Any:
    """x itself; whenever it is computed, `message` and its value are written out.

    In a graph that happens at each run that needs the result, or that depends on it through
    `control_dependencies`; in a branch, a loop or a traced function always. (tf.Print.)

    >>> import minigrad as mg
    >>> y = mg.Print(mg.tensor([1.0, 2.0]), "x is") * 2
    x is [1., 2.]
    """
    return ops.print_value(x, message=message)


def Assert(condition: Any, message: str = "") -> Any:
    """The condition itself; AssertionFailed, with `message`, when any element of it is false.

    In a graph it is checked at each run that needs the result, as with `Print`. (tf.Assert.)

    >>> import minigrad as mg
    >>> mg.Assert(mg.tensor(2.0) > 0, "must be positive").item()
    True
    """
    return ops.assert_true(condition, message=message)

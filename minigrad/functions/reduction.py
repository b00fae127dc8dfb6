"""Functions along axes, for arrays, tensors and graph nodes alike.

`axis` is None for all axes, one axis or a tuple of them; negative ones count from the end, and
ShapeError names one that does not exist. With `keepdims` the axes stay, with length 1.
"""

from __future__ import annotations

from typing import Any

from minigrad import ops
from minigrad.diagnostics.errors import located
from minigrad.ops import reduction
from minigrad.ops.shape import Axis, over

__all__ = [
    "all",
    "any",
    "argmax",
    "argmin",
    "cumsum",
    "log_softmax",
    "logsumexp",
    "max",
    "mean",
    "min",
    "prod",
    "softmax",
    "std",
    "sum",
    "var",
]


def sum(x: Any, axis: Axis = None, keepdims: bool = False) -> Any:
    """Sum all elements or along axes; integers and bools are summed as int64.

    >>> import minigrad as mg
    >>> mg.sum(mg.tensor([[1.0, 2.0], [3.0, 4.0]]), axis=0)
    tensor([4., 6.])
    """
    return ops.sum(x, **over("Sum", axis, keepdims))


def prod(x: Any, axis: Axis = None, keepdims: bool = False) -> Any:
    """Multiply all elements or along axes; integers and bools as int64. No elements: 1.

    Its gradient is right for zeros, too: they are not divided by.

    >>> import minigrad as mg
    >>> x = mg.tensor([[2.0, 3.0], [0.0, 4.0]], requires_grad=True)
    >>> y = mg.prod(x, axis=1)
    >>> y.sum().backward()
    >>> y.tolist(), x.grad.tolist()
    ([6.0, 0.0], [[3.0, 2.0], [4.0, 0.0]])
    """
    return ops.product(x, **over("Prod", axis, keepdims))


def mean(x: Any, axis: Axis = None, keepdims: bool = False) -> Any:
    """Average all elements or along axes; integers give float32, no elements NaN.

    >>> import minigrad as mg
    >>> mg.mean(mg.tensor([[1.0, 2.0], [3.0, 4.0]]), axis=1)
    tensor([1.5, 3.5])
    """
    return ops.mean(x, **over("Mean", axis, keepdims))


@located
def max(
    x: Any, *other: Any, axis: Axis = None, keepdims: bool = False, dim: int | None = None
) -> Any:
    """Return the largest element, NaN if there is one; equal ones share the gradient.

    Along `axis` it is the elements (np.max, torch.amax). Along `dim` it is the elements and their
    positions, as of torch.max, and the whole gradient goes to these positions. mg.max(x, 1) is
    refused, since it could mean either; mg.max(a, b) is `maximum`. Raises ShapeError where there
    are no elements.

    >>> import minigrad as mg
    >>> x = mg.tensor([[1.0, 5.0], [3.0, 4.0]])
    >>> mg.max(x, axis=1)
    tensor([5., 4.])
    >>> values, indices = mg.max(x, dim=1)
    >>> indices
    tensor([1, 1])
    """
    return reduction.extreme("max", x, other, axis, keepdims, dim)


@located
def min(
    x: Any, *other: Any, axis: Axis = None, keepdims: bool = False, dim: int | None = None
) -> Any:
    """Return the smallest element, like `max`: with `axis` as np.min, with `dim` as torch.min.

    mg.min(a, b) is `minimum`. Raises ShapeError where there are no elements.

    >>> import minigrad as mg
    >>> mg.min(mg.tensor([[1.0, 5.0], [3.0, 4.0]]), axis=1)
    tensor([1., 3.])
    """
    return reduction.extreme("min", x, other, axis, keepdims, dim)


def argmax(x: Any, axis: int | None = None, keepdims: bool = False) -> Any:
    """Return the position of the first largest element (int64); no gradient flows.

    Without an axis it counts through the flattened elements. ShapeError where there are none.

    >>> import minigrad as mg
    >>> mg.argmax(mg.tensor([[1.0, 5.0], [3.0, 2.0]]), axis=1)
    tensor([1, 0])
    """
    return ops.argmax(x, axis=axis, keepdims=keepdims)


def argmin(x: Any, axis: int | None = None, keepdims: bool = False) -> Any:
    """Return the position of the first smallest element (int64); no gradient flows.

    Without an axis it counts through the flattened elements. ShapeError where there are none.

    >>> import minigrad as mg
    >>> mg.argmin(mg.tensor([[1.0, 5.0], [3.0, 2.0]]), axis=1)
    tensor([0, 1])
    """
    return ops.argmin(x, axis=axis, keepdims=keepdims)


def all(x: Any, axis: Axis = None, keepdims: bool = False) -> Any:
    """Return whether all elements are true (not 0); True if there are none.

    >>> import minigrad as mg
    >>> mg.all(mg.tensor([1.0, 2.0]) > 0).item()
    True
    """
    return ops.all(x, **over("All", axis, keepdims))


def any(x: Any, axis: Axis = None, keepdims: bool = False) -> Any:
    """Return whether any element is true (not 0); False if there are none.

    >>> import minigrad as mg
    >>> mg.any(mg.tensor([1.0, 2.0]) > 5).item()
    False
    """
    return ops.any(x, **over("Any", axis, keepdims))


def logsumexp(x: Any, axis: Axis = None, keepdims: bool = False) -> Any:
    """Compute log(sum(exp(x))) without overflow; its gradient is softmax(x).

    >>> import minigrad as mg
    >>> mg.logsumexp(mg.tensor([1000.0, 1000.0])).item()
    1000.6931762695312
    """
    return ops.logsumexp(x, **over("LogSumExp", axis, keepdims))


@located
def var(x: Any, axis: Axis = None, correction: int = 1, keepdims: bool = False) -> Any:
    """Compute the variance: the sum of squared distances from the mean over n − correction.

    As in PyTorch the divisor is n − 1 unless said otherwise (NumPy and TensorFlow: correction=0);
    NaN where it is 0 or less.

    >>> import minigrad as mg
    >>> mg.var(mg.tensor([1.0, 3.0])).item(), mg.var(mg.tensor([1.0, 3.0]), correction=0).item()
    (2.0, 1.0)
    """
    return reduction.var(x, correction=correction, **over("var", axis, keepdims))


@located
def std(x: Any, axis: Axis = None, correction: int = 1, keepdims: bool = False) -> Any:
    """Compute the standard deviation, the square root of `var`; if 0, its gradient is 0.

    >>> import minigrad as mg
    >>> mg.std(mg.tensor([1.0, 3.0]), correction=0).item()
    1.0
    """
    return reduction.std(x, correction=correction, **over("std", axis, keepdims))


def cumsum(x: Any, axis: int) -> Any:
    """Compute the running sum along an axis; integers and bools are summed as int64.

    >>> import minigrad as mg
    >>> mg.cumsum(mg.tensor([1.0, 2.0, 3.0]), axis=0)
    tensor([1., 3., 6.])
    """
    return ops.cumsum(x, axis=axis)


def softmax(x: Any, axis: int = -1) -> Any:
    """Compute exp(x) / sum(exp(x)) along an axis, without overflow.

    >>> import minigrad as mg
    >>> mg.softmax(mg.tensor([1000.0, 1000.0]))
    tensor([0.5, 0.5])
    """
    return ops.softmax(x, axis=axis)


def log_softmax(x: Any, axis: int = -1) -> Any:
    """Compute the logarithm of softmax, accurate even where softmax is nearly 0.

    >>> import minigrad as mg
    >>> mg.log_softmax(mg.tensor([0.0, 1000.0]))
    tensor([-1000.,     0.])
    """
    return ops.log_softmax(x, axis=axis)

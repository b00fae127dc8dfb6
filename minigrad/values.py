"""What a user can write with a value, in either mode: Python's operators and the usual methods."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np

from minigrad import ops
from minigrad.core import Op, Reader, apply
from minigrad.ops.shape import Axis


def _forward(op: Op) -> Any:
    return lambda self, other: apply(op, (self, other), {})


def _backward(op: Op) -> Any:
    return lambda self, other: apply(op, (other, self), {})


class Value:
    """The parent of `Tensor` and `Node`. Nothing here knows which of the two it is."""

    __slots__ = ()
    reader: ClassVar[Reader]
    __array_ufunc__ = None  # NumPy arrays on the left leave the operation to us
    __array_priority__ = 1000
    __hash__ = object.__hash__  # == works element by element, so equality cannot be hashed

    __add__, __radd__ = _forward(ops.add), _backward(ops.add)
    __sub__, __rsub__ = _forward(ops.sub), _backward(ops.sub)
    __mul__, __rmul__ = _forward(ops.mul), _backward(ops.mul)
    __truediv__, __rtruediv__ = _forward(ops.div), _backward(ops.div)
    __pow__, __rpow__ = _forward(ops.pow), _backward(ops.pow)
    __matmul__, __rmatmul__ = _forward(ops.matmul), _backward(ops.matmul)
    __lt__, __le__ = _forward(ops.less), _forward(ops.less_equal)
    __gt__, __ge__ = _forward(ops.greater), _forward(ops.greater_equal)
    __eq__ = _forward(ops.equal)
    __ne__ = _forward(ops.not_equal)

    def __neg__(self) -> Self:
        return self._apply(ops.neg)

    def __abs__(self) -> Self:
        return self._apply(ops.abs)

    def _apply(self, op: Op, *others: Any, **attrs: Any) -> Self:
        result: Self = apply(op, (self, *others), attrs)
        return result

    def sum(self, axis: Axis = None, keepdims: bool = False) -> Self:
        """The sum over all elements, or along `axis`."""
        return self._apply(ops.sum, axis=axis, keepdims=keepdims)

    def mean(self, axis: Axis = None, keepdims: bool = False) -> Self:
        """The mean of all elements, or along `axis`."""
        return self._apply(ops.mean, axis=axis, keepdims=keepdims)

    def argmax(self, axis: int | None = None) -> Self:
        """The position of the largest element; no gradient."""
        return self._apply(ops.argmax, axis=axis)

    def reshape(self, *shape: int | tuple[int, ...]) -> Self:
        """The same elements in another shape; one length may be -1."""
        lengths = shape[0] if len(shape) == 1 and isinstance(shape[0], (tuple, list)) else shape
        return self._apply(ops.reshape, shape=tuple(lengths))

    def transpose(self, *axes: int) -> Self:
        """The axes in another order; reversed when none are named."""
        return self._apply(ops.transpose, axes=axes or None)

    @property
    def T(self) -> Self:
        """The axes in reverse order."""
        return self.transpose()

    def astype(self, dtype: Any) -> Self:
        """The elements converted to another data type."""
        return self._apply(ops.cast, dtype=np.dtype(dtype))

    def exp(self) -> Self:
        return self._apply(ops.exp)

    def log(self) -> Self:
        return self._apply(ops.log)

    def sqrt(self) -> Self:
        return self._apply(ops.sqrt)

    def abs(self) -> Self:
        return self._apply(ops.abs)

    def tanh(self) -> Self:
        return self._apply(ops.tanh)

    def sigmoid(self) -> Self:
        return self._apply(ops.sigmoid)

    def relu(self) -> Self:
        return self._apply(ops.relu)

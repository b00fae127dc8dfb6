"""The methods of values in either mode: Python's operators and the usual methods."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any, ClassVar, Self

import numpy as np

from minigrad import ops
from minigrad.core import Op, Reader, apply, show_shape
from minigrad.diagnostics.arguments import as_dtype, bound, whole_numbers
from minigrad.diagnostics.errors import ShapeError, located
from minigrad.diagnostics.source import here
from minigrad.ops.arrange import flatten, flip, known_lengths, swapaxes, transposed
from minigrad.ops.logic import expect_condition
from minigrad.ops.reduction import extreme, std, var
from minigrad.ops.shape import Axis, as_axes, over, positive_axis


class Lengths:
    """The lengths of the axes, for `x.size()` and `x.size(0)` as PyTorch has it."""

    lengths: tuple[Any, ...]  # None where it is open

    def __call__(self, dim: int | None = None) -> Any:
        """Return the lengths of all axes, or of one."""
        if dim is None:
            return self.lengths
        return self.lengths[positive_axis("size", dim, self.lengths)]


class Size(Lengths, int):
    """The number of elements, `x.size` as NumPy has it; called, the lengths."""


def size_of(lengths: tuple[int, ...]) -> Size:
    """Return the number of elements of a shape."""
    size = Size(math.prod(lengths))
    size.lengths = lengths
    return size


def _forward(op: Op) -> Any:
    return lambda self, other: apply(op, (self, other), {})


def _backward(op: Op) -> Any:
    return lambda self, other: apply(op, (other, self), {})


def _bool_operator(op: Op) -> Any:
    """Make &, | or ^: they combine bools and refuse numbers, where parentheses were forgotten."""

    def method(self: Any, other: Any) -> Any:
        for x in (self, other):
            expect_condition(op.name, np.dtype(getattr(x, "dtype", type(x))))
        return apply(op, (self, other), {})

    return located(method)


class Value:
    """The parent of `Tensor` and `Node`. Nothing here knows which of the two it is."""

    __slots__ = ()
    reader: ClassVar[Reader]
    item: Callable[[], Any]  # a tensor has a number, a node says why it has none
    __array_function__: Callable[..., Any]  # what NumPy asks before it runs, see `protocol`
    __array_ufunc__: Callable[..., Any]
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
    __floordiv__, __rfloordiv__ = _forward(ops.floor_divide), _backward(ops.floor_divide)
    __mod__, __rmod__ = _forward(ops.mod), _backward(ops.mod)
    __and__ = __rand__ = _bool_operator(ops.logical_and)
    __or__ = __ror__ = _bool_operator(ops.logical_or)
    __xor__ = __rxor__ = _bool_operator(ops.logical_xor)

    def __neg__(self) -> Self:
        return self._unary(ops.neg)

    def __pos__(self) -> Self:
        return self

    def __abs__(self) -> Self:
        return self._unary(ops.abs)

    @located
    def __invert__(self) -> Self:
        me: Any = self
        expect_condition("Not", me.dtype)
        return self._unary(ops.logical_not)

    def __getitem__(self, key: Any) -> Self:
        """Select elements: x[1], x[..., ::2], x[None], x[[0, 2]], x[x > 0].

        Integers, slices, None and ... as in NumPy; arrays of integers pick elements along their
        axes. A mask of bools picks those where it is true; not in a static graph, where it would
        leave the shape open. Raises IndexRangeError (an IndexError), DtypeError, ShapeError.
        """
        result: Self = ops.get_item(self, key)
        return result

    def __iter__(self) -> Iterator[Self]:
        """Iterate over the elements along axis 0."""
        me: Any = self
        return (self[i] for i in range(len(me)))

    def _unary(self, op: Op) -> Self:
        """Apply an operator to this operand alone, without attributes."""
        result: Self = self.reader.apply(op, (self,), {})
        return result

    def _apply(self, op: Op, *others: Any, **attrs: Any) -> Self:
        result: Self = apply(op, (self, *others), attrs)
        return result

    def _reduce(self, op: Op, axis: Axis, keepdims: bool) -> Self:
        """Apply a reduction along some axes, or all."""
        result: Self = apply(op, (self,), over(op.name, axis, keepdims))
        return result

    # ---- along axes: `axis` is None for all, a number or a tuple; negative ones count from the end

    def sum(self, axis: Axis = None, keepdims: bool = False) -> Self:
        """Sum all elements, or along `axis`."""
        return self._reduce(ops.sum, axis, keepdims)

    def prod(self, axis: Axis = None, keepdims: bool = False) -> Self:
        """Multiply all elements, or along `axis`."""
        result: Self = ops.product(self, **over("Prod", axis, keepdims))
        return result

    def mean(self, axis: Axis = None, keepdims: bool = False) -> Self:
        """Average all elements, or along `axis`."""
        return self._reduce(ops.mean, axis, keepdims)

    @located
    def max(
        self, *other: Any, axis: Axis = None, keepdims: bool = False, dim: int | None = None
    ) -> Any:
        """Return the maximum, overall or along `axis`; with `dim` also positions. See `mg.max`."""
        return extreme("max", self, other, axis, keepdims, dim)

    @located
    def min(
        self, *other: Any, axis: Axis = None, keepdims: bool = False, dim: int | None = None
    ) -> Any:
        """Return the minimum, overall or along `axis`; with `dim` also positions. See `mg.min`."""
        return extreme("min", self, other, axis, keepdims, dim)

    def logsumexp(self, axis: Axis = None, keepdims: bool = False) -> Self:
        """Compute log(sum(exp(x))) overall or along `axis`, without overflow."""
        return self._reduce(ops.logsumexp, axis, keepdims)

    def all(self, axis: Axis = None, keepdims: bool = False) -> Self:
        """Return whether all elements are true (not 0), overall or along `axis`."""
        return self._reduce(ops.all, axis, keepdims)

    def any(self, axis: Axis = None, keepdims: bool = False) -> Self:
        """Return whether any element is true (not 0), overall or along `axis`."""
        return self._reduce(ops.any, axis, keepdims)

    def var(self, axis: Axis = None, correction: int = 1, keepdims: bool = False) -> Self:
        """Compute the variance with the divisor n − correction, as PyTorch does (NumPy: n)."""
        result: Self = var(self, correction=correction, **over("var", axis, keepdims))
        return result

    def std(self, axis: Axis = None, correction: int = 1, keepdims: bool = False) -> Self:
        """Compute the standard deviation: the square root of `var`."""
        result: Self = std(self, correction=correction, **over("std", axis, keepdims))
        return result

    def argmax(self, axis: int | None = None, keepdims: bool = False) -> Self:
        """Return the position of the largest element; no gradient flows through it."""
        return self._apply(ops.argmax, axis=axis, keepdims=keepdims)

    def argmin(self, axis: int | None = None, keepdims: bool = False) -> Self:
        """Return the position of the smallest element; no gradient flows through it."""
        return self._apply(ops.argmin, axis=axis, keepdims=keepdims)

    def cumsum(self, axis: int) -> Self:
        """Compute the running sum along an axis."""
        return self._apply(ops.cumsum, axis=axis)

    def softmax(self, axis: int = -1) -> Self:
        """Compute exp(x) / sum(exp(x)) along an axis."""
        return self._apply(ops.softmax, axis=axis)

    def log_softmax(self, axis: int = -1) -> Self:
        """Compute the logarithm of `softmax`, accurate even where softmax is nearly 0."""
        return self._apply(ops.log_softmax, axis=axis)

    # ---- the same elements in another shape

    def reshape(self, *shape: int | tuple[int, ...]) -> Self:
        """Return the same elements in another shape; one length may be -1."""
        lengths = shape[0] if len(shape) == 1 and isinstance(shape[0], (tuple, list)) else shape
        known = known_lengths(self, lengths)
        return self._apply(ops.reshape, shape=whole_numbers("Reshape", "shape", known))

    @located
    def view(self, *shape: int | tuple[int, ...]) -> Self:
        """Reshape with shared elements, so that an in-place change is seen in both.

        ShapeError where it would take a copy of them, as after `transpose`.
        """
        result = self.reshape(*shape)
        me: Any = self
        new = getattr(result, "_array", None)
        if isinstance(new, np.ndarray) and new.size and not np.may_share_memory(me._array, new):
            raise ShapeError("view_copies", op="view", shape=show_shape(me.shape), defined=here())
        return result

    def flatten(self, start_axis: int = 0, end_axis: int = -1) -> Self:
        """Merge all axes from `start_axis` to `end_axis` into one."""
        result: Self = flatten(self, start_axis, end_axis)
        return result

    def transpose(self, *axes: int | tuple[int, ...]) -> Self:
        """Exchange two axes, as in PyTorch; without any, reverse their order.

        A tuple, or three and more, are the axes in another order, as in NumPy.
        """
        result: Self = transposed(self, axes)
        return result

    def swapaxes(self, axis1: int, axis2: int) -> Self:
        """Exchange two axes."""
        result: Self = swapaxes(self, axis1, axis2)
        return result

    def squeeze(self, axis: Axis = None) -> Self:
        """Remove axes of length 1: all, or those named; ShapeError for a longer one."""
        return self._apply(ops.squeeze, axis=as_axes(axis))

    def unsqueeze(self, axis: int) -> Self:
        """Insert an axis of length 1 at this place."""
        return self._apply(ops.expand_dims, axis=axis)

    def flip(self, axis: Axis = None, *others: int) -> Self:
        """Reverse the elements along all axes, or some: x.flip(0, 1), x.flip((0, 1))."""
        result: Self = flip(self, as_axes((axis, *others) if others else axis))  # type: ignore[arg-type]
        return result

    @property
    def T(self) -> Self:
        """The axes in reverse order."""
        return self.transpose()

    # ---- element by element

    def __format__(self, form: str) -> str:
        """Format a single number as in f"{loss:.3f}"; without a format, use str()."""
        return format(self.item(), form) if form else str(self)

    def astype(self, dtype: Any) -> Self:
        """Cast the elements to another data type; no gradient flows through integers."""
        result: Self = ops.convert(self, as_dtype("astype", dtype))
        return result

    def clip(self, low: float | None = None, high: float | None = None) -> Self:
        """Clip the elements between two bounds; the gradient is 1 inside and on the bounds."""
        return self._apply(
            ops.clip, low=bound("Clip", "low", low), high=bound("Clip", "high", high)
        )

    def exp(self) -> Self:
        """Compute eˣ, element by element."""
        return self._unary(ops.exp)

    def log(self) -> Self:
        """Compute the natural logarithm; −infinity at 0, NaN below."""
        return self._unary(ops.log)

    def sqrt(self) -> Self:
        """Compute the square root; NaN below 0."""
        return self._unary(ops.sqrt)

    def sin(self) -> Self:
        """Compute the sine; angles in radians."""
        return self._unary(ops.sin)

    def cos(self) -> Self:
        """Compute the cosine; angles in radians."""
        return self._unary(ops.cos)

    def abs(self) -> Self:
        """Compute the absolute value; the gradient at 0 is 0."""
        return self._unary(ops.abs)

    def sign(self) -> Self:
        """Return −1, 0 or 1; the gradient is 0."""
        return self._unary(ops.sign)

    def floor(self) -> Self:
        """Round down; the gradient is 0."""
        return self._unary(ops.floor)

    def ceil(self) -> Self:
        """Round up; the gradient is 0."""
        return self._unary(ops.ceil)

    def round(self) -> Self:
        """Round to the nearest integer, ties to even; the gradient is 0."""
        return self._unary(ops.round)

    def isnan(self) -> Self:
        """Return True for each element that is NaN."""
        return self._unary(ops.isnan)

    def tanh(self) -> Self:
        """Compute the hyperbolic tangent, between −1 and 1."""
        return self._unary(ops.tanh)

    def sigmoid(self) -> Self:
        """Compute 1 / (1 + e⁻ˣ), between 0 and 1."""
        return self._unary(ops.sigmoid)

    def relu(self) -> Self:
        """Compute max(x, 0); the gradient at 0 is 0."""
        return self._unary(ops.relu)

"""Functions that make tensors, and constants in the shape of an operand."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from minigrad import ops
from minigrad.core import as_array, float32, float64, int64
from minigrad.diagnostics import arguments
from minigrad.diagnostics.errors import DtypeError, ShapeError
from minigrad.diagnostics.messages import fill
from minigrad.diagnostics.source import here
from minigrad.dynamic.tensor import Tensor

__all__ = [
    "arange",
    "eye",
    "full",
    "full_like",
    "linspace",
    "manual_seed",
    "ones",
    "ones_like",
    "rand",
    "randint",
    "randn",
    "tensor",
    "zeros",
    "zeros_like",
]

Length = int | Sequence[int]


def tensor(
    data: Any,
    requires_grad: bool = False,
    dtype: npt.DTypeLike | None = None,
    name: str | None = None,
) -> Tensor:
    """Make a tensor with a copy of the data: numbers, nested lists or an array.

    float32 unless `dtype` or an integer, bool or NumPy array says otherwise. A tensor without axes
    has its data type like any other: float64 beside float32 gives float64, as in NumPy and JAX (in
    PyTorch float32); Python numbers and NumPy scalars take that of the operand. `name` is shown in
    drawings. Raises DtypeError for what is not numbers, and for integers with requires_grad.

    >>> import minigrad as mg
    >>> mg.tensor([[1.0, 2.0]], requires_grad=True)
    tensor([[1., 2.]], requires_grad=True)
    """
    given = data._array if isinstance(data, Tensor) else data
    if dtype is not None:
        given = as_array(given, arguments.as_dtype("tensor", dtype), "tensor")
    return Tensor(given, requires_grad, name)


def zeros(*shape: Length, dtype: npt.DTypeLike = float32, requires_grad: bool = False) -> Tensor:
    """Make a tensor of zeros: zeros(2, 3) or zeros((2, 3)).

    >>> import minigrad as mg
    >>> mg.zeros(2)
    tensor([0., 0.])
    """
    kind = arguments.as_dtype("zeros", dtype)
    if _is_traced(shape):
        return _repeated(kind.type(0), shape)
    return Tensor(_filled("zeros", shape, lambda lengths: np.zeros(lengths, kind)), requires_grad)


def ones(*shape: Length, dtype: npt.DTypeLike = float32, requires_grad: bool = False) -> Tensor:
    """Make a tensor of ones: ones(2, 3) or ones((2, 3)).

    >>> import minigrad as mg
    >>> mg.ones(2)
    tensor([1., 1.])
    """
    kind = arguments.as_dtype("ones", dtype)
    if _is_traced(shape):
        return _repeated(kind.type(1), shape)
    return Tensor(_filled("ones", shape, lambda lengths: np.ones(lengths, kind)), requires_grad)


def full(
    shape: Length, value: float, dtype: npt.DTypeLike | None = None, requires_grad: bool = False
) -> Tensor:
    """Make a tensor of one value, by default of the data type of mg.tensor(value).

    >>> import minigrad as mg
    >>> mg.full((2,), 7.0)
    tensor([7., 7.])
    """
    kind = None if dtype is None else arguments.as_dtype("full", dtype)
    one = as_array(value, kind, "full")
    if one.shape:
        raise ShapeError("rank", op="full", expected="no axes", shape=one.shape, defined=here())
    if _is_traced((shape,)):
        return _repeated(one[()], (shape,))
    filled = _filled("full", (shape,), lambda lengths: np.full(lengths, one))
    return Tensor(filled, requires_grad)


def eye(n: int, m: int | None = None, dtype: npt.DTypeLike = float32) -> Tensor:
    """Make the identity matrix (n, n), or (n, m) with ones along the diagonal.

    >>> import minigrad as mg
    >>> mg.eye(2)
    tensor([[1., 0.],
            [0., 1.]])
    """
    kind = arguments.as_dtype("eye", dtype)
    return Tensor(_filled("eye", (n, n if m is None else m), lambda nm: np.eye(*nm, dtype=kind)))


def arange(*bounds: float, dtype: npt.DTypeLike | None = None) -> Tensor:
    """Make evenly spaced numbers, as range() counts; float32 if a bound is a float.

    >>> import minigrad as mg
    >>> mg.arange(3), mg.arange(0.0, 1.0, 0.5)
    (tensor([0, 1, 2]), tensor([0. , 0.5]))
    """
    for bound in bounds:
        _finite("arange", "bounds", bound)
    if not 1 <= len(bounds) <= 3 or (len(bounds) == 3 and bounds[2] == 0):
        raise arguments.refuse("arange", "bounds", bounds, fill("expect_bounds"))
    whole = all(map(arguments.is_whole, bounds))
    kind = arguments.as_dtype("arange", dtype or (int64 if whole else float32))
    start, stop, step = (0, *bounds, 1) if len(bounds) == 1 else (*bounds, 1)[:3]
    if len(bounds) == 1 and _is_traced(bounds):
        counted: Tensor = ops.cumsum(_repeated(kind.type(1), bounds), axis=0) - kind.type(1)
        return counted
    count = max(0, math.ceil((stop - start) / step))
    for number in (start, start + (count - 1) * step) if count and kind.kind in "iu" else ():
        _expect_place("arange", int(number), kind)
    if not count:  # NumPy would look at bounds that no number comes from
        return zeros(0, dtype=kind)
    return Tensor(_filled("arange", (count,), lambda _: np.arange(*bounds, dtype=kind)))


def linspace(start: float, stop: float, count: int, dtype: npt.DTypeLike = float32) -> Tensor:
    """Make `count` evenly spaced numbers from `start` to `stop`, both included.

    >>> import minigrad as mg
    >>> mg.linspace(0, 1, 3)
    tensor([0. , 0.5, 1. ])
    """
    n = arguments.whole("linspace", "count", count)
    kind = arguments.as_dtype("linspace", dtype)
    for name, bound in (("start", start), ("stop", stop)):
        _finite("linspace", name, bound)
    return Tensor(
        _filled("linspace", (n,), lambda _: np.linspace(float(start), float(stop), n).astype(kind)),
    )


# ---- Random numbers: the same `seed`, the same numbers --------------------------------------


def rand(
    *shape: Length,
    seed: int | None = None,
    dtype: npt.DTypeLike = float32,
    requires_grad: bool = False,
) -> Tensor:
    """Draw uniform numbers from 0 (included) to 1 (excluded).

    >>> import minigrad as mg
    >>> mg.rand(2, 3, seed=0).shape
    (2, 3)
    """
    kind: Any = _float("rand", dtype)  # drawn in that type: rounding afterwards could give 1
    draw = arguments.seeded("rand", seed).random
    return Tensor(_filled("rand", shape, lambda lengths: draw(lengths, kind)), requires_grad)


def randn(
    *shape: Length,
    seed: int | None = None,
    dtype: npt.DTypeLike = float32,
    requires_grad: bool = False,
) -> Tensor:
    """Draw numbers from the standard normal distribution.

    >>> import minigrad as mg
    >>> mg.randn(2, 3, seed=0).shape
    (2, 3)
    """
    drawn = _filled("randn", shape, arguments.seeded("randn", seed).standard_normal)
    return Tensor(drawn.astype(_float("randn", dtype)), requires_grad)


def randint(
    low: int, high: int, *shape: Length, seed: int | None = None, dtype: npt.DTypeLike = int64
) -> Tensor:
    """Draw uniform integers from `low` (included) to `high` (excluded).

    >>> import minigrad as mg
    >>> mg.randint(0, 10, 5, seed=0).shape
    (5,)
    """
    first = arguments.whole("randint", "low", low, least=-(1 << 63), most=None)
    end = arguments.whole("randint", "high", high, least=first + 1, most=None)
    kind = arguments.as_dtype("randint", dtype)
    for number in (first, end - 1):
        _expect_place("randint", number, kind if kind.kind in "iu" else int64)
    draw = arguments.seeded("randint", seed).integers
    drawn = _filled("randint", shape, lambda lengths: draw(first, end, lengths))
    return Tensor(drawn.astype(kind))


def manual_seed(seed: int) -> None:
    """Restart the random numbers of calls and layers that name no seed, in all threads.

    ArgumentError for a seed that is no whole number, or is negative.

    >>> import minigrad as mg
    >>> mg.manual_seed(0)
    >>> x = mg.randn(3)
    >>> mg.manual_seed(0)
    >>> bool((mg.randn(3) == x).all())
    True
    """
    arguments.begin_anew("manual_seed", seed)


# ---- In the shape of an operand, which may be a node of unknown shape -----------------------


def full_like(x: Any, value: float, dtype: npt.DTypeLike | None = None) -> Any:
    """Fill the shape and data type of x with one value; no gradient flows to x.

    >>> import minigrad as mg
    >>> mg.full_like(mg.tensor([1.0, 2.0]), 7.0)
    tensor([7., 7.])
    """
    attrs = {} if dtype is None else {"dtype": arguments.as_dtype("full_like", dtype)}
    arguments.number("full_like", "value", value, least=None)
    return ops.full_like(x, value=value, **attrs)


def zeros_like(x: Any, dtype: npt.DTypeLike | None = None) -> Any:
    """Make zeros of the shape and data type of x.

    >>> import minigrad as mg
    >>> mg.zeros_like(mg.tensor([1, 2]))
    tensor([0, 0])
    """
    return full_like(x, 0, dtype)


def ones_like(x: Any, dtype: npt.DTypeLike | None = None) -> Any:
    """Make ones of the shape and data type of x.

    >>> import minigrad as mg
    >>> mg.ones_like(mg.tensor([1, 2]), dtype=mg.float64).dtype
    dtype('float64')
    """
    return full_like(x, 1, dtype)


def _float(op: str, dtype: npt.DTypeLike) -> np.dtype[Any]:
    """Return a floating data type; DtypeError for any other."""
    found = arguments.as_dtype(op, dtype)
    if found not in (float32, float64):
        raise arguments.refuse(op, "dtype", dtype, fill("expect_float"))
    return found


def _finite(op: str, name: str, value: Any) -> None:
    arguments.number(op, name, value, least=None)
    try:
        finite = math.isfinite(float(value))
    except OverflowError:
        finite = False
    if not finite:
        raise arguments.refuse(op, name, value, fill("expect_finite_bounds"))


def _expect_place(op: str, number: int, dtype: np.dtype[Any]) -> None:
    """Raise DtypeError for an integer that the data type doesn't hold."""
    about = np.iinfo(dtype)
    if not about.min <= number <= about.max:
        raise DtypeError("out_of_range", op=op, value=number, dtype=dtype, defined=here())


def _filled(op: str, shape: tuple[Any, ...], make: Callable[[tuple[int, ...]], Any]) -> Any:
    """Make an array of the shape that a function's arguments mean."""
    return arguments.allocated(op, _lengths(op, shape), make)


def _flat(shape: tuple[Any, ...]) -> tuple[Any, ...]:
    nested = len(shape) == 1 and isinstance(shape[0], (tuple, list))
    return tuple(shape[0]) if nested else shape


def _is_traced(shape: tuple[Any, ...]) -> bool:
    """Return whether a trace has read one of these lengths from a node's shape."""
    return any(hasattr(n, "repeated") for n in _flat(shape))


def _repeated(value: Any, shape: tuple[Any, ...]) -> Tensor:
    """Add a node that repeats a number, for a trace that is used with other lengths."""
    lengths = _flat(shape)
    traced = next(n for n in lengths if hasattr(n, "repeated"))
    node: Tensor = traced.repeated(value, lengths)
    return node


def _lengths(op: str, shape: tuple[Any, ...]) -> tuple[int, ...]:
    lengths = _flat(shape)
    if any(not isinstance(n, (int, np.integer)) or n < 0 for n in lengths):
        raise ShapeError("lengths", op=op, shape=lengths, defined=here())
    return tuple(int(n) for n in lengths)

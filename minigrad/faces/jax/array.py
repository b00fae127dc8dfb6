"""JAX's arrays: of 32 bits, never changed in place; `x.at[i].set(v)` makes a new one."""

from __future__ import annotations

import contextlib
import contextvars
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

import minigrad as mg
from minigrad.faces.face import Compat

__all__ = ["Array", "Tracer"]

# What has a weak type, as a Python number does, while the types of a loop are found out.
WEAK: contextvars.ContextVar[frozenset[Any]] = contextvars.ContextVar("WEAK", default=frozenset())

AT_ONCE: contextvars.ContextVar[bool] = contextvars.ContextVar("AT_ONCE", default=False)

SHORTER: dict[str, Any] = {"int64": mg.int32, "float64": mg.float32}


class ShapesDiffer(mg.ShapeError, TypeError):
    """Incompatible shapes, which JAX calls a TypeError."""


class Immutable(mg.GraphError, TypeError):
    """An attempt to change an array in place."""


class At:
    """The result of `x.at` or `x.at[i]`, whose methods return changed copies of x."""

    def __init__(self, x: Any, *key: Any) -> None:
        self.x, self.key = x, key

    def __getitem__(self, key: Any) -> At:
        return At(self.x, key)

    def get(self) -> Any:
        """Return the elements at this index."""
        return self.x[self.key[0]]

    def set(self, values: Any) -> Any:
        """Return a copy with these values at this index."""
        return mg.where(self._scatter(1) > 0, self._scatter(values), self.x)

    def add(self, values: Any) -> Any:
        """Return a copy with these values added; repeated positions are added to repeatedly."""
        return self.x + self._scatter(values)

    def multiply(self, values: Any) -> Any:
        """Return a copy with the elements at this index multiplied by these values."""
        return mg.where(self._scatter(1) > 0, self.x * self._scatter(values), self.x)

    def min(self, values: Any) -> Any:
        """Return a copy with the smaller of both values at this index."""
        return mg.where(self._scatter(1) > 0, mg.minimum(self.x, self._scatter(values)), self.x)

    def max(self, values: Any) -> Any:
        """Return a copy with the larger of both values at this index."""
        return mg.where(self._scatter(1) > 0, mg.maximum(self.x, self._scatter(values)), self.x)

    def _scatter(self, values: Any) -> Any:
        """Return these values at the index and 0 elsewhere: the gradient of indexing."""
        real = self.x.dtype.kind == "f"
        with mg.enable_grad():
            zeros = mg.zeros_like(self.x if real else mg.cast(self.x, mg.float32))
            zeros = zeros if isinstance(zeros, mg.Node) else mg.tensor(zeros.data, True)
            y = (zeros[self.key[0]] * as_array(values)).sum()
            symbolic = isinstance(y, mg.Node)
            of = mg.gradients(y, [zeros]) if symbolic else mg.grad(y, [zeros], create_graph=True)
        return of[0] if real else mg.cast(of[0], self.x.dtype)


class Array(mg.Tensor):
    """Values of one shape and one data type, which never change.

    weak: whether it was made of a Python number alone, and takes the data type of others.
    """

    __slots__ = ("weak",)

    @classmethod
    def __torch_function__(
        cls,
        func: Any,
        types: tuple[type, ...],
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        with shape_errors_as_jax():
            given = cast_weak(func, tuple(to_32_bits(x) for x in args), WEAK.get())
            return cast_to_32(super(Array, Array).__torch_function__(func, types, given, kwargs))

    @property
    def at(self) -> At:
        """The helper for functional updates, such as `x.at[0].set(5.0)`."""
        return At(self)

    def max(self, axis: Any = None, keepdims: bool = False) -> Any:  # type: ignore[override]
        """Return the maximum along an axis, or of all elements."""
        return mg.max(self, axis=axis, keepdims=keepdims)

    def min(self, axis: Any = None, keepdims: bool = False) -> Any:  # type: ignore[override]
        """Return the minimum along an axis, or of all elements."""
        return mg.min(self, axis=axis, keepdims=keepdims)

    def var(self, axis: Any = None, ddof: int = 0, keepdims: bool = False) -> Any:
        """Return the variance, with the divisor n - ddof."""
        return mg.var(self, axis, ddof, keepdims)

    def std(self, axis: Any = None, ddof: int = 0, keepdims: bool = False) -> Any:
        """Return the standard deviation: the square root of the variance."""
        return mg.sqrt(mg.var(self, axis, ddof, keepdims))

    def block_until_ready(self) -> Array:
        """Return the array itself, which is always ready."""
        return self

    def __setitem__(self, key: Any, value: Any) -> None:
        raise Immutable("face_immutable")

    def __format__(self, spec: str) -> str:
        return format(self.data[()], spec) if spec else str(self)

    def __str__(self) -> str:
        return str(self.data)

    def __repr__(self) -> str:
        values = np.array2string(np.asarray(self.data), separator=", ", prefix="Array(")
        return f"Array({values}, dtype={self.dtype})"

    __iadd__, __isub__, __imul__ = mg.Tensor.__add__, mg.Tensor.__sub__, mg.Tensor.__mul__
    __itruediv__, __ipow__ = mg.Tensor.__truediv__, mg.Tensor.__pow__


class TracerReader:
    """The reader of operators on tracers while a function is traced, by the same rules."""

    level = 4

    def apply(self, op: Any, operands: Sequence[Any], attrs: Mapping[str, Any]) -> Any:
        """Add a node to the graph."""
        weak = WEAK.get()
        with shape_errors_as_jax():
            given = tuple(to_32_bits(x) for x in operands)
            given = cast_weak(op, given, weak)
            y = cast_to_32(as_tracer(mg.Node.reader.apply(op, given, dict(attrs))))
        if weak and op.name not in CONVERTS and all(has_weak_type(x, weak) for x in given):
            WEAK.set(weak | {y} if y.dtype.kind in "iuf" else weak)
        return y

    def __getattr__(self, name: str) -> Any:
        return getattr(mg.Node.reader, name)


class Tracer(mg.Node):
    """A stand-in for an array while a function is traced: shape and data type, no values."""

    __slots__ = ()
    reader = TracerReader()
    at = Array.at
    max, min, var, std = Array.max, Array.min, Array.var, Array.std  # type: ignore[assignment]

    def __repr__(self) -> str:
        lengths = ",".join(str(n) for n in self.shape or ())
        return f"JitTracer({self.dtype}[{lengths}])"

    __str__ = __repr__


CONVERTS = ("Cast", "Convert")


def cast_weak(op: Any, operands: tuple[Any, ...], weak: frozenset[Any]) -> tuple[Any, ...]:
    """Return the operands, casting weakly typed ones to the others' dtype if that loses nothing."""
    if op.inputs is None or not any(
        hasattr(x, "dtype") and has_weak_type(x, weak) for x in operands
    ):
        return operands
    chosen = [i for i in range(len(operands)) if i not in op.selectors]
    given = [operands[i] for i in chosen if hasattr(operands[i], "dtype")]
    strong = [x.dtype for x in given if not has_weak_type(x, weak)]
    if not strong:
        return operands
    floats = [dtype for dtype in strong if dtype.kind == "f"]
    common, order = np.result_type(*(floats or strong)), "biuf".index
    changed = list(operands)
    for i in chosen:
        x = operands[i]
        if hasattr(x, "dtype") and has_weak_type(x, weak) and x.dtype != common:
            changed[i] = mg.cast(x, common) if order(common.kind) >= order(x.dtype.kind) else x
    return tuple(changed)


def has_weak_type(x: Any, weak: frozenset[Any]) -> bool:
    """Return whether x is a Python number or made from such alone; weak: nodes that are."""
    if isinstance(x, mg.Node):
        return x in weak
    return type(x) in (int, float, complex) or getattr(x, "weak", False)


@contextlib.contextmanager
def shape_errors_as_jax() -> Iterator[None]:
    """Turn shape errors into TypeErrors; an index out of range stays an IndexError."""
    try:
        yield
    except mg.ShapeError as error:
        if type(error) is not mg.ShapeError or "mask" in error.key:
            raise
        about: Any = error.fields
        raise ShapesDiffer(error.key, defined=error.defined, ran=error.ran, **about) from None


def to_32_bits(x: Any) -> Any:
    """Return a NumPy array in 32 bits; anything else unchanged."""
    if isinstance(x, np.ndarray) and x.dtype.name in SHORTER:
        return x.astype(SHORTER[x.dtype.name])
    return x


def cast_to_32(x: Any) -> Any:
    """Cast a result to 32 bits."""
    dtype = getattr(getattr(x, "dtype", None), "name", "")
    return mg.cast(x, SHORTER[dtype]) if dtype in SHORTER else x


def as_tracer(x: Any) -> Any:
    """Turn a node into a Tracer; return anything else unchanged."""
    if type(x) is mg.Node:
        x.__class__ = Tracer  # not a copy: the graph and its readers hold this very node
    return x


def as_array(x: Any) -> Any:
    """Convert numbers, arrays and tensors to a JAX array; a tensor keeps its history."""
    if isinstance(x, (Array, Tracer)):
        return x
    if isinstance(x, mg.Node):
        return cast_to_32(as_tracer(x))
    if isinstance(x, mg.Tensor):
        return cast_to_32(as_jax(x))
    if isinstance(x, (bool, int, float, np.ndarray, np.generic)):
        found = np.asarray(x)
        return Array(found.astype(SHORTER.get(found.dtype.name, found.dtype)))
    return x


def as_jax(x: mg.Tensor) -> Array:
    """Convert a tensor to an Array with the same creator."""
    found = Array(x.data)
    found.creator, found.requires_grad = x.creator, x.requires_grad
    return found


def arrays(function: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a function so that it returns arrays."""

    def call(*args: Any, **kwargs: Any) -> Any:
        found = function(*args, **kwargs)
        return (
            type(found)(map(as_array, found))
            if isinstance(found, (list, tuple))
            else as_array(found)
        )

    call.__doc__, call.__name__ = function.__doc__, function.__name__
    return call


__getattr__ = face = Compat("jax.Array")
__dir__ = face.names

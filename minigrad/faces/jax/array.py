"""JAX's arrays: of 32 bits, never changed in place; `x.at[i].set(v)` makes a new one."""

from __future__ import annotations

import contextlib
import contextvars
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

import minigrad as mg
from minigrad.faces.face import Face

__all__ = ["Array", "Tracer"]

# What has a weak type, as a Python number does, while the types of a loop are found out.
WEAK: contextvars.ContextVar[frozenset[Any]] = contextvars.ContextVar("WEAK", default=frozenset())

AT_ONCE: contextvars.ContextVar[bool] = contextvars.ContextVar("AT_ONCE", default=False)

SHORTER: dict[str, Any] = {"int64": mg.int32, "float64": mg.float32}


class ShapesDiffer(mg.ShapeError, TypeError):
    """Shapes that do not fit, which JAX calls a TypeError."""


class Immutable(mg.GraphError, TypeError):
    """An array that was to be changed in place."""


class At:
    """`x.at`, and with a position what may be made of x there; x itself stays what it is."""

    def __init__(self, x: Any, *key: Any) -> None:
        self.x, self.key = x, key

    def __getitem__(self, key: Any) -> At:
        return At(self.x, key)

    def get(self) -> Any:
        """What is there."""
        return self.x[self.key[0]]

    def set(self, values: Any) -> Any:
        """With these values there."""
        return mg.where(self._there(1) > 0, self._there(values), self.x)

    def add(self, values: Any) -> Any:
        """With these values added; at a position that comes twice, twice."""
        return self.x + self._there(values)

    def multiply(self, values: Any) -> Any:
        """With what is there multiplied by these values."""
        return mg.where(self._there(1) > 0, self.x * self._there(values), self.x)

    def min(self, values: Any) -> Any:
        """With the smaller of both there."""
        return mg.where(self._there(1) > 0, mg.minimum(self.x, self._there(values)), self.x)

    def max(self, values: Any) -> Any:
        """With the larger of both there."""
        return mg.where(self._there(1) > 0, mg.maximum(self.x, self._there(values)), self.x)

    def _there(self, values: Any) -> Any:
        """These values at the position and 0 elsewhere: where the gradient of a part goes to."""
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
        with shapes_as_jax():
            given = unweakened(func, tuple(shortened(x) for x in args), WEAK.get())
            return short(super(Array, Array).__torch_function__(func, types, given, kwargs))

    @property
    def at(self) -> At:
        """Where something else is to stand: `x.at[0].set(5.0)`."""
        return At(self)

    def max(self, axis: Any = None, keepdims: bool = False) -> Any:  # type: ignore[override]
        """The largest element, along an axis or of all."""
        return mg.max(self, axis=axis, keepdims=keepdims)

    def min(self, axis: Any = None, keepdims: bool = False) -> Any:  # type: ignore[override]
        """The smallest element, along an axis or of all."""
        return mg.min(self, axis=axis, keepdims=keepdims)

    def var(self, axis: Any = None, ddof: int = 0, keepdims: bool = False) -> Any:
        """The variance; its divisor is n - ddof."""
        return mg.var(self, axis, ddof, keepdims)

    def std(self, axis: Any = None, ddof: int = 0, keepdims: bool = False) -> Any:
        """The standard deviation, the square root of the variance."""
        return mg.sqrt(mg.var(self, axis, ddof, keepdims))

    def block_until_ready(self) -> Array:
        """The array itself, which is ready."""
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
    """Reads operators on what stands for arrays while a function is traced, by the same rules."""

    level = 4

    def apply(self, op: Any, operands: Sequence[Any], attrs: Mapping[str, Any]) -> Any:
        """Add a node to the graph."""
        weak = WEAK.get()
        with shapes_as_jax():
            given = tuple(shortened(x) for x in operands)
            given = unweakened(op, given, weak)
            y = short(traced(mg.Node.reader.apply(op, given, dict(attrs))))
        if weak and op.name not in CONVERTS and all(has_weak_type(x, weak) for x in given):
            WEAK.set(weak | {y} if y.dtype.kind in "iuf" else weak)
        return y

    def __getattr__(self, name: str) -> Any:
        return getattr(mg.Node.reader, name)


class Tracer(mg.Node):
    """What stands for an array while a function is traced: a shape and a data type, no values."""

    __slots__ = ()
    reader = TracerReader()
    at = Array.at
    max, min, var, std = Array.max, Array.min, Array.var, Array.std  # type: ignore[assignment]

    def __repr__(self) -> str:
        lengths = ",".join(str(n) for n in self.shape or ())
        return f"JitTracer({self.dtype}[{lengths}])"

    __str__ = __repr__


CONVERTS = ("Cast", "Convert")


def unweakened(op: Any, operands: tuple[Any, ...], weak: frozenset[Any]) -> tuple[Any, ...]:
    """The operands; those of a weak type in the data type of the others, if that says no less."""
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
    """Whether this is a Python number, or was made of such alone; weak: the nodes that were."""
    if isinstance(x, mg.Node):
        return x in weak
    return type(x) in (int, float, complex) or getattr(x, "weak", False)


@contextlib.contextmanager
def shapes_as_jax() -> Iterator[None]:
    """Shapes that do not fit are a TypeError; a position outside stays an IndexError."""
    try:
        yield
    except mg.ShapeError as error:
        if type(error) is not mg.ShapeError or "mask" in error.key:
            raise
        about: Any = error.fields
        raise ShapesDiffer(error.key, defined=error.defined, ran=error.ran, **about) from None


def shortened(x: Any) -> Any:
    """An array of NumPy in 32 bits; anything else as it is."""
    if isinstance(x, np.ndarray) and x.dtype.name in SHORTER:
        return x.astype(SHORTER[x.dtype.name])
    return x


def short(x: Any) -> Any:
    """A result in 32 bits."""
    dtype = getattr(getattr(x, "dtype", None), "name", "")
    return mg.cast(x, SHORTER[dtype]) if dtype in SHORTER else x


def traced(x: Any) -> Any:
    """A node as what stands for an array, anything else as it is."""
    if type(x) is mg.Node:
        x.__class__ = Tracer
    return x


def as_array(x: Any) -> Any:
    """Numbers and arrays of others as one of JAX's; a tensor keeps what it comes from."""
    if isinstance(x, (Array, Tracer)):
        return x
    if isinstance(x, mg.Node):
        return short(traced(x))
    if isinstance(x, mg.Tensor):
        return short(like(x))
    if isinstance(x, (bool, int, float, np.ndarray, np.generic)):
        found = np.asarray(x)
        return Array(found.astype(SHORTER.get(found.dtype.name, found.dtype)))
    return x


def like(x: mg.Tensor) -> Array:
    """A tensor as an array that comes from the same operation."""
    found = Array(x.data)
    found.creator, found.requires_grad = x.creator, x.requires_grad
    return found


def arrays(function: Callable[..., Any]) -> Callable[..., Any]:
    """A call that gives arrays."""

    def call(*args: Any, **kwargs: Any) -> Any:
        found = function(*args, **kwargs)
        return (
            type(found)(map(as_array, found))
            if isinstance(found, (list, tuple))
            else as_array(found)
        )

    call.__doc__, call.__name__ = function.__doc__, function.__name__
    return call


__getattr__ = face = Face("jax.Array")
__dir__ = face.names

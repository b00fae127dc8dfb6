"""Specs: what is known of a value before it exists, its shape (perhaps open) and data type."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from minigrad.diagnostics.errors import ShapeError

__all__ = [
    "Array",
    "Attrs",
    "Dim",
    "Dtype",
    "PublicShape",
    "Rule",
    "Shape",
    "Spec",
    "TupleSpec",
    "Unrecorded",
    "always",
    "as_float",
    "bool_",
    "broadcast_shapes",
    "fits",
    "float32",
    "float64",
    "int32",
    "int64",
    "promote",
    "public_shape",
    "show_shape",
    "show_shapes",
    "spec_of",
]

Array = Any  # an ndarray, or a NumPy scalar where there are no axes (ten times faster)
Attrs = dict[str, Any]
Dtype = np.dtype[Any]
Rule = Callable[..., Any]

float32, float64 = np.dtype(np.float32), np.dtype(np.float64)
int32, int64, bool_ = np.dtype(np.int32), np.dtype(np.int64), np.dtype(np.bool_)


class Dim:
    """The unknown length of one axis: equal to itself and to nothing else.

    Two axes of one open batch are the same `Dim`, so the graph knows that they fit.
    """

    __slots__ = ()

    def __repr__(self) -> str:
        return "None"


Shape = tuple[int | Dim, ...]
PublicShape = tuple[int | None, ...]


def public_shape(shape: Shape | None) -> PublicShape | None:
    """Return a shape as users write it: None for an unknown length or an unknown shape."""
    if shape is None:
        return None
    return tuple(None if isinstance(n, Dim) else n for n in shape)


def fits(shape: Shape | None, declared: Shape | None) -> bool:
    """Return whether a value of one shape fits a declared shape; unknown fits everything."""
    if shape is None or declared is None:
        return True
    return len(shape) == len(declared) and all(
        m == n or isinstance(m, Dim) or isinstance(n, Dim)
        for m, n in zip(shape, declared, strict=True)
    )


def show_shape(shape: Shape | PublicShape | None) -> str:
    """Format a shape for printing: (None, 784), or ? when nothing is known."""
    return "?" if shape is None else str(tuple(shape))


@dataclass(frozen=True, slots=True)
class Spec:
    """What is known of a value before it exists: its shape (None: nothing) and data type."""

    shape: Shape | None
    dtype: Dtype

    @property
    def ndim(self) -> int:
        if self.shape is None:
            raise ShapeError("rank_unknown", op="shape", name="operand")
        return len(self.shape)

    def __str__(self) -> str:
        return f"{self.dtype}{'[?]' if self.shape is None else list(self.shape)}"


@dataclass(frozen=True, slots=True)
class TupleSpec(Spec):
    """The specs of several values that one operator gives; its own shape means nothing."""

    parts: tuple[Spec, ...]

    @classmethod
    def of(cls, parts: Sequence[Spec]) -> Spec:
        """Return a single spec unchanged, several (or none) as a TupleSpec."""
        return parts[0] if len(parts) == 1 else cls(None, float32, tuple(parts))

    def __str__(self) -> str:
        return f"({', '.join(map(str, self.parts))})"


@dataclass(frozen=True, slots=True)
class Unrecorded(Spec):
    """The tape's record of an array through which no gradient flows, without its data."""

    name: str | None = None


@functools.cache
def promote(*dtypes: Dtype) -> Dtype:
    """Return the common data type by PyTorch's rule: a float wins over any integer or bool."""
    if dtypes and dtypes.count(dtypes[0]) == len(dtypes) and dtypes[0].isnative:
        return dtypes[0]
    floats = [d for d in dtypes if d.kind == "f"]
    return np.result_type(*(floats or dtypes))


@functools.cache
def as_float(*dtypes: Dtype) -> Dtype:
    """Promote like `promote`, but turn integers and bools into float32 (division, exp, mean)."""
    common = promote(*dtypes)
    return common if common.kind == "f" else float32


def always(dtype: Dtype) -> Callable[..., Dtype]:
    """Make a data type rule that doesn't depend on the operands."""
    return lambda *dtypes: dtype


def spec_of(x: Any) -> Spec:
    return x if isinstance(x, Spec) else Spec(x.shape, x.dtype)


def show_shapes(*shapes: Shape | None) -> str:
    """Format shapes for a message: (64, 784) and (100, 10)."""
    return ", ".join(show_shape(public_shape(s)) for s in shapes)


def broadcast_shapes(name: str, *shapes: Shape) -> Shape:
    """Broadcast shapes by NumPy's rule, extended to axes of unknown length.

    >>> broadcast_shapes("Add", (64, 10), (10,))
    (64, 10)
    """
    if shapes and shapes.count(shapes[0]) == len(shapes):
        return shapes[0]
    result: list[int | Dim] = []
    for axis in range(-max(map(len, shapes), default=0), 0):
        lengths = [s[axis] for s in shapes if -axis <= len(s)]
        result.append(_broadcast(name, lengths, shapes))
    return tuple(result)


def _broadcast(name: str, lengths: list[int | Dim], shapes: tuple[Shape, ...]) -> int | Dim:
    known = {n for n in lengths if not isinstance(n, Dim)} - {1}
    if len(known) > 1:
        raise ShapeError("broadcast", op=name, shapes=show_shapes(*shapes))
    if known:
        return known.pop()  # an unknown length beside it must be equal or 1: checked when run
    unknown = {n for n in lengths if isinstance(n, Dim)}
    return 1 if not unknown else unknown.pop() if len(unknown) == 1 else Dim()

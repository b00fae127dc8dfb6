"""Keys of traces: the key of a value, and a description of how two values differ.

A tensor counts by its shape and data type, a Python value by its type and value, any other object
by its identity. Tuples, lists and dicts of these count by what they hold.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Any, NamedTuple, cast

import numpy as np
import numpy.typing as npt

from minigrad.core import Dim, Dtype, PublicShape, Shape, Spec, float32, public_shape, show_shape
from minigrad.diagnostics.arguments import as_dtype, open_shape
from minigrad.diagnostics.messages import Pair, fill
from minigrad.dynamic.tensor import Tensor
from minigrad.static import Node

__all__ = ["TensorSpec"]

Key = Hashable

PLAIN = {int, bool, str, bytes, type(None), type(...), range}
_INEXACT = {float, complex, *(np.dtype(letter).type for letter in "?bhilqBHILQefd")}
NUMBERS = (int, float)


class TensorSpec:
    """A declared argument: shape (None: any length; no shape: anything) and data type.

    >>> import minigrad as mg
    >>> mg.TensorSpec((None, 3))
    TensorSpec((None, 3), float32)
    """

    def __init__(
        self,
        shape: Sequence[int | None] | None = None,
        dtype: npt.DTypeLike = float32,
        name: str | None = None,
    ) -> None:
        given = open_shape("TensorSpec", shape)
        self.name = name
        lengths = None if given is None else tuple(Dim() if n is None else n for n in given)
        self.spec = Spec(lengths, as_dtype("TensorSpec", dtype))

    @property
    def shape(self) -> PublicShape | None:
        return public_shape(self.spec.shape)

    @property
    def dtype(self) -> Dtype:
        return self.spec.dtype

    def __repr__(self) -> str:
        return f"TensorSpec({self.shape}, {self.dtype})"


class IdentityKey:
    """An object as part of a key: equal to itself alone, and not kept alive by the key."""

    __slots__ = ("held", "number")

    def __init__(self, x: Any) -> None:
        self.number = id(x)
        try:
            self.held: Callable[[], Any] = weakref.ref(x)
        except TypeError:  # it takes no weak reference: a list, an object with slots
            self.held = lambda: x

    @property
    def gone(self) -> bool:
        """Whether the object no longer exists; then nothing will ever be equal to this."""
        return self.held() is None

    def __hash__(self) -> int:
        return self.number

    def __eq__(self, other: object) -> bool:
        mine = self.held()
        return isinstance(other, IdentityKey) and mine is not None and mine is other.held()


def is_array(x: Any) -> bool:
    """Return whether this is keyed by shape and dtype; a NumPy scalar counts as a number."""
    return isinstance(x, (Tensor, np.ndarray, Node, TensorSpec))


def is_value(x: Any) -> bool:
    """Return whether this is keyed by its value: numbers, strings, None, tuples of these.

    >>> is_value((1, "a", None)), is_value([1])
    (True, False)
    """
    kind = type(x)
    return all(map(is_value, x)) if kind is tuple else kind in PLAIN or kind in _INEXACT


def value_key(x: Any) -> Key:
    """Return a value's key: 1, 1.0 and True differ, so do 0.0 and -0.0; NaN equals itself."""
    kind = type(x)
    if kind in PLAIN:
        return kind, x
    if kind is float:
        return kind, x.hex()
    if kind is tuple:
        return kind, tuple(value_key(item) for item in x)
    if kind is complex:
        return kind, x.real.hex(), x.imag.hex()
    return kind, x.tobytes()


class Operands(list[Any]):
    """The tensors, arrays and nodes among the arguments of a call, in order.

    `lengths` numbers the open lengths of nodes in the order in which they are met.
    """

    __slots__ = ("lengths", "symbolic")

    def __init__(self) -> None:
        self.lengths: dict[Dim, int] = {}
        self.symbolic = False


def key_of(x: Any, operands: Operands) -> Key:
    """Return an argument's key; append its tensors, arrays and nodes to `operands`."""
    kind = type(x)
    if kind is Tensor:
        operands.append(x)
        return "array", x._array.shape, x._array.dtype
    if kind in PLAIN:
        return kind, x
    if kind is float:
        return kind, x.hex()
    if kind is tuple or kind is list:
        return kind, tuple([key_of(item, operands) for item in x])
    if kind is dict:
        return kind, tuple([(name, key_of(item, operands)) for name, item in x.items()])
    return _special_key(x, operands)


def _special_key(x: Any, operands: Operands) -> Key:
    if isinstance(x, (Node, TensorSpec)):
        operands.append(x)
        operands.symbolic |= isinstance(x, Node)
        return "array", _shape_key(x.spec.shape, operands.lengths), x.dtype
    if isinstance(x, (Tensor, np.ndarray)):
        operands.append(x)
        return "array", x.shape, x.dtype
    if isinstance(x, (tuple, list)):
        return type(x), tuple([key_of(item, operands) for item in x])
    if isinstance(x, dict):
        return type(x), tuple([(name, key_of(item, operands)) for name, item in x.items()])
    if isinstance(x, slice):
        return slice, value_key((x.start, x.stop, x.step))
    return value_key(x) if is_value(x) else IdentityKey(x)


def _shape_key(shape: Shape | None, lengths: dict[Dim, int]) -> Key:
    """Return a shape with open lengths as text, equal for equal lengths."""
    if shape is None:
        return None
    return tuple(
        f"?{lengths.setdefault(n, len(lengths))}" if isinstance(n, Dim) else n for n in shape
    )


class KeyPart(NamedTuple):
    """One value that a trace was made for: where it comes from, what counts, how it is shown."""

    place: str  # as it is written: x, batch['image'], self.rate
    source: Pair  # in words: argument x, global scale
    kind: str  # "array", "value" or "object"
    key: Key
    shown: Pair

    @classmethod
    def of(cls, role: str, place: str, x: Any, operands: Operands | None = None) -> KeyPart:
        """Make a part of a key; `role` is the message row of its kind: an argument, a global, …"""
        key, source = key_of(x, operands or Operands()), fill(role, name=place)
        if is_array(x):
            return cls(place, source, "array", key, _as_pair(_show_array(key)))
        if is_value(x):
            return cls(place, source, "value", key, _as_pair(brief_repr(x)))
        return cls(place, source, "object", key, fill("an_object", kind=type(x).__name__))

    def changes(self, new: KeyPart) -> Iterator[Pair]:
        """Say how a new value differs from this one."""
        about = {"source": self.source, "before": self.shown, "after": new.shown}
        if self.key == new.key:
            return
        if self.kind == new.kind == "array":
            old, other = cast(tuple[Any, ...], self.key), cast(tuple[Any, ...], new.key)
            if old[1] != other[1]:
                shapes = {"before": _show_shape(old[1]), "after": _show_shape(other[1])}
                yield fill("why_shape", source=self.source, **shapes)
            if old[2] != other[2]:
                yield fill("why_dtype", source=self.source, before=old[2], after=other[2])
        elif self.kind == new.kind == "object":
            yield fill("why_object", **about)
        else:
            argument = self.source == fill("an_argument", name=self.place)
            number = isinstance(self.key, tuple) and self.key[0] in (int, float)
            yield fill("why_number" if argument and number else "why_value", **about)


def leaves_of(name: str, x: Any) -> Iterator[tuple[str, Any]]:
    """Yield what an argument holds, each with its place: x, batch['image'], pairs[0]."""
    waiting = [(name, x)]
    while waiting:
        place, x = waiting.pop()
        if isinstance(x, (tuple, list)) and not is_value(x):
            waiting += [(f"{place}[{i}]", item) for i, item in enumerate(x)][::-1]
        elif isinstance(x, dict):
            waiting += [(f"{place}[{key!r}]", item) for key, item in x.items()][::-1]
        else:
            yield place, x


def _show_array(key: Any) -> str:
    """Format the data type and shape in a key: float32[None, 3]."""
    _, shape, dtype = key
    return f"{dtype}{'[?]' if shape is None else list(_without_symbols(shape))}".replace("'", "")


def _show_shape(shape: Any) -> str:
    return show_shape(None if shape is None else _without_symbols(shape))


def _without_symbols(shape: Any) -> tuple[int | None, ...]:
    return tuple(None if isinstance(n, str) else n for n in public_shape(shape) or ())


def brief_repr(x: Any) -> str:
    text = repr(x)
    return text if len(text) <= 40 else text[:37] + "..."


def _as_pair(text: str) -> Pair:
    return text, text

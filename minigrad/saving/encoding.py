"""Attributes of nodes as plain JSON values, and back.

None, bools, strings, integers and finite numbers stay as they are, a tuple is a list; anything
else is an object with one key that says what it is: {"dtype": "float32"}, {"dim": 0}.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from minigrad.core import Array, BaseNode, Dim, Spec, TupleSpec, public_shape
from minigrad.core.structure import LEAF
from minigrad.diagnostics.errors import FormatError
from minigrad.saving.archive import DTYPES, NAMES

DEEPEST = 16  # tuples in tuples, and graphs in graphs
LONGEST = 10_000  # characters of a name or of any other text
LARGEST = 2**63  # integers are below it, as NumPy's are
INLINE = 8  # arrays up to this size are written in the document

_LARGEST_FLOAT = {d: float(np.finfo(d).max) for d in NAMES if d.kind == "f"}
_NOT_FINITE = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}


class Encoder:
    """Turns values into JSON values; arrays and open lengths get numbers in order of appearance."""

    def __init__(self) -> None:
        self.arrays: list[Array] = []
        self._dims: dict[Dim, int] = {}

    def value(
        self, x: Any, nodes: dict[Any, int], graphs: dict[int, int], depth: int = DEEPEST
    ) -> Any:
        """Encode x as JSON; `nodes` numbers this graph's nodes, `graphs` inner graphs by id.

        TypeError for what is no data, such as a function.
        """
        if depth == 0 or (type(x) is int and not -LARGEST <= x < LARGEST):
            raise TypeError(x)
        if type(x) is str:
            return text(x)
        if x is None or type(x) in (bool, int):
            return x
        if type(x) in (tuple, list):
            items = [self.value(item, nodes, graphs, depth - 1) for item in x]
            return items if type(x) is tuple else {"list": items}
        if type(x) is dict:
            return {"dict": [self.value(pair, nodes, graphs, depth - 1) for pair in x.items()]}
        if type(x) is slice:
            parts = (x.start, x.stop, x.step)
            return {"slice": [self.value(part, nodes, graphs, depth - 1) for part in parts]}
        if isinstance(x, BaseNode):
            return {"node": nodes[x]}
        if id(x) in graphs:
            return {"graph": graphs[id(x)]}
        return self._leaf(x)

    def _leaf(self, x: Any) -> Any:
        if type(x) is float:
            return x if math.isfinite(x) else {"float": str(x)}
        if isinstance(x, np.dtype):
            return {"dtype": dtype_name(x)}
        if isinstance(x, Dim):
            return {"dim": self._dims.setdefault(x, len(self._dims))}
        if isinstance(x, (np.ndarray, np.generic)):
            return self.array(x)
        if x is Ellipsis or x is LEAF:
            return {"mark": "ellipsis" if x is Ellipsis else "leaf"}
        raise TypeError(x)

    def array(self, x: Array) -> Any:
        """Encode a short array in place, a longer one as the number of its entry."""
        name = dtype_name(x.dtype)
        if x.size <= INLINE and x.itemsize <= 8 and x.flags.c_contiguous:
            inline = [name, list(x.shape), [_number(n) for n in np.ravel(x).tolist()]]
            if _inline(inline).tobytes() == x.tobytes():  # else a NaN with a message in it
                return {"array": inline}
        self.arrays.append(x)
        return {"entry": len(self.arrays) - 1}


def _number(x: Any) -> Any:
    return str(x) if isinstance(x, float) and not math.isfinite(x) else x


def dtype_name(dtype: np.dtype[Any]) -> str:
    """Return the name of a numeric data type; TypeError for any other."""
    if dtype not in NAMES:
        raise TypeError(dtype)
    return NAMES[dtype]


def claim(spec: Spec) -> Any:
    """Encode a spec as JSON: null for an open length or an unknown shape."""
    if isinstance(spec, TupleSpec):
        return {"parts": [claim(part) for part in spec.parts]}
    shape = public_shape(spec.shape)
    return {"dtype": NAMES.get(spec.dtype, "?"), "shape": None if shape is None else list(shape)}


def text(x: Any) -> str:
    """Return the text; FormatError unless its length and content are possible."""
    if type(x) is not str:
        raise FormatError("format_value", expected="string", value=_brief(x))
    if len(x) > LONGEST:
        raise FormatError("format_limit", what="characters", count=len(x), limit=LONGEST)
    try:
        if not x.isascii():
            x.encode()
    except UnicodeEncodeError:
        raise FormatError("format_value", expected="Unicode", value=_brief(x)) from None
    return x


def whole(x: Any, below: int = LARGEST) -> int:
    """Return an integer from 0 to `below`; FormatError otherwise."""
    if type(x) is not int or not 0 <= x < below:
        raise FormatError("format_value", expected=f"0–{below - 1}", value=_brief(x))
    return x


def items(x: Any, length: int | None = None) -> list[Any]:
    """Return a list (of that length); FormatError otherwise."""
    if type(x) is not list or (length is not None and len(x) != length):
        expected = "list" if length is None else f"list of {length}"
        raise FormatError("format_value", expected=expected, value=_brief(x))
    return x


def _brief(x: Any) -> str:
    return ascii(x)[:60]


class Decoder:
    """Turns JSON values back; FormatError for whatever no `Encoder` makes."""

    def __init__(self, entry: Callable[[int], Array]) -> None:
        self._entry = entry
        self._dims: dict[int, Dim] = {}
        self._kinds: dict[str, Callable[[Any, int], Any]] = {
            "float": lambda x, _: _NOT_FINITE[x],
            "dtype": lambda x, _: DTYPES[x],
            "mark": lambda x, _: {"ellipsis": Ellipsis, "leaf": LEAF}[x],
            "dim": lambda x, _: self._dims.setdefault(whole(x), Dim()),
            "array": lambda x, _: _inline(x),
            "entry": lambda x, _: self._entry(whole(x, 10**9)),
            "list": lambda x, depth: list(self._tuple(x, depth)),
            "dict": lambda x, depth: self._dict(x, depth),
            "slice": lambda x, depth: slice(*self._tuple(items(x, 3), depth)),
            "node": lambda x, _: self._nodes[whole(x, len(self._nodes))],
            "graph": lambda x, _: self._graphs[whole(x, len(self._graphs))],
        }
        self._nodes: Sequence[Any] = ()
        self._graphs: Sequence[Any] = ()

    def value(self, x: Any, nodes: Sequence[Any], graphs: Sequence[Any]) -> Any:
        """Decode a JSON value; nodes and graphs are given by their numbers."""
        self._nodes, self._graphs = nodes, graphs
        return self._value(x, DEEPEST)

    def _value(self, x: Any, depth: int) -> Any:
        if depth == 0:
            raise FormatError("format_limit", what="depth", count=DEEPEST + 1, limit=DEEPEST)
        if x is None or type(x) in (bool, float):
            return x
        if type(x) is int and -LARGEST <= x < LARGEST:
            return x
        if type(x) is str:
            return text(x)
        if type(x) is list:
            return self._tuple(x, depth)
        if type(x) is dict and len(x) == 1:
            ((kind, content),) = x.items()
            try:
                return self._kinds[kind](content, depth)
            except (KeyError, TypeError):  # no such kind, name or number
                pass
        raise FormatError("format_value", expected="value", value=_brief(x))

    def _tuple(self, x: Any, depth: int) -> tuple[Any, ...]:
        return tuple(self._value(item, depth - 1) for item in items(x))

    def _dict(self, x: Any, depth: int) -> dict[str, Any]:
        pairs = self._tuple(x, depth)
        if any(type(p) is not tuple or len(p) != 2 or type(p[0]) is not str for p in pairs):
            raise FormatError("format_value", expected="pairs", value=_brief(x))
        return dict(pairs)


def _inline(x: Any) -> Array:
    """Decode an array from [dtype, shape, values]."""
    name, lengths, numbers = items(x, 3)
    dtype = DTYPES.get(name) if type(name) is str else None
    shape = tuple(whole(n) for n in items(lengths))
    values: list[Any] = [_NOT_FINITE.get(n, n) if type(n) is str else n for n in items(numbers)]
    kinds = {"b": (bool,), "f": (float,)}.get(dtype.kind, (int,)) if dtype is not None else ()
    fits = len(values) <= INLINE and math.prod(shape) == len(values) and len(shape) <= 32
    if dtype is None or not fits or any(type(n) not in kinds for n in values):
        raise FormatError("format_value", expected="array", value=_brief(x))
    most = _LARGEST_FLOAT.get(dtype, math.inf)
    if any(abs(n) > most and n not in _NOT_FINITE.values() for n in values):
        raise FormatError("format_value", expected=name, value=_brief(x))
    try:
        return np.array(values, dtype).reshape(shape)[()]
    except (ValueError, OverflowError) as error:
        raise FormatError("format_value", expected=str(error)[:60], value=_brief(x)) from None

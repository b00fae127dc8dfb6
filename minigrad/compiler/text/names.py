"""Names and values as Python text: what may be written out, and what is loaded by name."""

from __future__ import annotations

import keyword
import re
from typing import Any

import numpy as np

from minigrad.core import Spec

MOST_WRITTEN = 8  # elements of an array that is written out


class UniqueNames:
    """Identifiers that are all different, made of the names that things have."""

    def __init__(self, taken: set[str]) -> None:
        self.taken = taken
        self._counts: dict[str, int] = {}

    def new(self, wish: str) -> str:
        """Return a new Python identifier close to `wish`."""
        plain = re.sub(r"\W+", "_", wish.rpartition("/")[2]).strip("_") or "value"
        plain = f"_{plain}" if plain[0].isdigit() else plain
        name, count = plain, self._counts.get(plain, 1)
        while name in self.taken or keyword.iskeyword(name) or not name.isidentifier():
            count += 1
            name = f"{plain}_{count}" if plain.isidentifier() else f"value_{count}"
        self.taken.add(name)
        self._counts[plain] = count
        return name


class ValueTable:
    """Values that the text can't contain (large arrays, odd attributes), passed in by name."""

    def __init__(self, names: UniqueNames) -> None:
        self.names = names
        self.values: dict[str, Any] = {}
        self._known: dict[int, str] = {}

    def name(self, value: Any, wish: str) -> str:
        """Return the expression for a value that is loaded by name."""
        if id(value) not in self._known:
            name = self.names.new(wish)
            self.values[name] = value
            self._known[id(value)] = name
        return f"constants[{self._known[id(value)]!r}]"


def literal(value: Any) -> str | None:
    """Return an expression that gives exactly this value again; None if there is none."""
    if value is None or value is Ellipsis or type(value) in (bool, int, str):
        return "..." if value is Ellipsis else repr(value)
    if type(value) is float:
        return _number(value)
    if isinstance(value, np.dtype):
        return f"np.dtype({value.name!r})"
    if isinstance(value, type) and issubclass(value, np.generic):
        return f"np.{value.__name__}"
    if isinstance(value, np.generic):
        text = _number(value.item())
        return text and f"np.{value.dtype.name}({text})"
    if isinstance(value, np.ndarray):
        return _array(value)
    if isinstance(value, Spec):
        return f"Spec({literal(value.shape)}, {literal(value.dtype)})"
    if isinstance(value, slice):
        parts = [literal(x) for x in (value.start, value.stop, value.step)]
        return None if None in parts else f"slice({', '.join(map(str, parts))})"
    if type(value) in (tuple, list):
        return _sequence(value)
    return None


def _sequence(value: Any) -> str | None:
    parts = [literal(x) for x in value]
    if None in parts:
        return None
    inside = ", ".join(map(str, parts))
    if type(value) is list:
        return f"[{inside}]"
    return f"({inside},)" if len(parts) == 1 else f"({inside})"


def _number(value: Any) -> str | None:
    """Write a Python number; a float keeps every bit."""
    if type(value) is not float:
        return repr(value)
    if value != value:
        return 'float("nan")'
    return f'float("{value}")' if value in (float("inf"), -float("inf")) else repr(value)


def _array(value: Any) -> str | None:
    if value.size > MOST_WRITTEN or value.dtype.kind not in "fiub":
        return None
    if np.array(value.tolist(), value.dtype).tobytes() != value.tobytes():
        return None  # one of the odder NaNs
    text = _nested(value.tolist())
    shaped = "" if value.size else f".reshape({value.shape})"
    return f"np.array({text}, np.{value.dtype.name}){shaped}"


def _nested(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_nested, value))}]"
    return str(_number(value))

"""Variables that flow through branches and loops: which of their values the graph has to carry.

A value is a number, a tensor, a node, or a nested tuple, list or dict of them with whatever else
Python knows: what is the same on both ways stays a Python value, and what is a number or a node
becomes a result of the branch. Two markers stand for values that are not there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np

from minigrad.core import is_weak
from minigrad.errors import ControlFlowError, ScriptError
from minigrad.messages import Pair, fill
from minigrad.source import here
from minigrad.structure import flatten, rebuild, transform
from minigrad.values import Value


class Undefined:
    """What a variable holds that was given no value on this way; any use is an error."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return "?"

    def complain(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise ScriptError("script_undefined", name=self.name, defined=here())

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("__"):  # Python itself asks
            raise AttributeError(name)
        self.complain()

    __call__ = __getitem__ = __iter__ = __len__ = __bool__ = complain
    __float__ = __int__ = __index__ = __neg__ = __abs__ = __format__ = complain
    __hash__ = object.__hash__


for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and", "or"):
    setattr(Undefined, f"__{_name}__", Undefined.complain)
    setattr(Undefined, f"__r{_name}__", Undefined.complain)
for _name in ("lt", "le", "gt", "ge", "eq", "ne", "contains"):
    setattr(Undefined, f"__{_name}__", Undefined.complain)


class Marker:
    """What stands for a value that was not computed this way."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return self.name


RETURNED = "return"  # by this name goes the variable that holds what the function returns
UNUSED = Marker("unused")  # nobody needs it: this way, the function has jumped already


class Falsy(Marker):
    """A value that is false, beside what `and` gives otherwise: any other zero will do for it."""

    def __init__(self, value: Any) -> None:
        super().__init__("false")
        self.value = value


def is_number(x: Any) -> bool:
    """Whether a graph can hold this: a node, a tensor, an array or a Python number."""
    return isinstance(x, (Value, np.ndarray, np.generic)) or is_weak(x)


def same(a: Any, b: Any) -> bool:
    """Whether these are one Python value, whichever way it came."""
    if a is b:
        return True
    if type(a) is not type(b) or isinstance(a, (Value, np.ndarray)):
        return False
    return is_weak(a) and a == b if is_number(a) else _equal(a, b)


def _equal(a: Any, b: Any) -> bool:
    try:
        return bool(a == b)
    except (TypeError, ValueError, ArithmeticError):  # they do not know
        return False


@dataclass
class Slot:
    """Where in a variable the graph's result of this number goes."""

    index: int


class Merge:
    """The values of variables after each of two ways, and what becomes of them after both.

    `outputs` are the pairs of numbers between which the graph chooses, `owners` the variables they
    belong to; `merged` holds the variables with a `Slot` in place of each such number.
    """

    def __init__(self, names: Sequence[str], one: Sequence[Any], other: Sequence[Any]) -> None:
        self.outputs: list[tuple[Any, Any]] = []
        self.owners: list[str] = []
        self.merged = [self._variable(*x) for x in zip(names, one, other, strict=True)]

    def _variable(self, name: str, a: Any, b: Any) -> Any:
        for value in (a, b):
            if isinstance(value, Undefined):
                return value
        if isinstance(a, Marker) and isinstance(b, Marker):
            return a
        (one, skeleton), (other, skeleton_of_other) = flatten(a), flatten(b)
        if isinstance(a, Marker):
            one, skeleton = [_instead(a, x) for x in other], skeleton_of_other
        elif isinstance(b, Marker):
            other, skeleton_of_other = [_instead(b, x) for x in one], skeleton
        if skeleton != skeleton_of_other:
            raise _disagreement("script_branch_arrangement", name, a, b)
        pairs = zip(one, other, strict=True)
        return rebuild(skeleton, [self._leaf(name, x, y) for x, y in pairs])

    def _leaf(self, name: str, x: Any, y: Any) -> Any:
        if same(x, y):
            return x
        if not (is_number(x) and is_number(y)):
            raise _disagreement("script_branch_values", name, x, y)
        self.outputs.append((x, y))
        self.owners.append(name)
        return Slot(len(self.outputs) - 1)

    def result(self, values: Sequence[Any]) -> tuple[Any, ...]:
        """The variables, the numbers that the graph chose in their places."""
        leaves, skeleton = flatten(self.merged)
        filled = [values[x.index] if isinstance(x, Slot) else x for x in leaves]
        return tuple(rebuild(skeleton, filled))


def _disagreement(key: str, name: str, a: Any, b: Any) -> ControlFlowError:
    shown: dict[str, Any] = {"true": describe(a), "false": describe(b)}
    return ControlFlowError(key, op="if", variable=variable(name), defined=here(), **shown)


def _instead(marker: Marker, x: Any) -> Any:
    """What the graph may hold in place of x where x itself was not computed."""
    if isinstance(marker, Falsy):
        dtype = getattr(x, "dtype", None) or np.asarray(x).dtype
        if dtype.kind == marker.value.dtype.kind or not is_number(x):
            return marker.value
    if is_weak(x):
        return x if marker is UNUSED else type(x)()
    return zeros(x) if isinstance(x, (Value, np.ndarray, np.generic)) else x


def zeros(x: Any) -> Any:
    """An array of zeros in the shape of x, with no elements where lengths are not known."""
    shape = [0 if n is None else n for n in x.shape or ()]
    return np.zeros(shape, x.dtype)[()]


def variable(name: str) -> Pair:
    """A variable in words: the name by which messages call it, in both languages."""
    if name == RETURNED:
        return fill("script_returned")
    return fill("script_variable" if name.isidentifier() else "script_value_of", name=name)


def describe(x: Any) -> str:
    """A value in a few words, as messages show it."""
    text = repr(transform(x, _Words))
    return text if len(text) <= 40 else f"{text[:37]}..."


class _Words:
    """A leaf of a value as it is shown: data type and shape of what is in the graph."""

    def __init__(self, x: Any) -> None:
        self.x = x

    def __repr__(self) -> str:
        if not isinstance(self.x, Value):
            return repr(self.x)
        x: Any = self.x
        return f"{x.dtype}{list(x.shape) if x.shape is not None else '[?]'}"

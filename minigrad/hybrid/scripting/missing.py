"""Placeholders for variables without a value: none, perhaps none, or none that is needed."""

from __future__ import annotations

from typing import Any, NamedTuple, NoReturn

import numpy as np

from minigrad import ops
from minigrad.core import is_weak
from minigrad.core.structure import transform
from minigrad.diagnostics.errors import ScriptError
from minigrad.diagnostics.messages import choose, fill
from minigrad.diagnostics.source import here
from minigrad.ops.methods import Value
from minigrad.static import control_dependencies


class Undefined:
    """A placeholder for a variable that got no value on this path; any use is an error."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return "?"

    def raise_undefined(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise ScriptError("script_undefined", name=self.name, defined=here())

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("__"):  # Python itself asks
            raise AttributeError(name)
        self.raise_undefined()

    __hash__ = object.__hash__


class MaybeUndefined(NamedTuple):
    """A variable that has a value if the graph finds `has` true: a loop gave it one, or none."""

    value: Any
    has: Any
    name: str

    def raise_undefined(self, *args: Any, **kwargs: Any) -> NoReturn:
        Undefined(self.name).raise_undefined()


_SIGNS = ["add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and", "or"]
for _name in (*_SIGNS, *(f"r{sign}" for sign in _SIGNS), "lt", "le", "gt", "ge", "neg", "abs"):
    setattr(Undefined, f"__{_name}__", Undefined.raise_undefined)
    setattr(MaybeUndefined, f"__{_name}__", MaybeUndefined.raise_undefined)
for _name in ("eq", "ne", "contains", "call", "getitem", "iter", "len"):
    setattr(Undefined, f"__{_name}__", Undefined.raise_undefined)
for _name in ("bool", "float", "int", "index", "format"):
    setattr(Undefined, f"__{_name}__", Undefined.raise_undefined)


class NotComputed:
    """A placeholder for a value that wasn't computed on this path."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return self.name


RETURNED = "return"  # the name of the variable that holds the function's result
UNUSED = NotComputed("unused")  # not needed: on this path, the function has jumped already


class Falsy(NotComputed):
    """A false operand of `and`, which any other zero can replace."""

    def __init__(self, value: Any) -> None:
        super().__init__("false")
        self.value = value


def is_missing(x: Any) -> bool:
    """Return whether a variable has no value yet."""
    return isinstance(x, (Undefined, NotComputed))


def is_number(x: Any) -> bool:
    """Return whether a graph can hold this: a node, tensor, array or Python number."""
    return isinstance(x, (Value, np.ndarray, np.generic)) or is_weak(x)


def maybe_undefined(x: Any, name: str) -> Any:
    """Mark a value that exists on one path but may be missing on the other."""
    return x if isinstance(x, (MaybeUndefined, NotComputed)) else MaybeUndefined(x, True, name)


def unwrap_if_defined(x: Any) -> Any:
    """Return the variable without its mark if it certainly has a value."""
    return x.value if isinstance(x, MaybeUndefined) and x.has is True else x


def check_defined(x: Any) -> Any:
    """Return a variable's value; if it has none, ScriptError or an assertion in the graph."""
    if isinstance(x, Undefined):
        x.raise_undefined()
    if not isinstance(x, MaybeUndefined):
        return x
    message = choose(fill("script_no_step", name=x.name))
    with control_dependencies([ops.assert_true(x.has, message=message)]):
        return transform(x.value, lambda leaf: ops.identity(leaf) if is_number(leaf) else leaf)

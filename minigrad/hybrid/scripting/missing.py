"""What a variable holds that has no value: none, perhaps none, or none that anybody needs."""

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

    __hash__ = object.__hash__


class Maybe(NamedTuple):
    """A variable that has a value if the graph finds `has` true: a loop gave it one, or none."""

    value: Any
    has: Any
    name: str

    def complain(self, *args: Any, **kwargs: Any) -> NoReturn:
        Undefined(self.name).complain()


_SIGNS = ["add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and", "or"]
for _name in (*_SIGNS, *(f"r{sign}" for sign in _SIGNS), "lt", "le", "gt", "ge", "neg", "abs"):
    setattr(Undefined, f"__{_name}__", Undefined.complain)
    setattr(Maybe, f"__{_name}__", Maybe.complain)
for _name in ("eq", "ne", "contains", "call", "getitem", "iter", "len"):
    setattr(Undefined, f"__{_name}__", Undefined.complain)
for _name in ("bool", "float", "int", "index", "format"):
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


def is_missing(x: Any) -> bool:
    """Whether a variable has no value yet."""
    return isinstance(x, (Undefined, Marker))


def is_number(x: Any) -> bool:
    """Whether a graph can hold this: a node, a tensor, an array or a Python number."""
    return isinstance(x, (Value, np.ndarray, np.generic)) or is_weak(x)


def maybe(x: Any, name: str) -> Any:
    """A value that is there, beside one that may not be."""
    return x if isinstance(x, (Maybe, Marker)) else Maybe(x, True, name)


def settled(x: Any) -> Any:
    """The variable without the doubt, where there is none."""
    return x.value if isinstance(x, Maybe) and x.has is True else x


def defined(x: Any) -> Any:
    """The value of a variable that may have none: ScriptError, or an assertion in the graph."""
    if isinstance(x, Undefined):
        x.complain()
    if not isinstance(x, Maybe):
        return x
    message = choose(fill("script_no_step", name=x.name))
    with control_dependencies([ops.assert_true(x.has, message=message)]):
        return transform(x.value, lambda leaf: ops.identity(leaf) if is_number(leaf) else leaf)

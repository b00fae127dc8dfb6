"""Recognition of JAX functions by the names that they use, if no input is JAX's."""

from __future__ import annotations

import dis
import functools
from collections.abc import Iterator
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any

from minigrad.interop.captured import is_user_file

PACKAGES = {"jax", "jaxlib"}
NAMES = {"LOAD_GLOBAL", "LOAD_NAME", "LOAD_DEREF", "LOAD_FROM_DICT_OR_DEREF", "IMPORT_NAME"}


def mentions_jax(function: Any) -> bool:
    """Return whether a function, or a user function that it calls, uses JAX by name.

    Only its code is looked at; nothing runs.

    >>> mentions_jax(len)
    False
    """
    waiting, seen = [function], set()
    while waiting:
        x = waiting.pop()
        if _is_from_jax(x):
            return True
        if id(x) in seen:
            continue
        seen.add(id(x))
        if isinstance(x, FunctionType):
            if x is function or is_user_file(x.__code__.co_filename, "\0"):
                waiting.extend(_used(x))
        else:
            waiting.extend(_parts(x))
    return False


def _is_from_jax(x: Any) -> bool:
    """Return whether this is a JAX module or is defined in one."""
    name = x.__name__ if isinstance(x, ModuleType) else getattr(x, "__module__", None)
    names = (name, type(x).__module__)
    return any(str(n).partition(".")[0] in PACKAGES for n in names if isinstance(n, str))


def _parts(x: Any) -> Iterator[Any]:
    """Yield a value's contents: the functions that run when it is called, and its items."""
    if isinstance(x, MethodType):
        yield from (x.__func__, x.__self__)
    elif isinstance(x, functools.partial):
        yield from (x.func, *x.args, *x.keywords.values())
    elif isinstance(x, dict):
        yield from x.values()
    elif isinstance(x, (list, tuple)):
        yield from x
    elif not isinstance(x, (type, ModuleType)) and callable(x):
        yield type(x).__call__
        yield from getattr(x, "__dict__", {}).values()


def _used(function: FunctionType) -> Iterator[Any]:
    """Yield the values of the names that a function uses and does not define."""
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=False)
    inner = dict(cells)
    for name in _names(function.__code__):
        if name in inner:
            try:
                yield inner[name].cell_contents
            except ValueError:  # not filled yet
                continue
        elif name in function.__globals__:
            yield function.__globals__[name]
        elif name.partition(".")[0] in PACKAGES:
            yield __import__(name.partition(".")[0])


def _names(code: CodeType) -> Iterator[str]:
    for instruction in dis.get_instructions(code):
        if instruction.opname in NAMES:
            yield instruction.argval
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)

"""Printing whenever a value is computed: `jax.debug.print("x = {}", x)`."""

from __future__ import annotations

import builtins
from typing import Any

import minigrad as mg
from minigrad.faces.face import Compat

__all__ = ["print"]


def print(fmt: str, *args: Any, **kwargs: Any) -> None:
    """Print a format string with values; when traced, with one value at the string's end."""
    values = [*args, *kwargs.values()]
    if not any(isinstance(x, mg.Node) for x in values):
        builtins.print(fmt.format(*args, **kwargs))
    elif len(values) > 1 or not fmt.endswith("}"):
        raise face.error_for("print(fmt,x,y)")
    else:
        mg.Print(values[0], fmt[: fmt.rindex("{")].rstrip())


__getattr__ = face = Compat(
    "jax.debug", lacks={'jax.debug.print("x = {}", x)': "callback breakpoint print(fmt,x,y)"}
)
__dir__ = face.names

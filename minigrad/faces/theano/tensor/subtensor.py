"""Slices between two variables with a constant length: `x[i * 20 : (i + 1) * 20]`."""

from __future__ import annotations

from typing import Any

import numpy as np

import minigrad as mg
from minigrad.faces.face import Compat

__all__ = ["index_range"]

Linear = dict[Any, int]  # how often a sum has each node in it; under 1 a number


def index_range(start: Any, stop: Any) -> Any:
    """Return the positions between two nodes whose difference is a constant."""
    rest = add_linear(as_linear(stop), as_linear(start), -1)
    if rest.keys() - {1}:
        raise face.error_for("x[i:j]")
    return start + np.arange(max(rest.get(1, 0), 0))


def as_linear(x: Any) -> Linear:
    """Write an integer expression as a sum of nodes with integer coefficients."""
    if not isinstance(x, mg.Node):
        return {1: int(x or 0)}
    if x.op.name == "Constant" and x.shape == ():
        return {1: int(x.attrs["value"])}
    if x.op.name == "Cast" and x.dtype.kind == "i" and x.inputs[0].dtype.kind == "i":
        return as_linear(x.inputs[0])
    if x.op.name not in ("Add", "Sub", "Mul"):
        return {x: 1}
    a, b = map(as_linear, x.inputs)
    if x.op.name != "Mul":
        return add_linear(a, b, -1 if x.op.name == "Sub" else 1)
    times, of = (a, b) if not a.keys() - {1} else (b, a)
    return {x: 1} if times.keys() - {1} else add_linear({}, of, times.get(1, 0))


def add_linear(a: Linear, b: Linear, times: int) -> Linear:
    """Return a + times · b; nodes whose coefficient becomes 0 are left out."""
    found = {k: a.get(k, 0) + times * b.get(k, 0) for k in {**a, **b}}
    return {k: n for k, n in found.items() if n}


__getattr__ = face = Compat("theano.tensor.subtensor", lacks={"x[i + T.arange(20)]": "x[i:j]"})
__dir__ = face.names

"""How operators that work on each element by itself are defined, and what they are tested on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from minigrad.core import (
    Array,
    Dtype,
    Op,
    Sample,
    Shape,
    as_float,
    bool_,
    broadcast_shapes,
    int64,
    operator,
    promote,
)
from minigrad.diagnostics.errors import DtypeError
from minigrad.diagnostics.messages import fill

PAIRS = (
    Sample([(2, 3), (2, 3)]),
    Sample([(2, 3), (3,)]),
    Sample([(2, 1), (1, 3)]),
    Sample([(), ()]),
)
POSITIVE_PAIRS = tuple(Sample(s.shapes, low=0.5) for s in PAIRS)
POSITIVE = (Sample([(2, 3)], low=0.2), Sample([()], low=0.2))
ANY = (Sample([(2, 3)]), Sample([(0, 3)]), Sample([()]))


def counting(*dtypes: Dtype) -> Dtype:
    """Promote like `promote`, but turn bools into int64 (powers, division with remainder)."""
    common = promote(*dtypes)
    return int64 if common == bool_ else common


def no_bools(name: str, what: str) -> Callable[..., Dtype]:
    """Make a dtype rule like `promote` that refuses operands of bools only, as NumPy does."""

    def dtype(*dtypes: Dtype) -> Dtype:
        common = promote(*dtypes)
        if common == bool_:
            raise DtypeError("bool_arithmetic", op=name, what=fill(what))
        return common

    return dtype


def summed(*dtypes: Dtype) -> Dtype:
    """Return the data type of a sum: int64 for bools and integers of any width."""
    return dtypes[0] if dtypes[0].kind == "f" else int64


def ufunc_kernel(ufunc: np.ufunc) -> Callable[..., Array]:
    """Make a kernel of a ufunc; passing `out` costs a microsecond even if it is None."""

    def run(out: Array, *x: Array) -> Array:
        return ufunc(*x) if out is None else ufunc(*x, out=out)

    return run


def elementwise(name: str, run: np.ufunc | Callable[..., Array], **record: Any) -> Op:
    """Define an operator whose operands are broadcast against each other."""
    if isinstance(run, np.ufunc):
        record["ufunc"], run = run, ufunc_kernel(run)

    def shape(*shapes: Shape, **attrs: Any) -> Shape:
        return shapes[0] if len(shapes) == 1 else broadcast_shapes(name, *shapes)

    return operator(name, shape=shape, run=run, broadcasts=True, elementwise=True, **record)


def infix(name: str, symbol: Callable[..., Any], ufunc: np.ufunc, **record: Any) -> Op:
    """Define an operator that Python has a sign for.

    Without a place to write to, Python's own operator is used: it is exactly rounded as the ufunc
    is, and ten times faster on scalars.
    """

    def run(out: Array, *x: Array) -> Array:
        return symbol(*x) if out is None else ufunc(*x, out=out)

    return elementwise(name, run, symbol=symbol, ufunc=ufunc, **record)


def smooth(name: str, kernel: np.ufunc | Callable[..., Array], **record: Any) -> Op:
    """Define a function of one real number; integers become floats first."""
    return elementwise(
        name, kernel, **{"dtype": as_float, "inputs": as_float, "samples": ANY} | record
    )

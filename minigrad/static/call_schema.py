"""Checks of operator calls that weren't built by this code, as in a file.

Operators with a kernel tell by its parameters. Those that executors handle enter here what the
functions that build them see to and their own rules do not ask.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from minigrad.core import Attrs, Dim, Op, Spec, TupleSpec, fits
from minigrad.static.node import Node

SHAPE = tuple[int | Dim, ...]
PLACED: Attrs = {"shape": SHAPE | None, "dtype": np.dtype}


class CallSchema(NamedTuple):
    """Operands from `least` to `most` (None: any number), attributes by name with their types.

    `check` says whether operands and attributes that are of these types go together.
    """

    least: int
    most: int | None
    attrs: Attrs
    check: Callable[[Sequence[Node], Attrs], bool] = lambda operands, attrs: True
    optional: Attrs | None = None  # attributes that may be left out


SCHEMAS: dict[Op, CallSchema] = {}


def holds(place: Spec, value: Spec) -> bool:
    """Return whether a value fits where another spec is expected."""
    plain = not isinstance(place, TupleSpec) and not isinstance(value, TupleSpec)
    return plain and place.dtype == value.dtype and fits(value.shape, place.shape)

"""Variables that flow through branches and loops: which of their values the graph has to carry.

A value is a number, a tensor, a node, or a nested tuple, list or dict of them with whatever else
Python knows: what is the same on both ways stays a Python value, and what is a number or a node
becomes a result of the branch.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from minigrad.core import is_weak
from minigrad.core.structure import flatten, rebuild, transform
from minigrad.diagnostics.errors import ControlFlowError
from minigrad.diagnostics.messages import Pair, fill
from minigrad.diagnostics.source import here
from minigrad.hybrid.scripting.missing import (
    RETURNED,
    UNUSED,
    Falsy,
    MaybeUndefined,
    NotComputed,
    Undefined,
    is_number,
    maybe_undefined,
    unwrap_if_defined,
)
from minigrad.ops.methods import Value


def is_same_value(a: Any, b: Any) -> bool:
    """Return whether these are the same Python value."""
    if a is b:
        return True
    if type(a) is not type(b) or isinstance(a, (Value, np.ndarray)):
        return False
    return is_weak(a) and a == b if is_number(a) else _safe_equal(a, b)


def _safe_equal(a: Any, b: Any) -> bool:
    try:
        return bool(a == b)
    except (TypeError, ValueError, ArithmeticError):  # they do not know
        return False


@dataclass
class ResultSlot:
    """Where in a variable the graph's result of this number goes."""

    index: int


class Merge:
    """The values of variables after each of two branches, and their merged values.

    `outputs` are the pairs of numbers between which the graph chooses, `owners` the variables they
    belong to; `merged` holds the variables with a `ResultSlot` in place of each such number.
    """

    def __init__(self, names: Sequence[str], one: Sequence[Any], other: Sequence[Any]) -> None:
        self.outputs: list[tuple[Any, Any]] = []
        self.owners: list[str] = []
        self.merged = [self._merge_variable(*x) for x in zip(names, one, other, strict=True)]

    def _merge_variable(self, name: str, a: Any, b: Any) -> Any:
        for value in (a, b):
            if isinstance(value, Undefined):
                return value
        if isinstance(a, NotComputed) and isinstance(b, NotComputed):
            return a
        a, b = (
            maybe_undefined(x, name) if isinstance(y, MaybeUndefined) else x
            for x, y in ((a, b), (b, a))
        )
        (one, skeleton), (other, skeleton_of_other) = flatten(a), flatten(b)
        if isinstance(a, NotComputed):
            one, skeleton = [_placeholder_for(a, x) for x in other], skeleton_of_other
        elif isinstance(b, NotComputed):
            other, skeleton_of_other = [_placeholder_for(b, x) for x in one], skeleton
        if skeleton != skeleton_of_other:
            raise _disagreement_error("script_branch_arrangement", name, a, b)
        pairs = zip(one, other, strict=True)
        return rebuild(skeleton, [self._merge_leaf(name, x, y) for x, y in pairs])

    def _merge_leaf(self, name: str, x: Any, y: Any) -> Any:
        if is_same_value(x, y):
            return x
        if not (is_number(x) and is_number(y)):
            raise _disagreement_error("script_branch_values", name, x, y)
        self.outputs.append((x, y))
        self.owners.append(name)
        return ResultSlot(len(self.outputs) - 1)

    def result(self, values: Sequence[Any]) -> tuple[Any, ...]:
        """Return the variables with the numbers that the graph chose in their places."""
        leaves, skeleton = flatten(self.merged)
        filled = [values[x.index] if isinstance(x, ResultSlot) else x for x in leaves]
        return tuple(unwrap_if_defined(x) for x in rebuild(skeleton, filled))


def _disagreement_error(key: str, name: str, a: Any, b: Any) -> ControlFlowError:
    shown: dict[str, Any] = {"true": describe(a), "false": describe(b)}
    return ControlFlowError(key, op="if", variable=variable_label(name), defined=here(), **shown)


def _placeholder_for(marker: NotComputed, x: Any) -> Any:
    """Return the graph's placeholder value for x if x wasn't computed."""
    if isinstance(marker, Falsy):
        dtype = getattr(x, "dtype", None) or np.asarray(x).dtype
        if dtype.kind == marker.value.dtype.kind or not is_number(x):
            return marker.value
    if is_weak(x):
        return x if marker is UNUSED else type(x)()
    return zeros(x) if isinstance(x, (Value, np.ndarray, np.generic)) else x


def zeros(x: Any) -> Any:
    """Make zeros in the shape of x, with length 0 for unknown lengths."""
    shape = [0 if n is None else n for n in x.shape or ()]
    return np.zeros(shape, x.dtype)[()]


def variable_label(name: str) -> Pair:
    """Return how messages call a variable, in both languages."""
    if name == RETURNED:
        return fill("script_returned")
    return fill("script_variable" if name.isidentifier() else "script_value_of", name=name)


def describe(x: Any) -> str:
    """Describe a value briefly for a message."""
    text = repr(transform(x.value if isinstance(x, MaybeUndefined) else x, _LeafSummary))
    return text if len(text) <= 40 else f"{text[:37]}..."


class _LeafSummary:
    """A leaf of a value as it is shown: data type and shape of what is in the graph."""

    def __init__(self, x: Any) -> None:
        self.x = x

    def __repr__(self) -> str:
        if not isinstance(self.x, Value):
            return repr(self.x)
        x: Any = self.x
        return f"{x.dtype}{list(x.shape) if x.shape is not None else '[?]'}"

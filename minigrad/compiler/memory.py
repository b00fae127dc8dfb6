"""Whose an array is: what a run may write to, and what the caller may keep."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from minigrad.core import Array


class Two:
    """Two arrays that take turns: who holds the one may keep it while the other is written."""

    __slots__ = ("arrays", "dtype", "shape")

    def __init__(self, shape: tuple[int, ...], dtype: Any) -> None:
        self.shape, self.dtype = shape, dtype
        self.arrays: list[Array] = []

    def free(self) -> Array:
        """One that nobody else holds, or a new one in the place of the older."""
        for array in self.arrays:
            if sys.getrefcount(array) == ALONE:
                return array
        self.arrays = [np.empty(self.shape, self.dtype), *self.arrays[:1]]
        return self.arrays[0]

    def other(self, now: Any) -> Array:
        """One that is not this."""
        for array in self.arrays:
            if array is not now:
                return array
        self.arrays.append(np.empty(self.shape, self.dtype))
        return self.arrays[-1]


ALONE = next(sys.getrefcount(x) for x in [np.empty(0)])  # of an array that only one list holds


def own(value: Any) -> Any:
    """A result that shares no memory with what is used again."""
    if not isinstance(value, np.ndarray):
        return value
    return value.copy() if value.ndim else value[()]


def apart(value: Any, arena: Array) -> Any:
    """A value that stays what it is when the arena is written to again."""
    if isinstance(value, tuple):
        return tuple([apart(part, arena) for part in value])
    borrowed = getattr(value, "base", None) is not None and np.may_share_memory(value, arena)
    return value.copy() if borrowed else value

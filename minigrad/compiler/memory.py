"""Ownership of arrays: what a run may write to, and what the caller may keep."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from minigrad.core import Array


class DoubleBuffer:
    """Two arrays that alternate: a caller can keep one while the other is written."""

    __slots__ = ("arrays", "dtype", "shape")

    def __init__(self, shape: tuple[int, ...], dtype: Any) -> None:
        self.shape, self.dtype = shape, dtype
        self.arrays: list[Array] = []

    def free(self) -> Array:
        """Return a buffer that nothing else holds, or replace the older one."""
        for array in self.arrays:
            if sys.getrefcount(array) == ALONE:
                return array
        self.arrays = [np.empty(self.shape, self.dtype), *self.arrays[:1]]
        return self.arrays[0]

    def other(self, now: Any) -> Array:
        """Return a buffer that isn't this one."""
        for array in self.arrays:
            if array is not now:
                return array
        self.arrays.append(np.empty(self.shape, self.dtype))
        return self.arrays[-1]


ALONE = next(sys.getrefcount(x) for x in [np.empty(0)])  # of an array that only one list holds


def unshared(value: Any) -> Any:
    """Return a result that shares no memory with buffers that are used again."""
    if not isinstance(value, np.ndarray):
        return value
    return value.copy() if value.ndim else value[()]


def outside_arena(value: Any, arena: Array) -> Any:
    """Return a value that doesn't change when the arena is written to again."""
    if isinstance(value, tuple):
        return tuple([outside_arena(part, arena) for part in value])
    borrowed = getattr(value, "base", None) is not None and np.may_share_memory(value, arena)
    return value.copy() if borrowed else value

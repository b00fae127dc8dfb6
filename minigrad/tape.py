"""The tape: what is recorded of each operation, whether it is, and what changed since."""

from __future__ import annotations

import contextlib
import weakref
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from minigrad import backprop
from minigrad.core import Array, BaseNode, Dtype, context, next_order
from minigrad.errors import GradientError
from minigrad.source import here


class TapeNode(BaseNode):
    """One recorded operation: the operator, where its operands came from, what its rules need.

    `inputs` holds for each operand the node that made it, or the leaf tensor itself, or (no
    gradient flows there) the number or the Spec of the array. `saved` holds the result and the
    operands as far as the gradient rules read them, and is None once a backward pass used it.
    """

    __slots__ = ("__weakref__", "dtype", "kept", "saved", "shape")
    saved: tuple[Any, ...] | None
    kept: backprop.Retained
    shape: tuple[int, ...]
    dtype: Dtype

    def __repr__(self) -> str:
        return f"<{self.op} recorded at {self.where.label}>"


class recording(contextlib.ContextDecorator):
    """Switch the tape of this thread on or off inside the block."""

    def __init__(self, on: bool) -> None:
        self.on = on
        self.before: list[bool] = []

    def __enter__(self) -> None:
        self.before.append(context.grad)
        context.grad = self.on

    def __exit__(self, *exc: object) -> None:
        context.grad = self.before.pop()


def no_grad() -> recording:
    """Compute without recording: results have no creator and need no memory for backward.

    Holds for this thread only; also a decorator.

    >>> import minigrad as mg
    >>> x = mg.tensor(2.0, requires_grad=True)
    >>> with mg.no_grad():
    ...     y = x * x
    >>> y.creator is None
    True
    """
    return recording(False)


@contextlib.contextmanager
def at_once() -> Iterator[None]:
    """Run operations inside the block at once, even within `lazy_batch`."""
    before, context.lazy = context.lazy, None
    try:
        yield
    finally:
        context.lazy = before


class Changes:
    """The version counter: at which tick the memory of an array was last changed in place.

    A node recorded before that tick must not use the array any more. Arrays are known by the one
    that owns their memory, so views are covered; an entry goes when its array goes.
    """

    def __init__(self) -> None:
        self.latest = 0
        self._ticks: dict[int, tuple[Any, int]] = {}

    def note(self, array: Array) -> None:
        """An array is about to change."""
        if context.lazy is not None:
            context.lazy.run_all()  # what was noted reads it as it is now
        owner = _owner(array)
        key = id(owner)
        held: Any = owner  # a NumPy scalar takes no weak reference; each tensor leaves one at most
        if isinstance(owner, np.ndarray):
            held = weakref.ref(owner, lambda _: self._ticks.pop(key, None))
        self.latest = next_order()
        self._ticks[key] = (held, self.latest)

    def check(self, node: TapeNode, values: Iterable[Any] | None = None) -> None:
        """GradientError when a value that the node saved (or one of `values`) changed since."""
        for value in (node.saved or ()) if values is None else values:
            for array in getattr(value, "arrays", (value,)):  # a call saves several at once
                _, tick = self._ticks.get(id(_owner(array)), (None, 0))
                if tick > node.order:
                    raise GradientError("changed", op=node.op, defined=node.where, ran=here())


def _owner(array: Array) -> Array:
    return array if getattr(array, "base", None) is None else array.base


changes = Changes()

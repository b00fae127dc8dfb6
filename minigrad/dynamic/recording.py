"""Switches for whether operations are recorded, and whether they run at once."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from minigrad.core import context

__all__ = ["enable_grad", "is_grad_enabled", "no_grad", "set_grad_enabled"]


class recording(contextlib.ContextDecorator):
    """Switch the tape of this thread on or off inside the block."""

    def __init__(self, on: bool) -> None:
        self.on = on
        self.before: list[bool] = []

    def __enter__(self) -> None:
        self.before.append(context.now.recording)
        context.now.recording = self.on

    def __exit__(self, *exc: object) -> None:
        context.now.recording = self.before.pop()


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


def enable_grad() -> recording:
    """Record again, inside a block or a function that is called under `no_grad`.

    >>> import minigrad as mg
    >>> x = mg.tensor(2.0, requires_grad=True)
    >>> with mg.no_grad(), mg.enable_grad():
    ...     y = x * x
    >>> y.requires_grad
    True
    """
    return recording(True)


@contextlib.contextmanager
def at_once() -> Iterator[None]:
    """Run operations inside the block at once, even within `lazy_batch`."""
    before, context.now.active_reader = context.now.active_reader, None
    try:
        yield
    finally:
        context.now.active_reader = before


class set_grad_enabled:
    """Switch recording on or off from here on; in a `with` statement, until the block ends.

    >>> import minigrad as mg
    >>> with mg.set_grad_enabled(False):
    ...     mg.is_grad_enabled()
    False
    >>> mg.is_grad_enabled()
    True
    """

    def __init__(self, mode: bool) -> None:
        self.before = context.now.recording
        context.now.recording = bool(mode)

    def __enter__(self) -> None:
        """Do nothing: the mode was already set when this object was made."""

    def __exit__(self, *exc: object) -> None:
        context.now.recording = self.before


def is_grad_enabled() -> bool:
    """Return whether operations are recorded in this thread.

    >>> import minigrad as mg
    >>> with mg.no_grad():
    ...     print(mg.is_grad_enabled())
    False
    """
    return context.now.recording

"""One line about work that takes longer than a second; it is cleared when the work is done."""

from __future__ import annotations

import sys
import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

from IPython import get_ipython
from IPython.display import DisplayHandle, display

from viz.words.text import row_text

__all__ = ["announce", "progress", "with_progress"]

T = TypeVar("T")
WAIT = 1.0  # seconds before anything is shown
PACE = 0.2  # seconds between two lines
FEW = 20  # items of which the first one counts, too
SHORT = 0.3  # seconds: a shorter loop shows no progress line
CLEAR = "\r\x1b[2K"  # back to the start of the line, which is erased


class _Line:
    """The progress line, wherever it is read: in a notebook, in a terminal, in a log."""

    def __init__(self) -> None:
        self.next = time.monotonic() + WAIT
        self.shown: DisplayHandle | bool | None = None

    def update(self, key: str, done: int, of: int, start: float) -> None:
        """Say that so many are done since `start`, unless the rest will be done in a moment."""
        now = time.monotonic()
        if now < self.next or (now - start) * (of - done) / done < SHORT:
            return
        self.next = now + PACE
        self.show(row_text(key, done=done, of=of))

    def show(self, said: str) -> None:
        if getattr(get_ipython(), "kernel", None) is not None:
            self._display({"text/plain": said})
        elif sys.stderr.isatty():
            print(CLEAR + said, end="", file=sys.stderr, flush=True)
        elif not self.shown:  # a log has no use for more
            print(said, file=sys.stderr, flush=True)
        self.shown = self.shown or True

    def _display(self, data: dict[str, str]) -> None:
        if isinstance(self.shown, DisplayHandle):
            self.shown.update(data, raw=True)  # type: ignore[no-untyped-call]
        else:
            self.shown = display(data, raw=True, display_id=True)  # type: ignore[no-untyped-call]

    def clear(self) -> None:
        if isinstance(self.shown, DisplayHandle):
            self._display({})  # so that the notebook stores nothing of it
        elif self.shown and sys.stderr.isatty():
            print(CLEAR, end="", file=sys.stderr, flush=True)


_active: ContextVar[_Line | None] = ContextVar("progress", default=None)


@contextmanager
def progress() -> Iterator[None]:
    """Show the progress of `with_progress` in the block and in what it calls, if it takes long."""
    if _active.get() is not None:
        yield
        return
    line = _Line()
    before = _active.set(line)
    try:
        yield
    finally:
        _active.reset(before)
        line.clear()


def announce(key: str) -> None:
    """Announce, within `progress`, the start of work that is known to take long."""
    if (line := _active.get()) is not None:
        line.show(row_text(key))


def with_progress(items: Collection[T], key: str) -> Iterator[T]:
    """Yield the items while reporting progress; `key` is the row that says how many are done."""
    line = _active.get()
    start = time.monotonic()
    for done, item in enumerate(items):
        if done == 1 and len(items) > FEW:
            start = time.monotonic()  # the first one holds what is done once
        elif line is not None and done:
            line.update(key, done, len(items), start)
        yield item

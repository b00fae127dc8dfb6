"""Who may go on when several threads want the same: locks, and turns for runs that share memory.

A forked process has one thread. What the others held would stay locked in it for ever, so all that
is opened there.
"""

from __future__ import annotations

import functools
import os
import sys
import threading
import weakref
from collections.abc import Callable
from typing import Any

from minigrad.core import context
from minigrad.diagnostics.errors import GraphError
from minigrad.diagnostics.source import here


class Lock:
    """Held by one thread at a time, which may take it again."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        _all.add(self)

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *exc: object) -> None:
        self._lock.release()

    def begin_child(self) -> None:
        """Open it, unless it is the forking thread that holds it and will let go of it."""
        if self._lock.acquire(blocking=False):
            self._lock.release()
        else:
            self._lock = threading.RLock()


class Turn:
    """One run at a time of what works in the same memory; a run within a run is refused.

    `open` is there while nobody runs: to delete it is to test and to take it, which costs a tenth
    of a lock and cannot be interrupted halfway. `by` is on whose behalf a run goes on.
    """

    __slots__ = ("__weakref__", "_changed", "by", "open", "waiting")

    def __init__(self) -> None:
        self.renew()
        _all.add(self)

    def renew(self) -> None:
        """Nobody runs, nobody waits."""
        self._changed, self.waiting = threading.Condition(), 0
        self.by: object = None
        self.open = True

    def __enter__(self) -> None:
        """Begin when it is one's turn. GraphError in the middle of another run."""
        while True:
            try:
                del self.open
                break
            except AttributeError:
                self.wait()
        self.by = context.now.who

    def __exit__(self, *exc: object) -> None:
        self.by = None
        self.open = True
        if self.waiting:
            self.tell()

    def run(self, function: Callable[..., Any], *args: Any) -> Any:
        """Call the function when it is its turn."""
        with self:
            return function(*args)

    def look(self, function: Callable[..., Any], *args: Any) -> Any:
        """The same for what may be called in the middle of a run, too."""
        return function(*args) if self._is_mine() else self.run(function, *args)

    def wait(self) -> None:
        """Return when it looks as if the run were over; GraphError if it waits for this thread."""
        if self._is_mine():
            raise GraphError("run_within_run", ran=here())
        with self._changed:
            self.waiting += 1
            try:
                while not hasattr(self, "open"):
                    self._changed.wait(PATIENCE)
            finally:
                self.waiting -= 1

    def tell(self) -> None:
        """Wake one of those that wait."""
        with self._changed:
            self._changed.notify()

    def _is_mine(self) -> bool:
        return not hasattr(self, "open") and self.by is context.now.who

    def begin_child(self) -> None:
        """Whoever runs or waits is not there, unless it is the forking thread."""
        if not self._is_mine():
            self.renew()


PACKAGE = __name__.partition(".")[0]
PATIENCE = 1.0  # seconds until one looks again, as whoever was to wake him may be interrupted
_all: weakref.WeakSet[Lock | Turn] = weakref.WeakSet()


def _begin_child() -> None:
    for x in list(_all):
        x.begin_child()
    for module in [m for name, m in sys.modules.items() if name.partition(".")[0] == PACKAGE]:
        for kind in [x for x in vars(module).values() if isinstance(x, type)]:
            for x in vars(kind).values():
                if isinstance(x, functools.cached_property) and hasattr(x, "lock"):
                    x.lock = threading.RLock()  # of Python 3.11; held while a value is made


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_child)

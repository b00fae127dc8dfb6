"""Locks for threads that share data, and for runs that share memory.

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
    """A reentrant lock, which a fork doesn't leave locked."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        _all.add(self)

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *exc: object) -> None:
        self._lock.release()

    def begin_child(self) -> None:
        """After a fork, renew the lock unless the forking thread holds it and will release it."""
        if self._lock.acquire(blocking=False):
            self._lock.release()
        else:
            self._lock = threading.RLock()


class RunLock:
    """A lock that lets one run at a time use shared memory, and refuses a run within a run.

    `open` exists while nothing runs: deleting it tests and takes the lock, which costs a tenth
    of a lock and cannot be interrupted halfway. `by` is the owner of the current run.
    """

    __slots__ = ("__weakref__", "_changed", "by", "open", "waiting")

    def __init__(self) -> None:
        self.renew()
        _all.add(self)

    def renew(self) -> None:
        """Forget the owner and the waiters."""
        self._changed, self.waiting = threading.Condition(), 0
        self.by: object = None
        self.open = True

    def __enter__(self) -> None:
        """Wait for the turn, then begin; GraphError within the caller's own run."""
        while True:
            try:
                del self.open
                break
            except AttributeError:
                self.wait()
        self.by = context.now.owner

    def __exit__(self, *exc: object) -> None:
        self.by = None
        self.open = True
        if self.waiting:
            self.wake_one()

    def run(self, function: Callable[..., Any], *args: Any) -> Any:
        """Call the function when it is its turn."""
        with self:
            return function(*args)

    def look(self, function: Callable[..., Any], *args: Any) -> Any:
        """Call the function in turn; it may also be called in the middle of a run."""
        return function(*args) if self._is_mine() else self.run(function, *args)

    def wait(self) -> None:
        """Wait until the run seems to be over; GraphError if it is this thread's own run."""
        if self._is_mine():
            raise GraphError("run_within_run", ran=here())
        with self._changed:
            self.waiting += 1
            try:
                while not hasattr(self, "open"):
                    self._changed.wait(PATIENCE)
            finally:
                self.waiting -= 1

    def wake_one(self) -> None:
        """Wake one waiting thread."""
        with self._changed:
            self._changed.notify()

    def _is_mine(self) -> bool:
        return not hasattr(self, "open") and self.by is context.now.owner

    def begin_child(self) -> None:
        """After a fork, forget owner and waiters unless the forking thread owned the lock."""
        if not self._is_mine():
            self.renew()


PACKAGE = __name__.partition(".")[0]
PATIENCE = 1.0  # seconds until a waiter checks again, as its waker may be interrupted
_all: weakref.WeakSet[Lock | RunLock] = weakref.WeakSet()


def _begin_child() -> None:
    for x in list(_all):
        x.begin_child()
    # Python 3.11 makes the value of a `cached_property` under a lock that all objects of the class
    # share, and a child would find it taken for ever. 3.12 dropped the lock; without it in 3.11,
    # this loop can go. A list of our own would miss the property that someone adds tomorrow.
    for module in [m for name, m in sys.modules.items() if name.partition(".")[0] == PACKAGE]:
        for kind in [x for x in vars(module).values() if isinstance(x, type)]:
            for x in vars(kind).values():
                if isinstance(x, functools.cached_property) and hasattr(x, "lock"):
                    x.lock = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_child)

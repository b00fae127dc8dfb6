"""Stop an answer that never ends, or does far too much work: `limited`."""

from __future__ import annotations

import contextlib
import ctypes
import os
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from types import FrameType
from typing import Any

__all__ = ["Endless", "TooManyLines", "limited"]

TICK = 0.1  # seconds between two looks at the clock


class Endless(BaseException):
    """A program was stopped; no `except Exception` of a learner takes it for an error."""


class TooManyLines(Endless):
    """A program was stopped because it had run too many lines."""


@contextlib.contextmanager
def limited(
    seconds: float, lines: int | None = None, names: Mapping[str, Any] | None = None
) -> Iterator[None]:
    """Raise TooManyLines in this thread after so many lines, or Endless after so many seconds.

    Lines count in functions of a notebook, whose globals are `names`, and of a learner's engine.
    The same answer runs the same lines on every machine, so the lines decide and the seconds are
    the second net: for a debugger, which needs the trace function itself, and for other threads.
    A loop of Python is stopped; a single call into C ends first. Where there are no threads, as in
    a browser, only lines are counted.
    """
    call = object()
    _watch.begin(call, seconds)
    counts, hook = lines is not None and sys.gettrace() is None, sys.unraisablehook
    if counts:
        counter = _Counter(lines or 0, names)
        sys.settrace(counter.entered)

        def lost(found: sys.UnraisableHookArgs) -> None:
            """Count on where the error was lost, as in a generator that is being closed."""
            if found.exc_type is TooManyLines:
                sys.settrace(counter.entered)
            else:
                hook(found)

        sys.unraisablehook = lost
    try:
        yield
    finally:
        if counts:
            sys.settrace(None)
            sys.unraisablehook = hook
        with _watch.lock:
            _watch.running.pop(call, None)


class _Watch:
    """One thread that stops what runs too long: starting one takes longer than most programs."""

    def __init__(self) -> None:
        self.running: dict[object, tuple[float, int]] = {}  # until when, and in which thread
        self.lock, self.process = threading.Lock(), 0  # the process that has the thread

    def begin(self, call: object, seconds: float) -> None:
        """Stop this thread after so many seconds, unless the call is no longer among `running`."""
        with self.lock, contextlib.suppress(RuntimeError):  # threads cannot be started here
            self.running[call] = time.monotonic() + seconds, threading.get_ident()
            if self.process != os.getpid():
                threading.Thread(target=self.watch, daemon=True).start()
                self.process = os.getpid()

    def watch(self) -> None:
        """Check the clock as long as anything runs."""
        raised = ctypes.pythonapi.PyThreadState_SetAsyncExc
        while True:
            time.sleep(TICK)
            with self.lock:
                for call, (end, thread) in [*self.running.items()]:
                    if time.monotonic() > end:
                        del self.running[call]
                        raised(ctypes.c_ulong(thread), ctypes.py_object(Endless))
                if not self.running:
                    self.process = 0
                    return


_watch = _Watch()


class _Counter:
    """A trace function that counts the lines of some functions, and stops when none is left."""

    def __init__(self, lines: int, names: Mapping[str, Any] | None) -> None:
        self.left, self.names = lines, names

    def entered(self, frame: FrameType, event: str, arg: object) -> Any:
        """Follow a function if its lines count."""
        own = frame.f_globals is self.names
        return self.ran if own or frame.f_code.co_filename.startswith("<my_engine") else None

    def ran(self, frame: FrameType, event: str, arg: object) -> Any:
        """Count a line."""
        self.left -= 1
        if self.left < 0:
            raise TooManyLines
        return self.ran

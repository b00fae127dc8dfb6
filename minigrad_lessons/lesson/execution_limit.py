"""Stop an answer that never ends, or does far too much work: `limit_execution`."""

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

__all__ = ["TimeLimitExceeded", "TooManyLines", "limit_execution"]

TICK = 0.1  # seconds between two looks at the clock


class TimeLimitExceeded(BaseException):
    """A program was stopped; no `except Exception` of a learner takes it for an error."""


class TooManyLines(TimeLimitExceeded):
    """A program was stopped because it had run too many lines."""


@contextlib.contextmanager
def limit_execution(
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
    _watch.start_timer(call, seconds)
    counts, hook = lines is not None and sys.gettrace() is None, sys.unraisablehook
    if counts:
        counter = _LineCounter(lines or 0, names)
        sys.settrace(counter.trace_call)

        def note_lost_error(found: sys.UnraisableHookArgs) -> None:
            """Count on where the error was lost, as in a generator that is being closed."""
            if found.exc_type is TooManyLines:
                sys.settrace(counter.trace_call)
            else:
                hook(found)

        sys.unraisablehook = note_lost_error
    try:
        yield
    finally:
        if counts:
            sys.settrace(None)
            sys.unraisablehook = hook
        with _watch.lock:
            _watch.running.pop(call, None)


class _Watchdog:
    """One thread that stops what runs too long: starting one takes longer than most programs."""

    def __init__(self) -> None:
        self.running: dict[object, tuple[float, int]] = {}  # until when, and in which thread
        self.lock, self.process = threading.Lock(), 0  # the process that has the thread

    def start_timer(self, call: object, seconds: float) -> None:
        """Stop this thread after so many seconds, unless the call is no longer among `running`."""
        with self.lock, contextlib.suppress(RuntimeError):  # threads cannot be started here
            self.running[call] = time.monotonic() + seconds, threading.get_ident()
            if self.process != os.getpid():
                threading.Thread(target=self.watch_clock, daemon=True).start()
                self.process = os.getpid()

    def watch_clock(self) -> None:
        """Check the clock as long as anything runs."""
        raised = ctypes.pythonapi.PyThreadState_SetAsyncExc
        while True:
            time.sleep(TICK)
            with self.lock:
                for call, (end, thread) in [*self.running.items()]:
                    if time.monotonic() > end:
                        del self.running[call]
                        raised(ctypes.c_ulong(thread), ctypes.py_object(TimeLimitExceeded))
                if not self.running:
                    self.process = 0
                    return


_watch = _Watchdog()


class _LineCounter:
    """A trace function that counts the lines of some functions, and stops when none is left."""

    def __init__(self, lines: int, names: Mapping[str, Any] | None) -> None:
        self.left, self.names = lines, names

    def trace_call(self, frame: FrameType, event: str, arg: object) -> Any:
        """Follow a function if its lines count."""
        own = frame.f_globals is self.names
        return self.trace_line if own or frame.f_code.co_filename.startswith("<my_engine") else None

    def trace_line(self, frame: FrameType, event: str, arg: object) -> Any:
        """Count a line."""
        self.left -= 1
        if self.left < 0:
            raise TooManyLines
        return self.trace_line

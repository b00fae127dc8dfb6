"""Stop an answer that never ends, or does far too much work: `limit_execution`."""

from __future__ import annotations

import contextlib
import ctypes
import os
import re
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from functools import cache
from types import FrameType
from typing import Any

__all__ = ["TimeLimitExceeded", "TooManyLines", "limit_execution"]

TICK = 0.1  # seconds between two looks at the clock
# Modules whose functions an answer may not call; two of the course are at work while it runs.
READY_MADE = r"(?!.*\.(running|execution_limit)$)(minigrad(_lessons)?|viz|my_engine)(\.|$)"
_ready_made = cache(re.compile(READY_MADE).match)  # it is asked of each call, NumPy's included


class TimeLimitExceeded(BaseException):
    """A program was stopped; no `except Exception` of a learner takes it for an error."""


class TooManyLines(TimeLimitExceeded):
    """A program was stopped because it had run too many lines."""


class Borrowed(TimeLimitExceeded):
    """A program was stopped because it called the finished part that it should be itself."""


def is_ready_made(function: Any) -> bool:
    """Return whether a function comes from minigrad, the course or an engine."""
    return bool(_ready_made(str(getattr(function, "__globals__", {}).get("__name__"))))


@contextlib.contextmanager
def limit_execution(
    seconds: float,
    lines: int | None = None,
    names: Mapping[str, Any] | None = None,
    engine: str | None = None,
) -> Iterator[None]:
    """Raise TooManyLines in this thread after so many lines, or Endless after so many seconds.

    Lines count in functions of a notebook, whose globals are `names`, and of a learner's engine.
    Where `engine` is the file of the one that is judged, nothing that is finished may be called:
    another engine, minigrad or the course. That raises Borrowed.
    The same answer runs the same lines on every machine, so the lines decide and the seconds are
    the second net: for a debugger, which needs the trace function itself, and for other threads.
    A loop of Python is stopped; a single call into C ends first. Where there are no threads, as in
    a browser, only lines are counted.
    """
    call = object()
    _watch.start_timer(call, seconds)
    counts, hook = lines is not None and sys.gettrace() is None, sys.unraisablehook
    if counts:
        counter = _LineCounter(lines or 0, names, engine)

        def note_lost_error(found: sys.UnraisableHookArgs) -> None:
            """Count on where the error was lost, as in a generator that is being closed."""
            if found.exc_type in (TooManyLines, Borrowed):
                sys.settrace(counter.trace_call)
                if found.exc_type is Borrowed:  # Python closes what an earlier answer left behind
                    counter.stopped = None
            else:
                hook(found)

        sys.unraisablehook = note_lost_error
        sys.settrace(counter.trace_call)
    try:
        yield
        if counts and counter.stopped:  # and the answer went on all the same
            raise counter.stopped
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

    def __init__(self, left: int, names: Mapping[str, Any] | None, engine: str | None) -> None:
        self.stopped: TimeLimitExceeded | None = None

        def trace_call(frame: FrameType, event: str, arg: object) -> Any:
            """Follow a function if its lines count; stop one that is ready-made."""
            file, module = frame.f_code.co_filename, str(frame.f_globals.get("__name__"))
            # Not `file`: what `@dataclass` writes has the globals of its class, and no file.
            if engine and frame.f_globals.get("__file__") != engine and _ready_made(module):
                called, package = frame.f_code.co_qualname, module.partition(".")[0]
                self.stopped = Borrowed(package if called[0] == "_" else called)
                raise self.stopped
            return trace_line if frame.f_globals is names or file.startswith("<my_engine") else None

        def trace_line(frame: FrameType, event: str, arg: object) -> Any:
            """Count a line, in half the time that a method would take."""
            nonlocal left
            left -= 1
            if left < 0:
                self.stopped = TooManyLines()
                raise self.stopped
            return trace_line

        self.trace_call = trace_call

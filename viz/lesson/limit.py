"""An answer that never ends is stopped: `limited`."""

from __future__ import annotations

import contextlib
import ctypes
import threading
from collections.abc import Iterator

__all__ = ["Endless", "limited"]


class Endless(BaseException):
    """A program was stopped; no `except Exception` of a learner takes it for an error."""


@contextlib.contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Raise Endless in this thread after so many seconds, unless the block has ended by then.

    A loop of Python is stopped; a single call into C ends first. Where there are no threads, as in
    a browser, nothing is stopped.
    """
    here = ctypes.c_ulong(threading.get_ident())
    raised = ctypes.pythonapi.PyThreadState_SetAsyncExc
    timer = threading.Timer(seconds, lambda: raised(here, ctypes.py_object(Endless)))
    timer.daemon = True
    with contextlib.suppress(RuntimeError):  # threads cannot be started here
        timer.start()
    try:
        yield
    finally:
        timer.cancel()

"""Pause the garbage collector while a graph is made: nearly all that is made stays.

Python goes through all objects again whenever there are a quarter more of them; in long graphs
that takes as long as half of the work.
"""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterator


@contextlib.contextmanager
def no_collection() -> Iterator[None]:
    """Switch the collector off meanwhile, unless the user has it off anyway.

    >>> import gc
    >>> with no_collection():
    ...     gc.isenabled()
    False
    >>> gc.isenabled()
    True
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()

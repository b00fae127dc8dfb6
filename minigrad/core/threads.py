"""How many threads a matrix product uses: one, unless the user has said otherwise.

NumPy hands products to a library (BLAS) that takes all cores unless it is told how many. Its
threads spin while they wait for each other, so that on a busy machine two are many times slower
than one, and on a quiet one they gain little at the sizes of this engine. So it is told, once, when
the engine is imported. Kernels in C, and everything else, use the thread that calls.
"""

from __future__ import annotations

import contextlib
import functools
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from minigrad.diagnostics.arguments import whole
from minigrad.diagnostics.errors import GraphError
from minigrad.diagnostics.source import here

__all__ = ["get_num_threads", "set_num_threads"]

# If one of these is set, the user has chosen: BLAS read it when NumPy was imported.
VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "GOTO_NUM_THREADS",
    "MKL_NUM_THREADS",
    "BLIS_NUM_THREADS",
)


def set_num_threads(count: int) -> None:
    """Set how many threads matrix products use, from now on and in the whole process.

    Without a call it is 1, or what OMP_NUM_THREADS or the variable of the BLAS library
    (OPENBLAS_NUM_THREADS, MKL_NUM_THREADS, …) said before Python started. It counts for NumPy's own
    products, too, as BLAS is one for all. The devices of a schedule use one thread each.

    Raises ArgumentError unless `count` is a whole number from 1; GraphError where BLAS cannot be
    told, because threadpoolctl is missing or does not know it.

    >>> import minigrad as mg
    >>> if mg.get_num_threads() is not None:
    ...     mg.set_num_threads(1)
    """
    count = whole("set_num_threads", "count", count, least=1)
    if not _libraries():
        raise GraphError("threads_unknown", ran=here())
    for library in _libraries():
        library.set_num_threads(count)


def get_num_threads() -> int | None:
    """Return how many threads a matrix product may use; None if BLAS can't tell.

    >>> import minigrad as mg
    >>> mg.get_num_threads() in (None, *range(1, 1025))
    True
    """
    return max((library.get_num_threads() for library in _libraries()), default=None)


@contextlib.contextmanager
def one_blas_thread() -> Iterator[None]:
    """Limit matrix products to one thread in the block: a schedule's devices are the threads.

    Where BLAS cannot be told, it keeps those that it has.
    """
    before = [library.get_num_threads() for library in _libraries()]
    for library in _libraries():
        library.set_num_threads(1)
    try:
        yield
    finally:
        for library, count in zip(_libraries(), before, strict=True):
            library.set_num_threads(count)


def begin() -> None:
    """Start with one thread, unless the user has set a number."""
    if not any(os.environ.get(name) for name in VARIABLES):
        for library in _libraries():
            library.set_num_threads(1)


@functools.cache
def _libraries() -> tuple[Any, ...]:
    """Find NumPy's BLAS library; all loaded ones if none is shipped with NumPy.

    Another one, such as that of SciPy, is left alone: its threads are not ours to set.
    """
    try:
        from threadpoolctl import ThreadpoolController  # noqa: PLC0415 — it works without it
    except ImportError:
        return ()
    found = ThreadpoolController().select(user_api="blas").lib_controllers
    package = Path(np.__file__).parent
    folders = {package.parent / "numpy.libs", package / ".dylibs"}  # of wheels
    return tuple([x for x in found if Path(x.filepath).parent in folders] or found)

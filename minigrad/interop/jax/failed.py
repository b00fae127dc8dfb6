"""The error for a JAX function that raises while it is captured or run."""

from __future__ import annotations

import contextlib
import linecache
import logging
import re
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np

from minigrad.diagnostics.errors import TraceError
from minigrad.diagnostics.source import Location, SavedLine, here
from minigrad.interop.captured import users
from minigrad.interop.jax.arguments import Arguments

SYSTEM = "JAX"
LONGEST = 400  # characters of a message of JAX's


def error_for(jax: Any, arguments: Arguments, error: Exception) -> TraceError:
    """A TraceError that names the user's line, what JAX says, and the shapes of the inputs."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    library = str(Path(jax.__file__).parent)
    line = _users_line(error.__traceback__, library)
    fields: dict[str, Any] = {"defined": line, "ran": None if line else here()}
    if isinstance(error, (jax.errors.JAXTypeError, jax.errors.JAXIndexError)):
        return TraceError("capture", system=SYSTEM, reason=reason(error), **fields)
    said = f"{type(error).__name__}: {_short(lines)}" if lines else type(error).__name__
    if CALLED_BACK in str(error):  # what a callback raised is a text in an error of the runtime
        said = _short(lines[-1:])
        fields["defined"] = _told_line(str(error), library) or line
    given = ", ".join(_described(jax, *named) for named in arguments.named())
    return TraceError(
        "capture_raises", function=arguments.called, given=given, reason=said, **fields
    )


CALLED_BACK = "Traceback (most recent call last)"


def reason(error: Exception) -> str:
    """The first line of what an error says."""
    lines = str(error).strip().splitlines()
    return _short(lines[:1]) or type(error).__name__


def _short(lines: list[str]) -> str:
    return " ".join(lines)[:LONGEST].rstrip(". ")


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Keep JAX from logging what a callback raised: it is raised, too."""
    logger = logging.getLogger("jax._src.callback")
    level = logger.level
    logger.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        logger.setLevel(level)


def _described(jax: Any, name: str, path: Any, x: Any) -> str:
    return f"{name}: {jax.numpy.result_type(x)}{list(np.shape(x))}"


def _users_line(traceback: TracebackType | None, library: str) -> Location | None:
    """The innermost line of the user's that the error went through."""
    found = None
    while traceback is not None:
        code = traceback.tb_frame.f_code
        if users(code.co_filename, library):
            found = Location(code, traceback.tb_lasti)
        traceback = traceback.tb_next
    return found


def _told_line(message: str, library: str) -> Location | None:
    """The innermost line of the user's in a traceback that an error holds as text."""
    places = re.findall(r'File "(.+?)", line (\d+)', message)
    own = [place for place in places if users(place[0], library)]
    if not own:
        return None
    file, number = own[-1][0], int(own[-1][1])
    return Location(SavedLine(file, number, linecache.getline(file, number)), 0)

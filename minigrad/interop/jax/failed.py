"""The error for a JAX function that raises while it is captured."""

from __future__ import annotations

from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np

from minigrad.diagnostics.errors import TraceError
from minigrad.diagnostics.source import Location, here
from minigrad.interop.captured import users
from minigrad.interop.jax.arguments import Arguments

SYSTEM = "JAX"


def error_for(jax: Any, arguments: Arguments, error: Exception) -> TraceError:
    """A TraceError that names the user's line, what JAX says, and the shapes of the inputs."""
    reason = next(iter(str(error).strip().splitlines()), "")[:300]
    library = str(Path(jax.__file__).parent)
    fields: dict[str, Any] = {"defined": _users_line(error.__traceback__, library), "ran": here()}
    if isinstance(error, (jax.errors.JAXTypeError, jax.errors.JAXIndexError)):
        return TraceError("capture", system=SYSTEM, reason=reason, **fields)
    kind = type(error).__name__
    said = f"{kind}: {reason}" if reason else kind
    given = ", ".join(_described(jax, *named) for named in arguments.named())
    return TraceError("capture_raises", function=arguments.called, given=given, reason=said, **fields)


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

"""The state of the running thread, and computing without NumPy's warnings."""

from __future__ import annotations

import contextvars
import itertools
import threading
from collections.abc import Callable, Mapping
from types import CodeType
from typing import Any

import numpy as np

from minigrad.diagnostics.arguments import refuse
from minigrad.diagnostics.messages import fill
from minigrad.diagnostics.source import SavedLine

__all__ = [
    "Context",
    "Scope",
    "ThreadState",
    "context",
    "entered",
    "in_body",
    "name_scope",
    "next_call",
    "next_order",
    "silence",
    "silently",
]

# Infinity and NaN are answers and no reason for a warning, as in every framework. NumPy keeps what
# it does about them in a context variable, so a context of our own leaves the user's NumPy alone;
# to enter a copy of it costs a tenth of a microsecond, np.errstate costs one. It begins empty, as
# Jupyter keeps there which cell is running: what `Print` writes would go to the one that imported.
_silent = contextvars.Context()
_silent.run(np.seterr, all="ignore")
silence = _silent.copy  # silence().run(function, ...) for those in a hurry


def silently(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Call the function without NumPy's warnings of overflow, division by zero or NaN."""
    return _silent.copy().run(function, *args, **kwargs)


class ThreadState:
    """The state of one thread.

    recording: whether the tape records, and nodes that are built let gradients through
    scope: the layer or name scope that new nodes belong to
    active_reader: the reader of operators on tensors that takes the place of the tape, or None; it
        says whether it builds nodes (`builds`), and runs what it put off on `run_all()`
    place: the user's line for whatever is recorded, when it is not the one that is running
    owner: the thread it works for: itself, or the thread that runs a schedule on it
    audience: the thread whose listeners hear it: `owner`, or none, for internal scratch work
    phase: the phase that the dynamic graph is in, see `events.phase_of`
    rules: gradient rules that hold instead of the operators' own; see `backprop.rules.following`
    """

    __slots__ = (
        *("active_reader", "audience", "owner", "phase"),
        *("place", "recording", "rules", "scope"),
    )

    def __init__(self) -> None:
        self.owner = self.audience = object()
        self.recording, self.scope = True, ""
        self.phase = "forward"
        self.active_reader: Any = None
        self.rules: Mapping[Any, Any] = {}
        self.place: tuple[CodeType | SavedLine, int] | None = None


class Context(threading.local):
    """The state of the running thread, as `now`."""

    def __init__(self) -> None:
        self.now = ThreadState()


context = Context()


def in_body() -> bool:
    """Return whether operators build nodes now: in a branch, loop, traced function or layer."""
    active_reader = context.now.active_reader
    return active_reader is not None and bool(active_reader.builds)


next_order = itertools.count(1).__next__


class Scope(str):
    """The path of a layer or a name scope, with the scope it was entered from.

    `outer` is the path around it, `call` the number of this call of a layer, 0 of a name scope:
    drawings tell the calls of a layer apart by it.
    """

    outer: str
    call: int


next_call = itertools.count(1).__next__


def entered(outer: str, name: str, call: int = 0) -> Scope:
    """Return the path of a layer or a name scope inside `outer`."""
    scope = Scope(f"{outer}/{name}" if outer else name)
    scope.outer, scope.call = outer, call
    return scope


class name_scope:
    """Build nodes inside a named scope; drawings fold what belongs together. (tf.name_scope.)

    >>> import minigrad as mg
    >>> with mg.Graph(), mg.name_scope("encoder"):
    ...     mg.placeholder("x", shape=(3,))
    <Node encoder/x = Placeholder: float32 (3,), no value>
    """

    def __init__(self, name: str) -> None:
        if not isinstance(name, str) or not name:
            raise refuse("name_scope", "name", name, fill("expect_name"))
        self.name = name

    def __enter__(self) -> str:
        now = context.now
        self.outer = outer = now.scope
        now.scope = entered(outer, self.name)
        return now.scope

    def __exit__(self, *exc: object) -> None:
        context.now.scope = self.outer

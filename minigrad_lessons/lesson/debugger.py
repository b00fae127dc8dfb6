"""Scripted input for the debugger, so that a notebook with `breakpoint()` runs: `typed`."""

from __future__ import annotations

import contextlib
import io
import pdb
import sys
from collections.abc import Iterator
from types import FrameType
from unittest import mock

__all__ = ["typed"]


class ScriptedDebugger(pdb.Pdb):
    """Python's debugger, which reads its commands from a list, and shows them as if typed."""

    def __init__(self, commands: tuple[str, ...]) -> None:
        self.keys = [*commands, "continue"]
        stdin = io.StringIO("".join(f"{line}\n" for line in self.keys))
        super().__init__(stdin=stdin, stdout=sys.stdout, nosigint=True, readrc=False)
        self.prompt = ""

    def precmd(self, line: str) -> str:
        """Show a command behind Python's prompt: a notebook has another, newer Pythons add some."""
        if line in self.keys:
            self.message(f"(Pdb) {line}")
        return line

    def print_stack_entry(self, *place: object) -> None:
        """Print nothing: Python versions disagree which line a stop at `breakpoint()` is on."""


@contextlib.contextmanager
def typed(*commands: str) -> Iterator[list[str]]:
    """Type these commands into the debugger at each `breakpoint()` in the block, then continue.

    What the debugger says is printed. The list grows by the name of a function for each stop;
    without commands that is all.

    >>> def double(x):
    ...     breakpoint()
    ...     return 2 * x
    >>> with typed("p x, x > 3") as stops:
    ...     print(double(4))
    (Pdb) p x, x > 3
    (4, True)
    (Pdb) continue
    8
    >>> stops
    ['double']
    """
    stops: list[str] = []

    def hook() -> None:
        frame: FrameType = sys._getframe(1)
        stops.append(frame.f_code.co_name)
        if commands:
            ScriptedDebugger(commands).set_trace(frame)

    with mock.patch.object(sys, "breakpointhook", hook):
        yield stops

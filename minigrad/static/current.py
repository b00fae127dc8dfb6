"""Where new nodes go, for each thread."""

from __future__ import annotations

import threading
from typing import Any

from minigrad.core import context
from minigrad.core.locks import Lock
from minigrad.static.node import Node


class Building(threading.local):
    """The graphs that new nodes go to: the innermost `with graph:`, else the default one."""

    def __init__(self) -> None:
        self.default: Any = None  # made at its first use
        self.stack: list[Any] = []
        self._takers: list[Any] = []  # who read tensors before each of these
        self.controls: tuple[Node, ...] = ()

    def enter(self, graph: Any, taker: Any) -> None:
        """Let new nodes go to `graph`, and this reader take operators on tensors."""
        self.stack.append(graph)
        self._takers.append(context.taker)
        context.taker = taker

    def leave(self, graph: Any) -> None:
        """Let them go where they went before."""
        self.stack.remove(graph)
        context.taker = self._takers.pop()


building = Building()
lifting = Lock()  # what stands for a value from outside stands there once, whoever asks first

"""The graph that new nodes are added to, for each thread."""

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
        self._readers: list[Any] = []  # who read tensors before each of these
        self.controls: tuple[Node, ...] = ()

    def enter(self, graph: Any, active_reader: Any) -> None:
        """Add new nodes to `graph` from now on, and let this reader handle operators on tensors."""
        self.stack.append(graph)
        self._readers.append(context.now.active_reader)
        context.now.active_reader = active_reader

    def leave(self, graph: Any) -> None:
        """Restore the graph and the reader from before."""
        self.stack.remove(graph)
        context.now.active_reader = self._readers.pop()


building = Building()
lifting = Lock()  # an outside value gets one stand-in, whichever thread is first

"""Where new nodes go, for each thread."""

from __future__ import annotations

import threading
from typing import Any

from minigrad.graph.node import Node
from minigrad.locks import Lock


class Building(threading.local):
    """The graphs that new nodes go to: the innermost `with graph:`, else the default one."""

    def __init__(self) -> None:
        self.default: Any = None  # made at its first use
        self.stack: list[Any] = []
        self.lifting: Any = None  # a layer is building into this graph
        self.controls: tuple[Node, ...] = ()


building = Building()
lifting = Lock()  # what stands for a value from outside stands there once, whoever asks first

"""The results of one run of a captured model: values are summarised when made, none is kept."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from minigrad.core.events import Event, listen, phase_of
from minigrad.interop.captured import Captured, seed
from minigrad.ops import state
from minigrad.static import Node, ancestors
from viz.explorer.portraits import Portrait, portrait
from viz.words.progress import with_progress

SOURCES = (state.variable, state.placeholder, state.constant)
MANY = 1500  # operators of a graph whose pictures are smaller
ROUNDS, BUDGET = 5, 1500  # of further runs that measure time: at most so many, and milliseconds


class RunRecorder:
    """Watches a captured model play forward and backward.

    operators: the forward nodes that compute, in their order; same: what reshapes to the shape that
    there is, and so is what it reads; inputs: the placeholders; parameters:
    the variables; fixed: what depends on no input. values, gradients: a portrait for each node.
    rounds: milliseconds of processor time of each kernel, in several runs; milliseconds_back: the
    least of those that bring back what an operator passes on. totals: like rounds, with the way
    back added. kept: bytes of each result that the backward pass reads.
    """

    def __init__(self, model: Captured) -> None:
        nodes = [n for n in ancestors(model.outputs) if phase_of(n) != "backward"]
        self.same = {n: n.inputs[0] for n in nodes if _changes_nothing(n)}
        self.operators = [n for n in nodes if n.op not in SOURCES and n not in self.same]
        self.inputs: Sequence[Node] = [n for n in nodes if n.op is state.placeholder]
        self.parameters: Sequence[Node] = model.graph.variables
        self.values: dict[Node, Portrait] = {}
        self.gradients: dict[Node, Portrait] = {}
        self.rounds: list[dict[Node, float]] = [{}]
        self.milliseconds_back: dict[Node, float] = defaultdict(float)
        self.kept: dict[Node, int] = defaultdict(int)
        self.size = (32, 16) if len(self.operators) <= MANY else (16, 8)
        self._known = set(nodes)
        moving = {*(self.inputs or self.parameters)}
        for n in (n for n in nodes if not moving.isdisjoint(n.inputs)):
            moving.add(n)
        self.fixed = self._known - moving
        self._sums: dict[Node, Any] = {}  # the node that is the whole gradient of each
        self._owner: dict[Node, Node] = {}  # through whom a node of the way back passes
        self._fresh: list[Node] = []
        self._bytes: dict[Node, int] = {}
        self._memory: dict[Node, int] = {}  # which array owns what a node gave
        self._portraits: dict[Node, Portrait] = {}
        self._progress = with_progress(range(2 * len(self.operators)), "progress_values")
        next(self._progress, None)  # begun here: what runs a graph knows nothing of the line
        self._last = time.thread_time()
        with listen(self._hear):
            model.play_again()
            self._record_gradients(model)
            for _ in range(min(ROUNDS, int(BUDGET / max(1, sum(self.rounds[0].values()))))):
                self.rounds.append({})
                model.play_again(rebuilt=False)
        self.rounds = self.rounds[1:] or self.rounds  # the first one had cold caches
        self.totals = [took.copy() for took in self.rounds]
        for node, source in self._owner.items():
            self.milliseconds_back[source] += self.min_time(node)
            for total, took in zip(self.totals, self.rounds, strict=True):
                total[source] = total.get(source, 0.0) + took.get(node, 0.0)

    def min_time(self, node: Node) -> float:
        """Return the least time that the kernel of a node took."""
        return min(took.get(node, 0.0) for took in self.rounds)

    def _hear(self, event: Event) -> None:
        now = time.thread_time()
        node: Any = event.node
        source: Any = event.source
        if event.kind == "built":
            self._fresh.append(node)
        elif event.kind == "contributed" and node in self._known and source is not None:
            self._sums[node] = event.value
            self._owner |= dict.fromkeys(self._fresh, source)
            self._fresh.clear()
        elif event.kind in ("run", "read") and isinstance(event.value, (np.ndarray, np.generic)):
            self._ran(event, (now - self._last) * 1000)
        self._last = time.thread_time()

    def _ran(self, event: Event, spent: float) -> None:
        node: Any = event.node
        if event.kind == "run":
            self.rounds[-1][node] = spent
        if len(self.rounds) > 1:
            return
        value = owner = event.value
        while isinstance(owner.base, np.ndarray):
            owner = owner.base
        self._memory[node] = id(owner)  # operands are there until a node has run
        if node in self._known:
            self.values[node] = portrait(value, *self.size)
        elif node in self._totals:
            self._portraits[node] = portrait(value, *self.size)
        if event.kind == "read":
            return
        if node in self._known or node in self._portraits:
            next(self._progress, None)
        if node in self._known:
            seen = map(self._memory.get, node.inputs)
            self._bytes[node] = 0 if id(owner) in seen else value.nbytes

    @cached_property
    def _totals(self) -> set[Node]:
        """The nodes that are whole gradients; read when all are built."""
        return {x for x in self._sums.values() if isinstance(x, Node)}

    def _record_gradients(self, model: Captured) -> None:
        """Record each node's gradient, and what the backward pass reads of it."""
        for node, total in self._sums.items():
            if found := self._portraits.get(total) or self.values.get(total):
                self.gradients[node] = found
        for y in model.outputs:
            if self.gradients and y.dtype.kind == "f":
                self.gradients.setdefault(y, portrait(seed(y), *self.size))
        for node in self._owner:
            for x in node.inputs:
                while x in self._bytes and not self._bytes[x]:  # a view of what it reads
                    x = x.inputs[0]
                if x in self._bytes:
                    self.kept[x] = self._bytes[x]
        self._portraits.clear()


def _changes_nothing(node: Node) -> bool:
    """Return whether a node reshapes an operator's result, or an input, to its own shape."""
    x = node.inputs[0] if node.op.name == "Reshape" else node
    return x is not node and x.shape == node.shape and x.op not in (state.variable, state.constant)

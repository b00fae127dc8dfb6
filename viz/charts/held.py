"""What results hold in memory: in a program, as planned; in a dynamic graph, as recorded."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import minigrad as mg
from minigrad.compiler import Program
from minigrad.core.events import Event, Recording, listen
from minigrad.dynamic.changes import owner_of
from minigrad.dynamic.tape import TapeNode
from minigrad.dynamic.tensor import Tensor
from minigrad.ops import parts
from minigrad.static import Graph, Node

Bytes = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Life:
    """One value of a program: its steps, its place in the arena, whether backward waits for it."""

    name: str
    start: int
    end: int
    bytes: int
    offset: int
    retained: bool


@dataclass(frozen=True, slots=True)
class Planned:
    """What a program holds at each of its steps, in bytes.

    The arena and the results are there from the start; `held` is what is in the arena, `alive`
    that and the results made so far.
    """

    lives: tuple[Life, ...]
    held: Bytes
    alive: Bytes
    arena: int
    results: int
    apart: int
    boundary: int | None  # the first step of the backward pass

    @property
    def begin(self) -> int:
        """The first step that computes anything; before it there are inputs."""
        return min((x.start for x in self.lives), default=0)

    @property
    def retained(self) -> int:
        """Bytes of the values that the forward pass leaves for the backward pass."""
        return sum(x.bytes for x in self.lives if x.retained)


@dataclass(frozen=True, slots=True)
class Measured:
    """What results held in a dynamic graph, forward and backward, in bytes, event by event."""

    alive: Bytes
    retained: int

    @property
    def peak(self) -> int:
        return int(self.alive.max(initial=0))


def plan_of(program: Program) -> Planned:
    """Return the memory plan of a program, step by step."""
    bound, plan = program.bound, program.bound.plan
    order = bound.layout.order
    boundary = _first_backward(order)
    placed = ((x, plan.buffers[x.buffer].offset) for x in plan.lifetimes)
    lives = tuple(
        Life(_name(x.node), x.start, x.end, x.bytes, offset, x.start < (boundary or 0) <= x.end)
        for x, offset in placed
    )
    alive = np.zeros(len(order) + 1, np.int64)
    for x in lives:
        alive[x.start] += x.bytes
        alive[x.end + 1] -= x.bytes
    held = np.cumsum(alive)[:-1]
    results = 0
    for i, node in enumerate(order):
        slot = bound.slots[node]
        if slot.kind == "result":
            size = int(np.prod(slot.shape)) * node.dtype.itemsize
            alive[i] += size
            results += size
    alive = np.cumsum(alive)[:-1]
    return Planned(lives, held, alive, plan.bytes, results, plan.unshared_bytes, boundary)


def _first_backward(order: Sequence[Node]) -> int | None:
    """Return the first backward step; a fused kernel that gives a forward value is before it."""
    forward = {x.inputs[0] for x in order if x.op is parts.output and not _is_gradient(x)}
    for i, node in enumerate(order):
        inner = not node.inputs or node.op is parts.output or node in forward
        if _is_gradient(node) and not inner:
            return i
    return None


def _is_gradient(node: Node) -> bool:
    return "gradients" in node.scope.split("/")


def _name(node: Node) -> str:
    """Return a node's name; one of several results is named after its layer, or its kernel."""
    if node.op is not parts.output:
        return node.name.split("/")[-1]
    if node.scope and not _is_gradient(node):
        return node.scope.split("/")[-1]
    return f"{node.inputs[0].name.split('/')[-1]}[{node.attrs['index']}]"


def graph_of(model: Callable[..., Any], arrays: Sequence[Any], backward: bool = True) -> Graph:
    """Build the graph of a function's value, and with `backward` of its gradients."""
    with mg.Graph() as graph, mg.enable_grad():
        nodes = [mg.placeholder(f"x{i}", a.shape, a.dtype) for i, a in enumerate(arrays, 1)]
        if not backward:
            return mg.build_graph(nodes, model(*nodes))
        loss = _sum_outputs(model(*nodes))
        trained = [v for v in graph.nodes if v.op.name == "Variable"]
        differentiable = [x for x in (*nodes, *trained) if x.dtype.kind == "f"]
        found = [g for g in mg.gradients(loss, differentiable) if g is not None]
        return mg.build_graph(nodes, [loss, *found])


def measured_of(
    model: Callable[..., Any], arrays: Sequence[Any], backward: bool = True
) -> Measured:
    """Measure the bytes that kernels' results hold while a function runs forward and backward.

    A silent run holds at most this much: without listeners, the backward pass writes some
    results over others. Without a backward pass nothing is recorded.
    """
    tensors = [mg.tensor(a, requires_grad=a.dtype.kind == "f") for a in arrays]
    recording = LiveBytesRecording()
    if not backward:
        with listen(recording), mg.no_grad():
            result = model(*tensors)
        del result
        return Measured(np.asarray(recording.alive, np.int64), 0)
    with listen(recording), mg.enable_grad():
        loss: Tensor = _sum_outputs(model(*tensors))
        kept, leaves = _tape(loss, recording)
        found = mg.grad(loss, leaves, allow_unused=True)
    del found
    return Measured(np.asarray(recording.alive, np.int64), kept)


class LiveBytesRecording(Recording):
    """A recording that keeps how many bytes the results of kernels held after each event."""

    def __init__(self) -> None:
        super().__init__()
        self.alive = [0]

    def __call__(self, event: Event) -> None:
        super().__call__(event)
        self.alive.append(self.counts.bytes_live)


def _tape(loss: Tensor, recording: LiveBytesRecording) -> tuple[int, list[Tensor]]:
    """Return the bytes of the results that the tape saved, each array once; and the leaves."""
    saved: dict[int, int] = {}
    leaves: dict[int, Tensor] = {}
    todo = [] if loss.creator is None else [loss.creator]
    seen = set(todo)
    for node in todo:  # which grows meanwhile
        for x in node.sources:
            if isinstance(x, TapeNode) and x not in seen:
                seen.add(x)
                todo.append(x)
            elif isinstance(x, Tensor):
                leaves[id(x)] = x
        for value in node.saved or ():
            for array in getattr(value, "arrays", (value,)):  # a call saves several at once
                if isinstance(array, np.ndarray) and recording.holds(owner := owner_of(array)):
                    saved[id(owner)] = owner.nbytes
    return sum(saved.values()), list(leaves.values())


def as_input(x: Any) -> Any:
    array = np.array(getattr(x, "data", x))
    return array.astype(mg.float32) if array.dtype == mg.float64 else array


def _sum_outputs(y: Any) -> Any:
    """Sum all that a function returns to one number to differentiate."""
    first, *rest = y if isinstance(y, (list, tuple)) else [y]
    total = mg.sum(first)
    for other in rest:
        total = total + mg.sum(other)
    return total

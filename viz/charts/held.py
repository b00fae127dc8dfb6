"""What is held in memory: by a program, as planned; by a dynamic graph, as measured."""

from __future__ import annotations

import contextlib
import sys
import tracemalloc
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import minigrad as mg
from minigrad.compiled import Program
from minigrad.eager import Tensor
from minigrad.graph import Graph, Node
from minigrad.ops import parts
from minigrad.tape import TapeNode, owner_of

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

    The arena is there from the start; `held` is what lies in it, `alive` that and the results made
    so far.
    """

    lives: tuple[Life, ...]
    held: Bytes
    alive: Bytes
    arena: int
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
    """What a dynamic graph held while it ran forward and backward, in bytes, moment by moment."""

    alive: Bytes
    retained: int

    @property
    def peak(self) -> int:
        return int(self.alive.max(initial=0))


def plan_of(program: Program) -> Planned:
    """The plan of a program, step by step."""
    bound = program.bound
    order = bound.layout.order
    boundary = _first_backward(order)
    lives = tuple(
        Life(
            _name(x.node),
            x.start,
            x.end,
            x.bytes,
            bound.plan.buffers[x.buffer].offset,
            boundary is not None and x.start < boundary <= x.end,
        )
        for x in bound.plan.lifetimes
    )
    alive = np.zeros(len(order) + 1, np.int64)
    for x in lives:
        alive[x.start] += x.bytes
        alive[x.end + 1] -= x.bytes
    held = np.cumsum(alive)[:-1]
    for i, node in enumerate(order):
        slot = bound.slots[node]
        if slot.kind == "result":
            alive[i] += int(np.prod(slot.shape)) * node.dtype.itemsize
    plan = bound.plan
    return Planned(lives, held, np.cumsum(alive)[:-1], plan.bytes, plan.unshared_bytes, boundary)


def _first_backward(order: Sequence[Node]) -> int | None:
    """The first step of the backward pass; a fused kernel that gives a forward value is before."""
    forward = {x.inputs[0] for x in order if x.op is parts.output and not _is_gradient(x)}
    for i, node in enumerate(order):
        inner = not node.inputs or node.op is parts.output or node in forward
        if _is_gradient(node) and not inner:
            return i
    return None


def _is_gradient(node: Node) -> bool:
    return "gradients" in node.scope.split("/")


def _name(node: Node) -> str:
    """One result of several is called after the layer that it was written for, or its kernel."""
    if node.op is not parts.output:
        return node.name.split("/")[-1]
    if node.scope and not _is_gradient(node):
        return node.scope.split("/")[-1]
    return f"{node.inputs[0].name.split('/')[-1]}[{node.attrs['index']}]"


def graph_of(model: Callable[..., Any], arrays: Sequence[Any]) -> Graph:
    """The graph of a function's value and its gradients."""
    with mg.Graph() as graph, mg.enable_grad():
        nodes = [
            mg.placeholder(f"x{i}", shape=a.shape, dtype=a.dtype) for i, a in enumerate(arrays, 1)
        ]
        loss = _total(model(*nodes))
        trained = [v for v in graph.nodes if v.op.name == "Variable"]
        wanted = [x for x in (*nodes, *trained) if x.dtype.kind == "f"]
        found = [g for g in mg.gradients(loss, wanted) if g is not None]
        return mg.build_graph(nodes, [loss, *found])


def planned_of(model: Callable[..., Any], arrays: Sequence[Any]) -> Planned:
    """The plan of the program of a function's value and its gradients."""
    return plan_of(graph_of(model, arrays).compile())


def measured_of(model: Callable[..., Any], arrays: Sequence[Any]) -> Measured:
    """What Python and NumPy hold while a function runs forward and backward."""
    tensors = [mg.tensor(a, requires_grad=a.dtype.kind == "f") for a in arrays]

    def forward() -> Tensor:
        with mg.enable_grad():
            loss: Tensor = _total(model(*tensors))
            return loss

    loss = forward()
    kept, leaves = _tape(loss)
    mg.grad(loss, leaves, allow_unused=True)  # what is made once is made now
    del loss
    with _sampled() as samples:
        mg.grad(forward(), leaves, allow_unused=True)
    found = np.asarray(samples, np.int64)
    return Measured(np.maximum(found - found[:1], 0), kept)


@contextlib.contextmanager
def _sampled() -> Iterator[list[int]]:
    """The bytes in use at each call and return inside the block; whoever profiles goes on later."""
    samples: list[int] = []
    before, tracing = sys.getprofile(), tracemalloc.is_tracing()

    def look(*_: object) -> None:
        samples.append(tracemalloc.get_traced_memory()[0])

    if not tracing:
        tracemalloc.start()
    sys.setprofile(look)
    try:
        yield samples
    finally:
        sys.setprofile(before)
        if not tracing:
            tracemalloc.stop()


def _tape(loss: Tensor) -> tuple[int, list[Tensor]]:
    """Bytes that the tape saved, each array once and leaves left out; and the leaves."""
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
            if isinstance(value, np.ndarray):
                owner = owner_of(value)
                saved[id(owner)] = owner.nbytes
    own = {id(owner_of(x.data)) for x in leaves.values()}
    return sum(n for key, n in saved.items() if key not in own), list(leaves.values())


def as_input(x: Any) -> Any:
    array = np.array(getattr(x, "data", x))
    return array.astype(mg.float32) if array.dtype == mg.float64 else array


def _total(y: Any) -> Any:
    """One number to differentiate, whatever a function returns."""
    first, *rest = y if isinstance(y, (list, tuple)) else [y]
    total = mg.sum(first)
    for other in rest:
        total = total + mg.sum(other)
    return total

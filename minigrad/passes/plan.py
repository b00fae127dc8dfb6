"""Where results are kept: how long each value lives, and which buffers they can share.

A value lives from the step that computes it to the last step that reads it. Two values whose
lives do not overlap may lie in one buffer; all buffers together are the arena.
"""

from __future__ import annotations

import bisect
import math
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from minigrad.core import Array
from minigrad.diagnostics.arguments import refuse
from minigrad.diagnostics.errors import GraphError
from minigrad.diagnostics.messages import fill
from minigrad.diagnostics.source import here
from minigrad.ops.parts import output
from minigrad.static import Graph, Node

ALIGNMENT = 64  # bytes: a cache line, and the widest vector register


@dataclass(frozen=True, slots=True)
class Lifetime:
    """One value of the plan: its node, first and last step, size, and its buffer."""

    node: Node
    shape: tuple[int, ...]
    start: int
    end: int
    bytes: int
    buffer: int


@dataclass(frozen=True, slots=True)
class Buffer:
    """One piece of the arena: where it starts and how long it is, in bytes."""

    offset: int
    bytes: int


@dataclass(frozen=True, slots=True)
class Plan:
    """Lifetimes and buffers of one program for one choice of shapes."""

    lifetimes: tuple[Lifetime, ...]
    buffers: tuple[Buffer, ...]

    @property
    def bytes(self) -> int:
        """The size of the arena."""
        return max((b.offset + b.bytes for b in self.buffers), default=0)

    @property
    def unshared_bytes(self) -> int:
        """The bytes that the same values would take with a buffer each."""
        return sum(align(x.bytes) for x in self.lifetimes)

    @property
    def peak_bytes(self) -> int:
        """The most bytes alive at one step, which is a lower bound for every plan.

        A result that overwrites an operand is alive from the next step on.
        """
        last = max((x.end for x in self.lifetimes), default=-1)
        ends = {(x.buffer, x.end) for x in self.lifetimes if x.start < x.end}
        change = np.zeros(last + 3, np.int64)
        for x in self.lifetimes:
            change[x.start + ((x.buffer, x.start) in ends)] += align(x.bytes)
            change[x.end + 1] -= align(x.bytes)
        return int(np.cumsum(change).max(initial=0))


def align(size: int) -> int:
    return -(-size // ALIGNMENT) * ALIGNMENT


def aligned_memory(size: int) -> Array:
    """Allocate zeroed memory that starts at a cache line."""
    memory = np.zeros(size + ALIGNMENT, np.uint8)
    start = -memory.ctypes.data % ALIGNMENT
    return memory[start : start + size]


@dataclass(frozen=True, slots=True)
class Request:
    """A value that needs memory: its size, its steps, and whose buffer it may take over."""

    node: Node
    shape: tuple[int, ...]
    start: int
    end: int
    successor_of: tuple[Node, ...] = ()  # operands that it may overwrite, if they end here

    @property
    def bytes(self) -> int:
        return math.prod(self.shape) * self.node.dtype.itemsize


def share_buffers(requests: Sequence[Request]) -> Plan:
    """Give every value a buffer, in the order of the steps: the smallest free one that holds it.

    A free buffer that is too small is made larger before a new one is added. Operands are still
    being read while a result is written, so their buffers are free only afterwards, unless the
    result may overwrite them.
    """
    sizes: list[int] = []
    free: list[tuple[int, int]] = []  # size and number of each, the smallest first
    ends: dict[int, list[int]] = {}  # buffers by the step after which they are free
    buffer_of: dict[Node, int] = {}
    last: dict[Node, int] = {}
    lifetimes = []
    done = 0
    for value in sorted(requests, key=lambda w: w.start):
        for step in range(done, value.start):
            for i in ends.pop(step, ()):
                bisect.insort(free, (sizes[i], i))
        done = value.start
        size = value.bytes
        chosen = _reusable_buffer(value, buffer_of, last, sizes)
        if chosen is None:
            chosen = _best_buffer(free, size, len(sizes))
        else:
            ends[value.start].remove(chosen)
        if chosen == len(sizes):
            sizes.append(0)
        sizes[chosen] = max(sizes[chosen], align(size))
        ends.setdefault(value.end, []).append(chosen)
        buffer_of[value.node], last[value.node] = chosen, value.end
        facts = (value.node, value.shape, value.start, value.end, size)
        lifetimes.append(Lifetime(*facts, chosen))
    offsets = np.cumsum([0, *sizes])
    buffers = tuple(Buffer(int(o), n) for o, n in zip(offsets, sizes, strict=False))
    return Plan(tuple(lifetimes), buffers)


def separate_buffers(requests: Sequence[Request]) -> Plan:
    """Give every value a buffer of its own, whatever its lifetime."""
    end = max((value.end for value in requests), default=0)
    return share_buffers([replace(value, end=end, successor_of=()) for value in requests])


Lives = Mapping[Node, tuple[int, int]]
Planner = Callable[[Lives, Mapping[Node, int]], Mapping[Node, int]]


def plan_with(planner: Planner, requests: Sequence[Request]) -> Plan:
    """Check and return a user's plan: where in the arena each value begins.

    planner: takes the first and last step of each value, and its bytes; returns its offset. A
    value has a buffer of its own, and those of values that never live at one step may overlap.
    """
    found = sorted(requests, key=lambda w: w.start)
    sizes = {w.node: align(w.bytes) for w in found}
    offsets = planner({w.node: (w.start, w.end) for w in found}, sizes)
    buffers = tuple(Buffer(_offset_of(w.node, offsets), sizes[w.node]) for w in found)
    living: list[int] = []
    for i, new in enumerate(found):
        living = [k for k in living if found[k].end >= new.start]
        for k in living:
            _refuse_overlap(found[k], buffers[k], new, buffers[i])
        living.append(i)
    lives = [Lifetime(w.node, w.shape, w.start, w.end, w.bytes, i) for i, w in enumerate(found)]
    return Plan(tuple(lives), buffers)


def _offset_of(node: Node, offsets: Mapping[Node, int]) -> int:
    try:
        offset = operator.index(offsets[node])
    except (KeyError, TypeError, IndexError):
        offset = -1
    if offset < 0 or offset % ALIGNMENT:
        value = offsets.get(node) if isinstance(offsets, Mapping) else offsets
        expected = fill("expect_offset", name=node.name, unit=ALIGNMENT)
        raise refuse("planner", node.name, value, expected)
    return offset


def _refuse_overlap(old: Request, at: Buffer, new: Request, place: Buffer) -> None:
    if at.offset < place.offset + place.bytes and place.offset < at.offset + at.bytes:
        facts = {"first": old.node.name, "second": new.node.name, "step": new.start}
        raise GraphError("plan_overlap", **facts, end=old.end, defined=new.node.where, ran=here())


def _reusable_buffer(
    value: Request, buffer_of: Mapping[Node, int], last: Mapping[Node, int], sizes: Sequence[int]
) -> int | None:
    for x in value.successor_of:
        if last.get(x) == value.start and sizes[buffer_of[x]] >= align(value.bytes):
            return buffer_of[x]
    return None


def _best_buffer(free: list[tuple[int, int]], need: int, new: int) -> int:
    """Pick the smallest free buffer that fits, else the largest free one, else a new one."""
    if not free:
        return new
    place = min(bisect.bisect_left(free, (need, -1)), len(free) - 1)
    return free.pop(place)[1]


class Arena:
    """The memory of a plan: one block, aligned, of which every buffer is a part."""

    def __init__(self, plan: Plan) -> None:
        self.block = aligned_memory(plan.bytes)
        self.plan = plan

    def array(self, life: Lifetime) -> Array:
        """Return the array of one value, in its buffer."""
        offset = self.plan.buffers[life.buffer].offset
        flat = self.block[offset : offset + life.bytes].view(life.node.dtype)
        return flat.reshape(life.shape)


def depth_first(graph: Graph) -> tuple[Node, ...]:
    """Order the nodes, each as late as its readers allow, one output after the other.

    What has an effect or must be handled by name stays in the order in which it was built.
    """
    before: dict[Node, tuple[Node, ...]] = {}
    readers: set[Node] = set()
    latest: tuple[Node, ...] = ()
    for node in graph.nodes:
        before[node] = (*node.inputs, *node.controls)
        if node.op.impure or (node.op.effect and node.inputs and node.op is not output):
            before[node] += latest
            latest = (node,)
        readers.update(before[node])
    done: dict[Node, None] = {}
    for end in graph.nodes:
        waiting = [] if end in readers else [end]
        while waiting:
            node = waiting[-1]
            missing = [x for x in before[node] if x not in done]
            if missing:
                waiting += reversed(missing)
                continue
            waiting.pop()
            done[node] = None
    return tuple(done)

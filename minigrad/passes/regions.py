"""Fused regions as steps: where each operator reads and writes, in memory that they share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from minigrad.core import Array, Attrs
from minigrad.ops import state
from minigrad.static import Graph, Node

TILE = 1 << 15  # elements: 128 KiB of float32, a few of which fit into the second-level cache


@dataclass(frozen=True, slots=True)
class Place:
    """Where a value of the region is: input, output, constant or scratch memory, by number."""

    kind: str
    number: int


@dataclass(frozen=True, slots=True)
class RegionStep:
    """One operator of the region: its function, where it reads, where it writes."""

    node: Node
    function: Callable[..., Any]
    sources: tuple[Place, ...]
    target: Place
    attrs: Attrs
    out_last: bool  # a NumPy function takes `out` last, a kernel first

    def arguments(self, out: Any, operands: Sequence[Any]) -> list[Any]:
        return [*operands, out] if self.out_last else [out, *operands]


def direct(node: Node) -> np.ufunc | None:
    """Return the NumPy function to call with the result last, if there is one."""
    ufunc = None if node.attrs else node.op.ufunc
    return None if ufunc in (np.maximum, np.minimum) else ufunc  # want `out` by name: slower


class Region:
    """A fused region as steps, with scratch memory shared by values that are not needed at once."""

    def __init__(self, body: Graph) -> None:
        self.body = body
        self.constants: list[Array] = []
        self.scratch: list[np.dtype[Any]] = []
        self.steps: list[RegionStep] = []
        places = {x: Place("input", i) for i, x in enumerate(body.inputs)}
        outputs = {x: Place("output", i) for i, x in reversed(list(enumerate(body.outputs)))}
        last = {x: i for i, node in enumerate(body.nodes) for x in node.inputs}
        free: list[int] = []
        for i, node in enumerate(body.nodes):
            if node in places:
                continue
            if node.op is state.constant:
                places[node] = Place("constant", len(self.constants))
                self.constants.append(np.asarray(node.attrs["value"]))
                continue
            sources = tuple(places[x] for x in node.inputs)
            done = [x for x in dict.fromkeys(node.inputs) if last[x] == i]
            ready = [places[x].number for x in done if places[x].kind == "scratch"]
            if node.op.ufunc is not None:  # may write where it reads
                free += ready
            places[node] = outputs.get(node) or self._take(free, node.dtype)
            if node.op.ufunc is None:
                free += ready
            self.steps.append(_step(node, sources, places[node]))
        self.copies = [
            (places[x], i) for i, x in enumerate(body.outputs) if places[x] != Place("output", i)
        ]

    def _take(self, free: list[int], dtype: np.dtype[Any]) -> Place:
        for number in free:
            if self.scratch[number] == dtype:
                free.remove(number)
                return Place("scratch", number)
        self.scratch.append(dtype)
        return Place("scratch", len(self.scratch) - 1)


def _step(node: Node, sources: tuple[Place, ...], target: Place) -> RegionStep:
    ufunc = direct(node)
    if ufunc is not None:
        return RegionStep(node, ufunc, sources, target, {}, True)
    return RegionStep(node, node.op.run, sources, target, node.attrs, False)


def region_of(body: Graph) -> Region:
    """Return the steps of a fused region, made once and kept with its body."""
    found: Region | None = body.notes.get(Region)
    if found is None:
        found = body.notes[Region] = Region(body)
    return found

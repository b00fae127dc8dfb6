"""Fused regions in NumPy: all operators on one piece of the data, then on the next.

A piece (a tile) is small enough that what one operator writes is still in cache when the next one
reads it. That is where fusion saves time without a compiler.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from minigrad.core import Array, Attrs
from minigrad.graph import Graph, Node
from minigrad.ops import state

TILE = 1 << 14  # elements: 64 KiB of float32, a few of which fit into the second-level cache


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
    """The NumPy function to call with the result last, if there is one."""
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


class Tiles:
    """A region made ready for arrays of known shapes: which rows each tile takes."""

    def __init__(self, region: Region, shape: tuple[int, ...], inputs: Sequence[tuple[int, ...]]):
        self.region = region
        size = math.prod(shape)
        self.flat = all(s == shape or math.prod(s) == 1 for s in inputs)
        self.length = size if self.flat else shape[0]
        row = 1 if self.flat else size // max(shape[0], 1)
        self.rows = max(1, TILE // max(row, 1))
        self.count = -(-self.length // self.rows)
        self.sliced = [
            (s == shape) if self.flat else len(s) == len(shape) and s[0] == shape[0] != 1
            for s in inputs
        ]
        inner = () if self.flat else shape[1:]
        rows = min(self.rows, self.length)
        self.scratch = [np.empty((rows, *inner), dtype) for dtype in region.scratch]

    def __call__(self, *arrays: Array) -> None:
        """Run the region: outputs first, then inputs."""
        n = len(self.region.body.outputs)
        outputs, inputs = arrays[:n], arrays[n:]
        if self.flat:
            outputs = tuple(a.reshape(-1) for a in outputs)
            pairs = zip(inputs, self.sliced, strict=True)
            inputs = tuple(a.reshape(-1) if s else np.asarray(a).reshape(()) for a, s in pairs)
        for start in range(0, self.length, self.rows):
            stop = min(start + self.rows, self.length)
            self._tile(start, stop, outputs, inputs)

    def _tile(
        self, start: int, stop: int, outputs: Sequence[Array], inputs: Sequence[Array]
    ) -> None:
        pairs = zip(inputs, self.sliced, strict=True)
        at = {
            "input": [a[start:stop] if s else a for a, s in pairs],
            "output": [a[start:stop] for a in outputs],
            "scratch": [a[: stop - start] for a in self.scratch],
            "constant": self.region.constants,
        }
        for step in self.region.steps:
            operands = [at[p.kind][p.number] for p in step.sources]
            out = at[step.target.kind][step.target.number]
            step.function(*step.arguments(out, operands), **step.attrs)
        for place, i in self.region.copies:
            np.copyto(at["output"][i], at[place.kind][place.number])

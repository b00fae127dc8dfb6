"""Fused regions in NumPy: all operators on one piece of the data, then on the next.

A piece (a tile) is small enough that what one operator writes is still in cache when the next one
reads it. That is where fusion saves time without a compiler.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from minigrad.compiler.numpy.operators import expand
from minigrad.compiler.slots import CallList, Slot
from minigrad.core import Array, Spec
from minigrad.passes.regions import TILE, Place, Region


class TileCalls(CallList):
    """The calls of a region for a tile of a given number of rows."""

    def __init__(self, region: Region, outputs: Sequence[Spec], inputs: Sequence[Spec]) -> None:
        super().__init__()
        self.outputs = [Slot("tile", spec) for spec in outputs]
        self.inputs = [Slot("tile", spec) for spec in inputs]
        made: dict[Place, Slot] = {}
        for step in region.steps:
            operands = [self._slot(p, region, made) for p in step.sources]
            self.node = step.node
            expand(self, step.node, self._slot(step.target, region, made), operands)
        for place, i in region.copies:
            self.node = region.body.outputs[i]
            self.call(np.copyto, self.outputs[i], self._slot(place, region, made))
        self.bytes = self.place()
        self.slots = [*self.outputs, *self.inputs]
        self.bound = [call.bound() for call in self.calls]

    def _slot(self, place: Place, region: Region, made: dict[Place, Slot]) -> Slot:
        if place.kind == "input":
            return self.inputs[place.number]
        if place.kind == "output":
            return self.outputs[place.number]
        if place not in made and place.kind == "constant":
            value = region.constants[place.number]
            made[place] = self.constant(value, value.dtype)
        elif place not in made:
            made[place] = self.scratch(self.outputs[0].shape, region.scratch[place.number])
        return made[place]


class Tiles:
    """A region made ready for arrays of known shapes: which rows each tile takes.

    Where all operands have the shape of the result or hold a single number, a row is one element.
    """

    def __init__(self, region: Region, outputs: Sequence[Spec], inputs: Sequence[Spec]) -> None:
        shape: Any = outputs[0].shape
        shapes: list[Any] = [x.shape for x in inputs]
        size = math.prod(shape)
        self.flat = all(s == shape or math.prod(s) == 1 for s in shapes)
        self.length = size if self.flat else shape[0]
        row = 1 if self.flat else size // max(shape[0], 1)
        self.rows = max(1, TILE // max(row, 1))
        self.count = -(-self.length // self.rows)
        self.sliced = [
            (s == shape) if self.flat else len(s) == len(shape) and s[0] == shape[0] != 1
            for s in shapes
        ]
        if self.count < 2:
            return

        def part(spec: Spec, sliced: bool, rows: int) -> Spec:
            """Return the spec of the part of an array that a tile reads."""
            if self.flat:
                return Spec((rows,) if sliced else (), spec.dtype)
            return Spec((rows, *spec.shape[1:]), spec.dtype) if sliced else spec  # type: ignore[index]

        def tile(rows: int) -> TileCalls:
            return TileCalls(
                region,
                [part(x, True, rows) for x in outputs],
                [part(x, s, rows) for x, s in zip(inputs, self.sliced, strict=True)],
            )

        self.tile = tile(self.rows)
        rest = self.length % self.rows
        self.last = tile(rest) if rest else self.tile
        self.scratch_bytes = self.tile.bytes + (self.last.bytes if rest else 0)

    def __call__(self, *arrays: Array) -> None:
        """Run the region: outputs first, then inputs."""
        sliced = [True] * len(self.tile.outputs) + self.sliced
        if self.flat:
            arrays = tuple(
                a.reshape(-1) if s else np.asarray(a).reshape(())
                for a, s in zip(arrays, sliced, strict=True)
            )
        for tile in dict.fromkeys((self.tile, self.last)):
            for slot, array, moves in zip(tile.slots, arrays, sliced, strict=True):
                if not moves:
                    slot.set(array)
        moving = [i for i, s in enumerate(sliced) if s]
        for start in range(0, self.length, self.rows):
            stop = start + self.rows
            tile = self.tile if stop <= self.length else self.last
            for i in moving:
                tile.slots[i].set(arrays[i][start:stop])
            for function, arguments in tile.bound:
                function(*arguments)
        for tile in dict.fromkeys((self.tile, self.last)):
            for slot in tile.slots:
                slot.set(None)

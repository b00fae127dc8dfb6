"""The pieces of a joined call, and sums that are fused into the kernel before them.

An array that only such sums read need not be stored at all. The sum stays in memory of its own
until its turn comes: the plan may use the place of the result for something else before that.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from minigrad.compiler.slots import KernelCall, Slot
from minigrad.core import Spec
from minigrad.interop.c.blocks import CFunction
from minigrad.interop.c.kernels import (
    Kernel,
    given_sum,
    is_elementwise,
    is_full_sum,
    lengths_of,
    with_sums,
)


def kernel_of(call: KernelCall) -> Kernel:
    """Return the kernel that a C call calls."""
    return call.function  # type: ignore[return-value]


@dataclass(frozen=True)
class Piece:
    """A function of C for one call: its arrays in the order of its results and operands."""

    call: KernelCall
    kernel: Kernel
    block: CFunction
    slots: tuple[Slot, ...]
    lengths: tuple[int, ...]

    @classmethod
    def of(cls, call: KernelCall) -> Piece:
        kernel = kernel_of(call)
        return cls(call, kernel, kernel.block, call.operands, tuple(kernel.lengths))

    @property
    def results(self) -> tuple[Slot, ...]:
        return self.slots[: self.kernel.outputs]


def fused_pieces(calls: Sequence[KernelCall], outside: Collection[Slot]) -> list[Piece]:
    """Return the pieces for consecutive calls; `outside` is what others or the caller read."""
    pieces = [Piece.of(call) for call in calls]
    sums_of, readers = defaultdict[Slot, list[int]](list), defaultdict[Slot, set[int]](set)
    for j, piece in enumerate(pieces):
        for slot in piece.slots[piece.kernel.outputs :]:
            readers[slot.root].add(j)
        if piece.slots[1:2] and is_full_sum(piece.kernel):
            sums_of[piece.slots[1]].append(j)
    for i, piece in enumerate(pieces):
        place = {slot: k for k, slot in enumerate(piece.results)}
        sums = {j: k for slot, k in place.items() for j in sums_of.get(slot, ()) if j > i}
        if sums and is_elementwise(piece.kernel.node):
            read = [slot for slot in place if slot in outside or not readers[slot] <= sums.keys()]
            _fuse_sums(pieces, i, sums, [k for slot, k in place.items() if slot not in read])
    return pieces


def _fuse_sums(pieces: list[Piece], i: int, sums: Mapping[int, int], unread: Sequence[int]) -> None:
    """Fuse the following sums into this piece's kernel.

    sums: for each of these which result it sums. unread: the results that nothing else reads.
    """
    piece = pieces[i]
    summed = sorted(set(sums.values()))
    block = with_sums(piece.kernel, summed, unread)
    if block is None:
        return
    numbers = [Slot("scratch", NUMBER, np.zeros((), np.float64)) for _ in summed]
    outputs = piece.kernel.outputs
    slots = (*piece.slots[:outputs], *numbers, *piece.slots[outputs:])
    known = [*piece.kernel.outs, *piece.kernel.outs[: len(summed)], *piece.kernel.ins]
    pieces[i] = replace(piece, block=block, slots=slots, lengths=tuple(lengths_of(block, known)))
    for j, k in sums.items():
        old = pieces[j]
        taken = given_sum(old.kernel)
        slots = (old.slots[0], numbers[summed.index(k)], old.slots[1])
        counted = [*old.kernel.outs, *old.kernel.outs, old.kernel.ins[0]]
        lengths = tuple(lengths_of(taken, counted))
        pieces[j] = replace(old, block=taken, slots=slots, lengths=lengths)


NUMBER = Spec((), np.dtype(np.float64))

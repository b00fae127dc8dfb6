"""Neighbouring calls of kernels in C as one: small arrays cost more to call for than to work on."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import numpy as np

from minigrad.compiled.pieces import absorbed, kernel_of, root
from minigrad.compiled.slots import Call, Slot
from minigrad.graph import Node
from minigrad.native.kernels import Kernel, Table
from minigrad.native.units import Part, Unit
from minigrad.ops import state

Flat = list[tuple[Callable[..., Any], list[Any]]]


class Joined:
    """Several kernels, one after the other, as one function of C."""

    def __init__(self, unit: Unit, calls: Sequence[Call], wanted: Collection[Slot]) -> None:
        self.unit, self.calls = unit, calls
        self.node = calls[0].node  # for which it failed, if it did
        slots: dict[Slot, int] = {}
        read: set[Slot] = set()
        parts, lengths = [], list[int]()
        for piece in absorbed(calls, wanted):
            places = [slots.setdefault(x, len(slots)) for x in piece.slots]
            read |= {piece.slots[i] for i in piece.block.used}
            numbers = range(len(lengths), len(lengths) + len(piece.lengths))
            parts.append(Part(piece.block, places, numbers, piece.call.node))
            lengths += piece.lengths
        self._name = unit.driver(parts)
        self._table = Table([x.spec for x in slots])
        for slot in read:
            if slot.array is not None:
                self._table[slots[slot]] = slot.array
            if not slot.fixed:
                slot.uses.append((self._table, slots[slot]))  # type: ignore[arg-type]
        self._sizes = (ctypes.c_int64 * max(len(lengths), 1))(*lengths)
        self._function: Any = None

    def __call__(self) -> None:
        if self._function is None:
            self._function = self.unit.function(self._name) or _refuse
            self._arguments = self._table.start, ctypes.addressof(self._sizes)
        if self._table.wrong:
            self._one_by_one(0)
            return
        failed = self._function(*self._arguments)
        if failed:
            self._one_by_one(failed - 1)

    def _one_by_one(self, first: int) -> None:
        """The calls from one on in NumPy, which says what is wrong."""
        for call in self.calls[first:]:
            self.node = call.node
            call.function.in_numpy(*call.args)  # type: ignore[attr-defined]


def _refuse(*arguments: int) -> int:
    return 1


def flat(calls: Sequence[Call], slots: Mapping[Node, Slot]) -> Flat:
    """All calls as functions and arguments; kernels in C that follow each other are one call.

    An assignment whose value lies in its place already only takes note of that: it may wait until
    the kernels behind it are done, if none of them reads it.
    """
    unit, apart, found = Unit(), Unit(), Flat()
    group: list[Call] = []
    notes: list[Call] = []
    kept = {root(x) for x in slots.values() if root(x).kind not in ("planned", "scratch")}
    readers: dict[Slot, list[Call]] = {}
    for call in calls:
        first = call.function.outputs if isinstance(call.function, Kernel) else 0
        for x in call.operands[first:]:
            if isinstance(x, Slot):
                readers.setdefault(root(x), []).append(call)

    def close() -> None:
        if group:
            inside = set(map(id, group))
            written = [x for call in group for x in call.operands[: kernel_of(call).outputs]]
            wanted = {
                x
                for x in written
                if x in kept or any(id(call) not in inside for call in readers.get(x, ()))
            }
            found.append((Joined(unit, tuple(group), wanted), []))
        found.extend(x.ready() for x in notes)
        group.clear()
        notes.clear()

    for call in calls:
        if isinstance(call.function, Kernel) and all(map(_in_one_piece, call.operands)):
            noted = {slots[x.node] for x in notes}
            if any(root(x) in noted for x in call.operands):
                close()
            call.function.join(apart)
            group.append(call)
        elif call.node.op is state.assign and len(call.operands) == 1:
            notes.append(call)
        else:
            close()
            found.append(call.ready())
    close()
    return found


def _in_one_piece(slot: Any) -> bool:
    """Whether an operand can be handed to C once for all runs; a constant can, as a copy."""
    if not isinstance(slot, Slot):
        return False
    fixed = slot.fixed and root(slot).kind != "constant"
    return not fixed or np.asarray(slot.array).flags.c_contiguous


def with_c(found: Flat, text: str) -> str:
    """The C file of joined calls, if there are any, and this text behind it as a comment."""
    units = {id(f.unit): f.unit for f, _ in found if isinstance(f, Joined)}
    if not units:
        return text
    shown = text.replace("*/", "* /")
    return "\n".join([*(unit.source() for unit in units.values()), f"/*\n{shown}*/", ""])

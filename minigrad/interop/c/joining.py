"""Joining neighbouring C kernels into one call, as calls cost more than work on small arrays."""

from __future__ import annotations

import ctypes
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from minigrad.compiler.executors import EXECUTORS, Executor, tiled
from minigrad.compiler.slots import JoinedCalls, KernelCall, Slot
from minigrad.core import Spec
from minigrad.interop.c.kernels import AddressTable, Kernel, kernel
from minigrad.interop.c.pieces import fused_pieces, kernel_of
from minigrad.interop.c.units import CUnit, DriverCall
from minigrad.ops import state
from minigrad.static import Node


class JoinedKernels(JoinedCalls):
    """Several kernels, one after the other, as one function of C.

    moving: the slots whose arrays it is called with, as they may be others at each run.
    """

    def __init__(self, unit: CUnit, calls: Sequence[KernelCall], outside: Collection[Slot]) -> None:
        self.unit, self.calls = unit, calls
        self.node = calls[0].node  # for which it failed, if it did
        slots: dict[Slot, int] = {}
        read: set[Slot] = set()
        parts, lengths = [], list[int]()
        for piece in fused_pieces(calls, outside):
            handed = [_fixed_slot(x) for x in piece.slots]
            places = [slots.setdefault(x, len(slots)) for x in handed]
            read |= {handed[i] for i in piece.block.used}
            numbers = range(len(lengths), len(lengths) + len(piece.lengths))
            parts.append(DriverCall(piece.block, places, numbers, piece.call.node))
            lengths += piece.lengths
        self._name = unit.driver(parts)
        self._table = AddressTable([x.spec for x in slots])
        self.moving = [x for x in slots if not x.fixed]
        self._places = [slots[x] for x in self.moving]
        self._results = [slots[x] for x in self.moving if x.root.kind == "result"]
        for slot in read:
            if slot.fixed:
                self._table[slots[slot]] = slot.array
        self._sizes = (ctypes.c_int64 * max(len(lengths), 1))(*lengths)
        self._function: Any = None

    def __call__(self, *arrays: Any) -> None:
        table, held = self._table, self._table.held
        known, addresses = table.known, table.addresses
        for i, array in zip(self._places, arrays):  # noqa: B905, which costs time at each run
            if held[i] is not array:
                found = known[i].get(id(array))
                if found is None:
                    table[i] = array
                else:
                    held[i], addresses[i] = array, found[1]
        try:
            if self._function is None:
                self._function = self.unit.function(self._name) or _fail
                self._arguments = table.start, ctypes.addressof(self._sizes)
            failed = 1 if table.wrong else self._function(*self._arguments)
            if failed:
                self._one_by_one(failed - 1, dict(zip(self.moving, arrays, strict=True)))
        finally:
            for i in self._results:  # the caller is the only one to hold it
                held[i] = None

    def _one_by_one(self, first: int, now: Mapping[Slot, Any]) -> None:
        """Run the calls from this one on in NumPy, which says what is wrong."""
        for call in self.calls[first:]:
            self.node = call.node
            given = [_current_array(x, now) for x in call.operands]
            call.function.in_numpy(*given)  # type: ignore[union-attr]


def _fixed_slot(slot: Slot) -> Slot:
    """Return the slot that holds the same elements in order and stays fixed between runs."""
    while not slot.fixed and slot.source is not None and slot.source[1] == "reshape":
        slot = slot.source[0]
    return slot


def _current_array(slot: Slot, now: Mapping[Slot, Any]) -> Any:
    """Return a slot's current array, given those that move."""
    if slot.fixed:
        return slot.array
    if slot in now or slot.source is None:
        return now[slot]
    source, method, args = slot.source
    return getattr(_current_array(source, now), method)(*args)


def _fail(*arguments: int) -> int:
    return 1


def join_kernels(calls: Sequence[KernelCall], slots: Mapping[Node, Slot]) -> list[KernelCall]:
    """Join consecutive C kernels among the calls into one.

    An assignment whose value lies in its place already only takes note of that: it may wait until
    the kernels behind it are done, if none of them reads it.
    """
    if not any(isinstance(call.function, Kernel) for call in calls):
        return list(calls)
    unit, apart, found = CUnit(), CUnit(), list[KernelCall]()
    group: list[KernelCall] = []
    notes: list[KernelCall] = []
    kept = {x.root for x in slots.values() if x.root.kind not in ("planned", "scratch")}
    readers: dict[Slot, list[KernelCall]] = {}
    for call in calls:
        first = call.function.outputs if isinstance(call.function, Kernel) else 0
        for x in call.operands[first:]:
            if isinstance(x, Slot):
                readers.setdefault(x.root, []).append(call)

    def close() -> None:
        if group:
            inside = set(map(id, group))
            written = [x for call in group for x in call.operands[: kernel_of(call).outputs]]
            outside = {
                x
                for x in written
                if x in kept or any(id(call) not in inside for call in readers.get(x, ()))
            }
            one = JoinedKernels(unit, tuple(group), outside)
            found.append(KernelCall(one, one.moving, {}, one.node))
        found.extend(notes)
        group.clear()
        notes.clear()

    for call in calls:
        if isinstance(call.function, Kernel) and all(map(_is_fixed_once, call.operands)):
            noted = {slots[x.node] for x in notes}
            if any(x.root in noted for x in call.operands):
                close()
            call.function.join(apart)
            group.append(call)
        elif call.node.op is state.assign and len(call.operands) == 1:
            notes.append(call)
        else:
            close()
            found.append(call)
    close()
    return found


def _is_fixed_once(slot: Any) -> bool:
    """Return whether C can get an operand once for all runs; a constant can, as a copy."""
    if not isinstance(slot, Slot):
        return False
    fixed = slot.root.kind in ("planned", "scratch")
    return not fixed or np.asarray(slot.array).flags.c_contiguous


def with_c_source(calls: Sequence[KernelCall], text: str) -> str:
    """Return the C file of joined calls, if any, with this text as a comment at the end."""
    units = {id(f.unit): f.unit for c in calls if isinstance(f := c.function, JoinedKernels)}
    if not units:
        return text
    shown = text.replace("*/", "* /")
    return "\n".join([*(unit.source() for unit in units.values()), f"/*\n{shown}*/", ""])


def compiled(node: Node, results: Sequence[Spec], operands: Sequence[Spec]) -> Any:
    """Return a C function if there is a compiler and C can do it, else tiles."""
    return kernel(node, results, operands) or tiled(node, results, operands)


EXECUTORS["c"] = Executor(compiled, join_kernels, with_c_source)

"""Events about recorded operations: each by itself, and which of them ran as one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from minigrad.batching.groups import Group
from minigrad.core import NODE_SLOTS, BaseNode, Dtype, Op, context, events, next_order
from minigrad.dynamic.tensor import Tensor


class OperationNote(BaseNode):
    """One recorded operation, as data.

    `inputs` holds for each operand the note or the tape node that it comes from, or the tensor or
    number itself. `depth` is the number of operations on the longest way to it from values at hand,
    `group` the number of the `BatchedRun` that it ran in, None before.
    """

    __slots__ = (*NODE_SLOTS, "depth", "dtype", "group", "shape")
    shape: tuple[int, ...]
    dtype: Dtype
    depth: int
    group: int | None

    def __repr__(self) -> str:
        return f"<{self.op} noted at {self.where.label}>"


@dataclass(frozen=True, slots=True)
class BatchedRun:
    """Recorded operations of one signature that ran as one, and how they did.

    how: "batched" (one operator, a row for each), "once" (one operator, whose result they share;
    or only one member), "running sum" (additions that go on from each other, as one cumulative
    sum), "one by one" (as many operators as members).
    """

    number: int
    op: Op
    members: tuple[OperationNote, ...]
    how: str

    @property
    def size(self) -> int:
        return len(self.members)

    @property
    def depth(self) -> int:
        """The depth of the deepest member."""
        return max(note.depth for note in self.members)

    def __str__(self) -> str:
        return f"{self.op} × {self.size}"


class NoteLog:
    """The notes of one block; empty as long as there is no listener."""

    def __init__(self) -> None:
        self.notes: dict[tuple[Group, int], OperationNote] = {}

    def report_noted(self, group: Group, row: int) -> None:
        note = self._note(group, row)
        events.emit("noted", note.op, note)

    def report_group(self, groups: list[Group], how: str) -> None:
        """Report groups that ran and are about to forget their members."""
        members = [(group, row) for group in groups for row in range(group.count)]
        notes = [self._note(group, row) for group, row in members]
        together = BatchedRun(groups[0].number, groups[0].signature.op, tuple(notes), how)
        for note, (group, row) in zip(notes, members, strict=True):
            note.group = together.number
            note.inputs = self._inputs(group, row)  # by now each has its note
        events.emit("group", together.op, together)

    def _note(self, group: Group, row: int) -> OperationNote:
        found = self.notes.get((group, row))
        if found is not None:
            return found
        signature, note = group.signature, OperationNote()
        note.op, note.attrs, note.order = signature.op, signature.attrs, next_order()
        note.shape, note.dtype, note.depth = signature.shape, signature.dtype, group.depth
        note.code, note.lasti = group.line(row)
        note.scope, note.group = context.now.scope, None
        note.inputs = self._inputs(group, row)
        self.notes[group, row] = note
        return note

    def _inputs(self, group: Group, row: int) -> tuple[Any, ...]:
        sources, rows = group.member(row)
        return tuple(map(self._source, sources, rows))

    def _source(self, source: Any, row: int) -> Any:
        """Return the note of an operand; None if it was noted without a listener."""
        if type(source) is Group:
            return self.notes.get((source, row))
        return (source.creator or source) if isinstance(source, Tensor) else source

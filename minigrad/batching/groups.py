"""Recorded operations in groups that can run as one, and the order in which groups run.

Operations belong together when they have the same signature: operator, attributes, shapes and data
types of the operands, and the very same parameters. Those at the same depth cannot depend on each
other, so they are noted as one group. Groups of one signature at different depths are joined when
their turn comes, if all of them can run then.
"""

from __future__ import annotations

import copy
import heapq
import itertools
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from types import CodeType
from typing import Any

from minigrad import ops
from minigrad.core import Attrs, Op, Spec
from minigrad.diagnostics.source import Location, SavedLine

_next_number = itertools.count(1).__next__

LINE = 2  # a member ends in the two facts that tell the user's line: code object and offset
WHOLE = -1  # in the place of a row number: all of the tensor


class GroupKey:
    """The operator, operands and attributes that all members of a group have in common.

    `kinds` tells for each operand how it may vary: a tuple (it may, being of this shape, data type
    and need of a gradient; with a fourth, it is made from parameters, by the group of this number),
    a type (a Python number of it), or the tensor that all members share.
    With `rows` it reads a row of a tensor at hand: no kernel of its own. A call has a `routine`,
    and holds `once` what all its groups share as long as groups run.
    """

    __slots__ = (
        *("attrs", "dtype", "even", "folded", "form", "grad", "kind", "kinds", "of_parameters"),
        *("once", "op", "open", "operands", "requires_grad", "routine", "rows", "shape"),
        *("varying", "width"),
    )

    def __init__(
        self,
        form: tuple[Any, ...],
        kinds: tuple[Any, ...],
        operands: list[Spec],
        attrs: Attrs,
        result: Spec,
        rows: bool = False,
        routine: Any = None,
    ) -> None:
        self.form, self.kinds, self.rows, self.routine = form, kinds, rows, routine
        self.operands, self.attrs = operands, attrs
        self.op: Op = form[0]
        self.grad: bool = form[1]  # whether the tape was on
        self.shape: Any = result.shape
        self.dtype = result.dtype
        wants = (self.op.has_rule(i) and _wants_gradient(kind) for i, kind in enumerate(kinds))
        self.requires_grad = self.grad and (routine.wants if routine else any(wants))
        self.kind = (self.shape, self.dtype, self.requires_grad)
        self.width = 2 * len(kinds) + LINE  # of one member
        self.folded = is_folded(self.shape)
        self._find_varying()
        self.of_parameters = bool(kinds) and all(map(_is_parameter, kinds))
        self.once: list[Any] | None = None
        self.open: dict[int, Group] = {}  # by depth: those that take members

    def _find_varying(self) -> None:
        """Work out which operands may vary, and whether their batches keep their shape."""
        self.varying = [i for i, kind in enumerate(self.kinds) if type(kind) is tuple]
        rank, shapes = len(self.shape), [spec.shape or () for spec in self.operands]
        if self.op is ops.matmul:
            flat = self.folded and not self.attrs.get("transpose_a", False)
            self.even = flat and [len(shape) for shape in shapes] == [2, 2]
        else:
            varying = [shapes[i] for i in self.varying]
            fits = all(len(s) == rank and is_folded(s) == self.folded for s in varying)
            numbers = any(isinstance(kind, type) for kind in self.kinds)
            self.even = self.op.elementwise and fits and not numbers

    def fits(self, batched: list[bool]) -> bool:
        """Return whether the operator takes operands of which these are batches."""
        if True not in batched:
            return True
        return self.even and (self.op is not ops.matmul or batched == [True, False])

    def loosened(self, loose: set[Any], known: dict[Any, GroupKey]) -> GroupKey:
        """Return the signature in which tensors of these forms vary between members."""
        kinds = tuple(
            (*_tensor_form(kind), kind.requires_grad) if _tensor_form(kind) in loose else kind
            for kind in self.kinds
        )
        form = (*self.form[:2], kinds, *self.form[3:])
        found = known.get(form)
        if found is None:
            found = known[form] = copy.copy(self)
            found.form, found.kinds = form, kinds
            found.routine = self.routine and self.routine.loosened(kinds)
            found._find_varying()
        return found


def is_folded(shape: Sequence[Any] | None) -> bool:
    """Return whether members of this shape are batch rows without their axis of length 1.

    A hundred members of shape (1, 64) are one batch of shape (100, 64), not (100, 1, 64): so are
    the results of a layer that was given a hundred rows.
    """
    return shape is not None and len(shape) > 1 and bool(shape[0] == 1)


def _is_parameter(kind: Any) -> bool:
    """Return whether an operand is a matrix that is trained."""
    if isinstance(kind, (tuple, type)) or kind.creator is not None:
        return False
    return bool(kind.requires_grad) and len(kind.shape) > 1 < kind.shape[0]


def _wants_gradient(kind: Any) -> bool:
    """Return whether an operand of this kind requires a gradient."""
    if type(kind) is tuple:
        return bool(kind[2])
    return not isinstance(kind, type) and bool(kind.requires_grad)


def _tensor_form(kind: Any) -> Any:
    """Return shape and dtype of a tensor that a group's members share; None for others."""
    return None if isinstance(kind, (tuple, type)) else (kind.shape, kind.dtype)


class Group:
    """Recorded operations of one signature and depth; after its run, where their results are.

    `owner` runs it; None once it ran or was dropped. `members` is flat, for speed: for each member
    the source and the row of each operand (a group and its member; a tensor and a row of it, or
    WHOLE; a number and WHOLE), then the line. After the run `batch` holds the results, from row
    `offset` on (see `is_folded`); or the one result of all when it is `single`; or `values` holds
    each by itself.
    """

    __slots__ = (
        *("batch", "count", "depth", "kind", "members", "needs", "number", "offset", "owner"),
        *("picked", "place", "ran", "signature", "single", "sources", "values"),
    )

    def __init__(self, signature: GroupKey, depth: int, owner: Any) -> None:
        self.signature, self.depth, self.owner = signature, depth, owner
        self.number = _next_number()
        self.members: list[Any] = []
        self.count = self.offset = 0
        self.needs: set[Group] = set()
        # Of each operand, the groups and parameters that its members name; and None, if others.
        self.sources: list[set[Any]] = [set() for _ in signature.kinds]
        self.ran = self.single = False
        self.batch: Any = None
        self.values: list[Any] | None = None
        self.picked: dict[int, Any] = {}  # results that were asked for one by one
        self.place: Location | None = None
        # How its results look to readers: those of parameters alone are told apart like these.
        self.kind: tuple[Any, ...] = signature.kind
        if signature.of_parameters:
            self.kind = (*signature.kind, self.number)

    def column(self, operand: int) -> tuple[list[Any], list[int]]:
        """Return source and row of one operand, for all members."""
        width = self.signature.width
        return self.members[2 * operand :: width], self.members[2 * operand + 1 :: width]

    def member(self, member: int) -> tuple[list[Any], list[int]]:
        """Return source and row of each operand, for one member."""
        first = member * self.signature.width
        pairs = self.members[first : first + 2 * len(self.signature.kinds)]
        return pairs[::2], pairs[1::2]

    def line(self, member: int) -> tuple[CodeType | SavedLine, int]:
        """Return the user's line that noted a member."""
        end = (member + 1) * self.signature.width
        code, lasti = self.members[end - LINE : end]
        return code, lasti

    def where(self, member: int) -> Location:
        return Location(*self.line(member))

    def close(self, ran: bool = False) -> None:
        """Take no more members and forget the present ones: the group ran, or never will."""
        self.ran = ran
        if not ran:
            self.place = self.where(0)
        self.owner, self.members, self.sources, self.needs = None, [], [], set()
        self.signature.open.pop(self.depth, None)

    def read(self, looks: Iterable[Any]) -> None:
        """Note what members read: groups, parameters, or the form of others."""
        for sources, look in zip(self.sources, looks, strict=True):
            if type(look) is Group:
                sources.add(look)
                self.needs.add(look)
            else:
                sources.add(None if isinstance(look, (tuple, type)) else look)


def pending_groups(groups: Iterable[Group]) -> list[Group]:
    """Return these groups and those they wait for, earlier ones first, without those that ran."""
    found = {g for g in groups if not g.ran}
    stack = list(found)
    while stack:
        group = stack.pop()
        group.needs = {need for need in group.needs if not need.ran}
        fresh = group.needs - found
        found |= fresh
        stack += fresh
    return sorted(found, key=lambda g: g.number)


class GroupQueue:
    """Groups that run together, in turn.

    Of the signatures that could run, the one of the smallest average depth comes next, as in DyNet
    (Neubig, Goldberg and Dyer, On-the-fly operation batching, 2017): what all samples end in, such
    as a loss, waits until the longest has come there, and then runs once. `pending_groups` found
    what each group needs.
    """

    def __init__(self, groups: list[Group]) -> None:
        self.waiting = {group: len(group.needs) for group in groups}
        self.readers: dict[Group, list[Group]] = {}
        self.depths: dict[GroupKey, tuple[int, int]] = {}  # their sum, and of how many
        self.ready: dict[GroupKey, list[Group]] = {}
        self.heap: list[tuple[float, int, GroupKey]] = []
        _vary_data(groups)
        for group in groups:
            total, count = self.depths.get(group.signature, (0, 0))
            total += group.depth * group.count
            self.depths[group.signature] = total, count + group.count
            for need in group.needs:
                self.readers.setdefault(need, []).append(group)
        for group in groups:
            if not group.needs:
                self._mark_ready(group)

    def __iter__(self) -> Iterator[list[Group]]:
        while self.heap:
            together = self.ready.pop(heapq.heappop(self.heap)[2])
            if len(together) == 1:
                self._append_sums(together)
            yield together
            for done in together:
                for reader in self.readers.get(done, ()):
                    self.waiting[reader] -= 1
                    if not self.waiting[reader]:
                        self._mark_ready(reader)

    def _mark_ready(self, group: Group) -> None:
        """Mark a group as ready: nothing is missing for it."""
        signature = group.signature
        if signature not in self.ready:
            self.ready[signature] = []
            total, count = self.depths[signature]
            heapq.heappush(self.heap, (total / count, group.number, signature))
        self.ready[signature].append(group)

    def _append_sums(self, chain: list[Group]) -> None:
        """Append the sums that continue this one and miss nothing else: one running sum."""
        while is_sum(chain[-1]):
            readers = self.readers.get(chain[-1], [])
            if len(readers) != 1 or self.waiting[readers[0]] != 1:
                return
            if readers[0].signature is not chain[0].signature or readers[0].count != 1:
                return
            self.waiting[readers[0]] = -1  # entered here
            chain.append(readers[0])


def _vary_data(groups: list[Group]) -> None:
    """Tell parameters from data, among the tensors that make a signature of their own.

    Parameters are few and read often. Tensors of one shape that are more in number than times that
    each is read belong to the samples, and operations on them may be joined.
    """
    counts: dict[GroupKey, int] = {}
    for group in groups:
        counts[group.signature] = counts.get(group.signature, 0) + group.count
    uses: dict[Any, Counter[Any]] = {}
    for signature, count in counts.items():
        for kind in signature.kinds:
            form = _tensor_form(kind)
            if form is not None:
                uses.setdefault(form, Counter())[kind] += count
    loose = {form for form, counts in uses.items() if len(counts) ** 2 > counts.total()}
    if loose:
        known: dict[Any, GroupKey] = {}
        for group in groups:
            if any(_tensor_form(kind) in loose for kind in group.signature.kinds):
                group.signature.open.pop(group.depth, None)  # it runs, and takes no more members
                group.signature = group.signature.loosened(loose, known)


def is_sum(group: Group) -> bool:
    """Return whether this is an addition of two equal forms: a step of a running sum."""
    signature = group.signature
    if group.count > 1 or signature.op is not ops.add or signature.dtype.kind != "f":
        return False
    form = (signature.shape, signature.dtype)
    return all(type(k) is tuple and k[:2] == form for k in signature.kinds)


def follows(group: Group, other: Group) -> bool:
    """Return whether the group continues the other, so that they form a chain."""
    return group.members[0] is other or group.members[2] is other

"""The recording of operations inside `lazy_batch`, and when they run."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Hashable, Iterable, Iterator, Sequence
from operator import attrgetter
from types import FrameType
from typing import Any

from minigrad import ops
from minigrad.batching.calls import Routine, as_call
from minigrad.batching.groups import WHOLE, Group, GroupKey, GroupQueue, pending_groups
from minigrad.batching.notes import NoteLog
from minigrad.batching.pending import PendingTensor, compute_pending, operand_form, run_first
from minigrad.batching.running import run_together
from minigrad.core import (
    READERS,
    Attrs,
    Op,
    Spec,
    as_operand,
    as_weak,
    context,
    events,
    is_weak,
    spec_of,
    unify,
)
from minigrad.diagnostics.errors import GraphError
from minigrad.diagnostics.source import caller, here
from minigrad.dynamic.recording import at_once
from minigrad.dynamic.tensor import Tensor

listeners = events.listeners


@contextlib.contextmanager
def lazy_batch() -> Iterator[None]:
    """Collect the operations on tensors inside the block, and run those that are alike as one.

    Write the model for one sample, with Python's own `if`, loops and recursion, and call it for
    each sample inside the block: samples may have graphs of different form. Operations with the
    same operator, the same shapes and the same parameters are run as one operator on stacked
    operands, and so is their backward pass. Values and gradients are those of the plain run, up to
    the rounding of matrix products of another size. A call of a `function` is one operation, if all
    it does is to compute one tensor: a cell that is called for each word is noted once a word.

    Nothing is computed until a value is needed (`item`, printing, `if` on a tensor, `backward`) or
    the block ends; what is asked for earlier runs earlier, with what it depends on. Matrices that
    require a gradient are taken for parameters, and so is what one operation makes of them alone,
    such as `w.T`: only operations on the very same one are joined. A
    shape that does not fit is refused at its line; other errors appear when the operation runs, and
    name its line, too. After an exception nothing of the block is computed any more. Tensors must
    not be changed through `numpy()` or `data` between their use in the block and its end.

    >>> import minigrad as mg
    >>> w = mg.randn(4, 4, seed=0, requires_grad=True)
    >>> def encode(tree):
    ...     if not isinstance(tree, tuple):
    ...         return mg.tensor([tree] * 4)
    ...     return mg.tanh((encode(tree[0]) + encode(tree[1])) @ w)
    >>> trees = [((1.0, 2.0), 3.0), ((0.5, 1.0), (2.0, 1.5)), (1.0, (3.0, 2.0))]
    >>> with mg.record() as log:
    ...     with mg.lazy_batch():
    ...         total = sum(encode(tree).sum() for tree in trees)
    >>> [str(event.node) for event in log.of_kind("group") if event.op.name == "Tanh"]
    ['Tanh × 4', 'Tanh × 3']
    >>> total.backward()
    >>> w.grad.shape
    (4, 4)
    """
    if context.now.active_reader is not None:  # a block inside a block is part of it
        yield
        return
    context.now.active_reader = collector = Collector()
    try:
        yield
        collector.run_all()
    finally:
        context.now.active_reader = None
        collector.drop()


class Collector:
    """The operations recorded in one block, in groups that haven't run.

    As long as it is open it reads operators in the place of the tape.
    """

    level = Tensor.reader.level
    builds = False

    def __init__(self) -> None:
        self.pending: dict[Group, None] = {}
        self.known: dict[Any, Group] = {}  # groups by what was written: quick to ask
        self.signatures: dict[Any, GroupKey] = {}  # by what their members have in common
        self.notebook = NoteLog()

    # ---- noting ----

    def apply(self, op: Op, operands: Sequence[Any], attrs: Attrs) -> Any:
        """Record an operation and return a pending tensor; run it now if it can't be deferred."""
        frame = sys._getframe(1)
        if op is ops.slice_ and len(attrs["key"]) == 1:
            row = self.row(operands[0], attrs["key"][0], frame)
            if row is not None:
                return row
        written: list[Any] = [op, context.now.recording]
        member: list[Any] = []
        for x in operands:
            kind = type(x)
            if kind is PendingTensor:
                written.append(x.group)
                member += x.group, x.row
                continue
            if kind is Tensor:
                kind = operand_form(x)
            elif not is_weak(x):
                return self._converted(op, operands, attrs)
            written.append(kind)
            member += x, WHOLE
        if attrs:
            written += _attribute_key(attrs)
        known = tuple(written)
        group = self.known.get(known) or self.group_for(known, member[::2], attrs)
        if group is None:
            return self.run_now(op, operands, attrs)
        return self.enter(group, member, frame)

    def enter(self, group: Group, member: Sequence[Any], frame: FrameType) -> Any:
        """Add a member: the sources and rows of its operands."""
        result = PendingTensor()
        result.group, result.row = group, group.count
        group.members += member
        group.members += caller(frame)
        group.count += 1
        if listeners:
            self.notebook.report_noted(group, result.row)
        return result

    def _converted(self, op: Op, operands: Sequence[Any], attrs: Attrs) -> Any:
        """Convert arrays to tensors with their own memory, NumPy scalars to numbers.

        Nodes of a graph read for themselves.
        """
        readers = [READERS[type(x)] for x in operands]
        highest = max(readers, key=attrgetter("level"))
        if highest.level > self.level:
            return highest.apply(op, tuple(operands), attrs)
        given = [x if isinstance(x, Tensor) else as_operand(op, as_weak(op, x)) for x in operands]
        tensors = [x if isinstance(x, Tensor) or is_weak(x) else Tensor(x) for x in given]
        return self.apply(op, tensors, attrs)

    def row(self, x: Any, item: Any, frame: FrameType) -> Any:
        """Note x[i] or x[i : i + 1] of a computed tensor; its reader picks the row.

        None for other tensors and items.
        """
        keep = type(item) is tuple
        first = _single_row(item) if keep else item
        if type(x) is not Tensor or type(first) is not int:
            return None
        length = len(x._array) if x._array.ndim else 0
        if not -length <= first < length:
            return None
        op = ops.slice_
        known = (op, context.now.recording, keep, x)
        group = self.known.get(known)
        if group is None:
            kind = (x.shape[1:], x.dtype, x.requires_grad)
            form = (*known[:3], kind)
            signature = self.signatures.get(form)
            if signature is None:
                spec = Spec((1, *kind[0]) if keep else kind[0], x.dtype)
                signature = GroupKey(form, (kind,), [spec], {}, spec, rows=True)
                self.signatures[form] = signature
            group = self._open_group(known, signature, (x,))
        return self.enter(group, (x, first % length), frame)

    def group_for(
        self, known: tuple[Any, ...], sources: Sequence[Any], attrs: Attrs
    ) -> Group | None:
        """Return the group for a form of operands that is new.

        None where it cannot wait, or its shape depends on values. Raises what the shape rule does.
        """
        end = 2 + len(sources)
        looks = known[2:end]
        for x in looks:
            if type(x) is Group and x.owner is not self:
                run_first(x)
        kinds = tuple([x.kind if type(x) is Group else x for x in looks])
        form = (*known[:2], kinds, known[end:])
        signature = self.signatures.get(form)
        if signature is None:
            op, alike, routine = known[0], form, None
            if op.impure or op.effect:
                alike, routine = as_call(form)
                if routine is None:
                    return None
            signature = self.signatures.get(alike) or _signature(alike, sources, attrs, routine)
            if signature is None:
                return None
            self.signatures[form] = self.signatures[alike] = signature
        return self._open_group(known, signature, looks)

    def _open_group(self, known: tuple[Any, ...], key: GroupKey, looks: Sequence[Any]) -> Group:
        """Return the group of this signature that is as deep as its operands allow."""
        depth = 1 + max([x.depth for x in looks if type(x) is Group], default=-1)
        group = key.open.get(depth)
        if group is None:
            group = key.open[depth] = Group(key, depth, self)
            self.pending[group] = None
        self.known[known] = group
        group.read(looks)
        return group

    # ---- running ----

    def run_now(self, op: Op, operands: Sequence[Any], attrs: Attrs) -> Any:
        """Run an operation that cannot wait: it prints, or its shape depends on values."""
        for x in operands:
            if type(x) is PendingTensor:
                compute_pending(x)
        with at_once():
            return op(*operands, **attrs)

    def run_all(self) -> None:
        """Run all groups that are left."""
        self.run(self.pending)

    def run(self, groups: Iterable[Group]) -> None:
        """Run groups and what they depend on. After an error nothing is left to run."""
        try:
            with at_once():
                for together in GroupQueue(pending_groups(groups)):
                    how = run_together(together)
                    if listeners:
                        self.notebook.report_group(together, how)
                    for group in together:
                        del self.pending[group]
                        group.close(ran=True)
        except BaseException:
            self.drop()
            raise
        self.known.clear()  # they take no more members
        for signature in self.signatures.values():
            signature.once = None

    def drop(self) -> None:
        """Forget what has not run."""
        for group in self.pending:
            group.close()
        self.pending.clear()
        self.known.clear()
        self.signatures.clear()


def _attribute_key(attrs: Attrs) -> list[Any]:
    """Return attributes as parts of a key in which 1, 1.0 and True differ."""
    values = tuple(attrs.values())
    try:
        hash(values)
    except TypeError:
        values = tuple(map(_hashable, values))
    return [*zip(attrs, values, map(type, values), strict=True)]


def _hashable(value: Any) -> Any:
    """Convert nested lists to tuples; what can't be compared is equal to itself only."""
    if isinstance(value, (list, tuple)):
        return tuple(map(_hashable, value))
    return value if isinstance(value, Hashable) else id(value)


def _single_row(item: Any) -> int | None:
    """Return the i of i : i + 1, or None."""
    start, stop, step = item
    start = start or 0
    return start if step is None and start >= 0 and stop == start + 1 else None


def _signature(
    form: tuple[Any, ...], sources: Sequence[Any], attrs: Attrs, routine: Routine | None
) -> GroupKey | None:
    """Return the signature for such operands; None if the shape depends on values.

    Raises what the shape rule raises.
    """
    op, _, kinds, _ = form
    try:
        given = [_operand_spec(kind, source) for kind, source in zip(kinds, sources, strict=True)]
        specs = [spec_of(x) for x in unify(op, given, lambda x, d: Spec(x.shape, d))]
        result = op.spec(specs, attrs) if routine is None else routine.spec
    except GraphError as error:
        error.defined = error.defined or here()
        raise
    except (ValueError, IndexError, TypeError):  # the kernel will say it better
        return None
    if result.shape is None or any(not isinstance(n, int) for n in result.shape):
        return None
    return GroupKey(form, kinds, specs, attrs, result, routine=routine)


def _operand_spec(kind: Any, source: Any) -> Any:
    """Return what the shape rule sees of an operand: its spec, or a Python number."""
    if type(kind) is tuple:
        return Spec(kind[0], kind[1])
    return source if isinstance(kind, type) else spec_of(source)

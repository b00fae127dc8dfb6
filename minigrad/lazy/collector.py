"""Lazy batching: operations of many samples are noted, and those that are alike run as one.

The idea is DyNet's (Neubig, Goldberg and Dyer, On-the-fly operation batching in dynamic computation
graphs, 2017). Each sample may have a graph of its own form; written is one sample at a time.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Hashable, Iterable, Iterator, Sequence
from types import FrameType
from typing import Any

from minigrad import events, ops
from minigrad.core import (
    Attrs,
    Op,
    Spec,
    apply,
    as_operand,
    as_weak,
    context,
    is_weak,
    spec_of,
    unify,
)
from minigrad.eager import Tensor
from minigrad.errors import GraphError
from minigrad.lazy.groups import WHOLE, Agenda, Group, Signature, leading_to
from minigrad.lazy.notes import Notebook
from minigrad.lazy.pending import Pending, run_first, seen, settle
from minigrad.lazy.together import run_together
from minigrad.source import caller, here
from minigrad.tape import at_once

listeners = events.listeners
INFERRED: dict[Any, tuple[list[Spec], Spec]] = {}  # what shape rules said, by operator and operands


@contextlib.contextmanager
def lazy_batch() -> Iterator[None]:
    """Collect the operations on tensors inside the block, and run those that are alike as one.

    Write the model for one sample, with Python's own `if`, loops and recursion, and call it for
    each sample inside the block: samples may have graphs of different form. Operations with the
    same operator, the same shapes and the same parameters are run as one operator on stacked
    operands, and so is their backward pass. Values and gradients are those of the plain run, up to
    the rounding of matrix products of another size.

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
    if context.taker is not None:  # a block inside a block is part of it
        yield
        return
    context.taker = collector = Collector()
    try:
        yield
        collector.run_all()
    finally:
        context.taker = None
        collector.drop()


class Collector:
    """What was noted in one block, in groups that have not run.

    As long as it is open it reads operators in the place of the tape.
    """

    level = Tensor.reader.level
    builds = False

    def __init__(self) -> None:
        self.pending: dict[Group, None] = {}
        self.known: dict[Any, Group] = {}  # groups by what was written: quick to ask
        self.shortly: dict[Any, Signature] = {}  # by the signatures of the operands
        self.signatures: dict[Any, Signature] = {}  # by what these come to
        self.notebook = Notebook()

    # ---- noting ----

    def apply(self, op: Op, operands: Sequence[Any], attrs: Attrs) -> Any:
        """Note an operation and give a tensor to come; or run it now, where it cannot wait."""
        frame = sys._getframe(1)
        if op.impure or op.effect:
            return self.run_now(op, operands, attrs)
        if op is ops.slice_ and len(attrs["key"]) == 1:
            row = self.row(operands[0], attrs["key"][0], frame)
            if row is not None:
                return row
        key: list[Any] = [op, context.now.recording]
        member: list[Any] = []
        for x in operands:
            kind, row = type(x), WHOLE
            if kind is Pending:
                source = look = x.group
                row = x.row
            elif kind is Tensor or not is_weak(x):
                source = x if kind is Tensor else self._given(op, x)
                look = seen(source) if type(source) is Tensor else type(source)
            else:
                source, look = x, kind
            key.append(look)
            member += (source, row)
        if attrs:
            key += _parts(attrs)
        known = tuple(key)
        group = self.known.get(known) or self.group_for(known, member[::2], attrs)
        return (
            self.run_now(op, operands, attrs) if group is None else self.enter(group, member, frame)
        )

    def enter(self, group: Group, member: Sequence[Any], frame: FrameType) -> Any:
        """One more member: the sources and rows of its operands."""
        result = Pending()
        result.group, result.row = group, group.count
        group.members += member
        group.members += caller(frame)
        group.count += 1
        if listeners:
            self.notebook.tell_noted(group, result.row)
        return result

    def _given(self, op: Op, x: Any) -> Any:
        """An array as a tensor with memory of its own, a NumPy scalar as a number."""
        x = as_operand(op, as_weak(op, x))
        return x if is_weak(x) else Tensor(x)

    def row(self, x: Any, item: Any, frame: FrameType) -> Any:
        """x[i] or x[i : i + 1] of a tensor at hand: no kernel, whoever reads it picks the row.

        None for other tensors and items.
        """
        keep = type(item) is tuple
        first = _only_row(item) if keep else item
        if type(x) is not Tensor or type(first) is not int:
            return None
        length = len(x.data) if x.data.ndim else 0
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
                signature = Signature(form, (kind,), [spec], {}, spec, rows=True)
                self.signatures[form] = signature
            group = self.known[known] = self._open(signature, 0)
            group.read((x,))
        return self.enter(group, (x, first % length), frame)

    def group_for(
        self, known: tuple[Any, ...], sources: Sequence[Any], attrs: Attrs
    ) -> Group | None:
        """The group for operands that are seen like this for the first time.

        None where the shape depends on values. Raises what the shape rule raises.
        """
        end = 2 + len(sources)
        looks = known[2:end]
        depth, short = 0, [*known[:2], *known[end:]]
        for look in looks:
            if type(look) is not Group:
                short.append(look)
                continue
            if look.owner is not self:
                run_first(look)
            if depth <= look.depth:
                depth = look.depth + 1
            short.append(look if look.signature.of_parameters else look.signature)
        brief = tuple(short)
        signature = self.shortly.get(brief)
        if signature is None:
            kinds = tuple([x.kind if type(x) is Group else x for x in looks])
            form = (*known[:2], kinds, known[end:])
            signature = self.signatures.get(form) or _signature(form, sources, attrs)
            if signature is None:
                return None
            self.signatures[form] = self.shortly[brief] = signature
        group = self.known[known] = self._open(signature, depth)
        group.read(looks)
        return group

    def _open(self, signature: Signature, depth: int) -> Group:
        group = signature.open.get(depth)
        if group is None:
            group = signature.open[depth] = Group(signature, depth, self)
            self.pending[group] = None
        return group

    # ---- running ----

    def run_now(self, op: Op, operands: Sequence[Any], attrs: Attrs) -> Any:
        """Run an operation that cannot wait: it prints, or its shape depends on values."""
        for x in operands:
            if type(x) is Pending:
                settle(x)
        with at_once():
            return apply(op, tuple(operands), attrs)

    def run_all(self) -> None:
        """Run whatever is left."""
        self.run(self.pending)

    def run(self, wanted: Iterable[Group]) -> None:
        """Run groups and what they depend on. After an error nothing is left to run."""
        try:
            with at_once():
                for together in Agenda(leading_to(wanted)):
                    how = run_together(together)
                    if listeners:
                        self.notebook.tell_group(together, how)
                    for group in together:
                        del self.pending[group]
                        group.close(ran=True)
        except BaseException:
            self.drop()
            raise
        self.known.clear()  # they take no more members

    def drop(self) -> None:
        """Forget what has not run."""
        for group in self.pending:
            group.close()
        self.pending.clear()
        self.known.clear()
        self.shortly.clear()
        self.signatures.clear()


def _parts(attrs: Attrs) -> list[Any]:
    """Attributes as parts of a key: 1, 1.0 and True are different."""
    values = tuple(attrs.values())
    try:
        hash(values)
    except TypeError:
        values = tuple(map(_frozen, values))
    return [*zip(attrs, values, map(type, values), strict=True)]


def _frozen(value: Any) -> Any:
    """Nested lists as tuples; whatever else cannot be compared stands for itself alone."""
    if isinstance(value, (list, tuple)):
        return tuple(map(_frozen, value))
    return value if isinstance(value, Hashable) else id(value)


def _only_row(item: Any) -> int | None:
    """The i of i : i + 1."""
    start, stop, step = item
    start = start or 0
    return start if step is None and start >= 0 and stop == start + 1 else None


def _signature(form: tuple[Any, ...], sources: Sequence[Any], attrs: Attrs) -> Signature | None:
    """The signature for operands like these; None where the shape depends on values.

    Raises what the shape rule raises.
    """
    op, _, kinds, _ = form
    key = op, tuple([_look(kind) for kind in kinds])
    found = None if attrs else INFERRED.get(key)
    if found is None:
        given = [_spec(kind, source) for kind, source in zip(kinds, sources, strict=True)]
        try:
            specs = [spec_of(x) for x in unify(op, given, lambda x, d: Spec(x.shape, d))]
            result = op.spec(specs, attrs)
        except GraphError as error:
            error.defined = error.defined or here()
            raise
        except (ValueError, IndexError, TypeError):  # the kernel will say it better
            return None
        if result.shape is None or any(not isinstance(n, int) for n in result.shape):
            return None
        found = specs, result
        if not attrs:
            if len(INFERRED) > 1000:
                INFERRED.clear()
            INFERRED[key] = found
    return Signature(form, kinds, found[0], attrs, found[1])


def _look(kind: Any) -> Any:
    """Shape and data type; of a Python number, which of them it is."""
    if isinstance(kind, type):
        return kind
    return kind[:2] if type(kind) is tuple else (kind.shape, kind.dtype)


def _spec(kind: Any, source: Any) -> Any:
    """What the shape rule sees of an operand: shape and data type, or a Python number."""
    if type(kind) is tuple:
        return Spec(kind[0], kind[1])
    return source if isinstance(kind, type) else spec_of(source)

"""The tape: what is recorded of each operation, whether it is, and what changed since."""

from __future__ import annotations

import contextlib
import sys
import weakref
from collections.abc import Iterable, Iterator, Sequence
from operator import attrgetter
from types import CodeType
from typing import Any

import numpy as np

from minigrad.core import READY, Array, Attrs, BaseNode, Dtype, Op, Unrecorded, context, next_order
from minigrad.errors import GradientError
from minigrad.rules import Pullback
from minigrad.shares import FREED
from minigrad.source import Location, SavedLine, caller, here

__all__ = ["enable_grad", "is_grad_enabled", "no_grad", "set_grad_enabled"]


def _read_only(slot: str) -> Any:
    """A property that shows a slot and refuses to change it."""

    def refuse(node: TapeNode, value: object) -> None:
        raise GradientError("recorded", name=slot[1:], op=node.op, defined=node.where, ran=here())

    return property(attrgetter(slot), refuse)


class TapeNode(BaseNode):
    """One recorded operation: the operator, where its operands came from, what its rules need.

    `inputs` holds for each operand the node that made it, or the leaf tensor itself, or (no
    gradient flows there) the number or the Spec of the array. `saved` holds the result and the
    operands as far as the gradient rules read them, and is None once a backward pass used it.

    Nobody changes a node. The slots behind the properties are written where it is recorded. One or
    two operands have slots of their own: tuples would double what the garbage collector visits.
    """

    __slots__ = (
        *("__weakref__", "_attrs", "_code", "_dtype", "_hooks", "_kept", "_lasti", "_order"),
        *("_operand", "_operand2", "_result", "_scope", "_shape", "_source", "_source2"),
    )
    _attrs: Attrs
    _code: CodeType | SavedLine
    _dtype: Dtype
    _hooks: Any  # unset unless there are some, see backward
    _kept: Pullback
    _lasti: int
    _order: int
    _scope: str
    _shape: tuple[int, ...]
    _source: Any  # of three operands and more: the tuple of all sources
    _source2: Any
    _result: Any  # saved, else None; FREED once it was used
    _operand: Any  # saved, else None; of three operands and more: the tuple of all
    _operand2: Any

    op: Any = _read_only("_op")
    kept: Any = _read_only("_kept")
    attrs: Any = _read_only("_attrs")
    shape: Any = _read_only("_shape")
    dtype: Any = _read_only("_dtype")
    order: Any = _read_only("_order")
    scope: Any = _read_only("_scope")
    code: Any = _read_only("_code")
    lasti: Any = _read_only("_lasti")
    inputs: Any = _read_only("_inputs")
    saved: Any = _read_only("_saved")

    @classmethod
    def of(
        cls,
        kept: Pullback,
        sources: Sequence[Any],
        saved: Sequence[Any],
        about: Array,
        attrs: Attrs,
        place: tuple[CodeType | SavedLine, int],
    ) -> TapeNode:
        """A node for any number of operands; `about` has the shape and type of the result."""
        node = cls()
        node._result, *operands = saved
        node._source2 = node._operand2 = None
        if kept.count == 1:
            (node._source,), (node._operand,) = sources, operands
        elif kept.count == 2:
            (node._source, node._source2), (node._operand, node._operand2) = sources, operands
        else:
            node._source, node._operand = tuple(sources), tuple(operands)
        node._kept, node._attrs, node._shape, node._dtype = kept, attrs, about.shape, about.dtype
        node._order, node._scope = next_order(), context.scope
        node._code, node._lasti = place
        return node

    @property
    def _op(self) -> Op:
        return self._kept.op

    @property
    def ndim(self) -> int:
        return len(self._shape)

    @property
    def sources(self) -> tuple[Any, ...]:
        """Like `inputs`; an array through which no gradient flows is (shape, dtype, name)."""
        count = self._kept.count
        if count == 1:
            return (self._source,)
        if count == 2:
            return (self._source, self._source2)
        sources: tuple[Any, ...] = self._source
        return sources

    @property
    def _inputs(self) -> tuple[Any, ...]:
        return tuple([Unrecorded(*x) if type(x) is tuple else x for x in self.sources])

    @property
    def _saved(self) -> tuple[Any, ...] | None:
        count, result, first = self._kept.count, self._result, self._operand
        operands = (first,) if count == 1 else (first, self._operand2) if count == 2 else first
        if self._result is FREED:  # asked last: another thread may be dropping it
            return None
        return (result, *operands)

    def retell(self, code: CodeType | SavedLine, lasti: int) -> None:
        """Tell another line: of the user's program, when the node was recorded by ours for it."""
        self._code, self._lasti = code, lasti

    def release(self) -> None:
        """Drop what was saved; a node that saved nothing can be walked again."""
        if self._kept.has_data:
            self._result, self._operand, self._operand2 = FREED, None, None

    def __repr__(self) -> str:
        return f"<{self.op} recorded at {self.where.label}>"


READY.add(TapeNode)  # it stands for an operand of which only the shape is read

# ---- Is anything recorded? ----------------------------------------------------------------------


class recording(contextlib.ContextDecorator):
    """Switch the tape of this thread on or off inside the block."""

    def __init__(self, on: bool) -> None:
        self.on = on
        self.before: list[bool] = []

    def __enter__(self) -> None:
        self.before.append(context.now.recording)
        context.recording = self.on

    def __exit__(self, *exc: object) -> None:
        context.recording = self.before.pop()


def no_grad() -> recording:
    """Compute without recording: results have no creator and need no memory for backward.

    Holds for this thread only; also a decorator.

    >>> import minigrad as mg
    >>> x = mg.tensor(2.0, requires_grad=True)
    >>> with mg.no_grad():
    ...     y = x * x
    >>> y.creator is None
    True
    """
    return recording(False)


def enable_grad() -> recording:
    """Record again, inside a block or a function that is called under `no_grad`.

    >>> import minigrad as mg
    >>> x = mg.tensor(2.0, requires_grad=True)
    >>> with mg.no_grad(), mg.enable_grad():
    ...     y = x * x
    >>> y.requires_grad
    True
    """
    return recording(True)


@contextlib.contextmanager
def at_once() -> Iterator[None]:
    """Run operations inside the block at once, even within `lazy_batch`."""
    before, context.taker = context.taker, None
    try:
        yield
    finally:
        context.taker = before


class set_grad_enabled:
    """Switch recording on or off from here on; in a `with` statement, until the block ends.

    >>> import minigrad as mg
    >>> with mg.set_grad_enabled(False):
    ...     mg.is_grad_enabled()
    False
    >>> mg.is_grad_enabled()
    True
    """

    def __init__(self, mode: bool) -> None:
        self.before = context.recording
        context.recording = bool(mode)

    def __enter__(self) -> None:
        """What is to be done was done when this was made."""

    def __exit__(self, *exc: object) -> None:
        context.recording = self.before


def is_grad_enabled() -> bool:
    """Whether operations are recorded in this thread.

    >>> import minigrad as mg
    >>> with mg.no_grad():
    ...     print(mg.is_grad_enabled())
    False
    """
    return context.recording


# ---- Who shares memory --------------------------------------------------------------------------


def owner_of(array: Array) -> Array:
    """The array that owns the memory which this one looks at."""
    base = getattr(array, "base", None)
    return base if isinstance(base, np.ndarray) else array


class Sharing:
    """The tensors that look at one piece of memory: that which was computed, and views of it.

    They are held weakly. Views of a leaf that requires a gradient are not counted: such a leaf
    changes only where nothing is recorded, and then its views stay what they were, views of it.
    """

    __slots__ = ("_limit", "_members", "of_leaf")

    def __init__(self, first: Any) -> None:
        self.of_leaf = first.requires_grad and first.creator is None
        self._members = [weakref.ref(first)]
        self._limit = 16

    def join(self, tensor: Any) -> None:
        if len(self._members) >= self._limit:
            self._members = [ref for ref in self._members if ref() is not None]
            self._limit = 2 * len(self._members) + 16
        self._members.append(weakref.ref(tensor))

    def others(self, tensor: Any) -> list[Any]:
        """Those that are in use somewhere, apart from this one."""
        found = [ref() for ref in self._members]
        return [x for x in found if x is not None and x is not tensor]


def share(view: Any, tensor: Any) -> None:
    """Note that a result looks at the memory of the tensor that it was made from."""
    sharing = getattr(tensor, "_sharing", None)
    if sharing is None:
        sharing = tensor._sharing = Sharing(tensor)
    if not sharing.of_leaf:
        sharing.join(view)
    view._sharing = sharing


# ---- What changed -------------------------------------------------------------------------------


class Change:
    """The last change of one piece of memory."""

    __slots__ = ("holder", "place", "tick", "times")
    place: tuple[CodeType, int]
    tick: int

    def __init__(self, holder: Any) -> None:
        self.holder = (
            holder  # keeps an entry from outliving its array, whose number another may get
        )
        self.times = 0

    def note(self, tick: int, place: tuple[CodeType, int]) -> None:
        self.tick, self.place = tick, place
        self.times += 1


class Changes:
    """The version counter: how often, when and where memory was changed in place.

    A node recorded before a change must not use what it saved of that memory. Arrays are known by
    the one that owns their memory, so views are covered; an entry goes when its array goes.
    """

    def __init__(self) -> None:
        self.latest = 0
        self._found: dict[int, Change] = {}
        self._scalars: dict[int, tuple[Any, Any]] = {}  # by the array that took its place
        self._limit = 64

    def array_of(self, tensor: Any) -> Array:
        """The array of a tensor, which can be changed and shared, unlike a NumPy scalar.

        A scalar gives its place to an array without axes. Nodes that saved the scalar are to be
        treated as if they had saved that.
        """
        if not isinstance(tensor.data, np.ndarray):
            scalar = tensor.data
            tensor.data = array = np.asarray(scalar)
            key = id(array)
            self._scalars[key] = scalar, weakref.ref(array, lambda _: self._scalars.pop(key, None))
        return tensor.data

    def note(self, array: Array) -> None:
        """An array is about to change."""
        taker = context.now.taker
        if taker is not None:
            taker.run_all()  # what was noted reads it as it is now
        owner = array if array.base is None else owner_of(array)
        key = id(owner)
        self.latest = next_order()
        place = caller(sys._getframe(1))
        change = self._found.get(key)
        if change is None:
            holder = weakref.ref(owner, lambda _: self._found.pop(key, None))
            change = self._found[key] = Change(holder)
        change.note(self.latest, place)
        if key in self._scalars:
            scalar = self._scalars[key][0]  # which takes no weak reference
            self._forget_scalars()
            change = self._found[id(scalar)] = Change(scalar)
            change.note(self.latest, place)

    def count(self, array: Array) -> int:
        """How often the memory of this array was changed."""
        change = self._found.get(id(owner_of(array)))
        return 0 if change is None else change.times

    def check(self, node: TapeNode, values: Iterable[Any] | None = None) -> None:
        """GradientError when a value that the node saved (or one of `values`) changed since."""
        for value in (node.saved or ()) if values is None else values:
            for array in getattr(value, "arrays", (value,)):  # a call saves several at once
                change = self._found.get(id(owner_of(array)))
                if change is not None and change.tick > node.order:
                    raise GradientError(
                        "changed",
                        op=node.op,
                        where=Location(*change.place).label,
                        defined=node.where,
                        ran=here(),
                    )

    def _forget_scalars(self) -> None:
        """Drop entries of NumPy scalars that nobody else holds; rarely, as that takes a search."""
        if len(self._found) < self._limit:
            return
        for key, change in list(self._found.items()):
            alone = sys.getrefcount(change.holder) <= 2  # that of the entry, that of this call
            if not isinstance(change.holder, weakref.ref) and alone:
                del self._found[key]
        self._limit = 2 * len(self._found) + 64


changes = Changes()

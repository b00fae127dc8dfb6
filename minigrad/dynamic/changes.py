"""In-place changes since values were recorded, and which tensors share memory."""

from __future__ import annotations

import sys
import weakref
from collections.abc import Iterable
from types import CodeType
from typing import Any

import numpy as np

from minigrad.core import Array, context, next_order
from minigrad.diagnostics.errors import GradientError
from minigrad.diagnostics.source import Location, caller, here
from minigrad.dynamic.tape import TapeNode


def owner_of(array: Array) -> Array:
    """Return the array that owns the memory of this view."""
    base = getattr(array, "base", None)
    return base if isinstance(base, np.ndarray) else array


class Sharing:
    """The tensors that share one piece of memory: the computed one and views of it.

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
        """Return the other tensors that are still in use."""
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
        """Return a tensor's array; unlike a NumPy scalar it can be changed and shared.

        A scalar gives its place to an array without axes. Nodes that saved the scalar are to be
        treated as if they had saved that.
        """
        if not isinstance(tensor._array, np.ndarray):
            scalar = tensor._array
            tensor._array = array = np.asarray(scalar)
            key = id(array)
            self._scalars[key] = scalar, weakref.ref(array, lambda _: self._scalars.pop(key, None))
        return tensor._array

    def note(self, array: Array) -> None:
        """Note that an array is about to change."""
        active_reader = context.now.active_reader
        if active_reader is not None:
            active_reader.run_all()  # what was noted reads it as it is now
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
        """Count how often the memory of this array was changed."""
        change = self._found.get(id(owner_of(array)))
        return 0 if change is None else change.times

    def check(self, node: TapeNode, values: Iterable[Any] | None = None) -> None:
        """Raise GradientError if a value that the node saved (or one of `values`) changed since."""
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
        """Drop entries of NumPy scalars that nothing else holds; rarely, as that takes a search."""
        if len(self._found) < self._limit:
            return
        for key, change in list(self._found.items()):
            # A NumPy scalar takes no weak reference, and one that a node saved must stay known.
            # Its reference count is what tells: one is the entry's, one that of the call here.
            alone = sys.getrefcount(change.holder) <= 2
            if not isinstance(change.holder, weakref.ref) and alone:
                del self._found[key]
        self._limit = 2 * len(self._found) + 64


changes = Changes()

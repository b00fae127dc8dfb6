"""Arrays that calls read and write, and the calls."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from minigrad.core import Array, Attrs, Spec
from minigrad.passes.plan import align, aligned_memory
from minigrad.static import Node

FIXED = ("planned", "scratch", "constant")  # kinds of memory that stay where they are


class Slot:
    """One array of a program: fixed in memory, or another one at each run.

    `kind` says where the array comes from: fed, variable, constant, planned, result, free, scratch,
    tile or view. `node` is the node whose value it is, if there is one. `uses` are the argument
    lists that a new array is put into, `views` the slots that view it.
    """

    __slots__ = ("current", "kind", "node", "source", "spec", "uses", "views")

    def __init__(
        self, kind: str, spec: Spec, array: Array = None, node: Node | None = None
    ) -> None:
        self.kind, self.spec, self.current, self.node = kind, spec, array, node
        self.source: tuple[Slot, str, tuple[Any, ...]] | None = None  # of a view: what, and how
        self.uses: list[tuple[list[Any], int]] = []
        self.views: list[Slot] = []

    @property
    def shape(self) -> tuple[int, ...]:
        return self.spec.shape  # type: ignore[return-value]

    @property
    def root(self) -> Slot:
        """The slot whose memory this one views."""
        return self if self.source is None else self.source[0].root

    @property
    def fixed(self) -> bool:
        """Whether it is the same memory at each run."""
        return self.root.kind in FIXED

    @property
    def array(self) -> Array:
        """The current array, or None if it isn't known yet."""
        if self.current is not None or self.source is None:
            return self.current
        source, method, args = self.source
        base = source.array
        found = None if base is None else getattr(base, method)(*args)
        if self.fixed:
            self.current = found
        return found

    def set(self, array: Array) -> None:
        """Set the current array: it goes into the arguments of the calls that use it."""
        self.current = array
        for arguments, i in self.uses:
            arguments[i] = array
        if self.views:
            self.show()

    def show(self) -> None:
        """Show the current array in the views of it."""
        array = self.current
        for view in self.views:
            _, method, args = view.source  # type: ignore[misc]
            view.set(None if array is None else getattr(array, method)(*args))

    def follow(self) -> None:
        """Show the arrays of what this views from now on."""
        if self.source is not None and self not in self.source[0].views:
            self.current = self.array
            self.source[0].views.append(self)
            self.source[0].follow()

    def view(self, shape: tuple[int, ...], method: str, *args: Any) -> Slot:
        """View the same memory by a method of arrays: `reshape`, `transpose`."""
        found = Slot("view", Spec(shape, self.spec.dtype), None, self.node)
        found.source = self, method, args
        return found


class KernelCall:
    """A function with its arguments, the node that it works for, and the part of a fused one.

    function: None for a value that is allocated at each run, by the code that runs the call.
    """

    __slots__ = ("attrs", "function", "node", "operands", "part")

    def __init__(
        self, function: Callable[..., Any] | None, operands: Sequence[Any], attrs: Attrs, node: Node
    ) -> None:
        self.function, self.operands, self.attrs, self.node = function, tuple(operands), attrs, node
        self.part = node

    @property
    def arrays(self) -> list[Any]:
        """The arguments as they are now."""
        return [x.array if isinstance(x, Slot) else x for x in self.operands]

    def __call__(self) -> None:
        self.function(*self.arrays, **self.attrs)  # type: ignore[misc]

    def bound(self) -> tuple[Callable[..., Any], Sequence[Any]]:
        """Return a function with its arguments; arrays that change are put in by their slots."""
        function: Any = self.function
        if self.attrs:
            function = functools.partial(function, **self.attrs)
        arguments, moving = self.arrays, False
        for i, x in enumerate(self.operands):
            if isinstance(x, Slot) and not x.fixed:
                x.uses.append((arguments, i))
                x.follow()
                moving = True
        return function, arguments if moving else tuple(arguments)


class JoinedCalls:
    """Several calls as one function; `node` is the first one's, or that of the one that failed."""

    node: Node


class Scratch:
    """Memory for values that only one node's calls read: slots first, the memory when all is known.

    Setting `used` back to 0 lets what is taken next lie where other things lay.
    """

    def __init__(self) -> None:
        self.slots: list[tuple[Slot, int]] = []
        self.used = self.bytes = 0
        self.memory: Array = None

    def take(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Slot:
        slot = Slot("scratch", Spec(shape, dtype))
        self.slots.append((slot, self.used))
        self.used += align(math.prod(shape) * dtype.itemsize)
        self.bytes = max(self.bytes, self.used)
        return slot

    def place(self) -> int:
        """Give every slot its memory; return the total bytes."""
        self.memory = aligned_memory(self.bytes)
        for slot, offset in self.slots:
            size = math.prod(slot.shape) * slot.spec.dtype.itemsize
            flat = self.memory[offset : offset + size].view(slot.spec.dtype)
            slot.set(flat.reshape(slot.shape))
        return self.bytes


class CallList:
    """A list of calls in the making, with the memory and constants that they need."""

    exact = False  # whether only what gives the bits of the kernels may take their place

    def __init__(self, node: Node | None = None) -> None:
        self.calls: list[KernelCall] = []
        self.node: Any = node  # what is being written out
        self.part: Node | None = None  # the operator of a fused region that is written out
        self.shared, self.lasting = Scratch(), Scratch()
        self._constants: dict[Any, Slot] = {}

    def call(self, function: Callable[..., Any] | None, *operands: Any, **attrs: Any) -> None:
        """Add a call for the node at hand; operands are slots, or values as they are."""
        self.calls.append(KernelCall(function, operands, attrs, self.node))
        self.calls[-1].part = self.node if self.part is None else self.part

    def constant(self, value: Any, dtype: np.dtype[Any]) -> Slot:
        """Add an array that never changes; NumPy is fastest with one without axes."""
        array = np.asarray(value, dtype)
        key = array.shape, dtype, array.tobytes()
        if key not in self._constants:
            self._constants[key] = Slot("constant", Spec(array.shape, dtype), array)
        return self._constants[key]

    def scratch(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Slot:
        """Reserve memory for one node's calls; those of the next may reuse it."""
        return self.shared.take(shape, dtype)

    def zeros(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Slot:
        """Reserve memory that nothing else uses: what isn't written to stays 0."""
        return self.lasting.take(shape, dtype)

    def kept(self, key: Any, make: Callable[[], Any]) -> Any:
        """Compute once by `make` what several nodes need; its scratch memory isn't reused."""
        return make()

    def needs_columns(self, x: Slot) -> bool:
        """Return whether more than one node reads the patches of these images."""
        return False

    def place(self) -> int:
        """Allocate all scratch memory; return its bytes."""
        return self.shared.place() + self.lasting.place()


# ---- Images with the batch as the last axis in memory -------------------------------------------

OUTWARD = (3, 0, 1, 2)  # from (channels, height, width, batch) to what users see


def batch_first(base: Slot) -> Slot:
    """View memory with the batch last as (batch, channels, height, width)."""
    c, height, width, n = base.shape
    return base.view((n, c, height, width), "transpose", OUTWARD)


def base_of(x: Slot) -> Slot | None:
    """Return the memory with the batch last that this views, or None."""
    if x.source is not None and x.source[1:] == ("transpose", (OUTWARD,)):
        return x.source[0]
    return None


def like(calls: CallList, x: Slot, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Slot:
    """Reserve scratch memory of this shape, stored as x is."""
    if base_of(x) is None or shape != x.shape:
        return calls.scratch(shape, dtype)
    n, c, height, width = shape
    return batch_first(calls.scratch((c, height, width, n), dtype))

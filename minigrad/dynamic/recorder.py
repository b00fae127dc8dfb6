"""How the dynamic graph reads `a * b`: run the kernel at once, and record a node."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from minigrad import ops
from minigrad.backprop.rules import Pullback
from minigrad.backprop.saved_for_backward import retained
from minigrad.backprop.sweep import sweep
from minigrad.core import (
    Array,
    Attrs,
    Dtype,
    Op,
    as_operand,
    as_weak,
    context,
    events,
    run_kernel,
    spec_of,
    unify,
)
from minigrad.diagnostics.source import caller
from minigrad.dynamic.changes import share
from minigrad.dynamic.tape import TapeNode

NONE: Attrs = {}  # shared by all nodes without attributes; never written to
# Attributes that take few values. What a gradient rule reads depends on them, on ranks and on data
# types, not on lengths: a pullback is derived once for each combination.
FEW = frozenset({"axis", "keepdims", "transpose_a", "transpose_b"})

ndarray = np.ndarray
getframe, listeners = sys._getframe, events.listeners


class TapeReader:
    """Reads operators on tensors of the class it is made for."""

    level = 1
    sweep: Callable[..., None] = staticmethod(sweep)  # backward, if nothing interferes

    def __init__(self, tensor: type[Any]) -> None:
        self.tensor = tensor
        self.around: Callable[..., Any] = tensor._around

    def apply(self, op: Op, operands: Sequence[Any], attrs: Attrs) -> Any:
        """Convert operands to one data type, run the kernel, record a node, notify listeners."""
        active_reader = context.now.active_reader
        if active_reader is not None:
            return active_reader.apply(op, tuple(operands), attrs)
        tensor = self.tensor
        given = [x if type(x) is tensor else self._given(op, x) for x in operands]
        tensors = unify(op, given, _cast)
        arrays = [x._array if isinstance(x, tensor) else x for x in tensors]
        y = run_kernel(op, arrays, attrs)
        node = None
        mask = tuple([isinstance(x, tensor) and x.requires_grad for x in tensors])
        if True in mask and context.now.recording:
            pullback = self.pullback(op, mask, y, arrays, attrs)
            if pullback.wrt:
                node = self.record(pullback, attrs, tensors, arrays, mask, y)
        if listeners:
            if node is not None:
                events.emit("built", op, node, None, tuple(tensors))
            events.emit("run", op, node, y, tuple(arrays))
        result = self.around(y, node)
        return result if op.elementwise else as_view(result, tensors)

    def pullback(
        self, op: Op, mask: tuple[bool, ...], y: Array, arrays: Sequence[Array], attrs: Attrs
    ) -> Pullback:
        """Return how the gradient of `y` becomes gradients of the operands that `mask` names."""
        few = [(name, str(value)) for name, value in attrs.items() if name in FEW]
        kinds = [(x.dtype, x.ndim) if type(x) is ndarray else type(x) for x in (y, *arrays)]
        pullback: Pullback | None = op.memo.get(key := (mask, *few, *kinds))
        if pullback is None:
            specs = [spec_of(x) for x in (y, *arrays)]
            pullback = op.memo[key] = Pullback.interpreting(op, retained(op, mask, specs, attrs))
        return pullback

    def _given(self, op: Op, x: Any) -> Any:
        """Convert an operand that isn't a tensor; a pending tensor is computed first."""
        if isinstance(x, self.tensor):
            x._array  # noqa: B018
            return x
        return as_operand(op, as_weak(op, x))

    def record(
        self,
        pullback: Pullback,
        attrs: Attrs,
        tensors: Sequence[Any],
        arrays: Sequence[Array],
        mask: Sequence[bool],
        y: Array,
    ) -> TapeNode:
        """Record a node for what was computed, with any number of operands."""
        pairs = zip(tensors, mask, strict=True)
        sources = [(x.creator or x) if wants else operand_stub(x) for x, wants in pairs]
        saved = [a if k else None for a, k in zip((y, *arrays), pullback.keeps, strict=True)]
        place = context.now.place or caller(getframe(1))
        return TapeNode.of(pullback, sources, saved, y, attrs, place)


def as_view(result: Any, operands: Sequence[Any]) -> Any:
    """Mark the result as a view if it shares the memory of an operand; return it."""
    for x in operands:
        if isinstance(x, type(result)) and is_view_of(result._array, x._array):
            share(result, x)
            break
    return result


def is_view_of(y: Array, a: Array) -> bool:
    """Return whether a result is a view of an operand, or the operand itself."""
    base = y.base
    return y is a or (base is not None and (base is a or base is a.base))


def operand_stub(x: Any) -> Any:
    """Return what the tape keeps of an operand without gradient: a number, or shape and name."""
    data = getattr(x, "_array", x) if hasattr(x, "creator") else x
    if type(data) is not ndarray:
        return data
    return data.shape, data.dtype, x.name if data is not x else None


def _cast(x: Any, dtype: Dtype) -> Any:
    return ops.cast(x, dtype=dtype)

"""How the dynamic graph reads `a * b`: run the kernel at once, and record a node."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from minigrad import ops
from minigrad.backprop.needs import retained
from minigrad.backprop.rules import Pullback
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

NONE: Attrs = {}  # shared by all nodes without attributes; nobody writes to it

ndarray = np.ndarray
getframe, listeners = sys._getframe, events.listeners


class TapeReader:
    """Reads operators on tensors of the class it is made for."""

    level = 1
    sweep: Callable[..., None] = staticmethod(sweep)  # backward, where nobody interferes

    def __init__(self, tensor: type[Any]) -> None:
        self.tensor = tensor
        self.around: Callable[..., Any] = tensor._around

    def apply(self, op: Op, operands: Sequence[Any], attrs: Attrs) -> Any:
        """Any operands, converted to one data type; listeners hear of it."""
        taker = context.now.taker
        if taker is not None:
            return taker.apply(op, tuple(operands), attrs)
        tensor = self.tensor
        given = [x if type(x) is tensor else self._given(op, x) for x in operands]
        tensors = unify(op, given, _cast)
        arrays = [x._array if isinstance(x, tensor) else x for x in tensors]
        y = run_kernel(op, arrays, attrs)
        node = None
        mask = tuple([isinstance(x, tensor) and x.requires_grad for x in tensors])
        if True in mask and context.now.recording:
            kept = self.pullback(op, mask, y, arrays, attrs)
            if kept.wanted:
                node = self.record(kept, attrs, tensors, arrays, mask, y)
        if listeners:
            if node is not None:
                events.emit("built", op, node, None, tuple(tensors))
            events.emit("run", op, node, y, tuple(arrays))
        result = self.around(y, node)
        return result if op.elementwise else as_view(result, tensors)

    def pullback(
        self, op: Op, mask: tuple[bool, ...], y: Array, arrays: Sequence[Array], attrs: Attrs
    ) -> Pullback:
        """How the gradient of `y` becomes gradients of the operands that `mask` names."""
        specs = [spec_of(x) for x in (y, *arrays)]
        return Pullback.interpreting(op, retained(op, mask, specs, attrs))

    def _given(self, op: Op, x: Any) -> Any:
        """An operand that is no tensor yet: a promise of one becomes it when it is looked at."""
        if isinstance(x, self.tensor):
            x._array  # noqa: B018
            return x
        return as_operand(op, as_weak(op, x))

    def record(
        self,
        kept: Pullback,
        attrs: Attrs,
        tensors: Sequence[Any],
        arrays: Sequence[Array],
        mask: Sequence[bool],
        y: Array,
    ) -> TapeNode:
        """A node for what was computed, of any number of operands."""
        pairs = zip(tensors, mask, strict=True)
        sources = [(x.creator or x) if wants else stub(x) for x, wants in pairs]
        saved = [a if keep else None for a, keep in zip((y, *arrays), kept.keeps, strict=True)]
        return TapeNode.of(kept, sources, saved, y, attrs, context.now.place or caller(getframe(1)))


def as_view(result: Any, operands: Sequence[Any]) -> Any:
    """The result, noted as a view of the operand whose memory it looks at, if there is one."""
    for x in operands:
        if isinstance(x, type(result)) and looks_at(result._array, x._array):
            share(result, x)
            break
    return result


def looks_at(y: Array, a: Array) -> bool:
    """Whether a result is a view of an operand, or the operand itself."""
    base = y.base
    return y is a or (base is not None and (base is a or base is a.base))


def stub(x: Any) -> Any:
    """What the tape remembers of an operand without gradient: a number, or shape and name."""
    data = getattr(x, "_array", x) if hasattr(x, "creator") else x
    if type(data) is not ndarray:
        return data
    return data.shape, data.dtype, x.name if data is not x else None


def _cast(x: Any, dtype: Dtype) -> Any:
    return ops.cast(x, dtype=dtype)

"""One operator of an ONNX model while it is converted: operands, attributes, rule table.

A rule takes an `OnnxCall` and returns its results: one value, or a tuple. A value is a node, an
array (known while the graph is built: what is made of arrays alone is computed at once), lengths of
axes, or a list of values (a sequence).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from minigrad import ops
from minigrad.core import Array, Dtype
from minigrad.diagnostics.errors import FormatError
from minigrad.interop.onnx.lengths import Lengths, items_of, lengths_of, product, quotient, sources
from minigrad.interop.onnx.tensors import TYPES
from minigrad.ops import state
from minigrad.ops.lengths import Length
from minigrad.static import Node

Rule = Callable[["OnnxCall"], Any]
TABLE: dict[str, Rule] = {}


def operator(*names: str) -> Callable[[Rule], Rule]:
    """Register a rule for these ONNX operators."""

    def enter(rule: Rule) -> Rule:
        TABLE.update(dict.fromkeys(names, rule))
        return rule

    return enter


def constant_value(x: Any) -> Array | None:
    """Return the array of a value that is known at build time, or None."""
    if isinstance(x, Lengths) and all(isinstance(n, int) for n in x.items):
        array = np.array(x.items, np.int64)
        return array[0] if x.single else array
    if isinstance(x, Node):
        return x.attrs["value"] if x.op in (state.constant, state.variable) else None
    return None if isinstance(x, (Lengths, list)) else x


class OnnxCall:
    """An operator with its operands (None: left out) and its attributes."""

    def __init__(
        self, reader: Any, node: Any, operands: Sequence[Any], attrs: dict[str, Any], version: int
    ) -> None:
        self.reader, self.node, self.operands = reader, node, list(operands)
        self.attrs, self.version = attrs, version

    @property
    def name(self) -> str:
        return str(self.node.op_type)

    def __len__(self) -> int:
        return len(self.operands)

    def raw(self, i: int) -> Any:
        """Return the operand unchanged, or None."""
        return self.operands[i] if i < len(self.operands) else None

    def __getitem__(self, i: int) -> Any:
        """Return the operand as a node or an array; FormatError if it is left out."""
        x = self.raw(i)
        if x is None or isinstance(x, list):
            raise FormatError("onnx_operands", op=self.name, count=len(self.operands), index=i)
        if isinstance(x, Lengths):
            found = constant_value(x)
            return x.node() if found is None else found
        return x

    def all(self) -> list[Any]:
        return [self[i] for i in range(len(self))]

    def given(self, i: int) -> bool:
        return self.raw(i) is not None

    def node_of(self, i: int) -> Node:
        """Return the operand as a node of the graph that is being built."""
        return self.reader.lift(self[i])  # type: ignore[no-any-return]

    def attr(self, name: str, default: Any = None) -> Any:
        return self.attrs.get(name, default)

    def constant(self, i: int, default: Any = None) -> Any:
        """Return the operand's value at build time; FormatError if it is not known."""
        x = self.raw(i)
        if x is None:
            return default
        found = constant_value(x)
        if found is None:
            raise self.unknown(i)
        return np.asarray(found)

    def unknown(self, i: int) -> FormatError:
        x, names = self.operands[i], list(self.node.input)
        name = x.name if isinstance(x, Node) and x.op is state.placeholder else names[i]
        return FormatError("onnx_value", op=self.name, name=ascii(name)[:100])

    def ints(self, i: int, default: Any = None) -> list[int] | None:
        """Return the operand's integers as a list."""
        found = self.constant(i)
        return default if found is None else [int(n) for n in np.ravel(found)]

    def lengths(self, i: int) -> tuple[Length, ...]:
        """Return the operand as lengths, some of which may be open."""
        x = self.raw(i)
        found = items_of(x) if x is not None and not isinstance(x, list) else None
        if found is None:
            return tuple(int(n) for n in np.ravel(self.constant(i)))
        return found

    def shape(self, i: int = 0) -> tuple[Length, ...]:
        return lengths_of(self.ranked(i))

    def known_shape(self, i: int = 0) -> tuple[int, ...]:
        """Return an operand's shape; FormatError unless all of it is known."""
        found = self.shape(i)
        if any(not isinstance(n, int) for n in found):
            raise self.refuse(f"shape {tuple(n if isinstance(n, int) else None for n in found)}")
        return found

    def ranked(self, i: int = 0) -> Any:
        x = self[i]
        if isinstance(x, Node) and x.spec.shape is None:
            raise self.refuse("shape ?")
        return x

    def rank(self, i: int = 0) -> int:
        return len(self.shape(i))

    def axis(self, default: int, rank: int | None = None) -> int:
        """Return the attribute `axis`, counted from 0."""
        rank = self.rank() if rank is None else rank
        axis = int(self.attr("axis", default))
        if not -rank <= axis < max(rank, 1):
            raise self.refuse(f"axis={axis}")
        return axis % rank if rank else 0

    def axes(self, i: int = 1) -> list[int] | None:
        """Return the axes: an operand in newer versions, an attribute in older ones."""
        return self.ints(i) if self.given(i) else self.attr("axes")

    def refuse(self, what: str) -> FormatError:
        """Return the error for a use of the operator that has no counterpart here."""
        return FormatError("onnx_unsupported", op=self.name, what=what)

    def expect(self, right: bool, what: str) -> None:
        if not right:
            raise self.refuse(what)

    def dtype(self, name: str, default: int | None = None) -> Dtype:
        number = self.attr(name, default)
        if number not in TYPES:
            raise self.reader.unsupported_type(number, self.name)
        return TYPES[number]


def reshape(x: Any, target: Sequence[Length]) -> Any:
    """Reshape x to these lengths, one of which may be −1; open ones stay open."""
    lengths, open_places = list(target), [i for i, n in enumerate(target) if not isinstance(n, int)]
    if -1 in lengths and open_places:
        i = lengths.index(-1)
        lengths[i] = quotient(lengths_of(x), [n for j, n in enumerate(lengths) if j != i])
    left = [i for i, n in enumerate(lengths) if not isinstance(n, int)]
    if len(left) <= 1:
        return ops.reshape(x, shape=tuple(n if isinstance(n, int) else -1 for n in lengths))
    likes, shape = sources(lengths, first=x)
    return ops.reshape_by(x, *likes, shape=shape)


def broadcast(x: Any, target: Sequence[Length], reader: Any) -> Any:
    """Broadcast x to these lengths."""
    if all(isinstance(n, int) for n in target):
        return ops.broadcast_to(x, shape=tuple(target))
    x = reader.lift(x)
    likes, shape = sources(list(target), first=x)
    return ops.broadcast_by(x, *likes, shape=shape)


def size_of(x: Any) -> Length:
    return product(lengths_of(x))


def arange(reader: Any, start: Length, count: Length, step: int = 1) -> Any:
    """Return `count` integers from `start` by `step`; an array if all lengths are known."""
    if isinstance(count, int):
        numbers: Any = np.arange(count, dtype=np.int64) * step
    else:
        ones = broadcast(np.ones((), np.int64), [count], reader)
        numbers = (ops.cumsum(ones, axis=0) - 1) * step
    if isinstance(start, int):
        return numbers + start if start else numbers
    return numbers + Lengths((start,), single=True).node()

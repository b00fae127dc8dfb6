"""A length that a trace reads from a shape: the number of the example, and where it comes from."""

from __future__ import annotations

import operator as py
from collections.abc import Callable, Mapping
from typing import Any

from minigrad import ops
from minigrad.ops.lengths import SIGNS


class TracedLength(int):
    """The length of an axis, or what was computed from lengths, while an example is traced.

    Python sees the number that it is for the example, and decides by it. What the graph keeps of
    it, such as the shape of a reshape, is computed anew for inputs of other lengths. `term` is
    (node, axis), a number, or (sign, term, term) with a sign out of `ops.lengths.SIGNS`.
    """

    term: Any

    @classmethod
    def of(cls, number: int, term: Any) -> TracedLength:
        length = cls(number)
        length.term = term
        return length

    def evaluated(self, new: Mapping[Any, Any]) -> int:
        """Evaluate the length for the nodes that replace those it was read from."""
        return _evaluate(self.term, lambda node, axis: new[node].spec.shape[axis])

    def expect(self, holds: Callable[[int], bool]) -> None:
        """Note for which lengths the trace is valid, if Python used the example's length."""
        nodes, _ = in_operands([self])
        nodes[0].graph.expected.append((self, holds))

    @staticmethod
    def repeated(value: Any, lengths: Any) -> Any:
        """Return a value of the graph that repeats a number to these lengths."""
        nodes, terms = in_operands(lengths, first=1)
        return ops.broadcast_by(value, *nodes, shape=terms)

    def as_node(self) -> Any:
        """Return the number as a value of the graph."""
        nodes, terms = in_operands([self])
        return ops.lengths_of(*nodes, shape=terms)[0]


def in_operands(lengths: Any, first: int = 0) -> tuple[list[Any], tuple[Any, ...]]:
    """Return the nodes that lengths are read from, and the lengths as (operand, axis).

    first: the number that the first of these nodes has among the operands.
    """
    nodes: list[Any] = []

    def place(term: Any) -> Any:
        if isinstance(term, tuple) and len(term) == 2:
            if not any(term[0] is node for node in nodes):
                nodes.append(term[0])
            return first + [node is term[0] for node in nodes].index(True), term[1]
        return (term[0], *map(place, term[1:])) if isinstance(term, tuple) else int(term)

    terms = tuple(place(getattr(n, "term", n)) for n in lengths)
    return nodes, terms


def with_lengths(tree: Any, new: Mapping[Any, Any]) -> Any:
    """Return attributes of a node with the lengths that they have for other inputs."""
    if isinstance(tree, TracedLength):
        return tree.evaluated(new)
    if isinstance(tree, dict):
        return {key: with_lengths(value, new) for key, value in tree.items()}
    if type(tree) is tuple:
        return tuple([with_lengths(value, new) for value in tree])
    return tree


def _evaluate(term: Any, read: Callable[[Any, int], int]) -> int:
    if not isinstance(term, tuple):
        return int(term)
    if len(term) == 2:
        return read(*term)
    return SIGNS[term[0]](*(_evaluate(part, read) for part in term[1:]))


def _arithmetic(name: str, sign: str, compute: Callable[[int, int], int]) -> None:
    """Make the two methods of an operator that keep what a length was computed from."""

    def forward(self: TracedLength, other: Any) -> Any:
        if not isinstance(other, int) or isinstance(other, bool):
            return getattr(int, f"__{name}__")(self, other)
        term = (sign, self.term, getattr(other, "term", other))
        return TracedLength.of(compute(int(self), int(other)), term)

    def backward(self: TracedLength, other: Any) -> Any:
        if not isinstance(other, int) or isinstance(other, bool):
            return getattr(int, f"__r{name}__")(self, other)
        return TracedLength.of(compute(int(other), int(self)), (sign, int(other), self.term))

    setattr(TracedLength, f"__{name}__", forward)
    setattr(TracedLength, f"__r{name}__", backward)


for _name, _sign, _compute in (
    ("add", "+", py.add),
    ("sub", "-", py.sub),
    ("mul", "*", py.mul),
    ("floordiv", "/", py.floordiv),
    ("mod", "%", py.mod),
):
    _arithmetic(_name, _sign, _compute)
TracedLength.__neg__ = lambda self: 0 - self  # type: ignore[method-assign]

"""Shapes as values: what Shape, Gather, Concat and their like compute while a graph is built.

A model asks for the shape of a value, picks lengths, joins them to others and reshapes by them.
Lengths that are known are numbers here; an open one is remembered as (node, axis), and what is
computed with it as (sign, length, length). So an open batch stays open.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np

from minigrad import ops
from minigrad.core import Array, Dim
from minigrad.interop.onnx.names import LENGTHS
from minigrad.ops.lengths import SIGNS, Length
from minigrad.static import Node


@dataclass(frozen=True)
class Lengths:
    """A vector of lengths, or a single one: integers, some of which are not known yet."""

    items: tuple[Length, ...]
    single: bool = False

    def node(self) -> Any:
        """Build a node with these lengths as its value."""
        likes, shape = sources(self.items)
        value = ops.lengths_of(*likes, shape=shape)
        return ops.slice_(value, key=(0,)) if self.single else value


def lengths_of(x: Any) -> tuple[Length, ...]:
    """Return a value's lengths: numbers, and (node, axis) for those that are open."""
    shape: Any = x.spec.shape if isinstance(x, Node) else x.shape
    return tuple((x, i) if isinstance(n, Dim) else int(n) for i, n in enumerate(shape))


def items_of(x: Any) -> tuple[Length, ...] | None:
    """Return the lengths that a value holds, or None if they are unknown."""
    if isinstance(x, Lengths):
        return x.items
    if isinstance(x, Node) or x.ndim > 1 or x.dtype.kind not in "iu":
        return None
    return tuple(int(n) for n in np.ravel(x))


def sources(items: Sequence[Length], first: Node | None = None) -> tuple[list[Node], Any]:
    """Return the nodes that lengths are read from, and the lengths with indices into them."""
    likes: list[Node] = [] if first is None else [first]

    def placed(length: Length) -> Length:
        if isinstance(length, int):
            return length
        if len(length) == 2:
            if not any(x is length[0] for x in likes):
                likes.append(length[0])
            return next(i for i, x in enumerate(likes) if x is length[0]), length[1]
        return length[0], placed(length[1]), placed(length[2])

    shape = tuple(placed(length) for length in items)
    return likes if first is None else likes[1:], shape


def is_equal(a: Length, b: Length) -> bool:
    """Return whether two lengths are known to be equal."""
    if isinstance(a, int) or isinstance(b, int):
        return bool(a == b) if isinstance(a, int) and isinstance(b, int) else False
    if len(a) == len(b) == 2:
        return a[0].spec.shape[a[1]] is b[0].spec.shape[b[1]]
    return len(a) == len(b) == 3 and a[0] == b[0] and is_equal(a[1], b[1]) and is_equal(a[2], b[2])


def combine(sign: str, a: Length, b: Length) -> Length:
    """Combine two lengths by an operator, simplified if possible."""
    if isinstance(a, int) and isinstance(b, int):
        return SIGNS[sign](a, b)
    if (sign in "*/" and b == 1) or (sign in "+-" and b == 0):
        return a
    if (sign == "*" and a == 1) or (sign == "+" and a == 0):
        return b
    if sign == "/":
        return quotient([a], [b])
    return sign, a, b


def factors(length: Length) -> list[Length]:
    if not isinstance(length, int) and len(length) == 3 and length[0] == "*":
        return factors(length[1]) + factors(length[2])
    return [length]


def product(items: Sequence[Length]) -> Length:
    return reduce(lambda a, b: combine("*", a, b), items, 1)


def quotient(above: Sequence[Length], below: Sequence[Length]) -> Length:
    """Divide one product of lengths by another, cancelling common factors."""
    top = [f for a in above for f in factors(a)]
    bottom = []
    for f in (f for b in below for f in factors(b)):
        found = next((i for i, t in enumerate(top) if is_equal(f, t)), None)
        if found is None:
            bottom.append(f)
        else:
            del top[found]
    a, b = product(top), product(bottom)
    numbers = product([f for f in factors(a) if isinstance(f, int)])
    if isinstance(b, int) and b > 1 and not isinstance(a, int) and numbers % b == 0:
        rest = [f for f in factors(a) if not isinstance(f, int)]
        return product([numbers // b, *rest])
    return combine("/", a, b) if isinstance(a, int) or b == 1 else ("/", a, b)


# ---- The operators of ONNX on such values; None where they make something else of them ----------

Rule = Callable[[Any, list[Any]], Any]
RULES: dict[str, Rule] = {}


def rule(*names: str) -> Callable[[Rule], Rule]:
    def enter(function: Rule) -> Rule:
        RULES.update(dict.fromkeys(names, function))
        return function

    return enter


def _known_array(x: Any) -> Array | None:
    return None if isinstance(x, (Node, Lengths)) else np.asarray(x)


@rule("Gather")
def _gather(call: Any, xs: list[Any]) -> Any:
    index = _known_array(xs[1])
    if not isinstance(xs[0], Lengths) or index is None or index.ndim > 1:
        return None
    picked = tuple(xs[0].items[int(i)] for i in np.ravel(index))
    return Lengths(picked, single=index.ndim == 0)


@rule("Slice")
def _slice(call: Any, xs: list[Any]) -> Any:
    bounds = [np.zeros(1, np.int64) if x is None else _known_array(x) for x in xs[1:]]
    if call.version < 10 or not isinstance(xs[0], Lengths) or any(b is None for b in bounds):
        return None
    start, stop, *rest = (int(np.ravel(np.asarray(b))[0]) for b in bounds)
    step = (rest[1] or 1) if len(rest) > 1 else 1
    low = None if step < 0 and stop < -len(xs[0].items) else stop
    return Lengths(xs[0].items[start:low:step])


@rule("Concat")
def _concat(call: Any, xs: list[Any]) -> Any:
    items = [items_of(x) for x in xs]
    if any(found is None for found in items):
        return None
    return Lengths(tuple(n for found in items for n in found or ()))


@rule("Unsqueeze", "Identity")
def _unsqueeze(call: Any, xs: list[Any]) -> Any:
    if call.name == "Identity":
        return xs[0]
    return Lengths(xs[0].items) if isinstance(xs[0], Lengths) and xs[0].single else None


@rule("Squeeze")
def _squeeze(call: Any, xs: list[Any]) -> Any:
    return Lengths(xs[0].items, single=True) if len(xs[0].items) == 1 else None


@rule("Reshape")
def _reshape(call: Any, xs: list[Any]) -> Any:
    axes = _known_array(xs[1])
    if not isinstance(xs[0], Lengths) or axes is None:
        return None
    if axes.size == 0 and len(xs[0].items) == 1:
        return Lengths(xs[0].items, single=True)
    return Lengths(xs[0].items) if axes.size == 1 else None


@rule("Cast")
def _cast(call: Any, xs: list[Any]) -> Any:
    return xs[0] if call.attr("to") in (6, 7) else None


@rule("ReduceProd")
def _product(call: Any, xs: list[Any]) -> Any:
    if not isinstance(xs[0], Lengths):
        return None
    return Lengths((product(xs[0].items),), single=not call.attr("keepdims", 1))


@rule(*LENGTHS.values())
def _arithmetic(call: Any, xs: list[Any]) -> Any:
    items = [items_of(x) for x in xs]
    if len(xs) != 2 or None in items:
        return None
    [sign] = [sign for sign, name in LENGTHS.items() if name == call.name]
    pairs = _broadcast_items(*(found or () for found in items))
    single = all(getattr(x, "single", getattr(x, "ndim", 1) == 0) for x in xs)
    return Lengths(tuple(combine(sign, a, b) for a, b in pairs), single=single)


def _broadcast_items(*all_items: tuple[Length, ...]) -> list[tuple[Length, ...]]:
    count = max(map(len, all_items))
    return list(zip(*(x * count if len(x) == 1 else x for x in all_items), strict=True))


@rule("Equal")
def _equal(call: Any, xs: list[Any]) -> Any:
    """Compare lengths, which are never negative; None if the answer is unknown."""
    items = [items_of(x) for x in xs]
    if None in items:
        return None
    found: list[bool] = []
    for a, b in _broadcast_items(*(x or () for x in items)):
        if is_equal(a, b) or (isinstance(a, int) and isinstance(b, int)):
            found.append(is_equal(a, b))
        elif (isinstance(a, int) and a < 0) or (isinstance(b, int) and b < 0):
            found.append(False)
        else:
            return None
    return np.array(found)


@rule("Where")
def _where(call: Any, xs: list[Any]) -> Any:
    condition, items = _known_array(xs[0]), [items_of(x) for x in xs[1:]]
    if condition is None or None in items:
        return None
    chosen = _broadcast_items(tuple(np.ravel(condition).tolist()), *(x or () for x in items))
    return Lengths(tuple(a if c else b for c, a, b in chosen))

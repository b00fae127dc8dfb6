"""Python's built-in functions where they are given nodes: len, range, print, min, sum and others.

Each does what the built-in does as long as no node is among its arguments.
"""

from __future__ import annotations

import builtins
import functools
import operator
from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import Any

import numpy as np

from minigrad import ops
from minigrad.core import int64
from minigrad.diagnostics.errors import ScriptError
from minigrad.diagnostics.source import here
from minigrad.hybrid.scripting.loops import NodeRange, NodeRows, SymbolicIterable, length
from minigrad.hybrid.scripting.runtime import and_, bool_, expect_single, is_symbolic, or_
from minigrad.static import Node

REPLACED: dict[Any, Callable[..., Any]] = {}


def symbolic_version_of(function: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Use the decorated function where `function` is given a node (or rows of nodes)."""

    def register(symbolic: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(symbolic)
        def either(*args: Any, **kwargs: Any) -> Any:
            unknown = any(is_symbolic(x) or isinstance(x, SymbolicIterable) for x in args)
            return (symbolic if unknown else function)(*args, **kwargs)

        REPLACED[function] = either
        return either

    return register


@symbolic_version_of(range)
def _range(*bounds: Any) -> NodeRange:
    for x in bounds:
        kind = x.dtype.kind if is_symbolic(x) else np.asarray(x).dtype.kind
        if kind not in "iu":
            raise ScriptError("script_range", value=str(x), defined=here())
    start, stop, *step = bounds if len(bounds) > 1 else (0, *bounds)
    return NodeRange(start, stop, step[0] if step else 1)


@symbolic_version_of(enumerate)
def _enumerate(xs: Any, start: Any = 0) -> NodeRows:
    if isinstance(xs, NodeRows) and xs.start is None:
        return NodeRows(xs.tree, start)
    if not is_symbolic(xs):
        raise ScriptError("script_together", name="enumerate", defined=here())
    return NodeRows(xs, start)


@symbolic_version_of(zip)
def _zip(*xs: Any, strict: bool = False) -> NodeRows:
    if not all(is_symbolic(x) for x in xs):
        raise ScriptError("script_together", name="zip", defined=here())
    return NodeRows(tuple(xs))


@symbolic_version_of(reversed)
def _reversed(x: Any) -> Any:
    if not is_symbolic(x):
        raise ScriptError("script_together", name="reversed", defined=here())
    return x[::-1]


@symbolic_version_of(len)
def _len(x: Any) -> Any:
    if not is_symbolic(x):
        raise ScriptError("script_together", name="len", defined=here())
    return length(x)


@symbolic_version_of(int)
def _int(x: Any) -> Any:
    return ops.cast(ops.stop_gradient(expect_single(x, "int")), dtype=int64)


@symbolic_version_of(float)
def _float(x: Any) -> Any:
    x = expect_single(x, "float")
    return x if x.dtype.kind == "f" else ops.cast(x, dtype=np.dtype(np.float32))


@symbolic_version_of(bool)
def _bool(x: Any) -> Any:
    return bool_(x)


@symbolic_version_of(sum)
def _sum(xs: Any, start: Any = 0) -> Any:
    total = ops.sum(xs, axis=0)
    return total if isinstance(start, int) and start == 0 else start + total


def _min_or_max(function: Any, better: Callable[[Any, Any], Any], position: Any) -> None:
    """Make `min` or `max`, which return the first of equal ones, as in Python."""

    @symbolic_version_of(function)
    def extreme(*xs: Any) -> Any:
        if len(xs) == 1:
            vector = expect_vector(xs[0], function.__name__)
            return vector[position(vector)]
        return functools.reduce(lambda a, b: ops.where(better(b, a), b, a), xs)


def expect_vector(x: Any, who: str) -> Any:
    """Return a node with one axis; an error for more, as Python couldn't order rows."""
    if x.ndim != 1:
        raise ScriptError("script_rows", name=who, shape=str(x.shape), defined=here())
    return x


_min_or_max(min, operator.lt, ops.argmin)
_min_or_max(max, operator.gt, ops.argmax)


@symbolic_version_of(print)
def _print(*values: Any, sep: str = " ", end: str = "\n", **kwargs: Any) -> None:
    """Print a line for each node whenever the graph runs, with the text before it.

    Text behind the last node stands before it, too, with … in place of the node. Nodes of a class
    that says how they are written are text themselves.
    """
    nodes = [i for i, x in enumerate(values) if _has_default_text(x)]
    if not nodes:
        print(*values, sep=sep, end=end, **kwargs)
        return
    texts = [[str(x) for x in values[i + 1 : j]] for i, j in pairwise([-1, *nodes])]
    if values[nodes[-1] + 1 :]:
        texts[-1] += ["…", *map(str, values[nodes[-1] + 1 :])]
    for i, text in zip(nodes, texts, strict=True):
        ops.print_value(values[i], message=sep.join(text))


def _has_default_text(x: Any) -> bool:
    return is_symbolic(x) and type(x).__str__ is Node.__str__


def _any_or_all(function: Any, combine: Callable[..., Any], start: bool) -> None:
    """Make `any` or `all` over lists of nodes, which stop as early as they can."""

    def either(xs: Iterable[Any]) -> Any:
        if is_symbolic(xs):
            return bool_(getattr(ops, function.__name__)(expect_vector(xs, function.__name__)))
        found = list(xs)
        if not any(map(is_symbolic, found)):
            return function(found)
        return combine(start, *(lambda x=x: bool_(x) for x in found))

    REPLACED[function] = either


_any_or_all(builtins.any, or_, False)
_any_or_all(builtins.all, and_, True)

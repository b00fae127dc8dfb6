"""Feeds of a graph: under which names, and as arrays of which types and shapes."""

from __future__ import annotations

import reprlib
from collections.abc import Mapping
from operator import attrgetter
from typing import Any

import numpy as np

from minigrad.core import Array, fits, overflowed, public_shape, show_shape
from minigrad.diagnostics.arguments import refuse
from minigrad.diagnostics.errors import FeedError
from minigrad.diagnostics.messages import fill
from minigrad.diagnostics.source import here
from minigrad.ops import state
from minigrad.static import Graph, Node


def check_feeds(graph: Graph, feed_dict: Mapping[Any, Any] | None) -> dict[Node, Any]:
    """Convert the fed values to arrays that fit the placeholders; FeedError if they don't.

    Keys are placeholders of the graph, or their names; it need not need them all.
    """
    if feed_dict is not None and not isinstance(feed_dict, Mapping):
        raise refuse("run", "feed_dict", feed_dict, fill("expect_feeds"))
    keyed = {_placeholder_of(graph, key): value for key, value in (feed_dict or {}).items()}
    return {node: _checked_feed(node, value) for node, value in keyed.items()}


def _placeholder_of(graph: Graph, key: Any) -> Node:
    if isinstance(key, str):
        found = _newest_placeholder(graph, key)
    else:
        found = key if isinstance(key, Node) and key.op is state.placeholder else None
    if found is not None and found.graph in origins(graph):
        return found
    shown = key.name if isinstance(key, Node) else reprlib.repr(key)
    names = [*dict.fromkeys(n.name for n in graph.placeholders)] or ["-"]
    why = "feed_key" if found is None else "feed_foreign"
    raise FeedError(why, key=shown, names=(", ".join(names), "、".join(names)), ran=here())


def _newest_placeholder(graph: Graph, name: str) -> Node | None:
    """Return the placeholder of this name; FeedError if the name means an older one."""
    found = [n for n in graph.placeholders if n.name == name]
    if not found:
        older = next((n for n in graph.placeholders if graph.labels[n] == name), None)
        if older is not None:
            raise FeedError(
                "feed_older", key=name, name=older.name, defined=older.where, ran=here()
            )
    return max(found, key=attrgetter("order"), default=None)


def origins(graph: Graph) -> set[Graph]:
    """Return the graphs that a graph's nodes may belong to: it may be cut out of another."""
    return {graph, *(x.graph for x in (*graph.inputs, *graph.outputs))}


def _checked_feed(node: Node, value: Any) -> Array:
    dtype, declared = node.spec.dtype, node.spec.shape
    try:
        given = np.asarray(value)
        if given.dtype.kind not in "fiub" and given.dtype != dtype:
            raise TypeError(value)  # NumPy would make NaN of None, and drop imaginary parts
    except (TypeError, ValueError):
        raise _feed_error(node, "feed_value", value=repr(value)[:60], dtype=dtype) from None
    if given.dtype.kind == "f" and dtype.kind != "f":
        raise _feed_error(node, "feed_type", expected=dtype, dtype=given.dtype)
    array = np.ascontiguousarray(given, dtype).reshape(given.shape)
    if overflowed(given, array):
        raise _feed_error(node, "feed_range", expected=dtype, dtype=given.dtype)
    if not fits(array.shape, declared):
        shape, expected = show_shape(array.shape), show_shape(public_shape(declared))
        raise _feed_error(node, "feed_shape", shape=shape, expected=expected)
    return array[()] if array.ndim == 0 else array


def _feed_error(node: Node, why: str, **about: Any) -> FeedError:
    return FeedError(why, name=node.name, defined=node.where, ran=here(), **about)

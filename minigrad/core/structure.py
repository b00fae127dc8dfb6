"""Nested tuples, lists and dicts of values: taken apart, and put together again."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

LEAF = object()


def flatten(tree: Any) -> tuple[list[Any], Any]:
    """Return the leaves of a nested structure in order, and its skeleton. None has no leaves.

    >>> flatten({"a": (1, 2), "b": 3})[0]
    [1, 2, 3]
    """
    leaves: list[Any] = []

    def keep(leaf: Any) -> Any:
        leaves.append(leaf)
        return LEAF

    return leaves, transform(tree, keep)


def rebuild(skeleton: Any, leaves: Sequence[Any]) -> Any:
    """Rebuild a structure that `flatten` took apart, with other leaves.

    >>> rebuild(flatten({"a": (1, 2), "b": 3})[1], [4, 5, 6])
    {'a': (4, 5), 'b': 6}
    """
    rest: Iterator[Any] = iter(leaves)
    return transform(skeleton, lambda _: next(rest))


def transform(tree: Any, f: Callable[[Any], Any]) -> Any:
    """Apply f to each leaf and return the same structure; a named tuple stays one."""
    if tree is None:
        return None
    if isinstance(tree, dict):
        return {key: transform(value, f) for key, value in tree.items()}
    if isinstance(tree, (list, tuple)):
        items = [transform(value, f) for value in tree]
        kind = type(tree)
        return kind(*items) if hasattr(kind, "_fields") else kind(items)
    return f(tree)

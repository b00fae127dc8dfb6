"""JAX's trees: lists, tuples and dicts of arrays, also nested."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from minigrad.faces.face import Face

__all__ = ["tree_flatten", "tree_leaves", "tree_map", "tree_unflatten"]


def tree_flatten(tree: Any) -> tuple[list[Any], Any]:
    """The leaves, those of a dict in the order of its keys, and the tree itself as the form."""
    return tree_leaves(tree), tree


def tree_leaves(tree: Any) -> list[Any]:
    """The leaves alone; None has none."""
    if tree is None:
        return []
    if isinstance(tree, dict):
        return [leaf for key in sorted(tree) for leaf in tree_leaves(tree[key])]
    if isinstance(tree, (list, tuple)):
        return [leaf for branch in tree for leaf in tree_leaves(branch)]
    return [tree]


def tree_unflatten(treedef: Any, leaves: Iterable[Any]) -> Any:
    """Other leaves in the same form."""
    return _filled(treedef, iter(leaves))


def _filled(tree: Any, leaves: Any) -> Any:
    if tree is None:
        return None
    if isinstance(tree, dict):
        return {key: _filled(tree[key], leaves) for key in sorted(tree)}
    if isinstance(tree, (list, tuple)):
        filled = [_filled(branch, leaves) for branch in tree]
        return type(tree)(*filled) if hasattr(tree, "_fields") else type(tree)(filled)
    return next(leaves)


def tree_map(f: Callable[..., Any], tree: Any, *rest: Any) -> Any:
    """The function of each leaf, and of those in the same place of the other trees."""
    leaves = zip(tree_leaves(tree), *map(tree_leaves, rest), strict=True)
    return tree_unflatten(tree, [f(*found) for found in leaves])


__getattr__ = face = Face("jax.tree_util")
__dir__ = face.names

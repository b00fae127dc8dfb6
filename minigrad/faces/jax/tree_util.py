"""JAX's trees: lists, tuples and dicts of arrays, also nested."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterable
from typing import Any

from minigrad.faces.face import Compat

__all__ = ["tree_flatten", "tree_leaves", "tree_map", "tree_unflatten"]


class PyTreeDef:
    """The structure of a tree, with a star for each leaf."""

    def __init__(self, tree: Any) -> None:
        self.stars = _fill(tree, itertools.repeat(LeafStar()))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PyTreeDef) and repr(self) == repr(other)

    def __hash__(self) -> int:
        return hash(repr(self))

    def __repr__(self) -> str:
        return f"PyTreeDef({self.stars})"


class LeafStar:
    """The placeholder for a leaf."""

    def __repr__(self) -> str:
        return "*"


def tree_flatten(tree: Any) -> tuple[list[Any], PyTreeDef]:
    """Return a tree's leaves (a dict's in the order of its keys) and its structure."""
    return tree_leaves(tree), PyTreeDef(tree)


def tree_leaves(tree: Any) -> list[Any]:
    """Return a tree's leaves; None has none."""
    if tree is None:
        return []
    if isinstance(tree, dict):
        return [leaf for key in sorted(tree) for leaf in tree_leaves(tree[key])]
    if isinstance(tree, (list, tuple)):
        return [leaf for branch in tree for leaf in tree_leaves(branch)]
    return [tree]


def tree_unflatten(treedef: Any, leaves: Iterable[Any]) -> Any:
    """Build a tree of the same structure from other leaves."""
    return _fill(getattr(treedef, "stars", treedef), iter(leaves))


def _fill(tree: Any, leaves: Any) -> Any:
    if tree is None:
        return None
    if isinstance(tree, dict):
        return {key: _fill(tree[key], leaves) for key in sorted(tree)}
    if isinstance(tree, (list, tuple)):
        filled = [_fill(branch, leaves) for branch in tree]
        return type(tree)(*filled) if hasattr(tree, "_fields") else type(tree)(filled)
    return next(leaves)


def tree_map(f: Callable[..., Any], tree: Any, *rest: Any) -> Any:
    """Apply a function to each leaf and the matching leaves of the other trees."""
    leaves = zip(tree_leaves(tree), *map(tree_leaves, rest), strict=True)
    return tree_unflatten(tree, [f(*found) for found in leaves])


__getattr__ = face = Compat(
    "jax.tree_util",
    calls={
        "tree_all(tree)": "all(tree_leaves(tree))",
        "tree_reduce(function, tree, *initial)": (
            "functools.reduce(function, tree_leaves(tree), *initial)"
        ),
        "tree_structure(tree)": "PyTreeDef(tree)",
    },
    functools=functools,
    tree_leaves=tree_leaves,
    PyTreeDef=PyTreeDef,
)
__dir__ = face.names

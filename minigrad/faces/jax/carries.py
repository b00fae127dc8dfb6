"""Type checks of JAX's loops and branches: all steps and all branches keep the same types.

A function is built once from types alone, as JAX does, before anything runs. A Python number has a
weak type: combined with an array, and as the start of a loop, it takes the other's data type.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

import minigrad as mg
from minigrad.faces.face import make_error
from minigrad.faces.jax.array import AT_ONCE, WEAK, as_array, has_weak_type
from minigrad.faces.jax.tree_util import tree_flatten as flatten
from minigrad.faces.jax.tree_util import tree_unflatten as rebuild

__all__ = ["Type", "branch_types", "cast_carry", "expect_bool", "result_types"]


class TypesDiffer(mg.ControlFlowError, TypeError):
    """A carry or a branch of another type, which JAX calls a TypeError."""


class _Known(Exception):
    """A signal that a function's types are known and its graph isn't needed."""


@dataclass(frozen=True)
class Type:
    """The shape and the data type of an array; `weak`: of a Python number, or made of such only."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    weak: bool = False

    @classmethod
    def of(cls, x: Any) -> Type:
        """Return the type of an array, a number or a tracer."""
        array = as_array(x)
        shape, dtype = tuple(array.shape or ()), np.dtype(array.dtype)
        return cls(shape, dtype, has_weak_type(x, WEAK.get()))

    def __str__(self) -> str:
        return f"{self.dtype}{list(self.shape)}"

    def fits(self, other: Type) -> bool:
        """Return whether both types are the same except for weakness."""
        return (self.shape, self.dtype) == (other.shape, other.dtype)

    def beside(self, other: Type) -> Type:
        """Return the type that this one takes next to another: a weak one adopts it if it fits."""
        order = "biuf".index
        takes = self.weak and order(other.dtype.kind) >= order(self.dtype.kind)
        return replace(self, dtype=other.dtype, weak=other.weak) if takes else self


def result_types(function: Callable[..., Any], arguments: Any) -> Any:
    """Return the pytree of types that a function returns for arguments of these types."""
    leaves, skeleton = flatten(arguments)
    found: list[Any] = []

    def probe(*nodes: Any) -> Any:
        weak = {x for x, kind in zip(nodes, leaves, strict=True) if kind.weak}
        token = WEAK.set(WEAK.get() | weak)
        try:
            results, arrangement = flatten(function(*rebuild(skeleton, map(as_array, nodes))))
            found.append(rebuild(arrangement, [*map(Type.of, results)]))
        finally:
            WEAK.reset(token)
        raise _Known

    specs = [mg.TensorSpec(kind.shape, kind.dtype) for kind in leaves]
    with contextlib.suppress(_Known):
        mg.make_graph(probe)(*specs)
    return found[0]


def cast_carry(op: str, function: Callable[..., Any], init: Any, *more: Any) -> Any:
    """Return the initial state of a loop, in the data types that it keeps.

    function: of the state and of what has the types `more`; it returns the next state. TypesDiffer
    where that has another arrangement, shape or data type.
    """
    if AT_ONCE.get():
        return init
    leaves, skeleton = flatten(init)
    before = [Type.of(x) for x in leaves]
    after = result_types(function, (rebuild(skeleton, before), *more))
    _expect_same_tree(op, rebuild(skeleton, before), after)
    taken = [a.beside(b) for a, b in zip(before, flatten(after)[0], strict=True)]
    if taken != before:
        after = result_types(function, (rebuild(skeleton, taken), *more))
    pairs = zip(_leaves_with_path(rebuild(skeleton, taken)), flatten(after)[0], strict=True)
    for (path, old), new in pairs:
        if not old.fits(new):
            fields: dict[str, Any] = {"before": str(old), "after": str(new)}
            raise make_error(TypesDiffer, "face_carry_type", op=op, path=path, **fields)
    rows = zip(leaves, before, taken, strict=True)
    return rebuild(
        skeleton, [x if a.fits(b) else mg.cast(as_array(x), b.dtype) for x, a, b in rows]
    )


def cast_step(function: Callable[..., Any], init: Any) -> Callable[..., Any]:
    """Wrap a step so that its results are arrays of the state's data types."""
    kinds = [Type.of(x).dtype for x in flatten(init)[0]]

    def step(*args: Any) -> Any:
        leaves, skeleton = flatten(function(*args))
        pairs = zip(map(as_array, leaves), kinds, strict=True)
        return rebuild(skeleton, [x if x.dtype == d else mg.cast(x, d) for x, d in pairs])

    return step if not AT_ONCE.get() else function


def expect_bool(function: Callable[..., Any], state: Any) -> None:
    """Raise TypesDiffer unless a loop's condition returns a single bool."""
    if AT_ONCE.get():
        return
    leaves, skeleton = flatten(state)
    found = result_types(function, (rebuild(skeleton, [Type.of(x) for x in leaves]),))
    if not isinstance(found, Type) or (found.shape, found.dtype) != ((), np.dtype(bool)):
        shown = ", ".join(map(str, flatten(found)[0]))
        raise make_error(TypesDiffer, "face_loop_condition", op="while_loop", found=shown)


def branch_types(op: str, functions: Sequence[Callable[..., Any]], operands: Sequence[Any]) -> Any:
    """Return the pytree of types that all branches return; raise TypesDiffer if they differ."""
    leaves, skeleton = flatten(tuple(operands))
    given = rebuild(skeleton, [Type.of(x) for x in leaves])
    first, *others = (result_types(f, given) for f in functions)
    for number, other in enumerate(others, 1):
        _expect_same_tree(op, first, other, number)
        for (path, old), new in zip(_leaves_with_path(first), flatten(other)[0], strict=True):
            if not old.fits(new):
                fields: dict[str, Any] = {"first": str(old), "other": str(new), "number": number}
                raise make_error(TypesDiffer, "face_branch_type", op=op, path=path, **fields)
    return first


def expect_scalar(op: str, name: str, x: Any, kinds: str) -> None:
    """Raise TypesDiffer unless x is a single number of these kinds, in NumPy's letters."""
    found = Type.of(x)
    if found.shape != () or found.dtype.kind not in kinds:
        key = "face_one_whole" if kinds == "iu" else "face_one_number"
        raise make_error(TypesDiffer, key, op=op, name=name, found=str(found))


def expect_bounds(lower: Any, upper: Any) -> None:
    """Raise TypesDiffer if the bounds of a loop have different kinds of data types."""
    one, other = Type.of(lower), Type.of(upper)
    if one.dtype.kind != other.dtype.kind:
        fields: dict[str, Any] = {"lower": str(one), "upper": str(other)}
        raise make_error(TypesDiffer, "face_bounds", op="fori_loop", **fields)


def _expect_same_tree(op: str, before: Any, after: Any, number: int | None = None) -> None:
    if flatten(before)[1] == flatten(after)[1] and not [*_tree_differences(before, after)]:
        return
    path, one, other = next(
        _tree_differences(before, after), ("", _describe_tree(before), _describe_tree(after))
    )
    fields: dict[str, Any] = {"op": op, "path": path}
    if number is None:
        raise make_error(TypesDiffer, "face_carry_tree", before=one, after=other, **fields)
    raise make_error(
        TypesDiffer, "face_branch_tree", first=one, other=other, number=number, **fields
    )


def _tree_differences(one: Any, other: Any, path: str = "") -> Iterator[tuple[str, str, str]]:
    """Yield the paths where two pytrees differ, with a description of each side."""
    if _describe_tree(one) != _describe_tree(other):
        yield path, _describe_tree(one), _describe_tree(other)
    elif isinstance(one, dict):
        for key in sorted(one):
            yield from _tree_differences(one[key], other[key], f"{path}[{key!r}]")
    elif isinstance(one, (list, tuple)):
        for i, pair in enumerate(zip(one, other, strict=True)):
            yield from _tree_differences(*pair, f"{path}[{i}]")


def _describe_tree(tree: Any) -> str:
    """Describe the top level of a pytree, such as dict('a', 'b'), tuple[2] or array."""
    if tree is None:
        return "None"
    if isinstance(tree, dict):
        return f"dict({', '.join(map(repr, sorted(tree, key=repr)))})"
    if isinstance(tree, (list, tuple)):
        return f"{type(tree).__name__}[{len(tree)}]"
    return "array"


def _leaves_with_path(tree: Any, path: str = "") -> Iterator[tuple[str, Type]]:
    """Yield the leaves of a pytree in order, each with its path."""
    if isinstance(tree, Type):
        yield path, tree
    elif isinstance(tree, dict):
        for key, part in sorted(tree.items()):
            yield from _leaves_with_path(part, f"{path}[{key!r}]")
    elif isinstance(tree, (list, tuple)):
        for i, part in enumerate(tree):
            yield from _leaves_with_path(part, f"{path}[{i}]")

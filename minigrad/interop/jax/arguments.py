"""The inputs of a JAX function: which of them are traced, and what they are called."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np


class Arguments:
    """The inputs of a function as flat arrays, and the function as one of these.

    Arrays and Python floats are traced. Other values (integers, strings, functions) are passed on
    unchanged, as in `jax.grad`; integers are traced if there is nothing else.
    numbers: whether Python floats are traced.
    """

    def __init__(
        self, jax: Any, function: Any, inputs: Sequence[Any], numbers: bool = True
    ) -> None:
        self.jax, self.function, self.inputs = jax, function, inputs
        self.flat, self.structure = jax.tree_util.tree_flatten(tuple(inputs))
        kinds = (float, complex) if numbers else ()
        places = [i for i, x in enumerate(self.flat) if self._is_array(x, *kinds)]
        self.places = places or [
            i for i, x in enumerate(self.flat) if numbers and isinstance(x, (bool, int))
        ]

    @property
    def called(self) -> str:
        """The function's name."""
        return getattr(self.function, "__name__", type(self.function).__name__)

    def _is_array(self, x: Any, *more: type) -> bool:
        if isinstance(x, (np.ndarray, np.generic)):
            return x.dtype.kind in "fiubc"
        return isinstance(x, (self.jax.Array, *more))

    @property
    def given(self) -> list[Any]:
        """The values that are traced."""
        return [self.flat[i] for i in self.places]

    def results(self, *leaves: Any) -> list[Any]:
        """Call the function with these traced values; return its arrays and numbers."""
        moved = dict(zip(self.places, leaves, strict=True))
        values = [moved.get(i, x) for i, x in enumerate(self.flat)]
        returned = self.function(*self.structure.unflatten(values))
        leaves_ = self.jax.tree_util.tree_leaves(returned)
        return [y for y in leaves_ if self._is_array(y, bool, int, float, complex)]

    def named(self) -> Iterator[tuple[str, Sequence[Any], Any]]:
        """Yield each traced input with its name and path: argument, keys and indices."""
        try:
            names = list(inspect.signature(self.function).parameters)
        except (TypeError, ValueError):
            names = []
        paths = self.jax.tree_util.tree_flatten_with_path(tuple(self.inputs))[0]
        for i in self.places:
            path, x = paths[i]
            keys = [next(getattr(k, w) for w in WHERE if hasattr(k, w)) for k in path]
            first = names[keys[0]] if keys[0] < len(names) else f"x{keys[0] + 1}"
            yield ".".join(map(str, (first, *keys[1:]))), keys, x

    def kind(self, x: Any) -> str:
        """Return NumPy's dtype kind of a value; an empty string for a random key."""
        return getattr(self.jax.numpy.result_type(x), "kind", "")


WHERE = ("key", "idx", "name")  # how a step of a path through a container says where it leads

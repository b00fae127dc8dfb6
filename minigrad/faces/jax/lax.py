"""JAX's control flow: `jax.lax.cond`, `scan`, `while_loop`, `fori_loop`."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import minigrad as mg
from minigrad.faces.face import Face
from minigrad.faces.jax.array import as_array
from minigrad.faces.jax.tree_util import tree_map

__all__ = ["scan", "switch"]


def moved(x: Any, source: int, target: int) -> Any:
    """An array with an axis in another place."""
    order = [i for i in range(x.ndim) if i != source % x.ndim]
    order.insert(target % x.ndim, source % x.ndim)
    return x if order == [*range(x.ndim)] else mg.transpose(x, tuple(order))


def of_arrays(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of a branch or a loop, where nodes stand for arrays."""

    @functools.wraps(function)
    def call(*args: Any) -> Any:
        return function(*tree_map(as_array, args))

    return call


def scan(
    f: Callable[..., Any],
    init: Any,
    xs: Any = None,
    length: int | None = None,
    reverse: bool = False,
) -> Any:
    """Carry a state along the first axis, f(carry, x) -> (carry, y), or so many times."""
    along = xs if length is None or xs is not None else np.zeros(length, np.float32)
    step = of_arrays(f if xs is not None else lambda carry, x: f(carry, None))
    return tree_map(
        as_array, mg.scan(step, tree_map(as_array, init), tree_map(as_array, along), reverse)
    )


def switch(index: Any, branches: Sequence[Callable[..., Any]], *operands: Any) -> Any:
    """The result of the branch of this number; the first or last for a number outside."""
    chosen, *others = map(of_arrays, branches)
    if not others:
        return chosen(*operands)
    rest = lambda *xs: switch(index - 1, others, *xs)  # noqa: E731
    return tree_map(as_array, mg.cond(index <= 0, chosen, rest, *operands))


__getattr__ = face = Face(
    "jax.lax",
    "stop_gradient",
    calls={
        "cond(pred, true_fun, false_fun, *operands)": (
            "arrays(mg.cond(pred, body(true_fun), body(false_fun), *arrays(operands)))"
        ),
        "fori_loop(lower, upper, body_fun, init_val)": (
            "arrays(mg.while_loop(lambda i, x: i < upper, lambda i, x: (i + 1,"
            " body(body_fun)(i, x)), (mg.tensor(lower, dtype=mg.int32), arrays(init_val)))[1])"
        ),
        "map(f, xs)": "scan(lambda carry, x: (carry, f(x)), 0.0, xs)[1]",
        "while_loop(cond_fun, body_fun, init_val)": (
            "arrays(mg.while_loop(body(cond_fun), body(body_fun), arrays(init_val)))"
        ),
    },
    lacks={
        "jnp.add(x, y)": "add mul sub",
        "1 / jnp.sqrt(x)": "rsqrt",
        "mg.conv2d(x, w)": "conv conv_general_dilated",
        "x[i + jnp.arange(3)]": "dynamic_index_in_dim dynamic_slice",
        "x.at[i + jnp.arange(3)].set(y)": "dynamic_update_slice",
    },
    arrays=functools.partial(tree_map, as_array),
    body=of_arrays,
    scan=scan,
)
__dir__ = face.names

"""JAX's control flow: `jax.lax.cond`, `scan`, `while_loop`, `fori_loop`."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import minigrad as mg
from minigrad.faces.face import Compat, make_error
from minigrad.faces.jax import carries
from minigrad.faces.jax.array import AT_ONCE, as_array
from minigrad.faces.jax.tree_util import tree_flatten, tree_leaves, tree_map, tree_unflatten

__all__ = ["cond", "fori_loop", "scan", "switch", "while_loop"]


class LengthsDiffer(mg.ShapeError, ValueError):
    """Lengths that contradict each other."""


def move_axis(x: Any, source: int, target: int) -> Any:
    """Move an axis of an array to another position."""
    order = [i for i in range(x.ndim) if i != source % x.ndim]
    order.insert(target % x.ndim, source % x.ndim)
    return x if order == [*range(x.ndim)] else mg.transpose(x, tuple(order))


def takes_arrays(function: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap the function of a branch or loop so that it gets arrays or tracers."""

    @functools.wraps(function)
    def call(*args: Any) -> Any:
        return function(*tree_map(as_array, args))

    return call


def expect_pair(result: Any) -> Any:
    """Return the pair (carry, output) of a scan's step, or raise TypesDiffer if it isn't one."""
    if not isinstance(result, (tuple, list)) or len(result) != 2:
        raise make_error(carries.TypesDiffer, "scan_pair", op="scan", value=repr(result)[:60])
    return result


def scan(
    f: Callable[..., Any],
    init: Any,
    xs: Any = None,
    length: int | None = None,
    reverse: bool = False,
) -> Any:
    """Carry a state along the first axis with f(carry, x) -> (carry, y), or `length` times."""
    along = xs if length is None or xs is not None else np.zeros(length, np.float32)
    along = tree_map(as_array, along)
    for x in tree_leaves(along) if length is not None else ():
        if x.shape[:1] != (length,):
            lengths = [length, *x.shape[:1]]
            raise make_error(LengthsDiffer, "scan_lengths", op="scan", lengths=lengths)
    step = takes_arrays(f if xs is not None else lambda carry, x: f(carry, None))
    rows = tree_map(lambda x: carries.Type(tuple(x.shape[1:]), x.dtype), along)
    init = carries.cast_carry("scan", lambda c, x: expect_pair(step(c, x))[0], init, rows)

    def keeping(carry: Any, x: Any) -> Any:
        new, y = expect_pair(step(carry, x))
        return carries.cast_step(lambda: new, init)(), y

    return tree_map(as_array, mg.scan(keeping, tree_map(as_array, init), along, reverse))


def while_loop(cond_fun: Callable[..., Any], body_fun: Callable[..., Any], init_val: Any) -> Any:
    """Repeat body_fun(state) while cond_fun(state) is true; return the final state."""
    return loop("while_loop", cond_fun, body_fun, init_val)


def loop(op: str, test: Callable[..., Any], step: Callable[..., Any], init: Any) -> Any:
    """Run a while loop over a state that keeps its types."""
    test, step = takes_arrays(test), takes_arrays(step)
    init = carries.cast_carry(op, step, init)
    carries.expect_bool(test, init)
    state = tree_map(as_array, (init,))
    keeping = carries.cast_step(lambda x: step(x), init)
    return tree_map(as_array, mg.while_loop(lambda s: test(s), lambda s: (keeping(s),), state))[0]


def fori_loop(lower: Any, upper: Any, body_fun: Callable[..., Any], init_val: Any) -> Any:
    """Repeat body_fun(i, state) for each i in [lower, upper); return the final state."""
    carries.expect_bounds(lower, upper)
    number = carries.Type((), np.dtype(np.int32))
    body = takes_arrays(body_fun)
    init = carries.cast_carry("fori_loop", lambda x, i: body(i, x), init_val, number)
    keeping = carries.cast_step(body, init)
    start = (mg.tensor(lower, dtype=mg.int32), init)
    state = tree_map(as_array, start)
    end = mg.while_loop(lambda i, x: i < upper, lambda i, x: (i + 1, keeping(i, x)), state)
    return tree_map(as_array, end)[1]


def cond(
    pred: Any, true_fun: Callable[..., Any], false_fun: Callable[..., Any], *operands: Any
) -> Any:
    """Return true_fun(*operands) if `pred` is true, else false_fun(*operands)."""
    carries.expect_scalar("cond", "pred", pred, "biuf")
    branches = [takes_arrays(true_fun), takes_arrays(false_fun)]
    return run_branches("cond", branches, operands, lambda fs, *xs: mg.cond(pred, *fs, *xs))


def run_branches(op: str, branches: Sequence[Any], operands: Sequence[Any], choose: Any) -> Any:
    """Return the chosen branch's result, in the pytree structure that all branches share."""
    given = tree_map(as_array, operands)
    if AT_ONCE.get():
        return choose(branches, *given)
    kinds, arrangement = tree_flatten(carries.branch_types(op, branches, operands))
    flat = [functools.partial(_typed, f, [kind.dtype for kind in kinds]) for f in branches]
    return tree_unflatten(arrangement, [*map(as_array, choose(flat, *given))])


def _typed(function: Callable[..., Any], dtypes: Sequence[Any], *args: Any) -> tuple[Any, ...]:
    """Return the leaves of the function's result, cast to these data types."""
    found = zip(map(as_array, tree_flatten(function(*args))[0]), dtypes, strict=True)
    return tuple(x if x.dtype == dtype else mg.cast(x, dtype) for x, dtype in found)


def switch(index: Any, branches: Sequence[Callable[..., Any]], *operands: Any) -> Any:
    """Return the result of the branch at `index`, which is clamped to the first or last."""
    carries.expect_scalar("switch", "index", index, "iu")
    functions = [*map(takes_arrays, branches)]
    return run_branches(
        "switch", functions, operands, lambda fs, *xs: select_branch(index, fs, *xs)
    )


def select_branch(index: Any, branches: Sequence[Callable[..., Any]], *operands: Any) -> Any:
    """Return the result of the branch at `index`; all branches return the same types."""
    first, *others = branches
    if not others:
        return first(*operands)
    rest = lambda *xs: select_branch(index - 1, others, *xs)  # noqa: E731
    return mg.cond(index <= 0, first, rest, *operands)


__getattr__ = face = Compat(
    "jax.lax",
    "stop_gradient",
    calls={"map(f, xs)": "scan(lambda carry, x: (carry, f(x)), 0.0, xs)[1]"},
    lacks={
        "jnp.add(x, y)": "add mul sub",
        "1 / jnp.sqrt(x)": "rsqrt",
        "mg.conv2d(x, w)": "conv conv_general_dilated",
        "x[i + jnp.arange(3)]": "dynamic_index_in_dim dynamic_slice",
        "x.at[i + jnp.arange(3)].set(y)": "dynamic_update_slice",
    },
    scan=scan,
)
__dir__ = face.names

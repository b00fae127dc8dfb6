"""Control flow in the graph against jax.lax: the same functions, values and gradients.

`cond`, `while_loop` and `scan` have the same names and the same arguments in both. JAX has no
backward mode through while_loop, so its derivatives are taken in forward mode.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import minigrad as mg

pytestmark = pytest.mark.oracle
jax.config.update("jax_enable_x64", True)

Program = Callable[..., Any]
PROGRAMS: dict[str, tuple[Program, list[Any]]] = {}
VECTOR, MATRIX = np.array([0.5, -1.5, 2.0]), np.array([[0.2, -0.4], [0.7, 0.1]])
SEQUENCE = np.array([[0.5, 1.0], [-1.0, 0.3], [0.8, -0.2], [0.1, 0.9]])


def program(*operands: Any) -> Callable[[Program], Program]:
    """Enter a function of (control flow, functions, *operands) that returns one number."""

    def enter(function: Program) -> Program:
        PROGRAMS[function.__name__] = function, [np.asarray(x, np.float64) for x in operands]
        return function

    return enter


@program(VECTOR)
def a_branch_taken(flow: Any, np: Any, x: Any) -> Any:
    return flow.cond(x.sum() > 0, lambda v: (v * v).sum(), lambda v: v.sum(), x)


@program(VECTOR)
def a_branch_not_taken(flow: Any, np: Any, x: Any) -> Any:
    return flow.cond(x.sum() > 9, lambda v: (v * v).sum(), lambda v: (v * v * v).sum(), x)


@program(2.0, 3.0)
def branches_that_look_around(flow: Any, np: Any, x: Any, z: Any) -> Any:
    return flow.cond(x > z, lambda: x * z, lambda: x * x * z)


@program(1.5)
def a_branch_in_a_branch(flow: Any, np: Any, x: Any) -> Any:
    def inner(v: Any) -> Any:
        return flow.cond(v > 1, lambda u: u * u * u, lambda u: -u, v)

    return flow.cond(x > 0, inner, lambda v: v * 5, x)


@program(-1.0)
def infinity_in_the_other_branch(flow: Any, np: Any, x: Any) -> Any:
    return flow.cond(x > 0, lambda v: np.sqrt(v) + np.log(v), lambda v: v * v, x)


@program(2.0, 3.0)
def several_results(flow: Any, np: Any, x: Any, z: Any) -> Any:
    a, b = flow.cond(x < z, lambda u, v: (u * v, u), lambda u, v: (u, v * v), x, z)
    return a * b


@program(1.1, 0.9)
def a_loop_that_counts(flow: Any, np: Any, x: Any, y: Any) -> Any:
    def step(state: Any) -> Any:
        i, v = state
        return i + 1, v * x

    return flow.while_loop(lambda s: s[0] < 7, step, (0, y))[1]


@program(7.0)
def a_loop_until_it_is_exact(flow: Any, np: Any, x: Any) -> Any:
    """The square root by Newton's method."""
    return flow.while_loop(lambda y: np.abs(y * y - x) > 1e-12, lambda y: (y + x / y) / 2, x * 1.0)


@program(3.0)
def a_loop_without_a_step(flow: Any, np: Any, x: Any) -> Any:
    return flow.while_loop(lambda y: y < 0, lambda y: y * y, x * 2)


@program(1.2)
def a_loop_in_a_loop(flow: Any, np: Any, x: Any) -> Any:
    def outer(state: Any) -> Any:
        i, y = state
        inner = flow.while_loop(lambda s: s[0] < i, lambda s: (s[0] + 1, s[1] * x), (0, y))
        return i + 1, inner[1] + 1.0

    return flow.while_loop(lambda s: s[0] < 4, outer, (0, x))[1]


@program(0.3)
def a_branch_in_a_loop(flow: Any, np: Any, x: Any) -> Any:
    def step(state: Any) -> Any:
        i, y = state
        return i + 1, flow.cond(y > 1, lambda v: v * 0.5, lambda v: v * v + x + 0.4, y)

    return flow.while_loop(lambda s: s[0] < 6, step, (0, x))[1]


@program(SEQUENCE, [1.0, -1.0])
def sums_along_the_way(flow: Any, np: Any, xs: Any, start: Any) -> Any:
    last, ys = flow.scan(lambda c, x: (c + x * c, c * c), start, xs)
    return (last * last).sum() + (ys * xs).sum()


@program(SEQUENCE, [1.0, -1.0])
def sums_from_the_end(flow: Any, np: Any, xs: Any, start: Any) -> Any:
    last, ys = flow.scan(lambda c, x: (c + x * c, c * x), start, xs, reverse=True)
    return last.sum() + (ys * ys * xs).sum()


@program(SEQUENCE, MATRIX, [0.1, 0.2])
def a_recurrent_network(flow: Any, np: Any, xs: Any, w: Any, h: Any) -> Any:
    def step(state: Any, x: Any) -> Any:
        new = np.tanh(np.matmul(w, state) + x)
        return new, new

    last, states = flow.scan(step, h, xs)
    return (last * last).sum() + states.sum()


@program(SEQUENCE, 2.0)
def structures_as_state(flow: Any, np: Any, xs: Any, x: Any) -> Any:
    def step(state: Any, row: Any) -> Any:
        new = {"a": state["a"] + row[0], "b": state["b"] * row[1] + x}
        return new, (new["a"] * new["b"], new["b"])

    last, (products, bs) = flow.scan(step, {"a": x, "b": x * 0 + 1.0}, xs)
    return last["a"] * last["b"] + (products * bs).sum()


@program(SEQUENCE, 1.5)
def several_sequences(flow: Any, np: Any, xs: Any, x: Any) -> Any:
    last, _ = flow.scan(lambda c, row: (c * row[0] + row[1], None), x, (xs[:, 0], xs[:, 1]))
    return last


@program(SEQUENCE, 0.5)
def a_branch_at_each_step(flow: Any, np: Any, xs: Any, x: Any) -> Any:
    def step(c: Any, row: Any) -> Any:
        new = flow.cond(row[0] > 0, lambda v: v * row[0], lambda v: v + row[1], c)
        return new, new * new

    last, ys = flow.scan(step, x, xs)
    return last + ys.sum()


@program(SEQUENCE, 0.5)
def a_loop_at_each_step(flow: Any, np: Any, xs: Any, x: Any) -> Any:
    def step(c: Any, row: Any) -> Any:
        new = flow.while_loop(lambda v: v < 1, lambda v: v + 0.3 + row[0] * row[0], c)
        return new * 0.5, new * row[1]

    last, ys = flow.scan(step, x, xs)
    return last + ys.sum()


@program(SEQUENCE, [0.3, 0.4])
def a_scan_in_a_scan(flow: Any, np: Any, xs: Any, c: Any) -> Any:
    def outer(state: Any, row: Any) -> Any:
        last, ys = flow.scan(lambda s, x: (s * x + row, s * s), state, xs)
        return np.tanh(last), ys.sum()

    last, totals = flow.scan(outer, c, xs)
    return last.sum() + (totals * totals).sum()


@program(np.zeros((0, 2)), [1.0, 2.0])
def a_scan_over_nothing(flow: Any, np: Any, xs: Any, c: Any) -> Any:
    last, ys = flow.scan(lambda s, x: (s + x, s * x), c, xs)
    return (last * last).sum() + ys.sum()


@program(2.0)
def a_scan_in_a_branch(flow: Any, np: Any, x: Any) -> Any:
    def grow(v: Any) -> Any:
        last, _ = flow.scan(lambda c, row: (c * v, None), v, SEQUENCE[:, 0])
        return last

    return flow.cond(x > 1, grow, lambda v: v, x)


# ---- Both ways of ours, and theirs ----------------------------------------------------------


def by_jax(f: Program, operands: list[Any]) -> list[Any]:
    """The value, its gradients, and the gradients of the sum of those."""
    numbers = tuple(range(len(operands)))

    def total(*xs: Any) -> Any:
        return sum(g.sum() for g in jax.jacfwd(call, numbers)(*xs))

    def call(*xs: Any) -> Any:
        return f(lax, jnp, *xs)

    xs = [jnp.asarray(x) for x in operands]
    return [call(*xs), *jax.jacfwd(call, numbers)(*xs), *jax.jacfwd(total, numbers)(*xs)]


def by_tape(f: Program, operands: list[Any]) -> list[Any]:
    xs = [mg.tensor(x, requires_grad=True) for x in operands]
    y = f(mg, mg, *xs)
    first = mg.grad(y, xs, create_graph=True, allow_unused=True)
    total = sum(g.sum() for g in first if g is not None)
    second = [None] * len(xs)
    if isinstance(total, mg.Tensor) and total.requires_grad:
        second = mg.grad(total, xs, allow_unused=True)
    found = [y, *first, *second]
    return [0.0 if g is None else g.data for g in found]


def by_graph(f: Program, operands: list[Any]) -> list[Any]:
    with mg.Graph():
        xs = [mg.placeholder(f"x{i}", a.shape, a.dtype) for i, a in enumerate(operands)]
        y = f(mg, mg, *xs)
        first = mg.gradients(y, xs)
        parts = [g.sum() for g in first if g is not None]
        second = mg.gradients(sum(parts[1:], parts[0]), xs) if parts else [None] * len(xs)
        found = [y, *first, *second]
        graph = mg.build_graph(xs, [x for x in found if x is not None])
        values = iter(mg.run(graph, dict(zip(xs, operands, strict=True))))
        return [0.0 if x is None else next(values) for x in found]


@functools.cache
def said_by_jax(name: str) -> list[Any]:
    return by_jax(*PROGRAMS[name])


@pytest.mark.parametrize("run", [by_tape, by_graph])
@pytest.mark.parametrize("name", PROGRAMS)
def test_control_flow_is_that_of_jax(name: str, run: Any) -> None:
    f, operands = PROGRAMS[name]
    found, expected = run(f, operands), said_by_jax(name)
    for i, (a, b) in enumerate(zip(found, expected, strict=True)):
        np.testing.assert_allclose(a, b, 1e-10, 1e-10, err_msg=f"{name}: number {i}")

"""Programs as text: running it gives what the program gives, bit for bit."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from random_graphs import Recipe, recipes
from test_compiled import same

import minigrad as mg

EXECUTORS = ("numpy", "reference")


@pytest.fixture(autouse=True)
def own_graph() -> Iterator[None]:
    with mg.Graph():
        yield


def as_written(program: Any, feeds: dict[str, Any], times: int = 2) -> None:
    """The text gives what the program gives, run after run, and changes the same variables."""
    program(feeds)  # now the shapes are known
    run = program.load_source()
    names = program.graph.labels  # two layers may give one name to their weights
    variables = {names[v]: np.array(value)[()] for v, value in program.variables.items()}
    for _ in range(times):
        expected = program(feeds)
        expected = [expected] if program.graph.single else expected
        found = run({k: np.asarray(v) for k, v in feeds.items()}, variables)
        kept = [None if v is None else np.array(v) for v in found]
        for a, b in zip(found, expected, strict=True):
            assert (a is None) == (b is None)
            if a is not None:
                same([a], [b])
        run({k: np.asarray(v) * 0 for k, v in feeds.items()}, dict(variables))
        same([v for v in found if v is not None], [v for v in kept if v is not None])
        for v, value in program.variables.items():
            same([variables[names[v]]], [value])


@given(recipes(), st.booleans(), st.sampled_from(EXECUTORS))
def test_random_graphs_run_as_written(recipe: Recipe, optimize: bool, executor: str) -> None:
    program = recipe.graph(gradients=True).compile(optimize=optimize, executor=executor)
    feeds = {k: np.asarray(v) for k, v in recipe.feeds().items()}
    as_written(program, feeds)


@pytest.mark.parametrize("executor", EXECUTORS)
def test_training_runs_as_written(executor: str) -> None:
    x, t = mg.placeholder("x", (None, 8)), mg.placeholder("t", (None,), mg.int64)
    model = mg.nn.Sequential(mg.nn.Linear(8, 16, seed=0), mg.nn.ReLU(), mg.nn.Linear(16, 3, seed=1))
    loss = mg.cross_entropy(model(x), t)
    step = mg.optim.Adam(model.parameters(), lr=0.01).minimize(loss)
    program = mg.build_graph([x, t], [loss, step]).compile(executor=executor)
    random = np.random.default_rng(0)
    feeds = {"x": random.standard_normal((5, 8), np.float32), "t": random.integers(0, 3, 5)}
    as_written(program, feeds, times=5)


@pytest.mark.parametrize("executor", EXECUTORS)
def test_regions_run_in_their_tiles_as_written(executor: str) -> None:
    x, a = mg.placeholder("x", (300, 200)), mg.placeholder("a", (200,))
    y = mg.sigmoid(a * x + 1) * mg.tanh(x) + x
    z = mg.relu(mg.exp(-mg.abs(y)) * 3 - 1)
    flat = mg.placeholder("flat", (50_001,))
    w = mg.relu(flat * 2 + 1) * mg.exp(flat)
    graph = mg.build_graph([x, a, flat], [y, z, w, *mg.gradients([z, w], [x, a, flat])])
    program = graph.compile(executor=executor)
    random = np.random.default_rng(0)
    feeds = {n.name: random.standard_normal(n.shape, np.float32) for n in (x, a, flat)}
    as_written(program, feeds)
    assert program.source.count("for start in range(0, ") == (executor == "numpy") * 2


@pytest.mark.parametrize("executor", EXECUTORS)
@pytest.mark.parametrize("first", [1.0, -1.0])
def test_branches_and_loops_are_written_as_such(executor: str, first: float) -> None:
    x = mg.placeholder("x", (None,))
    h = mg.tanh(x) * 2
    y = mg.cond(h.sum() > 0, lambda: h * 2, lambda: mg.cond(h.sum() > -1, lambda: h, lambda: x))
    n = mg.while_loop(lambda v: v.sum() < 9, lambda v: v * 2, mg.abs(y) + 1, max_steps=5)
    last, sums = mg.scan(lambda s, v: (s + v, s * v), 0.0, n)
    total = last + sums.sum() + n.sum()
    graph = mg.build_graph(x, [y, n, sums, *mg.gradients(total, [x])])
    program = graph.compile(executor=executor)
    as_written(program, {"x": np.array([first, 0.5, first], np.float32)})
    tree = ast.parse(program.source)
    kinds = {type(node) for node in ast.walk(tree)}
    assert {ast.If, ast.While, ast.For} <= kinds
    functions = [n.name for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)]
    assert {"then", "orelse", "test", "body"} <= set(functions)


@pytest.mark.parametrize("executor", EXECUTORS)
def test_variables_in_every_way(executor: str) -> None:
    x, w = mg.placeholder("x", (3,)), mg.Variable(np.ones(3, np.float32), name="w")
    first = mg.assign(w, x * 2)
    with mg.control_dependencies([first]):
        now = mg.read_value(w)
        second = mg.assign(w, now * w)
    program = mg.build_graph(x, [now, w, second, mg.global_variables_initializer()]).compile(
        executor=executor
    )
    as_written(program, {"x": np.array([1, 2, 3], np.float32)})


def test_each_line_names_its_node_and_the_line_of_the_user() -> None:
    x = mg.placeholder("x", (40, 30))
    graph = mg.build_graph(x, mg.softmax(mg.tanh(x)))  # this is the line
    for executor in EXECUTORS:
        text = graph.compile(executor=executor).source
        calls = [line for line in text.splitlines() if "# Tanh" in line or "# Softmax" in line]
        assert len(calls) >= 2
        where = graph.outputs[0].where.place
        assert all(line.endswith(f" · {where}") for line in calls), text


def test_names_cannot_break_out_of_the_text() -> None:
    evil = 'x"""\nraise SystemExit\n# \'; import os'
    x, n = mg.placeholder(evil, (3,)), mg.placeholder("np", (3,))
    w = mg.Variable(np.ones(3, np.float32), name="feeds\n    raise SystemExit")
    with mg.name_scope("class"):
        y = mg.exp(x * n) + w
    for executor in EXECUTORS:
        program = mg.build_graph([x, n], [y]).compile(executor=executor)
        as_written(program, {evil: np.ones(3, np.float32), "np": np.ones(3, np.float32)})
        assert "raise SystemExit" not in [line.strip() for line in program.source.splitlines()]


def test_large_constants_are_loaded_by_name_and_small_ones_written() -> None:
    x = mg.placeholder("x", (100,))
    special = np.array([np.inf, -np.inf, -0.0, 0.1], np.float32)
    graph = mg.build_graph(
        x, [x * np.arange(100, dtype=np.float32), x[:4] + special, x[0] * np.float32("nan")]
    )
    for executor in EXECUTORS:
        program = graph.compile(executor=executor)
        as_written(program, {"x": np.ones(100, np.float32)})
        assert program.source.count("constants[") == 1
        assert "-0.0" in program.source
        assert '-float("inf")' in program.source or 'float("-inf")' in program.source


def test_the_text_is_the_same_for_the_same_graph() -> None:
    def text(executor: str) -> str:
        with mg.Graph():
            x = mg.placeholder("x", (50, 60))
            program = mg.build_graph(x, mg.softmax(mg.relu(x) @ mg.exp(x.T))).compile(
                executor=executor
            )
            return str(program.source)

    for executor in EXECUTORS:
        assert text(executor) == text(executor)

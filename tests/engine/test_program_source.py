"""Programs as text: running it gives what the program gives, bit for bit."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from covering import examples
from hypothesis import given
from hypothesis import strategies as st
from random_graphs import Recipe, recipes
from test_compiled import same

import minigrad as mg
from minigrad.compiler.text.program import FILE
from minigrad.core import events

pytestmark = pytest.mark.usefixtures("own_graph")

EXECUTORS = ("numpy", "reference")


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


@examples(100)
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


def lines_run(work: Callable[[], Any]) -> list[int]:
    """The lines of programs that run, in their order, by where they stand."""
    found: list[int] = []

    def trace(frame: Any, event: str, about: Any) -> Any:
        if frame.f_code.co_filename != FILE:
            return None
        if event == "line":
            found.append(frame.f_lineno)
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        work()
    finally:
        sys.settrace(before)
    return found


def test_what_is_shown_is_what_runs() -> None:
    x, w = mg.placeholder("x", (4,)), mg.Variable(np.ones(4, np.float32), name="w")
    y = mg.while_loop(lambda v: v.sum() < 9, lambda v: mg.tanh(v) + 1 + w, x)
    program = mg.build_graph(x, [y, mg.assign(w, w * 0.5)]).compile()
    feeds = {"x": np.zeros(4, np.float32)}
    ran = lines_run(lambda: program(feeds))
    code = [line for line in program.source.splitlines() if line]
    start = code.index(next(line for line in code if line.startswith("def ")))
    written = {line.partition("  # ")[0] for line in code[start:]}
    shown = [line.text for line in program.bound.text.code]
    assert {shown[i - 1] for i in ran} == written
    with mg.record() as log:
        assert lines_run(lambda: program(feeds)) == [], "where somebody listens, call by call"
    assert log.counts.by_op["Assign"] == 1


def test_the_text_has_a_line_for_each_call_in_their_order() -> None:
    x, t = mg.placeholder("x", (5, 8)), mg.placeholder("t", (5,), mg.int64)
    model = mg.nn.Sequential(mg.nn.Linear(8, 16, seed=0), mg.nn.Tanh(), mg.nn.Linear(16, 3, seed=1))
    loss = mg.cross_entropy(model(x), t)
    step = mg.optim.SGD(model.parameters(), lr=0.01).minimize(loss)
    program = mg.build_graph([x, t], [loss, step]).compile()
    made: list[str] = []

    def noting(function: Any, arguments: Any, call: Any) -> tuple[Any, Any]:
        def noted(*given: Any) -> None:
            made.append(call.part.name)
            function(*given)

        return noted, arguments

    pairs = zip(program.bound._bound, program.bound.flat, strict=True)
    program.bound._bound[:] = [noting(*bound, call) for bound, call in pairs]
    body = program.source.partition("def program(")[2].splitlines()
    lines = [line.partition("  # ") for line in body if " = " not in line]
    written = [about.partition(" · ")[0] for _, mark, about in lines if mark]
    feeds = {"x": np.ones((5, 8), np.float32), "t": np.zeros(5, np.int64)}
    for _ in range(3):
        made.clear()
        assert lines_run(lambda: program(feeds)) == [], "the text is only shown"
        assert made == written
    assert len(written) > 20


def failures() -> dict[str, tuple[Any, Any, dict[str, Any], dict[str, Any]]]:
    """What fails when it runs: inputs, result, what can be fed, and what cannot."""
    x, i = mg.placeholder("x", (None,)), mg.placeholder("i", (), mg.int64)
    a, b = mg.placeholder("a", (None,)), mg.placeholder("b", (None,))
    s, t = mg.placeholder("s", (2, 4)), mg.placeholder("t", (2,), mg.int64)
    w = mg.Variable(np.zeros(12), name="w")
    longer = mg.while_loop(lambda v: v.sum() < 9, lambda v: mg.concatenate([v, v]), x)
    with mg.control_dependencies([mg.Assert(x.sum() < 5, "never")]):
        checked = mg.exp(x) * 2

    def ones(**lengths: int) -> dict[str, Any]:
        return {name: np.ones(n, np.float32) for name, n in lengths.items()}

    scores = {"s": np.ones((2, 4), np.float32)}
    looped = mg.while_loop(lambda k, v: k < 2, lambda k, v: (k + 1, v + x[i]), (0, x))[1]
    added = mg.while_loop(lambda k, v: k < 2, lambda k, v: (k + 1, v + b), (0, a))[1]
    last = mg.scan(lambda c, v: (c + v[0] * v[1], None), 0.0, (longer, b))[0]
    return {
        "label": (
            *([s, t], mg.cross_entropy(s, t)),
            *(scores | {"t": np.array([0, 1])}, scores | {"t": np.array([0, 9])}),
        ),
        "assertion": ([x], checked, ones(x=3), {"x": np.full(3, 9, np.float32)}),
        "index": ([x, i], x[i] * 2, ones(x=3) | {"i": 1}, ones(x=3) | {"i": 7}),
        "index in a body": ([x, i], looped, ones(x=3) | {"i": 1}, ones(x=3) | {"i": 7}),
        "sum in a body": ([a, b], added, ones(a=3, b=3), ones(a=3, b=2)),
        "open sum": ([x, b], mg.exp(longer) + b * 2, ones(x=3, b=12), ones(x=3, b=7)),
        "scan": ([x, b], last, ones(x=3, b=12), ones(x=3, b=7)),
        "assign": ([x], mg.assign(w, longer), ones(x=3), ones(x=2)),
    }


NAMES = ("label", "assertion", "index", "index in a body", "sum in a body", "open sum", "scan")


@pytest.mark.parametrize("optimize", [False, True])
@pytest.mark.parametrize("name", [*NAMES, "assign"])
def test_errors_of_the_text_are_those_of_the_reference(name: str, optimize: bool) -> None:
    """The operator, the shapes, and both lines."""
    inputs, result, good, bad = failures()[name]
    graph = mg.build_graph(inputs, result)

    def failed(executor: str, often: int) -> str:
        program = graph.compile(optimize=optimize, executor=executor)
        for _ in range(often):
            program(good)
        found: list[mg.GraphError] = []

        def fail() -> None:
            with pytest.raises(mg.GraphError) as error:
                program(bad)
            found.append(error.value)

        in_text = bool(lines_run(fail))
        assert found[0].ran.text == "program(bad)"
        loops = executor != "reference" and program.bound.repeats
        assert in_text == (loops and not events.listeners)
        return str(found[0])

    expected = failed("reference", 1)
    assert "defined at test_program_source.py" in expected
    assert failed("numpy", 1) == failed("numpy", 3) == expected
    with mg.record():
        assert failed("numpy", 1) == expected

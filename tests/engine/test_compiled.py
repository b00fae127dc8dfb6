"""The compiled executor: what the reference gives, in planned memory, run after run."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import numpy as np
import pytest
from covering import examples
from hypothesis import given
from hypothesis import strategies as st
from random_graphs import Recipe, recipes

import minigrad as mg
from minigrad.passes.regions import Region

pytestmark = pytest.mark.usefixtures("own_graph")


def same(found: Any, expected: Any, tolerance: float = 0) -> None:
    """The same values up to a relative tolerance; 0 means bit for bit."""
    for a, b in zip(found, expected, strict=True):
        a, b = np.asarray(a), np.asarray(b)
        assert (a.shape, a.dtype) == (b.shape, b.dtype)
        if tolerance and a.dtype.kind == "f":
            size = np.max(np.abs(b[np.isfinite(b)]), initial=1)
            np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance * size)
        else:
            np.testing.assert_array_equal(a, b)


in_c = pytest.mark.compiler
# A matrix product of planned arrays may add in another order than one of views.
TOLERANCE = {"float32": 2e-6, "float64": 1e-14}


@examples(100)
@given(recipes(), st.booleans())
def test_random_graphs_give_what_the_reference_gives(recipe: Recipe, optimize: bool) -> None:
    as_the_reference(recipe, optimize, "numpy")


@in_c
@examples(15)
@given(recipes(), st.booleans())
def test_random_graphs_give_the_same_in_c(recipe: Recipe, optimize: bool) -> None:
    as_the_reference(recipe, optimize, "c")


def as_the_reference(recipe: Recipe, optimize: bool, executor: str) -> None:
    graph, near = recipe.graph(gradients=True), TOLERANCE[recipe.dtype]
    program = graph.compile(optimize=optimize, executor=executor)
    feeds = recipe.feeds()
    zeros = {name: value * 0 for name, value in feeds.items()}
    expected = mg.run(graph, feeds)
    first = program(feeds)
    kept = [np.array(v) for v in first]
    same(first, expected, near)
    same(program(zeros), mg.run(graph, zeros), near)
    same(first, kept)
    same(program(feeds), kept)


@examples(100)
@given(recipes())
def test_the_reference_executor_runs_optimised_graphs(recipe: Recipe) -> None:
    graph = recipe.graph()
    program = graph.compile(executor="reference")
    same(program(recipe.feeds()), mg.run(graph, recipe.feeds()))


def chain(n: int = 10, shape: Any = (1000,)) -> mg.Graph:
    x = y = mg.placeholder("x", shape)
    for _ in range(n):
        y = mg.tanh(y)
    return mg.build_graph(x, y)


def test_ten_operators_in_a_row_need_two_buffers() -> None:
    program = chain().compile(optimize=False)
    assert len(program.plan.buffers) == 2
    assert program.plan.bytes == 2 * 4032, "two of 4,000 bytes, aligned to 64"
    assert program.plan.unshared_bytes == 9 * 4032, "the last one is the caller's"
    assert program.plan.peak_bytes == 2 * 4032
    assert program.bound.arena.block.nbytes == program.plan.bytes


def test_in_place_they_need_one() -> None:
    graph = chain()
    program = graph.optimize(["mark_in_place"]).compile(optimize=False)
    assert len(program.plan.buffers) == 1
    values = np.linspace(-1, 1, 1000, dtype=np.float32)
    same([program({"x": values})], [mg.run(graph, {"x": values})])


def test_live_values_never_overlap() -> None:
    recipe_graph = chain(5)
    x = mg.placeholder("x", (100,))
    a, b = mg.exp(x), mg.sigmoid(x)
    y = a * b + mg.tanh(a) * mg.exp(b)
    for graph in (recipe_graph, mg.build_graph(x, [y, *mg.gradients([y], [x])])):
        plan = graph.compile(optimize=False).plan
        for i, one in enumerate(plan.lifetimes):
            for two in plan.lifetimes[i + 1 :]:
                if one.buffer == two.buffer:
                    assert one.end < two.start or two.end < one.start, "or one overwrote the other"
        assert plan.peak_bytes <= plan.bytes <= plan.unshared_bytes


def test_results_are_the_callers_own() -> None:
    x = mg.placeholder("x", (100_000,))
    program = mg.build_graph(x, [mg.tanh(x), x.reshape(10, -1), mg.exp(x) * 2]).compile()
    ones = np.ones(100_000, np.float32)
    first = program({x: ones})
    kept = [np.array(v) for v in first]
    assert not np.shares_memory(first[1], ones)
    program({x: ones * 0})
    same(first, kept)
    for value in first:
        assert not np.shares_memory(value, program.bound.arena.block)
        value[...] = 7
    same(program({x: ones}), kept)


def test_a_large_result_that_was_let_go_is_written_to_again() -> None:
    x = mg.placeholder("x", (100_000,))
    program = mg.build_graph(x, mg.tanh(x)).compile()
    ones = np.ones(100_000, np.float32)
    place = program({x: ones}).ctypes.data
    assert program({x: ones}).ctypes.data == place
    held = program({x: ones})
    assert program({x: ones}).ctypes.data != held.ctypes.data


@pytest.mark.parametrize("executor", ["numpy", pytest.param("c", marks=in_c)])
@pytest.mark.parametrize("optimize", [False, True])
def test_training_gives_the_same_losses_and_variables(optimize: bool, executor: str) -> None:
    x, t = mg.placeholder("x", (None, 8)), mg.placeholder("t", (None,), mg.int64)
    model = mg.nn.Sequential(mg.nn.Linear(8, 16, seed=0), mg.nn.ReLU(), mg.nn.Linear(16, 3, seed=1))
    loss = mg.cross_entropy(model(x), t)
    step = mg.optim.Adam(model.parameters(), lr=0.01).minimize(loss)
    graph = mg.build_graph([x, t], [loss, step])
    program = graph.compile(optimize=optimize, executor=executor)
    random = np.random.default_rng(0)
    with mg.Session(graph) as session:
        session.run(mg.global_variables_initializer())
        for n in (5, 7, 5, 1, 7):
            feeds = {x: random.standard_normal((n, 8)), t: random.integers(0, 3, n)}
            mine, theirs = program(feeds)[0], session.run(loss.name, feeds)
            session.run([step], feeds)
            np.testing.assert_allclose(mine, theirs, rtol=1e-6)
        for variable, value in session.variables.items():
            np.testing.assert_allclose(program.variables[variable], value, rtol=1e-5, atol=1e-7)


def test_a_program_can_share_the_variables_of_a_session() -> None:
    w = mg.Variable(np.arange(3.0, dtype=np.float32), name="w")
    graph = mg.build_graph([], [mg.assign(w, w * 2)])
    with mg.Session(graph) as session:
        session.run(mg.global_variables_initializer())
        program = graph.compile(session=session)
        assert program()[0].tolist() == [0, 2, 4]
        first = session.value(w)
        program()
        assert first.tolist() == [0, 2, 4]
        assert session.value(w).tolist() == [0, 4, 8]


def test_the_last_of_several_assignments_counts() -> None:
    x, w = mg.placeholder("x", (3,)), mg.Variable(np.zeros(3, np.float32), name="w")
    first = mg.assign(w, x * 2)
    with mg.control_dependencies([first]):
        second = mg.assign(w, x * 3)
    program = mg.build_graph(x, [first, second]).compile()
    for _ in range(2):
        assert [v.tolist() for v in program({x: [1, 2, 3]})] == [[2, 4, 6], [3, 6, 9]]
        assert program.variables[w].tolist() == [3, 6, 9]


def test_a_number_that_is_assigned_stays_a_number() -> None:
    x, w = mg.placeholder("x"), mg.Variable(np.float32(1), name="w")
    program = mg.build_graph(x, [mg.assign(w, w * 2), mg.sigmoid(x) * w]).compile()
    for n in (1, 2, 4):
        assert program({x: 0})[1] == n / 2
        assert isinstance(program.variables[w], np.float32)


def test_a_failed_run_changes_no_variable() -> None:
    x, w = mg.placeholder("x", (None,)), mg.Variable(np.ones(3, np.float32), name="w")
    update = mg.assign(w, w * 2)
    with mg.control_dependencies([update]):
        y = x + mg.constant(np.ones(3, np.float32))
    program = mg.build_graph(x, [y, update]).compile()
    with pytest.raises(mg.ShapeError, match=r"\(2,\), \(3,\)") as found:
        program({x: [1, 2]})
    assert "defined at test_compiled.py" in str(found.value)
    assert program.variables[w].tolist() == [1, 1, 1]
    assert program({x: [1, 2, 3]})[1].tolist() == [2, 2, 2]
    assert program.variables[w].tolist() == [2, 2, 2]


def classifier() -> tuple[mg.Graph, dict[str, Any]]:
    """One training step with an open batch, and what is fed for one sample."""
    x, t = mg.placeholder("x", (None, 8)), mg.placeholder("t", (None,), mg.int64)
    model = mg.nn.Sequential(mg.nn.Linear(8, 16, seed=0), mg.nn.ReLU(), mg.nn.Linear(16, 3, seed=1))
    loss = mg.cross_entropy(model(x), t)
    step = mg.optim.SGD(model.parameters(), lr=0.1).minimize(loss)
    graph = mg.build_graph([x, t], [loss, step])
    return graph, {"x": np.linspace(-1, 1, 8, dtype=np.float32)[None], "t": np.array([1])}


@pytest.mark.parametrize("optimize", [False, True])
def test_a_program_is_compiled_once_and_bound_once_for_each_size(optimize: bool) -> None:
    graph, one = classifier()
    program = graph.compile(optimize=optimize)
    bounds = set()
    with mg.record() as log:
        for n in (2, 3, 2, 1, 3, 2):
            loss, _ = program({k: np.repeat(v, n, axis=0) for k, v in one.items()})
            assert loss.shape == ()
            bounds.add(id(program.bound))
    kinds = [e.kind for e in log.of_kind("compiled", "bound")]
    assert kinds == ["compiled", "bound", "bound", "bound"]
    assert len(bounds) == 3


def test_another_rank_is_compiled_anew() -> None:
    x = mg.placeholder("x")
    program = mg.build_graph(x, mg.cumsum(mg.exp(x), axis=-1)).compile()
    with mg.record() as log:
        for shape in ((2,), (3,), (2, 3), (4, 3)):
            values = np.ones(shape, np.float32)
            same([program({x: values})], [mg.run(program.graph, {x: values})])
    assert len(log.of_kind("compiled")) <= 2
    assert len(log.of_kind("bound")) == 4


def test_control_flow_runs_inside_a_program(capsys: pytest.CaptureFixture[str]) -> None:
    x = mg.placeholder("x", (None,))
    y = mg.cond(x.sum() > 0, lambda: mg.Print(x * 2, "then"), lambda: x - 1)
    n = mg.while_loop(lambda v: v.sum() < 9, lambda v: v * 2, mg.abs(y) + 1)
    g = mg.gradients(n.sum(), x)[0]
    graph = mg.build_graph(x, [y, n, g])
    program = graph.compile()
    for value in ([1.0, 2.0], [-1.0, -2.0]):
        found, printed = program({x: value}), capsys.readouterr().out
        same(found, mg.run(graph, {x: value}))
        assert printed == capsys.readouterr().out == ("then [2., 4.]\n" if value[0] > 0 else "")


def test_large_regions_run_in_tiles() -> None:
    x, a = mg.placeholder("x", (300, 200)), mg.placeholder("a", (200,))
    y = mg.sigmoid(a * x + 1) * mg.tanh(x) + x
    z = mg.exp(-mg.abs(x)) * 3 - 1
    graph = mg.build_graph([x, a], [y, z])
    program = graph.compile()
    feeds = {x: np.random.default_rng(0).standard_normal((300, 200)), a: np.linspace(-1, 1, 200)}
    same(program(feeds), mg.run(graph, feeds))
    assert program.kernels == 2
    with mg.record() as log:
        program(feeds)
    assert log.counts.by_op == {"Fused": 2}


def test_events_tell_the_kernels_of_a_program() -> None:
    x = mg.placeholder("x", (5,))
    graph = mg.build_graph(x, mg.exp(x).sum() + 1)
    for optimize in (False, True):
        program = graph.compile(optimize=optimize)
        with mg.record(values=True) as log:
            result = program({x: np.zeros(5)})
        assert result == 6
        assert [str(e.op) for e in log.of_kind("run")] == ["Exp", "Sum", "Add"]
        assert log.of_kind("run")[-1].value == 6


def test_mistakes() -> None:
    x = mg.placeholder("x", (None,))
    graph = mg.build_graph(x, x + 1)
    with pytest.raises(mg.GraphError, match=r"no executor named fpga.*numpy"):
        graph.compile(executor="fpga")
    program = graph.compile()
    with pytest.raises(mg.NotFedError, match="x"):
        program()
    with pytest.raises(mg.GraphError, match=r"placeholder x has open lengths"):
        _ = program.plan
    with pytest.raises(mg.FeedError):
        program({x: [["a"]]})


def test_a_program_is_freed_with_its_memory() -> None:
    program = chain(shape=(10,)).compile(optimize=False)
    block = weakref.ref(program.bound.arena)
    del program
    gc.collect()
    assert block() is None


def test_a_fused_region_is_freed_with_its_graph() -> None:
    def body() -> weakref.ref[mg.Graph]:
        with mg.Graph():
            x = mg.placeholder("x", (300_000,))
            program = mg.build_graph(x, mg.tanh(x) * 2 + mg.exp(x)).compile()
        program({x: np.zeros(300_000, np.float32)})
        (region,) = [n.attrs["body"] for n in program.graph.nodes if n.op.name == "Fused"]
        assert Region in region.notes
        return weakref.ref(region)

    found = body()
    gc.collect()
    assert found() is None

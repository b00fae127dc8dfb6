"""Where results are kept: exact bytes, the order that needs fewest, and nothing that overlaps."""

from __future__ import annotations

import bisect
import tracemalloc
from typing import Any

import numpy as np
import pytest
from covering import examples
from hypothesis import given
from random_graphs import Recipe, recipes

import minigrad as mg
from minigrad.passes.plan import depth_first

pytestmark = pytest.mark.usefixtures("own_graph")

SIZE = 1 << 18  # elements of a layer: a MiB, so that nothing else counts


def ids(nodes: Any) -> list[int]:
    return [id(node) for node in nodes]


@examples(100)
@given(recipes())
def test_plans_of_random_graphs(recipe: Recipe) -> None:
    for optimize in (False, True):
        program, feeds = recipe.graph(gradients=True).compile(optimize=optimize), recipe.feeds()
        program(feeds)
        what_the_plan_says_is_what_the_executor_has(program.bound)
        values_that_share_memory_do_not_live_together(program.bound)
        no_buffer_is_taken_while_it_is_in_use(program, feeds)
        no_result_lies_in_the_arena(program, feeds)


def what_the_plan_says_is_what_the_executor_has(made: Any) -> None:
    plan, block = made.plan, made.arena.block
    assert plan.peak_bytes <= plan.bytes <= plan.unshared_bytes
    assert block.nbytes == plan.bytes
    assert sum(b.bytes for b in plan.buffers) == plan.bytes
    for life in plan.lifetimes:
        array, buffer = made.slots[life.node].array, plan.buffers[life.buffer]
        start = array.ctypes.data - block.ctypes.data
        assert (start, array.nbytes) == (buffer.offset, life.bytes)
        assert life.bytes <= buffer.bytes
        assert array.ctypes.data % 64 == 0


def values_that_share_memory_do_not_live_together(made: Any) -> None:
    over = made.layout.graph.in_place
    for i, one in enumerate(made.plan.lifetimes):
        for two in made.plan.lifetimes[i + 1 :]:
            if one.buffer == two.buffer:
                taken = over.get(two.node) is one.node and one.end == two.start
                assert one.end < two.start or taken


def no_buffer_is_taken_while_it_is_in_use(program: Any, feeds: Any) -> None:
    """The most that lives at once, by what the run tells, is what the plan calls its peak."""
    over, plan = program.graph.in_place, program.plan
    with mg.record(buffers=True) as log:
        program(feeds)
    living: dict[int, Any] = {}
    for event in log.of_kind("taken", "freed"):
        before = living.get(event.position)
        if event.kind == "taken":
            assert before is None or over.get(event.node) is before
            living[event.position] = event.node
        elif before is event.node:
            del living[event.position]
        assert event.bytes <= plan.buffers[event.position].bytes
    assert not living
    assert len(log.of_kind("taken")) == len(log.of_kind("freed")) == len(plan.lifetimes)


def no_result_lies_in_the_arena(program: Any, feeds: Any) -> None:
    results = program(feeds)
    kept = [np.array(r) for r in results]
    for slot, result in zip(program.graph.outputs, results, strict=True):
        assert not np.may_share_memory(np.asarray(result), program.bound.arena.block), slot
    program.bound.arena.block.fill(255)
    for memory in program.bound.scratch:
        assert not any(np.may_share_memory(np.asarray(r), memory[1]) for r in results)
    for result, value in zip(results, kept, strict=True):
        np.testing.assert_array_equal(result, value)


def test_an_order_is_chosen_that_needs_less_memory() -> None:
    x = mg.placeholder("x", (1000,))
    wide = [mg.tanh(x * float(i)) for i in range(20)]
    y = sum((mg.sum(w * w) for w in wide[1:]), mg.sum(wide[0]))
    graph = mg.build_graph(x, y)
    program = graph.compile(optimize=False)
    assert ids(program.bound.layout.order) != ids(graph.nodes)
    assert program.plan.peak_bytes < 5 * 4032, "not 20, as in the order built"
    values = np.linspace(-1, 1, 1000, dtype=np.float32)
    np.testing.assert_allclose(program({x: values}), mg.run(graph, {x: values}), rtol=2e-6)


def test_training_keeps_the_order_built_where_depth_first_would_keep_more() -> None:
    program = training(tanh).compile(optimize=False)
    assert ids(program.bound.layout.order) == ids(program.graph.nodes)


@examples(100)
@given(recipes())
def test_depth_first_is_an_order(recipe: Recipe) -> None:
    graph = recipe.graph(gradients=True)
    order = depth_first(graph)
    place = {node: i for i, node in enumerate(order)}
    assert len(order) == len(graph.nodes)
    assert all(place[x] < place[node] for node in order for x in node.inputs)


def test_effects_keep_their_order(capsys: pytest.CaptureFixture[str]) -> None:
    x, w = mg.placeholder("x", (1000,)), mg.Variable(np.zeros(1000, np.float32), name="w")
    wide = [mg.tanh(x * float(i)) for i in range(9)]
    said = [mg.Print(mg.sum(v), str(i)) for i, v in enumerate(wide)]
    first = mg.assign(w, wide[3])
    with mg.control_dependencies([first]):
        now = mg.sum(mg.read_value(w))
    program = mg.build_graph(x, [said[7] + now, *said]).compile(optimize=False)
    program({x: np.zeros(1000)})
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == list("012345678")


def tanh(x: Any) -> Any:
    return mg.tanh(x)


def linear(x: Any) -> Any:
    return x * 1.01


def training(layer: Any, count: int = 48) -> mg.Graph:
    x = y = mg.placeholder("x", (SIZE,))
    for _ in range(count):
        y = layer(y)
    return mg.build_graph(x, mg.gradients(mg.sum(y), x)[0])


@pytest.mark.parametrize(("layer", "least"), [(tanh, 48), (linear, 0)])
def test_few_arrays_are_alive_at_the_peak_of_training(layer: Any, least: int) -> None:
    graph, ones = training(layer), np.ones(SIZE, np.float32)
    graph.compile()({"x": ones})
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    try:
        graph.compile()({"x": ones})
        most = tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()
    program = graph.compile()
    assert program.plan.bytes <= 4 * SIZE * max(least, 1)
    tiles = program.bound.scratch_bytes
    assert most - tiles <= 4 * SIZE * (least + 2.2), "the rest is Python's own"


def test_planning_looks_at_few_buffers_for_each_value(monkeypatch: pytest.MonkeyPatch) -> None:
    """A backward pass frees as many buffers as the forward pass filled: none of them is sought."""
    sizes = []

    def counted(free: Any, pair: Any) -> int:
        sizes.append(len(free))
        return bisect.bisect_left(free, pair)

    monkeypatch.setattr("minigrad.passes.plan.bisect", Counting(counted))
    plan = training(tanh, 200).compile(optimize=False).plan
    assert len(plan.buffers) < 210
    assert len(sizes) <= 3 * len(plan.lifetimes), "one search by halves for each, in both orders"


class Counting:
    """The module `bisect`, of which one function is counted."""

    def __init__(self, search: Any) -> None:
        self.bisect_left, self.insort = search, bisect.insort


# ---- What a run tells of its memory -----------------------------------------------------------


def told(program: Any, feeds: Any) -> Any:
    """The recording of a run of a program that is ready; its results are not kept."""
    program(feeds)
    with mg.record(buffers=True) as log:
        program(feeds)
    return log


def graphs() -> dict[str, tuple[mg.Graph, int]]:
    """Graphs, and the bytes of what outlives a run of each: results, new values of variables."""
    x = y = mg.placeholder("x", (100, 100))
    for _ in range(10):
        y = mg.tanh(y)
    w = mg.Variable(np.full((100, 100), 0.01, np.float32), name="w")
    loss = (mg.tanh(x @ w) ** 2).mean()
    train = mg.assign(w, w - mg.gradients(loss, [w])[0])
    return {
        "chain": (mg.build_graph(x, y), 40_000),
        "two results": (mg.build_graph(x, [mg.exp(y @ y), y.sum(axis=0)]), 40_000 + 400),
        "an input handed on": (mg.build_graph(x, [x, mg.exp(mg.tanh(x))]), 80_000),
        "training": (mg.build_graph(x, [loss, train]), 40_000 + 40_000 + 4),
        "nothing to plan": (mg.build_graph(x, mg.exp(x)), 40_000),
    }


@pytest.mark.parametrize("optimize", [False, True])
@pytest.mark.parametrize("name", ["chain", "two results", "an input handed on", "nothing to plan"])
def test_a_run_weighs_its_plan_and_its_results(name: str, optimize: bool) -> None:
    graph, results = graphs()[name]
    program = graph.compile(optimize=optimize)
    log = told(program, {"x": np.full((100, 100), 0.5, np.float32)})
    assert log.counts.bytes_peak == program.plan.bytes + results
    assert next(e.bytes for e in log.of_kind("held")) == program.bound.arena.block.nbytes
    assert len(log.of_kind("released")) == 1
    del program
    assert log.counts.bytes_live == 0


def test_the_arena_of_a_chain_of_ten_is_seen_and_given_back() -> None:
    program = graphs()["chain"][0].compile(optimize=False)
    with mg.record() as log:
        program({"x": np.zeros((100, 100), np.float32)})
    assert (log.counts.bytes_peak, log.counts.bytes_live) == (80_000 + 40_000, 40_000)


def test_training_weighs_what_becomes_of_its_variables() -> None:
    graph, results = graphs()["training"]
    program = graph.compile()
    log = told(program, {"x": np.full((100, 100), 0.5, np.float32)})
    assert log.counts.bytes_peak == program.plan.bytes + results


def test_a_run_that_fails_gives_its_arena_back() -> None:
    x = mg.placeholder("x", (8,))
    y = mg.exp(mg.tanh(x))
    with mg.control_dependencies([mg.Assert(y.sum() < 0, "never")]):
        graph = mg.build_graph(x, y * 2)
    program = graph.compile()
    with mg.record() as log, pytest.raises(mg.AssertionFailed):
        program({"x": np.ones(8)})
    kinds = [e.kind for e in log.events]
    assert kinds.count("held") >= 1
    assert kinds[-1] == "released"


def test_buffers_are_told_of_on_request_only() -> None:
    program = graphs()["chain"][0].compile(optimize=False)
    feeds = {"x": np.zeros((100, 100), np.float32)}
    with mg.record() as log, mg.record(buffers=True) as full:
        program(feeds)
    assert not log.of_kind("taken", "freed")
    assert [(e.kind, e.position) for e in full.of_kind("taken", "freed")][:4] == [
        *(("taken", 0), ("taken", 1), ("freed", 0), ("taken", 0))
    ]


def test_a_schedule_weighs_the_memory_that_it_runs_in() -> None:
    graph, results = graphs()["two results"]
    program = graph.compile()
    schedule = program.schedule(devices=2, costs=lambda node: 1.0)
    with mg.record() as log:
        schedule.run({"x": np.full((100, 100), 0.5, np.float32)})
    arena = log.of_kind("held")[0].bytes
    assert arena >= program.plan.bytes
    assert log.counts.bytes_peak == arena + results


# ---- A planner of somebody else's --------------------------------------------------------------


def first_fit(lives: Any, sizes: Any) -> dict[Any, int]:
    """Where each value begins: the first place that nothing needs meanwhile, largest first."""
    offsets: dict[Any, int] = {}
    for new in sorted(lives, key=sizes.get, reverse=True):
        offset = 0
        for old in sorted(offsets, key=offsets.__getitem__):
            at_once = lives[old][0] <= lives[new][1] and lives[new][0] <= lives[old][1]
            if at_once and offset + sizes[new] > offsets[old]:
                offset = max(offset, offsets[old] + sizes[old])
        offsets[new] = offset
    return offsets


@examples(100)
@given(recipes())
def test_a_program_runs_where_another_planner_lays_its_values(recipe: Recipe) -> None:
    graph, feeds = recipe.graph(gradients=True), recipe.feeds()
    for optimize in (False, True):
        ours = graph.compile(optimize=optimize)(feeds)
        program = graph.compile(optimize=optimize, planner=first_fit)
        for _ in range(3):  # call by call, and as a text
            for a, b in zip(ours, program(feeds), strict=True):
                assert np.array_equal(a, b, equal_nan=True)
        plan, block = program.plan, program.bound.arena.block
        assert plan.peak_bytes <= plan.bytes == block.nbytes <= plan.unshared_bytes
        for life, buffer in zip(plan.lifetimes, plan.buffers, strict=True):
            array = program.bound.slots[life.node].array
            assert array.ctypes.data - block.ctypes.data == buffer.offset


def skipped() -> tuple[Any, Any, mg.Graph]:
    x = mg.placeholder("x", (16,))
    a = mg.tanh(x)
    return x, a, mg.build_graph(x, mg.sum(mg.sin(mg.exp(a)) * a))


def test_a_plan_that_writes_over_what_is_still_needed_is_refused_by_name() -> None:
    x, _, graph = skipped()
    turns = graph.compile(
        optimize=False, planner=lambda lives, sizes: {v: 64 * (i % 2) for i, v in enumerate(lives)}
    )
    with pytest.raises(mg.GraphError, match="Sin is written at step 3 over bytes of Tanh") as error:
        turns({x: np.ones(16)})
    assert error.value.fields["end"] == 4
    assert error.value.defined is not None


@pytest.mark.parametrize(
    "told", [{}, 5, [0, 64], {"a": 0}, 3, -64, 0.0], ids=lambda told: repr(told)
)
def test_offsets_that_are_none_are_refused(told: Any) -> None:
    x, _, graph = skipped()
    alike = isinstance(told, (int, float)) and told != 5

    def planner(lives: Any, sizes: Any) -> Any:
        return dict.fromkeys(lives, told) if alike else told

    with pytest.raises(mg.GraphError, match="Tanh has an offset in bytes"):
        graph.compile(optimize=False, planner=planner)({x: np.ones(16)})


@pytest.mark.parametrize("given", [{"planner": 5}, {"planner": dict, "executor": "reference"}])
def test_what_cannot_plan_and_where_nothing_is_planned_is_refused(given: Any) -> None:
    with pytest.raises(mg.GraphError, match="a function of lifetimes and sizes"):
        skipped()[2].compile(**given)

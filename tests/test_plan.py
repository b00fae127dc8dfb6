"""Where results are kept: exact bytes, the order that needs fewest, and nothing that overlaps."""

from __future__ import annotations

import bisect
import tracemalloc
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from random_graphs import Recipe, recipes

import minigrad as mg
from minigrad.plan import depth_first

SIZE = 1 << 18  # elements of a layer: a MiB, so that nothing else counts


@pytest.fixture(autouse=True)
def own_graph() -> Iterator[None]:
    with mg.Graph():
        yield


def bound(program: Any, feeds: Any) -> Any:
    program(feeds)
    return program.bound


def ids(nodes: Any) -> list[int]:
    return [id(node) for node in nodes]


@given(recipes())
def test_what_the_plan_says_is_what_the_executor_has(recipe: Recipe) -> None:
    for optimize in (False, True):
        made = bound(recipe.graph(gradients=True).compile(optimize=optimize), recipe.feeds())
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


@given(recipes())
def test_values_that_share_memory_do_not_live_together(recipe: Recipe) -> None:
    for optimize in (False, True):
        made = bound(recipe.graph(gradients=True).compile(optimize=optimize), recipe.feeds())
        over = made.layout.graph.in_place
        for i, one in enumerate(made.plan.lifetimes):
            for two in made.plan.lifetimes[i + 1 :]:
                if one.buffer == two.buffer:
                    taken = over.get(two.node) is one.node and one.end == two.start
                    assert one.end < two.start or taken


@given(recipes())
def test_no_result_lies_in_the_arena(recipe: Recipe) -> None:
    for optimize in (False, True):
        program = recipe.graph(gradients=True).compile(optimize=optimize)
        results = program(recipe.feeds())
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
    return mg.build_graph(x, mg.gradients(mg.sum(y), x))


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

    monkeypatch.setattr("minigrad.plan.bisect", Counting(counted))
    plan = training(tanh, 200).compile(optimize=False).plan
    assert len(plan.buffers) < 210
    assert len(sizes) <= 3 * len(plan.lifetimes), "one search by halves for each, in both orders"


class Counting:
    """The module `bisect`, of which one function is counted."""

    def __init__(self, search: Any) -> None:
        self.bisect_left, self.insort = search, bisect.insort

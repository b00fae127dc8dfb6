"""Recomputation: within the budget, the same bits, and no more computed again than is needed."""

from __future__ import annotations

import math
import tracemalloc
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import minigrad as mg
from minigrad.passes import recompute

pytestmark = pytest.mark.usefixtures("own_graph")

SIZE = 1024  # numbers in an array of one layer
ARRAY = 4 * SIZE  # its bytes


def tanh(n: int, size: int = SIZE) -> mg.Graph:
    x = y = mg.placeholder("x", (size,))
    for _ in range(n):
        y = mg.tanh(y)
    return mg.build_graph(x, mg.gradients(mg.sum(y), x)[0])


def linear(n: int) -> mg.Graph:
    """Layers with a weight of their own; the gradient of each reads what came into the layer."""
    x = y = mg.placeholder("x", (SIZE // 4, 4))
    weights = [mg.placeholder(f"w{i}", (4, 4)) for i in range(n)]
    for w in weights:
        y = y @ w
    return mg.build_graph([x, *weights], mg.gradients(mg.sum(y), [x, *weights]))


CHAINS: dict[str, Callable[[int], mg.Graph]] = {"tanh": tanh, "linear": linear}


def feeds(graph: mg.Graph) -> dict[str, Any]:
    random = np.random.default_rng(0)
    return {x.name: random.standard_normal(x.shape) / 2 for x in graph.inputs}


def arrays(graph: mg.Graph) -> float:
    """The planned memory, in arrays of one layer."""
    return graph.compile(optimize=False).plan.bytes / ARRAY


def least(graph: mg.Graph) -> int:
    """The fewest bytes that a budget can ask for, as the refusal of less says."""
    with pytest.raises(mg.GraphError, match="the least found is") as refused:
        graph.optimize([recompute(1)])
    return int(str(refused.value).split("least found is ")[1].split(".")[0].replace(",", ""))


def same_bits(graph: mg.Graph, other: mg.Graph) -> None:
    given = feeds(graph)
    one, two = (mg.run(g, given) for g in (graph, other))
    for a, b in zip(*(v if isinstance(v, list) else [v] for v in (one, two)), strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("name", CHAINS)
def test_48_layers_need_twice_the_root_of_48_arrays(name: str) -> None:
    graph = CHAINS[name](48)
    assert arrays(graph) >= 48
    budget = least(graph)
    assert budget <= (2 * math.sqrt(48) + 3) * ARRAY
    less = graph.optimize([recompute(budget)])
    assert arrays(less) * ARRAY <= budget
    same_bits(graph, less)
    forward = "Tanh" if name == "tanh" else "MatMul"
    again = less.counted()[forward] - graph.counted()[forward]
    assert 0 < again < 48, "no layer is computed more than twice"


@pytest.mark.parametrize("name", CHAINS)
def test_memory_grows_as_the_root(name: str) -> None:
    found = {n: least(CHAINS[name](n)) / ARRAY for n in (12, 48, 108)}
    for n, count in found.items():
        assert count <= 2 * math.sqrt(n) + 4, found
    assert found[108] / found[12] < 108 / 12 / 2


def test_the_memory_is_counted_while_it_runs() -> None:
    large = 1 << 16  # so that nothing else counts
    graph = tanh(48, large)
    less = graph.optimize([recompute(16 * 4 * large)])
    peaks = {}
    for name, each in (("whole", graph), ("less", less)):
        given = feeds(graph)
        mg.run(each, given)
        tracemalloc.start()
        mg.run(each, given)
        peaks[name] = tracemalloc.get_traced_memory()[1] / (4 * large)
        tracemalloc.stop()
    assert peaks["whole"] > 48
    assert peaks["less"] < 18, "by the reference, too, which plans nothing"


def test_no_more_is_computed_again_than_the_budget_asks_for() -> None:
    graph = tanh(48)
    again = {}
    for budget in (50, 45, 40, 30, 20):
        less = graph.optimize([recompute(budget * ARRAY)])
        assert arrays(less) <= budget
        again[budget] = less.counted()["Tanh"] - 48
        assert len(less.history[0].changes) == again[budget]
        same_bits(graph, less)
    assert again == {50: 0, 45: 5, 40: 10, 30: 20, 20: 30}


def test_what_is_cheap_is_computed_again_first() -> None:
    """The activations, whose operands are kept for other reasons, and no product."""
    x = y = mg.placeholder("x", (64, 16))
    weights = [mg.placeholder(f"w{i}", (16, 16)) for i in range(6)]
    for w in weights:
        z = y @ w
        y = mg.sigmoid(z) * z
    graph = mg.build_graph([x, *weights], mg.gradients(mg.sum(y), weights))
    whole = graph.compile(optimize=False).plan.bytes
    less = graph.optimize([recompute(whole * 2 // 3)])
    added = less.counted() - graph.counted()
    assert added
    assert set(added) <= {"Sigmoid", "Mul"}
    same_bits(graph, less)


def test_the_pipeline_does_not_undo_it() -> None:
    graph = tanh(48)
    less = graph.optimize([recompute(16 * ARRAY), *mg.passes.PIPELINE])
    assert less.counted()["Tanh"] == graph.counted()["Tanh"] + 34
    assert arrays(less) <= 16
    same_bits(graph, less)
    program = graph.optimize([recompute(16 * ARRAY)]).compile()
    np.testing.assert_allclose(program(feeds(graph)), mg.run(graph, feeds(graph)), rtol=1e-5)


def test_masks_are_drawn_again_and_prints_are_not(capsys: pytest.CaptureFixture[str]) -> None:
    x = y = mg.placeholder("x", (SIZE,))
    count = mg.get_default_graph().run_counter()
    for i in range(12):
        y = mg.tanh(mg.REGISTRY["Dropout"](y, count, p=0.5, seed=i) * 1.5)
        y = mg.Print(y, "layer") if i % 4 == 0 else y
    graph = mg.build_graph(x, [y.sum(), mg.gradients(mg.sum(y), x)[0]])
    less = graph.optimize([recompute(least(graph))])
    counts: Counter[str] = less.counted() - graph.counted()
    assert counts["Dropout"]
    assert not counts["Print"]
    results = []
    for each in (graph, less):
        with mg.Session(each) as session:
            runs = [session.run(list(each.outputs), feeds(graph)) for _ in range(3)]
        results.append([v for run in runs for v in run])
        assert capsys.readouterr().out.count("layer") == 9
    for a, b in zip(*results, strict=True):
        np.testing.assert_array_equal(a, b)
    assert results[0][0] != results[0][2], "every run draws anew"


def test_a_network_with_a_second_path() -> None:
    x = y = mg.placeholder("x", (32, 8))
    weights = [mg.placeholder(f"w{i}", (8, 8)) for i in range(16)]
    for w in weights:
        y = y + mg.tanh(y @ w)
    graph = mg.build_graph([x, *weights], [mg.sum(y), *mg.gradients(mg.sum(y), weights)])
    budget = least(graph)
    assert budget < 0.7 * graph.compile(optimize=False).plan.bytes
    less = graph.optimize([recompute(budget)])
    assert less.compile(optimize=False).plan.bytes <= budget
    same_bits(graph, less)


def test_open_lengths_are_planned_with_those_given() -> None:
    x = y = mg.placeholder("x", (None,))
    for _ in range(20):
        y = mg.tanh(y)
    graph = mg.build_graph(x, mg.gradients(mg.sum(y), x)[0])
    with pytest.raises(mg.GraphError, match="placeholder x has open lengths"):
        graph.optimize([recompute(12 * ARRAY)])
    less = graph.optimize([recompute(12 * ARRAY, {"x": (SIZE,)})])
    given = {"x": np.linspace(-1, 1, SIZE, dtype=np.float32)}
    program = less.compile(optimize=False)
    np.testing.assert_array_equal(program(given), mg.run(graph, given))
    assert program.plan.bytes <= 12 * ARRAY


def test_what_is_asked_for_must_be_possible() -> None:
    graph = tanh(4)
    assert not graph.optimize([recompute(10 * ARRAY)]).history[0].changes
    with pytest.raises(mg.GraphError, match=r"recompute.*4,096 bytes; the least found is"):
        graph.optimize([recompute(ARRAY)])
    with pytest.raises(mg.GraphError, match="budget"):
        recompute("much")  # type: ignore[arg-type]

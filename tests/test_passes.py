"""Optimiser passes: the same bits in any order, less to do, and a reason for each change."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from random_graphs import Recipe, recipes

import minigrad as mg
from minigrad import passes
from minigrad.passes import PASSES, PIPELINE

EXACT = sorted(set(PASSES) - {"fast_math"})


@pytest.fixture(autouse=True)
def own_graph() -> Iterator[None]:
    with mg.Graph():
        yield


def same_bits(found: Any, expected: Any) -> None:
    for a, b in zip(found, expected, strict=True):
        a, b = np.asarray(a), np.asarray(b)
        assert (a.shape, a.dtype) == (b.shape, b.dtype)
        np.testing.assert_array_equal(a, b)
        assert (np.signbit(a) == np.signbit(b))[~np.isnan(b)].all()


@given(recipes(), st.lists(st.sampled_from(EXACT), max_size=9), st.booleans())
def test_any_passes_in_any_order_change_no_bit(
    recipe: Recipe, names: list[str], whole: bool
) -> None:
    graph = recipe.graph(gradients=True)
    better = graph.optimize(None if whole else names).verify()
    same_bits(mg.run(better, recipe.feeds()), mg.run(graph, recipe.feeds()))
    before = graph
    for record in better.history:
        assert record.before is before or record.before.text() == before.text()
        before = record.after
        same_bits(mg.run(record.after, recipe.feeds()), mg.run(graph, recipe.feeds()))


@given(recipes())
def test_an_optimised_graph_can_be_differentiated(recipe: Recipe) -> None:
    graph = recipe.graph().optimize()
    fresh = mg.Graph()
    with fresh:
        xs = recipe.placeholders()
        ys = fresh.inline(graph, xs)
        found = [g for g in mg.gradients(recipe.loss(ys), xs) if g is not None]
        mine = mg.run(mg.build_graph(xs, found), recipe.feeds()) if found else []
    expected = mg.run(recipe.graph(gradients=True), recipe.feeds())[len(recipe.outputs) :]
    for a, b in zip(mine, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-4)


VALUES = np.array([0.0, -0.0, 1.5, -2.0, np.inf, -np.inf, np.nan, 1e-40, 3e38], np.float32)


def optimised(f: Any, passes_: Any = None, shape: Any = VALUES.shape) -> tuple[mg.Graph, mg.Graph]:
    x = mg.placeholder("x", shape)
    graph = mg.build_graph(x, f(x))
    return graph, graph.optimize(passes_)


SIMPLER = {
    "x·1": (lambda x: x * 1, 1),
    "1·x": (lambda x: 1 * x, 1),
    "x÷1": (lambda x: x / 1, 1),
    "x−0": (lambda x: x - 0, 1),
    "x+(−0)": (lambda x: x + -0.0, 1),
    "x¹": (lambda x: x**1, 1),
    "−(−x)": (lambda x: mg.REGISTRY["Neg"](-x), 1),
    "|−x|": (lambda x: mg.abs(-x), 2),
    "||x||": (lambda x: mg.abs(mg.abs(x)), 2),
    "relu twice": (lambda x: mg.relu(mg.relu(x)), 2),
    "x²": (lambda x: x**2, 2),
    "x÷4": (lambda x: x / 4, 3),
    "x−(−y)": (lambda x: x - (-mg.exp(x)), 3),
    "transposed twice": (lambda x: x.reshape(3, 3).T.T.reshape(9), 1),
    "reshaped and back": (lambda x: x.reshape(3, 3).reshape(9), 1),
    "a sum of one thing twice": (lambda x: mg.exp(x) + mg.exp(x), 3),
    "constants": (lambda x: x + (mg.constant(2.0) * 3 + 1), 3),
}


@pytest.mark.parametrize("name", SIMPLER)
def test_what_is_simpler_is_found_and_exact(name: str) -> None:
    f, nodes = SIMPLER[name]
    names = [p.__name__ for p in PIPELINE if p.__name__ != "fuse"]
    graph, better = optimised(f, names)
    assert len(better.nodes) == nodes <= len(graph.nodes)
    assert better.text() != graph.text()
    same_bits([mg.run(better, {"x": VALUES})], [mg.run(graph, {"x": VALUES})])


NOT_EXACT = {
    "x+0": lambda x: x + 0,
    "x·0": lambda x: x * 0,
    "x−x": lambda x: x - x,
}


@pytest.mark.parametrize("name", NOT_EXACT)
def test_what_is_not_exact_waits_for_fast_math(name: str) -> None:
    graph, kept = optimised(NOT_EXACT[name], ["simplify", "fold_constants", "remove_dead"])
    assert kept.counted()[graph.outputs[0].op.name] == 1
    better = graph.optimize(["fast_math", "remove_dead"])
    assert not better.counted()[graph.outputs[0].op.name]
    finite = np.array([1.0, 2.0, -3.0] * 3, np.float32)
    assert (mg.run(better, {"x": finite}) == mg.run(graph, {"x": finite})).all()


def test_effects_stay_where_they_are(capsys: pytest.CaptureFixture[str]) -> None:
    x = mg.placeholder("x", ())
    with mg.control_dependencies([mg.Print(x * 1, "one"), mg.Print(x * 1, "two")]):
        y = x + 1
    better = mg.build_graph(x, y).optimize()
    assert mg.run(better, {x: 2}) == 3
    assert capsys.readouterr().out == "one 2.0\ntwo 2.0\n"


def test_effects_keep_their_order_when_only_the_first_is_rewritten(
    capsys: pytest.CaptureFixture[str],
) -> None:
    x, w = mg.placeholder("x", ()), mg.Variable(0.0)
    first, second = mg.Print(x * 1, "one"), mg.cond(x > 0, lambda: mg.Print(x, "two"), lambda: x)
    writes = [mg.assign(w, x / 1), mg.assign(w, mg.placeholder("z", ()))]
    with mg.control_dependencies([first, second, mg.Print(x, "three"), *writes]):
        y = x + 1
    graph = mg.build_graph([x, mg.get_default_graph()["z"]], [y, *writes])
    for executor in ("reference", "numpy"):
        program = graph.compile(executor=executor)
        program({"x": 2, "z": 5})
        assert capsys.readouterr().out == "one 2.0\ntwo 2.0\nthree 2.0\n"
        assert [float(v) for v in program.variables.values()] == [5.0]


def test_an_effect_in_a_branch_stays_though_its_value_is_not_needed(
    capsys: pytest.CaptureFixture[str],
) -> None:
    x = mg.placeholder("x", ())
    y = mg.cond(x > 0, lambda: mg.Print(x, "seen"), lambda: x)
    better = mg.build_graph(x, y * 0).optimize(["fast_math", "remove_dead"])
    assert mg.run(better, {x: 2}) == 0
    assert capsys.readouterr().out == "seen 2.0\n"


def test_variables_keep_their_identity() -> None:
    x, w = mg.placeholder("x", (3,)), mg.Variable(np.ones(3, np.float32), name="w")
    loss = (w * x * 1).sum()
    step = mg.optim.SGD([w], lr=0.5).minimize(loss)
    better = mg.build_graph(x, [loss, step]).optimize()
    with mg.Session(better) as session:
        session.run(mg.global_variables_initializer())
        session.run(list(better.outputs), {x: [1, 2, 3]})
        assert session.value(w).tolist() == [0.5, 0, -0.5]


def test_a_region_and_its_gradient_become_one_kernel() -> None:
    x, a, b = (mg.placeholder(n, (1000,)) for n in "xab")
    y = mg.sigmoid(a * x + b) * mg.tanh(b * x + a) + x
    graph = mg.build_graph([x, a, b], [y, *mg.gradients(y, [x, a, b])])
    better = graph.optimize()
    assert better.counted()["Fused"] == 1
    feeds = {n: np.random.default_rng(i).standard_normal(1000) for i, n in enumerate("xab")}
    with mg.record() as log:
        found = mg.run(better, feeds)
    assert log.counts.by_op["Fused"] == 1
    same_bits(found, mg.run(graph, feeds))


def test_bias_and_activation_join_the_product() -> None:
    """E9: convolution and ReLU, 2 kernels → 1; and a linear layer with its activation."""
    image = mg.placeholder("image", (2, 1, 8, 8))
    conv = mg.nn.Conv2d(1, 3, 3, bias=False, seed=0)
    weight = mg.constant(conv.weight.data)
    graph = mg.build_graph(image, mg.relu(mg.nn.functional.conv2d(image, weight)))
    better = graph.optimize()
    kernels = [n.op.name for n in better.nodes if not n.op.effect]
    assert kernels == ["Fused"]
    data = np.random.default_rng(0).standard_normal((2, 1, 8, 8))
    same_bits([mg.run(better, {image: data})], [mg.run(graph, {image: data})])


def test_what_lies_between_two_members_is_not_fused_away() -> None:
    """exp(x) feeds a sum, and the sum comes back: the two element-wise parts stay apart."""
    x = mg.placeholder("x", (5,))
    e = mg.exp(x)
    graph = mg.build_graph(x, mg.tanh(e / e.sum() * e))
    better = graph.optimize()
    same_bits([mg.run(better, {x: VALUES[:5]})], [mg.run(graph, {x: VALUES[:5]})])
    assert better.counted()["Fused"] == 1, "the division, the product and tanh"
    assert better.counted()["Exp"] == 1


def test_regions_do_not_wait_for_each_other() -> None:
    """Two pairs, each of which would be one kernel; but each needs a sum of the other's first."""
    x = mg.placeholder("x", (5,))
    a, b = mg.tanh(x), mg.exp(x)
    s, r = a.sum(), b.sum()
    graph = mg.build_graph(x, [a * r, b * s])
    better = graph.optimize(["fuse"])
    same_bits(mg.run(better, {x: VALUES[:5]}), mg.run(graph, {x: VALUES[:5]}))


def test_a_region_waits_for_what_comes_late() -> None:
    """tanh(a) is ready long before the product; it still becomes part of the kernel behind it."""
    a, w = mg.placeholder("a", (4, 4)), mg.constant(np.eye(4, dtype=np.float32))
    t = mg.tanh(a) + 1
    graph = mg.build_graph(a, mg.exp(t * (mg.relu(a @ w) @ w)))
    better = graph.optimize()
    assert [n.op.name for n in better.nodes if not n.op.effect] == ["Fused", "Fused"]
    same_bits([mg.run(better, {a: np.eye(4)})], [mg.run(graph, {a: np.eye(4)})])


def test_a_power_is_a_product_only_where_numpy_squares() -> None:
    x = mg.placeholder("x", (4097,))
    graph = mg.build_graph(x, x ** mg.constant(np.full(4097, 2, np.float32)))
    assert graph.optimize(["simplify"]).counted()["Pow"] == 1


def test_each_change_names_nodes_and_reason_in_both_languages() -> None:
    graph, better = optimised(lambda x: mg.exp(x * 1) + mg.exp(x) / 4)
    changes = [c for record in better.history for c in record.changes]
    assert changes
    for change in changes:
        assert all(change.reason)
        assert change.before
        assert "→" in change.what
        assert str(change) == f"{change.what}: {change.why}"
    assert "fuse" in [r.name for r in better.history if r.changes]
    assert graph.history == ()
    with pytest.raises(mg.FrozenGraphError):
        better.add(mg.REGISTRY["Exp"], [better.inputs[0]], {})


def test_own_passes_and_unknown_names() -> None:
    def shout(graph: mg.Graph) -> mg.Graph:
        return graph

    _, better = optimised(lambda x: x * 1, [shout, "simplify"])
    assert [r.name for r in better.history] == ["shout", "simplify"]
    with pytest.raises(mg.GraphError, match=r"no pass named frobnicate.*fold_constants"):
        optimised(lambda x: x, ["frobnicate"])


def test_a_pass_that_breaks_the_graph_is_caught() -> None:
    def broken(graph: mg.Graph) -> mg.Graph:
        return passes.frozen(graph.nodes[::-1], graph.inputs, graph.outputs, (), graph.single)

    with pytest.raises(mg.VerifyError, match="does not come before it"):
        optimised(lambda x: mg.exp(x), [broken])


def test_a_pass_that_loses_something_is_caught(capsys: pytest.CaptureFixture[str]) -> None:
    x = mg.placeholder("x", (3,))
    shown = mg.Print(x, "x")
    with mg.control_dependencies([shown]):
        y = x * 2
    graph = mg.build_graph(x, y)

    def silent(graph: mg.Graph) -> mg.Graph:
        return mg.build_graph(x, x * 2)

    def shorter(graph: mg.Graph) -> mg.Graph:
        return mg.build_graph(x, [shown[1:], shown])

    def torn(graph: mg.Graph) -> mg.Graph:
        return passes.frozen(graph.nodes[:-1], graph.inputs, graph.outputs, (), True)

    for wrong in (silent, shorter):
        with pytest.raises(mg.VerifyError, match=f"after the pass {wrong.__name__}"):
            graph.optimize([wrong])
    with pytest.raises(mg.VerifyError, match="not in the graph"):
        graph.optimize([torn])


def test_passes_reach_into_branches_and_loops() -> None:
    x = mg.placeholder("x", ())
    y = mg.cond(x > 0, lambda: x * 1 + 0 * x, lambda: mg.exp(x) + mg.exp(x))
    z = mg.while_loop(lambda v: v < 9, lambda v: (v + 1) * 1, x)
    graph = mg.build_graph(x, [y, z])
    better = graph.optimize()
    assert better.counted()["Mul"] < graph.counted()["Mul"]
    assert better.counted()["Exp"] == 1
    for value in (2.0, -2.0):
        same_bits(mg.run(better, {x: value}), mg.run(graph, {x: value}))

"""Optimiser passes: the same bits in any order, less to do, and a reason for each change."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from random_graphs import Recipe, recipes

import minigrad as mg
from minigrad import passes
from minigrad.passes import INEXACT, PASSES, PIPELINE

EXACT = sorted(set(PASSES) - {p.__name__ for p in INEXACT})


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


@pytest.mark.parametrize("optimize", [False, True])
def test_what_reads_a_branch_of_open_length(optimize: bool) -> None:
    """What a branch gives has a length only when it ran; the results beside it have theirs."""
    x = mg.placeholder("x", (None, 2))
    c = mg.cond(x.sum() > 0, lambda: mg.tanh(x), lambda: x - 1)
    graph = mg.build_graph(x, [mg.tanh(x + c) * 2, c.sum(), mg.gradients(mg.mean(c), x)])
    program = graph.compile(optimize=optimize)
    for n in (3, 5):
        data = np.random.default_rng(n).standard_normal((n, 2))
        same_bits(program({x: data}), mg.run(graph, {x: data}))


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


# ---- A picture of each --------------------------------------------------------------------------


def open_rows() -> Any:
    x, y = (mg.placeholder(n, (None, 3)) for n in "xy")
    return [x, y], [mg.concatenate([x, y], axis=1), x * y]


def by_hand() -> Any:
    x, t = mg.placeholder("x", (4, 3)), mg.placeholder("t", (4,), mg.int64)
    return [x, t], -mg.mean(mg.sum(mg.one_hot(t, 3) * mg.log(mg.softmax(x)), axis=1))


def learning() -> Any:
    x, g = mg.placeholder("x", (8, 9)), mg.placeholder("g", (8, 2))
    return [x, g], 0.1 * (x.T @ g)


def repeated() -> Any:
    x, v = mg.placeholder("x", (3,)), mg.placeholder("v", (3,))
    return [x, v], mg.while_loop(lambda s: s.sum() < 9, lambda s: s + mg.exp(v), x)


def one(f: Any, shape: Any = (3, 4)) -> Any:
    def build() -> Any:
        x = mg.placeholder("x", shape)
        return x, f(x)

    return build


PICTURES: dict[str, Any] = {
    "propagate_shapes": open_rows,
    "tidy_shapes": one(lambda x: x.T.T),
    "stretch": one(lambda x: mg.gradients(mg.sum(mg.exp(x)), x)),
    "fold_constants": one(lambda x: x * (mg.constant(2.0) + 1)),
    "simplify": one(lambda x: x / 4),
    "hoist": repeated,
    "merge_common": one(lambda x: mg.exp(x) * mg.exp(x)),
    "remove_dead": one(lambda x: x * 1),
    "fuse": one(lambda x: mg.tanh(mg.exp(x))),
    "mark_in_place": one(lambda x: mg.sum(mg.tanh(mg.exp(x).sum(axis=0)))),
    "fast_math": one(lambda x: mg.exp(x) + 0),
    "recognize_cross_entropy": by_hand,
    "sink_scalars": learning,
    "column_sums": one(lambda x: x.sum(axis=0)),
}


@pytest.mark.parametrize("name", PASSES)
def test_each_pass_has_a_picture_before_and_after(name: str) -> None:
    """What the viewer replays: graphs that differ, which nodes, and why, in both languages."""
    graph = mg.build_graph(*PICTURES[name]())
    whole = name in {p.__name__ for p in PIPELINE}
    history = graph.optimize(None if whole else [name]).history
    record = next(r for r in history if r.name == name and r.changes)
    if name == "mark_in_place":
        assert record.after.in_place
    else:
        assert record.before.text() != record.after.text() or name == "propagate_shapes"
        assert {*record.before.nodes} != {*record.after.nodes}
    for change in record.changes:
        assert change.before
        assert all(change.reason)
        assert change.reason[0] != change.reason[1]
    shown = {n for c in record.changes for n in c.before}
    inner = {n for g in bodies(record.before) for n in g.nodes}
    assert shown <= inner, "nodes of the graph before, or of its loops"


def bodies(graph: mg.Graph) -> Iterator[mg.Graph]:
    yield graph
    for node in graph.nodes:
        for value in node.attrs.values():
            if isinstance(value, mg.Graph):
                yield from bodies(value)


# ---- Shapes -------------------------------------------------------------------------------------


def classifier() -> mg.Graph:
    """A layer with its loss and gradients; image and label rows are open, each by itself."""
    x, t = mg.placeholder("x", (None, 8)), mg.placeholder("t", (None,), mg.int64)
    w, b = (mg.placeholder(n, s) for n, s in (("w", (8, 3)), ("b", (3,))))
    loss = mg.cross_entropy(mg.relu(x @ w + b), t)
    return mg.build_graph([x, t, w, b], [loss, *mg.gradients(loss, [w, b])])


def rows(n: int, labels: int | None = None) -> dict[str, Any]:
    random = np.random.default_rng(n)
    shapes = {"x": (n, 8), "w": (8, 3), "b": (3,)}
    feeds: dict[str, Any] = {k: random.standard_normal(s) for k, s in shapes.items()}
    return feeds | {"t": random.integers(0, 3, n if labels is None else labels)}


def test_lengths_that_must_be_equal_become_one() -> None:
    """Side by side, x and y have as many rows; so neither is stretched in the product."""
    x, y = (mg.placeholder(n, (None, 3)) for n in "xy")
    product = mg.tanh(x) * mg.exp(y)
    loss = product.sum() + mg.concatenate([x, y], axis=1).sum()
    graph = mg.build_graph([x, y], [loss, *mg.gradients(loss, [x, y])])
    better = graph.optimize(["propagate_shapes", "tidy_shapes"])
    assert (graph.counted()["SumLike"], better.counted()["SumLike"]) == (2, 0)
    assert all(a is b for a, b in zip(graph.inputs, better.inputs, strict=True))
    feeds = {n: np.random.default_rng(i).standard_normal((5, 3)) for i, n in enumerate("xy")}
    same_bits(mg.run(better, feeds), mg.run(graph, feeds))
    for either in (graph, better):
        with pytest.raises(mg.ShapeError, match="Concatenate"):
            mg.run(either, feeds | {"y": np.ones((1, 3))})


def test_what_does_not_run_says_nothing_of_lengths() -> None:
    """The product would make them equal; but it is dead, so they may differ."""
    x, y = mg.placeholder("x", (None,)), mg.placeholder("y", (None,))
    z = mg.sum(x * y)
    dead = x @ y
    for alive, changes in (([], 0), ([dead], 1)):
        graph = passes.frozen([x, y, z.inputs[0], dead, z], [x, y], [z, *alive], (), False)
        better = graph.optimize(["propagate_shapes"])
        assert len(better.history[0].changes) == changes
    assert mg.run(mg.build_graph([x, y], z).optimize(), {x: [2.0], y: [1.0, 2.0, 3.0]}) == 12


def test_shapes_that_the_user_knows() -> None:
    graph = classifier()
    narrow = mg.passes.with_shapes({"x": (5, None)})
    better = graph.optimize([narrow, *PIPELINE])
    assert {x.name: x.shape for x in better.inputs} == {
        "x": (5, 8),
        "t": (5,),
        "w": (8, 3),
        "b": (3,),
    }
    left = better.counted()
    assert not {"SumLike", "ReshapeLike", "Count"} & {*left}
    same_bits(mg.run(better, rows(5)), mg.run(graph, rows(5)))
    with pytest.raises(mg.FeedError):
        mg.run(better, rows(6))
    assert better.compile(optimize=False).plan.bytes > 0, "no run is needed to know the sizes"


def test_shapes_that_cannot_be() -> None:
    graph = classifier()
    with pytest.raises(mg.ShapeError, match=r"x cannot have shape \(5, 9\), as \(None, 8\)"):
        graph.optimize([mg.passes.with_shapes({"x": (5, 9)})])
    with pytest.raises(mg.GraphError, match="no node named z"):
        graph.optimize([mg.passes.with_shapes({"z": (5,)})])


def test_narrowed_lengths_reach_into_loops() -> None:
    x = mg.placeholder("x", (None, 3))
    y = mg.while_loop(lambda v: v.sum() < 9, lambda v: v * 2, mg.abs(x) + 1)
    graph = mg.build_graph(x, [y, mg.gradients(y.sum(), x)])
    better = graph.optimize([mg.passes.with_shapes({"x": (2, None)})])
    assert [y.shape for y in better.outputs] == [(2, 3), (2, 3)]
    data = np.ones((2, 3), np.float32)
    same_bits(mg.run(better, {"x": data}), mg.run(graph, {"x": data}))


# ---- Loops --------------------------------------------------------------------------------------


def ran(graph: mg.Graph, feeds: Any) -> Any:
    with mg.record() as log:
        mg.run(graph, feeds)
    return log.counts.by_op


def test_what_is_the_same_in_every_step_is_computed_once() -> None:
    x, v = mg.placeholder("x", (3, 4)), mg.placeholder("v", (4, 4))
    n = mg.placeholder("n", (), mg.int64)
    _, y = mg.while_loop(
        lambda i, y: i < n * 2, lambda i, y: (i + 1, mg.tanh(y @ mg.exp(v * 2))), (0, x)
    )
    graph = mg.build_graph([x, v, n], [y, *mg.gradients(y.sum(), [x, v])])
    better = graph.optimize(["hoist", "simplify", "merge_common", "remove_dead"])
    random = np.random.default_rng(0)
    feeds: dict[Any, Any] = {x: random.standard_normal((3, 4)), v: random.standard_normal((4, 4))}
    for steps in (0, 1, 3):
        feeds[n] = steps
        same_bits(mg.run(better, feeds), mg.run(graph, feeds))
        counts = ran(better, feeds)
        assert counts["Exp"] == 1, "forward and backward share it"
        assert counts["MatMul"] == ran(graph, feeds)["MatMul"] == 2 * steps * 4
    assert ran(graph, feeds)["Exp"] == 12


def test_what_may_fail_stays_in_a_loop_that_may_make_no_step() -> None:
    x, t = mg.placeholder("x", (3, 4)), mg.placeholder("t", (3,), mg.int64)
    n = mg.placeholder("n", (), mg.int64)

    def step(i: Any, s: Any) -> Any:
        return i + 1, s + mg.cross_entropy(x, t)

    _, y = mg.while_loop(lambda i, s: i < n, step, (0, 0.0))
    graph = mg.build_graph([x, t, n], y)
    better = graph.optimize(["hoist"])
    assert not better.history[0].changes
    wrong = {x: np.zeros((3, 4)), t: [0, 1, 7], n: 0}
    assert mg.run(better, wrong) == mg.run(graph, wrong) == 0
    for length, moved in ((5, True), (None, False)):
        xs = mg.placeholder("xs", (length, 2))
        last, _ = mg.scan(lambda s, z: (s + mg.cross_entropy(x, t), z), 0.0, xs)
        hoisted = mg.build_graph([x, t, xs], last).optimize(["hoist"])
        assert bool(hoisted.history[0].changes) is moved, "five steps are sure to come"


def test_effects_stay_in_their_loop(capsys: pytest.CaptureFixture[str]) -> None:
    x, n = mg.placeholder("x", ()), mg.placeholder("n", (), mg.int64)
    _, y = mg.while_loop(lambda i, s: i < n, lambda i, s: (i + 1, s + mg.Print(x * 2)), (0, 0.0))
    graph = mg.build_graph([x, n], y)
    better = graph.optimize()
    for steps in (0, 3):
        assert mg.run(better, {x: 4, n: steps}) == 8 * steps
        assert capsys.readouterr().out == "8.0\n" * steps
    assert ran(better, {x: 4, n: 3})["Mul"] == 1


def test_out_of_a_loop_in_a_loop() -> None:
    x, v = mg.placeholder("x", (4,)), mg.placeholder("v", (4,))

    def outer(s: Any) -> Any:
        return mg.while_loop(lambda u: u.sum() < 50, lambda u: u + mg.exp(v) * 2, s) * 2

    y = mg.while_loop(lambda s: s.sum() < 500, outer, x)
    graph = mg.build_graph([x, v], y)
    better = graph.optimize(["hoist"])
    feeds = {x: np.zeros(4), v: np.zeros(4)}
    same_bits([mg.run(better, feeds)], [mg.run(graph, feeds)])
    assert (ran(better, feeds)["Exp"], ran(graph, feeds)["Exp"]) == (1, 7)


# ---- Size ---------------------------------------------------------------------------------------


def calls_per_node(n: int) -> float:
    """Python functions called to optimise a chain of arrays with its gradient, for each node."""
    with mg.Graph():
        x = y = mg.placeholder("x", (4,))
        for _ in range(n // 2):
            y = mg.tanh(y) + x
        graph = mg.build_graph(x, [y, mg.gradients(mg.sum(y), x)])
    count = 0

    def see(frame: Any, event: str, argument: Any) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(see)
    try:
        graph.optimize()
    finally:
        sys.setprofile(None)
    return count / len(graph.nodes)


def test_the_work_is_proportional_to_the_number_of_nodes() -> None:
    assert calls_per_node(2_000) < 1.1 * calls_per_node(500)

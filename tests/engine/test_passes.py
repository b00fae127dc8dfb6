"""Optimiser passes: the same bits in any order, less to do, and a reason for each change."""

from __future__ import annotations

import contextlib
import doctest
import gc
import io
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest
from bits import same_bits
from covering import examples
from hypothesis import given
from hypothesis import strategies as st
from random_graphs import SPECIAL, TEMPTING, Recipe, recipes

import minigrad as mg
from minigrad import passes
from minigrad.core import Spec
from minigrad.passes import INEXACT, PASSES, PIPELINE, rewrite
from minigrad.static import graph as graph_module
from minigrad.static.graph import _verify_record

pytestmark = pytest.mark.usefixtures("own_graph")

EXACT = sorted(set(PASSES) - {p.__name__ for p in INEXACT})


VALUES_OF_INPUTS = ("small", "wide", "special")


@examples(100)
@given(
    recipes(tempting=True),
    st.lists(st.sampled_from(EXACT), max_size=9),
    st.booleans(),
    st.sampled_from(VALUES_OF_INPUTS),
)
def test_any_passes_in_any_order_change_no_bit(
    recipe: Recipe, names: list[str], whole: bool, values: str
) -> None:
    graph, feeds = recipe.graph(gradients=True), recipe.feeds(values)
    better = graph.optimize(None if whole else names).verify()
    expected = mg.run(graph, feeds)
    same_bits(mg.run(better, feeds), expected)
    before = graph
    for record in better.history:
        assert record.before is before or record.before.text() == before.text()
        before = record.after
        same_bits(mg.run(record.after, feeds), expected)


@pytest.mark.parametrize("values", VALUES_OF_INPUTS)
@pytest.mark.parametrize("name", EXACT)
def test_a_pass_changes_no_bit_of_its_own_example(name: str, values: str) -> None:
    graph = shown(name)
    if values != "small" and graph.counted()["While"]:
        pytest.skip("a loop that waits for a value may wait for ever")
    better = graph.optimize([name])
    for seed in range(20):
        shapes = tuple(tuple(n or 3 for n in x.shape or ()) for x in graph.inputs)
        arrays = Recipe(shapes, False, "float32", (), (), seed).arrays(values)
        with np.errstate(invalid="ignore"):
            feeds = {x: a.astype(x.dtype) for x, a in zip(graph.inputs, arrays, strict=True)}
        mine, plain = mg.run(better, feeds), mg.run(graph, feeds)
        same_bits(*([y] if graph.single else y for y in (mine, plain)))


@pytest.mark.parametrize("outer", TEMPTING)
def test_what_is_tempting_keeps_its_bits_for_special_values(outer: str) -> None:
    """The exact passes together, on each pair of what might be shortened, with its gradient."""
    for inner in TEMPTING:
        with mg.Graph():
            x = mg.placeholder("x", (len(SPECIAL),))
            y = TEMPTING[outer](TEMPTING[inner](x))
            graph = mg.build_graph(x, [y, *mg.gradients(mg.sum(y), [x])])
        with np.errstate(over="ignore", under="ignore"):
            feeds = {"x": np.array(SPECIAL, np.float32)}
        same_bits(mg.run(graph.optimize(), feeds), mg.run(graph, feeds))


@examples(100)
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
    "a product in both orders": (lambda x: x * mg.exp(x) + mg.exp(x) * x, 4),
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
        return passes.frozen_graph(graph.nodes[::-1], graph.inputs, graph.outputs, (), graph.single)

    with pytest.raises(mg.VerifyError, match="does not come before it"):
        optimised(lambda x: mg.exp(x), [broken])


def test_a_pass_that_says_something_wrong_of_a_node_is_caught() -> None:
    def wrong(graph: mg.Graph) -> mg.Graph:
        rewrite = passes.rewrite.Rewrite(graph)
        for node in graph.nodes:
            better = rewrite.keep(node, rewrite.operands(node), again=bool(node.inputs))
            better.spec = Spec((7,), node.dtype) if node.inputs else node.spec
            rewrite.put(node, better)
        return rewrite.finish()

    with pytest.raises(mg.VerifyError, match=r"claims float32\[7\]"):
        optimised(lambda x: mg.exp(x), [wrong])


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
        return passes.frozen_graph(graph.nodes[:-1], graph.inputs, graph.outputs, (), True)

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


def shown(name: str) -> mg.Graph:
    """The graph that the docstring of a pass shows it on."""
    scope: dict[str, Any] = {}
    with contextlib.redirect_stdout(io.StringIO()):
        for example in doctest.DocTestParser().get_examples(PASSES[name].__doc__ or ""):
            exec(example.source, scope)
    graph: mg.Graph = scope["graph"]
    return graph


@pytest.mark.parametrize("name", PASSES)
def test_each_pass_has_a_picture_before_and_after(name: str) -> None:
    """What the viewer replays: graphs that differ, which nodes, and why, in both languages."""
    graph = shown(name)
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
    named = {n for c in record.changes for n in c.before}
    inner = {n for g in bodies(record.before) for n in g.nodes}
    assert named <= inner, "nodes of the graph before, or of its loops"


def behind_tanh(name: str) -> mg.Graph:
    plain = shown(name)
    return mg.build_graph(plain.inputs, [mg.tanh(y) for y in plain.outputs])


@pytest.mark.parametrize("name", PASSES)
def test_gradients_of_what_a_pass_made_are_those_of_what_there_was(name: str) -> None:
    """A pass leaves old nodes beside new ones: more can be built on both, as on one graph."""
    graph = behind_tanh(name)
    better = graph.optimize([name])
    if {*better.nodes} <= {*graph.nodes}:  # it makes none itself: after those that do
        graph = behind_tanh("fuse")
        better = graph.optimize()
    assert {*better.nodes} - {*graph.nodes}
    feeds = {v.name: np.full([n or 3 for n in v.shape or ()], 0.4, v.dtype) for v in graph.inputs}
    slopes = []
    for some in (graph, better):
        losses = [mg.sum(y * mg.sin(y)) for y in some.outputs]
        [slope] = mg.gradients(losses, some.inputs[0])
        slopes += mg.run(mg.build_graph(some.inputs, [slope, mg.sum(slope * slope)]), feeds)
    for before, after in zip(slopes[:2], slopes[2:], strict=True):
        np.testing.assert_allclose(after, before, rtol=1e-5)


def test_what_is_built_on_an_optimised_graph_is_in_the_graph_before_it() -> None:
    with mg.Graph() as graph:
        x = mg.placeholder("x", (3,))
        y = mg.build_graph(x, mg.sum(x * 1 * x)).optimize().outputs[0]
        [slope] = mg.gradients(y, x)
    assert y in graph
    assert slope in {*graph.nodes}
    assert len([*graph.orders()]) > 1, "what a pass made is not listed, and nothing waits for it"
    with mg.Session(graph) as session:
        assert session.run(slope, {x: [1, 2, 3]}).tolist() == [2, 4, 6]


def test_a_loss_is_minimised_after_passes() -> None:
    w = mg.Variable([1.0, 2.0], name="w")
    x = mg.placeholder("x", (2,))
    loss = mg.build_graph(x, mg.sum((w * x * 1 + w * x * 1) ** 2)).optimize().outputs[0]
    step = mg.optim.SGD(lr=0.1).minimize(loss)
    with mg.Session() as session:
        session.run(mg.global_variables_initializer())
        before, _ = session.run([loss, step], {x: [1.0, 0.5]})
        after = session.run(loss, {x: [1.0, 0.5]})
    assert (before, after) == (8, pytest.approx(2.72, rel=1e-5))


def bodies(graph: mg.Graph) -> Iterator[mg.Graph]:
    yield graph
    for node in graph.nodes:
        for value in node.attrs.values():
            if isinstance(value, mg.Graph):
                yield from bodies(value)


# ---- Size ---------------------------------------------------------------------------------------


def calls_per_node(n: int) -> float:
    """Python functions called to optimise a chain of arrays with its gradient, for each node."""
    with mg.Graph():
        x = y = mg.placeholder("x", (4,))
        for _ in range(n // 2):
            y = mg.tanh(y) + x
        graph = mg.build_graph(x, [y, mg.gradients(mg.sum(y), x)[0]])
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


def test_only_what_a_pass_makes_is_verified(monkeypatch: pytest.MonkeyPatch) -> None:
    """Behind a change everything is copied; what the copies say was found right before."""
    monkeypatch.setattr(graph_module, "_verify_record", Mock(side_effect=_verify_record))
    x = y = mg.placeholder("x", ())
    for _ in range(100):
        y = mg.tanh(y * 1) + 0.5
    better = mg.build_graph(x, y).optimize()
    assert len({*better.nodes} - {*y.graph.nodes}) == 200, "all but x and the one 0.5"
    assert graph_module._verify_record.call_count == 0


def test_garbage_is_not_sought_meanwhile_and_is_afterwards() -> None:
    seen = []

    def look(graph: mg.Graph) -> mg.Graph:
        seen.append(gc.isenabled())
        return graph

    def fail(graph: mg.Graph) -> mg.Graph:
        raise ZeroDivisionError

    optimised(lambda x: x, [look])
    assert (seen, gc.isenabled()) == ([False], True)
    with pytest.raises(ZeroDivisionError):
        optimised(lambda x: x, [fail])
    assert gc.isenabled()
    gc.disable()
    try:
        optimised(lambda x: x)
        assert not gc.isenabled(), "the user's choice"
    finally:
        gc.enable()


def test_the_work_is_proportional_to_the_number_of_nodes() -> None:
    assert calls_per_node(600) < 1.1 * calls_per_node(150)


# ---- One place ---------------------------------------------------------------------------------


def test_a_pass_says_its_own_place(monkeypatch: pytest.MonkeyPatch) -> None:
    places: dict[int, Any] = {}
    monkeypatch.setattr(rewrite, "PLACES", places)

    @rewrite.in_pipeline(20, 40)
    def late(graph: mg.Graph) -> mg.Graph:
        return graph

    assert places == {20: late, 40: late}
    with pytest.raises(ValueError, match="another pass has place"):
        rewrite.in_pipeline(30, 40)(lambda graph: graph)


def test_the_order_of_the_pipeline_is_that_of_the_places() -> None:
    assert [f for _, f in sorted(rewrite.PLACES.items())] == [*PIPELINE]
    order = [f.__name__ for f in PIPELINE]
    assert order.index("propagate_shapes") < order.index("merge_common") < order.index("fuse")
    assert order[-2:] == ["remove_dead", "mark_in_place"]
    assert set(PASSES.values()) == {*PIPELINE, *INEXACT}
    source = Path(mg.passes.__file__).read_text("utf-8")
    assert [name for name in PASSES if re.search(rf"\b{name}\b", source)] == []  # no second place

"""Gradients: what is kept is derived, one sweep serves both modes, nothing needless is built."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pytest

import minigrad as mg
from minigrad import ops
from minigrad.backprop import saved_for_backward
from minigrad.backprop.rules import DATA, NOTHING, SHAPE
from minigrad.core import REGISTRY, Spec, context, events, float32

W = [[1.0, -2.0], [3.0, 4.0]]
X, B = [1.0, 1.0], [0.5, -1.0]
EXPECTED = {"y": [0, 6], "W": [[0, 0], [1, 1]], "b": [0, 1], "x": [3, 4]}


def model(w: Any, x: Any, b: Any) -> Any:
    return mg.relu(w @ x + b)


def test_example_e5_dynamic() -> None:
    w, x, b = (mg.tensor(v, requires_grad=True) for v in (W, X, B))
    y = model(w, x, b)
    y.sum().backward()
    found = {"y": y, "W": w.grad, "b": b.grad, "x": x.grad}
    assert {k: v.tolist() for k, v in found.items()} == EXPECTED


def test_example_e5_static() -> None:
    with mg.Graph(), mg.Session() as session:
        w, b = mg.Variable(W, name="W"), mg.Variable(B, name="b")
        x = mg.placeholder("x", shape=(2,))
        y = model(w, x, b)
        dw, dx, db = mg.gradients(y.sum(), [w, x, b])
        session.run(mg.global_variables_initializer())
        found = session.run({"y": y, "W": dw, "b": db, "x": dx}, {x: X})
    assert {k: v.tolist() for k, v in found.items()} == EXPECTED


# What the tape keeps of (result, operands…) for the backward pass.
RETAINED = {
    "Add": (NOTHING, NOTHING, NOTHING),
    "Mul": (NOTHING, DATA, DATA),
    "Div": (DATA, NOTHING, DATA),
    "MatMul": (NOTHING, DATA, DATA),
    "Exp": (DATA, NOTHING),
    "Tanh": (DATA, NOTHING),
    "Sigmoid": (DATA, NOTHING),
    "ReLU": (DATA, NOTHING),
    "Log": (NOTHING, DATA),
    "Neg": (NOTHING, NOTHING),
    "Transpose": (NOTHING, NOTHING),
    "Sum": (NOTHING, SHAPE),
    "Reshape": (NOTHING, SHAPE),
    "Mean": (SHAPE, SHAPE),
    "Softmax": (DATA, NOTHING),
    "Cast": (NOTHING, SHAPE),
}


@pytest.mark.parametrize("name", RETAINED)
def test_what_is_kept_is_derived_from_the_rules(name: str) -> None:
    op = REGISTRY[name]
    sample = op.samples[0]
    specs = [Spec(tuple(shape), float32) for shape in sample.shapes]
    specs.insert(0, op.spec(specs, sample.attrs))
    mask = tuple(op.has_rule(i) for i in range(len(sample.shapes)))
    kept = saved_for_backward.retained(op, mask, specs, sample.attrs)
    assert kept.usage == RETAINED[name]


@pytest.mark.parametrize("name", ["Take", "AddAt", "Piece", "Mul"])
def test_where_nobody_wants_a_gradient_nothing_is_read(name: str) -> None:
    op = REGISTRY[name]
    shapes = op.samples[0].shapes
    specs = [Spec(tuple(shape), float32) for shape in (shapes[0], *shapes)]
    kept = saved_for_backward.retained(op, (False,) * len(shapes), specs, op.samples[0].attrs)
    assert {*kept.usage} == {NOTHING}


def test_an_operand_without_gradient_lets_the_other_go() -> None:
    """w·x with a constant x: only x is needed, for the gradient of w."""
    w, x = mg.tensor([1.0], requires_grad=True), mg.tensor([2.0])
    _, kept_w, kept_x = (w * x).creator.saved
    assert kept_w is None
    assert kept_x is x.data


def test_nobody_hears_of_the_derivation_and_the_scope_survives_an_error() -> None:
    def broken(g: Any, y: Any, x: Any) -> Any:
        raise ZeroDivisionError

    op = REGISTRY["Neg"]
    specs = [Spec((2,), float32)] * 2
    bad = type(op)("Bad", op.shape, op.run, (broken,))
    with mg.record() as log, mg.name_scope("mine"):
        saved_for_backward.retained(REGISTRY["Tanh"], (True,), specs, {})
        with pytest.raises(ZeroDivisionError):
            saved_for_backward.retained(bad, (True,), specs, {})
        assert context.now.scope == "mine"
        assert [x.listener for x in events.listeners] == [log]
    assert log.events == []
    assert context.now.scope == ""


# ---- gradients of a static graph ------------------------------------------------------------


def names_of(graph: mg.Graph) -> list[str]:
    return [n.op.name for n in graph.nodes]


def test_gradients_are_nodes_and_nothing_runs() -> None:
    with mg.Graph() as g, mg.record() as log:
        x = mg.placeholder("x", shape=())
        y = x * x + 3
        (dx,) = mg.gradients(y, [x])
    assert type(dx) is mg.Node
    assert (dx.shape, dx.dtype) == ((), float32)
    assert log.counts.run == 0
    assert log.counts.built == len(g.nodes)
    assert dx.name.startswith("gradients/")
    assert mg.run(mg.build_graph(x, [y, dx]), {x: 5}) == [28, 10]


def test_there_is_one_gradient_for_each_x_in_a_list() -> None:
    with mg.Graph():
        x, w = mg.placeholder("x", shape=()), mg.placeholder("w", shape=())
        alone = mg.placeholder("alone", shape=())
        [dx] = mg.gradients(x * w, x)
        assert type(dx) is mg.Node
        found = mg.gradients(x * w, [x, alone, w])
        assert found[1] is None, "not computed is None, never 0"
        assert found[0] is not None
        assert mg.gradients(mg.argmax(mg.placeholder("s", shape=(3,))), [x]) == [None]


def test_gradients_of_several_outputs_add_up_with_weights() -> None:
    with mg.Graph():
        x = mg.placeholder("x", shape=(2,))
        ys = [x * x, x * 3]
        plain = mg.gradients(ys, x)[0]
        weighted = mg.gradients(ys, x, grad_ys=[np.float32([1, 10]), x])[0]
        values = mg.run(mg.build_graph(x, [plain, weighted]), {x: [1, 2]})
    assert [v.tolist() for v in values] == [[5, 7], [2 + 3, 40 + 6]]


def test_gradients_of_gradients() -> None:
    with mg.Graph():
        x = mg.placeholder("x", shape=(), dtype=mg.float64)
        chain = [x * x * x * x]
        for _ in range(4):
            chain.append(mg.gradients(chain[-1], x)[0])
        values = mg.run(mg.build_graph(x, chain), {x: 2})
    assert values == [16, 32, 48, 48, 24]


def test_the_gradient_of_something_in_the_middle() -> None:
    with mg.Graph():
        x = mg.placeholder("x", shape=())
        h = x * x
        y = h * h
        dh, dx, dy = mg.gradients(y, [h, x, y])
        assert mg.run(mg.build_graph(x, [dh, dx, dy]), {x: 3}) == [18, 108, 1]


def test_an_open_batch_needs_no_sum_where_the_axes_are_the_same() -> None:
    with mg.Graph() as g:
        x = mg.placeholder("x", shape=(None, 3))
        w, b = mg.Variable(np.ones((3, 2))), mg.Variable(np.zeros(2))
        h = mg.tanh(x @ w + b)
        loss = mg.mean(h * h + h)
        mg.gradients(loss, [x, w, b])
    assert "SumLike" not in names_of(g)
    assert names_of(g).count("Sum") == 1, "for the bias, over the batch"


def test_an_unknown_shape_is_summed_when_it_runs() -> None:
    """Nothing tells while building whether b was repeated: the sum decides in the run."""
    with mg.Graph():
        a, b = mg.placeholder("a"), mg.placeholder("b")
        graph = mg.build_graph([a, b], mg.gradients(a * b, [a, b]))
        da, db = mg.run(graph, {a: [[1, 2], [3, 4]], b: [10, 20]})
        assert da.tolist() == [[10, 20], [10, 20]]
        assert db.tolist() == [4, 6]
        assert mg.run(graph, {a: 2, b: 3}) == [3, 2]


@pytest.mark.parametrize("unknown", [(0,), (1,), (0, 1)])
@pytest.mark.parametrize("sample", ops.matmul.samples, ids=lambda s: f"{s.shapes} {s.attrs}")
def test_products_of_unknown_ranks_have_gradients_of_two_orders(sample: Any, unknown: Any) -> None:
    arrays = [np.random.default_rng(0).standard_normal(shape) for shape in sample.shapes]

    def orders(xs: list[Any], grad: Any) -> list[Any]:
        y = ops.matmul(*xs, **sample.attrs)
        first = grad((y * y * y).sum(), xs)
        return [*first, *grad((first[0] * first[0]).sum() + (first[1] * first[1]).sum(), xs)]

    tensors = [mg.tensor(a, requires_grad=True) for a in arrays]
    expected = orders(tensors, lambda y, xs: mg.grad(y, xs, create_graph=True))
    with mg.Graph():
        shapes = [None if i in unknown else a.shape for i, a in enumerate(arrays)]
        nodes = [mg.placeholder(None, shape, np.float64) for shape in shapes]
        graph = mg.build_graph(nodes, orders(nodes, mg.gradients))
    fed = dict(zip(nodes, arrays, strict=True))
    for found in (mg.run(graph, fed), graph.compile()(fed)):
        for a, e in zip(found, expected, strict=True):
            np.testing.assert_allclose(a, e.data, rtol=1e-10)


def test_two_open_axes_that_may_differ_are_summed_when_it_runs() -> None:
    with mg.Graph():
        a, b = mg.placeholder("a", shape=(None,)), mg.placeholder("b", shape=(None,))
        graph = mg.build_graph([a, b], mg.gradients(a * b, [a, b]))
        assert mg.run(graph, {a: [1, 2], b: [3]})[1].tolist() == [3]
        assert mg.run(graph, {a: [1, 2], b: [3, 4]})[1].tolist() == [1, 2]


def test_only_what_leads_to_a_target_is_built() -> None:
    with mg.Graph() as g:
        x, w = mg.placeholder("x", shape=(2, 3)), mg.Variable(np.ones((3, 2)))
        y = x @ w
        before = len(g.nodes)
        mg.gradients(y.sum(), w)
    built = [n.op.name for n in g.nodes[before:]]
    assert built.count("MatMul") == 1, "no gradient of x, as nobody asked for it"


@pytest.mark.parametrize("mode", ["dynamic", "static"])
def test_a_constant_factor_gets_no_gradient(mode: str) -> None:
    with mg.record() as log:
        if mode == "dynamic":
            x = mg.tensor(2.0, requires_grad=True)
            (x * 3 + 1).backward()
        else:
            with mg.Graph():
                x = mg.placeholder("x", shape=())
                mg.gradients(x * 3 + 1, x)
    assert len(log.of_kind("contributed")) == 2


def test_second_order_of_a_mean_with_and_without_its_axis() -> None:
    """What is kept for one must serve the other: it is derived once for each operator."""
    x = mg.tensor([[1.0, 2.0], [3.0, 4.0]], dtype=mg.float64)
    ops.broadcast_like.memo.clear()  # as in a fresh process, where the first use decides
    for keepdims in (False, True):
        assert mg.check_grads(lambda x, k=keepdims: (x * x).mean(axis=1, keepdims=k), x, order=2)


def test_check_grads_finds_a_wrong_rule() -> None:
    wrong = type(ops.neg)("Wrong", ops.neg.shape, ops.neg.run, (lambda g, y, x: g,))
    with pytest.raises(mg.GradientError, match=r"argument 0, order 1: .* disagree by"):
        mg.check_grads(lambda x: wrong(x), 3.0)


def test_check_grads_finds_a_wrong_second_order() -> None:
    flat = type(ops.neg)(
        "Flat",
        ops.tanh.shape,
        ops.tanh.run,
        (lambda g, y, x: g * flat_slope(y),),
    )
    flat_slope = type(ops.neg)(
        "Slope", ops.neg.shape, lambda out, y: 1 - y * y, (lambda g, y, x: g * 0,)
    )
    mg.check_grads(lambda x: flat(x), 0.5)
    with pytest.raises(mg.GradientError, match="order 2"):
        mg.check_grads(lambda x: flat(x), 0.5, order=2)


@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_check_grads_of_any_order(order: int) -> None:
    assert mg.check_grads(lambda x: x * x + 3, 2.0, order=order) < 1e-6
    assert mg.check_grads(lambda x: 2 * x, [1.0, 2.0], order=order) < 1e-6


@pytest.mark.speed
def test_a_rule_writes_over_its_own_temporaries_and_over_nothing_else() -> None:
    """g (1 − y y) takes one array, not three; what the tape saved and the seed stay as they are."""
    x = mg.tensor(np.linspace(-1, 1, 10_000), requires_grad=True, dtype=mg.float64)
    y = x.tanh()
    seed = np.linspace(1, 2, 10_000)
    saved, given = y.data.copy(), seed.copy()
    y.backward(mg.tensor(seed), retain_graph=True)  # the rule is written out once, at first use
    tracemalloc.start()
    y.backward(mg.tensor(seed), retain_graph=True)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 3.5 * seed.nbytes  # the seed as a tensor, the share, the new sum
    assert y.data.tobytes() == saved.tobytes()
    assert seed.tobytes() == given.tobytes()
    np.testing.assert_allclose(x.grad.data, 2 * seed * (1 - saved * saved))


THROUGH_COUNTS: dict[str, Any] = {
    "the sign of truth values": lambda x: mg.mean(mg.abs(x > 0) * x),
    "the opposite of whole numbers": lambda x: mg.mean(-x.astype(mg.int64) * x),
    "whole numbers and back": lambda x: mg.mean(x.astype(mg.int64).astype(mg.float32) * x),
    "a branch": lambda x: mg.cond(
        mg.sum(x) > 0, lambda: mg.mean(mg.abs(x > 0) * x), lambda: mg.mean(x)
    ),
    "a loop": lambda x: mg.while_loop(
        lambda i, a: i < 3, lambda i, a: (i + 1, a + mg.abs(x > 0) * x), [0, x]
    )[1].sum(),
    "a scan": lambda x: mg.scan(lambda a, b: (a + mg.abs(b > 0) * b, a), 0.0, x)[0],
}


@pytest.mark.parametrize("name", THROUGH_COUNTS)
def test_no_gradient_flows_through_what_is_counted(name: str) -> None:
    """Truth values and whole numbers have no slope, in either mode."""
    f, value = THROUGH_COUNTS[name], np.array([1.0, -2.0, 3.0], np.float32)
    leaf = mg.tensor(value, requires_grad=True)
    f(leaf).backward()
    with mg.Graph():
        x = mg.placeholder("x", (3,))
        graph = mg.build_graph(x, mg.gradients(f(x), [x])[0])
    np.testing.assert_array_equal(mg.run(graph, {x: value}), leaf.grad.numpy())


def test_what_is_counted_has_no_gradient() -> None:
    with mg.Graph():
        x = mg.placeholder("x", (3,))
        assert mg.gradients(mg.sum(x > 0), [x]) == [None]

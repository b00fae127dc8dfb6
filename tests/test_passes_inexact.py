"""Passes that are made on request: what they change, by how much, and what they leave alone."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import minigrad as mg
from minigrad.passes import PIPELINE


@pytest.fixture(autouse=True)
def own_graph() -> Iterator[None]:
    with mg.Graph():
        yield


def kernels(graph: mg.Graph) -> list[str]:
    return [n.op.name for n in graph.nodes if not n.op.effect]


# ---- Cross-entropy by hand ----------------------------------------------------------------------


def probabilities(x: Any) -> Any:
    e = mg.exp(x)
    return e / mg.sum(e, axis=1, keepdims=True)


def in_a_column(x: Any) -> Any:
    e = mg.exp(x)
    return e / mg.expand_dims(mg.sum(e, axis=1), axis=1)


LABELS = [0, 1, 2, 0]
LOSSES: dict[str, Any] = {
    "softmax": lambda x, t: -mg.mean(mg.sum(mg.one_hot(t, 3) * mg.log(mg.softmax(x)), axis=1)),
    "log_softmax": lambda x, t: -mg.mean(mg.sum(mg.log_softmax(x) * mg.one_hot(t, 3), axis=-1)),
    "exp over sum": lambda x, t: (
        -mg.mean(mg.sum(mg.one_hot(t, 3) * mg.log(probabilities(x)), axis=1))
    ),
    "minus inside": lambda x, t: mg.mean(mg.sum(-mg.one_hot(t, 3) * mg.log(mg.softmax(x)), axis=1)),
    "log-sum-exp minus score": lambda x, t: mg.mean(
        mg.log(mg.sum(mg.exp(x), axis=1)) - mg.sum(mg.one_hot(t, 3) * x, axis=1)
    ),
    "gathered": lambda x, t: mg.nll_loss(mg.log(probabilities(x)), t),
    "one-hot rows written down": lambda x, t: (
        -mg.mean(mg.sum(np.eye(3, dtype=np.float32)[LABELS] * mg.log(mg.softmax(x)), axis=1))
    ),
}


def loss_graph(name: str) -> mg.Graph:
    x, t = mg.placeholder("x", (4, 3)), mg.placeholder("t", (4,), mg.int64)
    loss = LOSSES[name](x, t)
    return mg.build_graph([x, t], [loss, mg.gradients(loss, x)[0]])


SCORES = np.random.default_rng(0).standard_normal((4, 3)).astype(np.float32)


@pytest.mark.parametrize("name", LOSSES)
def test_a_loss_by_hand_becomes_the_operator_and_its_gradient(name: str) -> None:
    graph = loss_graph(name)
    better = graph.optimize(["recognize_cross_entropy", "fold_constants", "remove_dead"])
    if name != "one-hot rows written down":
        assert kernels(better) == ["SoftmaxCrossEntropy", "Mean", "SoftmaxCrossEntropyGradient"]
    left = better.counted()
    assert left["SoftmaxCrossEntropy"] == 1
    assert left["Log"] == left["Exp"] == left["LogSoftmax"] == 0
    feeds = {"x": SCORES, "t": LABELS}
    for a, b in zip(mg.run(better, feeds), mg.run(graph, feeds), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("name", LOSSES)
def test_it_changes_what_overflows_and_so_waits_to_be_asked(name: str) -> None:
    """The reason for its place: not the same numbers, and where there was NaN there is a loss."""
    assert "recognize_cross_entropy" not in {p.__name__ for p in PIPELINE}
    graph, large = loss_graph(name), {"x": SCORES * 300, "t": LABELS}
    better = graph.optimize(["recognize_cross_entropy", "remove_dead"])
    loss, slope = mg.run(better, large)
    top = mg.tensor(SCORES * 300, requires_grad=True)
    expected = mg.cross_entropy(top, mg.tensor(LABELS))
    expected.backward()
    np.testing.assert_allclose(loss, expected.item(), rtol=1e-6)
    np.testing.assert_allclose(slope, top.grad.numpy(), atol=1e-7)
    if name != "log_softmax":
        assert not np.isfinite(mg.run(graph.optimize(), large)[0]), "the pipeline keeps even that"


def test_softmax_by_hand_along_any_axis() -> None:
    x = mg.placeholder("x", (4, 3))
    e = mg.exp(x - mg.max(x, axis=0, keepdims=True))
    graph = mg.build_graph(x, [e / mg.sum(e, axis=0, keepdims=True), in_a_column(x)])
    better = graph.optimize(["recognize_cross_entropy", "remove_dead"])
    assert kernels(better) == ["Softmax", "Softmax"]
    for a, b in zip(mg.run(better, {x: SCORES}), mg.run(graph, {x: SCORES}), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6)


LOOKALIKES: dict[str, Any] = {
    "another sum": lambda x, t: mg.exp(x) / mg.sum(mg.exp(x + 1), axis=1, keepdims=True),
    "another axis": lambda x, t: mg.sum(mg.one_hot(t, 3) * mg.log_softmax(x, axis=0), axis=1),
    "two ones in a row": lambda x, t: mg.sum(np.ones((4, 3), np.float32) * mg.log_softmax(x), 1),
    "soft targets": lambda x, t: mg.sum(mg.sigmoid(x) * mg.log_softmax(x), axis=1),
    "sum over rows": lambda x, t: mg.sum(mg.one_hot(t, 3) * mg.log_softmax(x), axis=0),
    "the whole sum": lambda x, t: mg.exp(x) / mg.sum(mg.exp(x)),
}


@pytest.mark.parametrize("name", LOOKALIKES)
def test_what_only_looks_like_it_stays(name: str) -> None:
    x, t = mg.placeholder("x", (4, 3)), mg.placeholder("t", (4,), mg.int64)
    y = LOOKALIKES[name](x, t)
    graph = mg.build_graph([x, t], [y, mg.gradients(mg.sum(y * y), x)[0]])
    better = graph.optimize(["recognize_cross_entropy", "remove_dead"])
    assert not better.counted()["SoftmaxCrossEntropy"]
    feeds = {"x": SCORES, "t": LABELS}
    for a, b in zip(mg.run(better, feeds), mg.run(graph, feeds), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)


# ---- Factors ------------------------------------------------------------------------------------


def multiplied(graph: mg.Graph) -> int:
    """How many numbers are multiplied or divided, element by element."""
    return sum(math.prod(n.shape) for n in graph.nodes if n.op.name in ("Mul", "Div"))


def gradient_step() -> tuple[mg.Graph, dict[str, Any]]:
    x, g = mg.placeholder("x", (16, 30)), mg.placeholder("g", (16, 2))
    graph = mg.build_graph([x, g], [0.1 * (x.T @ (g / 16)), 0.1 * (g / 16).sum(axis=0)])
    random = np.random.default_rng(0)
    return graph, {n: random.standard_normal(graph[n].shape) for n in "xg"}


def test_a_factor_sinks_to_where_it_meets_the_fewest_numbers() -> None:
    graph, feeds = gradient_step()
    better = graph.optimize(["merge_common", "sink_scalars", "remove_dead"])
    assert multiplied(better) < multiplied(graph)
    for a, b in zip(mg.run(better, feeds), mg.run(graph, feeds), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-7)


FACTORS: dict[str, Any] = {  # how many numbers are multiplied before and after
    "into a product": (lambda x, g: 0.1 * (x.T @ g), 60, 32),
    "out of a sum": (lambda x, g: (x * 0.1).sum(axis=0), 480, 30),
    "out of a product and into it": (lambda x, g: mg.matmul(x * 0.1, g, transpose_a=True), 480, 32),
    "out of a mean, divided": (lambda x, g: mg.mean(x / 3.0), 480, 1),
    "two at once": (lambda x, g: 0.1 * (0.5 * x), 960, 481),
    "by a learning rate that is fed": (lambda x, g: g.sum() * (x.T @ g), 60, 32),
}


@pytest.mark.parametrize("name", FACTORS)
def test_where_factors_go(name: str) -> None:
    f, before, after = FACTORS[name]
    x, g = mg.placeholder("x", (16, 30)), mg.placeholder("g", (16, 2))
    graph = mg.build_graph([x, g], f(x, g))
    better = graph.optimize(["sink_scalars", "remove_dead"])
    feeds = {n: np.random.default_rng(1).standard_normal(graph[n].shape) for n in "xg"}
    assert (multiplied(graph), multiplied(better)) == (before, after)
    np.testing.assert_allclose(mg.run(better, feeds), mg.run(graph, feeds), rtol=1e-4, atol=1e-6)


def test_a_factor_stays_where_others_read_the_product() -> None:
    x, g = mg.placeholder("x", (16, 30)), mg.placeholder("g", (16, 2))
    product = x.T @ g
    graph = mg.build_graph([x, g], [0.1 * product, product])
    assert not graph.optimize(["sink_scalars"]).history[0].changes


def test_even_a_power_of_two_is_not_exact_to_move() -> None:
    """Scaled after the product it is finite, before it is not: so the pass waits to be asked."""
    x, g = mg.placeholder("x", (90, 30)), mg.placeholder("g", (30, 2))
    graph = mg.build_graph([x, g], 2.0**30 * (x @ g))
    feeds = {x: np.full((90, 30), 1e-20), g: np.full((30, 2), 1e30)}
    assert np.isfinite(mg.run(graph, feeds)).all()
    assert not np.isfinite(mg.run(graph.optimize(["sink_scalars"]), feeds)).any()
    assert np.isfinite(mg.run(graph.optimize(), feeds)).all()


def test_columns_are_summed_by_a_product() -> None:
    x = mg.placeholder("x", (64, 10))
    graph = mg.build_graph(x, [x.sum(axis=0), x.sum(axis=1), x.sum(axis=0, keepdims=True)])
    better = graph.optimize(["column_sums"])
    assert kernels(better) == ["MatMul", "Sum", "Sum"]
    data = np.random.default_rng(0).standard_normal((64, 10))
    for a, b in zip(mg.run(better, {x: data}), mg.run(graph, {x: data}), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-5)

"""Passes that are made on request: what they change, by how much, and what they leave alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import minigrad as mg
from minigrad.passes import PIPELINE

pytestmark = pytest.mark.usefixtures("own_graph")


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
    return mg.build_graph([x, t], LOSSES[name](x, t))


def with_gradient(graph: mg.Graph) -> mg.Graph:
    (loss,), inputs = graph.outputs, graph.inputs
    return mg.build_graph(inputs, [loss, *mg.gradients(loss, inputs[0])])


SCORES = np.random.default_rng(0).standard_normal((4, 3)).astype(np.float32)


@pytest.mark.parametrize("name", LOSSES)
def test_a_loss_by_hand_becomes_the_operator_and_its_gradient(name: str) -> None:
    graph = loss_graph(name)
    better = with_gradient(graph.optimize(["recognize_cross_entropy"]))
    graph, better = with_gradient(graph), better.optimize(["fold_constants", "remove_dead"])
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
    loss, slope = mg.run(with_gradient(better), large)
    top = mg.tensor(SCORES * 300, requires_grad=True)
    expected = mg.cross_entropy(top, mg.tensor(LABELS))
    expected.backward()
    np.testing.assert_allclose(loss, expected.item(), rtol=1e-6)
    np.testing.assert_allclose(slope, top.grad.numpy(), atol=1e-7)
    if name != "log_softmax":
        assert not np.isfinite(mg.run(graph.optimize(), large)), "the pipeline keeps even that"


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
    "one class for all rows": lambda x, t: mg.sum(mg.one_hot(t[0], 3) * mg.log_softmax(x), axis=1),
    "one row for all classes": lambda x, t: mg.sum(
        mg.one_hot(t, 3) * mg.log_softmax(x[:1]), axis=1
    ),
    "one-hot of one class": lambda x, t: mg.sum(mg.one_hot(t, 1) * mg.log_softmax(x)),
    "one row written down": lambda x, t: mg.sum(
        np.eye(3, dtype=np.float32)[1:2] * mg.log_softmax(x), axis=1
    ),
    "the score of one class": lambda x, t: (
        mg.log(mg.sum(mg.exp(x), axis=1)) - mg.sum(mg.one_hot(t[0], 3) * x, axis=1)
    ),
    "some rows gathered": lambda x, t: mg.gather(
        mg.log_softmax(x), mg.expand_dims(t[:2], axis=-1), axis=1
    ),
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

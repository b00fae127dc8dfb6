"""Losses: their formulas, both modes, and operands that do not belong together."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import minigrad as mg

RANDOM = np.random.default_rng(7)
SCORES = np.array([[2.0, 0.0, -1.0], [0.5, 0.5, 3.0]])
LABELS = np.array([0, 1])


def test_cross_entropy_is_the_mean_negative_log_probability() -> None:
    rows = np.log(np.exp(SCORES).sum(axis=1)) - SCORES[np.arange(2), LABELS]
    loss = mg.cross_entropy(mg.tensor(SCORES), LABELS)
    assert loss.item() == pytest.approx(rows.mean(), rel=1e-12)
    x = mg.tensor(SCORES, requires_grad=True)
    mg.cross_entropy(x, LABELS).backward()
    expected = (mg.softmax(SCORES) - np.eye(3)[LABELS]) / 2
    np.testing.assert_allclose(x.grad.data, expected, rtol=1e-12)


def test_large_scores_do_not_overflow() -> None:
    big = np.float32([[1e4, 0.0, -1e4]])
    assert mg.softmax(big).tolist() == [[1, 0, 0]]
    assert mg.log_softmax(big).tolist() == [[0, -1e4, -2e4]]
    assert mg.cross_entropy(mg.tensor(big), [1]).item() == 1e4
    assert mg.sigmoid(np.float32([-1e4, 1e4])).tolist() == [0, 1]


PREDICTED, TARGET = RANDOM.standard_normal((4, 3)), RANDOM.random((4, 3))
LOSSES: dict[str, tuple[Any, Any]] = {
    "mse_loss": (mg.mse_loss, lambda x, t: np.mean((x - t) ** 2)),
    "l1_loss": (mg.l1_loss, lambda x, t: np.mean(np.abs(x - t))),
    "binary": (
        mg.binary_cross_entropy_with_logits,
        lambda x, t: np.mean(-t * np.log(mg.sigmoid(x)) - (1 - t) * np.log(1 - mg.sigmoid(x))),
    ),
}


@pytest.mark.parametrize("name", LOSSES)
def test_losses_follow_their_formulas_in_both_modes(name: str) -> None:
    loss, formula = LOSSES[name]
    value = loss(mg.tensor(PREDICTED), TARGET)
    assert value.item() == pytest.approx(formula(PREDICTED, TARGET), rel=1e-12)
    with mg.Graph():
        x = mg.placeholder("x", shape=(None, 3), dtype=mg.float64)
        node = loss(x, TARGET)
        assert node.scope == "loss"
        assert mg.run(mg.build_graph(x, node), {x: PREDICTED}).tobytes() == value.data.tobytes()
    assert mg.check_grads(lambda x: loss(x, TARGET), PREDICTED, order=2) < 1e-6


def test_the_negative_log_likelihood_after_log_softmax_is_the_cross_entropy() -> None:
    x, labels = mg.tensor(SCORES, requires_grad=True), mg.tensor(LABELS)
    mg.nll_loss(mg.log_softmax(x), labels).backward()
    y = mg.tensor(SCORES, requires_grad=True)
    expected = mg.cross_entropy(y, labels)
    expected.backward()
    assert mg.nll_loss(mg.log_softmax(x), labels).item() == pytest.approx(expected.item())
    np.testing.assert_allclose(x.grad.data, y.grad.data, rtol=1e-12)
    impossible = mg.nll_loss(mg.tensor([[0.0, -np.inf]]), [0])
    assert impossible.item() == 0, "what is not chosen is not touched"


def test_large_scores_lose_nothing() -> None:
    x = mg.tensor([1000.0, -1000.0, 0.0], requires_grad=True)
    loss = mg.binary_cross_entropy_with_logits(x, [1.0, 0.0, 1.0])
    loss.backward()
    assert loss.item() == pytest.approx(np.log(2) / 3)
    assert x.grad.tolist() == [0, 0, pytest.approx(-1 / 6)]


@pytest.mark.parametrize("name", LOSSES)
def test_losses_stretch_nothing(name: str) -> None:
    loss, _ = LOSSES[name]
    says = r"targets of shape \(4,\) do not have the shape \(4, 1\)"
    with pytest.raises(mg.ShapeError, match=says):
        loss(mg.ones(4, 1), mg.ones(4))
    with mg.Graph(), pytest.raises(mg.ShapeError, match=says):
        loss(mg.placeholder("x", shape=(4, 1)), np.ones(4))
    with mg.Graph():
        assert loss(mg.placeholder("x", shape=(None, 1)), np.ones((4, 1))).shape == ()


def test_labels_belong_to_their_rows() -> None:
    with pytest.raises(mg.ShapeError, match=r"labels of shape \(3,\)"):
        mg.nll_loss(mg.ones(4, 2), [0, 1, 0])
    with pytest.raises(IndexError):
        mg.nll_loss(mg.ones(1, 2), [2])
    with pytest.raises(mg.DtypeError):
        mg.nll_loss(mg.ones(1, 2), [0.5])


@pytest.mark.parametrize("loss", [mg.cross_entropy, mg.nll_loss])
def test_rows_of_unknown_shape_are_read_as_those_of_a_tensor(loss: Any) -> None:
    scores = RANDOM.standard_normal((4, 3)).astype(np.float32)
    labels = RANDOM.integers(0, 3, 4)
    with mg.Graph():
        x, y = mg.placeholder("x"), mg.placeholder("y", (None,), mg.int64)
        found = mg.run(mg.build_graph([x, y], loss(x, y)), {x: scores, y: labels})
    assert found == pytest.approx(loss(mg.tensor(scores), labels).item(), rel=1e-6)


@pytest.mark.parametrize("loss", [mg.cross_entropy, mg.nll_loss])
@pytest.mark.parametrize("shape", [None, (None, 3), (4, 3, 3)])
def test_where_the_classes_are_cannot_be_left_open(loss: Any, shape: Any) -> None:
    with mg.Graph():
        x, y = mg.placeholder("scores"), mg.placeholder("labels", shape, mg.int64)
        with pytest.raises(mg.ShapeError) as caught:
            loss(x, y)
        for sentence in caught.value.pair:
            assert all(word in sentence for word in (loss.__name__, "scores", "shape=(None"))

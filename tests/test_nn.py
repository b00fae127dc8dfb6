"""Layers: written once, called with a tensor or a node, equal to the formula written by hand."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import minigrad as mg

IMAGES = np.random.default_rng(0).random((64, 784), np.float32)


def test_example_e4() -> None:
    """Linear(784, 10) on 64 images: what it records, and E3's formula on the same weights."""
    layer = mg.nn.Linear(784, 10, seed=0)
    y = layer(mg.tensor(IMAGES))
    assert y.shape == (64, 10)
    add = y.creator
    assert [add.inputs[0].op.name, add.op.name] == ["MatMul", "Add"]
    assert sum(p.size for p in layer.parameters()) == 7850
    with mg.Graph(), mg.Session() as session:
        x = mg.placeholder("x", shape=(None, 784))
        W, b = mg.Variable(layer.weight.data.T), mg.Variable(layer.bias)
        by_hand, by_layer = x @ W + b, layer(x)
        assert by_layer.shape == (None, 10)
        session.run(mg.global_variables_initializer())
        results = session.run([by_hand, by_layer], {x: IMAGES})
    assert results[1].tobytes() == y.data.tobytes()
    np.testing.assert_allclose(results[0], y.data, rtol=1e-5, atol=1e-6)


def test_the_formula_by_hand_gives_the_bits_of_the_layer() -> None:
    """The same kernel on the same weights: x @ Wᵀ + b, with Wᵀ not copied."""
    layer = mg.nn.Linear(784, 10, seed=0)
    by_hand = mg.matmul(mg.tensor(IMAGES), layer.weight, transpose_b=True) + layer.bias
    assert layer(mg.tensor(IMAGES)).data.tobytes() == by_hand.data.tobytes()
    with mg.Graph(), mg.Session() as session:
        x = mg.placeholder("x", shape=(None, 784))
        W, b = mg.Variable(layer.weight, name="W"), mg.Variable(layer.bias, name="b")
        y = mg.matmul(x, W, transpose_b=True) + b
        session.run(mg.global_variables_initializer())
        assert session.run(y, {x: IMAGES}).tobytes() == by_hand.data.tobytes()


def test_first_weights_are_seeded_and_bounded() -> None:
    first, again, other = (mg.nn.Linear(16, 8, seed=s) for s in (0, 0, 1))
    for p, q in zip(first.parameters(), again.parameters(), strict=True):
        assert p.data.tobytes() == q.data.tobytes()
        assert p.dtype == mg.float32
        assert np.abs(p.data).max() <= 0.25
    assert first.weight.data.tobytes() != other.weight.data.tobytes()


def test_a_layer_without_bias() -> None:
    layer = mg.nn.Linear(3, 2, bias=False)
    assert layer.bias is None
    assert [name for name, _ in layer.named_parameters()] == ["weight"]
    assert layer(mg.zeros(4, 3)).tolist() == [[0, 0]] * 4


class Block(mg.nn.Module):
    """A residual block, with a parameter of its own."""

    def __init__(self) -> None:
        super().__init__()
        self.scale = mg.tensor(2.0, requires_grad=True)
        self.body = mg.nn.Sequential(mg.nn.Linear(3, 3, seed=0), mg.nn.ReLU())
        self.note = mg.tensor(1.0)  # not a parameter

    def forward(self, x: Any) -> Any:
        return x + self.body(x) * self.scale


def test_parameters_are_found_by_name() -> None:
    block = Block()
    names = [name for name, _ in block.named_parameters()]
    assert names == ["scale", "body.linear1.weight", "body.linear1.bias"]
    assert len(block.parameters()) == 3
    assert block.scale.name == "scale"
    block(mg.ones(2, 3)).sum().backward()
    assert all(p.grad is not None for p in block.parameters())
    block.zero_grad()
    assert all(p.grad is None for p in block.parameters())


def test_the_scope_is_the_layer() -> None:
    net = mg.nn.Sequential(mg.nn.Linear(3, 4, seed=0), mg.nn.ReLU(), mg.nn.Linear(4, 2, seed=1))
    with mg.Graph() as g:
        y = net(mg.placeholder("x", shape=(None, 3)))
    assert y.scope == "linear2"
    assert [n.name for n in g.variables] == [
        *("linear1/weight", "linear1/bias", "linear2/weight", "linear2/bias")
    ]
    assert net(mg.ones(2, 3)).creator.scope == "linear2"
    assert len(net) == 3
    assert repr(net[1]) == "ReLU()"


def test_the_same_layer_twice_in_a_graph_has_its_variables_once() -> None:
    layer = mg.nn.Linear(3, 3, seed=0)
    with mg.Graph() as g:
        layer(layer(mg.placeholder("x", shape=(None, 3))))
    assert len(g.variables) == 2


def test_both_modes_give_the_same_bits() -> None:
    block, data = Block(), np.random.default_rng(1).random((5, 3), np.float32)
    y = block(mg.tensor(data))
    y.sum().backward()
    with mg.Graph(), mg.Session() as session:
        x = mg.placeholder("x", shape=(None, 3))
        node = block(x)
        grads = mg.gradients(node.sum(), block.parameters())
        session.run(mg.global_variables_initializer())
        result, *found = session.run([node, *grads], {x: data})
    assert result.tobytes() == y.data.tobytes()
    for p, g in zip(block.parameters(), found, strict=True):
        assert g.tobytes() == p.grad.data.tobytes()


def test_state_is_copied_out_and_in() -> None:
    first, second = mg.nn.Linear(3, 2, seed=0), mg.nn.Linear(3, 2, seed=1)
    state = first.state_dict()
    second.load_state_dict(state)
    state["weight"][:] = 0
    assert first.weight.data.any()
    assert first.weight.data.tobytes() == second.weight.data.tobytes()


@pytest.mark.parametrize(
    ("state", "error", "says"),
    [
        ({"weight": np.zeros((2, 3))}, mg.GraphError, "bias"),
        ({"weight": np.zeros((2, 3)), "bias": np.zeros(2), "extra": 1}, mg.GraphError, "extra"),
        ({"weight": np.zeros((2, 3)), "bias": np.zeros(3)}, mg.ShapeError, r"bias has shape \(2,\).*\(3,\)"),
    ],
)
def test_a_state_that_does_not_fit_changes_nothing(state: Any, error: Any, says: str) -> None:
    layer = mg.nn.Linear(3, 2, seed=0)
    before = layer.state_dict()
    with pytest.raises(error, match=says):
        layer.load_state_dict(state)
    for name, value in layer.state_dict().items():
        assert value.tobytes() == before[name].tobytes()


def test_a_module_needs_a_forward() -> None:
    with pytest.raises(TypeError, match="Module needs a method forward"):
        mg.nn.Module()(1)


# ---- Functions beside the layers ------------------------------------------------------------

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


@pytest.mark.parametrize(
    ("made", "shape", "dtype"),
    [
        (lambda: mg.zeros(2, 3), (2, 3), mg.float32),
        (lambda: mg.ones((2, 3)), (2, 3), mg.float32),
        (lambda: mg.zeros(), (), mg.float32),
        (lambda: mg.ones([0, 2], dtype=mg.int64), (0, 2), mg.int64),
        (lambda: mg.randn(4, 2, seed=1), (4, 2), mg.float32),
        (lambda: mg.arange(4), (4,), mg.int64),
        (lambda: mg.arange(0.0, 1.0, 0.25), (4,), mg.float32),
    ],
)
def test_ways_to_make_tensors(made: Any, shape: Any, dtype: Any) -> None:
    assert (made().shape, made().dtype) == (shape, dtype)


def test_random_tensors_are_seeded() -> None:
    assert mg.randn(3, seed=5).tolist() == mg.randn(3, seed=5).tolist()
    assert mg.randn(3, seed=5).tolist() != mg.randn(3, seed=6).tolist()


def test_arange_counts_as_range_does() -> None:
    for bounds in itertools.product((0, 2), (5, 9), (1, 3)):
        assert mg.arange(*bounds).tolist() == list(range(*bounds))

"""Layers: written once, called with a tensor or a node, equal to the formula written by hand."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import minigrad as mg

RANDOM = np.random.default_rng(7)
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
        (
            {"weight": np.zeros((2, 3)), "bias": np.zeros(3)},
            mg.ShapeError,
            r"bias has shape \(2,\).*\(3,\)",
        ),
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
    with pytest.raises(mg.GraphError, match=r"Module has no method.*define forward\(self, x\)"):
        mg.nn.Module()(1)


# ---- What a module finds in itself ----------------------------------------------------------


class Tower(mg.nn.Module):
    """Modules and parameters in lists and dicts, one of them shared, and a buffer."""

    def __init__(self) -> None:
        super().__init__()
        shared = mg.nn.Linear(3, 3, bias=False, seed=0)
        self.blocks = [shared, mg.nn.Linear(3, 3, bias=False, seed=1)]
        self.heads = {"a": mg.nn.Linear(3, 1, seed=2), "again": shared}
        self.scales = [mg.tensor(1.5, requires_grad=True)]
        self.register_buffer("seen", mg.tensor(0.0))

    def forward(self, x: Any) -> Any:
        for block in self.blocks:
            x = mg.tanh(block(x)) * self.scales[0]
        return self.heads["a"](x)


def test_modules_and_parameters_in_lists_are_found_once() -> None:
    tower = Tower()
    assert [name for name, _ in tower.named_parameters()] == [
        *("scales.0", "blocks.0.weight", "blocks.1.weight", "heads.a.weight", "heads.a.bias")
    ]
    assert [name for name, _ in tower.named_modules()] == ["", "blocks.0", "blocks.1", "heads.a"]
    assert [name for name, _ in tower.named_buffers()] == ["seen"]
    assert tower.buffers() == [tower.seen]
    assert sorted(tower.state_dict()) == sorted(
        ["seen", *(name for name, _ in tower.named_parameters())]
    )
    with mg.Graph() as g:
        y = tower(mg.placeholder("x", shape=(None, 3)))
    assert y.shape == (None, 1)
    names = {n.name.removeprefix("tower/") for n in g.variables}
    assert names == {
        *("heads.again/weight", "scales.0", "blocks.1/weight", "heads.a/weight", "heads.a/bias")
    }


def test_a_frozen_parameter_stays_in_the_state() -> None:
    layer = mg.nn.Linear(3, 2, seed=0)
    layer.weight.requires_grad = False
    layer(mg.ones(1, 3)).sum().backward()
    assert layer.weight.grad is None
    assert layer.bias.grad is not None
    assert sorted(layer.state_dict()) == ["bias", "weight"]
    assert len(layer.parameters()) == 2


def test_training_and_inference_are_set_for_all_modules() -> None:
    tower = Tower()
    assert all(m.training for _, m in tower.named_modules())
    assert tower.eval() is tower
    assert not any(m.training for _, m in tower.named_modules())
    assert tower.train().blocks[1].training


def test_modules_describe_themselves_as_a_tree() -> None:
    inner = mg.nn.Sequential(mg.nn.ReLU(), mg.nn.Flatten())
    net = mg.nn.Sequential(mg.nn.Linear(3, 4), inner, mg.nn.Dropout(0.5))
    assert repr(net).splitlines() == [
        "Sequential",
        "  (linear1) Linear(3 → 4)",
        "  (sequential1) Sequential",
        "    (relu1) ReLU()",
        "    (flatten1) Flatten()",
        "  (dropout1) Dropout(p=0.5)",
    ]
    assert [type(m).__name__ for m in net] == ["Linear", "Sequential", "Dropout"]


class OwnSequence(mg.nn.Sequential):
    def __init__(self) -> None:
        super().__init__(mg.nn.Linear(2, 2, seed=0))
        self.scale = mg.tensor(3.0, requires_grad=True)

    def forward(self, x: Any) -> Any:
        return super().forward(x) * self.scale


def test_a_sequence_may_have_parameters_of_its_own() -> None:
    names = [name for name, _ in OwnSequence().named_parameters()]
    assert names == ["scale", "linear1.weight", "linear1.bias"]


class Masked(mg.nn.Module):
    """What it does to its weight has no node beside it: x comes in later."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = mg.tensor(np.arange(9.0).reshape(3, 3).astype(np.float32), requires_grad=True)
        self.mask = mg.tensor(np.tri(3, dtype=np.float32))

    def forward(self, x: Any) -> Any:
        return x @ mg.tanh(self.weight * self.mask).T


def test_a_layer_may_compute_with_its_parameters_alone_in_both_modes() -> None:
    layer, data = Masked(), RANDOM.random((4, 3), np.float32)
    y = layer(mg.tensor(data))
    y.sum().backward()
    with mg.Graph() as g, mg.Session() as session:
        x = mg.placeholder("x", shape=(None, 3))
        node = layer(x)
        (grad,) = mg.gradients(node.sum(), [layer.weight])
        session.run(mg.global_variables_initializer())
        result, found = session.run([node, grad], {x: data})
        assert type(layer.weight * 2) is mg.Tensor, "outside of the call tensors are tensors"
    assert [n.name for n in g.variables] == ["masked/weight"]
    assert result.tobytes() == y.data.tobytes()
    assert found.tobytes() == layer.weight.grad.data.tobytes()


# ---- Ways to make tensors -------------------------------------------------------------------


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

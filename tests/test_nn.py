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
    with pytest.raises(TypeError, match="Module needs a method forward"):
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


# ---- Both modes -----------------------------------------------------------------------------

RANDOM = np.random.default_rng(7)


def run_static(module: mg.nn.Module, data: Any, runs: int = 1) -> list[Any]:
    """Outputs of a module in so many runs of a graph with an open batch."""
    with mg.Graph(), mg.Session() as session:
        x = mg.placeholder("x", shape=(None, *data.shape[1:]), dtype=data.dtype)
        y = module(x)
        session.run(mg.global_variables_initializer())
        return [session.run(y, {x: data}) for _ in range(runs)]


LAYERS: dict[str, tuple[Any, tuple[int, ...]]] = {
    "Linear": (lambda: mg.nn.Linear(4, 3, seed=0), (5, 4)),
    "Flatten": (mg.nn.Flatten, (5, 2, 3)),
    "ReLU": (mg.nn.ReLU, (5, 4)),
    "Tanh": (mg.nn.Tanh, (5, 4)),
    "Sigmoid": (mg.nn.Sigmoid, (5, 4)),
    "GELU": (mg.nn.GELU, (5, 4)),
    "GELU tanh": (lambda: mg.nn.GELU("tanh"), (5, 4)),
    "Softmax": (lambda: mg.nn.Softmax(axis=1), (5, 4, 2)),
    "LayerNorm": (lambda: mg.nn.LayerNorm(4), (5, 3, 4)),
    "LayerNorm of two axes": (lambda: mg.nn.LayerNorm((3, 4)), (5, 3, 4)),
    "BatchNorm1d": (lambda: mg.nn.BatchNorm1d(4), (5, 4)),
    "BatchNorm1d of sequences": (lambda: mg.nn.BatchNorm1d(3), (5, 3, 4)),
    "BatchNorm2d": (lambda: mg.nn.BatchNorm2d(3, affine=False), (5, 3, 2, 2)),
    "BatchNorm2d in inference": (lambda: mg.nn.BatchNorm2d(3).eval(), (5, 3, 2, 2)),
    "Dropout": (lambda: mg.nn.Dropout(0.4, seed=3), (5, 4)),
}


@pytest.mark.parametrize("name", LAYERS)
def test_every_layer_gives_the_same_bits_in_both_modes(name: str) -> None:
    make, shape = LAYERS[name]
    data = RANDOM.standard_normal(shape).astype(np.float32)
    expected = make()(mg.tensor(data))
    (actual,) = run_static(make(), data)
    assert (actual.shape, actual.dtype) == (expected.shape, mg.float32)
    assert actual.tobytes() == expected.data.tobytes()


@pytest.mark.parametrize("name", [n for n in LAYERS if n not in ("ReLU", "Dropout", "Flatten")])
def test_every_layer_has_gradients_of_second_order(name: str) -> None:
    make, shape = LAYERS[name]
    layer = make()
    assert mg.check_grads(lambda x: layer(x) ** 2, RANDOM.standard_normal(shape), order=2) < 1e-6


# ---- Dropout --------------------------------------------------------------------------------


def test_dropout_keeps_the_mean_and_drops_by_its_probability() -> None:
    x = np.ones((100, 1000), np.float32)
    for p in (0.1, 0.5, 0.9):
        y = mg.dropout(x, 0, p=p, seed=1)
        assert set(np.unique(y)) == {0, np.float32(1 / (1 - p))}
        assert np.mean(y == 0) == pytest.approx(p, abs=0.005)
        assert y.mean() == pytest.approx(1, abs=0.04)
    assert mg.dropout(x, 0, p=0.0).tolist() == x.tolist()
    assert not mg.dropout(x, 0, p=1.0).any()


def test_dropout_is_a_pure_function_of_seed_count_and_shape() -> None:
    x = np.ones((8, 8), np.float32)
    first = mg.dropout(x, 5, p=0.5, seed=2)
    assert mg.dropout(x, 5, p=0.5, seed=2).tobytes() == first.tobytes()
    for other in (mg.dropout(x, 6, p=0.5, seed=2), mg.dropout(x, 5, p=0.5, seed=3)):
        assert 10 < np.sum(other != first) < 54, "about half of them agree"
    # Philox promises its stream: these bits are the same on every machine.
    assert "".join("1" if k else "0" for k in first.ravel()[:16] > 0) == "1101001001111011"


def test_the_gradient_of_dropout_passes_the_same_elements() -> None:
    x = mg.tensor(np.ones((6, 6), np.float32), requires_grad=True)
    y = mg.dropout(x, 3, p=0.5, seed=0)
    y.sum().backward()
    assert x.grad.data.tobytes() == y.data.tobytes()
    assert (
        mg.check_grads(lambda v: mg.dropout(v * v, 3, p=0.5), RANDOM.random((3, 3)), order=2) < 1e-6
    )


def test_dropout_changes_with_each_call_as_with_each_run() -> None:
    data = np.ones((6, 6), np.float32)
    layer = mg.nn.Dropout(0.5, seed=4)
    calls = [layer(mg.tensor(data)).data for _ in range(3)]
    runs = run_static(mg.nn.Dropout(0.5, seed=4), data, 3)
    assert [a.tobytes() for a in runs] == [a.tobytes() for a in calls]
    assert len({a.tobytes() for a in calls}) == 3
    unseeded = [mg.nn.Dropout(0.5)(mg.tensor(data)).data.tobytes() for _ in range(2)]
    assert unseeded[0] != unseeded[1]


def test_uses_of_one_dropout_layer_in_a_graph_differ() -> None:
    layer, data = mg.nn.Dropout(0.5, seed=4), np.ones((6, 6), np.float32)
    with mg.Graph(), mg.Session() as session:
        x = mg.placeholder("x", shape=(6, 6))
        first, second = session.run([layer(x), layer(x)], {x: data})
    assert first.tobytes() != second.tobytes()


def test_dropout_does_nothing_in_inference() -> None:
    layer = mg.nn.Dropout(0.5).eval()
    x = mg.tensor([1.0, 2.0])
    assert layer(x) is x
    with mg.Graph():
        node = mg.placeholder("x", shape=(2,))
        assert layer(node) is node


@pytest.mark.parametrize("p", [-0.1, 1.5, float("nan")])
def test_dropout_takes_probabilities(p: float) -> None:
    with pytest.raises(mg.ShapeError, match="is not a probability"):
        mg.nn.Dropout(p)
    with pytest.raises(mg.ShapeError, match="is not a probability"):
        mg.dropout(mg.ones(2), 0, p=p)


def test_dropout_counts_in_whole_numbers() -> None:
    with pytest.raises(mg.DtypeError, match="must be an integer, not float32"):
        mg.dropout(mg.ones(2), 1.0)
    with pytest.raises(mg.ShapeError, match="count without axes"):
        mg.dropout(mg.ones(2), np.array([1, 2]))


# ---- Normalisation --------------------------------------------------------------------------


def test_layer_norm_follows_the_formula() -> None:
    x = RANDOM.standard_normal((5, 3, 4))
    layer = mg.nn.LayerNorm(4)
    layer.weight.data[:] = [1, 2, 3, 4]
    layer.bias.data[:] = 0.5
    mean, variance = x.mean(-1, keepdims=True), x.var(-1, keepdims=True)
    expected = (x - mean) / np.sqrt(variance + 1e-5) * [1, 2, 3, 4] + 0.5
    np.testing.assert_allclose(layer(mg.tensor(x)).data, expected, rtol=1e-10)
    plain = mg.layer_norm(x, (3, 4))
    np.testing.assert_allclose(plain.mean((1, 2)), 0, atol=1e-12)
    np.testing.assert_allclose(plain.var((1, 2)), 1, rtol=1e-4)
    with pytest.raises(mg.ShapeError, match=r"\(5, 3, 4\) does not end with \(3,\)"):
        mg.nn.LayerNorm(3)(mg.tensor(x))
    with mg.Graph(), pytest.raises(mg.ShapeError, match=r"does not end with \(3,\)"):
        mg.nn.LayerNorm(3)(mg.placeholder("x", shape=(None, 4)))


def test_batch_norm_keeps_running_statistics_as_pytorch_does() -> None:
    layer = mg.nn.BatchNorm2d(3, momentum=0.25)
    mean, variance = np.zeros(3), np.ones(3)
    for _ in range(4):
        x = RANDOM.standard_normal((4, 3, 2, 2)) * 3 + 1
        y = layer(mg.tensor(x.astype(np.float32)))
        np.testing.assert_allclose(y.data.mean((0, 2, 3)), 0, atol=1e-6)
        mean = 0.75 * mean + 0.25 * x.mean((0, 2, 3))
        variance = 0.75 * variance + 0.25 * x.var((0, 2, 3), ddof=1)
    np.testing.assert_allclose(layer.running_mean.data, mean, rtol=1e-5)
    np.testing.assert_allclose(layer.running_var.data, variance, rtol=1e-5)
    layer.eval()
    seen = layer(mg.tensor(x.astype(np.float32))).data
    expected = (x - mean[:, None, None]) / np.sqrt(variance[:, None, None] + 1e-5)
    np.testing.assert_allclose(seen, expected, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(layer.running_mean.data, mean, rtol=1e-5)
    assert sorted(layer.state_dict()) == ["bias", "running_mean", "running_var", "weight"]
    assert len(layer.parameters()) == 2
    assert layer.running_mean.creator is None


def normed() -> mg.nn.Sequential:
    return mg.nn.Sequential(
        mg.nn.Linear(4, 6, seed=0), mg.nn.BatchNorm1d(6), mg.nn.Tanh(), mg.nn.Linear(6, 1, seed=1)
    )


def test_training_renews_running_statistics_alike_in_both_modes() -> None:
    batches = [RANDOM.standard_normal((n, 4)).astype(np.float32) for n in (8, 5, 6)]
    model = normed()
    optimizer = mg.optim.SGD(model.parameters(), lr=0.1)
    for batch in batches:
        optimizer.zero_grad()
        (model(mg.tensor(batch)) ** 2).mean().backward()
        optimizer.step()
    probe = model.eval()(mg.tensor(batches[0])).data
    other = normed()
    with mg.Graph() as g, mg.Session() as session:
        x = mg.placeholder("x", shape=(None, 4))
        inferred = other.eval()(x)  # built first: it reads what training will change
        other.train()
        step = mg.optim.SGD(other.parameters(), lr=0.1).minimize((other(x) ** 2).mean())
        session.run(mg.global_variables_initializer())
        for batch in batches:
            session.run(step, {x: batch})
        norm = other[1]
        for name in ("running_mean", "running_var"):
            value = session.value(getattr(norm, name))
            assert value.tobytes() == getattr(model[1], name).data.tobytes(), name
        assert session.run(inferred, {x: batches[0]}).tobytes() == probe.tobytes()
        names = [n.name for n in g.variables]
    assert norm.running_mean.tolist() == [0] * 6, "a session changes no tensor"
    assert len(names) == len(set(names)) == 8
    assert "batchnorm1d1/running_mean" in names


def test_a_norm_that_is_used_twice_goes_on_from_its_first_use() -> None:
    first, second = (RANDOM.standard_normal((6, 3)).astype(np.float32) for _ in range(2))
    layer = mg.nn.BatchNorm1d(3)
    layer(mg.tensor(first))
    layer(mg.tensor(second))
    other = mg.nn.BatchNorm1d(3)
    with mg.Graph(), mg.Session() as session:
        a, b = mg.placeholder("a", shape=(None, 3)), mg.placeholder("b", shape=(None, 3))
        ya, yb = other(a), other(b)
        both, one = mg.nn.updates(ya.sum() + yb.sum()), mg.nn.updates(ya.sum())
        session.run(mg.global_variables_initializer())
        session.run(both, {a: first, b: second})
        assert session.value(other.running_var).tobytes() == layer.running_var.data.tobytes()
        session.run(mg.global_variables_initializer())
        session.run(one, {a: first})  # b need not be fed: the loss does not depend on it
        alone = mg.nn.BatchNorm1d(3)
        alone(mg.tensor(first))
        assert session.value(other.running_mean).tobytes() == alone.running_mean.data.tobytes()


@pytest.mark.parametrize(
    ("make", "shape", "says"),
    [
        (lambda: mg.nn.BatchNorm2d(3), (2, 3), r"BatchNorm2d.*4 axes.*\(2, 3\)"),
        (lambda: mg.nn.BatchNorm1d(3), (2, 3, 1, 1), "2 or 3 axes"),
        (lambda: mg.nn.BatchNorm1d(3), (2, 4), r"axis 1 of shape \(2, 4\) must have length 3"),
        (lambda: mg.nn.BatchNorm1d(3), (1, 3), "one value for each channel"),
    ],
)
def test_batch_norm_refuses_what_it_cannot_take(make: Any, shape: Any, says: str) -> None:
    with pytest.raises(mg.ShapeError, match=says):
        make()(mg.ones(shape))
    with mg.Graph(), pytest.raises(mg.ShapeError, match=says):
        make()(mg.placeholder("x", shape=shape))


def test_batch_norm_keeps_nothing_inside_a_loop() -> None:
    layer = mg.nn.BatchNorm1d(2)
    with mg.Graph():
        x = mg.placeholder("x", shape=(5, 4, 2))
        with pytest.raises(mg.GraphError, match="inside a branch or a loop"):
            mg.scan(lambda carry, row: (carry, layer(row)), 0.0, x)
        layer.eval()
        _, ys = mg.scan(lambda carry, row: (carry, layer(row)), 0.0, x)
        assert ys.shape == (5, 4, 2)


# ---- Embedding ------------------------------------------------------------------------------


def test_an_embedding_looks_rows_up_and_adds_their_gradients() -> None:
    layer = mg.nn.Embedding(5, 3, seed=0)
    ids = np.array([[0, 1], [1, 4]])
    y = layer(mg.tensor(ids))
    assert y.data.tobytes() == layer.weight.data[ids].tobytes()
    y.sum().backward()
    assert layer.weight.grad.data[:, 0].tolist() == [1, 2, 0, 0, 1]
    with mg.Graph(), mg.Session() as session:
        x = mg.placeholder("ids", shape=(None, 2), dtype=mg.int64)
        node = layer(x)
        assert node.shape == (None, 2, 3)
        (grad,) = mg.gradients(node.sum(), [layer.weight])
        session.run(mg.global_variables_initializer())
        result, found = session.run([node, grad], {x: ids})
    assert result.tobytes() == y.data.tobytes()
    assert found.tobytes() == layer.weight.grad.data.tobytes()
    with pytest.raises(mg.GraphError, match="5"):
        layer(mg.tensor([5]))


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


# ---- Losses ---------------------------------------------------------------------------------

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

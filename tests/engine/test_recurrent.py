"""Recurrent layers: PyTorch's equations written out, both modes, open time, all gradients."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from directions import check_gradients

import minigrad as mg

RANDOM = np.random.default_rng(0)
KINDS = ("RNN", "GRU", "LSTM")
GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}


def sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


def step(kind: str, p: dict[str, Any], x: Any, state: Any) -> Any:
    """One step in NumPy, as the documentation of PyTorch writes it."""
    h = state[0] if kind == "LSTM" else state
    given = np.split(x @ p["weight_ih"].T + p["bias_ih"], GATES[kind], axis=1)
    mine = np.split(h @ p["weight_hh"].T + p["bias_hh"], GATES[kind], axis=1)
    if kind == "RNN":
        return np.tanh(given[0] + mine[0])
    if kind == "GRU":
        r, z = (sigmoid(a + b) for a, b in zip(given[:2], mine[:2], strict=True))
        n = np.tanh(given[2] + r * mine[2])
        return (1 - z) * n + z * h
    i, f, g, o = (a + b for a, b in zip(given, mine, strict=True))
    c = sigmoid(f) * state[1] + sigmoid(i) * np.tanh(g)
    return sigmoid(o) * np.tanh(c), c


def by_hand(kind: str, p: dict[str, Any], x: Any, state: Any) -> tuple[Any, Any]:
    outputs = []
    for t in range(x.shape[1]):
        state = step(kind, p, x[:, t], state)
        outputs.append(state[0] if kind == "LSTM" else state)
    return np.stack(outputs, 1), state


def doubled(module: mg.nn.Module) -> mg.nn.Module:
    """The module in float64."""
    for p in module.parameters():
        p.data = p.data.astype(np.float64)
    return module


def zeros(kind: str, n: int, hidden: int) -> Any:
    z = np.zeros((n, hidden))
    return (z, z) if kind == "LSTM" else z


def leaves(state: Any) -> tuple[Any, ...]:
    return state if isinstance(state, tuple) else (state,)


@pytest.mark.parametrize("kind", KINDS)
def test_a_cell_follows_the_equations(kind: str) -> None:
    cell = doubled(getattr(mg.nn, kind + "Cell")(3, 5, seed=0))
    p, x = cell.state_dict(), RANDOM.standard_normal((2, 3))
    assert {k: v.shape for k, v in p.items()} == {
        "weight_ih": (GATES[kind] * 5, 3),
        "weight_hh": (GATES[kind] * 5, 5),
        "bias_ih": (GATES[kind] * 5,),
        "bias_hh": (GATES[kind] * 5,),
    }
    state = zeros(kind, 2, 5)
    expected = step(kind, p, x, state)
    first = cell(mg.tensor(x))
    for a, b in zip(leaves(first), leaves(expected), strict=True):
        np.testing.assert_allclose(a.data, b, rtol=1e-10, atol=1e-12)
    second = cell(mg.tensor(-x), first)
    for a, b in zip(leaves(second), leaves(step(kind, p, -x, expected)), strict=True):
        np.testing.assert_allclose(a.data, b, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_a_layer_is_its_cell_along_time(kind: str) -> None:
    layer = doubled(getattr(mg.nn, kind)(3, 5, num_layers=2, seed=0, batch_first=True))
    x = RANDOM.standard_normal((2, 4, 3))
    y, last = layer(mg.tensor(x))
    expected, ends = x, []
    for i in range(2):
        p = {k[:-3]: v for k, v in layer.state_dict().items() if k.endswith(f"_l{i}")}
        expected, end = by_hand(kind, p, expected, zeros(kind, 2, 5))
        ends.append(leaves(end))
    np.testing.assert_allclose(y.data, expected, rtol=1e-10, atol=1e-12)
    for part, column in zip(leaves(last), zip(*ends, strict=True), strict=True):
        np.testing.assert_allclose(part.data, np.stack(column), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_both_directions_are_two_layers_side_by_side_in_both_modes(kind: str) -> None:
    layer = getattr(mg.nn, kind)(3, 4, num_layers=2, bidirectional=True, seed=0, batch_first=True)
    x = RANDOM.standard_normal((2, 5, 3)).astype(np.float32)
    y, last = layer(mg.tensor(x))
    assert y.shape == (2, 5, 8)
    assert leaves(last)[0].shape == (4, 2, 4)
    p = layer.state_dict()
    below = x
    for i in range(2):
        parts, ends = [], []
        for suffix, turn in ((f"_l{i}", 1), (f"_l{i}_reverse", -1)):
            own = {k.removesuffix(suffix): v for k, v in p.items() if k.endswith(suffix)}
            out, end = by_hand(kind, own, below[:, ::turn], zeros(kind, 2, 4))
            parts.append(out[:, ::turn])
            ends.append(leaves(end)[0])
        below = np.concatenate(parts, 2)
        for part, end in zip(leaves(last)[0].data[2 * i :], ends, strict=False):
            np.testing.assert_allclose(part, end, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(y.data, below, rtol=1e-5, atol=1e-6)
    again, _ = layer(mg.tensor(x), last)
    assert again.data.tobytes() != y.data.tobytes(), "it goes on from the state of both directions"
    with mg.Graph(), mg.Session() as session:
        node = mg.placeholder("x", shape=(None, None, 3))
        out = layer(node)[0]
        session.run(mg.global_variables_initializer())
        assert session.run(out, {node: x}).tobytes() == y.data.tobytes()


@pytest.mark.parametrize("kind", KINDS)
def test_a_layer_goes_on_from_a_given_state(kind: str) -> None:
    layer = getattr(mg.nn, kind)(3, 5, num_layers=2, seed=0, batch_first=True)
    x = mg.tensor(RANDOM.standard_normal((2, 6, 3)).astype(np.float32))
    whole, end = layer(x)
    first, state = layer(x[:, :4])
    second, same_end = layer(x[:, 4:], state)
    np.testing.assert_allclose(
        np.concatenate([first.data, second.data], 1), whole.data, rtol=1e-5, atol=1e-6
    )
    for a, b in zip(leaves(end), leaves(same_end), strict=True):
        np.testing.assert_allclose(a.data, b.data, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    ("kind", "layers", "bias"), list(itertools.product(KINDS, (1, 2), (True, False)))
)
def test_both_modes_agree_bit_for_bit_with_open_batch_and_time(
    kind: str, layers: int, bias: bool
) -> None:
    layer = getattr(mg.nn, kind)(3, 4, num_layers=layers, bias=bias, seed=1, batch_first=True)
    with mg.Graph() as g, mg.Session() as session:
        x = mg.placeholder("x", shape=(None, None, 3))
        out, state = layer(x)
        assert out.shape == (None, None, 4)
        loss = (out * out).sum() + leaves(state)[-1].sum()
        grads = mg.gradients(loss, [x, *layer.parameters()])
        session.run(mg.global_variables_initializer())
        assert sum(n.op.name == "Scan" for n in g.nodes) == 2 * layers, "forward and backward"
        for n, t in ((2, 5), (1, 1), (3, 7)):
            data = RANDOM.standard_normal((n, t, 3)).astype(np.float32)
            values, ends, found = session.run([out, state, grads], {x: data})
            leaf = mg.tensor(data, requires_grad=True)
            y, end = layer(leaf)
            layer.zero_grad()
            ((y * y).sum() + leaves(end)[-1].sum()).backward()
            assert values.tobytes() == y.data.tobytes()
            for a, b in zip(leaves(ends), leaves(end), strict=True):
                assert a.tobytes() == b.data.tobytes()
            for a, p in zip(found, [leaf, *layer.parameters()], strict=True):
                assert a.tobytes() == p.grad.data.tobytes(), (kind, p.name, n, t)


@pytest.mark.parametrize("kind", KINDS)
def test_recurrent_layers_have_gradients_of_second_order(kind: str) -> None:
    layer = doubled(getattr(mg.nn, kind)(2, 2, seed=0, batch_first=True))
    x = RANDOM.standard_normal((1, 3, 2))
    assert check_gradients(lambda v: layer(v)[0] ** 2, x) < 1e-6
    name = "weight_hh_l0"

    def with_weight(w: Any) -> Any:
        original = getattr(layer, name)
        layer.__dict__[name] = w
        try:
            return layer(mg.tensor(x))[0]
        finally:
            layer.__dict__[name] = original

    assert check_gradients(with_weight, layer.weight_hh_l0.data) < 1e-6


@pytest.mark.parametrize("kind", KINDS)
def test_a_cell_runs_under_dynamic_rnn(kind: str) -> None:
    cell, layer = (
        getattr(mg.nn, kind + "Cell")(3, 4, seed=1),
        getattr(mg.nn, kind)(3, 4, seed=1, batch_first=True),
    )
    data = RANDOM.standard_normal((2, 5, 3)).astype(np.float32)
    with mg.Graph(), mg.Session() as session:
        x = mg.placeholder("x", shape=(None, None, 3))
        out, _ = mg.dynamic_rnn(cell, x)
        session.run(mg.global_variables_initializer())
        values = session.run(out, {x: data})
    np.testing.assert_allclose(values, layer(mg.tensor(data))[0].data, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", [mg.int64, mg.float64])
def test_the_state_has_the_common_data_type(kind: str, dtype: Any) -> None:
    layer = getattr(mg.nn, kind)(3, 4, seed=0, batch_first=True)
    data = np.arange(12).reshape(2, 2, 3).astype(dtype)
    y, _ = layer(mg.tensor(data))
    with mg.Graph(), mg.Session() as session:
        x = mg.placeholder("x", shape=(None, None, 3), dtype=dtype)
        out, _ = layer(x)
        session.run(mg.global_variables_initializer())
        values = session.run(out, {x: data})
    assert values.dtype == y.dtype == (mg.float64 if dtype == mg.float64 else mg.float32)
    assert values.tobytes() == y.data.tobytes()


def test_weights_are_seeded_and_bounded() -> None:
    for kind in KINDS:
        one, same, other = (
            getattr(mg.nn, kind)(3, 16, seed=s, batch_first=True) for s in (0, 0, 1)
        )
        for p, q in zip(one.parameters(), same.parameters(), strict=True):
            assert p.data.tobytes() == q.data.tobytes()
            assert np.abs(p.data).max() <= 0.25
        assert one.weight_hh_l0.tolist() != other.weight_hh_l0.tolist()
        assert repr(one) == f"{kind}(3 → 16)"
        assert len(getattr(mg.nn, kind)(3, 4, bias=False, batch_first=True).parameters()) == 2


@pytest.mark.parametrize("kind", KINDS)
def test_sequences_have_three_axes(kind: str) -> None:
    layer = getattr(mg.nn, kind)(3, 4, batch_first=True)
    with pytest.raises(
        mg.ShapeError, match=rf"{kind}: .*3 axes \(batch, time, features\).*\(5, 3\)"
    ):
        layer(mg.ones(5, 3))
    with mg.Graph(), pytest.raises(mg.ShapeError, match="3 axes"):
        layer(mg.placeholder("x", shape=(None, 3)))
    with pytest.raises(mg.ShapeError, match=r"\(2, 5, 7\)"):
        layer(mg.ones(2, 5, 7))

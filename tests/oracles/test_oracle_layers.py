"""Layers and optimisers against PyTorch: the same weights, the same numbers in and out."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

import minigrad as mg

pytestmark = pytest.mark.oracle

TOLERANCE = {np.float64: 1e-10, np.float32: 2e-5}


@pytest.fixture(autouse=True)
def seeded() -> None:
    torch.manual_seed(0)


def near(actual: Any, expected: Any, what: str, tolerance: float) -> None:
    expected = expected.detach().numpy()
    actual = np.asarray(actual.data if isinstance(actual, mg.Tensor) else actual)
    assert (actual.dtype, actual.shape) == (expected.dtype, expected.shape), what
    np.testing.assert_allclose(actual, expected, tolerance, tolerance, err_msg=what)


# ---- Layers -----------------------------------------------------------------------------------

Pair = tuple[Callable[[], mg.nn.Module], Callable[[], nn.Module], tuple[int, ...]]
BATCH_FIRST = {"batch_first": True}
LAYERS: dict[str, Pair] = {
    "Linear": (lambda: mg.nn.Linear(5, 3), lambda: nn.Linear(5, 3), (4, 5)),
    "Linear over time": (lambda: mg.nn.Linear(5, 3), lambda: nn.Linear(5, 3), (2, 4, 5)),
    "Linear without bias": (
        lambda: mg.nn.Linear(5, 3, bias=False),
        lambda: nn.Linear(5, 3, bias=False),
        (4, 5),
    ),
    "Conv2d": (lambda: mg.nn.Conv2d(2, 3, 3), lambda: nn.Conv2d(2, 3, 3), (2, 2, 5, 6)),
    "Conv2d with steps": (
        lambda: mg.nn.Conv2d(2, 3, (3, 2), stride=(2, 1), padding=(1, 0), bias=False),
        lambda: nn.Conv2d(2, 3, (3, 2), stride=(2, 1), padding=(1, 0), bias=False),
        (2, 2, 5, 6),
    ),
    "Conv2d of the same size": (
        lambda: mg.nn.Conv2d(1, 2, 5, padding="same"),
        lambda: nn.Conv2d(1, 2, 5, padding="same"),
        (2, 1, 5, 4),
    ),
    "MaxPool2d": (lambda: mg.nn.MaxPool2d(2), lambda: nn.MaxPool2d(2), (2, 2, 5, 6)),
    "MaxPool2d with a frame": (
        lambda: mg.nn.MaxPool2d(3, stride=2, padding=1),
        lambda: nn.MaxPool2d(3, stride=2, padding=1),
        (2, 2, 5, 6),
    ),
    "AvgPool2d": (
        lambda: mg.nn.AvgPool2d((2, 3), stride=1, padding=(1, 1)),
        lambda: nn.AvgPool2d((2, 3), stride=1, padding=(1, 1)),
        (2, 2, 5, 6),
    ),
    "LayerNorm": (lambda: mg.nn.LayerNorm(4), lambda: nn.LayerNorm(4), (3, 4)),
    "LayerNorm of two axes": (
        lambda: mg.nn.LayerNorm((3, 4), eps=0.1),
        lambda: nn.LayerNorm((3, 4), eps=0.1),
        (2, 3, 4),
    ),
    "LayerNorm without weights": (
        lambda: mg.nn.LayerNorm(4, affine=False),
        lambda: nn.LayerNorm(4, elementwise_affine=False),
        (3, 4),
    ),
    "BatchNorm1d": (lambda: mg.nn.BatchNorm1d(3), lambda: nn.BatchNorm1d(3), (6, 3)),
    "BatchNorm1d over time": (lambda: mg.nn.BatchNorm1d(3), lambda: nn.BatchNorm1d(3), (4, 3, 5)),
    "BatchNorm2d": (
        lambda: mg.nn.BatchNorm2d(3, eps=0.01, momentum=0.3),
        lambda: nn.BatchNorm2d(3, eps=0.01, momentum=0.3),
        (4, 3, 2, 5),
    ),
    "BatchNorm2d without weights": (
        lambda: mg.nn.BatchNorm2d(3, affine=False),
        lambda: nn.BatchNorm2d(3, affine=False),
        (4, 3, 2, 5),
    ),
    "ReLU": (mg.nn.ReLU, nn.ReLU, (3, 4)),
    "Tanh": (mg.nn.Tanh, nn.Tanh, (3, 4)),
    "Sigmoid": (mg.nn.Sigmoid, nn.Sigmoid, (3, 4)),
    "GELU": (mg.nn.GELU, nn.GELU, (3, 4)),
    "GELU by tanh": (lambda: mg.nn.GELU("tanh"), lambda: nn.GELU("tanh"), (3, 4)),
    "Softmax": (lambda: mg.nn.Softmax(1), lambda: nn.Softmax(1), (3, 4, 2)),
    "Flatten": (mg.nn.Flatten, nn.Flatten, (3, 4, 2)),
    "RNN": (lambda: mg.nn.RNN(3, 4, **BATCH_FIRST), lambda: nn.RNN(3, 4, **BATCH_FIRST), (2, 5, 3)),
    "RNN of two layers": (
        lambda: mg.nn.RNN(3, 4, num_layers=2, **BATCH_FIRST),
        lambda: nn.RNN(3, 4, 2, **BATCH_FIRST),
        (2, 5, 3),
    ),
    "GRU": (lambda: mg.nn.GRU(3, 4, **BATCH_FIRST), lambda: nn.GRU(3, 4, **BATCH_FIRST), (2, 5, 3)),
    "GRU of two layers without bias": (
        lambda: mg.nn.GRU(3, 4, num_layers=2, bias=False, **BATCH_FIRST),
        lambda: nn.GRU(3, 4, 2, bias=False, **BATCH_FIRST),
        (2, 5, 3),
    ),
    "LSTM": (
        lambda: mg.nn.LSTM(3, 4, **BATCH_FIRST),
        lambda: nn.LSTM(3, 4, **BATCH_FIRST),
        (2, 5, 3),
    ),
    "LSTM of two layers": (
        lambda: mg.nn.LSTM(3, 4, num_layers=2, **BATCH_FIRST),
        lambda: nn.LSTM(3, 4, 2, **BATCH_FIRST),
        (2, 5, 3),
    ),
    **{
        f"{kind} in both directions": (
            lambda kind=kind: getattr(mg.nn, kind)(
                3, 4, num_layers=2, bidirectional=True, **BATCH_FIRST
            ),
            lambda kind=kind: getattr(nn, kind)(3, 4, 2, bidirectional=True, **BATCH_FIRST),
            (2, 5, 3),
        )
        for kind in ("RNN", "GRU", "LSTM")
    },
    "Conv2d dilated": (
        lambda: mg.nn.Conv2d(4, 6, 3, padding=2, dilation=(2, 1), groups=2),
        lambda: nn.Conv2d(4, 6, 3, padding=2, dilation=(2, 1), groups=2),
        (2, 4, 7, 6),
    ),
    "RNNCell": (lambda: mg.nn.RNNCell(3, 4), lambda: nn.RNNCell(3, 4), (2, 3)),
    "GRUCell": (lambda: mg.nn.GRUCell(3, 4), lambda: nn.GRUCell(3, 4), (2, 3)),
    "LSTMCell": (lambda: mg.nn.LSTMCell(3, 4), lambda: nn.LSTMCell(3, 4), (2, 3)),
}
EXEMPT = {
    "Module": "the parent of all layers",
    "Sequential": "layers one after the other; PyTorch numbers them, we name them",
    "Dropout": "each framework draws other numbers; see the test of its shares",
    "Embedding": "takes integers; see its own test",
    "Identity": "in test_oracle_spellings.py, as the losses are",
    "ModuleList": "a list, which computes nothing",
    **dict.fromkeys(
        ("BCEWithLogitsLoss", "CrossEntropyLoss", "L1Loss", "MSELoss", "NLLLoss"),
        "takes two operands; see test_oracle_spellings.py, and the functions behind it",
    ),
}


def test_every_layer_is_compared() -> None:
    layers = {n for n in mg.nn.__all__ if inspect.isclass(getattr(mg.nn, n))}
    compared = {name.split()[0] for name in LAYERS}
    assert compared | set(EXEMPT) == layers
    assert compared & set(EXEMPT) == set()


def pair_of(ours: mg.nn.Module, theirs: nn.Module, dtype: Any) -> None:
    """Give our layer the data type and the weights of the other, by their names."""
    theirs.to(torch.float64 if dtype is np.float64 else torch.float32)
    for _, x in (*ours.named_parameters(), *ours.named_buffers()):
        x.data = x.data.astype(dtype)
    weights = list(theirs.parameters())
    with torch.no_grad():  # so that a swapped weight and bias show, but no tanh is driven to 1,
        for i, p in enumerate(weights):  # where 1 - tanh² is nothing but rounding
            steps = torch.linspace(-0.5, 0.5, p.numel(), dtype=p.dtype).reshape(p.shape)
            p.add_(steps * (i + 1) / len(weights))
    state = {n: x.numpy() for n, x in theirs.state_dict().items() if x.ndim}
    ours.load_state_dict(state)  # which refuses other names and shapes


def flat(result: Any) -> list[Any]:
    """A result, or the results in nested tuples."""
    return [x for r in result for x in flat(r)] if isinstance(result, tuple) else [result]


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("name", LAYERS)
def test_layers_are_those_of_torch(name: str, dtype: Any) -> None:
    make_ours, make_theirs, shape = LAYERS[name]
    ours, theirs = make_ours(), make_theirs()
    pair_of(ours, theirs, dtype)
    random, tolerance = np.random.default_rng(0), TOLERANCE[dtype]
    for training in (True, True, False):  # the second meets changed running statistics
        ours.train(training)
        theirs.train(training)
        data = random.standard_normal(shape).astype(dtype)
        x = mg.tensor(data, requires_grad=True)
        z = torch.tensor(data, requires_grad=True)
        found, expected = flat(ours(x)), flat(theirs(z))
        for i, (a, b) in enumerate(zip(found, expected, strict=True)):
            near(a, b, f"{name}: result {i}, training {training}", tolerance)
            seed = random.standard_normal(b.shape).astype(dtype)
            b.backward(torch.tensor(seed), retain_graph=True)
            a.backward(seed, retain_graph=True)
        near(x.grad, z.grad, f"{name}: gradient of the input", tolerance)
        theirs_by_name = dict(theirs.named_parameters())
        for n, p in ours.named_parameters():
            near(p.grad, theirs_by_name[n].grad, f"{name}: gradient of {n}", tolerance)
        others = dict(theirs.named_buffers())
        for n, buffer in ours.named_buffers():
            near(buffer, others[n], f"{name}: {n}", tolerance)


@pytest.mark.parametrize("kind", ["RNN", "GRU", "LSTM", "RNNCell", "GRUCell", "LSTMCell"])
def test_recurrent_layers_begin_where_they_are_told(kind: str) -> None:
    make_ours, make_theirs, shape = LAYERS[kind]
    ours, theirs = make_ours(), make_theirs()
    pair_of(ours, theirs, np.float64)
    lead = () if "Cell" in kind else (1,)
    states = [np.random.default_rng(i).standard_normal((*lead, 2, 4)) for i in (1, 2)]
    if "LSTM" in kind:
        begins: Any = tuple(map(mg.tensor, states)), tuple(map(torch.tensor, states))
    else:
        begins = mg.tensor(states[0]), torch.tensor(states[0])
    data = np.random.default_rng(0).standard_normal(shape)
    found, expected = ours(mg.tensor(data), begins[0]), theirs(torch.tensor(data), begins[1])
    for a, b in zip(flat(found), flat(expected), strict=True):
        near(a, b, kind, 1e-10)


def test_embedding_looks_up_and_adds_up() -> None:
    ours, theirs = mg.nn.Embedding(7, 3), nn.Embedding(7, 3)
    pair_of(ours, theirs, np.float64)
    ids = np.array([[0, 6, 6], [2, 0, 6]])
    found, expected = ours(mg.tensor(ids)), theirs(torch.tensor(ids))
    near(found, expected, "rows", 0)
    (found * found).sum().backward()
    (expected * expected).sum().backward()
    near(ours.weight.grad, theirs.weight.grad, "gradient", 1e-12)


def test_dropout_drops_as_many_and_scales_alike() -> None:
    x = np.ones((200, 200), np.float32)
    for p in (0.0, 0.3, 1.0):
        ours, theirs = mg.nn.Dropout(p, seed=0), nn.Dropout(p)
        found, expected = ours(mg.tensor(x)).numpy(), theirs(torch.tensor(x)).numpy()
        assert set(np.unique(found)) == set(np.unique(expected))
        assert abs((found == 0).mean() - p) < 0.01
        assert (ours.eval()(mg.tensor(x)).numpy() == theirs.eval()(torch.tensor(x)).numpy()).all()


# ---- Losses -----------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(5, 4), (5, 1), (2, 3)])
def test_cross_entropy_is_that_of_torch(shape: tuple[int, int]) -> None:
    data = np.random.default_rng(0).standard_normal(shape) * 5
    labels = np.random.default_rng(1).integers(0, shape[1], shape[0])
    x, z = mg.tensor(data, requires_grad=True), torch.tensor(data, requires_grad=True)
    found = mg.cross_entropy(x, mg.tensor(labels))
    expected = nn.functional.cross_entropy(z, torch.tensor(labels))
    found.backward()
    expected.backward()
    near(found, expected, "loss", 1e-12)
    near(x.grad, z.grad, "gradient", 1e-12)


# ---- Optimisers ---------------------------------------------------------------------------------

SGD, ADAM, ADAMW = torch.optim.SGD, torch.optim.Adam, torch.optim.AdamW
OPTIMISERS: dict[str, tuple[Any, Any, dict[str, Any]]] = {
    "SGD": (mg.optim.SGD, SGD, {"lr": 0.1}),
    "SGD with momentum": (mg.optim.SGD, SGD, {"lr": 0.1, "momentum": 0.9}),
    "SGD with weight decay": (mg.optim.SGD, SGD, {"lr": 0.1, "weight_decay": 0.05}),
    "SGD after Nesterov": (
        mg.optim.SGD,
        SGD,
        {"lr": 0.1, "momentum": 0.9, "nesterov": True, "weight_decay": 0.05},
    ),
    "Adam": (mg.optim.Adam, ADAM, {"lr": 0.02}),
    "Adam with all options": (
        mg.optim.Adam,
        ADAM,
        {"lr": 0.02, "betas": (0.8, 0.9), "eps": 1e-3, "weight_decay": 0.05},
    ),
    "AdamW": (mg.optim.AdamW, ADAMW, {"lr": 0.02, "weight_decay": 0.1}),
    "AdamW as it is": (mg.optim.AdamW, ADAMW, {}),
}
X = np.random.default_rng(3).standard_normal((8, 3))
T = np.sin(X.sum(axis=1, keepdims=True))


def models(dtype: Any) -> tuple[mg.nn.Module, nn.Module]:
    """The same small network twice, with the same weights."""
    ours = mg.nn.Sequential(mg.nn.Linear(3, 4), mg.nn.Tanh(), mg.nn.Linear(4, 1))
    theirs = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
    for p, q in zip(ours.parameters(), theirs.parameters(), strict=True):
        p.data = q.detach().numpy().astype(dtype)
    theirs.to(torch.float64 if dtype is np.float64 else torch.float32)
    return ours, theirs


def train_torch(model: nn.Module, optimiser: Any, dtype: Any, steps: int) -> list[Any]:
    x, t = torch.tensor(X.astype(dtype)), torch.tensor(T.astype(dtype))
    for _ in range(steps):
        optimiser.zero_grad()
        ((model(x) - t) ** 2).mean().backward()
        optimiser.step()
    return list(model.parameters())


@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float32, 1e-6), (np.float64, 1e-12)])
@pytest.mark.parametrize("name", OPTIMISERS)
def test_twenty_steps_end_where_those_of_torch_end(name: str, dtype: Any, tolerance: float) -> None:
    kind, peer, options = OPTIMISERS[name]
    ours, theirs = models(dtype)
    start = [np.array(p.data) for p in ours.parameters()]
    expected = train_torch(theirs, peer(theirs.parameters(), **options), dtype, 20)
    optimiser = kind(ours.parameters(), **options)
    x, t = mg.tensor(X.astype(dtype)), mg.tensor(T.astype(dtype))
    for _ in range(20):
        optimiser.zero_grad()
        ((ours(x) - t) ** 2).mean().backward()
        optimiser.step()
    for p, q, before in zip(ours.parameters(), expected, start, strict=True):
        assert np.abs(p.data - before).max() > 100 * tolerance, "it moved"
        near(p, q, name, tolerance)


@pytest.mark.parametrize("name", OPTIMISERS)
def test_so_do_twenty_runs_of_a_static_graph(name: str) -> None:
    kind, peer, options = OPTIMISERS[name]
    ours, theirs = models(np.float64)
    expected = train_torch(theirs, peer(theirs.parameters(), **options), np.float64, 20)
    with mg.Graph() as graph, mg.Session() as session:
        x = mg.placeholder("x", (None, 3), mg.float64)
        loss = ((ours(x) - mg.constant(T)) ** 2).mean()
        step = kind(ours.parameters(), **options).minimize(loss)
        session.run(mg.global_variables_initializer())
        for _ in range(20):
            session.run(step, {x: X})
        found = session.run([graph.lifted(p) for p in ours.parameters()])
    for a, b in zip(found, expected, strict=True):
        near(a, b, name, 1e-12)


@pytest.mark.parametrize("limit", [0.1, 1.0, 1000.0])
def test_gradients_are_clipped_as_torch_does(limit: float) -> None:
    ours, theirs = models(np.float64)
    ((ours(mg.tensor(X)) - mg.tensor(T)) ** 2).sum().backward()
    ((theirs(torch.tensor(X)) - torch.tensor(T)) ** 2).sum().backward()
    norm = mg.optim.clip_grad_norm(ours.parameters(), limit)
    near(norm, nn.utils.clip_grad_norm_(theirs.parameters(), limit), "norm", 1e-12)
    for p, q in zip(ours.parameters(), theirs.parameters(), strict=True):
        near(p.grad, q.grad, "by norm", 1e-5)  # PyTorch adds 1e-6 to the norm
    mg.optim.clip_grad_value(ours.parameters(), limit / 10)
    nn.utils.clip_grad_value_(theirs.parameters(), limit / 10)
    for p, q in zip(ours.parameters(), theirs.parameters(), strict=True):
        near(p.grad, q.grad, "by value", 1e-5)

"""Theano's face: functions of inputs, shared variables, updates and givens, as in its tutorial."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import minigrad as mg

pytestmark = pytest.mark.usefixtures("own_graph")


def scalar(name: str) -> mg.Node:
    return mg.placeholder(name, shape=(), dtype=mg.float64)


# ---- The examples of Theano's tutorial --------------------------------------------------------


def test_adding_two_scalars() -> None:
    x, y = scalar("x"), scalar("y")
    f = mg.theano_function([x, y], x + y)
    assert f(2, 3) == 5
    assert f(16.3, 12.1) == 28.4
    assert f(2, y=3) == f(x=2, y=3) == 5
    assert repr(f) == "<function (x, y) -> Add>"


def test_more_than_one_thing_at_a_time() -> None:
    a, b = (mg.placeholder(n, shape=(None, 2), dtype=mg.float64) for n in "ab")
    diff = a - b
    f = mg.theano_function([a, b], [diff, abs(diff), diff**2])
    found = f([[1, 1], [1, 1]], [[0, 1], [2, 3]])
    assert [y.tolist() for y in found] == [
        [[1, 0], [-1, -2]],
        [[1, 0], [1, 2]],
        [[1, 0], [1, 4]],
    ]


def test_shared_variables() -> None:
    """An accumulator, another function that sees its state, and a value put in its place."""
    state, inc = mg.Variable(0, name="state"), mg.placeholder("inc", shape=(), dtype=mg.int64)
    accumulator = mg.theano_function([inc], state, updates=[(state, state + inc)])
    decrementor = mg.theano_function([inc], state, updates={state: state - inc})
    assert accumulator.get_value(state) == 0
    assert accumulator(1) == 0
    assert accumulator.get_value(state) == 1
    assert accumulator(300) == 1
    assert decrementor(2) == 301
    assert decrementor.get_value(state) == accumulator.get_value(state) == 299
    accumulator.set_value(state, -1)
    assert decrementor(3) == -1
    assert accumulator.get_value(state) == -4
    foo = mg.placeholder("foo", shape=(), dtype=mg.int64)
    skip_shared = mg.theano_function([inc, foo], state * 2 + inc, givens=[(state, foo)])
    assert skip_shared(1, 3) == 7
    assert accumulator.get_value(state) == -4, "the old state is still there, but was not used"
    assert accumulator.session is decrementor.session


def test_logistic_regression() -> None:
    random = np.random.default_rng(0)
    rows, features = 60, 120
    data = random.standard_normal((rows, features)), random.integers(0, 2, rows)
    x = mg.placeholder("x", shape=(None, features), dtype=mg.float64)
    y = mg.placeholder("y", shape=(None,), dtype=mg.float64)
    start = random.standard_normal(features)
    w, b = mg.Variable(start, name="w"), mg.Variable(0.0, name="b", dtype=mg.float64)
    p = 1 / (1 + mg.exp(-(x @ w) - b))
    xent = -y * mg.log(p) - (1 - y) * mg.log(1 - p)
    cost = xent.mean() + 0.01 * (w**2).sum()
    gw, gb = mg.gradients(cost, [w, b])
    train = mg.theano_function(
        [x, y], [p > 0.5, cost], updates=((w, w - 0.1 * gw), (b, b - 0.1 * gb))
    )
    predict = mg.theano_function([x], p > 0.5)
    costs = [train(*data)[1] for _ in range(300)]
    assert all(after < before for before, after in itertools.pairwise(costs))
    assert costs[-1] < 0.5 < costs[0]
    assert np.mean(predict(data[0]) == data[1]) > 0.85

    w_by_hand, b_by_hand = start, 0.0
    for expected in costs[:5]:
        q = 1 / (1 + np.exp(-(data[0] @ w_by_hand) - b_by_hand))
        loss = -data[1] * np.log(q) - (1 - data[1]) * np.log(1 - q)
        assert np.isclose(loss.mean() + 0.01 * (w_by_hand**2).sum(), expected, rtol=1e-12)
        error = (q - data[1]) / rows
        w_by_hand = w_by_hand - 0.1 * (data[0].T @ error + 0.02 * w_by_hand)
        b_by_hand = b_by_hand - 0.1 * error.sum()


# ---- What holds ------------------------------------------------------------------------------


def test_outputs_are_computed_before_the_updates_and_updates_from_old_values() -> None:
    a, b = mg.Variable(1.0, name="a"), mg.Variable(10.0, name="b")
    swap = mg.theano_function([], [a, b, a + b], updates=[(a, b), (b, a)])
    assert [float(v) for v in swap()] == [1, 10, 11]
    assert [float(v) for v in swap()] == [10, 1, 11]
    assert (swap.get_value(a), swap.get_value(b)) == (1, 10)


def test_a_function_of_updates_alone_returns_nothing() -> None:
    w = mg.Variable([1.0, 2.0], name="w")
    double = mg.theano_function([], updates={w: w * 2})
    assert double() is None
    assert double.get_value(w).tolist() == [2, 4]
    assert repr(double) == "<function () -> None, updates w>"


def test_a_list_of_one_output_returns_a_list() -> None:
    x = scalar("x")
    assert mg.theano_function([x], [x * 2])(3) == [6]
    assert mg.theano_function([x], x * 2)(3) == 6


def test_values_are_copies() -> None:
    w = mg.Variable([1.0, 2.0], name="w")
    read = mg.theano_function([], w)
    read.get_value(w)[:] = 9
    read()[:] = 9
    new = np.array([3.0, 4.0], np.float32)
    assert read().tolist() == [1, 2]
    read.set_value(w, new)
    new[:] = 9
    assert read().tolist() == [3, 4]


def test_givens_slice_the_data_as_the_tutorials_do() -> None:
    """The data is shared once; a batch of it stands in for the input of the model."""
    data = mg.Variable(np.arange(12.0).reshape(6, 2), name="data")
    x = mg.placeholder("x", shape=(None, 2), dtype=mg.float64)
    start = mg.placeholder("start", shape=(), dtype=mg.float64)
    total = x.sum()
    f = mg.theano_function([start], total, givens={x: data * start})
    assert [float(f(s)) for s in (1, 2)] == [66, 132]
    g = mg.theano_function([start], [total, data.sum()], updates={data: data + 1}, givens={x: data})
    assert [float(y) for y in g(0)] == [66, 66]
    assert [float(y) for y in g(0)] == [78, 78]


def test_givens_replace_any_node_once() -> None:
    x = scalar("x")
    y = mg.exp(x)
    z = y * 2
    assert mg.theano_function([x], z, givens=[(y, x)])(3) == 6
    assert mg.theano_function([x], x * 10, givens=[(x, x + 1)])(3) == 40
    cast = mg.placeholder("cast", shape=(), dtype=mg.float32)
    assert mg.theano_function([cast], y, givens=[(y, cast)])(3).dtype == np.float64
    with mg.record() as log:
        assert mg.theano_function([], z, givens=[(y, 4)])() == 8
    assert "Exp" not in log.counts.by_op


def test_random_nodes_on_both_sides_of_a_given_belong_to_one_run(own_graph: mg.Graph) -> None:
    count = own_graph.run_counter()
    x = mg.placeholder("x", shape=(), dtype=mg.int64)
    f = mg.theano_function([], [count, x], givens=[(x, count)])
    assert [tuple(map(int, f())) for _ in range(3)] == [(0, 0), (1, 1), (2, 2)]


def test_a_layer_of_tensors_is_trained() -> None:
    layer = mg.nn.Linear(2, 1, seed=0)
    x = mg.placeholder("x", shape=(None, 2))
    loss = ((layer(x) - x.sum(axis=1, keepdims=True)) ** 2).mean()
    parameters = layer.parameters()
    steps = zip(parameters, mg.gradients(loss, parameters), strict=True)
    train = mg.theano_function([x], loss, updates=[(p, p - 0.1 * g) for p, g in steps])
    rows = np.random.default_rng(0).standard_normal((50, 2))
    losses = [float(train(rows)) for _ in range(100)]
    assert losses[-1] < 1e-3 < losses[0]
    np.testing.assert_allclose(train.get_value(layer.weight), [[1, 1]], atol=0.02)


def test_functions_of_a_loaded_graph(tmp_path: Path) -> None:
    x, w = scalar("x"), mg.Variable(2.0, name="w")
    first = mg.theano_function([x], updates={w: w + x})
    first(5)
    mg.build_graph(x, x * w).save(tmp_path / "file", session=first.session)
    loaded = mg.load_graph(tmp_path / "file")
    assert mg.theano_function(loaded.inputs, loaded.outputs[0])(10) == 70


# ---- Mistakes --------------------------------------------------------------------------------


def _function(*args: Any, **kwargs: Any) -> Callable[[], Any]:
    return lambda: mg.theano_function(*args, **kwargs)


def mistakes() -> dict[str, tuple[Callable[[], Any], type[Exception], str]]:
    x, y = scalar("x"), scalar("y")
    w, v = mg.Variable([1.0, 2.0], name="w"), mg.Variable(1.0, name="v")
    f = mg.theano_function([x, y], x + y)
    g = mg.theano_function([x], [x + v], updates=[(v, v + 1), (w, w * mg.log(x))])
    with mg.Graph():
        other = scalar("other")
    return {
        "an input is missing": (_function([x], x + y), mg.NotFedError, r"placeholder y is needed"),
        "both inputs are missing": (
            _function([], y + x),
            mg.NotFedError,
            "placeholder x is needed",
        ),
        "an input of an update is missing": (
            _function([x], x, updates=[(v, y)]),
            mg.NotFedError,
            "placeholder y is needed",
        ),
        "an input of a given is missing": (
            _function([x], x, givens=[(x, y)]),
            mg.NotFedError,
            "placeholder y is needed",
        ),
        "too few arguments": (lambda: f(1), mg.FeedError, r"takes \(x, y\) and was given \(#1\)"),
        "too many arguments": (lambda: f(1, 2, 3), mg.FeedError, r"was given \(#1, #2, #3\)"),
        "an argument twice": (lambda: f(1, 2, x=3), mg.FeedError, r"was given \(#1, #2, x\)"),
        "an argument of another name": (lambda: f(1, z=2), mg.FeedError, r"given \(#1, z\)"),
        "an argument of another shape": (lambda: f([1, 2], 3), mg.FeedError, "takes shape"),
        "an argument that is no number": (lambda: f("a", 3), mg.FeedError, "cannot become"),
        "an input that is computed": (_function([x + y], x), mg.GraphError, "not a placeholder"),
        "an input that is no node": (_function([3], x), mg.GraphError, "expected a node"),
        "an output that is no node": (_function([x], 3), mg.GraphError, "expected a node"),
        "nothing": (_function([x]), mg.GraphError, "at least one output"),
        "an update of no variable": (
            _function([x], x, updates=[(x, x + 1)]),
            mg.GraphError,
            "x is not a variable",
        ),
        "an update of another shape": (
            _function([], updates=[(w, mg.constant([1.0, 2.0, 3.0]))]),
            mg.ShapeError,
            r"variable w has shape \(2,\)",
        ),
        "two updates of one variable": (
            _function([], updates=[(v, v + 1), (v, v + 2)]),
            mg.GraphError,
            "one variable has two updates",
        ),
        "a given of another shape": (
            _function([x], x, givens=[(x, w)]),
            mg.ShapeError,
            r"x has shape \(\), and a value of shape \(2,\)",
        ),
        "a node of another graph": (
            _function([other], x),
            mg.GraphError,
            "theano_function: other belongs to another graph",
        ),
        "the value of no variable": (lambda: f.get_value(x), mg.GraphError, "x is not a variable"),
        "a value of another shape": (
            lambda: f.set_value(w, [1.0]),
            mg.ShapeError,
            r"variable w has shape \(2,\) and cannot take a value of shape \(1,\)",
        ),
        "an anomaly": (
            lambda: _with_anomaly(g),
            mg.NumericError,
            "NaN or infinite",
        ),
    }


def _with_anomaly(g: Any) -> None:
    with mg.detect_anomaly():
        g(0.0)


with mg.Graph():
    NAMES = list(mistakes())


@pytest.mark.parametrize("name", NAMES)
def test_mistakes(name: str) -> None:
    mistake, kind, words = mistakes()[name]
    with pytest.raises(kind, match=words) as found:
        mistake()
    assert isinstance(found.value, mg.GraphError)
    assert "test_theano.py, line" in found.value.pair[1]


def test_a_call_that_fails_changes_no_variable() -> None:
    x, v = scalar("x"), mg.Variable(1.0, name="v", dtype=mg.float64)
    f = mg.theano_function([x], updates=[(v, v + mg.log(x))])
    with mg.detect_anomaly(), pytest.raises(mg.NumericError):
        f(0.0)
    assert f.get_value(v) == 1
    f(1.0)
    assert f.get_value(v) == 1


def test_a_frozen_graph_takes_no_function_with_updates(own_graph: mg.Graph) -> None:
    v = mg.Variable(1.0)
    value = v + 1
    own_graph.freeze()
    assert mg.theano_function([], value)() == 2
    with pytest.raises(mg.FrozenGraphError):
        mg.theano_function([], updates=[(v, value)])


def test_a_value_that_is_set_takes_the_type_of_the_variable() -> None:
    v, x = mg.Variable([1.5, 2.5], name="v"), mg.placeholder("x", shape=())
    f = mg.theano_function([x], v * x)
    f.set_value(v, np.array([3, 4]))
    assert f.get_value(v).dtype == mg.float32
    found = f(2.0)
    assert (found.dtype, found.tolist()) == (np.float32, [6, 8])

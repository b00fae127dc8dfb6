"""Each layer: its formula, the same bits in both modes, gradients of second order."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from directions import check_gradients

import minigrad as mg

RANDOM = np.random.default_rng(7)

# ---- Both modes -----------------------------------------------------------------------------


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
    assert check_gradients(lambda x: layer(x) ** 2, RANDOM.standard_normal(shape)) < 1e-6


# ---- Dropout --------------------------------------------------------------------------------


def test_dropout_keeps_the_mean_and_drops_by_its_probability() -> None:
    x = np.ones((100, 1000), np.float32)
    for p in (0.1, 0.5, 0.9):
        y = mg.dropout(x, p, count=0, seed=1)
        assert set(np.unique(y)) == {0, np.float32(1 / (1 - p))}
        assert np.mean(y == 0) == pytest.approx(p, abs=0.005)
        assert y.mean() == pytest.approx(1, abs=0.04)
    assert mg.dropout(x, 0.0, count=0).tolist() == x.tolist()
    assert not mg.dropout(x, 1.0, count=0).any()


def test_dropout_is_a_pure_function_of_seed_count_and_shape() -> None:
    x = np.ones((8, 8), np.float32)
    first = mg.dropout(x, 0.5, count=5, seed=2)
    assert mg.dropout(x, 0.5, count=5, seed=2).tobytes() == first.tobytes()
    for other in (mg.dropout(x, 0.5, count=6, seed=2), mg.dropout(x, 0.5, count=5, seed=3)):
        assert 10 < np.sum(other != first) < 54, "about half of them agree"
    # Philox promises its stream: these bits are the same on every machine.
    assert "".join("1" if k else "0" for k in first.ravel()[:16] > 0) == "1101001001111011"


def test_the_gradient_of_dropout_passes_the_same_elements() -> None:
    x = mg.tensor(np.ones((6, 6), np.float32), requires_grad=True)
    y = mg.dropout(x, 0.5, count=3, seed=0)
    y.sum().backward()
    assert x.grad.data.tobytes() == y.data.tobytes()
    assert (
        mg.check_grads(lambda v: mg.dropout(v * v, 0.5, count=3), RANDOM.random((3, 3)), order=2)
        < 1e-6
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


ONES = np.ones((6, 6), np.float32)


def called(times: int, seed: int = 4) -> list[bytes]:
    """What the layer of the following tests drops in a dynamic graph, call by call."""
    layer = mg.nn.Dropout(0.5, seed=seed)
    return [layer(mg.tensor(ONES)).data.tobytes() for _ in range(times)]


def thrice(layer: mg.nn.Dropout, graph: mg.Graph) -> list[mg.Node]:
    """Three uses in one graph, beside those of another layer, and one that passes can spare."""
    x = graph.add(mg.REGISTRY["Placeholder"], (), {"shape": (6, 6), "dtype": mg.float32}, "x")
    other = mg.nn.Dropout(0.5, seed=5)
    return [layer(x), other(x), layer(x * 1), mg.zeros_like(layer(x)) + x]


def bits(results: list[np.ndarray]) -> list[bytes]:
    return [results[i].tobytes() for i in (0, 2)]


def test_uses_of_one_dropout_layer_in_a_graph_are_further_calls() -> None:
    with mg.Graph() as graph, mg.Session() as session:
        ys = thrice(mg.nn.Dropout(0.5, seed=4), graph)
        runs = [session.run(ys, {"x": ONES}) for _ in range(3)]
    expected = called(9)
    assert [part for run in runs for part in bits(run)] == [expected[i] for i in (0, 1, 3, 4, 6, 7)]
    assert [run[1].tobytes() for run in runs] == called(3, seed=5), "the other layer is used once"
    assert len(set(expected)) == 9


@pytest.mark.parametrize("optimize", [False, True])
@pytest.mark.parametrize("executor", ["reference", "numpy"])
def test_every_executor_counts_calls_alike(executor: str, optimize: bool) -> None:
    with mg.Graph() as open_graph:
        ys = thrice(mg.nn.Dropout(0.5, seed=4), open_graph)
        graph = mg.build_graph(open_graph["x"], ys)
    program = graph.compile(optimize=optimize, executor=executor)
    written, variables = program.load_source(), {}
    ways = (program, lambda feeds: written(feeds, variables))
    for way in ways:
        found = [part for _ in range(3) for part in bits(way({"x": ONES}))]
        assert found == [called(9)[i] for i in (0, 1, 3, 4, 6, 7)]


def test_a_part_of_the_graph_counts_the_calls_it_makes() -> None:
    with mg.Graph() as graph, mg.Session() as session:
        second = thrice(mg.nn.Dropout(0.5, seed=4), graph)[2]
        found = [session.run(second, {"x": ONES}).tobytes() for _ in range(3)]
    assert found == called(3)


def test_a_traced_function_goes_on_where_the_layer_is() -> None:
    layer, x = mg.nn.Dropout(0.5, seed=4), mg.tensor(ONES)
    f = mg.function(lambda x: [layer(x), layer(x)])
    found = [*f(x), layer(x), *f(x), *mg.function(lambda x: [*f(x), layer(x)])(x)]
    assert [y.data.tobytes() for y in found] == called(8)
    assert f.traces == 1
    assert [y.tobytes() for y in mg.run(mg.make_graph(f)(x), {"x": ONES})] == called(2)


def test_a_use_in_a_branch_or_loop_counts_once_a_run() -> None:
    def twice(graph: mg.Graph, layer: mg.nn.Dropout) -> list[mg.Node]:
        x = mg.placeholder("x", shape=(6, 6))
        branch = mg.cond(x.sum() > 0, lambda: layer(x), lambda: x)
        steps = mg.scan(lambda carry, row: (carry, layer(x)), 0.0, mg.constant([1.0, 2.0]))[1]
        return [branch, steps[0], steps[1]]

    with mg.Graph() as graph, mg.Session() as session:
        ys = twice(graph, mg.nn.Dropout(0.5, seed=4))
        found = [y.tobytes() for _ in range(2) for y in session.run(ys, {"x": ONES})]
    expected = called(4)
    assert found == [expected[i] for i in (0, 1, 1, 2, 3, 3)]


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
        mg.dropout(mg.ones(2), p, count=0)


def test_dropout_counts_in_whole_numbers() -> None:
    with pytest.raises(mg.DtypeError, match="must be an integer, not float32"):
        mg.dropout(mg.ones(2), count=1.0)
    with pytest.raises(mg.ShapeError, match="count without axes"):
        mg.dropout(mg.ones(2), count=np.array([1, 2]))


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


def test_batch_norm_as_a_function_is_the_layer_in_both_modes() -> None:
    x = np.random.default_rng(0).normal(size=(4, 3, 2)).astype(np.float32)
    for training in (True, False):
        layer = mg.nn.BatchNorm1d(3, momentum=0.25)
        layer.running_mean.copy_([1.0, 2.0, 3.0])
        layer.train(training)
        mean, var = mg.tensor([1.0, 2.0, 3.0]), mg.ones(3)
        weight, bias = layer.weight, layer.bias
        y = mg.batch_norm(mg.tensor(x), mean, var, weight, bias, training, 0.25)
        assert y.data.tobytes() == layer(mg.tensor(x)).data.tobytes()
        assert mean.tolist() == layer.running_mean.tolist()
        assert var.tolist() == layer.running_var.tolist()
        assert (mean.tolist() == [1.0, 2.0, 3.0]) is not training
        fresh, spread = mg.tensor([1.0, 2.0, 3.0]), mg.ones(3)
        with mg.Graph() as graph, mg.Session() as sess:
            node = mg.placeholder("x", shape=(None, 3, 2))
            out = mg.batch_norm(node, fresh, spread, weight, bias, training, 0.25)
            sess.run(mg.global_variables_initializer())
            assert sess.run(out, {node: x}).tobytes() == y.data.tobytes()
            if training:
                sess.run(mg.nn.updates(out.sum()), {node: x})
                assert sess.run(graph.buffer(fresh)).tolist() == mean.tolist()
                assert sess.run(graph.buffer(spread)).tolist() == var.tolist()
    alone = mg.batch_norm(mg.tensor(x), None, None, training=True)
    np.testing.assert_allclose(alone.data.mean((0, 2)), 0, atol=1e-6)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda x: mg.batch_norm(x, None, None), mg.ArgumentError, "training=True"),
        (lambda x: mg.batch_norm(x, mg.zeros(3), mg.ones(3)), mg.ShapeError, r"batch_norm.*\(3,\)"),
        (lambda x: mg.batch_norm(x[0], mg.zeros(2), mg.ones(2)), mg.ShapeError, "2 axes"),
        (lambda x: mg.batch_norm(x[:1], None, None, training=True), mg.ShapeError, "one value"),
    ],
)
def test_batch_norm_says_what_is_wrong(call: Any, error: Any, words: str) -> None:
    for x in (mg.ones(4, 2), mg.placeholder(shape=(4, 2))):
        with pytest.raises(error, match=words):
            call(x)


def test_no_gradient_flows_into_running_statistics() -> None:
    layer = mg.nn.BatchNorm1d(2)
    x = mg.tensor([[1.0, 2.0], [3.0, 5.0]], requires_grad=True)
    for _ in range(2):
        layer(x * 2).sum().backward()
        for buffer in (layer.running_mean, layer.running_var):
            assert not buffer.requires_grad
            assert buffer.creator is None

"""Sessions: variables live from run to run, a failed run changes none, fetches keep their form."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import minigrad as mg


@pytest.fixture(autouse=True)
def own_graph() -> Iterator[mg.Graph]:
    with mg.Graph() as graph:
        yield graph


def test_example_e3() -> None:
    """x @ W + b with an open batch: 7,850 parameters, and rows of zeros give b."""
    x = mg.placeholder("x", shape=(None, 784))
    W = mg.Variable(np.random.default_rng(0).standard_normal((784, 10), np.float32), name="W")
    b = mg.Variable(mg.zeros(10), name="b")
    y = x @ W + b
    assert y.shape == (None, 10)
    assert repr(y) == "<Node Add = Add: float32 (None, 10), no value>"
    bias = np.arange(10, dtype=np.float32)
    with mg.Session() as session:
        session.run(mg.global_variables_initializer())
        assert sum(v.size for v in session.variables.values()) == 7850
        assert session.run(y, {x: np.zeros((3, 784))}).tolist() == [[0] * 10] * 3
        session.run(mg.assign(b, bias))
        rows = session.run(y, feed_dict={x: np.zeros((2, 784))})
        assert rows.dtype == np.float32
        assert rows.tolist() == [bias.tolist()] * 2
        assert session.run(y, {x: np.ones((64, 784))}).shape == (64, 10)


def test_every_session_keeps_its_own_variables() -> None:
    w = mg.Variable(1.0, name="w")
    grow = mg.assign(w, w + 1)
    start = mg.global_variables_initializer()
    first, second = mg.Session(), mg.Session()
    assert first.run(start) is None
    assert [first.run(grow), first.run(grow)] == [2, 3]
    with pytest.raises(mg.UninitializedError, match=r"Variable w \(shape \(\)\) has no value"):
        second.run(w)
    second.run(start)
    assert (first.run(w), second.run(w), second.value(w)) == (3, 1, 1)
    first.run(start)
    assert first.run("w") == 1


def test_reads_of_the_same_run_see_the_old_value() -> None:
    w, v = mg.Variable(1.0), mg.Variable(10.0)
    swap = [mg.assign(w, v), mg.assign(v, w)]
    with mg.Session() as session:
        session.run(mg.global_variables_initializer())
        assert session.run([*swap, w, v, w + v]) == [10, 1, 1, 10, 11]
        assert session.run([w, v]) == [10, 1]
        assert session.run(mg.group(*swap)) is None
        assert session.run([w, v]) == [1, 10]


def test_a_failed_run_changes_no_variable() -> None:
    x = mg.placeholder("x")
    w, v = mg.Variable([1.0, 2.0], name="w"), mg.Variable([1.0, 2.0], name="v")
    update_w, update_v = mg.assign(w, w * 2), mg.assign(v, x)
    with mg.Session() as session:
        session.run(mg.global_variables_initializer())
        with pytest.raises(mg.ShapeError, match=r"variable v has shape \(2,\)"):
            session.run([update_w, update_v], {x: [1, 2, 3]})
        with pytest.raises(mg.NotFedError):
            session.run([update_w, update_v])
        with mg.detect_anomaly(), pytest.raises(mg.NumericError):
            session.run([update_w, mg.log(x * 0)], {x: [1, 2]})
        assert [v.tolist() for v in session.run([w, v])] == [[1, 2], [1, 2]]
        session.run([update_w, update_v], {x: [5, 6]})
        assert [v.tolist() for v in session.run([w, v])] == [[2, 4], [5, 6]]


def test_fetches_come_back_in_their_arrangement() -> None:
    x = mg.placeholder("x", shape=())
    y = mg.constant(2.0, name="two")
    with mg.Session() as session:
        feeds = {x: 1}
        assert session.run(x, feeds) == 1
        assert session.run([x, y], feeds) == [1, 2]
        assert session.run((x, [y, x]), feeds) == (1, [2, 1])
        assert session.run({"a": x, "b": {"c": [y, y]}}, feeds) == {"a": 1, "b": {"c": [2, 2]}}
        assert session.run("two") == 2
        assert session.run([]) == []


def test_results_are_arrays_or_numpy_numbers() -> None:
    with mg.Session() as session:
        assert type(session.run(mg.constant([1.0]))) is np.ndarray
        assert type(session.run(mg.constant(1.0))) is np.float32


def test_only_what_is_fetched_needs_feeding() -> None:
    x, z = mg.placeholder("x"), mg.placeholder("z")
    y, both = x + 1, x + z
    with mg.Session() as session:
        assert session.run(y, {x: 1}) == 2
        with pytest.raises(mg.NotFedError, match="Placeholder z"):
            session.run([y, both], {x: 1})


def test_a_closed_session_runs_nothing() -> None:
    x = mg.constant(1.0)
    session = mg.Session()
    with session:
        assert session.run(x) == 1
    with pytest.raises(mg.GraphError, match="closed"):
        session.run(x)
    assert session.variables == {}


def test_a_session_makes_its_graph_the_default_one(own_graph: mg.Graph) -> None:
    other = mg.Graph()
    with mg.Session(other):
        x = mg.placeholder("x")
        assert mg.get_default_graph() is other
    assert x.graph is other
    assert mg.get_default_graph() is own_graph
    with pytest.raises(mg.GraphError, match="another graph"):
        mg.Session().run(x)


def test_a_session_on_a_built_graph() -> None:
    x, w = mg.placeholder("x", shape=()), mg.Variable(3.0, name="w")
    graph = mg.build_graph(x, x * w)
    with mg.Session(graph) as session:
        session.run(mg.global_variables_initializer())
        assert session.run(graph.outputs[0], {"x": 2}) == 6
    with pytest.raises(mg.UninitializedError, match="global_variables_initializer"):
        mg.run(graph, {"x": 2})


def test_training_builds_no_node_after_the_first_step(own_graph: mg.Graph) -> None:
    x, w = mg.placeholder("x", shape=()), mg.Variable(4.0)
    step = mg.assign(w, w - 0.25 * mg.gradients((w - x) * (w - x), w)[0])
    with mg.Session() as session:
        session.run(mg.global_variables_initializer())
        own_graph.freeze()
        assert [float(session.run(step, {x: 0})) for _ in range(4)] == [2, 1, 0.5, 0.25]


def test_the_value_of_a_parameter_that_became_a_variable() -> None:
    layer = mg.nn.Linear(3, 2, seed=0)
    layer(mg.placeholder("x", shape=(None, 3)))
    with mg.Session() as session:
        session.run(mg.global_variables_initializer())
        assert np.array_equal(session.value(layer.weight), layer.weight.data)

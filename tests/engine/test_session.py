"""Sessions: variables live from run to run, a failed run changes none, fetches keep their form."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import minigrad as mg

pytestmark = pytest.mark.usefixtures("own_graph")


def test_example_e3() -> None:
    """x @ W + b with an open batch: 7,850 parameters, and rows of zeros give b."""
    x = mg.placeholder("x", shape=(None, 784))
    W = mg.Variable(np.random.default_rng(0).standard_normal((784, 10), np.float32), name="W")
    b = mg.Variable(mg.zeros(10), name="b")
    y = x @ W + b
    assert y.shape == (None, 10)
    assert repr(y) == "<Node Add: float32 (None, 10), no value>"
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


def test_parameters_of_layers_have_values_everywhere(tmp_path: Path) -> None:
    model = mg.nn.Sequential(mg.nn.Linear(3, 4, seed=0), mg.nn.ReLU(), mg.nn.Linear(4, 2, seed=1))
    data = np.float32([[1, 2, 3]])
    x = mg.placeholder("x", shape=(None, 3))
    graph = mg.build_graph(x, model(x))
    expected = model(mg.tensor(data)).data
    graph.save(tmp_path / "g", session=mg.Session(graph))
    with mg.Session(graph) as session:
        results = [
            mg.run(graph, {x: data}),
            session.run(graph.outputs[0], {x: data}),
            mg.Session(x.graph).run(graph.outputs[0], {x: data}),
            graph.compile(optimize=False)({x: data}),
            graph.compile(optimize=False, session=mg.Session(graph))({x: data}),
            graph.compile(optimize=False, executor="reference", session=mg.Session())({x: data}),
            mg.run(mg.load_graph(tmp_path / "g"), {"x": data}),
        ]
        (first, *_) = model.parameters()
        assert np.array_equal(session.value(graph["linear1/weight"]), first.data)
    assert [y.tobytes() for y in results] == [expected.tobytes()] * len(results)


def test_parameters_train_without_an_initialiser_and_a_variable_does_not() -> None:
    layer, w = mg.nn.Linear(2, 1, seed=0), mg.Variable(1.0, name="w")
    x = mg.placeholder("x", shape=(None, 2))
    loss = mg.mean(layer(x) ** 2)
    step = mg.optim.Adam(lr=0.1).minimize(loss)
    with mg.Session() as session:
        losses = [session.run([loss, step], {x: [[1.0, 2.0]]})[0] for _ in range(3)]
        assert losses[0] > losses[1] > losses[2]
        with pytest.raises(mg.UninitializedError, match="Variable w"):
            session.run(loss * w, {x: [[1.0, 2.0]]})
        session.run(mg.global_variables_initializer())
        assert session.run(loss * w, {x: [[1.0, 2.0]]}) == losses[0]


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


def test_an_initialiser_of_another_graph_is_refused_by_name() -> None:
    w = mg.Variable(1.0, name="w")
    with mg.Graph() as other:
        mg.Variable(2.0, name="v")
        start = mg.global_variables_initializer()
    with mg.Graph():
        nothing = mg.global_variables_initializer()
    built = mg.build_graph(None, w * 2)
    for graph in (None, built):
        session = mg.Session(graph)
        for foreign in (start, nothing):
            with pytest.raises(mg.GraphError, match=r"Initialize belongs to another graph") as info:
                session.run(foreign)
            assert "mg.Session(node.graph)" in str(info.value)
        assert session.variables == {}
    mg.Session(start.graph).run(start)
    assert start.graph is other
    mg.Session(built).run(mg.global_variables_initializer())
    with mg.Session(built) as session:
        start = mg.global_variables_initializer()
    mg.Session().run(start)


class Foreign:
    """Nodes of the test's own graph, and of another one."""

    def __init__(self) -> None:
        self.x, self.w = mg.placeholder("x", shape=()), mg.Variable(1.0, name="w")
        self.y = self.x * self.w
        with mg.Graph():
            self.a, self.v = mg.placeholder("a", shape=()), mg.Variable(1.0, name="v")
            self.b = mg.assign(self.v, self.a)


FOREIGN: dict[str, Callable[[Foreign], Any]] = {
    "fetched": lambda f: mg.Session().run(f.b),
    "fetched beside a built graph": lambda f: mg.Session(mg.build_graph(f.x, f.y)).run(f.b),
    "fed": lambda f: mg.Session().run(f.y, {f.a: 1}),
    "grouped": lambda f: mg.group(mg.assign(f.w, 1.0), f.b),
    "assigned": lambda f: mg.assign(f.w, f.v),
    "differentiated for": lambda f: mg.gradients(f.y, f.a),
    "differentiated": lambda f: mg.gradients([f.y, f.a], [f.x]),
    "as weights": lambda f: mg.gradients(f.y, f.x, f.a),
    "an input": lambda f: mg.build_graph([f.x, f.a], f.y),
    "an output": lambda f: mg.build_graph(None, [f.y, f.a]),
    "waited for": lambda f: mg.control_dependencies([f.b]).__enter__(),
    "an operand of a branch": lambda f: mg.cond(f.x > 0, lambda u: u, lambda u: u, f.a),
    "a condition": lambda f: mg.cond(f.a > 0, lambda: f.x, lambda: f.x),
    "in a branch": lambda f: mg.cond(f.x > 0, lambda: f.a, lambda: f.x),
    "the state of a loop": lambda f: mg.while_loop(lambda i, j: i < 3, max, (f.x, f.a)),
    "minimised for": lambda f: mg.optim.SGD([f.v], lr=0.1).minimize(f.y),
    "updated": lambda f: mg.theano_function([f.x], f.y, updates=[(f.v, f.v + 1)]),
    "given": lambda f: mg.theano_function([f.x], f.y, givens=[(f.w, f.v)]),
    "an operand": lambda f: f.x + f.a,
}


@pytest.mark.parametrize("use", FOREIGN)
def test_every_foreign_node_is_refused_by_name(own_graph: mg.Graph, use: str) -> None:
    nodes = Foreign()
    with pytest.raises(mg.GraphError) as caught:
        FOREIGN[use](nodes)
    found = str(caught.value)
    assert "another graph" in found
    assert any(f"{n.name} " in found or f"key {n.name}" in found for n in nodes.b.graph.nodes)
    assert caught.value.ran or caught.value.defined, "the user's line"


def test_gradients_in_a_branch_for_a_node_from_around_it() -> None:
    x = mg.placeholder("x", shape=())
    y = mg.cond(x > 0, lambda: mg.gradients(x * x, x)[0], lambda: x)
    assert mg.run(mg.build_graph(x, y), {x: 3.0}) == 6


def test_a_gradient_that_is_none_cannot_be_fetched() -> None:
    x, y = mg.placeholder("x", shape=()), mg.placeholder("y", shape=())
    with pytest.raises(mg.GraphError, match=r"None cannot be fetched: mg\.gradients gives it"):
        mg.Session().run(mg.gradients(x * x, [x, y]), {x: 1})


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

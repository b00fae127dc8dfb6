"""Running: the same bits as the dynamic graph, results that belong to the caller, feeds checked."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import minigrad as mg
from minigrad import ops
from minigrad.static.feeds import check_feeds
from minigrad.static.run import Interpreter

pytestmark = pytest.mark.usefixtures("own_graph")


def network(x: Any, w: Any, b: Any) -> Any:
    h = mg.tanh(x @ w + b)
    return mg.log_softmax(h * mg.sigmoid(h), axis=-1).mean(axis=0) / 3 + mg.exp(-h).sum()


def test_both_modes_give_the_same_bits() -> None:
    random = np.random.default_rng(0)
    arrays = [random.standard_normal(s, dtype=np.float32) for s in ((6, 4), (4, 5), (5,))]
    tensors = [mg.tensor(a, requires_grad=True) for a in arrays]
    loss = network(*tensors)
    loss.sum().backward()
    xs = [mg.placeholder(None, a.shape) for a in arrays]
    y = network(*xs)
    graph = mg.build_graph(xs, [y, *mg.gradients(y, xs)])
    found = mg.run(graph, dict(zip(xs, arrays, strict=True)))
    for actual, expected in zip(found, [loss, *(t.grad for t in tensors)], strict=True):
        assert actual.tobytes() == expected.data.tobytes()


def test_only_what_the_outputs_need_is_run() -> None:
    x = mg.placeholder("x")
    mg.exp(x)
    y = x + 1
    with mg.record() as log:
        mg.run(mg.build_graph(x, y), {x: 1})
    assert log.counts.by_op == {"Add": 1}
    assert [str(e.op) for e in log.of_kind("read")] == ["Placeholder", "Constant"]


def test_one_output_one_array_a_list_a_list() -> None:
    x = mg.placeholder("x")
    y = x + 1
    assert mg.run(mg.build_graph(x, y), {"x": 1}) == 2
    assert mg.run(mg.build_graph(x, [y]), {"x": 1}) == [2]
    assert mg.run(mg.build_graph([x], [y, x]), {"x": 1}) == [2, 1]
    assert mg.run(mg.build_graph(None, mg.constant(5.0))) == 5


def test_a_result_is_dropped_after_its_last_use() -> None:
    x = mg.placeholder("x", shape=(1000,))
    y = x
    for _ in range(20):
        y = mg.exp(-y)
    with mg.record() as log:
        mg.run(mg.build_graph(x, y), {x: np.zeros(1000)})
    assert log.counts.run == 40
    assert log.counts.bytes_peak <= 3 * 4000


# ---- Whose memory is it ---------------------------------------------------------------------

VALUE = np.arange(6, dtype=np.float32).reshape(2, 3)
SAME = {
    "itself": lambda v: v,
    "reshape": lambda v: v.reshape(3, 2),
    "transpose": lambda v: v.T,
    "cast": lambda v: v.astype(np.float32),
    "sum_like": lambda v: ops.sum_like(v, v),
    "broadcast_like": lambda v: ops.broadcast_like(v, v),
    "reshape_like": lambda v: ops.reshape_like(v, v),
    "neg": lambda v: -v,
}


@pytest.mark.parametrize("how", SAME)
@pytest.mark.parametrize("kind", ["feed", "variable", "constant"])
def test_results_belong_to_the_caller(how: str, kind: str) -> None:
    """Overwriting a result changes neither what was fed nor what the next run reads."""
    fed = VALUE.copy()
    x = mg.placeholder("x", shape=(2, 3))
    source = {"feed": x, "variable": mg.Variable(fed), "constant": mg.constant(fed)}[kind]
    y = SAME[how](source)
    feeds = {x: fed}
    with mg.Session() as session:
        session.run(mg.global_variables_initializer())
        first = session.run(y, feeds)
        expected = first.copy()
        assert first.flags.writeable
        first[...] = 99
        assert session.run(y, feeds).tolist() == expected.tolist()
        assert session.run(source, feeds).tolist() == VALUE.tolist()
    assert fed.tolist() == VALUE.tolist()


def test_an_assigned_value_belongs_to_the_variable() -> None:
    x = mg.placeholder("x", shape=(2,))
    w = mg.Variable([1.0, 2.0])
    doubled = x * 2
    fed = np.float32([5, 6])
    with mg.Session() as session:
        session.run(mg.global_variables_initializer())
        for value in (x, doubled, mg.constant([7.0, 8.0]), doubled.reshape(2)):
            results = session.run([mg.assign(w, value), value], {x: fed})
            expected = session.run(w).tolist()
            for result in results:
                result[:] = 99
            fed[:] = 5, 6
            assert session.run(w).tolist() == expected


def test_what_a_graph_was_built_from_may_change_afterwards() -> None:
    given = np.float32([1, 2])
    c, w = mg.constant(given), mg.Variable(given)
    t = mg.tensor(given, requires_grad=True)
    y = c + w + t
    given[:] = 99
    with mg.no_grad():
        t.copy_([50, 50])
    with mg.Session() as session:
        session.run(mg.global_variables_initializer())
        assert session.run(y).tolist() == [3, 6]


# ---- Feeds ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("shape", "dtype", "value", "expected"),
    [
        (None, mg.float32, 2, np.float32(2)),
        ((), mg.float32, [1.5][0], np.float32(1.5)),
        ((None,), mg.float32, [1, 2, 3], np.float32([1, 2, 3])),
        ((None,), mg.float32, [], np.float32([])),
        ((2, None), mg.float32, np.ones((2, 4)), np.ones((2, 4), np.float32)),
        ((None,), mg.int64, [True, False], np.int64([1, 0])),
        ((2,), mg.float64, np.float32([1, 2]), np.float64([1, 2])),
        ((2, 3), mg.float32, VALUE.T.copy().T, VALUE),
        ((2,), mg.float32, mg.tensor([1.0, 2.0], requires_grad=True), np.float32([1, 2])),
    ],
)
def test_feeds_take_the_type_of_the_placeholder(
    own_graph: mg.Graph, shape: Any, dtype: Any, value: Any, expected: Any
) -> None:
    x = mg.placeholder("x", shape=shape, dtype=dtype)
    (fed,) = check_feeds(own_graph, {"x": value}).values()
    assert fed.dtype == expected.dtype == dtype
    assert np.array_equal(fed, expected)
    assert np.array_equal(mg.run(mg.build_graph(x, x), {x: value}), expected)


def test_an_open_axis_takes_any_length_again_and_again() -> None:
    x = mg.placeholder("x", shape=(None, 2))
    graph = mg.build_graph(x, x.sum(axis=1))
    for n in (3, 1, 0, 5):
        assert mg.run(graph, {x: np.ones((n, 2))}).tolist() == [2] * n


def test_a_program_is_made_once_and_run_for_every_feed() -> None:
    x = mg.placeholder("x", shape=())
    program = Interpreter([x * 2, x])
    assert program.placeholders == [x]
    assert program({x: np.float32(3)}, {}) == [6, 3]
    assert program({x: np.float32(4)}, {}) == [8, 4]
    assert Interpreter([])({}, {}) == []

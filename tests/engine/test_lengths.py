"""Shapes that are computed from the lengths of other operands."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import minigrad as mg
from minigrad import ops
from minigrad.ops.lengths import evaluate

HALF = ("/", (0, 1), 2)


@pytest.mark.parametrize(
    ("length", "expected"),
    [
        (7, 7),
        ((1, 0), 5),
        (("+", (0, 0), 1), 3),
        (("-", (0, 1), (1, 0)), 1),
        (("*", HALF, 4), 12),
        (("%", (1, 0), 3), 2),
        (("min", (0, 0), (1, 0)), 2),
        (("max", (0, 0), ("/", 3, 0)), 2),
    ],
)
def test_a_length_is_plain_data(length: Any, expected: int) -> None:
    assert evaluate(length, [(2, 6), (5,)]) == expected


def test_an_open_length_stays_open_and_the_same() -> None:
    with mg.Graph():
        x = mg.placeholder("x", shape=(None, 6))
        y = ops.reshape_by(x, shape=((0, 0), HALF, 2))
        assert y.shape == (None, 3, 2)
        assert y.spec.shape[0] is x.spec.shape[0]
        z = ops.broadcast_by(mg.constant(np.ones((1, 6), np.float32)), x, shape=((1, 0), 6))
        loss = mg.sum(y * y) + mg.sum(z * x)
        lengths = ops.lengths_of(y, shape=((0, 0), (0, 1)))
        graph = mg.build_graph(x, [lengths, *mg.gradients(loss, [x])])
    values = np.arange(24, dtype=np.float32).reshape(4, 6)
    for run in (lambda f: mg.run(graph, f), graph.compile(), graph.compile(executor="c")):
        lengths, slope = run({"x": values})
        assert lengths.tolist() == [4, 3]
        np.testing.assert_array_equal(slope, 2 * values + 1)


@pytest.mark.parametrize("length", [(5, 0), (0, 4), "x", ("?", 1, 1), ("+", 1)])
def test_what_is_no_length_is_refused(length: Any) -> None:
    with pytest.raises(mg.ShapeError, match="is no length"):
        ops.reshape_by(np.ones((2, 3), np.float32), shape=(length, 2))


def test_lengths_that_do_not_hold_the_elements_are_refused() -> None:
    with pytest.raises(mg.ShapeError, match="6"):
        ops.reshape_by(np.ones((2, 3), np.float32), shape=((0, 0), 4))
    with pytest.raises(mg.ShapeError, match="BroadcastBy"):
        ops.broadcast_by(np.ones((2, 3), np.float32), shape=(4, 3))


def test_positions_in_the_order_of_size_keep_the_order_of_equals() -> None:
    x = np.array([2.0, 1.0, 2.0, 3.0])
    assert ops.argsort(x).tolist() == [1, 0, 2, 3]
    assert ops.argsort(x, descending=True).tolist() == [3, 0, 2, 1]

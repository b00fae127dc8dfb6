"""The channel: what is told, in which order, what it counts, and that silence follows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import minigrad as mg
from minigrad.core import events


def test_both_clocks_of_both_modes() -> None:
    """Dynamic: built and run alternate. Static: all is built, nothing runs; then it runs."""
    x = mg.tensor(2.0, requires_grad=True)
    with mg.record() as log:
        x * x + 3
    told = [(e.kind, str(e.op)) for e in log.events]
    assert told == [("built", "Mul"), ("run", "Mul"), ("built", "Add"), ("run", "Add")]
    with mg.Graph():
        with mg.record() as log:
            p = mg.placeholder("x", shape=())
            graph = mg.build_graph(p, p * p + 3)
        told = [(e.kind, str(e.op)) for e in log.events]
        assert told == [("built", n) for n in ("Placeholder", "Mul", "Constant", "Add")]
        with mg.record() as log:
            mg.run(graph, {p: 2})
        told = [(e.kind, str(e.op)) for e in log.events]
        assert told == [
            *(("read", "Placeholder"), ("run", "Mul"), ("read", "Constant"), ("run", "Add"))
        ]
    assert [e.tick for e in log.events] == [1, 2, 3, 4]


def test_values_are_kept_on_request_only() -> None:
    x = mg.tensor([1.0, 2.0], requires_grad=True)
    with mg.record() as log, mg.record(values=True) as full:
        x * 3
    assert [(e.value, e.operands) for e in log.events] == [(None, ())] * 2
    run = full.of_kind("run")[0]
    assert run.value.tolist() == [3, 6]
    assert run.operands[0] is x.data
    assert run.operands[1] == 3
    assert run.node.op.name == "Mul"


@pytest.mark.parametrize("mode", ["dynamic", "static"])
def test_contributions_tell_upstream_and_part(mode: str) -> None:
    """x·x at 3, upstream 1: two contributions of 3, which add up to 6."""
    if mode == "dynamic":
        x: Any = mg.tensor(3.0, requires_grad=True)
        y = x * x
        with mg.record(values=True) as log:
            y.backward()
        told = log.of_kind("contributed")
        found = [(e.operands[0], e.operands[1], e.value, e.position) for e in told]
        assert found == [(1, 3, 3, 0), (1, 3, 6, 1)]
    else:
        with mg.Graph():
            x = mg.placeholder("x", shape=())
            y = x * x
            with mg.record(values=True) as log:
                mg.gradients(y, x)
    told = log.of_kind("contributed")
    assert all(e.node is x for e in told)
    assert [e.position for e in told] == [0, 1]
    assert {str(e.source.op) for e in told} == {"Mul"}


def test_counts_by_operator() -> None:
    with mg.record() as log:
        mg.exp(mg.exp(mg.tensor([1.0]))) + 1
    assert log.counts.by_op == {"Exp": 2, "Add": 1}
    assert (log.counts.run, log.counts.kernels, log.counts.built) == (3, 3, 0)


def test_bytes_are_counted_until_they_are_freed() -> None:
    x = mg.tensor(np.ones(1000, np.float32))
    with mg.record() as log:
        y = mg.exp(x)
        assert log.counts.bytes_live == 4000
        y = mg.exp(y)
        assert log.counts.bytes_live == 4000
        z = y.reshape(10, 100)
        assert log.counts.bytes_live == 4000, "a view owns nothing"
        del y
        assert log.counts.bytes_live == 4000, "and keeps its memory alive"
        del z
    assert (log.counts.bytes_live, log.counts.bytes_peak) == (0, 8000)


def test_recordings_nest_and_end_with_an_error() -> None:
    x = mg.tensor(1.0)
    with mg.record() as outer:
        with pytest.raises(mg.ShapeError), mg.record() as inner:
            x + mg.ones(2) + mg.ones(3)
        x + 1
    x + 1
    assert (inner.counts.run, outer.counts.run) == (1, 2)
    assert events.listeners == []


def test_results_do_not_depend_on_a_listener() -> None:
    def run() -> tuple[bytes, ...]:
        x = mg.tensor(np.linspace(-1, 1, 5, dtype=np.float32), requires_grad=True)
        y = (x * 2 + x / 3 - 1.5 * x) * x
        y.sum().backward()
        return y.data.tobytes(), x.grad.data.tobytes()

    alone = run()
    with mg.record(values=True):
        assert run() == alone


# ---- detect_anomaly -------------------------------------------------------------------------


def test_the_operator_that_made_it_is_named_in_both_modes() -> None:
    x = mg.tensor([1.0, 0.0])
    with (
        mg.detect_anomaly(),
        pytest.raises(mg.NumericError, match=r"Log: .* in 1 place") as found,
    ):
        mg.log(x) + 1
    assert "mg.log(x) + 1" in str(found.value)
    assert found.value.ran is None  # the same line
    with mg.Graph():
        p = mg.placeholder("x", shape=(2,))
        y = mg.log(p) + 1
        graph = mg.build_graph(p, y)
        with mg.detect_anomaly(), pytest.raises(mg.NumericError, match="Log: ") as found:
            mg.run(graph, {p: [1, 0]})
    assert found.value.defined.text == "y = mg.log(p) + 1"
    assert found.value.ran.text == "mg.run(graph, {p: [1, 0]})"
    assert events.listeners == []


def test_what_is_fed_is_looked_at_too() -> None:
    with mg.Graph():
        p = mg.placeholder("x", shape=(1,))
        graph = mg.build_graph(p, p + 1)
        with mg.detect_anomaly(), pytest.raises(mg.NumericError, match="Placeholder: "):
            mg.run(graph, {p: [np.nan]})


def test_a_gradient_that_overflows_is_named() -> None:
    x = mg.tensor(0.0, requires_grad=True)
    y = mg.sqrt(x)
    with mg.detect_anomaly(), pytest.raises(mg.NumericError, match="∂Sqrt") as found:
        y.backward()
    assert (found.value.defined.text, found.value.ran.text) == ("y = mg.sqrt(x)", "y.backward()")
    assert x.grad is None


def test_finite_numbers_pass() -> None:
    x = mg.tensor([1.0, 2.0], requires_grad=True)
    with mg.detect_anomaly():
        mg.log(x).sum().backward()
        (x > 1).sum()
    assert x.grad.tolist() == [1, 0.5]


# Operands of a product, its attributes, and the multiplications that it takes.
PRODUCTS: list[tuple[str, list[tuple[int, ...]], dict[str, Any], int]] = [
    ("MatMul", [(64, 784), (784, 10)], {}, 501_760),
    ("MatMul", [(3,), (3,)], {}, 3),
    ("MatMul", [(3,), (3, 4)], {}, 12),
    ("MatMul", [(2, 3), (3,)], {}, 6),
    ("MatMul", [(5, 2, 3), (3, 4)], {}, 5 * 2 * 3 * 4),
    ("MatMul", [(3, 2), (3, 4)], {"transpose_a": True}, 2 * 3 * 4),
    ("MatMul", [(2, 3), (4, 3)], {"transpose_b": True}, 2 * 3 * 4),
    ("Conv2d", [(2, 3, 5, 4), (6, 3, 2, 2)], {}, 2 * 6 * 4 * 3 * 3 * 2 * 2),
]


@pytest.mark.parametrize(("name", "shapes", "attrs", "count"), PRODUCTS)
def test_multiplications_are_counted(
    name: str, shapes: list[tuple[int, ...]], attrs: dict[str, Any], count: int
) -> None:
    with mg.record() as log:
        mg.REGISTRY[name](*(mg.tensor(np.ones(shape)) for shape in shapes), **attrs)
    assert log.counts.multiplications == count


def test_gradients_of_products_take_as_many_each() -> None:
    with mg.Graph():
        for name, shapes, attrs, count in PRODUCTS:
            if all(len(shape) > 1 for shape in shapes):
                xs = [mg.placeholder(shape=shape) for shape in shapes]
                found = mg.gradients(mg.sum(mg.REGISTRY[name](*xs, **attrs)), xs)
                graph = mg.build_graph(xs, found)
                with mg.record() as log:
                    mg.run(graph, {x: np.ones(shape) for x, shape in zip(xs, shapes, strict=True)})
                products = [mg.REGISTRY[op].products for op in log.counts.by_op.elements()]
                assert log.counts.multiplications == count * sum(map(bool, products))
                assert sum(map(bool, products)) >= 2


def test_only_products_are_counted() -> None:
    with mg.record() as log:
        mg.tensor([1.0, 2.0]) * 3
    assert log.counts.multiplications == 0


def test_a_log_counts_how_often_an_operator_was_built_and_run() -> None:
    with mg.Graph(), mg.record() as log:
        x = mg.placeholder("x", shape=())
        graph = mg.build_graph(x, x * x + 3)
        mg.run(graph, {x: 2})
        mg.run(graph, {x: 3})
    assert (log.count("built", "Mul"), log.count("run", "Mul"), log.count("run", "Sub")) == (
        1,
        2,
        0,
    )

"""Operators as plain NumPy calls: what their kernels give, for every operator and any values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from covering import each, pairs
from test_compiled import TOLERANCE, same
from test_every_op import EFFECTS, MADE_BY_PASSES, draw, dtypes

import minigrad as mg
from minigrad import ops
from minigrad.compiler.numpy.operators import EXPANSIONS
from minigrad.core import REGISTRY

pytestmark = pytest.mark.usefixtures("own_graph")

PLAIN = sorted(set(REGISTRY) - EFFECTS - MADE_BY_PASSES)


def both_ways(graph: mg.Graph, feeds: Any, optimize: bool = False) -> None:
    """The program gives what the reference gives, twice."""
    program, expected = graph.compile(optimize=optimize), mg.run(graph, feeds)
    for _ in range(2):
        dtype = str(np.asarray(expected[0]).dtype)
        same(program(feeds), expected, TOLERANCE.get(dtype, 0))


@each(PLAIN)
def test_every_operator_runs_in_a_program(name: str) -> None:
    op = REGISTRY[name]
    known = [*dtypes(op)]
    for i, sample in enumerate(op.samples):
        in_turn = (True, known[i % len(known)]), (False, known[(i + 1) % len(known)])
        for optimize, dtype in in_turn if i else pairs((True, False), known):
            with mg.Graph():
                operands = [np.asarray(x) for x in draw(sample, dtype)]
                xs = [mg.placeholder(f"x{i}", x.shape, x.dtype) for i, x in enumerate(operands)]
                graph = mg.build_graph(xs, [op(*xs, **sample.attrs)])
                feeds = dict(zip(xs, operands, strict=True))
                both_ways(graph, feeds, optimize)


SPECIAL = np.array(
    [[0.0, -0.0, 1.5], [np.inf, 1, 2], [-np.inf, 0, 1], [np.nan, 1, 2], [3e3, 3e3, 1e-40]],
    np.float32,
)
BY_AXIS: dict[str, Any] = {
    "sum of columns": lambda x: mg.sum(x, axis=0),
    "sum of columns, kept": lambda x: mg.sum(x, axis=0, keepdims=True),
    "sum of rows": lambda x: mg.sum(x, axis=-1),
    "sum": mg.sum,
    "sum over nothing": lambda x: ops.sum(x, axis=()),
    "mean of rows": lambda x: mg.mean(x, axis=1, keepdims=True),
    "softmax": mg.softmax,
    "softmax of columns": lambda x: mg.softmax(x, axis=0),
    "relu": mg.relu,
    "step": lambda x: ops.step(x),
    "masked": lambda x: ops.where(x > 1, x, 0),
    "masked elsewhere": lambda x: ops.where(x > 1, 0, x),
    "sigmoid": mg.sigmoid,
}


@pytest.mark.parametrize("name", BY_AXIS)
@pytest.mark.parametrize("shape", [(5, 3), (40, 3), (3, 40), (1, 3), (3, 1), (0, 3), (3, 0)])
def test_expansions_of_special_values_and_forms(name: str, shape: tuple[int, ...]) -> None:
    values = np.resize(SPECIAL, shape)
    x = mg.placeholder("x", shape)
    graph = mg.build_graph(x, [BY_AXIS[name](x)])
    if name.startswith("softmax") and not shape[-1]:
        return  # the largest of nothing
    both_ways(graph, {x: values})
    program = graph.compile(optimize=False)
    flags = np.signbit(program({x: values})[0]), np.signbit(mg.run(graph, {x: values})[0])
    if name in ("relu", "step", "sum of rows") and shape == (1, 3):
        np.testing.assert_array_equal(*flags)


def test_scores_and_loss_share_the_exponentials() -> None:
    x = mg.placeholder("x", (40, 3))
    t = mg.placeholder("t", (40,), mg.int64)
    loss = mg.cross_entropy(x, t)
    graph = mg.build_graph([x, t], [loss, mg.softmax(x), *mg.gradients(loss, [x])])
    program = graph.compile()
    random = np.random.default_rng(0)
    feeds = {x: random.standard_normal((40, 3)), t: random.integers(0, 3, 40)}
    both_ways(graph, feeds, optimize=True)
    assert sum(call.function is np.exp for call in program.bound.calls) == 1


@pytest.mark.parametrize("wrong", [-1, 3, np.iinfo(np.int64).min])
def test_a_label_out_of_range_is_refused(wrong: int) -> None:
    x = mg.placeholder("x", (4, 3))
    t = mg.placeholder("t", (4,), mg.int64)
    program = mg.build_graph([x, t], mg.cross_entropy(x, t)).compile()
    labels = np.array([0, 1, wrong, 2])
    with pytest.raises(mg.ShapeError, match=rf"{wrong}.*(.|\n)*defined at test_expand"):
        program({x: np.zeros((4, 3)), t: labels})
    assert program({x: np.zeros((4, 3)), t: labels * 0}) == pytest.approx(np.log(3))


def test_the_expansions_are_used() -> None:
    """None of them is dead: each refuses at most some forms of its operator."""
    for op in EXPANSIONS:
        found = set()
        for sample in op.samples:
            with mg.Graph():
                operands = [np.asarray(x) for x in draw(sample, np.float32)]
                xs = [mg.placeholder(f"x{i}", x.shape, x.dtype) for i, x in enumerate(operands)]
                given = [*xs[:2], 0] if op is ops.where else xs  # a value that is masked
                program = mg.build_graph(xs, op(*given, **sample.attrs)).compile(optimize=False)
                found |= {call.function for call in program.bound.calls}
        assert found - {op.run}, op


@pytest.mark.parametrize("rows", [1, 8, 63, 200])
def test_a_product_with_a_large_transposed_matrix(rows: int) -> None:
    x, w = mg.placeholder("x", (rows, 600)), mg.placeholder("w", (128, 600))
    random = np.random.default_rng(0)
    feeds = {n: random.standard_normal(n.shape, np.float32) for n in (x, w)}
    graph = mg.build_graph([x, w], mg.relu(x @ w.T))
    program = graph.compile()
    same([program(feeds)], [mg.run(graph, feeds)], TOLERANCE["float32"])
    (product,) = [call for call in program.bound.calls if call.function is np.dot]
    assert product.operands[0].shape == ((128, 600) if 2 * rows <= 128 else (rows, 600))

"""How operators run on many samples at once: every record of the registry, all operands, both ways.

A new operator is tested here by existing: three samples of it run in `lazy_batch` and one by one.
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest
from covering import each, pairs
from test_every_op import EFFECTS, draw

import minigrad as mg
from minigrad import ops
from minigrad.batching import rules
from minigrad.core import REGISTRY, Op, Sample

NEVER_NOTED = {"Fused"}  # made by a pass, for arrays
OPERATORS = sorted(
    name for name in set(REGISTRY) - EFFECTS - NEVER_NOTED if not REGISTRY[name].impure
)
# Operators whose bits depend on how many rows there are: BLAS adds in an order of its own.
ROUNDED = {"MatMul", "Conv2d"}
# Operators that run one by one: gradients of others, which nobody writes for one sample; those
# whose operands are rows already; random ones.
SINGLY = {
    *("AddAt", "AvgPool2dInput", "BroadcastLike", "Conv2dInput", "Conv2dWeight", "Count"),
    *("Dropout", "MaxPool2dInput", "MaxPool2dPick", "PickRows", "Piece", "PutRows"),
    *("Put", "PutSlice", "ReshapeLike", "ScatterAdd", "ShareOfExtreme", "SumLike", "Unslice"),
    *("ArgSort", "BroadcastBy", "LengthsOf", "ReshapeBy"),  # what ONNX models ask for
    *("MatMulLeft", "MatMulRight"),  # met where the number of axes is unknown: in static graphs
}


def choices(samples: Sequence[Sample]) -> Iterator[tuple[Sample, tuple[bool, ...]]]:
    """Each sample, with choices of operands that all samples share."""
    shared_ones = itertools.product((False, True), repeat=min(len(samples[0].shapes), 3))
    for sample, shared in pairs(samples, shared_ones):
        count = len(sample.shapes)
        yield sample, (*shared, *(False,) * count)[:count]


def results(
    op: Op, sample: Sample, shared: Sequence[bool], dtype: Any, lazy: bool
) -> tuple[list[Any], list[Any], Any]:
    """Values and gradients of three samples; operands pass through an operator of their own."""
    drawn = [draw(sample, dtype, seed) for seed in range(3)]
    tensors: list[list[mg.Tensor]] = []
    for k in range(3):
        row = []
        for i, own in enumerate(drawn[k]):
            wants = op.has_rule(i) and own.dtype.kind == "f"
            fresh = not shared[i] or k == 0
            row.append(mg.tensor(own, requires_grad=wants) if fresh else tensors[0][i])
        tensors.append(row)
    with mg.record() as log, mg.lazy_batch() if lazy else contextlib.nullcontext():
        ys = []
        for row in tensors:
            pairs = zip(row, shared, strict=True)
            passed = [x if s or x.dtype.kind != "f" else x * 1 for x, s in pairs]
            ys.append(op(*passed, **sample.attrs))
        weighed = [
            (y * np.random.default_rng(k).standard_normal(y.shape).astype(y.dtype)).sum()
            for k, y in enumerate(ys)
            if y.requires_grad
        ]
    if weighed:
        sum(weighed).backward()
    leaves = [x for row in tensors for x in row]
    gradients = [None if x.grad is None else x.grad.data for x in leaves]
    return [y.data for y in ys], gradients, log


@pytest.mark.cases(24)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", OPERATORS)
def test_samples_together_equal_samples_one_by_one(name: str, dtype: Any) -> None:
    op = REGISTRY[name]
    tolerance = 1e-5 if dtype is np.float32 else 1e-12
    for sample, shared in choices(op.samples):
        values, gradients, _ = results(op, sample, shared, dtype, lazy=False)
        found, slopes, _ = results(op, sample, shared, dtype, lazy=True)
        for a, b in zip(found, values, strict=True):
            assert (a.shape, a.dtype) == (b.shape, b.dtype)
            if name in ROUNDED:
                np.testing.assert_allclose(a, b, tolerance, tolerance)
            else:
                assert a.tobytes() == b.tobytes(), f"{name}: other bits, shared: {shared}"
        for a, b in zip(slopes, gradients, strict=True):
            assert (a is None) == (b is None), "a gradient that was not computed is None"
            if a is not None:
                np.testing.assert_allclose(a, b, tolerance, 10 * tolerance)


@each(OPERATORS)
def test_what_can_run_as_one_does(name: str) -> None:
    op = REGISTRY[name]
    expected = "one by one" if name in SINGLY else "batched"
    logs = (results(op, *case, np.float32, lazy=True)[2] for case in choices(op.samples))
    groups = (e.node for log in logs for e in log.of_kind("group") if e.op is op)
    assert any((group.how, group.size) == (expected, 3) for group in groups)
    assert rules.has_rule(op) == (name not in SINGLY)


def test_an_operator_without_a_rule_runs_one_by_one() -> None:
    """Stands for what others may add: the record alone makes it work."""
    halve = Op(
        "Halve",
        shape=lambda x: x,
        run=lambda out, x: np.multiply(x, x.dtype.type(0.5), out=out),
        vjp=(lambda g, y, x: g * 0.5,),
    )
    xs = [mg.tensor([1.0, 2.0 * i], requires_grad=True) for i in range(3)]
    with mg.record() as log, mg.lazy_batch():
        ys = [mg.exp(halve(mg.tanh(x))).sum() for x in xs]
        total = ys[0] + ys[1] + ys[2]
    total.backward()
    assert [(e.node.how, e.node.size) for e in log.of_kind("group") if e.op is halve] == [
        ("one by one", 3)
    ]
    for x in xs:
        h = np.tanh(x.data)
        np.testing.assert_allclose(x.grad.data, np.exp(h / 2) / 2 * (1 - h * h), rtol=1e-6)


@each(itertools.product((1, 2, 3), repeat=2))
def test_products_of_all_ranks(first: int, second: int) -> None:
    shapes, flips = [(2, 3, 3)[-first:], (2, 3, 3)[-second:]], (False, True)
    shares = [(False, False), (False, True), (True, False)]
    for shared, (a, b) in pairs(shares, itertools.product(flips, flips)):
        sample = Sample(shapes, {"transpose_a": a, "transpose_b": b})
        values, gradients, _ = results(ops.matmul, sample, shared, np.float64, lazy=False)
        found, slopes, _ = results(ops.matmul, sample, shared, np.float64, lazy=True)
        for x, y in zip(found + slopes, values + gradients, strict=True):
            assert x.shape == y.shape, (shared, a, b)
            np.testing.assert_allclose(x, y, 1e-12, 1e-12, err_msg=f"{shared} {a} {b}")


def test_rows_against_a_matrix_are_one_product() -> None:
    w = mg.randn(4, 4, seed=0, requires_grad=True)
    for shape in ((4,), (1, 4), (3, 4)):
        xs = [mg.randn(*shape, seed=i) for i in range(5)]
        with mg.record() as log, mg.lazy_batch():
            _ = [mg.tanh(x) @ w for x in xs]
        (product,) = [e.node for e in log.of_kind("built") if e.op is ops.matmul]
        assert product.shape == (5 * int(np.prod(shape[:-1])), 4)


# Samples of shape (1, n) are rows of their batch: each of these mixes them with others, or means
# the axis that the batch takes the place of.
ROW = (1, 3)
AXES: list[dict[str, Any]] = [{"axis": axis} for axis in (0, 1, -1, -2)]
ROWS: list[tuple[str, list[Sample]]] = [
    ("Add", [Sample([ROW, b]) for b in (ROW, (3,), (), (2, 3), (2, 1), (1, 1, 3), (4, 1, 3))]),
    ("MatMul", [Sample([ROW, b]) for b in ((3, 4), (3,), (2, 3, 4), (1, 3, 4))]),
    ("MatMul", [Sample([ROW, (4, 3)], {"transpose_b": True})]),
    ("MatMul", [Sample([ROW, ROW], {"transpose_a": True}), Sample([(1, 2, 3), (3, 4)])]),
    ("Sum", [Sample([ROW], {**a, "keepdims": k}) for a in [*AXES, {}] for k in (False, True)]),
    ("Max", [Sample([(1, 2, 3)], {"axis": (0, 2), "keepdims": True})]),
    *((name, [Sample([ROW], a) for a in AXES]) for name in ("Softmax", "CumSum", "Prod")),
    ("Prod", [Sample([(1, 2, 3)], {"axis": axis}) for axis in (1, -1, -3)]),
    ("ArgMax", [Sample([ROW], a) for a in AXES]),
    ("ExpandDims", [Sample([ROW], {"axis": axis}) for axis in (0, 1, 2, -1, -2, -3)]),
    ("Squeeze", [Sample([(1, 1, 3)], {"axis": axis}) for axis in (0, 1, None)]),
    ("Concatenate", [Sample([ROW, ROW], a) for a in AXES]),
    ("Concatenate", [Sample([ROW, (2, 3)], {"axis": 0}), Sample([ROW, (1, 2)], {"axis": -1})]),
    ("Stack", [Sample([ROW, ROW], {"axis": axis}) for axis in (0, 1, 2, -1, -3)]),
    ("Reshape", [Sample([ROW], {"shape": shape}) for shape in ((3,), (3, 1), (1, 1, 3))]),
    ("Reshape", [Sample([(3, 1)], {"shape": ROW})]),
    ("Transpose", [Sample([ROW]), Sample([(3, 1)]), Sample([(1, 2, 3)], {"axes": (0, 2, 1)})]),
    ("BroadcastTo", [Sample([ROW], {"shape": s}) for s in (ROW, (2, 3), (1, 2, 3))]),
    ("BroadcastTo", [Sample([(3,)], {"shape": ROW})]),
    (
        "Slice",
        [Sample([ROW], {"key": key}) for key in ((0,), ("...", 1), ((None,) * 3, (0, 2, None)))],
    ),
    (
        "Slice",
        [Sample([(1, 2, 3)], {"key": ("...", (0, 2, None))}), Sample([(1,)], {"key": ("...",)})],
    ),
]


@pytest.mark.parametrize(("name", "samples"), ROWS)
def test_samples_with_a_first_axis_of_length_1(name: str, samples: list[Sample]) -> None:
    op = REGISTRY[name]
    for sample, shared in choices(samples):
        values, gradients, _ = results(op, sample, shared, np.float64, lazy=False)
        found, slopes, _ = results(op, sample, shared, np.float64, lazy=True)
        for a, b in zip(found, values, strict=True):
            assert (a.shape, a.dtype) == (b.shape, b.dtype), (sample, shared)
            np.testing.assert_allclose(a, b, 1e-12, 1e-12)
        for a, b in zip(slopes, gradients, strict=True):
            assert (a is None) == (b is None)
            if a is not None:
                np.testing.assert_allclose(a, b, 1e-12, 1e-12)


def test_rows_are_multiplied_and_added_without_a_change_of_shape() -> None:
    """Five samples of shape (1, 4) are one batch of shape (5, 4) from beginning to end."""
    w, u = (mg.randn(4, 4, seed=i, requires_grad=True) for i in range(2))
    b = mg.randn(4, seed=2, requires_grad=True)
    xs = [mg.randn(1, 4, seed=10 + i) for i in range(5)]
    with mg.record() as log, mg.lazy_batch():
        hs = [mg.tanh(x @ w.T + b) for x in xs]
        ys = [mg.tanh(x @ w.T + h @ u.T + b) for x, h in zip(xs, hs, strict=True)]
    shapes = {event.op.name: event.node.shape for event in log.of_kind("built")}
    assert shapes.pop("PickRows") == (5, 4)
    assert shapes == {"Transpose": (4, 4), "MatMul": (5, 4), "Add": (5, 4), "Tanh": (5, 4)}
    assert [y.shape for y in ys] == [(1, 4)] * 5
    products = [e.node.size for e in log.of_kind("group") if e.op is ops.matmul]
    assert sorted(products) == [5, 10], "with each of the transposed weights"
    got = mg.grad(sum(y.sum() for y in ys), [hs[3]], retain_graph=True)[0]
    slope = (1 - ys[3].data ** 2) @ u.data
    np.testing.assert_allclose(got.data, slope, 1e-5, 1e-6)
    with pytest.raises(mg.GradientError, match=r"row of a batch"):
        hs[3].retain_grad()

"""Where a function has a corner, or is put together from two halves: its slope there.

The numbers are those of PyTorch, JAX and CNTK; `tests/oracles/test_oracle_slopes.py` asks the
first two again.
"""

from __future__ import annotations

import functools
import importlib
from typing import Any

import numpy as np
import pytest
from covering import each

import minigrad as mg
from minigrad.interop.jax.primitives import NAMED, PRIMITIVES
from minigrad.interop.torch.losses import LOSSES
from minigrad.interop.torch.numbers import ELEMENTWISE, REDUCTIONS
from minigrad.ops import corners

NAN, INF = np.nan, np.inf
AT = [-3.0, -1.0, 0.0, 1.0, 3.0, 6.0]
TORCH = ELEMENTWISE | REDUCTIONS | LOSSES
SCALE, SELU = 1.0507010221481323, 1.7580993175506592  # of SELU: right of 0, and at 0

# operator of PyTorch, operands, slopes of the first
FROM_TORCH: dict[str, tuple[Any, list[Any], list[float]]] = {
    "relu6": (TORCH["relu6"], [AT], [0, 0, 0, 1, 1, 0]),
    "hardtanh": (TORCH["hardtanh"], [AT], [0, 0, 1, 0, 0, 0]),
    "hardsigmoid": (TORCH["hardsigmoid"], [AT], [0, 1 / 6, 1 / 6, 1 / 6, 0, 0]),
    "hardswish": (TORCH["hardswish"], [AT], [0, 1 / 6, 0.5, 5 / 6, 1, 1]),
    "elu": (TORCH["elu"], [[0.0, 1.0, 200.0]], [1, 1, 1]),
    "elu of alpha 2": (lambda x: TORCH["elu"](x, 2.0), [[0.0, 1.0]], [2, 1]),
    "selu": (TORCH["selu"], [[0.0, 1.0]], [SELU, SCALE]),
    "celu of alpha 2": (lambda x: TORCH["celu"](x, 2.0), [[0.0, 1.0]], [1, 1]),
    "leaky_relu": (lambda x: TORCH["leaky_relu"](x, 0.2), [[-1.0, 0.0, 1.0]], [0.2, 0.2, 1]),
    "prelu": (TORCH["prelu"], [[-1.0, 0.0, 1.0], [0.25]], [0.25, 0.25, 1]),
    "log_sigmoid": (TORCH["log_sigmoid"], [[-200.0, 0.0, 200.0]], [1, 0.5, 0]),
    "softplus beyond its threshold": (lambda x: TORCH["softplus"](x, 10.0), [[0.0, 2.5]], [0.5, 1]),
    "clamp between tensors": (TORCH["clamp"], [AT, [-1.0], [3.0]], [0, 1, 1, 1, 1, 0]),
    "clamp_min by a tensor": (TORCH["clamp_min"], [AT, [0.0]], [0, 0, 1, 1, 1, 1]),
    "max along an axis": (lambda x: TORCH["max"](x, 0)[0], [[1.0, 3.0, 3.0]], [0, 1, 0]),
    "std": (TORCH["std"], [[2.0, 2.0]], [0, 0]),
    "norm": (TORCH["norm"], [[0.0, 0.0]], [0, 0]),
    "norm of order 3": (lambda x: TORCH["linalg_vector_norm"](x, 3), [[0.0, 0.0]], [0, 0]),
    "norm of order -inf": (
        lambda x: TORCH["linalg_vector_norm"](x, -INF),
        [[1.0, 2.0, -1.0]],
        [0.5, 0, -0.5],
    ),
    "distance of a point to itself": (
        lambda a, b: TORCH["pairwise_distance"](a, b, 2.0, 0.0),
        [[[1.0, 2.0]], [[1.0, 2.0]]],
        [[0, 0]],
    ),
    "entropy": (
        lambda p, t: TORCH["binary_cross_entropy"](p, t, None, 2),
        [[0.0, 1.0, 0.5, 1.0, 0.0, 1e-30], [0.0, 1.0, 0.5, 0.0, 1.0, 1.0]],
        [0, 0, 0, 1e12, -1e12, -1e12],
    ),
    "smooth_l1_loss without a smooth part": (
        lambda x: TORCH["smooth_l1_loss"](x, np.zeros(3, np.float32), 2, 0.0),
        [[-1.0, 0.0, 2.0]],
        [-1, 0, 1],
    ),
}
FROM_JAX: dict[str, tuple[Any, list[Any], list[float]]] = {
    "abs": (PRIMITIVES["abs"], [AT], [-1, -1, 1, 1, 1, 1]),
    "clamp": (lambda x: PRIMITIVES["clamp"](-1.0, x, 3.0), [AT], [0, 0, 1, 1, 0, 0]),
    "relu6": (NAMED["relu6"], [AT], [0, 0, 0, 1, 1, 0]),
    "logaddexp": (NAMED["logaddexp"], [[0.0, 200.0, -200.0], [0.0, 0.0, 0.0]], [0.5, 1, 0]),
}
OURS: dict[str, tuple[Any, list[Any], list[float]]] = {
    "root": (corners.root, [[0.0, 4.0]], [0, 0.25]),
    "elu": (corners.elu, [[0.0, 1.0, 200.0]], [1, 1, 1]),
    "at_least": (corners.at_least, [AT, [0.0]], [0, 0, 1, 1, 1, 1]),
    "at_most": (corners.at_most, [AT, [0.0]], [1, 1, 1, 0, 0, 0]),
    "std": (mg.std, [[2.0, 2.0]], [0, 0]),
    "max along a dimension": (lambda x: mg.max(x, dim=0)[0], [[1.0, 3.0, 3.0]], [0, 1, 0]),
    "min along a dimension": (lambda x: x.min(dim=0).values, [[1.0, 1.0, 3.0]], [1, 0, 0]),
    "max along an axis": (lambda x: mg.max(x, axis=0), [[1.0, 3.0, 3.0]], [0, 0.5, 0.5]),
    "square root of relu": (lambda x: mg.sqrt(mg.relu(x)), [[-1.0, 4.0]], [0, 0.25]),
}


SLOPES = {
    (source, name): row
    for source, table in (("torch", FROM_TORCH), ("jax", FROM_JAX), ("ours", OURS))
    for name, row in table.items()
}


@functools.cache
def in_graphs() -> list[dict[tuple[str, str], Any]]:
    """All slopes from one graph, which is compiled once, as each executor runs it."""
    feeds, slopes = {}, []
    with mg.Graph():
        for f, values, _ in SLOPES.values():
            first, *others = (np.asarray(v, np.float32) for v in values)
            x = mg.placeholder(None, shape=first.shape)
            slopes += mg.gradients(mg.sum(f(x, *map(mg.constant, others))), [x])
            feeds[x] = first
        graph = mg.build_graph([*feeds], slopes)
    runs = mg.run(graph, feeds), graph.compile()(feeds), graph.compile(executor="c")(feeds)
    return [dict(zip(SLOPES, found, strict=True)) for found in runs]


@each(SLOPES)
def test_slopes_from_the_tape_and_from_each_executor(source: str, name: str) -> None:
    f, values, expected = SLOPES[source, name]
    x, *others = (mg.tensor(np.asarray(v, np.float32), requires_grad=True) for v in values)
    f(x, *(other.detach() for other in others)).sum().backward()
    np.testing.assert_allclose(x.grad.data, expected, rtol=1e-6)
    for found in in_graphs():
        np.testing.assert_array_equal(found[source, name], x.grad.data)


def test_a_bound_that_is_not_a_number_is_not_hidden() -> None:
    x = mg.tensor([1.0, NAN])
    for bounded in (corners.at_least, corners.at_most):
        np.testing.assert_array_equal(bounded(x, mg.tensor([NAN, 0.0])).data, [NAN, NAN])


def test_ties_and_the_logarithm_of_0_in_cntk() -> None:
    """As its source has it: `element_max` asks whether the left is greater, all of the largest get
    the whole gradient, and the logarithm is -85.1 below 1e-37."""
    C: Any = importlib.import_module("minigrad.faces.cntk")

    def slopes(f: Any, *values: Any) -> list[Any]:
        xs = [C.parameter(init=np.array(v, np.float32)) for v in values]
        found = f(*xs).grad({}, wrt=xs)
        return [np.asarray(found[x] if len(xs) > 1 else found).tolist() for x in xs]

    at, beside = [-1.0, 0.0, 1.0], [0.0, 0.0, 1.0]
    assert slopes(C.element_max, at, beside) == [[0, 0, 0], [1, 1, 1]]
    assert slopes(C.element_min, at, beside) == [[1, 0, 0], [0, 1, 1]]
    assert slopes(lambda x: C.clip(x, 0.0, 1.0), [-1.0, 0.0, 1.0, 2.0]) == [[0, 1, 1, 0]]
    assert slopes(lambda x: C.reduce_max(x, 0), [1.0, 2.0, 2.0]) == [[0, 1, 1]]
    assert slopes(C.elu, [0.0, 1.0]) == [[1, 1]]
    assert slopes(C.log_add_exp, [1.0, 2.0], [1.0, 2.0]) == [[0.5, 0.5], [0.5, 0.5]]
    [at_zero] = slopes(C.log, [0.0, 2.0])
    assert at_zero == pytest.approx([9.08782e36, 0.5], rel=1e-4)
    assert np.asarray(C.log([0.0, 1.0]).eval()).tolist() == pytest.approx([-85.1, 0])


def test_the_entropy_of_probabilities_has_a_second_derivative() -> None:
    torch: Any = importlib.import_module("minigrad.faces.torch")
    p = torch.tensor([0.25], requires_grad=True)
    loss = torch.nn.functional.binary_cross_entropy(p, torch.tensor([1.0]))
    (slope,) = torch.autograd.grad(loss, p, create_graph=True)
    slope.sum().backward()
    assert (slope.item(), p.grad.item()) == (-4, 16)


def test_a_reduction_that_is_none_names_those_there_are() -> None:
    torch: Any = importlib.import_module("minigrad.faces.torch")
    with pytest.raises(mg.ArgumentError, match="mean"):
        torch.nn.BCELoss(reduction="average")(torch.tensor([0.5]), torch.tensor([1.0]))


def test_the_deviation_of_an_array_of_jax_divides_by_n() -> None:
    jnp: Any = importlib.import_module("minigrad.faces.jax.numpy")
    x = jnp.array([[1.0, 3.0]])
    assert (float(x.std()), float(x.var(ddof=1)), x.max(1).tolist()) == (1, 2, [3])

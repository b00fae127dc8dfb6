"""Infinity, NaN and places without a slope: what each operator answers, and that it does quietly.

As in PyTorch and TensorFlow, these are answers and no reason for a warning; every test here turns
warnings into errors. The user's own NumPy still warns.
"""

from __future__ import annotations

import itertools
import subprocess
import sys
import warnings
from typing import Any

import numpy as np
import pytest
from covering import each

import minigrad as mg
from minigrad.core import REGISTRY

INF, NAN = np.inf, np.nan
T, F = True, False
Row = tuple[tuple[Any, ...], Any]  # operands (float32), result

# What operators that work on each element by itself answer.
ELEMENTWISE: dict[str, list[Row]] = {
    "Add": [((INF, -INF), NAN), ((INF, 1), INF), ((3e38, 3e38), INF)],
    "Sub": [((INF, INF), NAN), ((1, INF), -INF)],
    "Mul": [((0, INF), NAN), ((-1, INF), -INF), ((1e30, 1e30), INF), ((1e-30, 1e-30), 0)],
    "Div": [((1, 0), INF), ((-1, 0), -INF), ((0, 0), NAN), ((1, INF), 0), ((INF, INF), NAN)],
    "Neg": [((INF,), -INF)],
    "Pow": [
        *[((0, 0), 1), ((NAN, 0), 1), ((1, NAN), 1), ((0, -1), INF), ((-2, 3), -8)],
        *[((-2, 0.5), NAN), ((10, 100), INF), ((INF, -1), 0)],
    ],
    "FloorDivide": [((1, 0), INF), ((0, 0), NAN), ((-7, 2), -4), ((INF, 2), NAN)],
    "Mod": [((1, 0), NAN), ((INF, 2), NAN), ((-7, 4), 1), ((7, -4), -1), ((7, INF), 7)],
    "Exp": [((-INF,), 0), ((100,), INF), ((INF,), INF)],
    "Log": [((0,), -INF), ((-1,), NAN), ((INF,), INF)],
    "Log1p": [((-1,), -INF), ((-2,), NAN), ((INF,), INF)],
    "Sqrt": [((-1,), NAN), ((INF,), INF), ((0,), 0)],
    "Sin": [((INF,), NAN)],
    "Cos": [((INF,), NAN)],
    "Abs": [((-INF,), INF)],
    "Sign": [((-INF,), -1), ((0,), 0), ((NAN,), NAN)],
    "Floor": [((INF,), INF), ((-0.5,), -1)],
    "Ceil": [((-INF,), -INF), ((0.5,), 1)],
    "Round": [((INF,), INF), ((0.5,), 0), ((1.5,), 2), ((-2.5,), -2)],
    "Cast": [((INF,), INF), ((NAN,), NAN)],
    "Tanh": [((INF,), 1), ((-INF,), -1)],
    "Sigmoid": [((INF,), 1), ((-INF,), 0), ((-1000,), 0), ((1000,), 1)],
    "ReLU": [((INF,), INF), ((-INF,), 0), ((NAN,), NAN)],
    "BinaryCrossEntropy": [
        *[((0, 0), 0), ((1, 1), 0), ((0, 1), 100), ((1, 0), 100), ((0.5, 1), 0.6931472)],
        *[((NAN, 1), NAN), ((-1, 0.5), NAN), ((2, 0.5), NAN)],
    ],
    "Step": [((INF,), 1), ((0,), 0), ((NAN,), 0)],
    "Softplus": [((INF,), INF), ((-INF,), 0), ((1000,), 1000)],
    "Erf": [((INF,), 1), ((-INF,), -1), ((NAN,), NAN)],
    "GELU": [((INF,), INF), ((-100,), 0), ((NAN,), NAN)],
    "Equal": [((NAN, NAN), F), ((INF, INF), T)],
    "NotEqual": [((NAN, NAN), T)],
    "Less": [((NAN, 1), F), ((-INF, INF), T)],
    "LessEqual": [((NAN, NAN), F), ((INF, INF), T)],
    "Greater": [((NAN, 1), F), ((INF, 1), T)],
    "GreaterEqual": [((NAN, NAN), F)],
    "And": [((NAN, 1), T), ((0, NAN), F)],
    "Or": [((NAN, 0), T)],
    "Xor": [((NAN, 1), F)],
    "Not": [((NAN,), F), ((0,), T)],
    "IsNaN": [((NAN,), T), ((INF,), F)],
    "Where": [((T, 1, NAN), 1), ((F, INF, 2), 2), ((T, NAN, 1), NAN)],
    "Maximum": [((NAN, 1), NAN), ((1, NAN), NAN), ((INF, 1), INF)],
    "Minimum": [((NAN, 1), NAN), ((1, NAN), NAN), ((INF, 1), 1)],
    "ShareOfMaximum": [((1, 1), 0.5), ((INF, INF), 0.5), ((NAN, 1), 1), ((1, 2), 0)],
    "Clip": [((INF,), 1.5), ((-INF,), -1), ((NAN,), NAN)],
    "Within": [((INF,), 0), ((NAN,), 0), ((1.5,), 1), ((-1,), 1)],
}
# Those that add up or choose along an axis: one operand of one axis.
ALONG_AXES: dict[str, list[tuple[list[float], Any]]] = {
    "Sum": [([INF, -INF], NAN), ([3e38, 3e38], INF), ([], 0)],
    "Mean": [([INF, 1], INF), ([], NAN)],
    "Max": [([1, NAN, 2], NAN), ([-INF, -INF], -INF)],
    "Min": [([1, NAN, 2], NAN), ([INF, INF], INF)],
    "ArgMax": [([1, NAN, 2], 1), ([2, 2], 0), ([-INF, -INF], 0)],
    "ArgMin": [([1, NAN, 2], 1), ([2, 2], 0)],
    "All": [([NAN, 1], T), ([], T), ([0, 1], F)],
    "Any": [([NAN, 0], T), ([], F)],
    "LogSumExp": [([-INF, -INF], -INF), ([INF, 0], INF), ([1000, -INF], 1000), ([], -INF)],
    "CumSum": [([INF, -INF], [INF, NAN])],
    "Softmax": [([1000, -1000], [1, 0]), ([-INF, 0], [0, 1]), ([INF, 0], [NAN, NAN])],
    "LogSoftmax": [([1000, -1000], [0, -2000]), ([-INF, 0], [-INF, 0])],
}


def in_both_modes(name: str, operands: list[Any], attrs: Any) -> list[Any]:
    """The results on arrays, on tensors, and in a graph."""
    op = REGISTRY[name]
    results = [op(*operands, **attrs), op(*map(mg.tensor, operands), **attrs).data]
    with mg.Graph():
        xs = [mg.placeholder(None, np.shape(a), a.dtype) for a in operands]
        graph = mg.build_graph(xs, op(*xs, **attrs))
    return [*results, mg.run(graph, dict(zip(xs, operands, strict=True)))]


@each([name for name, op in REGISTRY.items() if op.elementwise])
def test_every_elementwise_operator_answers_special_values_alike_and_quietly(name: str) -> None:
    sample = REGISTRY[name].samples[0]
    special = [INF, -INF, NAN, 0.0, -0.0, 1.0, -1.0, 1e-30, 3e38]
    for values in itertools.product(special, repeat=len(sample.shapes)):
        kinds = [np.bool_ if i in sample.bools else np.float32 for i in range(len(values))]
        operands = [np.array(v, k) for v, k in zip(values, kinds, strict=True)]
        plain, *others = in_both_modes(name, operands, sample.attrs)
        for other in others:
            np.testing.assert_array_equal(np.asarray(other), np.asarray(plain), err_msg=name)


@each(ELEMENTWISE)
def test_special_values_of_elements(name: str) -> None:
    for values, expected in ELEMENTWISE[name]:
        kinds = [np.bool_ if isinstance(v, bool) else np.float32 for v in values]
        for form in (lambda a: a[()], lambda a: a.reshape(1)):  # numbers and arrays
            operands = [form(np.array(v, k)) for v, k in zip(values, kinds, strict=True)]
            for result in in_both_modes(name, operands, REGISTRY[name].samples[0].attrs):
                np.testing.assert_allclose(result, form(np.array(expected)), 1e-6, err_msg=name)


@each(ALONG_AXES)
def test_special_values_along_axes(name: str) -> None:
    for values, expected in ALONG_AXES[name]:
        attrs = {"axis": 0} if "axis" in str(REGISTRY[name].samples) else {}
        for result in in_both_modes(name, [np.array(values, np.float32)], attrs):
            np.testing.assert_allclose(result, expected, 1e-6, err_msg=name)


def gradient(f: Any, *values: float) -> list[float | None]:
    """The gradient in both modes, which must agree; None where none was computed."""
    xs = [mg.tensor(v, requires_grad=True, dtype=np.float64) for v in values]
    f(*xs).sum().backward()
    found = [None if x.grad is None else x.grad.tolist() for x in xs]
    with mg.Graph():
        nodes = [mg.placeholder(None, np.shape(v), np.float64) for v in values]
        grads = mg.gradients(f(*nodes), nodes)
        run = mg.run(
            mg.build_graph(nodes, [g for g in grads if g is not None]),
            dict(zip(nodes, values, strict=True)),
        )
    static = iter(run)
    again = [None if g is None else next(static).tolist() for g in grads]
    np.testing.assert_equal(again, found)
    return found


SLOPES: dict[str, tuple[Any, tuple[Any, ...], list[Any]]] = {
    # powers: the exponent's gradient must not spoil the base's, nor 0⁻¹ the slope of x⁰
    "x ** 0 at 0": (lambda x: x**0, (0.0,), [0.0]),
    "x ** 0.0 at NaN": (lambda x: x**0.0, (NAN,), [0.0]),
    "x ** 1 at 0": (lambda x: x**1, (0.0,), [1.0]),
    "x ** 2 at 0": (lambda x: x**2, (0.0,), [0.0]),
    "x ** 2 below 0": (lambda x: x**2, (-3.0,), [-6.0]),
    "x ** 3 below 0": (lambda x: x**3, (-2.0,), [12.0]),
    "x ** -1 below 0": (lambda x: x**-1, (-2.0,), [-0.25]),
    "x ** 0.5 at 0": (lambda x: x**0.5, (0.0,), [INF]),
    "0 ** y": (lambda x, y: x**y, (0.0, 2.0), [0.0, 0.0]),
    "0 ** 0": (lambda x, y: x**y, (0.0, 0.0), [0.0, 0.0]),
    "(-2) ** 2 in the exponent": (lambda x, y: x**y, (-2.0, 2.0), [-4.0, NAN]),
    # ties
    "maximum of equals": (mg.maximum, (1.0, 1.0), [0.5, 0.5]),
    "minimum of equals": (mg.minimum, (1.0, 1.0), [0.5, 0.5]),
    "max of equals": (lambda x: x.max(), ([1.0, 3.0, 3.0],), [[0.0, 0.5, 0.5]]),
    "min of equals": (lambda x: x.min(), ([1.0, 1.0, 1.0, 1.0],), [[0.25] * 4]),
    "max along an axis": (
        lambda x: x.max(axis=1),
        ([[2.0, 2.0], [1.0, 3.0]],),
        [[[0.5, 0.5], [0.0, 1.0]]],
    ),
    # edges
    "relu at 0": (mg.relu, (0.0,), [0.0]),
    "abs at 0": (mg.abs, (0.0,), [0.0]),
    "clip inside and on the bounds": (
        lambda x: mg.clip(x, -1.0, 1.0),
        ([-2.0, -1.0, 0.0, 1.0, 2.0],),
        [[0.0, 1.0, 1.0, 1.0, 0.0]],
    ),
    "sqrt at 0": (mg.sqrt, (0.0,), [INF]),
    "log at 0": (mg.log, (0.0,), [INF]),
    "std of equals": (lambda x: mg.std(x), ([2.0, 2.0],), [[0.0, 0.0]]),
    "sigmoid far out": (mg.sigmoid, ([-1000.0, 1000.0],), [[0.0, 0.0]]),
    "softplus far out": (mg.softplus, ([-1000.0, 1000.0],), [[0.0, 1.0]]),
    "logsumexp far out": (mg.logsumexp, ([1000.0, 0.0],), [[1.0, 0.0]]),
    # what was not chosen does no harm
    "where keeps NaN out": (
        lambda x: mg.where(x > 0, x * 2, mg.zeros_like(x)),
        ([NAN, 1.0],),
        [[0.0, 2.0]],
    ),
}


@each(SLOPES)
def test_slopes_at_special_places(name: str) -> None:
    f, values, expected = SLOPES[name]
    np.testing.assert_equal(gradient(f, *values), expected)


def test_where_passes_on_the_gradient_of_what_was_chosen_only() -> None:
    a, b = (mg.tensor([1.0, 1.0], requires_grad=True) for _ in range(2))
    mg.where(mg.tensor([True, False]), a, b).backward([INF, NAN])
    assert a.grad.tolist() == [INF, 0.0]
    np.testing.assert_equal(b.grad.tolist(), [0.0, NAN])


STEPS: tuple[Any, ...] = (
    *(mg.sign, mg.floor, mg.ceil, mg.round),
    *(lambda x: x // 2, lambda x: 2 // x, lambda x: mg.sign(x) // x),
)


@pytest.mark.parametrize("f", STEPS)
def test_the_gradient_of_steps_is_zero(f: Any) -> None:
    x = mg.tensor([1.5, -2.5], requires_grad=True)
    f(x).sum().backward()
    assert x.grad.tolist() == [0.0, 0.0]
    with mg.Graph():
        node = mg.placeholder("x", shape=(2,))
        [slope] = mg.gradients(mg.sum(f(node)), [node])
        graph = mg.build_graph(node, slope)
    feed = {node: [1.5, -2.5]}
    for found in (mg.run(graph, feed), graph.compile()(feed), graph.compile(executor="c")(feed)):
        assert np.asarray(found).tolist() == [0.0, 0.0]


def test_a_number_that_was_not_computed_from_x_still_has_no_gradient() -> None:
    x = mg.tensor([1.5], requires_grad=True)
    for f in (lambda x: x > 0, mg.argmax, mg.isnan, lambda x: mg.cast(x, int)):
        assert f(x).creator is None
    (mg.floor(x) + x).sum().backward()
    assert x.grad.tolist() == [1.0]


ONE, ZERO = np.ones(1000, np.float32), np.zeros(1000, np.float32)
MASKED: dict[str, tuple[Any, list[Any], list[Any]]] = {
    "relu": (mg.relu, [[-1, 0, 2]], [[0, 0, INF]]),
    "clip": (lambda x: mg.clip(x, -1.0, 1.0), [[-2, 1, 2]], [[0, INF, 0]]),
    "maximum": (mg.maximum, [[1, 2, 3], [2, 2, 2]], [[0, INF, INF], [INF, INF, 0]]),
    "minimum": (mg.minimum, [[1, 2, 3], [2, 2, 2]], [[INF, INF, 0], [0, INF, INF]]),
    "where": (lambda x: mg.where(x > 0, x, 0.0), [[-1, 0, 2]], [[0, 0, INF]]),
    "max": (lambda x: mg.max(x), [[1, 3, 3]], [[0, INF, INF]]),
    "max along an axis": (lambda x: mg.max(x, axis=0), [[1, 3, 3]], [[0, INF, INF]]),
    "max along a dimension": (lambda x: mg.max(x, dim=0)[0], [[1, 3, 3]], [[0, INF, 0]]),
    "min along a dimension": (lambda x: mg.min(x, dim=0)[0], [[1, 1, 3]], [[INF, 0, 0]]),
    "max_pool2d": (
        lambda x: mg.max_pool2d(mg.reshape(x, (1, 1, 2, 2)), 2),
        [[1, 3, 3, 2]],
        [[0, INF, 0, 0]],
    ),
    "max_pool2d that overlaps": (
        lambda x: mg.max_pool2d(mg.reshape(x, (1, 1, 2, 3)), 2, 1),
        [[1, 3, 2, 2, 0, 4]],
        [[0, INF, 0, 0, 0, INF]],
    ),
    "many": (mg.relu, [np.append(-ONE, ONE)], [np.append(ZERO, INF * ONE)]),
}


@pytest.mark.parametrize("name", MASKED)
def test_an_infinite_gradient_stays_where_it_belongs(name: str) -> None:
    """Zero times infinity would be NaN: a mask is no factor. The expected values are PyTorch's."""
    f, values, expected = MASKED[name]
    slopes, found = list[Any](), list[Any]()
    with mg.Graph():
        nodes = [mg.placeholder(f"x{i}", shape=np.shape(v)) for i, v in enumerate(values)]
        end = f(*nodes)
    for value in (INF, -INF, NAN):
        xs = [mg.tensor(np.asarray(v, np.float32), requires_grad=True) for v in values]
        y = f(*xs)
        y.backward(np.full(y.shape, value, np.float32))
        for x, slope in zip(xs, expected, strict=True):
            np.testing.assert_array_equal(x.grad.data, np.where(np.asarray(slope) > 0, value, 0))
            slopes.append(x.grad.data)
        with nodes[0].graph:
            weights = mg.constant(np.full(y.shape, value, np.float32))
            found += mg.gradients(end, nodes, weights)
    with nodes[0].graph:
        graph = mg.build_graph(nodes, found)
    feed = dict(zip(nodes, values, strict=True))
    for run in (graph.compile(), graph.compile(executor="c"), lambda feed: mg.run(graph, feed)):
        for a, b in zip(run(feed), slopes, strict=True):
            np.testing.assert_array_equal(a, b)


def test_a_dead_relu_hides_the_infinite_slope_behind_it() -> None:
    x = mg.tensor([-1.0, 4.0], requires_grad=True)
    mg.sqrt(mg.relu(x)).sum().backward()
    assert x.grad.tolist() == [0.0, 0.25]


def test_integers_have_no_answer_to_division_by_zero() -> None:
    for f in (lambda a: a // 0, lambda a: a % 0):
        with pytest.raises(mg.NumericError, match="cannot be divided by 0"):
            f(mg.tensor([1, 2]))
        with mg.Graph():
            x = mg.placeholder("x", shape=(2,), dtype=np.int64)
            graph = mg.build_graph(x, f(x))
            with pytest.raises(mg.NumericError, match="cannot be divided by 0"):
                mg.run(graph, {x: [1, 2]})


def test_the_users_numpy_keeps_its_warnings() -> None:
    before = np.geterr()
    mg.log(mg.tensor(0.0))
    x = mg.placeholder("x", shape=())
    mg.run(mg.build_graph(x, mg.log(x)), {x: 0.0})
    assert np.geterr() == before
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        np.log(np.zeros(1))
    assert [w.category for w in caught] == [RuntimeWarning]


def test_what_the_importing_program_kept_in_its_context_stays_out_of_runs() -> None:
    """Jupyter keeps there to which cell output belongs."""
    lines = [
        "import contextvars",
        "cell = contextvars.ContextVar('cell', default='none')",
        "cell.set('that of the import')",
        "from minigrad import core",
        "print(core.silently(cell.get), core.silence().run(cell.get))",
    ]
    command = [sys.executable, "-c", "\n".join(lines)]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert said.split() == ["none", "none"]


def test_an_overflow_in_backward_makes_no_noise() -> None:
    x = mg.tensor([1e-30], requires_grad=True)
    (1 / x).sum().backward()
    assert x.grad.tolist() == [-INF]
    (dx,) = mg.grad((1 / x).sum(), [x], create_graph=True)
    assert dx.tolist() == [-INF]

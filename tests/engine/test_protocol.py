"""NumPy's functions on tensors and nodes: ours, with the gradient, or an error that names ours."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from covering import each

import minigrad as mg
from minigrad.functions import protocol

VALUE = np.array([[1.5, 2.25, 0.5], [3.25, 4.0, 1.25]], np.float32)
ROW = np.array([2.0, 1.0, 3.0], np.float32)

CALLS: dict[str, Callable[[Any], Any]] = {
    "exp": lambda x: np.exp(x),
    "power": lambda x: np.power(x, 2),
    "an array on the left": lambda x: ROW * x,
    "a NumPy number on the left": lambda x: np.float32(2) - x,
    "a comparison": lambda x: np.less(ROW, x),
    "the greater": lambda x: np.maximum(ROW, x),
    "matmul": lambda x: np.matmul(ROW, x.T),
    "an array @": lambda x: ROW @ x.T,
    "square": lambda x: np.square(x),
    "reciprocal": lambda x: np.reciprocal(x),
    "absolute": lambda x: np.abs(x),
    "rint": lambda x: np.rint(x),
    "sum": lambda x: np.sum(x),
    "sum by position": lambda x: np.sum(x, 1, None, None, True),
    "prod": lambda x: np.prod(x, axis=0),
    "mean": lambda x: np.mean(x, axis=0, keepdims=True),
    "std": lambda x: np.std(x, axis=1),
    "var": lambda x: np.var(x, ddof=1),
    "max": lambda x: np.max(x, 1),
    "amin": lambda x: np.amin(x, axis=0),
    "all": lambda x: np.all(x > 1),
    "any": lambda x: np.any(x > 1, axis=0),
    "argmax": lambda x: np.argmax(x, axis=1),
    "argmin": lambda x: np.argmin(x),
    "cumsum": lambda x: np.cumsum(x),
    "cumsum along": lambda x: np.cumsum(x, axis=1),
    "clip": lambda x: np.clip(x, 1, 2),
    "clip above": lambda x: np.clip(x, None, 2.0),
    "round": lambda x: np.round(x),
    "reshape": lambda x: np.reshape(x, (3, 2)),
    "ravel": lambda x: np.ravel(x),
    "transpose": lambda x: np.transpose(x),
    "transpose axes": lambda x: np.transpose(x, (1, 0)),
    "swapaxes": lambda x: np.swapaxes(x, 0, 1),
    "squeeze": lambda x: np.squeeze(np.expand_dims(x, 1), axis=1),
    "flip": lambda x: np.flip(x, axis=0),
    "tile": lambda x: np.tile(x, (2, 1)),
    "broadcast_to": lambda x: np.broadcast_to(x, (2, 2, 3)),
    "concatenate": lambda x: np.concatenate([x, x], axis=1),
    "stack": lambda x: np.stack((x, 2 * x)),
    "take": lambda x: np.take(x, np.array([1, 0]), axis=0),
    "where": lambda x: np.where(x > 1, x, 0.0),
    "zeros_like": lambda x: np.zeros_like(x),
    "ones_like": lambda x: np.ones_like(x),
    "&": lambda x: np.array([True, False, True]) & (x > 1),
    "and": lambda x: np.bitwise_and(x > 1, ROW > 1),
    "|": lambda x: np.array([True, False, True]) | (x > 1),
    "or": lambda x: np.bitwise_or(x > 1, ROW > 1),
    "^": lambda x: np.array([True, False, True]) ^ (x > 1),
    "xor": lambda x: np.bitwise_xor(x > 1, ROW > 1),
    "not": lambda x: np.invert(x > 1),
    "floor": lambda x: np.floor(x),
    "ceil": lambda x: np.ceil(x),
    "positive": lambda x: np.positive(x),
    "remainder": lambda x: np.remainder(x, ROW + np.float32(0.5)),
    "floor_divide": lambda x: np.floor_divide(ROW, x),
}


STEPS = {"rint", "round", "floor", "ceil", "floor_divide"}


@each(CALLS)
def test_a_function_of_numpy_is_ours_in_both_modes(name: str) -> None:
    f = CALLS[name]
    expected = np.asarray(f(VALUE))
    leaf = mg.tensor(VALUE, requires_grad=True)
    y = f(leaf)
    assert isinstance(y, mg.Tensor)
    np.testing.assert_allclose(y.data, expected, rtol=1e-6)
    with mg.Graph():
        x = mg.placeholder("x", VALUE.shape)
        node = f(x)
        assert isinstance(node, mg.Node)
        found = mg.run(mg.build_graph(x, node), {x: VALUE})
    assert np.asarray(found).tobytes() == np.asarray(y.data).tobytes()
    if name in STEPS:
        y.sum().backward()
        assert not leaf.grad.any(), "between its steps it is constant"
    elif y.requires_grad:
        mg.check_grads(lambda z: f(z), VALUE.astype(np.float64))


def test_shape_ndim_and_size_look_at_the_value() -> None:
    x = mg.tensor(VALUE, requires_grad=True)
    assert (np.shape(x), np.ndim(x), np.size(x)) == ((2, 3), 2, 6)


def test_answers_that_have_no_gradient_are_those_of_numpy() -> None:
    x = mg.tensor(VALUE, requires_grad=True)
    assert np.allclose(x, VALUE)
    assert np.array_equal(x, x)
    assert np.argsort(x, axis=1).tolist() == np.argsort(VALUE, axis=1).tolist()
    assert np.isfinite(x).all()
    np.testing.assert_array_equal(np.asarray(x), VALUE)


def test_where_no_gradient_is_wanted_numpy_reads_the_values() -> None:
    x = mg.tensor(VALUE)
    assert np.linalg.norm(x) == np.linalg.norm(VALUE)
    assert np.sort(x).tolist() == np.sort(VALUE).tolist()
    with mg.no_grad():
        assert np.tan(mg.tensor(VALUE, requires_grad=True)).tolist() == np.tan(VALUE).tolist()
    total = np.zeros_like(VALUE)
    alias = total
    total += x
    assert alias.tolist() == VALUE.tolist()


LOST: dict[str, tuple[Callable[[Any], Any], list[str]]] = {
    "tan": (lambda x: np.tan(x), ["np.tan", "mg.sin(x) / mg.cos(x)"]),
    "norm": (lambda x: np.linalg.norm(x), ["np.linalg.norm", "mg.sqrt(mg.sum(x * x))"]),
    "dot": (lambda x: np.dot(x, x.T), ["np.dot", "mg.matmul(a, b)"]),
    "sort": (lambda x: np.sort(x), ["np.sort", "np.sort(x.numpy())"]),
    "reduce": (lambda x: np.add.reduce(x), ["np.add.reduce"]),
    "into an array": (lambda x: np.add(x, 1, out=np.zeros_like(VALUE)), ["np.add", "mg.add"]),
}


@each(LOST)
def test_a_gradient_is_never_lost_in_silence(name: str) -> None:
    f, words = LOST[name]
    with pytest.raises(mg.GradientError) as found:
        f(mg.tensor(VALUE, requires_grad=True))
    for sentence in found.value.pair:
        assert all(word in sentence for word in [*words, "x.detach()", "test_protocol.py"])
    with pytest.raises(mg.TraceError) as found:
        f(mg.placeholder(None, VALUE.shape))
    for sentence in found.value.pair:
        assert all(word in sentence for word in [*words, "sess.run", "test_protocol.py"])


@pytest.mark.parametrize(
    ("f", "option"),
    [
        (lambda x: np.sum(x, dtype=np.float64), "dtype"),
        (lambda x: np.mean(x, out=np.zeros(())), "out"),
        (lambda x: np.round(x, 2), "decimals"),
        (lambda x: np.sum(x, where=VALUE > 1), "where"),
        (lambda x: np.reshape(x, (3, 2), order="F"), "order"),
    ],
)
def test_an_option_that_we_do_not_have_is_refused(f: Any, option: str) -> None:
    for x in (mg.tensor(VALUE), mg.placeholder(None, VALUE.shape)):
        with pytest.raises(mg.ArgumentError) as found:
            f(x)
        assert all(option in sentence for sentence in found.value.pair)


def test_every_row_of_the_table_is_tried() -> None:
    tried = {name.split()[0] for name in CALLS} | {"amax", "shape", "ndim", "size", "expand_dims"}
    assert protocol.FUNCTIONS.keys() <= tried | {"min"}

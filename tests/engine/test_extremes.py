"""Arguments far beyond sense: each is refused in our words, before memory is taken for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from covering import each

import minigrad as mg

pytestmark = pytest.mark.usefixtures("own_graph")

INF, NAN = float("inf"), float("nan")
HOSTILE: list[Any] = [2**62, 2**63, 2**70, -(2**70), -1, INF, NAN, 1e30, "two", None, 3.5, True]
HOSTILE += [[2**62], (2**40, 2**40), [], {}, 1j, 10**400]
VALUE = np.ones((2, 3), np.float32)

MADE: dict[str, Callable[[Any], Any]] = {
    "zeros": mg.zeros,
    "ones": mg.ones,
    "full": lambda h: mg.full(h, 1.0),
    "full of": lambda h: mg.full((2,), h),
    "eye": mg.eye,
    "eye wide": lambda h: mg.eye(2, h),
    "arange": mg.arange,
    "arange to": lambda h: mg.arange(0, h),
    "arange by": lambda h: mg.arange(0, 5, h),
    "arange of int32": lambda h: mg.arange(0, h, dtype=mg.int32),
    "linspace count": lambda h: mg.linspace(0, 1, h),
    "linspace start": lambda h: mg.linspace(h, 1, 3),
    "rand": mg.rand,
    "randn": mg.randn,
    "randint high": lambda h: mg.randint(0, h, 3),
    "randint low": lambda h: mg.randint(h, 2**62, 3),
    "randint shape": lambda h: mg.randint(0, 5, h),
    "seed": lambda h: mg.rand(2, seed=h),
    "tensor": mg.tensor,
    "tensor of int32": lambda h: mg.tensor(h, dtype=mg.int32),
    "constant": mg.constant,
    "placeholder": lambda h: mg.placeholder(None, (h,)),
    "Linear": lambda h: mg.nn.Linear(h, 2),
}
ALONG = ("sum", "mean", "argmax", "softmax", "log_softmax", "logsumexp", "cumsum", "prod", "all")
ALONG += ("var", "std", "flip", "squeeze", "expand_dims")
ARRANGED: dict[str, Callable[[Any, Any], Any]] = {
    **{name: (lambda x, h, name=name: getattr(mg, name)(x, axis=h)) for name in ALONG},
    "max": lambda x, h: mg.max(x, axis=h),
    "max dim": lambda x, h: mg.max(x, dim=h)[0],
    "several axes": lambda x, h: x.sum(axis=(h,)),
    "full_like": lambda x, h: mg.full_like(x, h),
    "reshape": lambda x, h: mg.reshape(x, (h, 2)),
    "tile": lambda x, h: mg.tile(x, h),
    "broadcast_to": lambda x, h: mg.broadcast_to(x, (h, 2, 3)),
    "pad": lambda x, h: mg.pad(x, ((0, 0), (0, h))),
    "pad with": lambda x, h: mg.pad(x, ((0, 0), (0, 1)), value=h),
    "take": lambda x, h: mg.take(x, h, axis=0),
    "take along": lambda x, h: mg.take(x, 0, axis=h),
    "an index": lambda x, h: x[h],
    "a slice": lambda x, h: x[h:],
    "a step": lambda x, h: x[::h],
    "concatenate": lambda x, h: mg.concatenate([x, x], axis=h),
    "stack": lambda x, h: mg.stack([x, x], axis=h),
    "split": lambda x, h: mg.split(x, sections=h)[0],
    "transpose": lambda x, h: mg.transpose(x, h),
    "swapaxes": lambda x, h: mg.swapaxes(x, h, 0),
    "flatten": lambda x, h: mg.flatten(x, h),
    "one_hot": lambda x, h: mg.one_hot(mg.argmax(x, axis=0), h),
    "clip": lambda x, h: mg.clip(x, h, 1),
    "add": lambda x, h: x + h,
    "power": lambda x, h: x**h,
    "a count +": lambda x, h: mg.argmax(x) + h,
    "where": lambda x, h: mg.where(x > 0, x, h),
}


def expect_our_words(make: Callable[[], Any]) -> None:
    """It works, or an error of ours names the line."""
    error = None
    try:
        make()
    except mg.GraphError as found:
        error = found
    assert error is None or all("test_extremes.py" in sentence for sentence in error.pair), error


@each(MADE)
def test_what_makes_values_refuses_extremes_in_our_words(name: str) -> None:
    for hostile in HOSTILE:
        expect_our_words(lambda hostile=hostile: MADE[name](hostile))


LARGE: dict[str, Callable[[], Any]] = {
    "Linear": lambda: mg.nn.Linear(2**40, 10),
    "Linear twice": lambda: mg.nn.Linear(2**40, 2**40),
    "Embedding": lambda: mg.nn.Embedding(2**40, 2**20),
    "Conv2d": lambda: mg.nn.Conv2d(2**30, 2**30, 3),
    "LSTM": lambda: mg.nn.LSTM(2**40, 2),
    "BatchNorm1d": lambda: mg.nn.BatchNorm1d(2**41),
    "LayerNorm": lambda: mg.nn.LayerNorm(2**41),
}


@each(LARGE)
def test_parameters_that_no_memory_holds_are_refused(name: str) -> None:
    with pytest.raises(mg.ShapeError) as caught:
        LARGE[name]()
    for sentence, said in zip(caught.value.pair, ("any memory", "内存"), strict=True):
        assert said in sentence
        assert "test_extremes.py" in sentence


@pytest.mark.parametrize("name", ["a", "a5", "S3", "U"])
def test_a_data_type_of_text_is_refused_without_a_warning_of_numpys(name: str) -> None:
    for use in (
        lambda: mg.zeros(2, dtype=name),
        lambda: mg.tensor([1.0], dtype=name),
        lambda: mg.ones(2).astype(name),
        lambda: mg.placeholder("x", (2,), name),
    ):
        with pytest.raises(mg.ArgumentError) as caught:
            use()
        assert all(repr(name) in sentence for sentence in caught.value.pair)


@each(ARRANGED)
def test_what_arranges_values_refuses_extremes_in_both_modes(name: str) -> None:
    for hostile in HOSTILE:
        for static in (False, True):
            expect_our_words(lambda h=hostile, static=static: arranged(name, h, static))


def arranged(name: str, hostile: Any, static: bool) -> None:
    x = mg.placeholder(None, VALUE.shape) if static else mg.tensor(VALUE, True)
    y = ARRANGED[name](x, hostile)
    if static:
        mg.run(mg.build_graph([x], y), {x: VALUE})


@pytest.mark.parametrize(
    "executor", ["graph", "numpy", pytest.param("c", marks=[pytest.mark.compiler])]
)
@pytest.mark.parametrize("dtype", [mg.int64, mg.int32])
def test_integers_to_a_negative_power_read_the_same_everywhere(executor: str, dtype: Any) -> None:
    x, n = mg.placeholder(None, (2,), dtype), mg.placeholder(None, (2,), dtype)
    graph = mg.build_graph([x, n], x**n + 1)
    run = graph.compile(executor=executor) if executor != "graph" else lambda f: mg.run(graph, f)
    base, powers = np.array([2, 3], dtype), np.array([1, -1], dtype)
    with pytest.raises(mg.NumericError) as found:
        run({x: base, n: powers})
    with pytest.raises(mg.NumericError) as eager:
        mg.tensor(base) ** mg.tensor(powers)
    first = [s.splitlines()[0] for s in found.value.pair]
    assert first == [s.splitlines()[0] for s in eager.value.pair]
    assert run({x: base, n: base}).tolist() == [5, 28]


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: mg.randint(0, 1000, 5, dtype=np.int8), ["randint", "999", "int8"]),
        (lambda: mg.tensor([3_000_000_000], dtype=mg.int32), ["tensor", "3000000000", "int32"]),
        (lambda: mg.tensor([NAN], dtype=mg.int64), ["tensor", "nan", "int64"]),
        (lambda: mg.tensor(np.array([300]), dtype=np.uint8), ["tensor", "300", "uint8"]),
        (lambda: mg.arange(0, 1000, dtype=np.int8), ["arange", "999", "int8"]),
        (lambda: mg.tensor([1, 2], dtype=np.uint8) ** -1, ["Pow", "-1", "uint8"]),
    ],
)
def test_no_number_wraps_round_in_silence(make: Any, words: list[str]) -> None:
    with pytest.raises(mg.DtypeError) as found:
        make()
    for sentence in found.value.pair:
        assert all(word in sentence for word in words)


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("value", [3_000_000_000, [3_000_000_000], np.array([1 << 40])])
def test_feeds_do_not_wrap_round(value: Any, compiled: bool) -> None:
    x = mg.placeholder("labels", None, mg.int32)
    graph = mg.build_graph(x, x + 1)
    run = graph.compile() if compiled else lambda feeds: mg.run(graph, feeds)
    with pytest.raises(mg.FeedError) as found:
        run({x: value})
    for sentence in found.value.pair:
        assert all(word in sentence for word in ("labels", "int32", "int64"))
    assert run({x: [7]}).tolist() == [8]


def test_what_fits_is_converted() -> None:
    assert mg.tensor([1.5, -2.5], dtype=mg.int32).tolist() == [1, -2]
    assert mg.tensor([2**31 - 1], dtype=mg.int32).tolist() == [2**31 - 1]
    assert mg.randint(0, 128, 3, dtype=np.int8, seed=0).dtype == np.int8
    assert mg.arange(5, 0, -2).tolist() == [5, 3, 1]
    assert mg.arange(3, 3).shape == (0,)
    assert mg.arange(126, 128, dtype=np.int8).tolist() == [126, 127]


@pytest.mark.compiler
@pytest.mark.filterwarnings("ignore:invalid value encountered in cast")
@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32, np.uint32, np.int64])
@pytest.mark.parametrize("value", [NAN, INF, 1e30, -1e30, 3e9, -5.7, 300.0, 7.9])
def test_whole_numbers_of_c_are_those_of_numpy(value: float, dtype: Any) -> None:
    """C leaves open what a real number beyond the range becomes, and compilers make use of it."""
    x = mg.placeholder(None, (None,))
    y = (mg.exp(x * 0) * 0 + x).astype(dtype).astype(mg.float32)
    graph = mg.build_graph(x, mg.where(y > -1e38, y, 0.0))
    feeds = {x: np.full(100, value, np.float32)}
    np.testing.assert_array_equal(graph.compile(executor="c")(feeds), mg.run(graph, feeds))

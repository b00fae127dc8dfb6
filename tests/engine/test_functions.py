"""The public functions: NumPy's answers in all three readers, open shapes, accuracy, mistakes."""

from __future__ import annotations

import inspect
import itertools
import math
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from covering import each
from directions import check_gradients

import minigrad as mg
from minigrad import functions, ops

pytestmark = pytest.mark.usefixtures("own_graph")


def numbers(*shape: int, dtype: Any = np.float64, seed: int = 0) -> Any:
    return np.random.default_rng(seed).uniform(-2, 2, shape).astype(dtype)


A, B, V = numbers(2, 3, 4), numbers(2, 3, 4, seed=1), numbers(5, seed=2)
COUNTS = np.arange(24).reshape(2, 3, 4) % 5

# name: (ours, NumPy's, operands)
LIKE_NUMPY: dict[str, tuple[Callable[..., Any], Callable[..., Any], list[Any]]] = {
    "maximum": (mg.maximum, np.maximum, [A, B]),
    "minimum": (mg.minimum, np.minimum, [A, B[0]]),
    "clip": (lambda x: mg.clip(x, -1.0, 1.0), lambda x: np.clip(x, -1, 1), [A]),
    "clip below": (lambda x: mg.clip(x, low=0.5), lambda x: np.maximum(x, 0.5), [A]),
    "clip crossed": (lambda x: mg.clip(x, 1.0, -1.0), lambda x: x * 0 - 1, [A]),
    "where": (lambda x, y: mg.where(x > y, x, y), np.maximum, [A, B]),
    "where of numbers": (lambda x: mg.where(x > 0, 1, 0), lambda x: np.where(x > 0, 1, 0), [A]),
    "floor_divide": (mg.floor_divide, np.floor_divide, [A, B]),
    "mod": (mg.mod, np.mod, [A, B]),
    "log1p": (mg.log1p, np.log1p, [abs(A)]),
    "softplus": (mg.softplus, lambda x: np.log(1 + np.exp(x)), [A]),
    "logsumexp": (lambda x: mg.logsumexp(x, 1), lambda x: np.log(np.exp(x).sum(1)), [A]),
    "max": (lambda x: mg.max(x, axis=(0, -1)), lambda x: x.max((0, -1)), [A]),
    "min": (lambda x: mg.min(x, axis=1, keepdims=True), lambda x: x.min(1, keepdims=True), [A]),
    "argmin": (lambda x: mg.argmin(x, -1), lambda x: x.argmin(-1), [A]),
    "all": (lambda x: mg.all(x > -1, axis=2), lambda x: (x > -1).all(2), [A]),
    "any": (lambda x: mg.any(x > 1, axis=(0, 1)), lambda x: (x > 1).any((0, 1)), [A]),
    "var": (lambda x: mg.var(x, 1), lambda x: x.var(1, ddof=1), [A]),
    "var of all": (lambda x: mg.var(x, correction=0), lambda x: x.var(), [A]),
    "std": (
        lambda x: mg.std(x, (0, 2), keepdims=True),
        lambda x: x.std((0, 2), ddof=1, keepdims=True),
        [A],
    ),
    "cumsum": (lambda x: mg.cumsum(x, -2), lambda x: x.cumsum(-2), [A]),
    "concatenate": (
        lambda x, y: mg.concatenate([x, y, x], -1),
        lambda x, y: np.concatenate([x, y, x], -1),
        [A, B],
    ),
    "stack": (lambda x, y: mg.stack([x, y], 1), lambda x, y: np.stack([x, y], 1), [A, B]),
    "stack last": (lambda x, y: mg.stack((x, y), -2), lambda x, y: np.stack((x, y), -2), [A, B]),
    "split": (lambda x: mg.split(x, axis=1, sections=3)[1], lambda x: np.split(x, 3, 1)[1], [A]),
    "split by lengths": (lambda x: mg.split(x, [1, 3], -1)[1], lambda x: x[..., 1:], [A]),
    "expand_dims": (lambda x: mg.expand_dims(x, -2), lambda x: np.expand_dims(x, -2), [A]),
    "squeeze": (lambda x: mg.squeeze(x[:, 1:2]), lambda x: x[:, 1], [A]),
    "squeeze an axis": (lambda x: mg.squeeze(x[:1, 1:2], 1), lambda x: x[:1, 1], [A]),
    "swapaxes": (lambda x: mg.swapaxes(x, 0, -1), lambda x: x.swapaxes(0, -1), [A]),
    "transpose": (lambda x: mg.transpose(x, [2, 0, -2]), lambda x: x.transpose(2, 0, 1), [A]),
    "transpose by a tuple": (
        lambda x: x.transpose((2, 0, 1)),
        lambda x: x.transpose(2, 0, 1),
        [A],
    ),
    "reshape": (lambda x: mg.reshape(x, [4, -1]), lambda x: x.reshape(4, 6), [A]),
    "flatten": (lambda x: mg.flatten(x, 1), lambda x: x.reshape(2, 12), [A]),
    "flatten all": (mg.flatten, np.ravel, [A]),
    "flip": (lambda x: mg.flip(x, (0, -1)), lambda x: np.flip(x, (0, -1)), [A]),
    "flip all": (mg.flip, np.flip, [A]),
    "broadcast_to": (lambda x: mg.broadcast_to(x, (3, -1)), lambda x: np.tile(x, (3, 1)), [V]),
    "tile": (lambda x: mg.tile(x, (2, 1, 3)), lambda x: np.tile(x, (2, 1, 3)), [A]),
    "tile with a new axis": (lambda x: mg.tile(x, (2, 3)), lambda x: np.tile(x, (2, 3)), [V]),
    "pad": (lambda x: mg.pad(x, 1), lambda x: np.pad(x, 1), [A]),
    "pad sides": (
        lambda x: mg.pad(x, (0, 2), 7),
        lambda x: np.pad(x, (0, 2), constant_values=7),
        [V],
    ),
    "pad pairs": (
        lambda x: mg.pad(x, [(1, 0), (0, 0), (0, 2)]),
        lambda x: np.pad(x, [(1, 0), (0, 0), (0, 2)]),
        [A],
    ),
    "outer": (mg.outer, np.outer, [V, V[:3]]),
    "full_like": (lambda x: mg.full_like(x, 2.5), lambda x: np.full_like(x, 2.5), [A]),
    "zeros_like": (mg.zeros_like, np.zeros_like, [A]),
    "ones_like": (lambda x: mg.ones_like(x, mg.int64), lambda x: np.ones_like(x, np.int64), [A]),
    "round": (mg.round, np.round, [A * 2]),
    "// and %": (lambda x, y: (x // y) * y + x % y, lambda x, y: x, [A, B]),
    "logic": (
        lambda x, y: (x > 0) & ~(y > 0) | (x > 1) ^ (y > 1),
        lambda x, y: (x > 0) & ~(y > 0) | (x > 1) ^ (y > 1),
        [A, B],
    ),
    "logic with numbers": (
        lambda x: mg.logical_xor(mg.logical_not(x), mg.logical_or(x, True)),
        lambda x: x != 0,
        [COUNTS],
    ),
}


@each(LIKE_NUMPY)
def test_arrays_tensors_and_nodes_give_what_numpy_gives(name: str) -> None:
    ours, theirs, operands = LIKE_NUMPY[name]
    expected = theirs(*operands)
    no_arrays = name == "logic" or name.startswith(("//", "squeeze"))  # NumPy's own operators
    values = [ours(*map(mg.tensor, operands)).data]
    if not no_arrays:
        values.append(ours(*operands))
    for form in ("full", "open"):
        shapes = [a.shape if form == "full" else (None,) * a.ndim for a in operands]
        nodes = [mg.placeholder(None, s, a.dtype) for s, a in zip(shapes, operands, strict=True)]
        if form == "open" and name in NEEDS_LENGTHS:
            continue
        y = ours(*nodes)
        assert len(y.shape or expected.shape) == expected.ndim
        graph = mg.build_graph(nodes, y).verify()
        values.append(mg.run(graph, dict(zip(nodes, operands, strict=True))))
    for value in values:
        np.testing.assert_allclose(value, expected, 1e-12, 1e-12)
        assert np.shape(value) == np.shape(expected)
    for value in values[1:]:
        np.testing.assert_array_equal(value, values[0])


# Which parts, or how many axes' lengths, depends on lengths that must be known while building.
NEEDS_LENGTHS = {"split", "flatten"}

GRADIENTS = [
    name
    for name, (_, _, xs) in LIKE_NUMPY.items()
    if not any(word in name for word in ("all", "any", "arg", "_like", "logic", "round", "numbers"))
]


@each(GRADIENTS)
def test_gradients_of_both_orders(name: str) -> None:
    ours, _, operands = LIKE_NUMPY[name]
    if name == "floor_divide":
        tensors = [mg.tensor(a, requires_grad=True) for a in operands]
        ours(*tensors).sum().backward()
        assert not any(x.grad.any() for x in tensors), "between its steps it is constant"
        return
    check_gradients(lambda *xs: ours(*xs) ** 2, *operands)


@each(sorted(set(GRADIENTS) - NEEDS_LENGTHS - {"floor_divide"}))
def test_gradients_in_graphs_of_open_shape(name: str) -> None:
    ours, _, operands = LIKE_NUMPY[name]
    xs = [mg.tensor(a, requires_grad=True) for a in operands]
    (ours(*xs) ** 2).sum().backward()
    nodes = [mg.placeholder(None, (None,) * a.ndim, a.dtype) for a in operands]
    grads = mg.gradients((ours(*nodes) ** 2).sum(), nodes)
    found = mg.run(mg.build_graph(nodes, grads), dict(zip(nodes, operands, strict=True)))
    for x, g in zip(xs, found, strict=True):
        np.testing.assert_array_equal(g, x.grad.data)


def test_joining_any_number_of_operands() -> None:
    xs = [mg.tensor(numbers(1, 2, seed=i), requires_grad=True) for i in range(100)]
    y = mg.concatenate(xs) * np.arange(200.0).reshape(100, 2)
    y.sum().backward()
    for i, x in enumerate(xs):
        np.testing.assert_array_equal(x.grad.data, [[2 * i, 2 * i + 1]])


def test_a_part_without_gradient_gets_none() -> None:
    a, b = mg.tensor(V, requires_grad=True), mg.tensor(V)
    for join in (mg.concatenate, mg.stack):
        a.zero_grad()
        join([b, a, b]).sum().backward()
        assert a.grad.tolist() == [1.0] * 5
        assert b.grad is None


def test_joining_open_batches_gives_each_its_part_back() -> None:
    a, b = (mg.placeholder(name, (None, 2), np.float64) for name in "ab")
    y = mg.concatenate([a, b])
    assert y.shape == (None, 2)
    assert mg.concatenate([a, b], axis=1).shape == (None, 4)
    weights = mg.cumsum(mg.ones_like(y), 0)
    grads = mg.gradients((y * y * weights).sum(), [a, b])
    second = mg.gradients(grads[0].sum() + grads[1].sum(), [b])
    feeds = {a: numbers(2, 2), b: numbers(1, 2, seed=1)}
    ga, gb, gbb = mg.run(mg.build_graph([a, b], [*grads, *second]), feeds)
    np.testing.assert_allclose(ga, 2 * feeds[a] * [[1], [2]])
    np.testing.assert_allclose(gb, 2 * feeds[b] * 3)
    np.testing.assert_allclose(gbb, [[6, 6]])


def test_squeeze_of_open_axes_waits_for_the_run() -> None:
    x = mg.placeholder("x", (None, 3))
    y = mg.squeeze(x)
    assert y.shape is None
    graph = mg.build_graph(x, y)
    assert mg.run(graph, {x: np.ones((1, 3))}).shape == (3,)
    assert mg.run(graph, {x: np.ones((2, 3))}).shape == (2, 3)
    assert mg.squeeze(x, 0).shape == (3,)


# ---- Accuracy -------------------------------------------------------------------------------


def units(actual: Any, expected: Any) -> Any:
    """The distance in units in the last place of the expected value."""
    step = np.spacing(np.abs(expected.astype(actual.dtype)))
    return np.abs(actual.astype(np.float64) - expected) / step


@pytest.mark.parametrize(("dtype", "most"), [(np.float64, 5), (np.float32, 1)])
def test_erf_is_accurate_and_monotone(dtype: Any, most: float) -> None:
    for low, high in ((-7, 7), (-0.48, -0.46), (0.46, 0.48), (-1e-3, 1e-3), (0, 1e-30)):
        x = np.linspace(low, high, 40_001).astype(dtype)
        y = mg.erf(x)
        assert units(y, np.array([math.erf(v) for v in x])).max() <= most
        assert (np.diff(y) >= 0).all()
        np.testing.assert_array_equal(mg.erf(-x), -y)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sigmoid_is_accurate_on_both_sides_and_monotone(dtype: Any) -> None:
    last = 87 if dtype is np.float32 else 700  # then come numbers with fewer digits
    x = np.linspace(-last, last, 200_001).astype(dtype)
    y = mg.sigmoid(x)
    exact = np.longdouble(x)
    exact = np.where(exact < 0, np.exp(exact) / (1 + np.exp(exact)), 1 / (1 + np.exp(-exact)))
    assert units(y, exact.astype(np.float64)).max() <= 4
    assert (np.diff(y) >= 0).all()
    assert y.min() > 0
    assert y.max() == 1


def test_gelu_in_both_forms() -> None:
    x = np.linspace(-4, 4, 801)
    exact = x * np.array([0.5 * (1 + math.erf(v / math.sqrt(2))) for v in x])
    np.testing.assert_allclose(mg.gelu(x), exact, rtol=1e-11, atol=1e-15)
    rough = 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))
    np.testing.assert_allclose(mg.gelu(x, "tanh"), rough, rtol=1e-11, atol=1e-15)
    assert 1e-4 < np.abs(mg.gelu(x, "tanh") - exact).max() < 1e-3


def test_var_does_not_cancel() -> None:
    assert mg.var(mg.tensor([1e6, 1e6 + 1])).item() == 0.5
    assert math.isnan(mg.var(mg.tensor([1.0])).item())
    assert math.isnan(mg.var(mg.zeros(0)).item())


# ---- Making tensors -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (mg.full((2, 1), 7), np.full((2, 1), 7, np.int64)),
        (mg.full(2, 0.5), np.full(2, 0.5, np.float32)),
        (mg.full((), True), np.array(True)),
        (mg.full((2,), 1, dtype=mg.float64), np.ones(2)),
        (mg.eye(2, 3), np.eye(2, 3, dtype=np.float32)),
        (mg.eye(2, dtype=mg.int64), np.eye(2, dtype=np.int64)),
        (mg.linspace(-1, 1, 5), np.linspace(-1, 1, 5, dtype=np.float32)),
        (mg.linspace(0, 1, 0), np.zeros(0, np.float32)),
        (mg.zeros_like(mg.tensor([1, 2])), np.zeros(2, np.int64)),
    ],
    ids=str,
)
def test_creation(made: mg.Tensor, expected: Any) -> None:
    np.testing.assert_array_equal(made.data, expected, strict=True)


def test_random_numbers_are_the_same_for_the_same_seed() -> None:
    for make in (
        lambda seed: mg.rand(1000, seed=seed),
        lambda seed: mg.randint(-2, 3, (10, 100), seed=seed),
    ):
        np.testing.assert_array_equal(make(1).data, make(1).data)
        assert (make(1).data != make(2).data).any()
        assert (make(None).data != make(None).data).any()
    drawn = mg.rand(1000, seed=0)
    assert drawn.dtype == np.float32
    assert 0 <= drawn.data.min() < 0.01
    assert 0.99 < drawn.data.max() < 1
    assert set(mg.randint(-2, 3, 1000, seed=0).tolist()) == {-2, -1, 0, 1, 2}
    assert mg.rand(2, requires_grad=True).requires_grad


def test_constants_in_the_shape_of_a_node_read_its_shape_only() -> None:
    x = mg.placeholder("x", (None, 2))
    y = mg.ones_like(x) * 3
    assert y.shape == (None, 2)
    value = mg.run(mg.build_graph(x, y), {x: np.full((2, 2), np.nan)})
    np.testing.assert_array_equal(value, np.full((2, 2), 3, np.float32))
    assert mg.gradients(y, x)[0] is None
    t = mg.tensor(V, requires_grad=True)
    assert mg.zeros_like(t).creator is None


# ---- Methods --------------------------------------------------------------------------------

ALONE = "exp log sqrt sin cos abs sign floor ceil round isnan tanh sigmoid relu flip"
ALONG = "sum mean var std logsumexp argmax argmin softmax log_softmax cumsum"
METHODS: dict[str, tuple[Any, ...]] = {
    **dict.fromkeys(ALONE.split(), ()),
    **dict.fromkeys(ALONG.split(), (1,)),
    **dict.fromkeys(("max", "min"), ()),
    "reshape": ((3, 2),),
    "transpose": (1, 0),
    "flatten": (),
    "swapaxes": (0, 1),
    "squeeze": (),
    "unsqueeze": (1,),
    "clip": (-1.0, 1.0),
}


@each(METHODS)
def test_a_method_is_the_function(name: str) -> None:
    x, arguments = mg.tensor(numbers(2, 3)), METHODS[name]
    expected = getattr(mg, name)(x, *arguments)
    np.testing.assert_array_equal(getattr(x, name)(*arguments).data, expected.data)
    node = mg.placeholder("x", (2, 3), np.float64)
    y, again = getattr(node, name)(*arguments), getattr(mg, name)(node, *arguments)
    assert (y.op, y.attrs) == (again.op, again.attrs)


def test_truth_of_all_and_any() -> None:
    x = mg.tensor([[True, False], [True, True]])
    assert x.all(axis=1).tolist() == [False, True]
    assert x.any().item() is True
    assert (+x) is x


# ---- Documentation --------------------------------------------------------------------------


@each(functions.__all__)
def test_every_function_is_exported_and_documented_with_an_example(name: str) -> None:
    function = getattr(functions, name)
    assert getattr(mg, name) is function
    assert name in mg.__all__
    text = inspect.getdoc(function) or ""
    assert text.split("\n")[0].strip().endswith((".", ")", "x.", "one.")), "a sentence first"
    assert f"mg.{function.__name__}(" in text, "an example"
    assert ">>> " in text


SIGNS = "add sub mul div neg equal not_equal less less_equal greater greater_equal "
INNER = (  # what only gradient rules and x[...] need
    "add_at unslice scatter_add slice_ piece within step count sum_like share_of_maximum "
    "share_of_extreme broadcast_like reshape_like "
    "argsort"  # which faces and models of other systems ask for
)


def test_every_operator_for_users_has_a_function() -> None:
    kinds = (ops.elementwise, ops.logic, ops.activations, ops.shape, ops.reduction, ops.indexing)
    for module in (*kinds, ops.arrange, ops.joining):
        for name, op in vars(module).items():
            if isinstance(op, mg.core.Op) and name not in (SIGNS + INNER).split():
                assert hasattr(functions, name), f"mg.{name}: a function with a docstring"


# ---- Mistakes -------------------------------------------------------------------------------


def on(*shape: int) -> Any:
    return np.ones(shape, np.float32)


WRONG: dict[str, tuple[Callable[..., Any], list[Any], type[Exception], str]] = {
    "concatenate": (
        lambda a, b: mg.concatenate([a, b]),
        [on(2, 3), on(2, 4)],
        mg.ShapeError,
        r"Concatenate: shapes \(2, 3\), \(2, 4\) cannot be joined",
    ),
    "concatenate of another rank": (
        lambda a, b: mg.concatenate([a, b]),
        [on(2, 3), on(3)],
        mg.ShapeError,
        "cannot be joined",
    ),
    "concatenate of numbers": (
        lambda a: mg.concatenate([a, a]),
        [on()],
        mg.ShapeError,
        "axis 0 does not exist",
    ),
    "stack": (
        lambda a, b: mg.stack([a, b]),
        [on(2), on(3)],
        mg.ShapeError,
        r"Stack: shapes \(2,\), \(3,\) cannot be joined",
    ),
    "nothing to stack": (lambda a: mg.stack([]), [on(2)], mg.ShapeError, "nothing to join"),
    "split": (
        lambda a: mg.split(a, sections=2),
        [on(3)],
        mg.ShapeError,
        r"axis 0 of shape \(3,\) cannot be split by sections=2",
    ),
    "split lengths": (
        lambda a: mg.split(a, [1, 1]),
        [on(3)],
        mg.ShapeError,
        r"by lengths=\[1, 1\]",
    ),
    "squeeze": (
        lambda a: mg.squeeze(a, 1),
        [on(1, 3)],
        mg.ShapeError,
        r"axis 1 of shape \(1, 3\) .* not 1",
    ),
    "broadcast_to": (
        lambda a: mg.broadcast_to(a, (2, 4)),
        [on(2, 3)],
        mg.ShapeError,
        r"\(2, 3\) cannot be repeated to \(2, 4\)",
    ),
    "fewer axes": (lambda a: mg.broadcast_to(a, (3,)), [on(2, 3)], mg.ShapeError, "repeated"),
    "pad": (lambda a: mg.pad(a, [(1, 1)]), [on(2, 3)], mg.ShapeError, r"Pad: widths \(\(1, 1\),\)"),
    "pad less than 0": (lambda a: mg.pad(a, -1), [on(2)], mg.ShapeError, "numbers from 0"),
    "expand_dims": (lambda a: mg.expand_dims(a, 3), [on(2)], mg.ShapeError, "axis 3"),
    "swapaxes": (lambda a: mg.swapaxes(a, 0, 2), [on(2, 3)], mg.ShapeError, "axis 2"),
    "flip": (lambda a: mg.flip(a, 2), [on(2, 3)], mg.ShapeError, "axis 2"),
    "cumsum": (lambda a: mg.cumsum(a, 2), [on(2, 3)], mg.ShapeError, "CumSum: axis 2"),
    "max": (lambda a: mg.max(a, axis=2), [on(2, 3)], mg.ShapeError, "Max: axis 2"),
    "max of nothing": (
        lambda a: mg.max(a, axis=0),
        [on(0, 3)],
        mg.ShapeError,
        r"Max: shape \(0, 3\) has no elements along axis 0",
    ),
    "var": (lambda a: mg.var(a, 2), [on(2, 3)], mg.ShapeError, "axis 2"),
    "where": (
        lambda a: mg.where(a, a, 0),
        [on(2)],
        mg.DtypeError,
        r"Where: a condition is bool, and this is float32",
    ),
    "where of one": (lambda a: mg.where(a > 0, a), [on(2)], mg.ArgumentError, "Where: b=None"),
    "parentheses": (lambda a: a > 0 & (a < 1), [on(2)], mg.DtypeError, "parentheses"),
    "not": (lambda a: ~a, [on(2)], mg.DtypeError, "Not: a condition is bool"),
    "maximum": (mg.maximum, [on(2), on(3)], mg.ShapeError, r"Maximum: shapes \(2,\), \(3,\)"),
    "gelu": (lambda a: mg.gelu(a, "exact"), [on(2)], mg.DtypeError, "GELU: exact .* tanh"),
    "bools rounded": (lambda a: mg.floor(a > 0), [on(2)], mg.GraphError, "Floor"),
}
WHEN_RUN = {"bools rounded"}


@each(WRONG)
def test_mistakes_read_the_same_in_both_modes(name: str) -> None:
    mistake, operands, kind, words = WRONG[name]

    def build() -> Any:
        nodes = [mg.placeholder(None, a.shape) for a in operands]
        y = mistake(*nodes)
        assert name in WHEN_RUN, "shown while building"
        mg.run(mg.build_graph(nodes, y), dict(zip(nodes, operands, strict=True)))

    messages = []
    for make in (lambda: mistake(*map(mg.tensor, operands)), build):
        with pytest.raises(kind) as found:
            make()
        first, *where = str(found.value).splitlines()  # which quotes this file, pattern and all
        assert re.search(words, first), first
        assert "test_functions.py, line" in "".join(where)
        messages.append(first)
    assert messages[0] == messages[1]


def test_splitting_an_open_axis_needs_the_lengths() -> None:
    x = mg.placeholder("x", (None, 4))
    with pytest.raises(mg.ShapeError, match="an open axis needs the list"):
        mg.split(x, sections=2)
    a, b = mg.split(x, [1, 2])
    first, second = mg.run(mg.build_graph(x, [a, b]), {x: numbers(3, 4, dtype=np.float32)})
    assert (first.shape, second.shape) == ((1, 4), (2, 4))
    assert [part.shape for part in mg.split(x, sections=2, axis=1)] == [(None, 2), (None, 2)]


# ---- What jumps, multiplies, or shares -----------------------------------------------------------


@pytest.mark.parametrize("dtype", [mg.int64, mg.int32, mg.bool_])
def test_no_gradient_flows_through_whole_numbers(dtype: Any) -> None:
    x = mg.tensor([1.5, 2.5], requires_grad=True)
    for whole in (mg.cast(x, dtype), x.astype(dtype)):
        assert not whole.requires_grad
        (mg.cast(whole, mg.float32) * x).sum().backward()
        assert x.grad.tolist() == whole.data.astype(np.float32).tolist()
        x.zero_grad()
    node = mg.placeholder(shape=(2,))
    back = mg.cast(mg.cast(node, dtype), mg.float32)
    assert mg.gradients(back, node)[0] is None
    assert mg.gradients(mg.cast(mg.cast(node, mg.float64), mg.float32), node)[0] is not None


FACTORS = {
    "no zero": [[2.0, 3.0, -4.0], [1.0, 0.5, 5.0]],
    "one zero": [[2.0, 0.0, -4.0], [1.0, 0.5, 5.0]],
    "two zeros": [[0.0, 0.0, -4.0], [0.0, 0.5, 0.0]],
}


@pytest.mark.parametrize("name", FACTORS)
@pytest.mark.parametrize("axis", [None, 0, 1, -2, (0, 1)])
def test_products_and_their_gradients_do_not_mind_zeros(name: str, axis: Any) -> None:
    x = np.array(FACTORS[name])
    for keepdims in (False, True):
        y = mg.prod(mg.tensor(x), axis, keepdims)
        np.testing.assert_array_equal(y.data, np.prod(x, axis, keepdims=keepdims))
        assert y.shape == np.prod(x, axis, keepdims=keepdims).shape
    mg.check_grads(lambda z: z.prod(axis), mg.tensor(x, requires_grad=True), order=3)


def test_products_of_nothing_are_one_and_of_integers_whole() -> None:
    x = mg.zeros(0, 2, requires_grad=True)
    y = x.prod(0)
    assert y.tolist() == [1.0, 1.0]
    y.sum().backward()
    assert x.grad.shape == (0, 2)
    assert mg.prod(mg.tensor(np.array([3, 5], np.int32))).data == np.int64(15)
    assert mg.prod(mg.tensor([True, True])).dtype == mg.int64
    rows = mg.placeholder(shape=(None, 3))
    graph = mg.build_graph(rows, mg.gradients(mg.prod(rows, 1).sum(), rows)[0])
    assert mg.run(graph, {rows: [[2, 0, 4]]}).tolist() == [[0.0, 8.0, 0.0]]


AXES: list[dict[str, Any]] = [{}, {"axis": 0}, {"axis": -1}, {"axis": (0, 1)}]
AXES += [{"axis": None, "keepdims": True}, {"axis": 1, "keepdims": True}]


def test_what_has_any_number_of_axes_is_computed_or_refused_in_our_words() -> None:
    """Each function of one array, with each kind of axis that it takes."""
    given, tried = np.array([[1.5, -2.0, 3.0], [0.0, 2.0, 0.5]]), set()
    for name, axes in itertools.product(sorted({*mg.__all__} - {"Assert", "Print"}), AXES):
        try:
            expected = getattr(mg, name)(given, **axes)
        except (
            TypeError,
            ValueError,
            RuntimeError,
            mg.GraphError,
        ):  # it takes no array, or no such axis
            continue
        if not isinstance(expected, np.ndarray | np.generic):
            continue
        with mg.Graph():
            x, refused = mg.placeholder("x", None, np.float64), ""
            try:
                y = getattr(mg, name)(x, **axes)
            except mg.ShapeError as error:
                refused = str(error)
            if refused:
                assert "number of axes of x" in refused
                continue
            found = mg.run(mg.build_graph(x, y), {x: given})
        np.testing.assert_array_equal(found, expected, f"{name} {axes}")
        tried.add((name, *axes))
    assert {("prod", "axis"), ("prod", "axis", "keepdims"), ("sum", "axis")} <= tried
    assert len(tried) > 60


def test_a_view_shares_its_elements_and_refuses_to_copy_them() -> None:
    x = mg.zeros(2, 3)
    y = x.view(3, -1)
    y[0, 0] = 5.0
    assert x.data[0, 0] == 5.0
    with pytest.raises(mg.ShapeError, match=r"view: .*\(3, 2\).*\.reshape"):
        x.T.view(6)
    assert x.T.reshape(6).shape == (6,)
    assert mg.placeholder(shape=(2, 3)).view((6,)).shape == (6,)


WEAK = {
    "a Python float": (2.0, np.float32),
    "a NumPy scalar": (np.float64(2.0), np.float32),
    "an integer without axes": (np.zeros((), np.int64), np.float32),
    "float64 without axes": (np.zeros((), np.float64), np.float64),
    "float64 with axes": (np.zeros(3), np.float64),
}


@each(WEAK)
def test_what_has_no_axes_counts_by_its_type_unless_it_is_a_number(name: str) -> None:
    other, expected = WEAK[name]
    values = [other] if isinstance(other, (float, np.generic)) else [other, mg.tensor(other)]
    for value in values:
        for one in (mg.ones(3), mg.ones(3, requires_grad=True), mg.placeholder(shape=(3,))):
            assert (one * value).dtype == (value * one).dtype == expected
    if not isinstance(other, (float, np.generic)):
        node = mg.placeholder(shape=other.shape, dtype=other.dtype)
        assert (node * mg.placeholder(shape=(3,))).dtype == expected

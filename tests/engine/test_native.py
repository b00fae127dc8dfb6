"""Generated C: the results of NumPy, a cache that nobody else can write to, and life without it."""

from __future__ import annotations

import itertools
import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from test_special_values import ELEMENTWISE

import minigrad as mg
from minigrad.core import REGISTRY, Spec, run_kernel, silently, spec_of
from minigrad.interop.c import cache, compiler, kernels, library
from minigrad.interop.c.blocks import CWriter
from minigrad.interop.c.joining import JoinedKernels
from minigrad.interop.c.kernels import Kernel
from minigrad.interop.c.scalars import literal
from minigrad.interop.c.units import CUnit

pytestmark = [pytest.mark.compiler, pytest.mark.usefixtures("own_graph")]
windows = pytest.mark.skipif(sys.platform == "win32", reason="Windows has access lists instead")

# The division by 0 of integers is refused; the logarithms are bounded.
LEFT_TO_NUMPY = {"BinaryCrossEntropy", "FloorDivide", "Mod"}


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache, and a process that has loaded nothing."""
    folder = tmp_path / "cache"
    monkeypatch.setattr(cache, "location", lambda: folder)
    forget(monkeypatch)
    return folder


def forget(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(library, "_loaded", {})
    compiler._find_command.cache_clear()
    monkeypatch.setattr(library, "_warned_once", set())


@pytest.fixture
def compilations(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The sources that the compiler was called for."""
    seen: list[str] = []
    run = compiler.Compiler._run

    def counted(self: Any, source: str, flags: Any) -> bytes:
        seen.append(source)
        return run(self, source, flags)

    monkeypatch.setattr(compiler.Compiler, "_run", counted)
    return seen


@pytest.fixture
def in_numpy(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The operators whose kernels in C handed the work to NumPy."""
    seen: list[str] = []
    run = Kernel.in_numpy

    def counted(self: Kernel, *arrays: Any) -> None:
        seen.append(self.node.op.name)
        run(self, *arrays)

    monkeypatch.setattr(Kernel, "in_numpy", counted)
    return seen


def program_of(x: Any, y: Any, **options: Any) -> Any:
    return mg.build_graph(x, y).compile(executor="c", **options)


def joined(program: Any) -> list[JoinedKernels]:
    """The calls of a program that are functions of C."""
    return [c.function for c in program.bound.flat if isinstance(c.function, JoinedKernels)]


# ---- One operator -------------------------------------------------------------------------------


def operands_of(name: str, dtype: Any) -> list[Any]:
    """Special values and ordinary ones, more than a vector register holds and not a multiple."""
    special = [0.0, -0.0, 1, -1, 0.5, -2.5, np.inf, -np.inf, np.nan, 1e30, -1e-30, 100, -100]
    kind = np.dtype(dtype).kind
    numbers = special if kind == "f" else [0, 1] if kind == "b" else [0, 1, -1, 2, -3, 7, 100]
    count = len(REGISTRY[name].samples[0].shapes)
    grid = np.array(np.meshgrid(*[numbers] * min(count, 2), [0.25, 3.0, -1.75])).reshape(-1)
    rows = [np.resize(np.roll(grid, 5 * i), 277).astype(dtype) for i in range(count)]
    bools = REGISTRY[name].samples[0].bools
    return [row > 0 if i in bools else row for i, row in enumerate(rows)]


def kernel_of(unit: CUnit, name: str, dtype: Any) -> tuple[Kernel, list[Any], Any] | None:
    """The kernel, its operands and what NumPy gives; None where the operator takes no such."""
    op, given = REGISTRY[name], operands_of(name, dtype)
    try:
        with mg.Graph():
            xs = [mg.placeholder(None, a.shape, a.dtype) for a in given]
            y = op(*xs, **op.samples[0].attrs)
        if [id(n) for n in y.inputs] != [id(x) for x in xs]:  # it works in another type
            return None
        expected = run_kernel(op, given, y.attrs)
    except mg.GraphError:
        return None
    found = kernels.kernel(y, [spec_of(expected)], [spec_of(a) for a in given])
    if found is None:
        return None
    found.join(unit)
    return found, given, expected


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64", "int8", "uint8", "bool"])
def test_elements_are_those_of_numpy(dtype: str, in_numpy: list[str]) -> None:
    unit = CUnit()
    made = {name: kernel_of(unit, name, dtype) for name in ELEMENTWISE}
    written = {name for name, found in made.items() if found is not None}
    if dtype == "float32":
        assert set(ELEMENTWISE) - written == LEFT_TO_NUMPY
    assert {"Add", "Mul", "Less", "And", "Where", "Cast"} <= written
    for name, found in made.items():
        if found is None:
            continue
        kernel, given, expected = found
        out = np.empty_like(expected)
        kernel(out, *given)
        if out.dtype.kind != "f":
            np.testing.assert_array_equal(out, expected, err_msg=name)
            continue
        near = 1e-6 if dtype == "float32" else 4e-15
        np.testing.assert_allclose(out, expected, rtol=near, atol=1e-37, err_msg=name)
        zeros = (expected == 0) & (name not in ("Maximum", "Minimum", "ReLU", "Clip"))
        np.testing.assert_array_equal(np.signbit(out[zeros]), np.signbit(expected[zeros]), name)
    assert not in_numpy


# Units in the last place of float32, against float64, as seen with every 7th bit pattern.
ACCURACY = {"Exp": 2, "Log": 2, "Tanh": 2, "Sigmoid": 3}


@pytest.mark.parametrize("name", ACCURACY)
def test_polynomials_are_as_accurate_as_they_say(name: str) -> None:
    bits = np.random.default_rng(0).integers(0, 1 << 32, 1 << 18, dtype=np.uint32)
    near = np.random.default_rng(1).uniform(-20, 20, 1 << 16).astype(np.float32)
    x = np.concatenate([bits.view(np.float32), near])
    node = REGISTRY[name](mg.placeholder("x", (None,)))
    kernel = kernels.kernel(node, [spec_of(x)], [spec_of(x)])
    assert kernel is not None
    out = np.empty_like(x)
    kernel(out, x)
    exact = silently(lambda: REGISTRY[name].run(None, x.astype(np.float64)))
    usual = np.abs(exact) >= np.finfo(np.float32).tiny
    if name == "Sigmoid":  # below it the exponential overflows, and NumPy has 0, too
        usual &= x > -88
    rounded = silently(exact.astype, np.float32)
    finite = usual & np.isfinite(rounded)
    unit = np.spacing(np.abs(rounded[finite]))
    unit = np.minimum(unit, np.spacing(np.nextafter(np.abs(rounded[finite]), np.float32(0))))
    worst = np.max(np.abs(out[finite] - exact[finite]) / unit)
    assert 0.3 < worst <= ACCURACY[name], "so accurate it cannot be, or less than it says"
    np.testing.assert_array_equal(np.isnan(out), np.isnan(exact))
    np.testing.assert_array_equal(out[usual & ~finite], rounded[usual & ~finite])


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64", "int8", "uint64", "bool"])
def test_a_literal_is_the_number(dtype: str) -> None:
    kind = np.dtype(dtype)
    if kind.kind == "f":
        bits = np.random.default_rng(0).integers(0, 256, 400 * kind.itemsize, dtype=np.uint8)
        numbers = [*bits.view(kind), *np.array([0.0, -0.0, np.inf, -np.inf, 0.1, 1e-45], kind)]
    elif kind.kind == "b":
        numbers = [False, True]
    else:
        numbers = [np.iinfo(kind).min, np.iinfo(kind).max, 0, 1]
    c = {"float32": "float", "float64": "double", "bool": "uint8_t"}.get(dtype, f"{dtype}_t")
    rows = ",".join(literal(v, kind) for v in numbers)
    text = f"static const {c} all[] = {{{rows}}};\n"
    copy = "memcpy(a[0], all, sizeof all); return 0;"
    code = text + f"EXPORT int64_t run(void *const *a, const int64_t *n) {{ {copy} }}"
    loaded = library.load([code])
    assert loaded is not None
    out = np.empty(len(numbers), kind)
    table = kernels.AddressTable([Spec(out.shape, kind)])
    table[0] = out
    library.function(loaded, "run")(table.start, 0)
    np.testing.assert_array_equal(out, np.array(numbers, kind))


# ---- Several as one -----------------------------------------------------------------------------


def feeds_of(*xs: Any) -> dict[Any, Any]:
    random = np.random.default_rng(0)
    return {x: random.standard_normal([n or 6 for n in x.shape]).astype(x.dtype) for x in xs}


def test_operands_are_stretched(in_numpy: list[str]) -> None:
    shapes = [(5, 3, 4), (4,), (3, 1), (5, 1, 1), (1, 3, 4), (1, 1, 1), ()]
    xs = [mg.placeholder(f"x{i}", s) for i, s in enumerate(shapes)]
    y = xs[0]
    for x in xs[1:]:
        y = mg.tanh(y * x + x) - y
    graph = mg.build_graph(xs, [y, mg.exp(-y * y), y > 0])
    feeds = feeds_of(*xs)
    found = graph.compile(executor="c")(feeds)
    for a, b in zip(found, mg.run(graph, feeds), strict=True):
        np.testing.assert_allclose(a, b, rtol=2e-6, atol=2e-6)
    assert not in_numpy


def test_open_lengths_need_no_second_compilation(
    home: Path, compilations: list[str], in_numpy: list[str]
) -> None:
    x, b = mg.placeholder("x", (None, 7)), mg.placeholder("b", (1, 7))
    y = mg.sigmoid(x * b + 1)
    graph = mg.build_graph([x, b], [y, y.sum(axis=0), y.mean(), mg.softmax(y)])
    program = graph.compile(executor="c")
    for n in (5, 1, 0, 33, 5):
        feeds = {x: np.ones((n, 7)) * n, b: np.arange(7).reshape(1, 7)}
        for a, e in zip(program(feeds), mg.run(graph, feeds), strict=True):
            np.testing.assert_allclose(a, e, rtol=1e-5)
    assert len(compilations) == 1
    assert not in_numpy


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_small_products_with_what_follows(dtype: str, in_numpy: list[str]) -> None:
    c, d = mg.placeholder("c", (9,), dtype), mg.placeholder("d", (6, 1), dtype)
    inputs, flips, outputs = [c, d], [*itertools.product((False, True), repeat=2)], []
    for flip_a, flip_b in flips:
        a = mg.placeholder("a", (5, 6) if flip_a else (None, 5), dtype)
        b = mg.placeholder("b", (9, 5) if flip_b else (5, 9), dtype)
        product = REGISTRY["MatMul"](a, b, transpose_a=flip_a, transpose_b=flip_b)
        inputs += [a, b]
        outputs.append(mg.relu(product + c) * d)
    graph, feeds = mg.build_graph(inputs, outputs), feeds_of(*inputs)
    near = 2e-6 if dtype == "float32" else 1e-14
    found, expected = graph.compile(executor="c")(feeds), mg.run(graph, feeds)
    for flip, f, e in zip(flips, found, expected, strict=True):
        np.testing.assert_allclose(f, e, near, near * np.abs(e).max(), err_msg=str(flip))
    assert not in_numpy


def test_large_products_are_left_to_blas_and_those_of_whole_numbers_to_numpy() -> None:
    x, w = mg.placeholder("x", (64, 784)), mg.placeholder("w", (784, 128))
    program = program_of([x, w], mg.tanh(x @ w))
    found = program(feeds_of(x, w))
    np.testing.assert_allclose(found, mg.run(program.graph, feeds_of(x, w)), rtol=1e-5, atol=1e-6)
    assert "784" not in "".join(j.unit.source() for j in joined(program))
    k = mg.placeholder("k", (3, 3), mg.int64)
    program = program_of(k, mg.relu(k @ k - 1) * 2)
    assert "sum[" not in "".join(j.unit.source() for j in joined(program))


def test_sums_along_axes(in_numpy: list[str]) -> None:
    x, k = mg.placeholder("x", (None, 33, 4)), mg.placeholder("k", (None, 33, 4), mg.int64)
    sums = [
        (f(of, axis=axis, keepdims=keepdims), near)
        for axis in (None, 0, 1, 2, (0, 2), (1, 2), (0, 1))
        for keepdims in (False, True)
        for f, of, near in ((mg.sum, x, 2e-5), (mg.mean, x, 2e-6), (mg.sum, k, 0))
    ]
    graph = mg.build_graph([x, k], [y for y, _ in sums])
    feeds = feeds_of(x) | {k: np.arange(6 * 33 * 4).reshape(6, 33, 4)}
    found, expected = graph.compile(executor="c")(feeds), mg.run(graph, feeds)
    for (y, near), f, e in zip(sums, found, expected, strict=True):
        np.testing.assert_allclose(f, e, 2e-6 if near else 0, near, err_msg=repr(y))
    assert not in_numpy


@pytest.mark.parametrize("shape", [(None,), (None, 5)])
def test_totals_are_added_up_where_their_terms_are_computed(
    shape: Any, in_numpy: list[str]
) -> None:
    x = mg.placeholder("x", shape)
    y = mg.tanh(x) * 2
    z = mg.exp(-y)
    graph = mg.build_graph(x, [y, y.sum(), z.mean(), (z * x).sum() + z.sum()])
    program = graph.compile(executor="c")
    for n in (3000, 1, 0):
        feeds = {x: np.random.default_rng(0).standard_normal([n, *shape[1:]])}
        for a, e in zip(program(feeds), mg.run(graph, feeds), strict=True):
            np.testing.assert_allclose(a, e, rtol=1e-5, atol=1e-5)
    text = program.source
    assert text.count("+= sum_float(piece") == 3, "mean and sum of z are one"
    assert "y0[i0] = " in text, "the caller wants it"
    assert "y1[i0] = " not in text, "nobody reads it but sums"
    assert not in_numpy


def test_a_long_sum_is_exact_to_the_last_place() -> None:
    x = mg.placeholder("x", (None,))
    values = np.random.default_rng(0).uniform(0, 1, 1_000_003).astype(np.float32)
    found = program_of(x, x.sum())({x: values})
    assert found == np.float32(values.sum(dtype=np.float64))


@pytest.mark.parametrize(("name", "dtype"), [("Sin", "float32"), ("Exp", "float64")])
def test_many_numbers_that_c_takes_one_by_one_are_left_to_numpy(name: str, dtype: str) -> None:
    x = mg.placeholder("x", (None,), dtype)
    program = program_of(x, REGISTRY[name](x) + 1)
    counts = []
    for n in (kernels.FEW, kernels.FEW + 1):
        program({x: np.ones(n)})
        counts.append(len(joined(program)))
    assert counts == [1, 0]


def training(seed: int = 0, batch: int | None = None) -> tuple[Any, Any, Any, Any]:
    x, t = mg.placeholder("x", (batch, 4)), mg.placeholder("t", (batch,), mg.int64)
    layers = mg.nn.Linear(4, 16, seed=seed), mg.nn.ReLU(), mg.nn.Linear(16, 3, seed=seed + 1)
    model = mg.nn.Sequential(*layers)
    loss = mg.cross_entropy(model(x), t)
    step = mg.optim.SGD(model.parameters(), lr=0.1).minimize(loss)
    return x, t, model, mg.build_graph([x, t], [loss, step])


def test_a_training_step_is_one_call(in_numpy: list[str]) -> None:
    x, t, _, graph = training()
    program, other = graph.compile(executor="c"), graph.compile()
    random = np.random.default_rng(0)
    for n in (8, 5, 8, 1, 8):
        feeds = {x: random.standard_normal((n, 4)), t: random.integers(0, 3, n)}
        np.testing.assert_allclose(program(feeds)[0], other(feeds)[0], rtol=1e-5)
        assert len(program.bound.flat) == 1
    for v, value in other.variables.items():
        np.testing.assert_allclose(program.variables[v], value, rtol=1e-4, atol=1e-6)
    assert not in_numpy


def test_a_constant_that_is_one_number_repeated_does_not_split_the_call(
    in_numpy: list[str],
) -> None:
    """With a known batch, what each sample contributes to the mean is such a constant."""
    x, t, _, graph = training(batch=8)
    program, other = graph.compile(executor="c"), graph.compile()
    feeds = {x: np.random.default_rng(0).standard_normal((8, 4)), t: np.arange(8) % 3}
    for _ in range(3):
        np.testing.assert_allclose(program(feeds)[0], other(feeds)[0], rtol=1e-5)
    constants = [s.array for s in program.bound.slots.values() if s.kind == "constant"]
    assert any(not a.flags.c_contiguous for a in constants)
    assert len(program.bound.flat) == 1
    assert not in_numpy


def test_kernels_are_told_one_by_one() -> None:
    x, t = mg.placeholder("x", (None, 4)), mg.placeholder("t", (None,), mg.int64)
    layer = mg.nn.Linear(4, 3, seed=0)
    loss = mg.cross_entropy(mg.tanh(layer(x)), t)
    step = mg.optim.SGD([layer.weight], lr=0.1).minimize(loss)
    graph = mg.build_graph([x, t], [loss, step])
    feeds = {x: np.ones((8, 4)), t: np.arange(8) % 3}
    with mg.record() as one:
        graph.compile(executor="c")(feeds)
    with mg.record() as other:
        graph.compile()(feeds)
    assert one.counts.by_op == other.counts.by_op


def test_a_refused_operand_is_told_as_ever() -> None:
    x, t, _, graph = training()
    program = graph.compile(executor="c")
    before = {v: a.copy() for v, a in program.variables.items()}
    with pytest.raises(mg.ShapeError, match="SoftmaxCrossEntropy") as found:
        program({x: np.ones((2, 4)), t: np.array([0, 3])})
    assert "defined at test_native.py" in str(found.value)
    for v, a in before.items():
        np.testing.assert_array_equal(program.variables[v], a)
    assert program({x: np.ones((2, 4)), t: np.array([0, 2])})[0] > 0


def test_a_variable_of_another_shape_is_not_read_as_if_it_fitted() -> None:
    x, w = mg.placeholder("x", (3,)), mg.Variable(np.ones(3, np.float32), name="w")
    program = program_of(x, mg.tanh(x * w))
    feeds = {x: np.ones(3, np.float32)}
    expected = program(feeds)
    program.variables[w] = np.ones(2, np.float32)
    with pytest.raises(mg.GraphError):
        program(feeds)
    program.variables[w] = np.ones((6,), np.float32)[::2]
    np.testing.assert_array_equal(program(feeds), expected)


def test_results_are_the_callers_own() -> None:
    x = mg.placeholder("x", (None,))
    program = program_of(x, [mg.tanh(x), mg.exp(x).sum()])
    first = program({x: np.ones(40_000)})
    kept = [np.array(v) for v in first]
    program({x: np.zeros(40_000)})
    for a, b in zip(first, kept, strict=True):
        np.testing.assert_array_equal(a, b)


# ---- Images -------------------------------------------------------------------------------------


def drawn(x: Any, *shape: int) -> Any:
    return np.random.default_rng(len(x.name)).standard_normal(shape).astype(x.dtype)


@pytest.mark.parametrize(
    ("images", "kernels", "padding", "dtype"),
    [
        ((1, 16, 16), (8, 1, 3, 3), 1, "float32"),
        ((4, 8, 8), (16, 4, 3, 3), "same", "float32"),
        ((3, 9, 22), (5, 3, 3, 5), (0, 2), "float32"),  # rows of no whole number of vectors
        ((2, 6, 4), (4, 2, 1, 1), 0, "float64"),
        ((2, 6, 8), (4, 2, 2, 2), "same", "float64"),  # more below and right than above and left
    ],
)
def test_convolutions_and_their_gradients(
    images: Any, kernels: Any, padding: Any, dtype: str, in_numpy: list[str]
) -> None:
    x, w = mg.placeholder("x", (None, *images), dtype), mg.placeholder("w", kernels, dtype)
    b = mg.placeholder("b", (kernels[0], 1, 1), dtype)
    y = mg.relu(REGISTRY["Conv2d"](x, w, padding=padding) + b)
    graph = mg.build_graph([x, w, b], [y, *mg.gradients((y * y).sum(), [x, w, b])])
    program = graph.compile(executor="c")
    for n in (5, 1):
        feeds = {x: drawn(x, n, *images), w: drawn(w, *kernels), b: drawn(b, kernels[0], 1, 1)}
        for a, e in zip(program(feeds), mg.run(graph, feeds), strict=True):
            near = 2e-6 if dtype == "float32" else 1e-14
            np.testing.assert_allclose(a, e, rtol=near, atol=near * np.abs(e).max())
    written = {c.node.op.name for c in program.bound.calls if isinstance(c.function, Kernel)}
    assert {"Fused", "Conv2dInput"} <= written
    assert ("Conv2dWeight" in written) == (images[2] != 22)
    assert not in_numpy


@pytest.mark.parametrize("options", [{"stride": 2}, {"stride": (1, 2), "padding": 1}])
def test_convolutions_that_skip_are_left_to_numpy(options: Any) -> None:
    x, w = mg.placeholder("x", (None, 2, 8, 8)), mg.placeholder("w", (4, 2, 3, 3))
    program = program_of([x, w], REGISTRY["Conv2d"](x, w, **options))
    feeds = {x: drawn(x, 3, 2, 8, 8), w: drawn(w, 4, 2, 3, 3)}
    np.testing.assert_allclose(program(feeds), mg.run(program.graph, feeds), rtol=1e-5, atol=1e-5)
    assert not joined(program)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_pooling_and_its_gradient(dtype: str, in_numpy: list[str]) -> None:
    values = np.random.default_rng(0).integers(-2, 3, (4, 3, 6, 6)).astype(dtype)  # many equal
    values[0, 0, 0, 0], values[1, 1, 1, 1] = np.nan, np.inf
    x = mg.placeholder("x", (None, 3, 6, 6), dtype)
    feeds, outputs = {x: values}, list[Any]()
    for tall, wide in ((2, 2), (3, 3), (1, 2), (2, 1)):
        g = mg.placeholder("grad", (None, 3, 6 // tall, 6 // wide), dtype)
        y = REGISTRY["MaxPool2d"](x, kernel_size=(tall, wide))
        outputs += [y, REGISTRY["MaxPool2dInput"](g, y, x, kernel_size=(tall, wide))]
        feeds[g] = drawn(g, 4, *g.shape[1:])
    program = program_of([*feeds], outputs)
    for y, a, e in zip(outputs, program(feeds), mg.run(program.graph, feeds), strict=True):
        np.testing.assert_array_equal(a, e, err_msg=f"{y} {y.attrs}")
    assert all(isinstance(c.function, Kernel) for c in program.bound.calls)
    assert not in_numpy


# ---- Text ---------------------------------------------------------------------------------------


def test_the_text_names_the_nodes_and_compiles_as_it_is_shown(home: Path) -> None:
    x = mg.placeholder("a\\", (None,))
    y = mg.tanh(x) * 2  # the next character is a trap: \
    program = program_of(x, y + 1)
    found = program({x: np.ones(5)})
    (call,) = joined(program)
    text = program.source
    assert text.startswith("#include")
    assert "// Tanh Tanh (test_native.py, line" in text
    shown = compiler.find_compiler().library(text)  # type: ignore[union-attr]
    path = home / f"shown{compiler.SUFFIX}"
    path.write_bytes(shown)
    again = library.ctypes.CDLL(str(path))
    out = np.zeros(5, np.float32)
    for slot, i in zip(call.moving, call._places, strict=True):
        if slot.kind == "result":
            call._table[i] = out
    library.function(again, call._name)(call._table.start, library.ctypes.addressof(call._sizes))
    np.testing.assert_array_equal(out, found)


# ---- Long programs ------------------------------------------------------------------------------


STEPS: dict[str, Callable[[mg.Node, mg.Node], mg.Node]] = {
    "one kernel": lambda y, x: y + x,
    "an activation": lambda y, x: mg.tanh(y) + x,
    "a sum": lambda y, x: y + mg.sum(y),
    "a mean behind a region": lambda y, x: mg.tanh(y) - mg.mean(y),
    "rows": lambda y, x: mg.softmax(y) + x,
    "a product and its reader": lambda y, x: mg.tanh(y @ mg.transpose(x)) @ x,
}


def chain(n: int, kind: str = "one kernel", optimize: bool = False) -> Any:
    """A program of n steps, one after the other: of each kernel a function, a call and a place."""
    with mg.Graph():
        x = y = mg.placeholder("x", (1, 3) if "product" in kind else (3,))
        for _ in range(n):
            y = STEPS[kind](y, x)
        return mg.build_graph(x, y).compile(executor="c", optimize=optimize)


@pytest.mark.cases(5)
@pytest.mark.parametrize("optimize", [False, True])
@pytest.mark.parametrize("kind", STEPS)
def test_to_prepare_a_program_takes_time_for_each_node(kind: str, optimize: bool) -> None:
    counts = []
    for n in (70, 280):  # tables in both: see MOST_CALLS
        calls = itertools.count()
        sys.setprofile(lambda *about, calls=calls: next(calls))
        try:
            program = chain(n, kind, optimize)
            program({"x": np.zeros(program.graph.inputs[0].shape)})
        finally:
            sys.setprofile(None)
        counts.append(next(calls))
    assert counts[1] < 4.5 * counts[0]


@pytest.mark.parametrize("kind", ["a mean behind a region", "a product and its reader"])
def test_regions_that_are_alike_are_written_once(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    program, made = chain(50, kind, optimize=True), list[str]()
    finish = CWriter.block
    monkeypatch.setattr(kernels, "_known", {})
    monkeypatch.setattr(CWriter, "block", lambda self: made.append(self.stem) or finish(self))
    program({"x": np.zeros(program.graph.inputs[0].shape)})
    assert len(made) < 10


def test_a_remembered_region_tells_of_the_lines_of_this_program() -> None:
    for name in ("first", "second"):
        with mg.Graph():
            x = mg.placeholder(f"{name}_x", (3,))
            with mg.name_scope(name):
                y = mg.tanh(x * 2.5) + mg.exp(x)
            shown = mg.build_graph(x, y).compile(executor="c").source
        assert f"// Tanh {name}/Tanh (" in shown
        assert f"// {name}_x" in shown


def test_regions_that_differ_in_a_number_alone_stay_apart() -> None:
    x = np.array([1.0, -2.0, 0.5], np.float32)
    for number in (2.5, 3.5, -0.0, 0.0):
        with mg.Graph():
            node = mg.placeholder("x", (3,))
            ys = [1 / (node * number), mg.clip(node, -1.0, abs(number)) * 2, number - node * 2]
            graph = mg.build_graph(node, ys)
        with np.errstate(all="ignore"):
            found = graph.compile(executor="c")({"x": x})
            expected = graph.compile(optimize=False)({"x": x})
        np.testing.assert_array_equal(found, expected)
        np.testing.assert_array_equal(np.signbit(found), np.signbit(expected))


def test_long_functions_are_tables() -> None:
    program, x = chain(400), np.array([1.0, -2.0, 0.1])
    result = program({"x": x})
    np.testing.assert_array_equal(result, program.graph.compile(optimize=False)({"x": x}))
    shown = [line for line in program.source.splitlines() if "// Add Add" in line]
    assert sum("_at, {" in line for line in shown) == 400
    with mg.record() as log:  # which has them called one by one
        np.testing.assert_array_equal(program({"x": x}), result)
    assert log.counts.run == 400


def test_functions_that_do_the_same_are_written_once() -> None:
    unit = CUnit()
    with mg.Graph():
        x = mg.placeholder("x", (3,))
        for _ in range(5):
            kernel = kernels.kernel(x + x, [Spec((3,), x.dtype)], [Spec((3,), x.dtype)] * 2)
            kernel.join(unit)  # type: ignore[union-attr]
    assert unit.source().count("EXPORT int64_t run") == 1


def test_a_refusal_in_a_table_is_told_as_ever() -> None:
    with mg.Graph():
        x, i = mg.placeholder("x", (2, 3)), mg.placeholder("i", (2,), "int64")
        y = x
        for _ in range(100):
            y = y * 1.5
        graph = mg.build_graph([x, i], mg.cross_entropy(y, i))
    program = graph.compile(executor="c", optimize=False)
    feeds = {"x": np.ones((2, 3)), "i": [0, 2]}
    np.testing.assert_allclose(program(feeds), np.log(3), rtol=1e-6)
    assert "_at, {" in program.source
    with pytest.raises(mg.ShapeError, match="SoftmaxCrossEntropy"):
        program(feeds | {"i": [0, 3]})


# ---- The cache and the compiler -----------------------------------------------------------------


def tried(n: float = 2.0) -> Any:
    """A program whose C is the same each time, run once."""
    with mg.Graph():
        x = mg.placeholder("x", (None,))
        return program_of(x, mg.tanh(x * 2 + 1) - x)({x: np.full(9, n)})


def files(home: Path) -> list[Path]:
    return sorted(home.iterdir())


@pytest.fixture(scope="module")
def compiled_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache with what `tried` needs, to be copied."""
    folder = tmp_path_factory.mktemp("tried") / "cache"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cache, "location", lambda: folder)
        forget(patch)
        tried()
    return folder


@pytest.fixture
def filled(home: Path, compiled_once: Path) -> Path:
    shutil.copytree(compiled_once, home)
    return home


def test_the_second_process_does_not_compile(
    home: Path, compilations: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    first = tried()
    assert len(compilations) == 1
    forget(monkeypatch)
    monkeypatch.setattr(subprocess, "run", lambda *a, **k: pytest.fail("started a program"))
    np.testing.assert_array_equal(tried(), first)
    assert len(files(home)) == 1


@pytest.mark.parametrize("damage", ["cut", "bit", "empty", "exchanged"])
def test_a_damaged_file_is_compiled_anew(
    filled: Path, compilations: list[str], monkeypatch: pytest.MonkeyPatch, damage: str
) -> None:
    expected = tried()
    assert not compilations
    (path,) = files(filled)
    content = path.read_bytes()
    half = len(content) // 2
    bit = content[:half] + bytes([content[half] ^ 1]) + content[half + 1 :]
    harmful = {"cut": content[:half], "bit": bit, "empty": b"", "exchanged": b"#!/bin/sh"}
    path.unlink()  # which this process has loaded
    path.write_bytes(harmful[damage])
    forget(monkeypatch)
    np.testing.assert_array_equal(tried(), expected)
    assert len(compilations) == 1
    assert [p.read_bytes() for p in files(filled)] == [content]


@pytest.mark.parametrize("content", ["another library", "no library"])
def test_a_library_without_the_function_is_used_once_and_compiled_anew(
    content: str, filled: Path, compilations: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    first = tried()
    (path,) = files(filled)
    strange = b"no library"
    if content == "another library":
        strange = compiler.find_compiler().library("int other(void) { return 1; }")  # type: ignore[union-attr]
    compilations.clear()
    key, _, _ = path.stem.partition("-")
    path.unlink()
    wrong = cache.store(key, strange)  # as whole as any that the cache vouches for
    forget(monkeypatch)
    np.testing.assert_array_equal(tried(), first)
    assert len(compilations) == 1
    assert files(filled) == [path]
    assert wrong is not None


def test_a_compiler_that_leaves_the_function_out_is_told_once(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run = compiler.Compiler._run
    monkeypatch.setattr(
        compiler.Compiler, "_run", lambda self, source, flags: run(self, "int other;", flags)
    )
    np.testing.assert_allclose(tried(), np.tanh(5.0) - 2.0, rtol=1e-6)
    tried()
    (line,) = capsys.readouterr().err.splitlines()
    assert "run0" in line


def test_flags_compiler_and_processor_have_their_own_files(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def again(count: int) -> None:
        forget(monkeypatch)
        tried()
        assert len({p.name[:32] for p in files(home)}) == count

    again(1)
    monkeypatch.setattr(library, "FLAGS", (*compiler.FLAGS, "-O1"))
    again(2)
    monkeypatch.setattr(compiler, "processor", lambda: "another one")
    again(3)
    monkeypatch.setattr(compiler, "_fingerprint", lambda path: "another version")
    again(4)


def test_the_first_of_several_cores_says_what_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    told = SimpleNamespace(read_text=lambda *_, **__: "model name: a\nbugs: x\n\nmodel name: b")
    monkeypatch.setattr(compiler, "Path", lambda path: told)
    assert compiler.processor.__wrapped__().splitlines()[1:] == ["model name: a"]


@windows
def test_the_folder_is_private(home: Path) -> None:
    tried()
    assert stat.S_IMODE(home.stat().st_mode) == 0o700


@windows
@pytest.mark.parametrize("wrong", ["mode", "link", "owner", "file"])
def test_a_folder_that_is_not_the_users_alone_is_not_used(
    filled: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wrong: str
) -> None:
    expected = tried()
    if wrong == "mode":
        filled.chmod(0o755)
    elif wrong == "link":
        filled.rename(tmp_path / "elsewhere")
        filled.symlink_to(tmp_path / "elsewhere")
    elif wrong == "owner":
        monkeypatch.setattr(os, "getuid", lambda: 12345)
    else:
        filled.rename(tmp_path / "elsewhere")
        filled.write_text("")
    forget(monkeypatch)
    looked: list[Path] = []
    read = Path.read_bytes
    monkeypatch.setattr(Path, "read_bytes", lambda p: looked.append(p) or read(p))
    np.testing.assert_array_equal(tried(), expected)
    assert not [p for p in looked if filled in p.parents]


def test_old_files_go(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "MOST", 2)
    for i in range(4):
        cache.store(f"key{i}", b"content")
        os.utime(files(home)[-1], (i, i))
    assert [p.name[:4] for p in files(home)] == ["key2", "key3"]


def nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setattr(compiler.importlib.util, "find_spec", lambda name: None)
    compiler._find_command.cache_clear()


def test_without_a_compiler_numpy_does_it_and_one_line_says_so(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    expected = tried()
    forget(monkeypatch)
    nowhere(monkeypatch)
    for _ in range(2):
        np.testing.assert_allclose(tried(), expected, rtol=1e-6)
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "no C compiler found" in said


def failing(folder: Path, text: str) -> Path:
    path = folder / "cc"
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o700)
    return path


@windows
@pytest.mark.parametrize(
    ("does", "says"),
    [("echo kernels.c:1: error: no such thing >&2; exit 1", "no such thing"), ("sleep 9", "timed")],
)
def test_a_compiler_that_fails_is_told_once(
    home: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    does: str,
    says: str,
) -> None:
    monkeypatch.setenv("CC", str(failing(tmp_path, does)))
    monkeypatch.setattr(compiler, "TIME_LIMIT", 0.2)
    monkeypatch.setattr(compiler, "FLAGS", ())
    for _ in range(2):
        np.testing.assert_allclose(tried(), np.tanh(5.0) - 2, rtol=1e-6)
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert says in said
    assert files(home) == []


def test_cc_may_hold_options(monkeypatch: pytest.MonkeyPatch) -> None:
    path = compiler.find_compiler().command[0]  # type: ignore[union-attr]
    monkeypatch.setenv("CC", f"{path} -g0")
    assert compiler.find_compiler().command == (path, "-g0")  # type: ignore[union-attr]


AT_ONCE = """
import os, numpy as np, minigrad as mg

children = []
for _ in range(2):
    children.append(os.fork())
    if not children[-1]:
        x = mg.placeholder("x", (None,))
        program = mg.build_graph(x, mg.tanh(x * 3) + x).compile(executor="c")
        print(program({x: np.ones(5)}).tolist(), flush=True)
        os._exit(0)
print([os.waitpid(child, 0)[1] for child in children])
"""


@windows
def test_processes_may_compile_at_once(tmp_path: Path) -> None:
    environment = os.environ | {"XDG_CACHE_HOME": str(tmp_path), "HOME": str(tmp_path)}
    command = [sys.executable, "-c", AT_ONCE]
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=120, check=True
    )
    one, other, ends = done.stdout.splitlines()
    assert one == other
    assert ends == "[0, 0]"
    made = [p for p in tmp_path.rglob("*") if p.is_file()]
    assert {p.suffix for p in made} == {compiler.SUFFIX}
    assert len({p.name[:32] for p in made}) == 1


WEIGHTS = np.arange(24, dtype=np.float32).reshape(4, 6) / 8


@pytest.mark.parametrize(
    "other", [WEIGHTS * 2, np.asfortranarray(WEIGHTS), WEIGHTS[:, ::-1], np.float64(1) * WEIGHTS]
)
def test_a_variable_in_another_shape_is_handed_over_as_it_is(other: Any) -> None:
    """It is not made anew for each run, and whatever is put in its place is read rightly."""
    x = mg.placeholder("x", shape=(6, 4))
    w = mg.Variable(WEIGHTS, name="w")
    graph = mg.build_graph(x, mg.sqrt(x + mg.reshape(w, (6, 4))) * 2.0)
    found = []
    for executor in ("numpy", "c"):
        program = graph.compile(executor=executor)
        program.variables[w] = WEIGHTS.copy()
        feeds = {"x": np.ones((6, 4), np.float32)}
        program(feeds)
        program.variables[w] = other
        found.append(program(feeds))
    np.testing.assert_array_equal(*found)
    assert "reshape" not in "".join(line.text for line in program._latest.text.code)

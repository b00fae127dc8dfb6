"""Calls of traced functions inside `lazy_batch`: one operation each, and the plain numbers."""

from __future__ import annotations

import contextlib
import random
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import minigrad as mg
from minigrad.core import context

HIDDEN = 6
MODES: dict[str, Callable[[], Any]] = {"plain": contextlib.nullcontext, "lazy": mg.lazy_batch}
LENGTHS = (1, 4, 2, 4)


def drawn(*shape: int, seed: int) -> Any:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def parameters(*shapes: tuple[int, ...]) -> list[mg.Tensor]:
    return [mg.tensor(drawn(*s, seed=i), requires_grad=True) for i, s in enumerate(shapes)]


def groups(log: Any) -> Counter[str]:
    """How many operations of each kind ran together, all in all, and in how many groups."""
    return Counter(event.op.name for event in log.of_kind("group"))


def both(build: Callable[[], Any], given: list[mg.Tensor]) -> list[Any]:
    """What is recorded in both modes, after values and gradients were compared."""
    found, logs = [], []
    for mode in MODES.values():
        for x in given:
            x.zero_grad()
        with mg.record() as log:
            with mode():
                total = build()
            total.backward()
        found.append([total.data, *(x.grad.data for x in given)])
        logs.append(log)
    for plain, lazy in zip(*found, strict=True):
        assert (plain.shape, plain.dtype) == (lazy.shape, lazy.dtype)
        np.testing.assert_allclose(lazy, plain, rtol=1e-4, atol=1e-4 * np.abs(plain).max())
    return logs


def sequences(shape: tuple[int, ...], cell: Any) -> Callable[[], Any]:
    """The sum of the last states of sequences of several lengths."""
    data = [[mg.tensor(drawn(*shape, seed=9 * n + i)) for i in range(n)] for n in LENGTHS]

    def build() -> Any:
        total: Any = 0.0
        for xs in data:
            h: Any = mg.tensor(np.zeros(shape, np.float32))
            for x in xs:
                h = cell(x, h)
            total = total + (h * h).sum()
        return total

    return build


@pytest.mark.parametrize("shape", [(1, HIDDEN), (HIDDEN,), (3, HIDDEN)])
def test_a_word_is_one_operation(shape: tuple[int, ...]) -> None:
    w, u, b = parameters((HIDDEN, HIDDEN), (HIDDEN, HIDDEN), (HIDDEN,))

    @mg.function
    def cell(x: Any, h: Any) -> Any:
        return mg.tanh(x @ w.T + h @ u + b) * 0.5 + mg.sigmoid(x).mean(axis=-1, keepdims=True)

    log = both(sequences(shape, cell), [w, u, b])[1]
    assert groups(log)["cell"] == max(LENGTHS)
    noted = Counter(event.op.name for event in log.of_kind("noted"))
    assert noted["cell"] == sum(LENGTHS)
    assert not {"MatMul", "Tanh"} & noted.keys()
    runs = Counter(e.op.name for e in log.of_kind("run") if e.phase == "forward")
    assert runs["Tanh"] == max(LENGTHS)
    assert runs["Transpose"] == 1, "what is computed of parameters alone is computed once"


def test_children_with_and_without_gradients_run_together() -> None:
    w, u = parameters((HIDDEN, HIDDEN), (HIDDEN, HIDDEN))
    words = [mg.tensor(drawn(1, HIDDEN, seed=i)) for i in range(4)]

    @mg.function
    def join(left: Any, right: Any) -> Any:
        return mg.tanh(left @ w + right @ u)

    def value(tree: Any) -> Any:
        return words[tree] if isinstance(tree, int) else join(value(tree[0]), value(tree[1]))

    trees = [((0, 1), 2), (3, (1, 2)), ((0, 3), (1, 2)), (0, 1)]
    log = both(lambda: sum(value(t).sum() for t in trees), [w, u])[1]
    assert groups(log)["join"] == 2


def test_parameters_of_each_sample_are_rows_too() -> None:
    biases = parameters(*[(HIDDEN,)] * 8)
    (w,) = parameters((HIDDEN, HIDDEN))
    x = mg.tensor(drawn(1, HIDDEN, seed=5))

    @mg.function
    def scored(x: Any, b: Any) -> Any:
        return mg.tanh(x @ w + b).sum()

    log = both(lambda: sum(scored(x * i, b) for i, b in enumerate(biases)), [w, *biases])[1]
    assert groups(log)["scored"] == 1


def test_open_lengths_and_second_order() -> None:
    (w,) = parameters((HIDDEN, HIDDEN))

    @mg.function(input_signature=[mg.TensorSpec((None, HIDDEN))])
    def f(x: Any) -> Any:
        return mg.tanh(x @ w).sum(axis=0)

    data = [mg.tensor(drawn(n, HIDDEN, seed=n)) for n in (2, 3, 2, 2)]
    log = both(lambda: sum(f(x).sum() for x in data), [w])[1]
    assert groups(log)["f"] == 2, "one for each length"
    found = []
    for mode in MODES.values():
        with mode():
            total = sum((f(x) * f(x)).sum() for x in data)
        (dw,) = mg.grad(total, [w], create_graph=True)
        found.append(mg.grad((dw * dw).sum(), [w])[0].data)
    np.testing.assert_allclose(*found, rtol=1e-3, atol=1e-3 * np.abs(found[0]).max())


def test_the_result_tells_whether_it_requires_a_gradient() -> None:
    (w,) = parameters((HIDDEN, HIDDEN))
    x = mg.tensor(drawn(1, HIDDEN, seed=3))
    cut = mg.function(lambda x: x * 2 + (x @ w).detach())
    kept = mg.function(lambda x: x * 2 + x @ w)
    with mg.lazy_batch():
        results = [f(x) for f in (cut, kept)]
        with mg.no_grad():
            results.append(kept(x))
        assert [y.requires_grad for y in results] == [False, True, False]
        results[0].item  # noqa: B018
    assert [y.data.shape for y in results] == [(1, HIDDEN)] * 3
    assert [y.requires_grad for y in results] == [False, True, False]


def test_what_is_done_besides_is_done_at_once(capsys: pytest.CaptureFixture[str]) -> None:
    x = mg.tensor(drawn(1, HIDDEN, seed=3))
    layer = mg.nn.Dropout(0.5)

    @mg.function
    def prints(x: Any) -> Any:
        return mg.Print(x * 2, "here") + 1

    functions = {
        "prints": prints,
        "two": mg.function(lambda x: (x + 1, x * 2)),
        "same": mg.function(lambda x: x),
        "random": mg.function(lambda x: layer(x) * 2),
        "branch": mg.function(lambda x: mg.cond(x.sum() > 0, lambda: x * 2, lambda: x * 3)),
    }
    with mg.record() as log, mg.lazy_batch():
        results = {name: f(x) for name, f in functions.items()}
        assert "here" in capsys.readouterr().out
    assert not log.of_kind("noted")
    assert results["two"][1].data.tolist() == (x.data * 2).tolist()
    results["same"].data[...] = 0
    assert x.data.any(), "a result has memory of its own"


def test_unused_and_shared_operands() -> None:
    (w,) = parameters((1, HIDDEN))
    xs = [mg.tensor(drawn(1, HIDDEN, seed=i)) for i in range(3)]
    first = mg.function(lambda x, y: x * 2)
    alone = mg.function(lambda x: w * 2)
    with mg.lazy_batch():
        same = xs[0] + 0.0
        pairs = [first(same, y + 0.0) for y in xs]
        constant = [alone(y + 0.0) for y in xs]
    for y in pairs:
        assert y.data.tolist() == (xs[0].data * 2).tolist()
    for y in constant:
        assert y.data.tolist() == (w.data * 2).tolist()


def test_a_parameter_may_change_between_two_runs_of_a_block() -> None:
    w = mg.tensor(np.eye(2, dtype=np.float32), requires_grad=True)
    f = mg.function(lambda x: x @ w.T)
    x = mg.tensor([[1.0, 2.0]])
    with mg.lazy_batch():
        before = f(x + 0.0)
        assert before.tolist() == [[1, 2]]
        with mg.no_grad():
            w.mul_(3.0)
        after = f(x + 0.0)
    assert after.tolist() == [[3, 6]]


def test_an_error_names_the_line_inside_and_the_call() -> None:
    rows = [mg.tensor(drawn(1, 3, seed=i)) for i in range(3)]
    labels = [mg.tensor([k]) for k in (0, 5, 1)]

    @mg.function
    def loss(row: Any, label: Any) -> Any:
        return mg.nn.functional.cross_entropy(mg.tanh(row), label)  # inside

    with pytest.raises(mg.ShapeError) as caught, mg.lazy_batch():  # noqa: PT012
        losses = []
        for row, label in zip(rows, labels, strict=True):
            losses.append(loss(row, label))  # the call
    text = str(caught.value)
    assert "label 5 is outside 0 to 2" in text
    assert "# inside" in text
    assert "# the call" in text


def test_a_call_is_differentiated_at_once_while_another_function_is_traced() -> None:
    x = mg.tensor(2.0, requires_grad=True)
    cube = mg.function(lambda x: x * x * x)
    y = cube(x)

    @mg.function
    def scaled(z: Any) -> Any:
        return z * mg.grad(y, [x], create_graph=True)[0]

    assert scaled(mg.tensor(1.0)).item() == 12


@pytest.mark.cases(16)
@pytest.mark.parametrize("shape", [(4,), (1, 4), (3, 4), (2, 1, 4)])
@pytest.mark.parametrize("seed", range(8))
def test_random_functions_on_random_graphs(shape: tuple[int, ...], seed: int) -> None:
    w, b, c, r = parameters((4, 4), (4,), shape, (1, 4))
    draw = random.Random(seed)
    steps: list[Callable[[Any, Any], Any]] = [
        *(lambda p, q: p + q, lambda p, q: p * c, lambda p, q: mg.tanh(p @ w.T + b)),
        *(lambda p, q: mg.softmax(p, axis=-1), lambda p, q: q - p.sum(axis=-1, keepdims=True)),
        *(lambda p, q: p.detach() * 0.5, lambda p, q: mg.where(p > q, p, q)),
        *(lambda p, q: p @ w, lambda p, q: p + r.sum()),
    ]
    chosen = [(draw.choice(steps), draw.random(), draw.random()) for _ in range(5)]

    def body(x: Any, y: Any) -> Any:
        values = [x, y]
        for step, left, right in chosen:
            values.append(step(*(values[int(u * len(values))] for u in (left, right))))
        return mg.tanh(values[-1] + values[-2])

    xs = [mg.tensor(drawn(*shape, seed=i), requires_grad=i == 1) for i in range(4)]
    pairs = [(draw.randrange(4 + i), draw.randrange(4 + i)) for i in range(6)]

    def build(call: Callable[[Any, Any], Any]) -> Any:
        values: list[Any] = list(xs)
        for i, j in pairs:
            values.append(call(values[i], values[j]))
        anything = sum(x.sum() for x in (xs[1], w, b, c, r)) * 0.0  # so that all have a gradient
        return sum((v * v).sum() for v in values) + anything

    traced = mg.function(body)
    log = both(lambda: build(traced if context.now.active_reader else body), [w, b, c, r, xs[1]])[1]
    assert groups(log)["body"] > 0

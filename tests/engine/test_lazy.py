"""Lazy batching: the same numbers with fewer kernels, whatever the graphs look like."""

from __future__ import annotations

import contextlib
import gc
import random
import threading
import time
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from covering import examples
from hypothesis import given
from hypothesis import strategies as st

import minigrad as mg
from minigrad.batching.notes import BatchedRun, OperationNote
from minigrad.batching.pending import PendingTensor
from minigrad.core import context

PLAIN: Callable[[], Any] = contextlib.nullcontext
MODES = {"plain": PLAIN, "lazy": mg.lazy_batch}
Tree = Any  # a word, or a pair of trees


def random_tree(leaves: int, draw: random.Random, words: int = 20) -> Tree:
    if leaves == 1:
        return draw.randrange(words)
    left = draw.randint(1, leaves - 1)
    return random_tree(left, draw, words), random_tree(leaves - left, draw, words)


def random_trees(count: int, low: int, high: int, seed: int = 0) -> list[Tree]:
    draw = random.Random(seed)
    return [random_tree(draw.randint(low, high), draw) for _ in range(count)]


class TreeNet:
    """tanh(l Wl + r Wr + b) at inner nodes, rows of a table at the leaves."""

    def __init__(self, hidden: int, dtype: Any = np.float32, words: int = 20) -> None:
        drawn = np.random.default_rng(1)

        def parameter(*shape: int) -> mg.Tensor:
            values = drawn.standard_normal(shape) / np.sqrt(hidden)
            return mg.tensor(values.astype(dtype), requires_grad=True)

        self.left, self.right = parameter(hidden, hidden), parameter(hidden, hidden)
        self.bias, self.table = parameter(hidden), parameter(words, hidden)
        self.parameters = [self.left, self.right, self.bias, self.table]

    def encode(self, tree: Tree) -> Any:
        if not isinstance(tree, tuple):
            return self.table[tree]
        left, right = map(self.encode, tree)
        return mg.tanh(left @ self.left + right @ self.right + self.bias)

    def loss(self, tree: Tree) -> Any:
        h = self.encode(tree)
        return (h * h).sum()


def trained(
    parameters: list[mg.Tensor], losses: Callable[[], list[Any]], mode: str, **options: Any
) -> tuple[list[Any], list[Any], Any]:
    """Losses and gradients, and what was recorded on the way."""
    for p in parameters:
        p.zero_grad()
    with mg.record() as log:
        with MODES[mode]():
            parts = losses()
            total = sum(parts)
        total.backward(**options)
    return [part.data for part in parts], [p.grad.data for p in parameters], log


def close(actual: list[Any], expected: list[Any], tolerance: float) -> None:
    assert len(actual) == len(expected)
    for a, b in zip(actual, expected, strict=True):
        assert (a.shape, a.dtype) == (b.shape, b.dtype)
        np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance * max(1, np.abs(b).max()))


# ---- Models of many forms -------------------------------------------------------------------


@pytest.mark.cases(2)
@pytest.mark.parametrize("hidden", [16, 64])
@pytest.mark.parametrize("seed", range(3))
def test_eight_random_trees_need_a_fifth_of_the_kernels(hidden: int, seed: int) -> None:
    net, trees = TreeNet(hidden), random_trees(8, 5, 15, seed)

    def losses() -> list[Any]:
        return [net.loss(tree) for tree in trees]

    plain, lazy = (trained(net.parameters, losses, mode) for mode in MODES)
    close(lazy[0], plain[0], 1e-5)
    close(lazy[1], plain[1], 1e-5)
    assert lazy[2].counts.run * 5 <= plain[2].counts.run
    sizes = [event.node.size for event in lazy[2].of_kind("group")]
    assert max(sizes) > 20
    both = [trained(net.parameters, losses, mode, create_graph=True)[2] for mode in MODES]
    assert both[1].counts.run * 5 <= both[0].counts.run, "with the kernels of the backward pass"


def test_trees_in_float64_are_equal_to_twelve_digits() -> None:
    net, trees = TreeNet(16, np.float64), random_trees(8, 1, 20)
    plain, lazy = (
        trained(net.parameters, lambda: [net.loss(tree) for tree in trees], mode) for mode in MODES
    )
    close(lazy[0], plain[0], 1e-12)
    close(lazy[1], plain[1], 1e-12)


def test_sequences_of_different_length() -> None:
    draw = np.random.default_rng(0)
    cell = mg.nn.LSTMCell(6, 8, seed=1)
    out = mg.nn.Linear(8, 3, seed=2)
    lengths = [1, 2, 5, 5, 9, 14, 3, 14]
    xs = [mg.tensor(draw.standard_normal((n, 1, 6)).astype(np.float32)) for n in lengths]
    labels = [mg.tensor(draw.integers(0, 3, (1,))) for _ in lengths]
    parameters = [*cell.parameters(), *out.parameters()]

    def losses() -> list[Any]:
        parts = []
        for x, label in zip(xs, labels, strict=True):
            state: Any = None
            for step in x:
                state = cell(step, state)
            parts.append(mg.cross_entropy(out(state[0]), label))
        return parts

    plain, lazy = (trained(parameters, losses, mode) for mode in MODES)
    close(lazy[0], plain[0], 1e-5)
    close(lazy[1], plain[1], 1e-5)
    assert lazy[2].counts.run * 3 <= plain[2].counts.run
    losses_ = [e.node for e in lazy[2].of_kind("group") if e.op.name == "SoftmaxCrossEntropy"]
    assert [group.size for group in losses_] == [8], "what all end in waits for the longest"
    products = [e.node.size for e in lazy[2].of_kind("group") if e.op.name == "MatMul"]
    assert sum(lengths) in products, "what does not depend on the state is one product for all"


def test_layers_norms_and_attention() -> None:
    draw = np.random.default_rng(0)
    norm, query, key = mg.nn.LayerNorm(4), mg.nn.Linear(4, 4, seed=1), mg.nn.Linear(4, 4, seed=2)
    parameters = [*norm.parameters(), *query.parameters(), *key.parameters()]
    xs = [mg.tensor(draw.standard_normal((n, 4)).astype(np.float32)) for n in (2, 3, 3, 5, 2, 3)]

    def losses() -> list[Any]:
        parts = []
        for x in xs:
            y = norm(x)
            weights = mg.softmax(query(y) @ key(y).T / 2.0)
            parts.append(mg.mean((weights @ y) ** 2))
        return parts

    plain, lazy = (trained(parameters, losses, mode) for mode in MODES)
    close(lazy[0], plain[0], 1e-5)
    close(lazy[1], plain[1], 1e-5)
    softmax = [e.node for e in lazy[2].of_kind("group") if e.op.name == "Softmax"]
    assert sorted(group.size for group in softmax) == [1, 2, 3], "by shape"


def test_vectors_that_require_gradients_are_told_from_parameters_by_their_number() -> None:
    draw = np.random.default_rng(0)
    w = mg.tensor(draw.standard_normal((3, 3)), requires_grad=True)
    words = [mg.tensor(draw.standard_normal(3), requires_grad=True) for _ in range(9)]

    def losses() -> list[Any]:
        return [mg.tanh(word @ w).sum() for word in words]

    plain, lazy = (trained([w, *words], losses, mode) for mode in MODES)
    close(lazy[0], plain[0], 1e-12)
    close(lazy[1], plain[1], 1e-12)
    assert [e.node.size for e in lazy[2].of_kind("group")][:3] == [9, 9, 9]


def test_parameters_of_one_shape_are_not_stacked() -> None:
    ws = [mg.randn(3, 3, seed=i, requires_grad=True) for i in range(2)]
    xs = [mg.randn(3, seed=10 + i) for i in range(6)]
    for prepare in (lambda w: w, lambda w: w.T, mg.tanh):

        def losses(prepare: Any = prepare) -> list[Any]:
            return [(x @ prepare(ws[0]) + x @ prepare(ws[1])).sum() for x in xs]

        plain, lazy = (trained(ws, losses, mode) for mode in MODES)
        close(lazy[0], plain[0], 1e-5)
        close(lazy[1], plain[1], 1e-5)
        assert all(len(event.node.shape) < 3 for event in lazy[2].of_kind("built"))


def test_a_batch_in_which_nothing_is_alike() -> None:
    xs = [mg.randn(*shape, seed=1, requires_grad=True) for shape in ((2,), (3,), (2, 2), (1, 4))]

    def losses() -> list[Any]:
        return [mg.exp(xs[0]).sum(), mg.tanh(xs[1]).mean(), (xs[2] @ xs[2]).max(), xs[3].sum()]

    plain, lazy = (trained(xs, losses, mode) for mode in MODES)
    for a, b in zip((*lazy[0], *lazy[1]), (*plain[0], *plain[1]), strict=True):
        assert a.tobytes() == b.tobytes()
    assert lazy[2].counts.forward <= plain[2].counts.forward + 2
    rows = len(xs) + 2  # to sum the losses at once, each gets its part of one gradient
    assert lazy[2].counts.backward <= plain[2].counts.backward + rows


ALONE: list[Callable[[Any], Any]] = [
    lambda x: x[1],
    lambda x: x[-1:],
    lambda x: x[2] * x[2],
    lambda x: mg.stack([x[0]]),
    lambda x: mg.stack([x[1], x[0]], axis=1),
    lambda x: mg.concatenate([x, x[:1]]),
    lambda x: mg.softmax(x, axis=0),
]


@pytest.mark.parametrize("function", ALONE)
def test_what_has_nothing_to_run_with_gives_the_same(function: Callable[[Any], Any]) -> None:
    x = mg.randn(3, 4, seed=1, requires_grad=True)
    found = []
    for begin in MODES.values():
        with begin():
            y = function(x)
        (gradient,) = mg.grad(mg.exp(y).sum(), [x])
        found.append([(a.shape, a.data.tobytes()) for a in (y, gradient)])
    assert found[0] == found[1]


def test_nothing_noted_nothing_run() -> None:
    with mg.record() as log, mg.lazy_batch():
        pass
    assert log.events == []


# ---- Random forests -------------------------------------------------------------------------

UNARY = [mg.tanh, mg.exp, lambda x: -x, lambda x: x * 0.5, lambda x: 1 - x, mg.relu, mg.sigmoid]
BINARY = [
    lambda a, b: a + b,
    lambda a, b: a * b,
    lambda a, b: a - b,
    lambda a, b: mg.maximum(a, b),
    lambda a, b: mg.stack([a, b]).mean(axis=0),
]
Expression = Any
expressions = st.recursive(
    st.integers(0, 4),
    lambda inner: st.one_of(
        st.tuples(st.integers(0, len(UNARY) - 1), inner),
        st.tuples(st.integers(0, len(BINARY) - 1), inner, inner),
        st.tuples(st.just("@"), inner),
        st.tuples(st.just("sum"), inner),
    ),
    max_leaves=8,
)


def evaluate(expression: Expression, leaves: list[Any], w: Any) -> Any:
    if isinstance(expression, int):
        return leaves[expression]
    head, *operands = expression
    values = [evaluate(x, leaves, w) for x in operands]
    if head == "@":
        return mg.tanh(values[0]) @ w
    if head == "sum":
        return values[0].sum() * mg.tensor(np.ones(3) * 0.1)
    return (UNARY if len(values) == 1 else BINARY)[head](*values)


@examples(150)
@given(st.lists(expressions, min_size=1, max_size=8), st.booleans())
def test_random_forests(forest: list[Expression], wanted: bool) -> None:
    found = []
    for mode in MODES.values():
        w = mg.tensor(np.random.default_rng(0).uniform(-0.4, 0.4, (3, 3)), requires_grad=True)
        draw = np.random.default_rng(1)
        leaves = [mg.tensor(draw.uniform(-1, 1, 3), requires_grad=wanted) for _ in range(5)]
        with mode():
            values = [evaluate(expression, leaves, w) for expression in forest]
            losses = [mg.tanh(value).sum() + (w * 0.1).sum() for value in values]
            total = sum(losses)
        total.backward()
        gradients = [None if x.grad is None else x.grad.data for x in (w, *leaves)]
        found.append(([x.data for x in (*values, *losses)], gradients))
        assert all(type(x) is mg.Tensor for x in values)
    for a, b in zip(found[0][0] + found[0][1], found[1][0] + found[1][1], strict=True):
        assert (a is None) == (b is None)
        if a is not None:
            np.testing.assert_allclose(b, a, rtol=1e-12, atol=1e-12)


# ---- What is noted, and when it runs --------------------------------------------------------


def test_a_noted_result_knows_its_shape_and_runs_nothing() -> None:
    x = mg.randn(2, 3, seed=0, requires_grad=True)
    with mg.record() as log, mg.lazy_batch():
        y = mg.tanh(x).sum(axis=0)
        assert isinstance(y, mg.Tensor)
        assert (y.shape, y.ndim, y.size, len(y), y.dtype) == ((3,), 1, 3, 3, mg.float32)
        assert (y.requires_grad, y.grad, y.name) == (True, None, None)
        assert log.counts.run == 0
        assert [event.kind for event in log.events] == ["noted", "noted"]
    assert log.counts.run == 2
    assert type(y) is PendingTensor, "nobody asked for it yet"
    assert repr(y) == repr(mg.tanh(x).sum(axis=0))
    assert type(y) is mg.Tensor


@pytest.mark.parametrize(
    "ask",
    [
        lambda y: y.item(),
        lambda y: float(y),
        lambda y: bool(y > 1),
        lambda y: repr(y),
        lambda y: y.data,
        lambda y: y.numpy(),
        lambda y: np.asarray(y),
        lambda y: y.tolist(),
        lambda y: y.creator,
        lambda y: y.backward(),
        lambda y: mg.Print(y),
        lambda y: mg.grad(y, [y]),
        lambda y: y.version,
        lambda y: mg.tensor(y),
    ],
)
def test_a_value_that_is_needed_is_computed_and_no_more(ask: Any) -> None:
    x = mg.tensor(2.0, requires_grad=True)
    with mg.record() as log, mg.lazy_batch():
        y, z = mg.exp(x) * 3, mg.tanh(x)
        ask(y)
        names = [event.op.name for event in log.of_kind("run")]
        assert names[:2] == ["Exp", "Mul"]
        assert "Tanh" not in names
        again = y + z
    assert again.item() == pytest.approx(3 * np.exp(2) + np.tanh(2))


def test_control_flow_may_depend_on_values() -> None:
    w = mg.randn(4, 4, seed=0, requires_grad=True)
    xs = [mg.tensor(np.full(4, s), requires_grad=False) for s in (-2.0, 0.5, 3.0, -0.1, 1.0, 0.2)]

    def losses() -> list[Any]:
        parts = []
        for x in xs:
            h = x.astype(np.float32) @ w
            if h.sum() > 0:
                h = mg.tanh(h)
            while mg.abs(h).max() > 0.5:
                h = h * 0.5
            parts.append((h @ w).sum())
        return parts

    plain, lazy = (trained([w], losses, mode) for mode in MODES)
    close(lazy[0], plain[0], 1e-5)
    close(lazy[1], plain[1], 1e-5)
    last = [e.node.size for e in lazy[2].of_kind("group") if e.op.name == "MatMul"]
    assert max(last) > 1, "the end of each sample still runs with the others"


def test_python_numbers_may_differ_from_sample_to_sample() -> None:
    x = mg.tensor([1.0, 2.0], requires_grad=True)

    def losses() -> list[Any]:
        return [(mg.exp(x) * k / (k + 1) - k).sum() for k in (1, 2.5, 3, -0.0, 7)]

    plain, lazy = (trained([x], losses, mode) for mode in MODES)
    assert [a.tobytes() for a in lazy[0]] == [a.tobytes() for a in plain[0]]
    close(lazy[1], plain[1], 1e-6)
    groups = [str(e.node) for e in lazy[2].of_kind("group")]
    assert {"Mul × 3", "Mul × 2"} <= set(groups), "integers with integers, floats with floats"


def test_a_long_sum_is_one_running_sum_with_the_same_bits() -> None:
    xs = [mg.tensor(v, requires_grad=True) for v in np.random.default_rng(0).random(50, np.float32)]
    found = []
    for mode in MODES.values():
        with mg.record() as log, mode():
            partial = [mg.exp(xs[0])]
            for x in xs[1:]:
                partial.append(partial[-1] + mg.exp(x))
        found.append([p.item() for p in partial])
        count = log.counts.run
    assert found[0] == found[1]
    assert count < 10
    partial[-1].backward()
    np.testing.assert_allclose([x.grad.item() for x in xs], np.exp([x.item() for x in xs]), 1e-6)


def test_results_at_hand_and_noted_ones_mix() -> None:
    x = mg.randn(3, seed=0, requires_grad=True)
    before = x * 2
    with mg.lazy_batch():
        first = before + x
        _ = first.tolist()
        second = first * before - np.ones(3, np.float32)
    third = second + before + first
    third.sum().backward()
    expected = x.data * 2 * x.data * 3 - 1 + x.data * 2 + x.data * 3
    np.testing.assert_allclose(third.data, expected, rtol=1e-6)
    np.testing.assert_allclose(x.grad.data, 12 * x.data + 5, rtol=1e-6)


def test_gradients_of_results_in_the_middle() -> None:
    x = mg.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], requires_grad=True)
    with mg.lazy_batch():
        hidden = [mg.exp(x[i]) for i in range(3)]
        losses = [(h * h).sum() for h in hidden]
        total = losses[0] + losses[1] + losses[2]
    later = total + hidden[1].sum()
    g = mg.grad(later, hidden, retain_graph=True)
    for i, (h, part) in enumerate(zip(hidden, g, strict=True)):
        np.testing.assert_allclose(part.data, 2 * h.data + (i == 1), rtol=1e-6)
    np.testing.assert_allclose(mg.grad(later, x)[0].data, (2 * np.exp(2 * x.data[0])), rtol=1e-6)


def test_higher_orders() -> None:
    net, trees = TreeNet(4, np.float64), random_trees(4, 2, 6)
    found = []
    for mode in MODES.values():
        with mode():
            total = sum(net.loss(tree) for tree in trees)
        first = mg.grad(total, net.parameters, create_graph=True)
        (second,) = mg.grad(sum((g * g).sum() for g in first), [net.left])
        found.append([*(g.data for g in first), second.data])
    close(found[1], found[0], 1e-10)


def test_the_tape_may_be_off_outside_or_inside() -> None:
    x = mg.tensor([1.0, 2.0], requires_grad=True)
    with mg.lazy_batch():
        with mg.no_grad():
            a = x * 3
        b = x * 3
        c = a * b
    assert (a.requires_grad, b.requires_grad) == (False, True)
    with mg.no_grad():
        shown = c.tolist()
    assert shown == [9, 36]
    c.sum().backward()
    assert x.grad.tolist() == [9, 18]
    with mg.no_grad(), mg.lazy_batch():
        d = x * x
    assert d.creator is None
    assert not d.requires_grad


def test_training_inside_the_block() -> None:
    """An in-place change comes after what was noted before it."""
    found = []
    for mode in MODES.values():
        w = mg.tensor([[1.0, -1.0], [0.5, 2.0]], requires_grad=True)
        optimizer = mg.optim.SGD([w], lr=0.1)
        with mode():
            x = mg.tensor([1.0, 2.0])
            for _ in range(3):
                late = (x @ w).sum()
                optimizer.zero_grad()
                ((x @ w) ** 2).sum().backward()
                optimizer.step()
        found.append((w.data, late.item()))
    np.testing.assert_allclose(found[1][0], found[0][0], rtol=1e-6)
    assert found[1][1] == pytest.approx(found[0][1])


def test_a_sum_may_be_written_with_plus_equals() -> None:
    xs = [mg.tensor([float(i), 1.0], requires_grad=True) for i in range(1, 6)]
    with mg.record() as log, mg.lazy_batch():
        total: Any = 0
        for x in xs:
            total += mg.exp(x).sum()
        first = total
        total *= 2
        total -= 1
        assert log.counts.run == 0
    assert first is total
    total.backward()
    np.testing.assert_allclose(xs[1].grad.data, 2 * np.exp([2, 1]), rtol=1e-6)
    assert total.item() == pytest.approx(2 * sum(float(np.exp(x.data).sum()) for x in xs) - 1)


def test_other_changes_in_place_work_on_values() -> None:
    x = mg.tensor([1.0, 2.0], requires_grad=True)
    with mg.lazy_batch():
        h = x * 3
        doubled = h * 2
        h[0] = 5.0
        later = h + 0
        h.add_(mg.tensor([1.0, 1.0], dtype=mg.float64))
        start = mg.tensor([1.0, 1.0])
        start += h
        h.zero_()
    assert doubled.tolist() == [6, 12]
    assert later.tolist() == [5, 6]
    assert start.tolist() == [7, 8]
    assert h.tolist() == [0, 0]
    assert start.dtype == h.dtype == mg.float32
    start.sum().backward()
    assert x.grad.tolist() == [0, 3]


def test_what_is_noted_keeps_its_history_where_it_is_put() -> None:
    x = mg.tensor([1.0, 2.0], requires_grad=True)
    with mg.lazy_batch():
        h = x * 3
        added, copied, item = mg.zeros(2), mg.zeros(2), mg.zeros(2)
        added += h
        copied.copy_(x * 5)
        item[0] = (x * 7)[1]
    for y, expected in ((added, [3, 3]), (copied, [5, 5]), (item, [0, 7])):
        x.zero_grad()
        y.sum().backward()
        assert x.grad.tolist() == expected


def test_matrices_of_the_samples_are_read_again_after_a_run_in_the_block() -> None:
    matrices = [mg.randn(3, 3, seed=i) for i in range(4)]
    with mg.lazy_batch():
        first = [x @ mg.randn(3, seed=9) for x in matrices]
        assert np.isfinite(sum(y.sum() for y in first).item())
        second = [x @ mg.randn(3, seed=9) for x in matrices]
    for a, b in zip(first, second, strict=True):
        assert a.tolist() == b.tolist()


def test_hooks_are_for_results_outside() -> None:
    x = mg.randn(2, 3, seed=0, requires_grad=True)
    with mg.lazy_batch():
        rows = [mg.exp(x[i]) for i in range(2)]
        alone = mg.tanh(x).sum()
    for ask in ("retain_grad", "register_hook"):
        with pytest.raises(mg.GradientError, match=r"row of a batch.*mg.grad"):
            getattr(rows[0], ask)(*[print] * (ask == "register_hook"))
    seen: list[Any] = []
    alone.register_hook(lambda g: seen.append(g.item()))
    (alone * 3).backward()
    assert seen == [3]


def test_a_function_that_was_traced_may_be_called_inside() -> None:
    x = mg.tensor([1.0, 2.0], requires_grad=True)
    f = mg.function(lambda v: mg.tanh(v) * 2)
    with mg.lazy_batch():
        y = f(x * 3) + 1
    y.sum().backward()
    np.testing.assert_allclose(x.grad.data, 6 * (1 - np.tanh(3 * x.data) ** 2), rtol=1e-5)


def test_graphs_are_built_as_outside() -> None:
    with mg.Graph(), mg.lazy_batch():
        p = mg.placeholder("p", shape=(2,))
        doubled = mg.tensor([1.0, 2.0]) * 2
        y = p * 3 + doubled.detach()
        assert isinstance(y, mg.Node)
        graph = mg.build_graph(p, y)
    assert mg.run(graph, {"p": [1.0, 1.0]}).tolist() == [5, 7]


# ---- Errors ---------------------------------------------------------------------------------


def test_a_shape_that_does_not_fit_is_refused_at_its_line() -> None:
    w = mg.randn(3, 3, requires_grad=True)
    with pytest.raises(mg.ShapeError) as caught, mg.lazy_batch():  # noqa: PT012
        fine = mg.randn(3) @ w
        mg.randn(4) @ w  # this one
    assert "# this one" in str(caught.value)
    assert "(4,), (3, 3)" in str(caught.value)
    assert context.now.active_reader is None
    with pytest.raises(mg.GraphError, match="never computed"):
        fine.item()


def test_an_error_of_the_run_names_the_line_and_the_shapes_of_the_member() -> None:
    scores = mg.randn(4, 3, seed=0, requires_grad=True)
    labels = [mg.tensor(k) for k in (0, 2, 5, 1)]
    with pytest.raises(mg.ShapeError) as caught, mg.lazy_batch():  # noqa: PT012
        losses = []
        for i in range(4):
            row = mg.tanh(scores[i])
            losses.append(mg.nn.functional.cross_entropy(row[None], labels[i][None]))  # here
    text = str(caught.value)
    assert "label 5 is outside 0 to 2" in text
    assert "# here" in text
    assert context.now.active_reader is None
    with pytest.raises(mg.GraphError, match="never computed"):
        _ = losses[0].data
    with mg.lazy_batch():
        again = mg.tanh(scores).sum()
    assert np.isfinite(again.item())


def test_nan_is_found_where_it_was_noted() -> None:
    xs = [mg.tensor(v) for v in (1.0, 2.0, -1.0, 3.0)]
    with pytest.raises(mg.NumericError) as caught, mg.detect_anomaly(), mg.lazy_batch():  # noqa: PT012
        for x in xs:
            mg.log(x * 2)  # of a negative number
    assert "# of a negative number" in str(caught.value)
    assert "in 1 place" in str(caught.value)


def test_an_exception_of_the_user_drops_what_is_pending() -> None:
    x = mg.tensor(1.0, requires_grad=True)
    with mg.record() as log, pytest.raises(KeyError), mg.lazy_batch():  # noqa: PT012
        y = mg.exp(x)
        raise KeyError
    assert log.counts.run == 0
    with pytest.raises(mg.GraphError, match=r"Exp.*never computed") as caught:
        y + 1
    assert "y = mg.exp(x)" in str(caught.value)
    assert mg.exp(x).creator is not None


def test_a_block_inside_a_block_is_part_of_it() -> None:
    xs = [mg.tensor(float(i)) for i in range(3)]
    with mg.record() as log, mg.lazy_batch():
        a = mg.exp(xs[0])
        with mg.lazy_batch():
            b = mg.exp(xs[1])
        with contextlib.suppress(KeyError), mg.lazy_batch():
            raise KeyError
        c = mg.exp(xs[2])
        assert log.counts.run == 0
    assert [event.node.size for event in log.of_kind("group")] == [3]
    assert [v.item() for v in (a, b, c)] == pytest.approx(np.exp([0, 1, 2]))


def test_threads_do_not_see_each_other() -> None:
    x = mg.tensor([1.0, 2.0], requires_grad=True)
    inside, done = threading.Event(), threading.Event()
    kinds: list[Any] = []

    def other() -> None:
        inside.wait(10)
        kinds.append(type(x * 2))
        with mg.lazy_batch():
            kinds.append(type(mg.exp(x)))
        done.set()

    thread = threading.Thread(target=other)
    thread.start()
    with mg.lazy_batch():
        y = mg.exp(x)
        inside.set()
        assert done.wait(10)
        assert type(y) is PendingTensor
    thread.join()
    assert kinds == [mg.Tensor, PendingTensor]


# ---- Events ---------------------------------------------------------------------------------


def test_events_tell_what_was_noted_and_what_ran_together() -> None:
    net, trees = TreeNet(4), [((1, 2), 3), (4, (5, 6)), 7]
    with mg.record() as log:
        with mg.lazy_batch():
            losses = [net.loss(tree) for tree in trees]
            births = len(log.events)
        assert [event.kind for event in log.events[:births]] == ["noted"] * births
    notes = [event.node for event in log.of_kind("noted")]
    groups = [event.node for event in log.of_kind("group")]
    assert all(type(note) is OperationNote for note in notes)
    assert all(type(group) is BatchedRun for group in groups)
    members = [note for group in groups for note in group.members]
    source = Path(__file__).read_text("utf-8")
    assert sorted(members, key=lambda note: note.order) == notes, "each ran in one group"
    for group in groups:
        assert {note.group for note in group.members} == {group.number}
        assert {note.op for note in group.members} == {group.op}
        assert str(group) == f"{group.op} × {group.size}"
        for note in group.members:
            sources = [x for x in note.inputs if isinstance(x, OperationNote)]
            assert note.depth == 1 + max([x.depth for x in sources], default=-1)
            assert all(x.order < note.order for x in sources)
            assert note.where.text in source
    tanh = max((g for g in groups if g.op.name == "Tanh"), key=lambda g: g.size)
    assert (tanh.size, tanh.how, tanh.members[0].shape) == (2, "batched", (4,))
    table = {id(x) for note in notes for x in note.inputs if isinstance(x, mg.Tensor)}
    assert table == {id(p) for p in net.parameters}
    ticks = {event.node: event.tick for event in log.of_kind("group", "noted")}
    assert all(ticks[note] < ticks[group] for group in groups for note in group.members)
    assert losses[2].item() == pytest.approx(float((net.table.data[7] ** 2).sum()))


def test_a_recording_that_begins_late_still_tells_of_the_groups() -> None:
    x = mg.tensor([1.0, 2.0], requires_grad=True)
    with mg.lazy_batch():
        ys = [mg.exp(x) * k for k in (1.0, 2.0)]
        with mg.record() as log:
            ys[0].tolist()
    (exp, mul) = (event.node for event in log.of_kind("group"))
    assert (exp.size, mul.size) == (2, 2)
    assert mul.members[0].inputs[0] is exp.members[0]


def test_nodes_of_the_tape_name_the_line_of_a_member() -> None:
    x = mg.randn(3, 2, seed=0, requires_grad=True)
    with mg.lazy_batch():
        parts = [mg.tanh(x[i]).sum() for i in range(3)]  # the line
        total = parts[0] + parts[1] + parts[2]
    total.backward()
    with pytest.raises(mg.GradientError) as caught:
        total.backward()
    assert "test_lazy.py" in str(caught.value)
    node = parts[0].creator.inputs[0]
    assert "# the line" in node.where.text


# ---- Memory and time ------------------------------------------------------------------------


def test_nothing_is_kept_alive_by_a_cycle() -> None:
    gc.collect()
    gc.disable()
    try:
        net = TreeNet(4)
        with mg.lazy_batch():
            total = sum(net.loss(tree) for tree in random_trees(4, 2, 8))
        total.backward()
        ref = weakref.ref(total.creator)
        held = weakref.ref(net.table)
        del total, net
        assert ref() is None
        assert held() is None
    finally:
        gc.enable()


def test_a_chain_of_10000_operations() -> None:
    def seconds(n: int) -> float:
        x = mg.tensor(1.0, requires_grad=True)
        start = time.process_time()
        with mg.lazy_batch():
            y = mg.exp(x) * 0
            for _ in range(n // 2):
                y = (y + x) * 0.5
        y.backward()
        assert x.grad.item() == pytest.approx(1)
        return time.process_time() - start

    small = min(seconds(1_000) for _ in range(3))  # the first one prepares
    assert seconds(10_000) < 20 * small

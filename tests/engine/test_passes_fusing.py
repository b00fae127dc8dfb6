"""Fusion: which nodes become one kernel, in which order, and in how much memory."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pytest
from bits import same_bits

import minigrad as mg

pytestmark = pytest.mark.usefixtures("own_graph")


VALUES = np.random.default_rng(0).standard_normal(5).astype(np.float32)


def test_a_region_and_its_gradient_become_one_kernel() -> None:
    x, a, b = (mg.placeholder(n, (1000,)) for n in "xab")
    y = mg.sigmoid(a * x + b) * mg.tanh(b * x + a) + x
    graph = mg.build_graph([x, a, b], [y, *mg.gradients(y, [x, a, b])])
    better = graph.optimize()
    assert better.counted()["Fused"] == 1
    feeds = {n: np.random.default_rng(i).standard_normal(1000) for i, n in enumerate("xab")}
    with mg.record() as log:
        found = mg.run(better, feeds)
    assert log.counts.by_op["Fused"] == 1
    same_bits(found, mg.run(graph, feeds))


def test_bias_and_activation_join_the_product() -> None:
    """E9: convolution and ReLU, 2 kernels → 1; and a linear layer with its activation."""
    image = mg.placeholder("image", (2, 1, 8, 8))
    conv = mg.nn.Conv2d(1, 3, 3, bias=False, seed=0)
    weight = mg.constant(conv.weight.data)
    graph = mg.build_graph(image, mg.relu(mg.nn.functional.conv2d(image, weight)))
    better = graph.optimize()
    kernels = [n.op.name for n in better.nodes if not n.op.effect]
    assert kernels == ["Fused"]
    data = np.random.default_rng(0).standard_normal((2, 1, 8, 8))
    same_bits([mg.run(better, {image: data})], [mg.run(graph, {image: data})])


def test_what_lies_between_two_members_is_not_fused_away() -> None:
    """exp(x) feeds a sum, and the sum comes back: the two element-wise parts stay apart."""
    x = mg.placeholder("x", (5,))
    e = mg.exp(x)
    graph = mg.build_graph(x, mg.tanh(e / e.sum() * e))
    better = graph.optimize()
    same_bits([mg.run(better, {x: VALUES})], [mg.run(graph, {x: VALUES})])
    assert better.counted()["Fused"] == 1, "the division, the product and tanh"
    assert better.counted()["Exp"] == 1


def test_regions_do_not_wait_for_each_other() -> None:
    """Two pairs, each of which would be one kernel; but each needs a sum of the other's first."""
    x = mg.placeholder("x", (5,))
    a, b = mg.tanh(x), mg.exp(x)
    s, r = a.sum(), b.sum()
    graph = mg.build_graph(x, [a * r, b * s])
    better = graph.optimize(["fuse"])
    same_bits(mg.run(better, {x: VALUES}), mg.run(graph, {x: VALUES}))


def test_a_region_waits_for_what_comes_late() -> None:
    """tanh(a) is ready long before the product; it still becomes part of the kernel behind it."""
    a, w = mg.placeholder("a", (4, 4)), mg.constant(np.eye(4, dtype=np.float32))
    t = mg.tanh(a) + 1
    graph = mg.build_graph(a, mg.exp(t * (mg.relu(a @ w) @ w)))
    better = graph.optimize()
    assert [n.op.name for n in better.nodes if not n.op.effect] == ["Fused", "Fused"]
    same_bits([mg.run(better, {a: np.eye(4)})], [mg.run(graph, {a: np.eye(4)})])


@pytest.mark.parametrize("optimize", [False, True])
def test_what_reads_a_branch_of_open_length(optimize: bool) -> None:
    """What a branch gives has a length only when it ran; the results beside it have theirs."""
    x = mg.placeholder("x", (None, 2))
    c = mg.cond(x.sum() > 0, lambda: mg.tanh(x), lambda: x - 1)
    graph = mg.build_graph(x, [mg.tanh(x + c) * 2, c.sum(), mg.gradients(mg.mean(c), x)[0]])
    program = graph.compile(optimize=optimize)
    for n in (3, 5):
        data = np.random.default_rng(n).standard_normal((n, 2))
        same_bits(program({x: data}), mg.run(graph, {x: data}))


# ---- Memory -------------------------------------------------------------------------------------

BATCH, WIDTH, LAYERS = 4096, 8, 5  # a layer's result is so large that nothing else counts
ARRAY = 4 * BATCH * WIDTH


def layered(activation: Any, x: Any, weights: list[Any]) -> Any:
    for w in weights:
        x = activation(x @ w + w[0])
    return mg.mean(x * x)


def training(activation: Any) -> mg.Graph:
    x = mg.placeholder("x", (BATCH, WIDTH))
    weights = [mg.placeholder(f"w{i}", (WIDTH, WIDTH)) for i in range(LAYERS)]
    loss = layered(activation, x, weights)
    return mg.build_graph([x, *weights], [loss, *mg.gradients(loss, weights)])


def data() -> list[Any]:
    random = np.random.default_rng(0)
    shapes = [(BATCH, WIDTH), *[(WIDTH, WIDTH)] * LAYERS]
    return [random.standard_normal(shape).astype(np.float32) / 2 for shape in shapes]


def tape_peak(activation: Any) -> int:
    """The most bytes that a training step on the tape has alive, as the allocator tells it."""
    first, *rest = data()
    x, weights = mg.tensor(first), [mg.tensor(w, requires_grad=True) for w in rest]
    layered(activation, x, weights).backward()  # what is made once is made now
    for w in weights:
        w.grad = None
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        layered(activation, x, weights).backward()
        return tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()


def arrays_of(graph: mg.Graph) -> float:
    """The planned memory, in results of a layer."""
    return graph.compile(optimize=False).plan.bytes / ARRAY


ACTIVATIONS: dict[str, Any] = {
    "tanh": mg.tanh,
    "sigmoid": mg.sigmoid,
    "relu": mg.relu,
    "softplus": mg.softplus,
    "gelu": mg.gelu,
    "swish": lambda x: x * mg.sigmoid(x),
    "both": lambda x: mg.sin(x) * mg.tanh(x),
}


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_fusion_needs_no_more_memory_than_the_tape(name: str) -> None:
    graph = training(ACTIVATIONS[name])
    better = graph.optimize()
    assert arrays_of(better) <= arrays_of(graph)
    assert arrays_of(better) <= tape_peak(ACTIVATIONS[name]) / ARRAY + 0.5
    feeds = dict(zip(graph.inputs, data(), strict=True))
    same_bits(mg.run(better, feeds), mg.run(graph, feeds))


@pytest.mark.parametrize("name", ["tanh", "sigmoid", "relu"])
def test_the_derivative_is_a_matter_of_backward(name: str) -> None:
    """1 − y² needs y alone, which is there until then: forward regions give one array each.

    A mask beside it, such as y > 0, is a quarter of one.
    """
    better = training(ACTIVATIONS[name]).optimize()
    assert arrays_of(better) <= LAYERS + 1.5
    regions = [n.attrs["body"] for n in better.nodes if n.op.name == "Fused"]
    results = [sum(y.dtype.kind == "f" for y in body.outputs) for body in regions]
    assert results[:LAYERS] == [1] * (LAYERS - 1) + [2], "the last layer's gradient comes at once"
    assert max(results[LAYERS:]) == 1


def test_what_needs_more_than_it_frees_stays() -> None:
    """cos(z) could be left to backward as well; but then z would have to be kept for it."""
    x, w = mg.placeholder("x", (4, 3)), mg.placeholder("w", (3, 3))
    z = x @ w * 2
    y = mg.exp(mg.sin(z) @ w).sum()
    better = mg.build_graph([x, w], [y, mg.gradients(y, x)[0]]).optimize()
    first = next(n for n in better.nodes if n.op.name == "Fused")
    assert [y.op.name for y in first.attrs["body"].outputs] == ["Sin", "Cos"]


def test_what_reads_single_numbers_alone_is_computed_once() -> None:
    """The gradient of scaled layers is one number, repeated; nothing of its size lies beside it."""
    x = y = mg.placeholder("x", (10_000,))
    number = mg.placeholder("s", ())
    for _ in range(9):
        y = y * 1.01
    graph = mg.build_graph([x, number], mg.gradients(mg.sum(y * number), x)[0])
    better = graph.optimize()
    assert better.counted() == {"Placeholder": 2, "Constant": 1, "Mul": 9, "BroadcastTo": 1}
    feeds = {"x": np.ones(10_000, np.float32), "s": 1.7}
    same_bits([mg.run(better, feeds)], [mg.run(graph, feeds)])
    assert graph.compile().plan.bytes < 1000


def test_what_could_fail_for_a_single_number_is_not_computed_for_it() -> None:
    """Of no elements none is a negative power; and what has another shape is not the result."""
    x, a = mg.placeholder("x", (0,)), mg.placeholder("a", (), mg.int64)
    base = mg.broadcast_to(a, (0,))
    row, column = mg.broadcast_to(a, (1, 3)), mg.broadcast_to(a, (2, 1))
    graph = mg.build_graph([x, a], [mg.pow(base, mg.constant(-1)), row + column])
    empty, whole = mg.run(graph.optimize(["stretch"]), {"x": [], "a": 2})
    assert (empty.shape, whole.tolist()) == ((0,), [[4] * 3] * 2)

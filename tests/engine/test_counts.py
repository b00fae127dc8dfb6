"""What a recording counts of one training step: the same kernels in both modes, part by part."""

from __future__ import annotations

import gc
import tracemalloc
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import minigrad as mg

LABELS = np.array([0, 1, 2, 0, 1])
VIEWS = Counter({"Reshape": 99, "ReshapeLike": 99})  # a program gives them no kernel
OPTIMIZERS: dict[str, Callable[[Any], mg.optim.Optimizer]] = {
    "SGD": lambda params: mg.optim.SGD(params, lr=0.1),
    "momentum": lambda params: mg.optim.SGD(params, lr=0.1, momentum=0.9, weight_decay=0.01),
    "Adam": lambda params: mg.optim.Adam(params, lr=0.1),
    "AdamW": lambda params: mg.optim.AdamW(params, lr=0.1),
}


class Model(mg.nn.Module):
    shape: tuple[int, ...] = (5, 12)
    layers: mg.nn.Sequential

    def loss(self, x: Any, t: Any) -> Any:
        return mg.cross_entropy(self.layers(x), t)


class Perceptron(Model):
    def __init__(self) -> None:
        super().__init__()
        self.layers = mg.nn.Sequential(
            mg.nn.Linear(12, 8, seed=1), mg.nn.ReLU(), mg.nn.Linear(8, 3, seed=2)
        )


class Convolutions(Model):
    shape = (5, 1, 8, 8)

    def __init__(self) -> None:
        super().__init__()
        self.layers = mg.nn.Sequential(
            *(mg.nn.Conv2d(1, 4, 3, seed=1), mg.nn.ReLU(), mg.nn.MaxPool2d(2)),
            *(mg.nn.Flatten(), mg.nn.Linear(36, 3, seed=2)),
        )


class Normalised(Model):
    def __init__(self) -> None:
        super().__init__()
        self.layers = mg.nn.Sequential(
            *(mg.nn.Linear(12, 8, seed=1), mg.nn.LayerNorm(8)),
            *(mg.nn.GELU(), mg.nn.Dropout(0.5, seed=3), mg.nn.Linear(8, 3, seed=2)),
        )


class Unrolled(Model):
    """A recurrent network whose steps are written one after the other."""

    shape = (5, 4, 6)

    def __init__(self) -> None:
        super().__init__()
        self.given, self.mine = mg.nn.Linear(6, 7, seed=1), mg.nn.Linear(7, 7, seed=2)
        self.out = mg.nn.Linear(7, 3, seed=3)

    def loss(self, x: Any, t: Any) -> Any:
        state = mg.tanh(self.given(x[:, 0]))
        for i in range(1, 4):
            state = mg.tanh(self.given(x[:, i]) + self.mine(state))
        return mg.cross_entropy(self.out(state), t)


class Odds(Model):
    """Values that are used twice, stretched, picked, joined, or of which the shape is read."""

    shape = (5, 4)

    def __init__(self) -> None:
        super().__init__()
        self.w = mg.randn(6, 4, seed=1, requires_grad=True)
        self.b = mg.randn(4, seed=2, requires_grad=True)

    def loss(self, x: Any, t: Any) -> Any:
        rows = self.w[t]
        h = mg.softmax(rows + self.b, axis=1) * x
        h = (h - mg.mean(h, axis=1, keepdims=True)) / mg.sqrt(mg.mean(h * h) + 1e-5)
        h = mg.concatenate([h, rows], axis=1) ** 2.0
        h = mg.where(h > 0.5, h, 2.0 / mg.exp(h))
        return mg.mean(h.T.reshape(-1)[2:]) + mg.max(h) + mg.logsumexp(h.reshape(-1), axis=0)


MODELS = [Perceptron, Convolutions, Normalised, Unrolled, Odds]
every_model = pytest.mark.parametrize("make", MODELS, ids=lambda model: model.__name__)


def images(make: type[Model]) -> Any:
    return np.random.default_rng(1).standard_normal(make.shape).astype(np.float32)


def dynamic(make: type[Model], optimizer: str = "") -> mg.Recording:
    """What one training step tells as a dynamic graph."""
    model = make()
    params = list(model.parameters())
    trainer = OPTIMIZERS[optimizer](params) if optimizer else None
    with mg.record() as log:
        loss = model.loss(mg.tensor(images(make)), mg.tensor(LABELS))
        loss.backward()
        if trainer is not None:
            trainer.step()
    return log


def graph_of(make: type[Model], optimizer: str = "") -> tuple[mg.Graph, dict[Any, Any]]:
    """The same step as a graph, and its feeds."""
    model = make()
    with mg.Graph() as graph:
        x = mg.placeholder("x", shape=make.shape)
        t = mg.placeholder("t", shape=LABELS.shape, dtype=mg.int64)
        loss = model.loss(x, t)
        params = [graph.lift(p) for p in model.parameters()]
        if optimizer:
            more = [OPTIMIZERS[optimizer](params).minimize(loss)]
        else:
            more = mg.gradients(loss, params)
        return mg.build_graph([x, t], [loss, *more]), {x: images(make), t: LABELS}


def by_session(make: type[Model], optimizer: str = "") -> mg.Recording:
    graph, feeds = graph_of(make, optimizer)
    with graph.outputs[0].graph, mg.Session() as session:
        session.run(mg.global_variables_initializer())
        with mg.record() as log:
            session.run(list(graph.outputs), feeds)
    return log


def by_program(make: type[Model]) -> mg.Recording:
    graph, feeds = graph_of(make)
    program = graph.compile(optimize=False)
    with mg.record() as log:
        program(feeds)
    return log


def parts(log: mg.Recording) -> tuple[int, ...]:
    counts = log.counts
    return counts.forward, counts.backward, counts.update, counts.multiplications


def names(log: mg.Recording, phase: str) -> Counter[str]:
    return Counter(str(e.op) for e in log.of_kind("run") if e.phase == phase)


@every_model
def test_a_step_runs_the_same_kernels_in_both_modes(make: type[Model]) -> None:
    eager, static = dynamic(make), by_session(make)
    assert parts(eager) == parts(static)
    assert eager.counts.backward > eager.counts.forward, "two gradients for most operators"
    for phase in ("forward", "backward", "update"):
        assert names(eager, phase) == names(static, phase)
    assert (
        eager.counts.by_op
        == static.counts.by_op
        == names(eager, "forward") + names(eager, "backward")
    )


@every_model
def test_a_program_that_is_not_optimised_runs_them_too(make: type[Model]) -> None:
    """Apart from reshapes, which in a program are names of the same memory."""
    eager, program = dynamic(make), by_program(make)
    for phase in ("forward", "backward"):
        assert names(program, phase) == names(eager, phase) - VIEWS
    assert program.counts.multiplications == eager.counts.multiplications


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_the_update_is_counted_apart(optimizer: str) -> None:
    eager, static = (f(Perceptron, optimizer) for f in (dynamic, by_session))
    assert parts(eager) == parts(static)
    assert names(eager, "update") == names(static, "update")
    assert names(eager, "update")["Assign"] >= 4, "each parameter, and what is kept for it"
    assert parts(eager)[:2] == parts(dynamic(Perceptron))[:2]


def test_running_statistics_are_renewed_by_as_many() -> None:
    class Batches(Convolutions):
        def __init__(self) -> None:
            super().__init__()
            self.layers = mg.nn.Sequential(
                *(mg.nn.Conv2d(1, 4, 3, seed=1), mg.nn.BatchNorm2d(4)),
                *(mg.nn.Flatten(), mg.nn.Linear(144, 3, seed=2)),
            )

    assert parts(dynamic(Batches, "SGD")) == parts(by_session(Batches, "SGD"))


def test_what_is_built_differs() -> None:
    eager = dynamic(Perceptron)
    with mg.record() as static:
        graph, _ = graph_of(Perceptron)
    assert {e.phase for e in eager.of_kind("built")} == {"forward"}
    assert eager.counts.built == names(eager, "forward").total() == 7
    kinds = Counter(e.phase for e in static.of_kind("built"))
    assert kinds["backward"] >= eager.counts.backward
    assert static.counts.run == 0
    assert kinds.total() == len(graph.outputs[0].graph.nodes)


def test_a_second_pass_adds_to_the_gradients() -> None:
    x = mg.tensor(3.0, requires_grad=True)
    for expected in (0, 1):
        with mg.record() as log:
            (2 * x).backward()
        assert names(log, "backward")["Add"] == expected


def test_a_pass_that_is_recorded_counts_as_backward() -> None:
    x = mg.tensor([1.0, 2.0], requires_grad=True)
    with mg.record() as log:
        (dx,) = mg.grad((x * x * x).sum(), [x], create_graph=True)
        first = log.counts.backward
        mg.grad(dx.sum(), [x])
    assert first > 3
    assert log.counts.backward > 2 * first
    assert log.counts.forward == 4


def test_a_step_of_a_scan_runs_again_on_the_way_back() -> None:
    """The loop keeps its states alone: the static count is the larger one, and says so."""
    layer = mg.nn.RNN(6, 7, seed=1)
    with mg.Graph() as graph:
        x = mg.placeholder("x", shape=(4, 5, 6))
        loss = layer(x)[0].sum()
        found = mg.gradients(loss, [graph.lift(p) for p in layer.parameters()])
        program = mg.build_graph(x, [loss, *found]).compile(optimize=False)
    with mg.record() as log:
        program({x: np.ones((4, 5, 6))})
    assert (names(log, "forward")["Tanh"], names(log, "backward")["Tanh"]) == (4, 4)


def test_a_traced_function_tells_its_backward_pass() -> None:
    x = mg.tensor([1.0, 2.0], requires_grad=True)

    def plain(x: Any) -> Any:
        return (mg.tanh(x) * x).sum()

    with mg.record() as eager:
        plain(x).backward()
    x.zero_grad()
    traced = mg.function(plain)
    traced(x).backward()
    x.zero_grad()
    with mg.record() as called:
        traced(x).backward()
    assert names(called, "forward") == names(eager, "forward")
    assert names(called, "backward") == names(eager, "backward")


def test_an_optimizer_written_for_arrays_tells_what_it_assigns() -> None:
    class Signs(mg.optim.Optimizer):
        def rule(self, p: Any, g: Any, *slots: Any) -> tuple[Any, ...]:
            return (p - 0.5 * np.sign(g),)

    p = mg.tensor([3.0, -3.0], requires_grad=True)
    (p * p).sum().backward()
    with mg.record() as log:
        Signs([p]).step()
    assert p.tolist() == [2.5, -2.5]
    assert (log.counts.update, log.counts.by_op) == (1, {"Assign": 1})


# ---- To listen changes nothing ------------------------------------------------------------------


@pytest.mark.cases(10)
@every_model
@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_who_listens_gets_the_same_bits(make: type[Model], optimizer: str) -> None:
    def trained() -> list[bytes]:
        model = make()
        trainer = OPTIMIZERS[optimizer](list(model.parameters()))
        for _ in range(3):
            trainer.zero_grad()
            model.loss(mg.tensor(images(make)), mg.tensor(LABELS)).backward()
            trainer.step()
        return [np.asarray(p.data).tobytes() for p in model.parameters()]

    alone = trained()
    with mg.record():
        assert trained() == alone
    with mg.detect_anomaly():
        assert trained() == alone


def test_hooks_and_retained_gradients_stay_what_they_are() -> None:
    def run() -> tuple[Any, ...]:
        x = mg.tensor([1.0, 2.0], requires_grad=True)
        y = x * x
        y.retain_grad()
        y.register_hook(lambda g: g * 10)
        seen: list[Any] = []
        x.register_hook(lambda g: seen.append(type(g)))
        (y * y).sum().backward()
        assert not x.grad.requires_grad
        return x.grad.tolist(), y.grad.tolist(), seen

    alone = run()
    with mg.record():
        assert run() == alone


def test_gradients_of_two_leaves_share_no_memory() -> None:
    with mg.record():
        a, b = (mg.tensor([1.0, 2.0], requires_grad=True) for _ in range(2))
        (a + b).backward([1.0, 1.0])
        a.grad.data[...] = 7
    assert b.grad.tolist() == [1, 1]


def test_clipping_is_told() -> None:
    x = mg.tensor([3.0, 4.0], requires_grad=True)
    (x * x).sum().backward()
    with mg.record() as log:
        norm = mg.optim.clip_grad_norm(x, 1.0)
        mg.optim.clip_grad_value(x, 0.5)
    assert (float(norm), type(norm)) == (10.0, np.float32)
    assert x.grad.tolist() == [0.5, 0.5]
    assert (log.counts.by_op["Sqrt"], log.counts.by_op["Clip"]) == (1, 1)
    assert log.counts.by_op["Assign"] == 2


# ---- Bytes, beside what the allocator says ------------------------------------------------------

SIZE = 1 << 16  # elements; so large that what else is alive does not count


def chain(x: Any) -> Any:
    for _ in range(6):
        x = mg.tanh(x)
    return x.sum()


def products(x: Any) -> Any:
    y = x + 1
    return (x * y * x * y).sum()


def squares(x: Any) -> Any:
    h = x.reshape(256, 256)
    for _ in range(3):
        h = mg.tanh(h @ h)
    return mg.mean(h)


def peak(step: Callable[[], object]) -> int:
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        step()
        return tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("model", [chain, products, squares])
@pytest.mark.parametrize("mode", ["dynamic", "static"])
def test_bytes_are_those_of_the_arrays_that_were_alive(
    mode: str, model: Callable[[Any], Any]
) -> None:
    x = mg.tensor(np.full(SIZE, 1.001, np.float32), requires_grad=True)
    with mg.Graph():
        p = mg.placeholder("p", shape=(SIZE,))
        y = model(p)
        graph = mg.build_graph(p, [y, *mg.gradients(y, [p])])

    def step() -> mg.Recording:
        x.zero_grad()
        with mg.record() as log:
            if mode == "dynamic":
                model(x).backward()
            else:
                mg.run(graph, {p: x.data})
        return log

    gc.collect()  # where anybody has hooks, nothing is dropped before they ran
    told = step().counts.bytes_peak
    assert told <= peak(step) < told + 2 * SIZE, "half an array is for records"
    if mode == "dynamic":
        silent = peak(lambda: (x.zero_grad(), model(x).backward()))
        assert abs(silent - told) < 6 * SIZE, "one array and a half"

"""What is measured. Each workload is the same lines for every side."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import networks
import numpy as np
import static

import minigrad as mg
from viz import dot
from viz.picture import picture

Works = dict[str, Callable[[], object]]


def collect(peers: list[str]) -> Iterator[tuple[str, int, Works]]:
    """Name, repetitions within a round, and what each side does; ours first."""
    engines: dict[str, Any] = {"minigrad": mg}
    if "torch" in peers:
        import torch

        torch.set_num_threads(1)
        engines["torch"] = torch

    def sides(work: Callable[[Any], Callable[[], object]]) -> Works:
        return {f"{name} eager": work(engine) for name, engine in engines.items()}

    yield "x*x + 3, recorded and walked back", 300, sides(expression)
    yield "chain of 1,000: y*c, y+c, and back", 2, sides(chain_of_constants)
    yield "chain of 1,000: y*x, y+x, and back", 2, sides(chain_of_tensors)
    yield "chain of 1,000 tanh on 64 numbers, and back", 2, sides(chain_of_tanh)
    yield "100 products (4, 16) @ (16, 16) with relu, and back", 5, sides(products)
    yield "one value used 1,000 times, and back", 2, sides(wide)
    yield "chain of 100,000, and back: per node", 1, sides(long_chain)
    yield from networks.collect(engines)
    yield "digits model, one training step, batch 64", 20, digits_step(engines)
    yield from static.collect()
    yield "layout of a graph of 30 nodes", 1, layout(30)
    yield "layout of a graph of 300 nodes", 1, layout(300)


def expression(engine: Any) -> Callable[[], object]:
    tensor = engine.tensor

    def work() -> None:
        x = tensor(2.0, requires_grad=True)
        y = x * x + 3
        y.backward()

    return work


def chain_of_constants(engine: Any) -> Callable[[], object]:
    tensor = engine.tensor

    def work() -> None:
        y = tensor(1.0, requires_grad=True)
        for _ in range(500):
            y = y * 1.001
            y = y + 0.5
        y.backward()

    return work


def chain_of_tensors(engine: Any) -> Callable[[], object]:
    tensor = engine.tensor

    def work() -> None:
        x = tensor(1.0001, requires_grad=True)
        y = x
        for _ in range(500):
            y = y * x
            y = y + x
        y.backward()

    return work


def chain_of_tanh(engine: Any) -> Callable[[], object]:
    x = engine.tensor(np.linspace(-1, 1, 64, dtype=np.float32), requires_grad=True)

    def work() -> None:
        y = x
        for _ in range(1000):
            y = y.tanh()
        y.sum().backward()

    return work


def products(engine: Any) -> Callable[[], object]:
    random = np.random.default_rng(0)
    x = engine.tensor(random.standard_normal((4, 16)).astype(np.float32))
    w = engine.tensor((random.standard_normal((16, 16)) / 4).astype(np.float32), requires_grad=True)

    def work() -> None:
        y = x
        for _ in range(100):
            y = (y @ w).relu()
        y.sum().backward()
        w.grad = None

    return work


def wide(engine: Any) -> Callable[[], object]:
    def work() -> None:
        x = engine.tensor(1.0, requires_grad=True)
        total = x * 0.5
        for i in range(999):
            total = total + x * float(i)
        total.backward()

    return work


def long_chain(engine: Any) -> Callable[[], object]:
    def work() -> None:
        x = engine.tensor(1.00001, requires_grad=True)
        y = x
        for _ in range(50_000):
            y = y * x
            y = y + x
        y.backward()

    return work


def digits_step(engines: dict[str, Any]) -> Works:
    """One step of gradient descent on the digits: 64 → 32 → 10, the same for all."""
    data = mg.data.digits()
    x, t = data.x_train[:64].reshape(-1, 64), data.y_train[:64]
    works: Works = {}
    model = mg.nn.Sequential(
        mg.nn.Linear(64, 32, seed=0), mg.nn.ReLU(), mg.nn.Linear(32, 10, seed=1)
    )
    optimizer = mg.optim.SGD(model.parameters(), lr=0.1)

    def eager() -> None:
        loss = mg.cross_entropy(model(mg.tensor(x)), mg.tensor(t))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    works["minigrad eager"] = eager
    graph = mg.Graph()
    with graph:
        images = mg.placeholder("images", shape=(None, 64))
        labels = mg.placeholder("labels", shape=(None,), dtype=mg.int64)
        loss = mg.cross_entropy(model(images), labels)
        train = mg.optim.SGD(model.parameters(), lr=0.1).minimize(loss)
        session = mg.Session(graph)
        session.run(mg.global_variables_initializer())
    works["minigrad static"] = lambda: session.run([loss, train], {images: x, labels: t})
    program = mg.build_graph([images, labels], [loss, train]).compile()
    works["minigrad compiled"] = lambda: program({images: x, labels: t})
    if "torch" in engines:
        works["torch eager"] = torch_step(engines["torch"], x, t)
    return works


def torch_step(torch: Any, x: np.ndarray[Any, Any], t: np.ndarray[Any, Any]) -> Any:
    nn = torch.nn
    model = nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 10))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    images, labels = torch.tensor(x), torch.tensor(t)

    def work() -> None:
        loss = nn.functional.cross_entropy(model(images), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    return work


def layout(size: int) -> Works:
    """From a tape to an SVG, without the cache."""
    y = mg.tensor(0.0, requires_grad=True)
    for i in range(size // 2):
        y = y * y if i % 3 else y + y
    drawn = picture(y)
    return {"viz": lambda: dot.image(dot.dot(drawn, "bench", rankdir="TB"), "svg")}

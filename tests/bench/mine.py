"""Our sides: the dynamic graph, and the static one by every executor there is."""

from __future__ import annotations

from typing import Any

import numpy as np
from measure import Side
from models import Array, Conv, Layer, Linear, Model, curve, points

import minigrad as mg
from minigrad.interop.c import compiler

EAGER = "minigrad eager"
LAYERS = {"relu": mg.nn.ReLU, "pool": lambda: mg.nn.MaxPool2d(2), "flatten": mg.nn.Flatten}


def static(executor: str) -> str:
    """What the static side is called."""
    return f"minigrad {executor}"


def executors() -> list[str]:
    """Those that run here: C only where there is a compiler; JavaScript is for pages."""
    return ["numpy", "c"] if compiler.find_compiler() is not None else ["numpy"]


def layer(described: Layer) -> Any:
    if isinstance(described, Linear):
        return mg.nn.Linear(described.inputs, described.outputs, seed=0)
    if isinstance(described, Conv):
        return mg.nn.Conv2d(described.inputs, described.outputs, 3, padding=1, seed=0)
    return LAYERS[described]()


def network(model: Model) -> Any:
    net = mg.nn.Sequential(*map(layer, model.layers))
    net.load_state_dict(dict(zip(net.state_dict(), model.parameters(), strict=True)))
    return net


def training(model: Model) -> Side:
    net = network(model)
    optimizer = mg.optim.SGD(net.parameters(), lr=model.rate)
    x, t = map(mg.tensor, model.data())
    losses: list[Any] = [None]

    def work() -> None:
        loss = mg.cross_entropy(net(x), t)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses[0] = loss

    return Side(work, lambda: [losses[0].numpy(), *(p.numpy() for p in net.parameters())])


def training_graph(model: Model) -> tuple[Any, list[str]]:
    """The graph of one step, from batch and classes to the loss, and the names of the variables."""
    net = network(model)
    with mg.Graph():
        x = mg.placeholder("x", shape=model.batch)
        t = mg.placeholder("t", shape=model.batch[:1], dtype=mg.int64)
        loss = mg.cross_entropy(net(x), t)
        step = mg.optim.SGD(net.parameters(), lr=model.rate).minimize(loss)
    names = [name.replace(".", "/") for name in net.state_dict()]
    return mg.build_graph([x, t], [loss, step]), names


def training_compiled(model: Model, executor: str) -> Side:
    graph, names = training_graph(model)
    program = graph.compile(executor=executor)
    x, t = model.data()
    feeds = {"x": x, "t": t}
    losses: list[Any] = [None]

    def work() -> None:
        losses[0] = program(feeds)[0]

    def values() -> list[Array]:
        found = {v.name: value for v, value in program.variables.items()}
        return [losses[0], *(found[name] for name in names)]

    return Side(work, values)


def inference(model: Model) -> Side:
    net = network(model)
    x = mg.tensor(model.data()[0])
    results: list[Any] = [None]

    def work() -> None:
        with mg.no_grad():
            results[0] = net(x)

    return Side(work, lambda: [results[0].numpy()])


def inference_compiled(model: Model, executor: str) -> Side:
    net = network(model)
    with mg.Graph():
        x = mg.placeholder("x", shape=model.batch)
        graph = mg.build_graph(x, net(x))
    return running(graph, {"x": model.data()[0]}, executor)


def elementwise(count: int, backward: bool) -> Side:
    x = mg.tensor(points(count), requires_grad=backward)
    results: list[Any] = []

    def work() -> None:
        x.grad = None
        results[:] = [curve(mg, x)]
        if backward:
            results[0].sum().backward()

    return Side(work, lambda: [results[0].numpy(), *([x.grad.numpy()] if backward else [])])


def elementwise_compiled(count: int, backward: bool, executor: str) -> Side:
    with mg.Graph():
        x = mg.placeholder("x", shape=(count,))
        y = curve(mg, x)
        outputs = [y, mg.gradients(mg.sum(y), x)[0]] if backward else [y]
        graph = mg.build_graph(x, outputs)
    return running(graph, {"x": points(count)}, executor)


def running(graph: Any, feeds: dict[str, Array], executor: str) -> Side:
    program = graph.compile(executor=executor)
    results: list[Any] = [None]

    def work() -> None:
        results[0] = program(feeds)

    def values() -> list[Array]:
        return results[0] if isinstance(results[0], list) else [np.asarray(results[0])]

    return Side(work, values)

"""PyTorch: one operation after the other, and through its compiler."""

from __future__ import annotations

from typing import Any

import torch
from measure import Side
from models import Conv, Layer, Linear, Model, curve, points

EAGER, COMPILED = "PyTorch eager", "torch.compile"
LAYERS = {
    "relu": torch.nn.ReLU,
    "pool": lambda: torch.nn.MaxPool2d(2),
    "flatten": torch.nn.Flatten,
}

torch.set_num_threads(1)


def layer(described: Layer) -> Any:
    if isinstance(described, Linear):
        return torch.nn.Linear(described.inputs, described.outputs)
    if isinstance(described, Conv):
        return torch.nn.Conv2d(described.inputs, described.outputs, 3, padding=1)
    return LAYERS[described]()


def network(model: Model) -> Any:
    net = torch.nn.Sequential(*map(layer, model.layers))
    with torch.no_grad():
        for p, value in zip(net.parameters(), model.parameters(), strict=True):
            p.copy_(torch.from_numpy(value))
    return net


def training(model: Model, compiled: bool = False) -> Side:
    net = network(model)
    optimizer = torch.optim.SGD(net.parameters(), lr=model.rate)
    x, t = map(torch.from_numpy, model.data())
    losses: list[Any] = [None]

    def loss_of(x: Any, t: Any) -> Any:
        return torch.nn.functional.cross_entropy(net(x), t)

    find = torch.compile(loss_of) if compiled else loss_of
    step = torch.compile(optimizer.step) if compiled else optimizer.step

    def work() -> None:
        loss = find(x, t)
        optimizer.zero_grad()
        loss.backward()
        step()
        losses[0] = loss

    return Side(
        work, lambda: [losses[0].detach().numpy(), *(p.detach().numpy() for p in net.parameters())]
    )


def inference(model: Model, compiled: bool = False) -> Side:
    net = network(model).eval()
    x = torch.from_numpy(model.data()[0])
    find = torch.compile(net) if compiled else net
    results: list[Any] = [None]

    def work() -> None:
        with torch.inference_mode():
            results[0] = find(x)

    return Side(work, lambda: [results[0].numpy()])


def elementwise(count: int, backward: bool, compiled: bool = False) -> Side:
    x = torch.from_numpy(points(count)).requires_grad_(backward)
    results: list[Any] = []

    def value(x: Any) -> Any:
        y = curve(torch, x)
        return (y, y.sum()) if backward else (y,)

    find = torch.compile(value) if compiled else value

    def work() -> None:
        x.grad = None
        results[:] = find(x)
        if backward:
            results[1].backward()

    return Side(
        work,
        lambda: [results[0].detach().numpy(), *([x.grad.numpy()] if backward else [])],
    )

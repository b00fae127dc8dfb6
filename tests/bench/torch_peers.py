"""PyTorch: one operation after the other, through its compiler, and as TorchScript.

As those write it who know it: functions on raw tensors, gradients cleared by None, parameters
changed in place, nothing recorded where nothing is trained. As its tutorials do: `nn` and `optim`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from measure import Side
from models import A, B, C, Conv, D, Layer, Linear, Model, curve, points
from networks import HIDDEN, LENGTHS, drawn, parameters
from torch.nn import functional

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


def apply(model: Model, parameters: list[Any], x: Any) -> Any:
    """The scores of a batch, by functions on raw tensors."""
    rest = iter(parameters)
    for described in model.layers:
        if isinstance(described, Linear):
            x = functional.linear(x, next(rest), next(rest))
        elif isinstance(described, Conv):
            x = functional.conv2d(x, next(rest), next(rest), padding=1)
        elif described == "relu":
            x = functional.relu(x)
        elif described == "pool":
            x = functional.max_pool2d(x, 2)
        else:
            x = x.flatten(1)
    return x


def training(model: Model, compiled: bool = False) -> Side:
    weights = [torch.from_numpy(p).requires_grad_() for p in model.parameters()]
    x, t = map(torch.from_numpy, model.data())
    losses: list[Any] = [None]

    def loss_of(x: Any, t: Any) -> Any:
        return functional.cross_entropy(apply(model, weights, x), t)

    def update() -> None:
        with torch.no_grad():
            for p in weights:
                p.add_(p.grad, alpha=-model.rate)

    find = torch.compile(loss_of) if compiled else loss_of
    step = torch.compile(update) if compiled else update

    def work() -> None:
        loss = find(x, t)
        loss.backward()
        step()
        for p in weights:
            p.grad = None
        losses[0] = loss

    return Side(work, lambda: [losses[0].detach().numpy(), *(p.detach().numpy() for p in weights)])


def training_as_in_tutorials(model: Model) -> Side:
    net = network(model)
    optimizer = torch.optim.SGD(net.parameters(), lr=model.rate)
    x, t = map(torch.from_numpy, model.data())
    losses: list[Any] = [None]

    def work() -> None:
        loss = functional.cross_entropy(net(x), t)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses[0] = loss

    return Side(
        work, lambda: [losses[0].detach().numpy(), *(p.detach().numpy() for p in net.parameters())]
    )


def inference(model: Model, how: str = "eager") -> Side:
    """how: "eager", "compiled", "script" (frozen and optimised) or "tutorial".

    All but the last keep images with the channels last, which PyTorch advises on processors;
    for a single image turning them round costs more than it saves.
    """
    x = torch.from_numpy(model.data()[0])
    net = network(model).eval()
    if how != "tutorial" and x.ndim == 4 and len(x) > 1:
        net, x = (part.to(memory_format=torch.channels_last) for part in (net, x))
    weights = list(net.parameters())
    makers: dict[str, Callable[[], Any]] = {
        "eager": lambda: lambda x: apply(model, weights, x),
        "compiled": lambda: torch.compile(net),
        "script": lambda: torch.jit.optimize_for_inference(
            torch.jit.freeze(torch.jit.trace(net, x))
        ),
        "tutorial": lambda: net,
    }
    find = makers[how]()
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

    def in_place() -> None:
        with torch.inference_mode():
            s = (x * A).add_(B).sigmoid_()
            results[:] = (s.mul_((x * C).add_(D).tanh_()).add_(x),)

    return Side(
        work if backward or compiled else in_place,
        lambda: [results[0].detach().numpy(), *([x.grad.numpy()] if backward else [])],
    )


def sequences(recorded: bool = True) -> Side:
    """All sequences packed into one, for the loop that PyTorch has in C++."""
    net = torch.nn.RNN(HIDDEN, HIDDEN)
    w, u, b = net.weight_ih_l0, net.weight_hh_l0, net.bias_ih_l0
    with torch.no_grad():
        for p, value in zip((w, u, b), parameters(), strict=True):
            p.copy_(torch.from_numpy(value))
        net.bias_hh_l0.zero_()
    net.bias_hh_l0.requires_grad_(False)
    data = [torch.from_numpy(drawn(1, HIDDEN, seed=100 * n + i)) for n in LENGTHS for i in range(n)]
    split = torch.cat(data).split(list(LENGTHS))
    packed = torch.nn.utils.rnn.pack_sequence(split, enforce_sorted=False)
    results: list[Any] = []

    def training() -> None:
        w.grad = u.grad = b.grad = None
        net(packed)[1].sum().backward()

    def forward() -> None:
        with torch.inference_mode():
            results[:] = net(packed)[1][0].sum(1)

    if recorded:
        return Side(training, lambda: [p.grad.numpy() for p in (w, u, b)])
    return Side(forward, lambda: [y.numpy() for y in results])

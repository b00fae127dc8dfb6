"""torch.compile: the same values and gradients; what is asked of a value breaks the graph."""

import torch
from torch import nn


def f(x):
    return torch.sin(x) * x


def branch(x):
    if x.sum() > 0:
        return 2 * x
    return x - 1


def tried(f, x):
    try:
        return f(x)
    except TypeError:
        return "TypeError"


fast = torch.compile(f, backend="eager")


@torch.compile(backend="eager")
def decorated(x, y):
    return x * y


x = torch.tensor([1.0, 2.0], requires_grad=True)
fast(x).sum().backward()
layer = nn.Linear(2, 1)
same = torch.compile(layer, backend="eager")(torch.ones(1, 2)) == layer(torch.ones(1, 2))
answers = {
    "value": fast(torch.tensor([1.0, 2.0, 3.0])),
    "gradient": x.grad,
    "decorated": decorated(torch.ones(2), 3.0),
    "layer": bool(same.all()),
    "if": tried(torch.compile(branch, backend="eager"), torch.tensor([-3.0])),
}

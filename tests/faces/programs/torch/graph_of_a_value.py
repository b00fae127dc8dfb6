"""A loop whose length depends on a value builds another graph each time."""

import torch


def grow(n):
    x = torch.tensor(1.5, requires_grad=True)
    y = x
    for _ in range(n):
        y = y * x
    y.backward()
    return [y.item(), x.grad.item()]


answers = {str(n): grow(n) for n in range(1, 6)}

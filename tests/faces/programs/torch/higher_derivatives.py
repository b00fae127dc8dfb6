"""Derivatives of derivatives through create_graph."""

import torch

x = torch.tensor(2.0, requires_grad=True)
y = torch.sin(x) * x**3
orders = [y.item()]
for _ in range(3):
    (y,) = torch.autograd.grad(y, x, create_graph=True)
    orders.append(y.item())
answers = {
    "orders": orders,
    "check": torch.autograd.gradcheck(
        lambda t: t**3, torch.ones(2, dtype=torch.float64, requires_grad=True)
    ),
}

"""A graph is walked once, unless it is kept; the error is a RuntimeError."""

import torch

answers = {}
x = torch.tensor(3.0, requires_grad=True)
y = x * x
y.backward(retain_graph=True)
y.backward()
answers["kept"] = x.grad.item()
try:
    y.backward()
    answers["again"] = "no error"
except RuntimeError:
    answers["again"] = "RuntimeError"

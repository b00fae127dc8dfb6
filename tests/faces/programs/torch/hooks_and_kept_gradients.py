"""Gradients of what is no leaf: kept on request, or seen on their way."""

import torch

seen = []
x = torch.tensor(2.0, requires_grad=True)
h = x * 3
h.retain_grad()
h.register_hook(lambda g: seen.append(g.item()))
(h * h).backward()
answers = {"h": h.grad.item(), "x": x.grad.item(), "seen": seen}

"""What may be changed in place: not a leaf, and not what the way back still needs."""

import torch

answers = {}
x = torch.tensor([1.0, 2.0], requires_grad=True)
y = x * 2
y += 1
y.sum().backward()
answers["not needed"] = x.grad
z = torch.exp(x)
z += 1
try:
    z.sum().backward()
    answers["needed"] = "no error"
except RuntimeError:
    answers["needed"] = "RuntimeError"
try:
    x += 1
    answers["leaf"] = "no error"
except RuntimeError:
    answers["leaf"] = "RuntimeError"
with torch.no_grad():
    x += 1
answers["leaf without recording"] = x.detach()

"""A gradient that was not computed is None, not 0."""

import torch

x = torch.tensor(2.0, requires_grad=True)
unused = torch.tensor(5.0, requires_grad=True)
y = x**3
(dx, du) = torch.autograd.grad(y, (x, unused), allow_unused=True, retain_graph=True)
answers = {"dx": dx, "unused": du is None, "before": x.grad is None}
try:
    torch.autograd.grad(y, [unused])
    answers["asked for"] = "no error"
except RuntimeError:
    answers["asked for"] = "RuntimeError"
y.backward()
answers["after"] = [x.grad.item(), unused.grad is None]

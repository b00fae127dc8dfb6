"""y = x * x + 3 at x = 2, and what happens to a gradient that nobody clears."""

import torch

x = torch.tensor(2.0, requires_grad=True)
y = x * x + 3
y.backward()
first = x.grad.item()
(x * x + 3).backward()
second = x.grad.item()
x.grad.zero_()
answers = {"y": y.item(), "once": first, "twice": second, "cleared": x.grad.item()}

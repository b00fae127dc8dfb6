"""no_grad, detach, set_grad_enabled: what is recorded and what is not."""

import torch

w = torch.tensor([1.0, 2.0], requires_grad=True)
with torch.no_grad():
    a = w * 2
b = (w * 2).detach()
c = w.detach() * w


@torch.no_grad()
def predict(x):
    return x * w


torch.set_grad_enabled(False)
d = w * 3
torch.set_grad_enabled(True)
c.sum().backward()
answers = {
    "no_grad": a.requires_grad,
    "detach": b.requires_grad,
    "one side": c.requires_grad,
    "decorated": predict(w).requires_grad,
    "switched off": d.requires_grad,
    "leaf": [w.is_leaf, c.is_leaf],
    "gradient": w.grad,
    "on again": torch.is_grad_enabled(),
}

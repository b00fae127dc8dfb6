"""no_grad and inference_mode, as blocks and as decorators; what item and detach give."""

import torch

x = torch.tensor([1.0, 2.0], requires_grad=True)


@torch.no_grad()
def evaluated(x):
    return x * 2


with torch.inference_mode():
    y = (x * 2).sum()
w = torch.tensor([1.0, 1.0], requires_grad=True)
(w * x).sum().backward()
with torch.no_grad():
    w -= 0.1 * w.grad
answers = {
    "decorated": evaluated(x).requires_grad,
    "block": y.requires_grad,
    "number": y.item(),
    "detached": (x * 2).detach().requires_grad,
    "by hand": w,
    "still followed": w.requires_grad,
    "gradient stays": w.grad,
}

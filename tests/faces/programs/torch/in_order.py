"""Sorted values, the largest few, and where they were; gradients find their way back."""

import torch

x = torch.tensor([[3.0, 1.0, 2.0], [0.5, 4.0, -1.0]], requires_grad=True)
values, indices = torch.sort(x)
top = torch.topk(x, 2)
(top.values * torch.tensor([[1.0, 10.0], [100.0, 1000.0]])).sum().backward()
torch.manual_seed(1)
answers = {
    "sorted": [values, indices],
    "descending": torch.sort(x, dim=0, descending=True).values,
    "places": torch.argsort(x, dim=1),
    "top": [top.values, top.indices],
    "slope": x.grad,
    "permutation": sorted(torch.randperm(5).tolist()),
}

"""Inputs and parameters are leaves, results are not; each has or has not what made it."""

import torch

x = torch.ones(2)
W = torch.ones(2, 2, requires_grad=True)
y = W @ x
z = y.relu()
answers = {
    "leaves": [t.is_leaf for t in (x, W, y, z)],
    "followed": [t.requires_grad for t in (x, W, y, z)],
    "cut off": [z.detach().is_leaf, z.detach().requires_grad],
}
with torch.no_grad():
    y = W @ x
answers["nothing recorded"] = [y.is_leaf, y.requires_grad]

"""A traced model goes to a file and comes back without the code that made it."""

import os
import tempfile

import torch
from torch import nn

model = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))
x = torch.randn(5, 3)
traced = torch.jit.trace(model, x)
with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "model.pt")
    torch.jit.save(traced, path)
    loaded = torch.jit.load(path)
with torch.no_grad():
    answers = {
        "same": torch.allclose(loaded(x), model(x), atol=1e-6),
        "shape": tuple(loaded(x).shape),
    }

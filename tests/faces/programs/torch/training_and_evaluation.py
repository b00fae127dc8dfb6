"""Dropout and batch norm compute one thing while training and another afterwards."""

import torch
from torch import nn

x = torch.tensor([[1.0, 10.0], [3.0, 30.0]])
norm, drop = nn.BatchNorm1d(2), nn.Dropout(0.5)
trained = norm(x).detach()
norm.eval()
drop.eval()
answers = {
    "trained": trained,
    "running mean": norm.running_mean,
    "running variance": norm.running_var,
    "evaluated": norm(x).detach(),
    "dropout": drop(x),
}

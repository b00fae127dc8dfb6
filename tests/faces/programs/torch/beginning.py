"""What weights begin with."""

import math

import torch
from torch import nn

torch.manual_seed(0)
layer = nn.Linear(400, 300)
conv = nn.Conv2d(4, 8, 3)


def spread(p):
    return [round(float(p.std()), 2), round(float(p.mean()), 1)]


def widest(p, bound):
    return bool(p.abs().max() <= bound) and bool(p.abs().max() > 0.9 * bound)


nn.init.zeros_(layer.bias)
bias = layer.bias.sum().item()
nn.init.constant_(layer.bias, 0.5)
answers = {
    "zeros": bias,
    "constant": layer.bias.mean().item(),
    "normal": spread(nn.init.normal_(layer.weight, 0.0, 0.1)),
    "uniform": widest(nn.init.uniform_(layer.weight, -0.2, 0.2), 0.2),
    "xavier": widest(nn.init.xavier_uniform_(layer.weight), math.sqrt(6 / 700)),
    "xavier normal": spread(nn.init.xavier_normal_(layer.weight)),
    "kaiming": widest(nn.init.kaiming_uniform_(conv.weight), math.sqrt(6 / 36)),
    "kaiming normal": spread(nn.init.kaiming_normal_(layer.weight, nonlinearity="relu")),
    "still followed": layer.weight.requires_grad,
    "ones": nn.init.ones_(conv.bias).sum().item(),
}

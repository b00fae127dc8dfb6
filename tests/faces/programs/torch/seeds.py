"""The same seed, the same numbers; in layers, too."""

import torch
from torch import nn

torch.manual_seed(0)
first = torch.randn(3), nn.Linear(2, 2).weight
torch.manual_seed(0)
second = torch.randn(3), nn.Linear(2, 2).weight
answers = {
    "numbers": torch.equal(first[0], second[0]),
    "layers": torch.equal(first[1], second[1]),
    "others": torch.equal(first[0], torch.randn(3)),
    "whole": [0 <= n < 5 for n in torch.randint(5, (4,)).tolist()],
}

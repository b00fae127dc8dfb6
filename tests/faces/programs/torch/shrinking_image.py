"""A 16x16 image through ten 3x3 convolutions: without padding the eighth has nothing left."""

import torch
from torch import nn

image = torch.zeros(1, 1, 16, 16)
sizes, x = [], image
try:
    for _ in range(10):
        x = nn.Conv2d(1, 1, 3)(x)
        sizes.append(x.shape[-1])
except RuntimeError:
    sizes.append("RuntimeError")
x = image
for _ in range(10):
    x = nn.Conv2d(1, 1, 3, padding=1)(x)
answers = {"unpadded": sizes, "padded": tuple(x.shape)}

"""A batch of 64 rows through a linear layer, as the notes print it."""

import torch
import torch.nn as nn

x = torch.randn(64, 784)
linear = nn.Linear(784, 10)
output = linear(x)
by_hand = x @ linear.weight.t() + linear.bias
answers = {
    "shape": tuple(output.shape),
    "weights": tuple(linear.weight.shape),
    "parameters": sum(p.numel() for p in linear.parameters()),
    "same": torch.allclose(output, by_hand, atol=1e-5),
    "recorded": output.requires_grad,
}

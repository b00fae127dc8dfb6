"""A recurrent cell in a Python loop: each length is a graph of its own."""

import torch
from torch import nn

cell = nn.RNNCell(2, 2)
with torch.no_grad():
    cell.weight_ih.copy_(torch.tensor([[0.1, 0.2], [0.3, -0.4]]))
    cell.weight_hh.copy_(torch.tensor([[0.5, 0.0], [0.1, 0.5]]))
    cell.bias_ih.copy_(torch.tensor([0.1, -0.1]))
    cell.bias_hh.copy_(torch.tensor([0.0, 0.0]))
answers = {}
for length in (3, 7, 12):
    h = torch.zeros(1, 2)
    for t in range(length):
        h = cell(torch.tensor([[1.0, t / 10]]), h)
    cell.zero_grad()
    h.sum().backward()
    answers[str(length)] = [h, cell.weight_hh.grad]

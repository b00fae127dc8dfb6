"""Sequences of different lengths become one tensor; a mask says what is real, also to gradients."""

import torch
from torch.nn.utils.rnn import pad_sequence

rows = [torch.tensor([4.0, 0.0, 5.0], requires_grad=True), torch.tensor([6.0])]
x = pad_sequence(rows, batch_first=True, padding_value=-1.0)
mask = torch.arange(3) < torch.tensor([[3], [1]])
torch.where(mask, x * x, 0.0).sum().backward()
pairs = [torch.ones(2, 2), torch.zeros(1, 2)]
answers = {"x": x, "gradient": rows[0].grad, "pairs": torch.nn.utils.rnn.pad_sequence(pairs)}

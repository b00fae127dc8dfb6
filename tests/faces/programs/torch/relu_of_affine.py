"""y = ReLU(W x + b): every gradient of the sum."""

import torch

W = torch.tensor([[1.0, -2.0], [3.0, 4.0]], requires_grad=True)
x = torch.tensor([1.0, 1.0], requires_grad=True)
b = torch.tensor([0.5, -1.0], requires_grad=True)
y = torch.relu(torch.matmul(W, x) + b)
y.sum().backward()
answers = {"y": y, "dW": W.grad, "dx": x.grad, "db": b.grad}

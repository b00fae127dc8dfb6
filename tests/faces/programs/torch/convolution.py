"""Convolution, ReLU and pooling of known numbers, with gradients."""

import torch
import torch.nn.functional as F

x = torch.arange(32, dtype=torch.float32).reshape(1, 2, 4, 4) / 10
w = (torch.arange(36, dtype=torch.float32).reshape(2, 2, 3, 3) - 17) / 10
w.requires_grad_()
b = torch.tensor([0.5, -3.0])
y = F.max_pool2d(F.relu(F.conv2d(x, w, b, padding=1)), 2)
y.sum().backward()
answers = {"y": y, "dw": w.grad}

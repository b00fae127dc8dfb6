"""Gradients that are too long are shortened before the step."""

import torch

w = torch.tensor([3.0, 4.0], requires_grad=True)
(w * w).sum().backward()
before = torch.nn.utils.clip_grad_norm_([w], max_norm=1.0)
answers = {"before": before, "after": w.grad}

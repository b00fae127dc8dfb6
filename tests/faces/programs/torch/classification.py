"""Scores, cross entropy of class numbers, and how many were right."""

import torch
import torch.nn as nn
import torch.nn.functional as F

scores = torch.tensor([[2.0, 0.5, -1.0], [0.1, 0.2, 3.0], [1.0, 1.5, 0.0]], requires_grad=True)
labels = torch.tensor([0, 2, 0])
loss = nn.CrossEntropyLoss()(scores, labels)
loss.backward()
right = (scores.argmax(dim=1) == labels).sum().item()
values, places = torch.max(scores, 1)
answers = {
    "loss": loss,
    "same": F.nll_loss(F.log_softmax(scores, dim=1), labels),
    "gradient": scores.grad,
    "right": right,
    "largest": values,
    "where": places,
    "probabilities": torch.softmax(scores, dim=1).sum(dim=1),
}

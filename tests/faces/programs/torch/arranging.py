"""Axes: reshaped, exchanged, joined, cut, repeated."""

import torch

a = torch.arange(6).reshape(2, 3)
b = torch.arange(24.0).reshape(2, 3, 4)
answers = {
    "view": a.view(-1),
    "transpose": torch.transpose(b, 0, 2).shape[0],
    "permute": list(b.permute(2, 0, 1).shape),
    "cat": torch.cat([a, a], dim=1),
    "stack": list(torch.stack([a, a]).shape),
    "split": [part.tolist() for part in torch.split(a, 2, dim=1)],
    "chunk": [part.tolist() for part in torch.chunk(a, 2)],
    "unsqueeze": list(a.unsqueeze(1).shape),
    "squeeze": list(torch.squeeze(torch.zeros(1, 2, 1), 0).shape),
    "not squeezed": list(torch.squeeze(torch.zeros(2, 1), 0).shape),
    "gather": torch.gather(a, 1, torch.tensor([[2], [0]])),
    "where": torch.where(a > 2, a, -a),
    "mean": b.mean(dim=(0, 2)),
    "std": b.std(),
    "max": torch.max(a).item(),
    "elementwise": torch.max(a, torch.tensor(3)),
}

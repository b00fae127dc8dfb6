"""What is typed beside the usual: joined, multiplied, checked, bent."""

import torch
import torch.nn.functional as F

x, m = torch.tensor([1.0, -2.0, 3.0]), torch.arange(6.0).reshape(2, 3)
p = torch.tensor([0.2, 0.7])
answers = {
    "dot": torch.dot(x, x),
    "joined": [torch.hstack([x, x]).shape, torch.vstack([x, x]).shape, torch.hstack([m, m]).shape],
    "triangles": [torch.tril(torch.ones(2, 3)), torch.triu(torch.ones(3, 2))],
    "norm": [torch.norm(x), torch.norm(m, dim=1)],
    "finite": torch.isfinite(torch.tensor([1.0, float("inf"), float("nan")])),
    "infinite": torch.isinf(torch.tensor([1.0, float("inf"), float("nan")])),
    "like": [torch.rand_like(m).shape, torch.randn_like(x).shape, torch.empty(2, 3).shape],
    "linear": F.linear(m, torch.ones(4, 3), torch.ones(4)),
    "bent": [F.leaky_relu(x), F.leaky_relu(x, 0.2), F.silu(x), F.elu(x)],
    "entropy": F.binary_cross_entropy(p, torch.tensor([0.0, 1.0])),
    "pi": torch.pi,
    "threads": torch.get_num_threads() > 0,
    "numbers": [torch.tensor(2.5).item(), torch.tensor([1, 2]).tolist()],
}

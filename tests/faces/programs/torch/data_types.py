"""Which data type comes out."""

import numpy as np
import torch

i, f, d = torch.tensor([1, 2]), torch.tensor([1.0, 2.0]), torch.ones(2, dtype=torch.float64)
answers = {
    "integers": i.dtype == torch.int64,
    "numbers": f.dtype == torch.float32,
    "from NumPy": torch.tensor(np.zeros(2)).dtype == torch.float64,
    "a Python number": (f * 2.5).dtype == torch.float32,
    "integers and numbers": (i + f).dtype == torch.float32,
    "both floats": (f + d).dtype == torch.float64,
    "division": (i / 2).dtype == torch.float32,
    "whole division": (i // 2).dtype == torch.int64,
    "comparison": (f > 1).dtype == torch.bool,
    "sum of truth": (f > 1).sum().dtype == torch.int64,
    "long": f.long().dtype == torch.long,
    "scalar beside float32": (f * torch.tensor(2.0, dtype=torch.float64)).dtype == torch.float32,
}

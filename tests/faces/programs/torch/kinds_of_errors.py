"""What is an error, and of which kind."""

import torch
from torch import nn

KINDS = (AttributeError, IndexError, TypeError, ValueError, RuntimeError)
DOUBTS = {
    "shapes of a product": (RuntimeError, lambda: torch.zeros(2, 3) @ torch.zeros(2, 3)),
    "shapes of a sum": (RuntimeError, lambda: torch.zeros(2) + torch.zeros(3)),
    "width of a layer": (RuntimeError, lambda: nn.Linear(784, 10)(torch.zeros(3, 100))),
    "lengths": (RuntimeError, lambda: torch.zeros(2, 3).reshape(4)),
    "position": (IndexError, lambda: torch.zeros(3)[5]),
    "axis": (IndexError, lambda: torch.zeros(3).sum(dim=2)),
    "several numbers as one": (RuntimeError, lambda: torch.zeros(2).item()),
    "several numbers as a truth value": (RuntimeError, lambda: bool(torch.zeros(2) > 0)),
    "gradient of integers": (RuntimeError, lambda: torch.tensor([1, 2], requires_grad=True)),
    "backward of many": (RuntimeError, lambda: torch.ones(2, requires_grad=True).backward()),
    "backward of nothing": (RuntimeError, lambda: torch.ones(1).backward()),
    "array of a recorded tensor": (RuntimeError, lambda: torch.ones(1, requires_grad=True).numpy()),
    "no such name": (AttributeError, lambda: torch.ones(1).no_such_name),
    "no such function": (AttributeError, lambda: torch.no_such_name),
}
answers = {}
for name, (kind, doubt) in DOUBTS.items():
    try:
        doubt()
        answers[name] = "no error"
    except kind:
        answers[name] = kind.__name__
    except KINDS:
        answers[name] = "another"

"""Three steps of each optimiser on the same slope."""

import torch

answers = {}
for name, make in {
    "momentum": lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9),
    "decay": lambda p: torch.optim.SGD(p, lr=0.1, weight_decay=0.5),
    "nesterov": lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9, nesterov=True),
    "Adam": lambda p: torch.optim.Adam(p, lr=0.1),
    "AdamW": lambda p: torch.optim.AdamW(p, lr=0.1, weight_decay=0.1),
}.items():
    w = torch.tensor([1.0, -2.0], requires_grad=True)
    optimizer = make([w])
    for _ in range(3):
        optimizer.zero_grad()
        (w * w * torch.tensor([1.0, 3.0])).sum().backward()
        optimizer.step()
    answers[name] = w

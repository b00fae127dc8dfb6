"""The line at the head of every script, on a machine without an accelerator."""

import torch
from torch import nn

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = nn.Linear(2, 2).to(device)
x = torch.ones(1, 2, device=device).to(device)
answers = {"shape": tuple(model(x).shape), "there": str(device) == "cpu"}

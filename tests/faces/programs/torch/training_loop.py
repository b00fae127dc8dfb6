"""The loop that everybody writes: forward, loss, zero_grad, backward, step."""

import torch
from torch import nn, optim

x = torch.tensor([[0.0], [1.0], [2.0], [3.0]])
y = 2 * x + 1
model = nn.Linear(1, 1)
with torch.no_grad():
    model.weight.copy_(torch.tensor([[0.5]]))
    model.bias.copy_(torch.tensor([0.0]))
criterion = nn.MSELoss()
optimizer = optim.SGD(model.parameters(), lr=0.1)
losses = []
for _ in range(20):
    prediction = model(x)
    loss = criterion(prediction, y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
answers = {"losses": losses, "weight": model.weight, "bias": model.bias}

"""A model of one's own: parameters by name, two moods, and a state that goes to a file."""

import io

import torch
import torch.nn.functional as F
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(4, 8)
        self.drop = nn.Dropout(0.5)
        self.fc2 = nn.Linear(8, 3)

    def forward(self, x):
        return self.fc2(self.drop(F.relu(self.fc1(x))))


net, other = Net(), Net()
file = io.BytesIO()
torch.save(net.state_dict(), file)
file.seek(0)
other.load_state_dict(torch.load(file))
net.eval()
other.eval()
x = torch.randn(5, 4)
answers = {
    "names": [name for name, _ in net.named_parameters()],
    "state": list(net.state_dict()),
    "same": torch.equal(net(x), other(x)),
    "training": [net.training, net.drop.training, net.train().training],
}

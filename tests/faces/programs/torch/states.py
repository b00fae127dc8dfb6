"""What a model holds, by name; to a file and back; into another model, if it fits."""

import io
from collections import OrderedDict

import torch
from torch import nn

net = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1))
named = nn.Sequential(OrderedDict([("hidden", nn.Linear(2, 3)), ("act", nn.Tanh())]))
file = io.BytesIO()
torch.save(net.state_dict(), file)
file.seek(0)
other = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1))
other.load_state_dict(torch.load(file))
x = torch.tensor([[1.0, -1.0]])


def kind(f):
    try:
        f()
    except RuntimeError:
        return "RuntimeError"
    except Exception as error:
        return type(error).__name__
    return "no error"


answers = {
    "names": list(net.state_dict()),
    "named": list(named.state_dict()),
    "shapes": [p.shape for p in net.parameters()],
    "same": bool((net(x) == other(x)).all()),
    "by place": [net[0].out_features, len(net)],
    "another shape": kind(lambda: nn.Linear(2, 2).load_state_dict(nn.Linear(3, 2).state_dict())),
    "missing names": kind(lambda: nn.Linear(2, 2).load_state_dict({})),
}

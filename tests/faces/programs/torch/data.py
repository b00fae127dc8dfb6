"""`.data` in old programs: a tensor without history that shares its memory."""

import copy

import torch
from torch.autograd import Variable

answers = {}


def kind(f, expected=RuntimeError):
    try:
        f()
    except expected:
        return expected.__name__
    except Exception as error:
        return type(error).__name__
    return "no error"


w = Variable(torch.tensor([3.0, -4.0]), requires_grad=True)
(w * w).sum().backward()
w.data -= 0.1 * w.grad.data
answers["step"] = w.tolist()
w.grad.data.zero_()
answers["gradient made zero"] = w.grad.tolist()
w.data.clamp_(-1.0, 1.0)
answers["still a leaf"] = [w.tolist(), w.requires_grad, w.is_leaf]
answers["no history"] = [w.data.requires_grad, w.data.is_leaf, list(w.data.size())]
w.data[0] = 7.0
w.data[1].fill_(8.0)
answers["written by its index"] = w.tolist()
copied = w.data.clone()
copied.mul_(2)
w.data.numpy()[0] = 5.0
answers["copies and arrays"] = [w.tolist(), copied.tolist()]
other = torch.tensor([1.0, 2.0])
w.data = other
other[0] = 9.0
answers["put in its place"] = [w.tolist(), w.requires_grad]
w.data.add_(torch.ones(2), alpha=-0.5)
w.data.sub_(torch.ones(2), alpha=2)
w.data.addcmul_(torch.ones(2), torch.ones(2), value=3)
answers["multiples"] = w.tolist()

one = torch.tensor(3.0, requires_grad=True)
(one * one).backward()
one.data -= 0.5 * one.grad.data
answers["a single number"] = [one.item(), one.data.item()]


def assign(x, value):
    x.data = value


answers["an array"] = kind(lambda: assign(w, [1.0, 2.0]), TypeError)
answers["whole numbers"] = kind(lambda: assign(w, torch.ones(2, dtype=torch.int64)))


def changed_by(change):
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = (x * x).sum()
    change(x)
    return kind(y.backward)


answers["changed before backward, detach()"] = changed_by(lambda x: x.detach().fill_(5.0))
answers["changed before backward, data"] = changed_by(lambda x: x.data.fill_(5.0))
replaced = torch.tensor([1.0, 2.0], requires_grad=True)
y = (replaced * replaced).sum()
replaced.data = torch.ones(2)
y.backward()
answers["replaced before backward"] = replaced.grad.tolist()

net = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.Tanh(), torch.nn.Linear(3, 1))
for number, p in enumerate(net.parameters()):
    p.data.fill_(0.1 * (number + 1))
x, y = torch.tensor([[1.0, 2.0], [3.0, 4.0]]), torch.tensor([[1.0], [0.0]])
for _ in range(3):
    net.zero_grad()
    loss = ((net(x) - y) ** 2).mean()
    loss.backward()
    for p in net.parameters():
        p.data -= 0.05 * p.grad.data
answers["trained by hand"] = [loss.item(), *(p.tolist() for p in net.parameters())]
state = net.state_dict()
state["0.bias"].copy_(torch.tensor([1.0, 2.0, 3.0]))
answers["state shares memory"] = [net[0].bias.tolist(), state["0.bias"].requires_grad]
kept = copy.deepcopy(net.state_dict())
net[0].bias.data.normal_(0.0, 0.02)
net.load_state_dict(kept)
answers["state put back"] = [net[0].bias.tolist(), state["0.bias"].tolist()]


def begin(module):
    if module.__class__.__name__.find("Linear") != -1:
        module.weight.data.uniform_(-1.0, 1.0)
        torch.nn.init.constant_(module.bias.data, 0.25)


net.apply(begin)
answers["begun"] = [bool((net[0].weight.data.abs() <= 1).all()), net[2].bias.tolist()]
scores = torch.tensor([[1.0, 3.0], [4.0, 2.0]], requires_grad=True)
answers["predicted"] = scores.data.max(1, keepdim=True)[1].tolist()
hidden = next(net.parameters()).data
answers["new"] = [list(hidden.new(1, 2).zero_().shape), hidden.new_ones(2).tolist()]
answers["length"] = [scores.data.norm().item(), scores.data[0].norm(p=1).item()]

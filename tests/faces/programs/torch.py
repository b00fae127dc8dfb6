"""Programs in the words of PyTorch: each cell is one, and binds what it finds to `answers`."""

# %% arranging
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


# %% backward_twice
"""A graph is walked once, unless it is kept; the error is a RuntimeError."""

import torch

answers = {}
x = torch.tensor(3.0, requires_grad=True)
y = x * x
y.backward(retain_graph=True)
y.backward()
answers["kept"] = x.grad.item()
try:
    y.backward()
    answers["again"] = "no error"
except RuntimeError:
    answers["again"] = "RuntimeError"


# %% beginning
"""What weights begin with."""

import math

import torch
from torch import nn

torch.manual_seed(0)
layer = nn.Linear(400, 300)
conv = nn.Conv2d(4, 8, 3)


def spread(p):
    return [round(float(p.std()), 2), round(float(p.mean()), 1)]


def widest(p, bound):
    return bool(p.abs().max() <= bound) and bool(p.abs().max() > 0.9 * bound)


nn.init.zeros_(layer.bias)
bias = layer.bias.sum().item()
nn.init.constant_(layer.bias, 0.5)
answers = {
    "zeros": bias,
    "constant": layer.bias.mean().item(),
    "normal": spread(nn.init.normal_(layer.weight, 0.0, 0.1)),
    "uniform": widest(nn.init.uniform_(layer.weight, -0.2, 0.2), 0.2),
    "xavier": widest(nn.init.xavier_uniform_(layer.weight), math.sqrt(6 / 700)),
    "xavier normal": spread(nn.init.xavier_normal_(layer.weight)),
    "kaiming": widest(nn.init.kaiming_uniform_(conv.weight), math.sqrt(6 / 36)),
    "kaiming normal": spread(nn.init.kaiming_normal_(layer.weight, nonlinearity="relu")),
    "still followed": layer.weight.requires_grad,
    "ones": nn.init.ones_(conv.bias).sum().item(),
}


# %% branch_eager_traced_scripted
"""An `if` on a value: eager and scripted -4; the trace keeps the branch of its example, -6."""

import torch


def f(x):
    if x.sum() > 0:
        return 2 * x
    else:
        return x - 1


probe = torch.tensor([-3.0])
traced = torch.jit.trace(f, torch.tensor([1.0]))
scripted = torch.jit.script(f)
answers = {
    "eager": f(probe),
    "traced": traced(probe),
    "scripted": scripted(probe),
    "scripted, other branch": scripted(torch.tensor([5.0])),
}


# %% classification
"""Scores, cross entropy of class numbers, and how many were right."""

import torch
import torch.nn as nn
import torch.nn.functional as F

scores = torch.tensor([[2.0, 0.5, -1.0], [0.1, 0.2, 3.0], [1.0, 1.5, 0.0]], requires_grad=True)
labels = torch.tensor([0, 2, 0])
loss = nn.CrossEntropyLoss()(scores, labels)
loss.backward()
right = (scores.argmax(dim=1) == labels).sum().item()
values, places = torch.max(scores, 1)
answers = {
    "loss": loss,
    "same": F.nll_loss(F.log_softmax(scores, dim=1), labels),
    "gradient": scores.grad,
    "right": right,
    "largest": values,
    "where": places,
    "probabilities": torch.softmax(scores, dim=1).sum(dim=1),
}


# %% clipping
"""Gradients that are too long are shortened before the step."""

import torch

w = torch.tensor([3.0, 4.0], requires_grad=True)
(w * w).sum().backward()
before = torch.nn.utils.clip_grad_norm_([w], max_norm=1.0)
answers = {"before": before, "after": w.grad}


# %% compiled
"""torch.compile: the same values and gradients; what is asked of a value breaks the graph."""

import torch
from torch import nn


def f(x):
    return torch.sin(x) * x


def branch(x):
    if x.sum() > 0:
        return 2 * x
    return x - 1


def tried(f, x):
    try:
        return f(x)
    except TypeError:
        return "TypeError"


fast = torch.compile(f, backend="eager")


@torch.compile(backend="eager")
def decorated(x, y):
    return x * y


x = torch.tensor([1.0, 2.0], requires_grad=True)
fast(x).sum().backward()
layer = nn.Linear(2, 1)
same = torch.compile(layer, backend="eager")(torch.ones(1, 2)) == layer(torch.ones(1, 2))
answers = {
    "value": fast(torch.tensor([1.0, 2.0, 3.0])),
    "gradient": x.grad,
    "decorated": decorated(torch.ones(2), 3.0),
    "layer": bool(same.all()),
    "if": tried(torch.compile(branch, backend="eager"), torch.tensor([-3.0])),
}


# %% convolution
"""Convolution, ReLU and pooling of known numbers, with gradients."""

import torch
import torch.nn.functional as F

x = torch.arange(32, dtype=torch.float32).reshape(1, 2, 4, 4) / 10
w = (torch.arange(36, dtype=torch.float32).reshape(2, 2, 3, 3) - 17) / 10
w.requires_grad_()
b = torch.tensor([0.5, -3.0])
y = F.max_pool2d(F.relu(F.conv2d(x, w, b, padding=1)), 2)
y.sum().backward()
answers = {"y": y, "dw": w.grad}


# %% data
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
w.data.lerp_(torch.tensor([1.5, 4.5]), 0.25)
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


# %% data_loading
"""Batches of a data set: in order, shuffled, the last one shorter; a data set of one's own."""

import torch
from torch.utils.data import DataLoader, Dataset, TensorDataset, random_split

x, y = torch.arange(10.0).reshape(5, 2), torch.tensor([0, 1, 0, 1, 1])
both = TensorDataset(x, y)
loader = DataLoader(both, batch_size=2)


class Squares(Dataset):
    def __len__(self):
        return 5

    def __getitem__(self, i):
        return {"x": torch.tensor([float(i)]), "y": i * i}


torch.manual_seed(0)
shuffled = DataLoader(both, batch_size=5, shuffle=True)
first, again = next(iter(shuffled))[0], next(iter(shuffled))[0]
parts = random_split(both, [3, 2])
own = next(iter(DataLoader(Squares(), batch_size=4)))
answers = {
    "lengths": [len(both), len(loader), len(DataLoader(both, batch_size=2, drop_last=True))],
    "batches": [[a.tolist(), b.tolist()] for a, b in loader],
    "one": [both[1][0], both[1][1]],
    "shuffled": sorted(first[:, 0].tolist()),
    "anew": first.tolist() != again.tolist(),
    "parts": sorted(p[i][0][0].item() for p in parts for i in range(len(p))),
    "shares": [len(p) for p in random_split(both, [0.5, 0.5])],
    "own": [own["x"].shape, own["y"].tolist()],
    "by default": next(iter(DataLoader(both)))[0].shape,
}


# %% data_types
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


# %% device
"""The line at the head of every script, on a machine without an accelerator."""

import torch
from torch import nn

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = nn.Linear(2, 2).to(device)
x = torch.ones(1, 2, device=device).to(device)
answers = {"shape": tuple(model(x).shape), "there": str(device) == "cpu"}


# %% expanded
"""An expanded tensor is one number in several places: what would change it twice says "clone"."""

import torch

answers = {}


def said(change):
    try:
        y = change()
    except Exception as error:
        return [isinstance(error, RuntimeError), "clone" in str(error)]
    return y.tolist()


row, column = torch.ones(1, 3), torch.ones(2, 1)
for name, change in {
    "add_": lambda: row.expand(2, 3).add_(1.0),
    "mul_": lambda: torch.ones(1).expand(3).mul_(2.0),
    "exp_": lambda: torch.ones(1).expand(3).exp_(),
    "clamp_": lambda: torch.tensor(1.0).expand(3).clamp_(0.0, 1.0),
    "copy_": lambda: row.expand(2, 3).copy_(torch.ones(2, 3)),
    "normal_": lambda: row.expand(2, 3).normal_(),
    "expand_as": lambda: torch.ones(1).expand_as(torch.ones(3)).add_(1.0),
    "broadcast_to": lambda: torch.broadcast_to(torch.ones(1), (3,)).add_(1.0),
    "broadcast_tensors": lambda: torch.broadcast_tensors(torch.ones(1), torch.ones(3))[0].add_(1),
    "transposed": lambda: row.expand(2, 3).t().add_(1.0),
    "a column of it": lambda: row.expand(2, 3)[:, 0].add_(1.0),
    "data": lambda: row.expand(2, 3).data.add_(1.0),
    "detach": lambda: row.expand(2, 3).detach().add_(1.0),
    "out": lambda: torch.add(torch.ones(3), 1, out=torch.ones(1).expand(3)),
    "a row of it": lambda: row.expand(2, 3)[0].add_(1.0),
    "its own length": lambda: torch.ones(3).expand(3).add_(1.0),
    "one more axis": lambda: torch.ones(3).expand(1, 3).add_(1.0),
    "nothing": lambda: torch.ones(1).expand(0).add_(1.0),
    "clone": lambda: torch.ones(1).expand(3).clone().add_(1.0),
    "contiguous": lambda: torch.ones(1).expand(3).contiguous().add_(1.0),
    "repeat": lambda: torch.ones(1).repeat(3).add_(1.0),
    "fill_": lambda: torch.ones(1).expand(3).fill_(2.0),
    "zero_": lambda: torch.ones(1).expand(3).zero_(),
}.items():
    answers[name] = said(change)


def assigned(x, key):
    x[key] = 5.0
    return x


for name, key in {
    "[0, 0]": (0, 0),
    "[0]": 0,
    "[:, 0]": (slice(None), 0),
    "[:, :1]": (slice(None), slice(0, 1)),
    "[...]": ...,
    "[[0, 1], [0, 1]]": ([0, 1], [0, 1]),
}.items():
    answers[name] = said(lambda key=key: assigned(torch.ones(2, 1).expand(2, 3), key))

weight = torch.nn.Parameter(torch.ones(1).expand(3))
(weight * weight).sum().backward()
answers["a step"] = said(torch.optim.SGD([weight], lr=0.1).step)

x = torch.ones(3)
x[0].fill_(5.0)
for number, element in enumerate(x):
    element.add_(number)
answers["a single element is a view"] = x.tolist()
one = torch.tensor(1.0)
one.view(1).add_(1.0)
one.expand(2)[0].add_(1.0)
answers["of a single number, too"] = one.item()
turned = torch.ones(2, 3).t().contiguous()
answers["in order"] = turned.view(-1).shape


# %% function_transforms
"""torch.func: gradients of functions, by arguments and by dicts of parameters."""

import torch
from torch.func import grad, grad_and_value


def loss(params, x):
    return ((params["w"] * x + params["b"]) ** 2).mean()


def refused(f):
    try:
        return f()
    except AttributeError:
        return "refused"


x = torch.tensor([1.0, 2.0])
params = {"w": torch.tensor([1.0, -1.0]), "b": torch.tensor(0.5)}
answers = {
    "slope": grad(lambda x: (x**3).sum())(x),
    "second": grad(grad(torch.sin))(torch.tensor(1.0)),
    "value": grad_and_value(lambda x: (x**2).sum())(x),
    "parameters": grad(loss)(params, x),
    "second argument": grad(loss, argnums=1)(params, x),
    "several": grad(lambda a, b: (a * b).sum(), argnums=(0, 1))(x, x + 1),
    "aux": grad(lambda x: ((x**2).sum(), x * 2), has_aux=True)(x),
    "nothing is followed": x.requires_grad,
    "vmap": refused(lambda: torch.vmap(torch.dot)(torch.ones(3, 2), torch.ones(3, 2))),
}


# %% graph_of_a_value
"""A loop whose length depends on a value builds another graph each time."""

import torch


def grow(n):
    x = torch.tensor(1.5, requires_grad=True)
    y = x
    for _ in range(n):
        y = y * x
    y.backward()
    return [y.item(), x.grad.item()]


answers = {str(n): grow(n) for n in range(1, 6)}


# %% higher_derivatives
"""Derivatives of derivatives through create_graph."""

import torch

x = torch.tensor(2.0, requires_grad=True)
y = torch.sin(x) * x**3
orders = [y.item()]
for _ in range(3):
    (y,) = torch.autograd.grad(y, x, create_graph=True)
    orders.append(y.item())
answers = {
    "orders": orders,
    "check": torch.autograd.gradcheck(
        lambda t: t**3, torch.ones(2, dtype=torch.float64, requires_grad=True)
    ),
}


# %% hooks_and_kept_gradients
"""Gradients of what is no leaf: kept on request, or seen on their way."""

import torch

seen = []
x = torch.tensor(2.0, requires_grad=True)
h = x * 3
h.retain_grad()
h.register_hook(lambda g: seen.append(g.item()))
(h * h).backward()
answers = {"h": h.grad.item(), "x": x.grad.item(), "seen": seen}


# %% in_order
"""Sorted values, the largest few, and where they were; gradients find their way back."""

import torch

x = torch.tensor([[3.0, 1.0, 2.0], [0.5, 4.0, -1.0]], requires_grad=True)
values, indices = torch.sort(x)
top = torch.topk(x, 2)
(top.values * torch.tensor([[1.0, 10.0], [100.0, 1000.0]])).sum().backward()
torch.manual_seed(1)
answers = {
    "sorted": [values, indices],
    "descending": torch.sort(x, dim=0, descending=True).values,
    "places": torch.argsort(x, dim=1),
    "top": [top.values, top.indices],
    "slope": x.grad,
    "permutation": sorted(torch.randperm(5).tolist()),
}


# %% in_place
"""What may be changed in place: not a leaf, and not what the way back still needs."""

import torch

answers = {}
x = torch.tensor([1.0, 2.0], requires_grad=True)
y = x * 2
y += 1
y.sum().backward()
answers["not needed"] = x.grad
z = torch.exp(x)
z += 1
try:
    z.sum().backward()
    answers["needed"] = "no error"
except RuntimeError:
    answers["needed"] = "RuntimeError"
try:
    x += 1
    answers["leaf"] = "no error"
except RuntimeError:
    answers["leaf"] = "RuntimeError"
with torch.no_grad():
    x += 1
answers["leaf without recording"] = x.detach()


# %% inference
"""no_grad and inference_mode, as blocks and as decorators; what item and detach give."""

import torch

x = torch.tensor([1.0, 2.0], requires_grad=True)


@torch.no_grad()
def evaluated(x):
    return x * 2


with torch.inference_mode():
    y = (x * 2).sum()
w = torch.tensor([1.0, 1.0], requires_grad=True)
(w * x).sum().backward()
with torch.no_grad():
    w -= 0.1 * w.grad
answers = {
    "decorated": evaluated(x).requires_grad,
    "block": y.requires_grad,
    "number": y.item(),
    "detached": (x * 2).detach().requires_grad,
    "by hand": w,
    "still followed": w.requires_grad,
    "gradient stays": w.grad,
}


# %% kinds_of_errors
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


# %% kinks
"""Where a function has a corner or a tie: which gradient there is, and which logarithm of 0."""

import torch
import torch.nn.functional as F

AT = [-1.0, 0.0, 1.0, 2.0, -2.0, 0.5]
TIED = [[1.0, 2.0, 2.0, 1.0], [3.0, 3.0, 3.0, 0.0]]


def slope(f, *values):
    xs = [torch.tensor(v, requires_grad=True) for v in values]
    f(*xs).sum().backward()
    return [x.grad for x in xs]


def steps(f):
    return slope(f, [1.5, -2.5, 2.0])


def steps_or_error(f):
    try:
        return steps(f)
    except RuntimeError:
        return "RuntimeError"


p, t = [0.0, 1.0, 0.5, 1.0, 0.0], torch.tensor([0.0, 1.0, 0.5, 0.0, 1.0])
w = torch.tensor([1.0, 2.0, 3.0, 4.0, 5.0])
score = torch.tensor([200.0, -200.0])
answers = {
    "max along an axis": slope(lambda x: torch.max(x, 1)[0], TIED),
    "max as a method": slope(lambda x: x.max(dim=1).values + x.max(1)[0], TIED),
    "max with its axis kept": slope(lambda x: x.max(dim=1, keepdim=True)[0], TIED),
    "min along an axis": slope(lambda x: torch.min(x, dim=0)[0], TIED),
    "max of all": slope(torch.max, TIED),
    "min of all": slope(lambda x: x.min(), TIED),
    "amax": slope(lambda x: torch.amax(x, 1), TIED),
    "amin": slope(lambda x: x.amin(dim=(0, 1)), TIED),
    "sorted": slope(lambda x: torch.sort(x, 1)[0][:, :2], TIED),
    "topk": slope(lambda x: torch.topk(x, 2, 1)[0], TIED),
    "maximum": slope(torch.maximum, AT, [0.0, 0.0, 1.0, 1.0, 0.0, 0.0]),
    "minimum": slope(torch.minimum, AT, [0.0, 0.0, 1.0, 1.0, 0.0, 0.0]),
    "hinge": slope(lambda x: torch.maximum(torch.zeros(6), 1 - x), AT),
    "clamp": slope(lambda x: torch.clamp(x, -1.0, 1.0), AT),
    "abs": slope(torch.abs, AT),
    "relu": slope(torch.relu, AT),
    "leaky": slope(lambda x: F.leaky_relu(x, 0.2), AT),
    "elu": slope(F.elu, AT),
    "elu of alpha 2": slope(lambda x: F.elu(x, alpha=2.0), AT),
    "elu far out": slope(F.elu, [200.0, -200.0]),
    "softplus": slope(F.softplus, AT),
    "silu": slope(F.silu, AT),
    "gelu": slope(F.gelu, AT),
    "steps": [steps(f) for f in (torch.round, torch.floor, torch.ceil, torch.sign)],
    "steps as methods": steps(lambda x: x.round() + x.floor() * x.ceil() + x.sign()),
    "remainder": slope(lambda x: x % 2.0, AT),
    "whole quotient": steps_or_error(lambda x: x // 2.0),
    "norm": slope(torch.norm, [0.0, 0.0]),
    "norm of rows": slope(lambda x: torch.norm(x, dim=1), [[3.0, 4.0], [0.0, 0.0]]),
    "std": slope(torch.std, [2.0, 2.0]),
    "one number's variance": slope(torch.var, [2.0]),
    "prod": slope(torch.prod, [0.0, 2.0, 0.0]),
    "powers at 0": [slope(lambda x, k=k: x**k, [0.0, -2.0]) for k in (0, 1, 2, 0.5)],
    "power by exponent": slope(torch.pow, [0.0, 0.0, -2.0], [0.0, 2.0, 3.0]),
    "square root at 0": slope(torch.sqrt, [0.0, 4.0]),
    "square root of relu": slope(lambda x: torch.sqrt(torch.relu(x)), AT),
    "where": slope(lambda x: torch.where(x > 0, x, 0.0), AT),
    "l1": slope(lambda x: F.l1_loss(x, torch.ones(6)), AT),
    "max pooling": slope(lambda x: F.max_pool2d(x, 2), [[TIED]]),
    "triangle": torch.tril(torch.full((2, 2), float("inf"))),
    "entropy": F.binary_cross_entropy(torch.tensor(p), t),
    "entropy of each": F.binary_cross_entropy(torch.tensor(p), t, reduction="none"),
    "entropy, weighted": F.binary_cross_entropy(torch.tensor(p), t, weight=w, reduction="sum"),
    "entropy as a layer": torch.nn.BCELoss()(torch.tensor(p), t),
    "entropy, slope": slope(lambda x: F.binary_cross_entropy(x, t), [*p[:3], 0.5, 0.25]),
    "entropy of what saturated": slope(
        lambda x: F.binary_cross_entropy(torch.sigmoid(x), torch.tensor([0.0, 1.0])),
        [200.0, -200.0],
    ),
    "entropy of scores": [
        F.binary_cross_entropy_with_logits(score, torch.tensor([0.0, 1.0])),
        slope(
            lambda x: F.binary_cross_entropy_with_logits(x, t), [200.0, -200.0, 0.0, 200.0, -200.0]
        ),
    ],
    "entropy of classes": slope(
        lambda x: F.cross_entropy(x, torch.tensor([0, 1])), [[200.0, -200.0], [200.0, -200.0]]
    ),
}


# %% leaves
"""Inputs and parameters are leaves, results are not; each has or has not what made it."""

import torch

x = torch.ones(2)
W = torch.ones(2, 2, requires_grad=True)
y = W @ x
z = y.relu()
answers = {
    "leaves": [t.is_leaf for t in (x, W, y, z)],
    "followed": [t.requires_grad for t in (x, W, y, z)],
    "cut off": [z.detach().is_leaf, z.detach().requires_grad],
}
with torch.no_grad():
    y = W @ x
answers["nothing recorded"] = [y.is_leaf, y.requires_grad]


# %% lengths_in_a_loop
"""A recurrent cell in a Python loop: each length is a graph of its own."""

import torch
from torch import nn

cell = nn.RNNCell(2, 2)
with torch.no_grad():
    cell.weight_ih.copy_(torch.tensor([[0.1, 0.2], [0.3, -0.4]]))
    cell.weight_hh.copy_(torch.tensor([[0.5, 0.0], [0.1, 0.5]]))
    cell.bias_ih.copy_(torch.tensor([0.1, -0.1]))
    cell.bias_hh.copy_(torch.tensor([0.0, 0.0]))
answers = {}
for length in (3, 7, 12):
    h = torch.zeros(1, 2)
    for t in range(length):
        h = cell(torch.tensor([[1.0, t / 10]]), h)
    cell.zero_grad()
    h.sum().backward()
    answers[str(length)] = [h, cell.weight_hh.grad]


# %% linear_layer
"""A batch of 64 rows through a linear layer, as the notes print it."""

import torch
import torch.nn as nn

x = torch.randn(64, 784)
linear = nn.Linear(784, 10)
output = linear(x)
by_hand = x @ linear.weight.t() + linear.bias
answers = {
    "shape": tuple(output.shape),
    "weights": tuple(linear.weight.shape),
    "parameters": sum(p.numel() for p in linear.parameters()),
    "same": torch.allclose(output, by_hand, atol=1e-5),
    "recorded": output.requires_grad,
}


# %% more_functions
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


# %% optimisers
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


# %% own_module
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


# %% padded_sequences
"""Sequences of different lengths become one tensor; a mask says what is real, also to gradients."""

import torch
from torch.nn.utils.rnn import pad_sequence

rows = [torch.tensor([4.0, 0.0, 5.0], requires_grad=True), torch.tensor([6.0])]
x = pad_sequence(rows, batch_first=True, padding_value=-1.0)
mask = torch.arange(3) < torch.tensor([[3], [1]])
torch.where(mask, x * x, 0.0).sum().backward()
pairs = [torch.ones(2, 2), torch.zeros(1, 2)]
answers = {"x": x, "gradient": rows[0].grad, "pairs": torch.nn.utils.rnn.pad_sequence(pairs)}


# %% recording
"""no_grad, detach, set_grad_enabled: what is recorded and what is not."""

import torch

w = torch.tensor([1.0, 2.0], requires_grad=True)
with torch.no_grad():
    a = w * 2
b = (w * 2).detach()
c = w.detach() * w


@torch.no_grad()
def predict(x):
    return x * w


torch.set_grad_enabled(False)
d = w * 3
torch.set_grad_enabled(True)
c.sum().backward()
answers = {
    "no_grad": a.requires_grad,
    "detach": b.requires_grad,
    "one side": c.requires_grad,
    "decorated": predict(w).requires_grad,
    "switched off": d.requires_grad,
    "leaf": [w.is_leaf, c.is_leaf],
    "gradient": w.grad,
    "on again": torch.is_grad_enabled(),
}


# %% relu_of_affine
"""y = ReLU(W x + b): every gradient of the sum."""

import torch

W = torch.tensor([[1.0, -2.0], [3.0, 4.0]], requires_grad=True)
x = torch.tensor([1.0, 1.0], requires_grad=True)
b = torch.tensor([0.5, -1.0], requires_grad=True)
y = torch.relu(torch.matmul(W, x) + b)
y.sum().backward()
answers = {"y": y, "dW": W.grad, "dx": x.grad, "db": b.grad}


# %% saved_trace
"""A traced model goes to a file and comes back without the code that made it."""

import os
import tempfile

import torch
from torch import nn

model = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))
x = torch.randn(5, 3)
traced = torch.jit.trace(model, x)
with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "model.pt")
    torch.jit.save(traced, path)
    loaded = torch.jit.load(path)
with torch.no_grad():
    answers = {
        "same": torch.allclose(loaded(x), model(x), atol=1e-6),
        "shape": tuple(loaded(x).shape),
    }


# %% scalar
"""y = x * x + 3 at x = 2, and what happens to a gradient that nobody clears."""

import torch

x = torch.tensor(2.0, requires_grad=True)
y = x * x + 3
y.backward()
first = x.grad.item()
(x * x + 3).backward()
second = x.grad.item()
x.grad.zero_()
answers = {"y": y.item(), "once": first, "twice": second, "cleared": x.grad.item()}


# %% script_loop
"""A script keeps a `while` whose end depends on values; a trace unrolls it."""

import torch


@torch.jit.script
def halve(x):
    while x.sum() > 1:
        x = x / 2
    return x


def unrolled(x):
    for _ in range(3):
        x = x / 2
    return x


traced = torch.jit.trace(unrolled, (torch.tensor([8.0]),))
answers = {
    "short": halve(torch.tensor([3.0])),
    "long": halve(torch.tensor([300.0])),
    "unrolled": traced(torch.tensor([16.0])),
}


# %% scripts_and_errors
"""What a script cannot hold, and what a trace and a script show of themselves."""

import torch


def tries(x):
    try:
        return x
    except ValueError:
        return x * 2


def branch(x):
    if x.sum() > 0:
        return 2 * x
    else:
        return x - 1


def kind(f):
    try:
        f()
    except RuntimeError:
        return "RuntimeError"
    except AttributeError:
        return "AttributeError"
    except Exception:
        return "another error"
    return "no error"


script = torch.jit.script(branch)
script(torch.ones(1))
trace = torch.jit.trace(branch, torch.ones(1))
answers = {
    "try": kind(lambda: torch.jit.script(tries)) != "no error",
    "an if in the script's code": "if" in script.code,
    "a graph": [script.graph is not None, trace.graph is not None],
    "graph_for": kind(lambda: script.graph_for(torch.ones(1))),
    "code of a trace": kind(lambda: trace.code),
    "no branch in a trace": "if" in str(trace.graph),
}


# %% seeds
"""The same seed, the same numbers; in layers, too."""

import torch
from torch import nn

torch.manual_seed(0)
first = torch.randn(3), nn.Linear(2, 2).weight
torch.manual_seed(0)
second = torch.randn(3), nn.Linear(2, 2).weight
answers = {
    "numbers": torch.equal(first[0], second[0]),
    "layers": torch.equal(first[1], second[1]),
    "others": torch.equal(first[0], torch.randn(3)),
    "whole": [0 <= n < 5 for n in torch.randint(5, (4,)).tolist()],
}


# %% shrinking_image
"""A 16x16 image through ten 3x3 convolutions: without padding the eighth has nothing left."""

import torch
from torch import nn

image = torch.zeros(1, 1, 16, 16)
sizes, x = [], image
try:
    for _ in range(10):
        x = nn.Conv2d(1, 1, 3)(x)
        sizes.append(x.shape[-1])
except RuntimeError:
    sizes.append("RuntimeError")
x = image
for _ in range(10):
    x = nn.Conv2d(1, 1, 3, padding=1)(x)
answers = {"unpadded": sizes, "padded": tuple(x.shape)}


# %% states
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


# %% traced_lengths
"""A trace made of one row takes three: lengths are read anew, what Python did with them is not."""

import torch
from torch import nn
from torch.nn import functional as F

answers = {}


def counted(*shape):
    n = 1
    for length in shape:
        n *= length
    return torch.arange(n).float().reshape(shape) * 0.1


def filled(module):
    for number, p in enumerate(module.parameters()):
        p.data.fill_(0.1 * (number + 1))
    return module.eval()


def answer(f, examples, inputs):
    try:
        return torch.jit.trace(f, examples)(*inputs).tolist()
    except (RuntimeError, ValueError, IndexError):
        return "an error"


def reshaped(x):
    b, c, d = x.shape
    return x.view(b, c * d)


def attention(x):
    b, n, d = x.size()
    y = x.view(b, n, 2, d // 2).transpose(1, 2)
    weights = torch.softmax(y @ y.transpose(-2, -1), dim=-1)
    return (weights @ y).transpose(1, 2).reshape(b, n, d)


def by_rows(x):
    y = torch.zeros(2)
    for i in range(x.shape[0]):
        y = y + x[i]
    return y


def rows_themselves(x):
    return sum(row for row in x)


class Outputs(nn.Module):
    def __init__(self):
        super().__init__()
        self.steps = nn.GRU(2, 3)

    def forward(self, x):
        return self.steps(x)[0]


def branch(x):
    return x * 2 if x.shape[0] == 1 else x


row, image = torch.ones(1, 2), torch.ones(1, 1, 6, 6)
net = nn.Sequential(nn.Conv2d(1, 2, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(8, 3))
for name, (f, examples, inputs) in {
    "linear": (filled(nn.Linear(2, 1)), (row,), [counted(3, 2)]),
    "fewer": (filled(nn.Linear(2, 1)), (torch.ones(5, 2),), [counted(1, 2)]),
    "none": (filled(nn.Linear(2, 1)), (torch.ones(5, 2),), [torch.zeros(0, 2)]),
    "another width": (filled(nn.Linear(2, 1)), (row,), [counted(3, 4)]),
    "two inputs": (lambda x, y: x * y, (row, row), [counted(3, 2), counted(1, 2)]),
    "broadcast": (
        lambda x, y: x + y,
        (torch.ones(2, 2), torch.ones(2)),
        [counted(3, 4), counted(4)],
    ),
    "do not fit": (lambda x, y: x + y, (row, row), [counted(3, 2), counted(2, 2)]),
    "joined": (lambda x, y: torch.cat([x, y]), (row, row), [counted(3, 2), counted(2, 2)]),
    "convolution": (filled(nn.Conv2d(1, 2, 3)), (image,), [counted(2, 1, 5, 4)]),
    "network": (filled(net), (image,), [counted(3, 1, 6, 6)]),
    "network, another size": (filled(net), (image,), [counted(3, 1, 8, 8)]),
    "batch norm": (filled(nn.BatchNorm1d(2)), (row,), [counted(3, 2)]),
    "dropout": (filled(nn.Dropout(0.5)), (row,), [counted(3, 2)]),
    "layer norm": (filled(nn.LayerNorm(2)), (row,), [counted(3, 2)]),
    "embedding": (
        filled(nn.Embedding(5, 2)),
        (torch.tensor([[1, 2]]),),
        [torch.tensor([[4, 0, 1]])],
    ),
    "cell": (filled(nn.RNNCell(2, 3)), (row, torch.ones(1, 3)), [counted(2, 2), counted(2, 3)]),
    "recurrent": (filled(Outputs()), (torch.ones(4, 1, 2),), [counted(4, 2, 2)]),
    "view(1, -1)": (lambda x: x.view(1, -1), (row,), [counted(3, 2)]),
    "view(2, 1)": (lambda x: x.view(2, 1), (row,), [counted(3, 2)]),
    "view(size(0), -1)": (
        lambda x: x.view(x.size(0), -1),
        (torch.ones(1, 2, 2),),
        [counted(3, 2, 2)],
    ),
    "reshaped": (reshaped, (torch.ones(1, 2, 3),), [counted(2, 3, 2)]),
    "flatten": (lambda x: torch.flatten(x, 1), (torch.ones(1, 2, 3),), [counted(2, 3, 2)]),
    "attention": (attention, (torch.ones(1, 3, 4),), [counted(2, 2, 4)]),
    "expand": (lambda x: torch.ones(1, 2).expand(x.size(0), 2) + x, (row,), [counted(3, 2)]),
    "half": (lambda x: x[: x.shape[0] // 2], (torch.ones(4, 2),), [counted(6, 2)]),
    "last": (lambda x: x[-1], (torch.ones(4, 2),), [counted(6, 2)]),
    "times its length": (lambda x: x * x.size(0), (row,), [counted(3, 2)]),
    "mean by hand": (lambda x: x.sum() / x.shape[0] + x.numel(), (row,), [counted(3, 2)]),
    "int(its length)": (lambda x: x * int(x.size(0)), (row,), [counted(3, 2)]),
    "len": (lambda x: x * len(x), (row,), [counted(3, 2)]),
    "zeros": (lambda x: torch.cat([x, torch.zeros(x.size(0), 1)], 1), (row,), [counted(3, 2)]),
    "arange": (lambda x: x + torch.arange(x.size(0)).unsqueeze(1), (row,), [counted(3, 2)]),
    "loss": (
        lambda x, y: F.cross_entropy(x, y),
        (row, torch.tensor([0])),
        [counted(3, 2), torch.tensor([0, 1, 1])],
    ),
    "loop over its length": (by_rows, (row,), [counted(3, 2)]),
    "loop over more": (by_rows, (torch.ones(3, 2),), [counted(1, 2)]),
    "loop over rows": (rows_themselves, (torch.ones(2, 2),), [counted(3, 2)]),
    "parts": (lambda x: torch.split(x, 2)[0], (torch.ones(4, 2),), [counted(6, 2)]),
    "if": (branch, (row,), [counted(3, 2)]),
}.items():
    answers[name] = answer(f, examples, inputs)

linear = filled(nn.Linear(2, 1))
trace = torch.jit.trace(linear, row, check_inputs=[(counted(3, 2),)], strict=True)
trace(counted(3, 2)).sum().backward()
answers["gradient"] = linear.weight.grad.tolist()
linear.weight.data.fill_(5.0)
answers["new weights"] = trace(counted(3, 2)).tolist()
module = torch.jit.trace_module(linear, {"forward": row})
answers["trace_module"] = module(counted(2, 2)).tolist()
calls, factor = [], [2.0]
scaled = torch.jit.trace(lambda x: (calls.append(x), x * factor[0])[1], row, check_trace=False)
factor[0] = 5.0
answers["Python ran once"] = [scaled(counted(3, 2)).tolist(), len(calls)]


# %% training_and_evaluation
"""Dropout and batch norm compute one thing while training and another afterwards."""

import torch
from torch import nn

x = torch.tensor([[1.0, 10.0], [3.0, 30.0]])
norm, drop = nn.BatchNorm1d(2), nn.Dropout(0.5)
trained = norm(x).detach()
norm.eval()
drop.eval()
answers = {
    "trained": trained,
    "running mean": norm.running_mean,
    "running variance": norm.running_var,
    "evaluated": norm(x).detach(),
    "dropout": drop(x),
}


# %% training_loop
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


# %% tree
"""Recursion over trees: shared weights get the sum of all their gradients."""

import torch

W = torch.tensor([[0.5, -0.2, 0.1, 0.3], [0.2, 0.4, -0.3, 0.1]], requires_grad=True)
words = {"a": torch.tensor([1.0, 0.0]), "b": torch.tensor([0.0, 1.0])}


def encode(tree):
    if isinstance(tree, str):
        return words[tree]
    left, right = tree
    return torch.tanh(W @ torch.cat([encode(left), encode(right)]))


answers = {}
for tree in ["ab", (("a", "b"), "a"), ("b", ("a", ("b", "b")))]:
    W.grad = None
    encode(tree if isinstance(tree, tuple) else tuple(tree)).sum().backward()
    answers[str(tree)] = W.grad


# %% unused_leaf
"""A gradient that was not computed is None, not 0."""

import torch

x = torch.tensor(2.0, requires_grad=True)
unused = torch.tensor(5.0, requires_grad=True)
y = x**3
(dx, du) = torch.autograd.grad(y, (x, unused), allow_unused=True, retain_graph=True)
answers = {"dx": dx, "unused": du is None, "before": x.grad is None}
try:
    torch.autograd.grad(y, [unused])
    answers["asked for"] = "no error"
except RuntimeError:
    answers["asked for"] = "RuntimeError"
y.backward()
answers["after"] = [x.grad.item(), unused.grad is None]

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

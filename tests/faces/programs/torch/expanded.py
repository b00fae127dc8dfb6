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

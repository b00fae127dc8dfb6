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

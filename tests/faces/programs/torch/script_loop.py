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

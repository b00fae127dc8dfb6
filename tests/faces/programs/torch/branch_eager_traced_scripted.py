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

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

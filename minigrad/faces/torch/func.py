"""PyTorch's function transforms: `torch.func.grad`."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import minigrad as mg
from minigrad.faces.face import Compat
from minigrad.faces.torch.tensors import as_torch

__all__ = ["grad", "grad_and_value"]


def grad_and_value(func: Callable[..., Any], argnums: Any = 0, has_aux: bool = False) -> Any:
    """Return a function for the gradient of `func` by one argument or several, and its value."""

    @functools.wraps(func)
    def call(*args: Any, **kwargs: Any) -> Any:
        several = isinstance(argnums, tuple)
        chosen = argnums if several else (argnums,)
        with mg.enable_grad():
            leaves = {i: _require_grad_leaves(args[i]) for i in chosen}
            given = {i: x if isinstance(args[i], dict) else x[""] for i, x in leaves.items()}
            found = func(*(given.get(i, x) for i, x in enumerate(args)), **kwargs)
            y = found[0] if has_aux else found
            flat = [x for tree in leaves.values() for x in tree.values()]
            slopes = iter(mg.grad(y, flat, create_graph=True, allow_unused=True))
            by = {
                i: {k: _or_zeros(next(slopes), x) for k, x in tree.items()}
                for i, tree in leaves.items()
            }
        shown = tuple(by[i] if isinstance(args[i], dict) else by[i][""] for i in chosen)
        return (shown if several else shown[0]), found

    return call


def grad(func: Callable[..., Any], argnums: Any = 0, has_aux: bool = False) -> Any:
    """Return a function for the gradient of `func` by one argument or several."""
    both = grad_and_value(func, argnums, has_aux)

    @functools.wraps(func)
    def call(*args: Any, **kwargs: Any) -> Any:
        slope, found = both(*args, **kwargs)
        return (slope, found[1]) if has_aux else slope

    return call


def _require_grad_leaves(x: Any) -> dict[str, Any]:
    """Return a dict of leaves that require gradients, from a tensor or a dict of tensors."""
    return {k: _leaf(value) for k, value in (x if isinstance(x, dict) else {"": x}).items()}


def _leaf(x: Any) -> Any:
    return x * 1 if x.requires_grad else as_torch(mg.tensor(x._array, True))


def _or_zeros(gradient: Any, x: Any) -> Any:
    return mg.zeros_like(x) if gradient is None else gradient


__getattr__ = face = Compat(
    "torch.func",
    lacks={
        "torch.stack([f(x) for x in xs])": "vmap",
        "torch.stack([torch.func.grad(lambda x: f(x)[i])(x) for i in range(3)])": "jacrev jacfwd",
        "torch.func.grad(lambda x: torch.func.grad(f)(x)[i])": "hessian",
        "torch.func.grad(f)": "jvp vjp linearize",
        "model.load_state_dict(parameters)": "functional_call",
    },
)
__dir__ = face.names

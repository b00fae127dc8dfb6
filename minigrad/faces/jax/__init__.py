"""JAX's words: `import minigrad.faces.jax as jax`, `import minigrad.faces.jax.numpy as jnp`.

>>> import minigrad.faces.jax as jax
>>> import minigrad.faces.jax.numpy as jnp
>>> jax.grad(lambda x: jnp.sin(x) * x)(0.0).item()
0.0
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import minigrad as mg
from minigrad.faces.face import Face
from minigrad.faces.jax import errors, lax, nn, numpy, random, tree_util
from minigrad.faces.jax.tree_util import tree_flatten, tree_unflatten

__all__ = [
    "errors",
    "grad",
    "jit",
    "lax",
    "make_jaxpr",
    "nn",
    "numpy",
    "random",
    "tree_util",
    "value_and_grad",
]


class NotOneNumber(mg.GradientError, TypeError):
    """A gradient of what is not a single number, which JAX calls a TypeError."""


def as_arrays(values: Any) -> Any:
    """Numbers in a structure as arrays: JAX traces them, and asks only for shape and data type."""
    return tree_util.tree_map(lambda x: numpy.array(x) if isinstance(x, NUMBERS) else x, values)


NUMBERS = int, float, bool


def jit(fun: Callable[..., Any]) -> Callable[..., Any]:
    """The function as a graph, traced once for each shape and data type of its arguments."""
    traced = mg.function(fun)

    @functools.wraps(fun)
    def call(*args: Any, **kwargs: Any) -> Any:
        return traced(*as_arrays(args), **as_arrays(kwargs))

    return call


def make_jaxpr(fun: Callable[..., Any]) -> Callable[..., mg.Graph]:
    """A function of examples that returns the graph which `fun` builds for them."""
    return lambda *args: mg.make_graph(fun)(*as_arrays(args))


def value_and_grad(fun: Callable[..., Any], argnums: Any = 0, has_aux: bool = False) -> Any:
    """A function that returns what `fun` returns, and its gradient by the argument, or several."""

    @functools.wraps(fun)
    def call(*args: Any, **kwargs: Any) -> Any:
        several = isinstance(argnums, (tuple, list))
        chosen = argnums if several else (argnums,)
        leaves, structure = tree_flatten([as_arrays(args[i]) for i in chosen])
        leaves = [_followed(x) for x in leaves]
        given = dict(zip(chosen, tree_unflatten(structure, leaves), strict=True))
        result = fun(*(given.get(i, x) for i, x in enumerate(args)), **kwargs)
        y = result[0] if has_aux else result
        gradient = tree_unflatten(structure, _slopes(y, leaves))
        return result, tuple(gradient) if several else gradient[0]

    return call


def grad(fun: Callable[..., Any], argnums: Any = 0, has_aux: bool = False) -> Any:
    """A function that returns the gradient of `fun` by the argument, or several."""
    both = value_and_grad(fun, argnums, has_aux)

    @functools.wraps(fun)
    def call(*args: Any, **kwargs: Any) -> Any:
        value, gradient = both(*args, **kwargs)
        return (gradient, value[1]) if has_aux else gradient

    return call


def _followed(x: Any) -> Any:
    """x, so that a gradient by it can be asked for, and one of that gradient from outside."""
    if getattr(x, "requires_grad", False) or (isinstance(x, mg.Node) and x.dtype.kind == "f"):
        return x * 1
    if isinstance(x, mg.Node):
        raise mg.DtypeError("float_only", op="grad", dtype=x.dtype)
    return mg.tensor(x, requires_grad=True)


def _slopes(y: Any, leaves: list[Any]) -> list[Any]:
    """The gradients of y, 0 where it does not depend; they can be differentiated again."""
    if getattr(y, "shape", ()) != ():
        raise NotOneNumber("scalar_only", shape=y.shape)
    found: list[Any] = [None] * len(leaves)
    if any(isinstance(x, mg.Node) for x in (y, *leaves)):
        found = [*mg.gradients(y, leaves)]
    elif getattr(y, "requires_grad", False):
        found = [*mg.grad(y, leaves, create_graph=True, allow_unused=True)]
    return [mg.zeros_like(x) if g is None else g for g, x in zip(found, leaves, strict=True)]


__getattr__ = face = Face(
    "jax",
    "Array=Tensor",
    calls={"device_get(x)": "x.numpy()"},
    lacks={
        "jax.grad(f)": "jacfwd jacrev hessian jvp vjp linearize",
        "jnp.stack([f(x) for x in xs])": "vmap pmap",
    },
)
__dir__ = face.names

"""A compatibility layer for JAX: `import minigrad.faces.jax as jax`.

>>> import minigrad.faces.jax as jax
>>> import minigrad.faces.jax.numpy as jnp
>>> jax.grad(lambda x: jnp.sin(x) * x)(0.0).item()
0.0
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import math
from collections.abc import Callable, Iterator
from typing import Any

import minigrad as mg
from minigrad.faces.face import Compat, as_tuple
from minigrad.faces.jax import array, debug, errors, jaxpr, lax, nn, numpy, random, tree, tree_util
from minigrad.faces.jax.array import Array, as_array
from minigrad.faces.jax.tree_util import tree_flatten, tree_unflatten
from minigrad.faces.ties import following, ops


def _clip_vjp(g: Any, y: Any, x: Any, low: Any = None, high: Any = None) -> Any:
    """Differentiate `jnp.clip`: on a bound, x and the bound get half of the gradient each."""
    for bound, outside in ((low, mg.less), (high, mg.greater)):
        if bound is not None:
            half = mg.where(mg.equal(x, bound), 0.5, mg.ones_like(x))
            g = mg.where(outside(x, bound), 0, g * half)
    return g


# Where JAX's own rules differ.
RULES: dict[Any, Any] = {
    ops.abs: (lambda g, y, x: mg.where(x >= 0, g, -g),),  # 1 at 0
    ops.clip: (_clip_vjp,),
}

__all__ = [
    "Array",
    "array",
    "debug",
    "errors",
    "grad",
    "hessian",
    "jacrev",
    "jaxpr",
    "jit",
    "lax",
    "make_jaxpr",
    "nn",
    "numpy",
    "random",
    "tree",
    "tree_util",
    "value_and_grad",
    "vjp",
    "vmap",
]


class NotOneNumber(mg.GradientError, TypeError):
    """A gradient of what is not a single number, which JAX calls a TypeError."""


def as_arrays(values: Any) -> Any:
    """Convert numbers and arrays in a pytree to JAX arrays."""
    return tree_util.tree_map(as_array, values)


def jit(
    fun: Callable[..., Any],
    static_argnums: Any = (),
    static_argnames: Any = (),
    donate_argnums: Any = (),
) -> Callable[..., Any]:
    """Compile a function to a graph, traced once for each shape and data type of its arguments.

    Static arguments are handed on as they are; the function is traced for each of their values.
    """
    none = (static_argnums, static_argnames) == ((), ())
    names = [] if none else [*inspect.signature(fun).parameters]
    fixed = {*map(names.__getitem__, as_tuple(static_argnums)), *as_tuple(static_argnames)}
    programs: dict[Any, Any] = {}

    @functools.wraps(fun)
    def call(*args: Any, **kwargs: Any) -> Any:
        given = {**dict(zip(names, args, strict=False)), **kwargs} if fixed else {}
        static = {name: x for name, x in given.items() if name in fixed}
        try:
            program = programs.setdefault((*static.items(),), None) or mg.function(
                bind_static(fun, static)
            )
        except TypeError as error:
            raise mg.ArgumentError("face_static", value=repr(static)[:60]) from error
        programs[(*static.items(),)] = program
        if static:
            args, kwargs = (), {name: x for name, x in given.items() if name not in fixed}
        return as_arrays(program(*as_arrays(args), **as_arrays(kwargs)))

    return call


def bind_static(fun: Callable[..., Any], static: dict[str, Any]) -> Callable[..., Any]:
    """Bind a function's static arguments, and convert its others to arrays or tracers."""
    known = inspect.signature(fun).parameters if static else {}
    left = [x for x in known.values() if x.name not in static]

    @functools.wraps(fun)
    def call(*args: Any, **kwargs: Any) -> Any:
        if not static:
            return fun(*as_arrays(args), **as_arrays(kwargs))
        given = dict(zip((x.name for x in left), args, strict=False))
        return fun(**as_arrays(given | kwargs), **static)

    if static:
        call.__signature__ = inspect.Signature(left)  # type: ignore[attr-defined]
    return call


class Jaxpr(mg.Graph):
    """A graph that prints itself as JAX does."""

    def __repr__(self) -> str:
        return jaxpr.format_jaxpr(self)

    __str__ = __repr__


def make_jaxpr(fun: Callable[..., Any]) -> Callable[..., mg.Graph]:
    """Return a function of example arguments that returns the graph of `fun` for them."""

    def call(*args: Any) -> mg.Graph:
        graph = mg.make_graph(bind_static(fun, {}))(*as_arrays(args))
        graph.__class__ = Jaxpr  # not a copy: its nodes belong to this very graph
        return graph

    return call


def vmap(fun: Callable[..., Any], in_axes: Any = 0, out_axes: int = 0) -> Callable[..., Any]:
    """Vectorize a function of one example over many: traced once, run along an axis.

    in_axes: for all arguments or for each the axis that the examples lie along; None for what all
    of them share.
    """

    @functools.wraps(fun)
    def call(*args: Any) -> Any:
        axes = [*in_axes] if isinstance(in_axes, (tuple, list)) else [in_axes] * len(args)
        many = [i for i, axis in enumerate(axes) if axis is not None]

        def along(*given: Any) -> Any:
            front = [axis_to_front(given[i], axes[i]) for i in many]

            def step(carry: Any, xs: Any) -> Any:
                mine = dict(zip(many, xs, strict=True))
                return carry, fun(*as_arrays([mine.get(i, x) for i, x in enumerate(given)]))

            return mg.scan(step, numpy.zeros(()), front)[1]

        found = as_arrays(mg.function(along)(*as_arrays(args)))
        return tree_util.tree_map(lambda y: lax.move_axis(y, 0, out_axes), found)

    return call


@contextlib.contextmanager
def at_once() -> Iterator[None]:
    """Run jitted functions as plain Python inside the block."""
    mg.run_functions_eagerly(True)
    token = array.AT_ONCE.set(True)
    try:
        yield
    finally:
        array.AT_ONCE.reset(token)
        mg.run_functions_eagerly(False)


def axis_to_front(values: Any, axis: int) -> Any:
    """Move this axis of each array to the front."""
    return tree_util.tree_map(lambda x: lax.move_axis(x, axis, 0), values)


def jacrev(fun: Callable[..., Any], argnums: int = 0) -> Callable[..., Any]:
    """Return a function for the Jacobian: the gradient of each element of `fun`'s result."""

    @functools.wraps(fun)
    def call(*args: Any) -> Any:
        def element(i: int) -> Any:
            return grad(lambda *xs: numpy.reshape(fun(*xs), -1)[i], argnums)(*args)

        shape = fun(*as_arrays(args)).shape
        rows = [element(i) for i in range(math.prod(shape))]
        return tree_util.tree_map(lambda *xs: numpy.stack(xs).reshape(*shape, *xs[0].shape), *rows)

    return call


def hessian(fun: Callable[..., Any], argnums: int = 0) -> Callable[..., Any]:
    """Return a function for the Hessian: all second derivatives of `fun`."""
    return jacrev(grad(fun, argnums), argnums)


def value_and_grad(fun: Callable[..., Any], argnums: Any = 0, has_aux: bool = False) -> Any:
    """Return a function for the value of `fun` and its gradient by one argument or several."""

    @functools.wraps(fun)
    def call(*args: Any, **kwargs: Any) -> Any:
        several = isinstance(argnums, (tuple, list))
        chosen = argnums if several else (argnums,)
        leaves, structure = tree_flatten([as_arrays(args[i]) for i in chosen])
        leaves = [_as_leaf(x) for x in leaves]
        given = dict(zip(chosen, tree_unflatten(structure, leaves), strict=True))
        with following(RULES):  # a compiled function builds its way back as it is called
            result = fun(*(given.get(i, x) for i, x in enumerate(args)), **kwargs)
        y = result[0] if has_aux else result
        gradient = tree_unflatten(structure, _leaf_gradients(y, leaves))
        return result, tuple(gradient) if several else gradient[0]

    return call


def grad(fun: Callable[..., Any], argnums: Any = 0, has_aux: bool = False) -> Any:
    """Return a function for the gradient of `fun` by one argument or several."""
    both = value_and_grad(fun, argnums, has_aux)

    @functools.wraps(fun)
    def call(*args: Any, **kwargs: Any) -> Any:
        value, gradient = both(*args, **kwargs)
        return (gradient, value[1]) if has_aux else gradient

    return call


def vjp(fun: Callable[..., Any], *primals: Any, has_aux: bool = False) -> Any:
    """Return the result of `fun` and a function from a cotangent to the primals' gradients.

    The cotangent has the shape of the result; the gradients are one tuple, for all primals.
    """
    leaves, structure = tree_flatten(as_arrays(list(primals)))
    leaves = [_as_leaf(x) for x in leaves]
    with following(RULES):
        result = fun(*tree_unflatten(structure, leaves))
    y = result[0] if has_aux else result
    outputs, _ = tree_flatten(y)

    def pullback(seed: Any) -> tuple[Any, ...]:
        weights, _ = tree_flatten(as_arrays(seed))
        for weight, output in zip(weights, outputs, strict=True):
            if weight.shape != output.shape:
                raise mg.ShapeError("seed_shape", seed=weight.shape, shape=output.shape)
        total = sum(mg.sum(y * g) for y, g in zip(outputs, weights, strict=True))
        return tuple(tree_unflatten(structure, _leaf_gradients(total, leaves)))

    return (y, pullback, result[1]) if has_aux else (y, pullback)


def _as_leaf(x: Any) -> Any:
    """Return x as a leaf for gradients; those of an outer `grad` still flow through it."""
    if getattr(x, "requires_grad", False) or (isinstance(x, mg.Node) and x.dtype.kind == "f"):
        return x * 1
    if isinstance(x, mg.Node):
        raise mg.DtypeError("float_only", op="grad", dtype=x.dtype)
    return Array(x.data, requires_grad=True)


def _leaf_gradients(y: Any, leaves: list[Any]) -> list[Any]:
    """Return the differentiable gradients of y, 0 for leaves that y doesn't depend on."""
    if getattr(y, "shape", ()) != ():
        raise NotOneNumber("scalar_only", shape=y.shape)
    found: list[Any] = [None] * len(leaves)
    with following(RULES):
        if any(isinstance(x, mg.Node) for x in (y, *leaves)):
            found = [*mg.gradients(y, leaves)]
        elif getattr(y, "requires_grad", False):
            found = [*mg.grad(y, leaves, create_graph=True, allow_unused=True)]
    pairs = zip(found, leaves, strict=True)
    return [as_array(mg.zeros_like(x) if g is None else g) for g, x in pairs]


__getattr__ = face = Compat(
    "jax",
    calls={
        "block_until_ready(x)": "x",
        "checkpoint(fun)": "fun",
        "debug_nans(new_val=True)": "mg.detect_anomaly() if new_val else nullcontext()",
        "default_backend()": "'cpu'",
        "device_count()": "1",
        "device_get(x)": "tree_map(lambda x: x.numpy(), x)",
        "device_put(x, device=None)": "as_arrays(x)",
        "devices(backend=None)": "['cpu']",
        "disable_jit()": "at_once()",
        "eval_shape(fun, *args)": "make_jaxpr(fun)(*args).outputs[0]",
        "jacfwd(fun, argnums=0)": "jacrev(fun, argnums)",
        "remat(fun)": "fun",
    },
    lacks={
        "jax.grad(f)": "jvp linearize",
        "jax.vmap(f)": "pmap",
        "jax.lax.stop_gradient(x)": "custom_jvp custom_vjp",
        "np.asarray(x, np.float64)": "config",
    },
    as_arrays=as_arrays,
    at_once=at_once,
    jacrev=jacrev,
    make_jaxpr=make_jaxpr,
    nullcontext=contextlib.nullcontext,
    tree_map=tree_util.tree_map,
)
__dir__ = face.names

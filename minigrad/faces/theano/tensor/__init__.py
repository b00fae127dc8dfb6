"""Theano's functions of variables: `import minigrad.faces.theano.tensor as T`.

A variable has the data type `theano.config.floatX` unless its name says otherwise: `T.dmatrix` has
float64, `T.ivector` int32.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

import minigrad as mg
from minigrad.faces.face import Compat, as_tuple
from minigrad.faces.theano import config, gradient
from minigrad.faces.theano.tensor import basic, nnet, subtensor
from minigrad.faces.theano.tensor.basic import (
    Length,
    TensorType,
    TensorVariable,
    as_type,
    as_variable,
    constant,
    lift,
    on_variables,
    promote,
    to_float,
    to_variables,
)

__all__ = [
    "TensorType",
    "TensorVariable",
    "alloc",
    "arange",
    "basic",
    "constant",
    "grad",
    "nnet",
    "ones",
    "stack",
    "subtensor",
    "zeros",
]

grad = gradient.grad


def arange(start: Any, stop: Any = None, step: int = 1, dtype: Any = None) -> Any:
    """Return numbers in order, also up to a length known only at run time (`x.shape[0]`)."""
    if isinstance(start, Length) and start.ones is not None and stop is None and step == 1:
        return TensorVariable(cast_if(mg.cumsum(start.ones, 0) - 1, dtype))
    if any(isinstance(x, TensorVariable) for x in (start, stop, step)):
        raise face.error_for("arange")
    bounds = (start,) if stop is None else (start, stop, step)
    return to_variables(cast_if(np.arange(*bounds), dtype))


def alloc(value: Any, *shape: Any) -> Any:
    """Fill a shape with a value; a length may be known only at run time."""
    found = lift(value)
    for i, n in enumerate(shape):
        along = [1] * i + [-1] + [1] * (len(shape) - i - 1)
        open_ = isinstance(n, Length) and n.ones is not None
        ones = n.ones if open_ else mg.ones(int(np.asarray(lift(n))), dtype=found.dtype)
        found = mg.multiply(found, as_type(mg.reshape(ones, along), found.dtype))
    return to_variables(found)


def zeros(shape: Any, dtype: Any = None) -> Any:
    """Return zeros in this shape, which may be one number."""
    return alloc(np.zeros((), dtype or config.floatX), *as_tuple(shape))


def ones(shape: Any, dtype: Any = None) -> Any:
    """Return ones in this shape, which may be one number."""
    return alloc(np.ones((), dtype or config.floatX), *as_tuple(shape))


def stack(*tensors: Any, axis: int = 0) -> TensorVariable:
    """Stack variables along a new axis: a list of them, or several arguments."""
    if isinstance(tensors[0], (list, tuple)):
        tensors, axis = (tensors[0], *tensors[1:], axis)[:2]
    return TensorVariable(mg.stack(promote(*tensors), axis))


def cast_if(x: Any, dtype: Any) -> Any:
    """Cast x to a data type, if one is given."""
    return x if dtype is None else as_type(lift(x), np.dtype(dtype))


def matmul_or_scale(a: Any, b: Any) -> Any:
    """Return the matrix product, or the plain product if an operand has no axes."""
    x, y = promote(a, b)
    return mg.matmul(x, y) if x.ndim and y.ndim else mg.multiply(x, y)


def reorder_axes(x: mg.Node, pattern: Sequence[Any]) -> Any:
    """Reorder axes; "x" is a new one, and those of length 1 may be left out."""
    kept = [i for i in pattern if i != "x"]
    dropped = tuple(i for i in range(x.ndim) if i not in kept)
    order = mg.transpose(x, (*kept, *dropped)) if x.ndim else x
    if dropped:
        order = mg.squeeze(order, tuple(range(len(kept), x.ndim)))
    for place in [place for place, i in enumerate(pattern) if i == "x"]:
        order = mg.expand_dims(order, place)
    return order


def is_nonzero(x: Any) -> Any:
    """Return True for each element that isn't 0."""
    found = lift(x)
    return found if found.dtype == bool else mg.not_equal(*promote(found, 0))


def reshape_lengths(shape: Any) -> Any:
    """Return the lengths for `reshape`, with -1 for one known only at run time."""
    return [-1 if isinstance(n, mg.Node) else n for n in as_tuple(shape)]


def axes(axis: Any) -> Any:
    """Return one axis unchanged, or several as a tuple."""
    return tuple(axis) if isinstance(axis, (list, tuple)) else axis


PREFIXES = {"": None, "b": "int8", "i": "int32", "l": "int64", "f": "float32", "d": "float64"}
SHAPES = {
    "scalar": (),
    "vector": (0,),
    "matrix": (0, 0),
    "row": (1, 0),
    "col": (0, 1),
    "tensor3": (0,) * 3,
    "tensor4": (0,) * 4,
}


def type_constructors() -> dict[str, str]:
    """Return a table of calls for each variable type: one for one variable, one for several."""
    found = {}
    for prefix, dtype in PREFIXES.items():
        for kind, pattern in SHAPES.items():
            given = f"dtype or {dtype!r} or config.floatX"
            made = f"TensorType({given}, {pattern})"
            several = "matrices" if kind == "matrix" else f"{kind}s"
            found[f"{prefix}{kind}(name=None, dtype=None)"] = f"{made}(name)"
            found[f"{prefix}{several}(*names, dtype=None)"] = f"make_variables({made}, names)"
    return found


def make_variables(kind: TensorType, names: tuple[Any, ...]) -> list[TensorVariable]:
    """Make one variable for each name, or this number of them without names."""
    count = names[0] if len(names) == 1 and isinstance(names[0], int) else None
    return [kind(name) for name in (names if count is None else [None] * count)]


REDUCED = "x, axis=None, dtype=None, keepdims=False"
REAL = "exp log1p sqrt sin cos tanh erf"
PAIRS = {
    "add": "add",
    "and_": "logical_and",
    "eq": "equal",
    "ge": "greater_equal",
    "gt": "greater",
    "int_div": "floor_divide",
    "le": "less_equal",
    "lt": "less",
    "maximum": "maximum",
    "minimum": "minimum",
    "mod": "mod",
    "mul": "multiply",
    "neq": "not_equal",
    "or_": "logical_or",
    "pow": "pow",
    "sub": "subtract",
    "xor": "logical_xor",
}

__getattr__ = face = Compat(
    "theano.tensor",
    calls={
        **type_constructors(),
        **{f"{name}(x)": f"mg.{name}(to_float(x))" for name in REAL.split()},
        **{f"{name}(x, y)": f"mg.{ours}(*promote(x, y))" for name, ours in PAIRS.items()},
        "abs_(x)": "mg.abs(lift(x))",
        "all(x, axis=None, keepdims=False)": "mg.all(is_nonzero(x), axes(axis), keepdims)",
        "any(x, axis=None, keepdims=False)": "mg.any(is_nonzero(x), axes(axis), keepdims)",
        "argmax(x, axis=None, keepdims=False)": "mg.argmax(lift(x), axis, keepdims)",
        "argmin(x, axis=None, keepdims=False)": "mg.argmin(lift(x), axis, keepdims)",
        "as_tensor_variable(x, name=None, ndim=None)": "as_variable(x)",
        "batched_dot(a, b)": "mg.matmul(*promote(a, b))",
        "cast(x, dtype)": "cast_if(x, dtype)",
        "ceil(x)": "mg.ceil(lift(x))",
        "clip(x, min, max)": "mg.minimum(*promote(mg.maximum(*promote(x, min)), max))",
        "concatenate(tensor_list, axis=0)": "mg.concatenate(promote(*tensor_list), axis)",
        "cumsum(x, axis=None)": (
            "cast_if(mg.cumsum(mg.flatten(x) if axis is None else x, axis or 0), x.dtype)"
        ),
        "dot(a, b)": "matmul_or_scale(a, b)",
        "eye(n, m=None, k=0, dtype=None)": "np.eye(n, m, k, dtype or config.floatX)",
        "fill(a, b)": "mg.add(*promote(mg.zeros_like(lift(a)), b))",
        "flatten(x, ndim=1)": "mg.flatten(x, ndim - 1)",
        "floor(x)": "mg.floor(lift(x))",
        "inv(x)": "mg.divide(1, to_float(x))",
        "invert(x)": "mg.logical_not(x)",
        "isnan(x)": "mg.isnan(lift(x))",
        "log(x)": "nnet.stable_log(to_float(x))",
        "max(x, axis=None, keepdims=False)": "mg.max(x, axis=axes(axis), keepdims=keepdims)",
        f"mean({REDUCED})": "cast_if(mg.mean(to_float(x), axes(axis), keepdims), dtype)",
        "min(x, axis=None, keepdims=False)": "mg.min(x, axis=axes(axis), keepdims=keepdims)",
        "neg(x)": "mg.negative(lift(x))",
        "ones_like(x, dtype=None)": "cast_if(mg.ones_like(lift(x)), dtype)",
        "outer(x, y)": "mg.outer(*promote(x, y))",
        f"prod({REDUCED})": "cast_if(mg.prod(lift(x), axes(axis), keepdims), dtype)",
        "reshape(x, newshape, ndim=None)": "mg.reshape(lift(x), reshape_lengths(newshape))",
        "round(x)": "mg.round(lift(x))",
        "sgn(x)": "mg.sign(lift(x))",
        "shape(x)": "as_variable(x).shape",
        "shape_padleft(x, n_ones=1)": "reorder_axes(x, ['x'] * n_ones + [*range(x.ndim)])",
        "shape_padright(x, n_ones=1)": "reorder_axes(x, [*range(x.ndim)] + ['x'] * n_ones)",
        "sqr(x)": "mg.square(lift(x))",
        "std(x, axis=None, ddof=0, keepdims=False)": (
            "mg.sqrt(mg.var(to_float(x), axes(axis), ddof, keepdims))"
        ),
        f"sum({REDUCED})": "cast_if(mg.sum(lift(x), axes(axis), keepdims), dtype)",
        "swapaxes(x, axis1, axis2)": "mg.swapaxes(x, axis1, axis2)",
        "switch(cond, ift, iff)": "mg.where(is_nonzero(cond), *promote(ift, iff))",
        "tile(x, reps)": "mg.tile(x, reps)",
        "transpose(x, axes=None)": "mg.transpose(x, axes)",
        "true_div(x, y)": "mg.divide(*map(to_float, promote(x, y)))",
        "var(x, axis=None, ddof=0, keepdims=False)": (
            "mg.var(to_float(x), axes(axis), ddof, keepdims)"
        ),
        "where(cond, ift, iff)": "mg.where(is_nonzero(cond), *promote(ift, iff))",
        "zeros_like(x, dtype=None)": "cast_if(mg.zeros_like(lift(x)), dtype)",
    },
    lacks={
        "T.arange(x.shape[0])": "arange",
        'T.row("x")': "addbroadcast patternbroadcast unbroadcast",
        "T.switch(T.eq(T.arange(3), i), y, x)": "inc_subtensor set_subtensor",
        "T.switch(x > 0, x, 0)": "nonzero",
        "T.dot(x, y)": "tensordot",
        "theano.shared(np.random.normal(size=(2, 3)))": "shared_randomstreams",
        "np.sort(f(x))": "argsort sort",
        "T.concatenate([x, x])": "repeat",
    },
    around=on_variables,
    TensorType=TensorType,
    axes=axes,
    make_variables=make_variables,
    reshape_lengths=reshape_lengths,
    lift=lift,
    nnet=nnet,
    matmul_or_scale=matmul_or_scale,
    to_float=to_float,
    reorder_axes=reorder_axes,
    promote=promote,
    is_nonzero=is_nonzero,
    cast_if=cast_if,
    as_variable=as_variable,
    config=config,
    np=np,
)
__dir__ = face.names

METHODS = (
    "all any argmax argmin clip cumsum dot flatten max mean min prod reshape round std sum swapaxes"
    " var zeros_like ones_like fill"
)
for _name in METHODS.split():
    setattr(TensorVariable, _name, face(_name))
TensorVariable.dimshuffle = functools.wraps(reorder_axes)(
    lambda x, *pattern: TensorVariable(
        reorder_axes(x.node, *pattern if isinstance(pattern[0], (list, tuple)) else (pattern,))
    )
)
setattr(TensorVariable, "astype", face("cast"))  # noqa: B010
setattr(TensorVariable, "transpose", lambda x, *axes: face("transpose")(x, axes or None))  # noqa: B010

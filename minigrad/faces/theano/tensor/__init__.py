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
from minigrad.faces.face import Face, ordered
from minigrad.faces.theano import config, gradient
from minigrad.faces.theano.tensor import basic, nnet, subtensor
from minigrad.faces.theano.tensor.basic import (
    Length,
    TensorType,
    TensorVariable,
    as_type,
    constant,
    literal,
    real,
    symbolic,
    together,
    variable,
    wrapped,
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
        return TensorVariable(typed(mg.cumsum(start.ones, 0) - 1, dtype))
    if any(isinstance(x, TensorVariable) for x in (start, stop, step)):
        raise face.refuse("arange")
    bounds = (start,) if stop is None else (start, stop, step)
    return wrapped(typed(np.arange(*bounds), dtype))


def alloc(value: Any, *shape: Any) -> Any:
    """Fill a shape with a value; a length may be known only at run time."""
    found = literal(value)
    for i, n in enumerate(shape):
        along = [1] * i + [-1] + [1] * (len(shape) - i - 1)
        open_ = isinstance(n, Length) and n.ones is not None
        ones = n.ones if open_ else mg.ones(int(np.asarray(literal(n))), dtype=found.dtype)
        found = mg.multiply(found, as_type(mg.reshape(ones, along), found.dtype))
    return wrapped(found)


def zeros(shape: Any, dtype: Any = None) -> Any:
    """Return zeros in this shape, which may be one number."""
    return alloc(np.zeros((), dtype or config.floatX), *ordered(shape))


def ones(shape: Any, dtype: Any = None) -> Any:
    """Return ones in this shape, which may be one number."""
    return alloc(np.ones((), dtype or config.floatX), *ordered(shape))


def stack(*tensors: Any, axis: int = 0) -> TensorVariable:
    """Stack variables along a new axis: a list of them, or several arguments."""
    if isinstance(tensors[0], (list, tuple)):
        tensors, axis = (tensors[0], *tensors[1:], axis)[:2]
    return TensorVariable(mg.stack(together(*tensors), axis))


def typed(x: Any, dtype: Any) -> Any:
    """Cast x to a data type, if one is given."""
    return x if dtype is None else as_type(literal(x), np.dtype(dtype))


def product(a: Any, b: Any) -> Any:
    """Return the matrix product, or the plain product if an operand has no axes."""
    x, y = together(a, b)
    return mg.matmul(x, y) if x.ndim and y.ndim else mg.multiply(x, y)


def shuffled(x: mg.Node, pattern: Sequence[Any]) -> Any:
    """Reorder axes; "x" is a new one, and those of length 1 may be left out."""
    kept = [i for i in pattern if i != "x"]
    dropped = tuple(i for i in range(x.ndim) if i not in kept)
    order = mg.transpose(x, (*kept, *dropped)) if x.ndim else x
    if dropped:
        order = mg.squeeze(order, tuple(range(len(kept), x.ndim)))
    for place in [place for place, i in enumerate(pattern) if i == "x"]:
        order = mg.expand_dims(order, place)
    return order


def truth(x: Any) -> Any:
    """Return True for each element that isn't 0."""
    found = literal(x)
    return found if found.dtype == bool else mg.not_equal(*together(found, 0))


def lengths(shape: Any) -> Any:
    """Return the lengths for `reshape`, with -1 for one known only at run time."""
    return [-1 if isinstance(n, mg.Node) else n for n in ordered(shape)]


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


def makers() -> dict[str, str]:
    """Return a table of calls for each variable type: one for one variable, one for several."""
    found = {}
    for prefix, dtype in PREFIXES.items():
        for kind, pattern in SHAPES.items():
            given = f"dtype or {dtype!r} or config.floatX"
            made = f"TensorType({given}, {pattern})"
            several = "matrices" if kind == "matrix" else f"{kind}s"
            found[f"{prefix}{kind}(name=None, dtype=None)"] = f"{made}(name)"
            found[f"{prefix}{several}(*names, dtype=None)"] = f"each({made}, names)"
    return found


def each(kind: TensorType, names: tuple[Any, ...]) -> list[TensorVariable]:
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

__getattr__ = face = Face(
    "theano.tensor",
    calls={
        **makers(),
        **{f"{name}(x)": f"mg.{name}(real(x))" for name in REAL.split()},
        **{f"{name}(x, y)": f"mg.{ours}(*together(x, y))" for name, ours in PAIRS.items()},
        "abs_(x)": "mg.abs(literal(x))",
        "all(x, axis=None, keepdims=False)": "mg.all(truth(x), axes(axis), keepdims)",
        "any(x, axis=None, keepdims=False)": "mg.any(truth(x), axes(axis), keepdims)",
        "argmax(x, axis=None, keepdims=False)": "mg.argmax(literal(x), axis, keepdims)",
        "argmin(x, axis=None, keepdims=False)": "mg.argmin(literal(x), axis, keepdims)",
        "as_tensor_variable(x, name=None, ndim=None)": "variable(x)",
        "batched_dot(a, b)": "mg.matmul(*together(a, b))",
        "cast(x, dtype)": "typed(x, dtype)",
        "ceil(x)": "mg.ceil(literal(x))",
        "clip(x, min, max)": "mg.minimum(*together(mg.maximum(*together(x, min)), max))",
        "concatenate(tensor_list, axis=0)": "mg.concatenate(together(*tensor_list), axis)",
        "cumsum(x, axis=None)": (
            "typed(mg.cumsum(mg.flatten(x) if axis is None else x, axis or 0), x.dtype)"
        ),
        "dot(a, b)": "product(a, b)",
        "eye(n, m=None, k=0, dtype=None)": "np.eye(n, m, k, dtype or config.floatX)",
        "fill(a, b)": "mg.add(*together(mg.zeros_like(literal(a)), b))",
        "flatten(x, ndim=1)": "mg.flatten(x, ndim - 1)",
        "floor(x)": "mg.floor(literal(x))",
        "inv(x)": "mg.divide(1, real(x))",
        "invert(x)": "mg.logical_not(x)",
        "isnan(x)": "mg.isnan(literal(x))",
        "log(x)": "nnet.logarithm(real(x))",
        "max(x, axis=None, keepdims=False)": "mg.max(x, axis=axes(axis), keepdims=keepdims)",
        f"mean({REDUCED})": "typed(mg.mean(real(x), axes(axis), keepdims), dtype)",
        "min(x, axis=None, keepdims=False)": "mg.min(x, axis=axes(axis), keepdims=keepdims)",
        "neg(x)": "mg.negative(literal(x))",
        "ones_like(x, dtype=None)": "typed(mg.ones_like(literal(x)), dtype)",
        "outer(x, y)": "mg.outer(*together(x, y))",
        f"prod({REDUCED})": "typed(mg.prod(literal(x), axes(axis), keepdims), dtype)",
        "reshape(x, newshape, ndim=None)": "mg.reshape(literal(x), lengths(newshape))",
        "round(x)": "mg.round(literal(x))",
        "sgn(x)": "mg.sign(literal(x))",
        "shape(x)": "variable(x).shape",
        "shape_padleft(x, n_ones=1)": "shuffled(x, ['x'] * n_ones + [*range(x.ndim)])",
        "shape_padright(x, n_ones=1)": "shuffled(x, [*range(x.ndim)] + ['x'] * n_ones)",
        "sqr(x)": "mg.square(literal(x))",
        "std(x, axis=None, ddof=0, keepdims=False)": (
            "mg.sqrt(mg.var(real(x), axes(axis), ddof, keepdims))"
        ),
        f"sum({REDUCED})": "typed(mg.sum(literal(x), axes(axis), keepdims), dtype)",
        "swapaxes(x, axis1, axis2)": "mg.swapaxes(x, axis1, axis2)",
        "switch(cond, ift, iff)": "mg.where(truth(cond), *together(ift, iff))",
        "tile(x, reps)": "mg.tile(x, reps)",
        "transpose(x, axes=None)": "mg.transpose(x, axes)",
        "true_div(x, y)": "mg.divide(*map(real, together(x, y)))",
        "var(x, axis=None, ddof=0, keepdims=False)": "mg.var(real(x), axes(axis), ddof, keepdims)",
        "where(cond, ift, iff)": "mg.where(truth(cond), *together(ift, iff))",
        "zeros_like(x, dtype=None)": "typed(mg.zeros_like(literal(x)), dtype)",
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
    around=symbolic,
    TensorType=TensorType,
    axes=axes,
    each=each,
    lengths=lengths,
    literal=literal,
    nnet=nnet,
    product=product,
    real=real,
    shuffled=shuffled,
    together=together,
    truth=truth,
    typed=typed,
    variable=variable,
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
TensorVariable.dimshuffle = functools.wraps(shuffled)(
    lambda x, *pattern: TensorVariable(
        shuffled(x.node, *pattern if isinstance(pattern[0], (list, tuple)) else (pattern,))
    )
)
setattr(TensorVariable, "astype", face("cast"))  # noqa: B010
setattr(TensorVariable, "transpose", lambda x, *axes: face("transpose")(x, axes or None))  # noqa: B010

"""PyTorch's elementwise operators and those along axes, by our operators."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from minigrad import functions as f
from minigrad import ops
from minigrad.ops import corners

Table = dict[str, Any]  # the name of an aten operator -> what it is here


def _scaled(x: Any, alpha: Any) -> Any:
    return x if alpha == 1 else x * alpha


def _div(x: Any, y: Any, rounding_mode: str | None = None) -> Any:
    if rounding_mode == "floor":
        return f.floor_divide(x, y)
    return _trunc(x / y) if rounding_mode == "trunc" else x / y


def _trunc(x: Any) -> Any:
    return f.where(x < 0, f.ceil(x), f.floor(x))


def _clamp(x: Any, min: Any = None, max: Any = None) -> Any:
    if any(hasattr(bound, "shape") for bound in (min, max)):
        x = x if min is None else corners.at_least(x, min)
        return x if max is None else corners.at_most(x, max)
    return f.clip(x, min, max)


def _elu(x: Any, alpha: float = 1.0, scale: float = 1.0, input_scale: float = 1.0) -> Any:
    return _scaled(corners.elu(x, alpha, input_scale), scale)


def _hardswish(x: Any) -> Any:
    return f.where(x <= -3.0, 0.0, f.where(x < 3.0, x * (x + 3.0) / 6.0, x))


def _prelu(x: Any, weight: Any) -> Any:
    if len(weight.shape) == 1 and weight.shape[0] != 1:
        weight = f.reshape(weight, (-1, *[1] * (len(x.shape) - 2)))
    return f.where(x > 0, x, weight * x)


def _softplus(x: Any, beta: float = 1.0, threshold: float = 20.0) -> Any:
    """Return softplus, or x beyond the threshold, where rounding loses the difference."""
    scaled = x if beta == 1 else x * beta
    y = f.softplus(scaled)
    return f.where(scaled > threshold, x, y if beta == 1 else y / beta)


def _cast(x: Any, dtype: Any = None, *_: Any, **__: Any) -> Any:
    return x if dtype is None or x.dtype == dtype else ops.convert(x, dtype)


def _triangle(x: Any, keep: Any, diagonal: int) -> Any:
    mask = keep(np.ones(tuple(x.shape[-2:]), bool), diagonal)
    return f.where(mask, x, 0.0)


ELEMENTWISE: Table = {
    "add": lambda x, y, alpha=1: x + _scaled(y, alpha),
    "sub": lambda x, y, alpha=1: x - _scaled(y, alpha),
    "rsub": lambda x, y, alpha=1: y - _scaled(x, alpha),
    "mul": lambda x, y: x * y,
    "div": _div,
    "floor_divide": f.floor_divide,
    "remainder": f.mod,
    "pow": lambda x, y: x**y,
    "square": lambda x: x * x,
    "neg": lambda x: -x,
    "abs": f.abs,
    "sign": f.sign,
    "exp": f.exp,
    "log": f.log,
    "log1p": f.log1p,
    "log2": lambda x: f.log(x) / math.log(2),
    "log10": lambda x: f.log(x) / math.log(10),
    "sqrt": f.sqrt,
    "rsqrt": lambda x: 1.0 / f.sqrt(x),
    "reciprocal": lambda x: 1.0 / x,
    "sin": f.sin,
    "cos": f.cos,
    "tan": lambda x: f.sin(x) / f.cos(x),
    "floor": f.floor,
    "ceil": f.ceil,
    "round": f.round,
    "trunc": _trunc,
    "erf": f.erf,
    "maximum": f.maximum,
    "minimum": f.minimum,
    "clamp": _clamp,
    "clamp_min": lambda x, low: _clamp(x, low),
    "clamp_max": lambda x, high: _clamp(x, None, high),
    "lerp": lambda x, y, weight: x + (y - x) * weight,
    "addcmul": lambda x, a, b, value=1: x + _scaled(a * b, value),
    "addcdiv": lambda x, a, b, value=1: x + _scaled(a / b, value),
    "eq": f.equal,
    "ne": f.not_equal,
    "lt": f.less,
    "le": f.less_equal,
    "gt": f.greater,
    "ge": f.greater_equal,
    "logical_and": f.logical_and,
    "logical_or": f.logical_or,
    "logical_xor": f.logical_xor,
    "logical_not": f.logical_not,
    "isnan": f.isnan,
    "where": f.where,
    "masked_fill": lambda x, mask, value: f.where(mask, value, x),
    "tril": lambda x, diagonal=0: _triangle(x, np.tril, diagonal),
    "triu": lambda x, diagonal=0: _triangle(x, np.triu, diagonal),
    "to": _cast,
    "_to_copy": lambda x, dtype=None, **_: _cast(x, dtype),
    "type_as": lambda x, other: _cast(x, other.dtype),
    "relu": f.relu,
    "relu6": lambda x: corners.hardtanh(x, 0.0, 6.0),
    "hardtanh": lambda x, low=-1.0, high=1.0: corners.hardtanh(x, low, high),
    "hardsigmoid": lambda x: corners.hardtanh(x + 3.0, 0.0, 6.0) / 6.0,
    "hardswish": _hardswish,
    "sigmoid": f.sigmoid,
    "log_sigmoid": lambda x: -f.softplus(-x),
    "tanh": f.tanh,
    "silu": lambda x: x * f.sigmoid(x),
    "mish": lambda x: x * f.tanh(f.softplus(x)),
    "gelu": lambda x, approximate="none": f.gelu(x, approximate),
    "softplus": _softplus,
    "elu": _elu,
    "selu": lambda x: _elu(x, 1.6732632423543772, 1.0507009873554805),
    "celu": lambda x, alpha=1.0: _elu(x, alpha, 1.0, 1 / alpha),
    "leaky_relu": lambda x, slope=0.01: f.where(x > 0, x, x * slope),
    "prelu": _prelu,
    "_prelu_kernel": _prelu,
}


def _axes(dim: Any) -> Any:
    """Convert PyTorch's axes; an empty list is all of them."""
    if isinstance(dim, Sequence):
        return tuple(dim) or None
    return dim


def _sum(x: Any, dim: Any = None, keepdim: bool = False, dtype: Any = None) -> Any:
    return f.sum(_cast(x, dtype), _axes(dim), keepdim)


def _mean(x: Any, dim: Any = None, keepdim: bool = False, dtype: Any = None) -> Any:
    return f.mean(_cast(x, dtype), _axes(dim), keepdim)


def _extreme(of: Any, position: Any) -> Any:
    def extreme(x: Any, dim: Any = None, keepdim: bool = False) -> Any:
        if dim is None:
            return of(x)
        if hasattr(dim, "shape"):  # of two tensors
            return (f.maximum if of is f.max else f.minimum)(x, dim)
        index = position(x, dim, True)
        value = f.gather(x, index, dim)  # the gradient goes to that one alone
        return (value, index) if keepdim else (f.squeeze(value, dim), f.squeeze(index, dim))

    return extreme


def _var(
    x: Any, dim: Any = None, unbiased: Any = True, keepdim: bool = False, correction: Any = None
) -> Any:
    less = (1 if unbiased else 0) if correction is None else correction
    return f.var(x, _axes(dim), less, keepdim)


def _norm(x: Any, ord: Any = 2, dim: Any = None, keepdim: bool = False, dtype: Any = None) -> Any:
    """Return a vector norm; its gradient is 0 where all elements are zeros."""
    size, axes = f.abs(x), _axes(dim)
    if ord == 2:
        return corners.root(f.sum(x * x, axes, keepdim))
    if ord == 1:
        return f.sum(size, axes, keepdim)
    if ord == 0:
        return f.sum(f.cast(f.not_equal(x, 0), x.dtype), axes, keepdim)
    if math.isinf(ord):
        return (f.max if ord > 0 else f.min)(size, axis=axes, keepdims=keepdim)
    return _power(f.sum(_power(size, ord), axes, keepdim), 1.0 / ord)


def _power(x: Any, exponent: float) -> Any:
    """Return a power of a nonnegative x, with gradient 0 at 0."""
    flat = f.equal(x, 0)
    return f.where(flat, 0.0 if exponent > 0 else math.inf, f.where(flat, 1.0, x) ** exponent)


def _softmax(x: Any, dim: int, dtype: Any = None) -> Any:
    return f.softmax(x if isinstance(dtype, bool) else _cast(x, dtype), dim)


def _log_softmax(x: Any, dim: int, dtype: Any = None) -> Any:
    return f.log_softmax(x if isinstance(dtype, bool) else _cast(x, dtype), dim)


REDUCTIONS: Table = {
    "sum": _sum,
    "mean": _mean,
    "prod": lambda x, dim=None, keepdim=False, dtype=None: f.prod(_cast(x, dtype), dim, keepdim),
    "amax": lambda x, dim=(), keepdim=False: f.max(x, axis=_axes(dim), keepdims=keepdim),
    "amin": lambda x, dim=(), keepdim=False: f.min(x, axis=_axes(dim), keepdims=keepdim),
    "max": _extreme(f.max, f.argmax),
    "min": _extreme(f.min, f.argmin),
    "argmax": lambda x, dim=None, keepdim=False: f.argmax(x, dim, keepdim),
    "argmin": lambda x, dim=None, keepdim=False: f.argmin(x, dim, keepdim),
    "all": lambda x, dim=None, keepdim=False: f.all(x, _axes(dim), keepdim),
    "any": lambda x, dim=None, keepdim=False: f.any(x, _axes(dim), keepdim),
    "var": _var,
    "std": lambda *args, **how: corners.root(_var(*args, **how)),
    "cumsum": lambda x, dim, dtype=None: f.cumsum(_cast(x, dtype), dim),
    "logsumexp": lambda x, dim, keepdim=False: f.logsumexp(x, _axes(dim), keepdim),
    "linalg_vector_norm": _norm,
    "norm": lambda x, p=2, dim=None, keepdim=False: _norm(x, 2 if p is None else p, dim, keepdim),
    "softmax": _softmax,
    "_softmax": _softmax,
    "log_softmax": _log_softmax,
    "_log_softmax": _log_softmax,
    "pairwise_distance": lambda a, b, p=2.0, eps=1e-6, keepdim=False: _norm(
        a - b + eps, p, -1, keepdim
    ),
}

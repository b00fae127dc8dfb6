"""JAX's primitives by our operators; NotImplemented if there is no counterpart."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from minigrad import functions as f
from minigrad import ops
from minigrad.interop.products import product
from minigrad.nn import functional as nn
from minigrad.ops import corners

Table = dict[str, Callable[..., Any]]  # operands, then the parameters of the equation by name


def _plain(function: Callable[..., Any]) -> Callable[..., Any]:
    """Drop a primitive's parameters, such as precision, which don't apply here."""
    return lambda *xs, **_: function(*xs)


def _logical(of_bools: Callable[..., Any]) -> Callable[..., Any]:
    def function(*xs: Any, **_: Any) -> Any:
        return of_bools(*xs) if all(x.dtype.kind == "b" for x in xs) else NotImplemented

    return function


def _convert(x: Any, new_dtype: Any, **_: Any) -> Any:
    return x if x.dtype == new_dtype else ops.convert(x, np.dtype(new_dtype))


def _select(which: Any, *cases: Any) -> Any:
    if which.dtype.kind != "b" or len(cases) != 2:
        return NotImplemented
    return f.where(which, cases[1], cases[0])


def _clamp(low: Any, x: Any, high: Any) -> Any:
    """Clamp x to the bounds, with gradient 0 on them."""
    return f.where(x <= low, low, f.where(x >= high, high, x))


def _abs(x: Any) -> Any:
    """Return |x|, with gradient 1 at 0."""
    return f.where(x >= 0, x, -x)


def _logaddexp(a: Any, b: Any) -> Any:
    """Return log(eᵃ + eᵇ), smooth also where a equals b, unlike a max-based formula."""
    return b + f.softplus(a - b)


# ---- Shapes -----------------------------------------------------------------------------------


def _broadcast(
    x: Any, *more: Any, shape: Sequence[int], broadcast_dimensions: Any, **_: Any
) -> Any:
    if more:
        return NotImplemented  # lengths that depend on values
    kept = dict(zip(broadcast_dimensions, x.shape, strict=True))
    own = tuple(kept.get(i, 1) for i in range(len(shape)))
    y = x if own == tuple(x.shape) else f.reshape(x, own)
    return y if own == tuple(shape) else f.broadcast_to(y, tuple(shape))


def _reshape(x: Any, *more: Any, new_sizes: Any, dimensions: Any = None, **_: Any) -> Any:
    return NotImplemented if dimensions is not None or more else f.reshape(x, tuple(new_sizes))


def _slice(x: Any, start_indices: Any, limit_indices: Any, strides: Any = None, **_: Any) -> Any:
    steps = strides or [1] * len(start_indices)
    bounds = zip(start_indices, limit_indices, steps, strict=True)
    return x[tuple(slice(*map(int, b)) for b in bounds)]


def _dynamic_slice(x: Any, *starts: Any, slice_sizes: Sequence[int], **_: Any) -> Any:
    if not all(isinstance(s, (np.ndarray, np.generic)) for s in starts):
        return NotImplemented
    room = zip(starts, slice_sizes, x.shape, strict=True)
    begin = [min(max(int(s), 0), n - size) for s, size, n in room]
    pairs = zip(begin, slice_sizes, strict=True)
    return x[tuple(slice(b, b + size) for b, size in pairs)]


def _pad(x: Any, value: Any, padding_config: Any, **_: Any) -> Any:
    constant = isinstance(value, (np.ndarray, np.generic))
    if not constant or any(min(low, high) < 0 or inner for low, high, inner in padding_config):
        return NotImplemented
    return f.pad(x, [(low, high) for low, high, _ in padding_config], float(value))


def _split(x: Any, sizes: Sequence[int], axis: int, **_: Any) -> list[Any]:
    ends = np.cumsum(sizes).tolist()
    before = (slice(None),) * axis
    return [x[(*before, slice(end - n, end))] for n, end in zip(sizes, ends, strict=True)]


def _gather(x: Any, indices: Any, dimension_numbers: Any, slice_sizes: Any, **_: Any) -> Any:
    """Take whole rows along an axis (`take`), or one element per position (`gather`)."""
    how = dimension_numbers
    if len(how.start_index_map) != 1 or indices.shape[-1] != 1:
        return NotImplemented
    (axis,) = how.start_index_map
    places = f.squeeze(indices, -1)
    others = tuple(i for i in range(len(x.shape)) if i != axis)
    if tuple(how.operand_batching_dims) == others and set(slice_sizes) <= {1}:
        same = len(places.shape) == len(x.shape) and not how.offset_dims
        return f.gather(x, places, axis) if same else NotImplemented
    whole = all(slice_sizes[i] == x.shape[i] for i in others) and slice_sizes[axis] == 1
    count = len(places.shape)
    expected = (*range(axis), *range(axis + count, len(others) + count))
    rows = tuple(how.collapsed_slice_dims) == (axis,) and tuple(how.offset_dims) == expected
    return f.take(x, places, axis=axis) if whole and rows else NotImplemented


# ---- Along axes -------------------------------------------------------------------------------


def _reduced(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda x, axes, **_: function(x, axis=tuple(axes)) if axes else x


def _position(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda x, axes, index_dtype, **_: ops.convert(function(x, axes[0]), index_dtype)


def _cumsum(x: Any, axis: int, reverse: bool = False) -> Any:
    return f.flip(f.cumsum(f.flip(x, axis), axis), axis) if reverse else f.cumsum(x, axis)


# ---- Products ---------------------------------------------------------------------------------


def _dot(a: Any, b: Any, dimension_numbers: Any, **_: Any) -> Any:
    (left, right), (batch_a, batch_b) = dimension_numbers
    k = len(batch_a)
    leading = tuple(batch_a) == tuple(batch_b) == tuple(range(k))
    if leading and len(left) == 1 and (found := _matmul(a, b, left[0], right[0], k)) is not None:
        return found
    free_a = [i for i in range(len(a.shape)) if i not in (*left, *batch_a)]
    free_b = [i for i in range(len(b.shape)) if i not in (*right, *batch_b)]
    many = [a.shape[i] for i in batch_a]
    inner = math.prod(a.shape[i] for i in left)
    one = f.reshape(f.transpose(a, (*batch_a, *free_a, *left)), (*many, -1, inner))
    other = f.reshape(f.transpose(b, (*batch_b, *right, *free_b)), (*many, inner, -1))
    shape = (*many, *(a.shape[i] for i in free_a), *(b.shape[i] for i in free_b))
    return f.reshape(f.matmul(one, other), shape)


def _matmul(a: Any, b: Any, left: int, right: int, batch: int) -> Any:
    """Return the product if it is one of matrices; else None."""
    ranks = len(a.shape) - batch, len(b.shape) - batch
    if not batch and left == len(a.shape) - 1 and ranks[1] <= 2:
        return product(a, b, transpose_b=ranks[1] == 2 and right == 1)
    if ranks == (2, 2):
        return f.matmul(a, b, transpose_a=left == batch, transpose_b=right == batch + 1)
    return None


def _conv(
    x: Any,
    kernels: Any,
    window_strides: Any,
    padding: Any,
    lhs_dilation: Any,
    rhs_dilation: Any,
    dimension_numbers: Any,
    feature_group_count: int,
    batch_group_count: int,
    **_: Any,
) -> Any:
    if len(x.shape) != 4 or batch_group_count != 1 or tuple(lhs_dilation) != (1, 1):
        return NotImplemented
    how = dimension_numbers
    images, weight = _permuted(x, how.lhs_spec), _permuted(kernels, how.rhs_spec)
    if any(low != high or low < 0 for low, high in padding):
        if min(min(p) for p in padding) < 0:
            return NotImplemented
        images, padding = f.pad(images, [(0, 0), (0, 0), *padding]), ((0, 0), (0, 0))
    pads = tuple(low for low, _ in padding)
    steps, apart = tuple(window_strides), tuple(rhs_dilation)
    y = nn.conv2d(images, weight, None, steps, pads, apart, feature_group_count)
    return _permuted(y, np.argsort(how.out_spec).tolist())


def _permuted(x: Any, axes: Sequence[int]) -> Any:
    return x if list(axes) == sorted(axes) else f.transpose(x, tuple(axes))


def _pooled(pool: Callable[..., Any], sums: bool) -> Callable[..., Any]:
    def pooled(
        x: Any,
        window_dimensions: Any,
        window_strides: Any,
        padding: Any,
        base_dilation: Any,
        window_dilation: Any,
        **_: Any,
    ) -> Any:
        pairs = zip(window_dimensions, window_strides, strict=True)
        moved = [i for i, pair in enumerate(pairs) if pair != (1, 1)]
        uneven = any(low != high for low, high in padding)
        if (
            len(x.shape) != 4
            or len(moved) > 2
            or uneven
            or {*base_dilation, *window_dilation} != {1}
        ):
            return NotImplemented
        moved = (moved + [i for i in (1, 2, 3) if i not in moved])[:2]
        axes = [*(i for i in range(4) if i not in moved), *sorted(moved)]
        size, step = (tuple(v[i] for i in axes[2:]) for v in (window_dimensions, window_strides))
        pads = tuple(padding[i][0] for i in axes[2:])
        y = pool(_permuted(x, axes), size, step, pads)
        return _permuted(y * float(math.prod(size)) if sums else y, np.argsort(axes).tolist())

    return pooled


PRIMITIVES: Table = {
    "add": _plain(lambda a, b: a + b),
    "add_any": _plain(lambda a, b: a + b),
    "sub": _plain(lambda a, b: a - b),
    "mul": _plain(lambda a, b: a * b),
    "div": lambda a, b, **_: a / b if a.dtype.kind == "f" else NotImplemented,
    "neg": _plain(lambda x: -x),
    "max": _plain(f.maximum),
    "min": _plain(f.minimum),
    "pow": _plain(lambda a, b: a**b),
    "integer_pow": lambda x, y, **_: x**y,
    "square": _plain(lambda x: x * x),
    "exp": _plain(f.exp),
    "exp2": _plain(lambda x: f.exp(x * math.log(2))),
    "expm1": _plain(lambda x: f.exp(x) - 1.0),
    "log": _plain(f.log),
    "log1p": _plain(f.log1p),
    "sqrt": _plain(f.sqrt),
    "rsqrt": _plain(lambda x: 1.0 / f.sqrt(x)),
    "sin": _plain(f.sin),
    "cos": _plain(f.cos),
    "tan": _plain(lambda x: f.sin(x) / f.cos(x)),
    "tanh": _plain(f.tanh),
    "logistic": _plain(f.sigmoid),
    "erf": _plain(f.erf),
    "erfc": _plain(lambda x: 1.0 - f.erf(x)),
    "abs": _plain(_abs),
    "sign": _plain(f.sign),
    "floor": _plain(f.floor),
    "ceil": _plain(f.ceil),
    "eq": _plain(f.equal),
    "ne": _plain(f.not_equal),
    "lt": _plain(f.less),
    "le": _plain(f.less_equal),
    "gt": _plain(f.greater),
    "ge": _plain(f.greater_equal),
    "and": _logical(f.logical_and),
    "or": _logical(f.logical_or),
    "not": _logical(f.logical_not),
    "select_n": _select,
    "clamp": _clamp,
    "convert_element_type": _convert,
    "stop_gradient": _plain(f.stop_gradient),
    "device_put": lambda *xs, **_: list(xs),
    "copy": _plain(lambda x: x),
    "copy_p": _plain(lambda x: x),
    "reduce_precision": _plain(lambda x: x),
    "optimization_barrier": lambda *xs: list(xs),
    "broadcast_in_dim": _broadcast,
    "reshape": _reshape,
    "squeeze": lambda x, dimensions, **_: f.squeeze(x, tuple(dimensions)),
    "expand_dims": lambda x, dimensions, **_: f.expand_dims(x, dimensions[0]),
    "transpose": lambda x, permutation, **_: f.transpose(x, tuple(permutation)),
    "rev": lambda x, dimensions, **_: f.flip(x, tuple(dimensions)),
    "slice": _slice,
    "dynamic_slice": _dynamic_slice,
    "concatenate": lambda *xs, dimension, **_: f.concatenate(xs, dimension),
    "stack": lambda *xs, axis=0, **_: f.stack(xs, axis),
    "split": _split,
    "pad": _pad,
    "gather": _gather,
    "reduce_sum": _reduced(f.sum),
    "reduce_max": _reduced(f.max),
    "reduce_min": _reduced(f.min),
    "reduce_prod": _reduced(f.prod),
    "reduce_and": _reduced(f.all),
    "reduce_or": _reduced(f.any),
    "argmax": _position(f.argmax),
    "argmin": _position(f.argmin),
    "cumsum": _cumsum,
    "dot_general": _dot,
    "conv_general_dilated": _conv,
    "reduce_window_max": _pooled(nn.max_pool2d, False),
    "reduce_window_sum": _pooled(nn.avg_pool2d, True),
}
# Functions that JAX itself has compiled, and whose own gradient differs from that of their parts.
NAMED: Table = {
    "relu": f.relu,
    "relu6": lambda x: corners.hardtanh(x, 0.0, 6.0),
    "logaddexp": _logaddexp,
}

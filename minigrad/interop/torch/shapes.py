"""PyTorch's operators that rearrange, index or multiply matrices, by our operators."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from minigrad import functions as f
from minigrad import ops
from minigrad.interop.products import product
from minigrad.interop.torch.numbers import Table

LAST = 1 << 62  # PyTorch's number for the end of an axis


def _unflatten(x: Any, dim: int, sizes: Sequence[int]) -> Any:
    dim %= len(x.shape)
    return f.reshape(x, (*x.shape[:dim], *sizes, *x.shape[dim + 1 :]))


def _squeeze(x: Any, dim: Any = None) -> Any:
    axes = range(len(x.shape)) if dim is None else [dim] if isinstance(dim, int) else dim
    single = tuple(a for a in axes if x.shape[a] == 1)
    return f.squeeze(x, single) if single else x


def _swapped(x: Any, a: int = -2, b: int = -1) -> Any:
    return f.swapaxes(x, a, b) if len(x.shape) > 1 else x


def _expand(x: Any, size: Sequence[int], implicit: bool = False) -> Any:
    own = (*[1] * (len(size) - len(x.shape)), *x.shape)
    shape = tuple(n if want == -1 else want for n, want in zip(own, size, strict=True))
    return x if shape == tuple(x.shape) else f.broadcast_to(x, shape)


def _slice(x: Any, dim: int = 0, start: Any = None, end: Any = None, step: int = 1) -> Any:
    n = x.shape[dim]
    whole = (start or 0) in (0, -n) and (end is None or end >= n) and step == 1
    stop = None if end is None or end >= LAST else end
    return x if whole else x[_along(x, dim, slice(start, stop, step))]


def _along(x: Any, dim: int, item: Any) -> tuple[Any, ...]:
    return (*[slice(None)] * (dim % len(x.shape)), item)


def _split(x: Any, size: Any, dim: int = 0) -> list[Any]:
    n = x.shape[dim]
    sizes = [size] * -(-n // size) if isinstance(size, int) else size
    starts = [sum(sizes[:i]) for i in range(len(sizes))]
    pairs = zip(starts, sizes, strict=True)
    return [x[_along(x, dim, slice(start, min(start + k, n)))] for start, k in pairs]


def _roll(x: Any, shifts: Sequence[int], dims: Sequence[int] = ()) -> Any:
    if not dims:
        return f.reshape(_roll(f.reshape(x, (-1,)), shifts, (0,)), x.shape)
    for shift, dim in zip(shifts, dims, strict=True):
        cut = -shift % x.shape[dim]
        parts = [x[_along(x, dim, slice(cut, None))], x[_along(x, dim, slice(0, cut))]]
        x = f.concatenate(parts, dim) if cut else x
    return x


def _pad(x: Any, widths: Sequence[int], mode: Any = "constant", value: Any = 0.0) -> Any:
    if not isinstance(mode, str):
        mode, value = "constant", mode
    if mode != "constant" or min(widths) < 0:
        return NotImplemented
    pairs = list(zip(widths[::2], widths[1::2], strict=True))
    pairs += [(0, 0)] * (len(x.shape) - len(pairs))
    return f.pad(x, pairs[::-1], float(value or 0.0))


def _index(x: Any, indices: Sequence[Any]) -> Any:
    if any(i is not None and (i.dtype.kind == "b" or isinstance(x, np.ndarray)) for i in indices):
        return NotImplemented  # how many there are depends on values, or numbers are taken by nodes
    return x[tuple(slice(None) if i is None else i for i in indices)]


def _slice_written(
    x: Any, part: Any, dim: int = 0, start: Any = None, end: Any = None, step: int = 1
) -> Any:
    """Return x after `x[start:end:step] = part` along an axis."""
    places = range(x.shape[dim])[slice(start, end, step)]
    if not places or len(places) == x.shape[dim]:
        return part if places else x
    if step != 1:
        return _index_put(x, part, _along(x, dim, slice(start, end, step)))
    before, after = slice(0, places.start), slice(places.stop, None)
    around = [x[_along(x, dim, s)] for s in (before, after)]
    parts = [around[0], part, around[1]]
    return f.concatenate([p for p in parts if p.shape[dim]], dim)


def _select_written(x: Any, part: Any, dim: int, index: int) -> Any:
    """Return x after `x[index] = part` along an axis."""
    return f.where(_mask(x, dim, [index % x.shape[dim]]), f.expand_dims(part, dim), x)


def _index_put(x: Any, part: Any, key: Any) -> Any:
    """Return a copy of x with `x[key] = part` done; a key may also be a function to a view."""
    places = np.full(tuple(x.shape), -1)
    numbers = np.arange(math.prod(part.shape)).reshape(part.shape)
    view = key(places) if callable(key) else places[key]
    view[...] = numbers
    return take_or_keep(x, part, places)


def take_or_keep(x: Any, part: Any, places: Any) -> Any:
    """Take elements of `part` at these positions, and of `x` where the position is -1."""
    if (places < 0).all():
        return x
    taken = f.take(f.reshape(part, (-1,)), np.maximum(places, 0), axis=0)
    return taken if (places >= 0).all() else f.where(places >= 0, taken, x)


def _as_strided(x: Any, places: Any) -> Any:
    return f.take(f.reshape(x, (-1,)), places, axis=0)


def _strided_written(x: Any, part: Any, places: Any) -> Any:
    """Return x after a write at these positions; PyTorch's own gradient drops the rest of x."""
    own = np.full(math.prod(x.shape), -1)
    own[places] = np.arange(places.size).reshape(places.shape)
    return take_or_keep(x, part, own.reshape(x.shape))


def _diagonal_written(x: Any, part: Any, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Any:
    def diagonal(places: Any) -> Any:
        view = np.diagonal(places, offset, dim1, dim2)
        view.flags.writeable = True
        return view

    return _index_put(x, part, diagonal)


def _mask(x: Any, dim: int, places: Sequence[int]) -> Any:
    """Return a mask that is True at these positions of an axis."""
    shape = [1] * len(x.shape)
    shape[dim] = x.shape[dim]  # the others broadcast
    return np.isin(np.arange(x.shape[dim]), list(places)).reshape(shape)


def _copied(x: Any, source: Any, *_: Any) -> Any:
    """Return a tensor's value once this source is copied to it."""
    source = source if source.dtype == x.dtype else ops.convert(source, x.dtype)
    return _expand(source, x.shape)


def _filled(x: Any, value: Any) -> Any:
    return _copied(x, value if hasattr(value, "shape") else x.dtype.type(value))


def _put(x: Any, indices: Sequence[Any], value: Any, accumulate: bool = False) -> Any:
    """Return x after `x[mask] = value` for a single number; PyTorch handles other cases."""
    mask = indices[0]
    single = len(indices) == 1 and mask is not None and mask.dtype.kind == "b"
    if accumulate or not single or math.prod(value.shape) != 1:
        return NotImplemented
    mask = f.reshape(mask, (*mask.shape, *[1] * (len(x.shape) - len(mask.shape))))
    return f.where(mask, f.reshape(value, ()), x)


def _repeat(x: Any, repeats: Sequence[int]) -> Any:
    shape = (*[1] * (len(repeats) - len(x.shape)), *x.shape)
    return f.tile(f.reshape(x, shape), tuple(repeats))


def _addmm(bias: Any, a: Any, b: Any, beta: Any = 1, alpha: Any = 1) -> Any:
    product = f.matmul(a, b)
    return (product if alpha == 1 else product * alpha) + (bias if beta == 1 else bias * beta)


def _linear(x: Any, weight: Any, bias: Any = None) -> Any:
    y = product(x, weight, transpose_b=len(weight.shape) > 1)
    return y if bias is None else y + bias


def _embedding(
    weight: Any, ids: Any, padding_idx: int = -1, scaled: bool = False, sparse: bool = False
) -> Any:
    if scaled:  # each row's gradient divided by how often the row is used
        return NotImplemented
    rows = f.take(weight, ids, axis=0)
    if padding_idx < 0:
        return rows
    return f.where(f.expand_dims(ids == padding_idx, -1), f.stop_gradient(rows), rows)


def _identity(x: Any, *_: Any, **__: Any) -> Any:
    return x


SHAPES: Table = {
    "view": lambda x, shape: f.reshape(x, shape),
    "_reshape_alias": lambda x, shape, *_: f.reshape(x, shape),
    "_unsafe_view": lambda x, shape: f.reshape(x, shape),
    "reshape": lambda x, shape: f.reshape(x, shape),
    "flatten": lambda x, start_dim=0, end_dim=-1: f.flatten(x, start_dim, end_dim),
    "unflatten": _unflatten,
    "unsqueeze": f.expand_dims,
    "squeeze": _squeeze,
    "permute": f.transpose,
    "transpose": _swapped,
    "t": _swapped,
    "numpy_T": f.transpose,
    "matrix_H": _swapped,
    "mT": _swapped,
    "expand": _expand,
    "expand_as": lambda x, other: _expand(x, other.shape),
    "broadcast_to": _expand,
    "repeat": _repeat,
    "contiguous": _identity,
    "clone": _identity,
    "alias": _identity,
    "lift_fresh_copy": _identity,
    "lift_fresh": _identity,
    "copy": _copied,
    "fill": _filled,
    "zero": lambda x: _filled(x, 0),
    "select_scatter": _select_written,
    "slice_scatter": _slice_written,
    "index_put": _put,
    "as_strided": _as_strided,
    "as_strided_scatter": _strided_written,
    "diagonal_scatter": _diagonal_written,
    "detach": f.stop_gradient,
    "detach_": f.stop_gradient,
    "slice": _slice,
    "select": lambda x, dim, index: x[_along(x, dim, index)],
    "narrow": lambda x, dim, start, length: _slice(x, dim, start, start + length),
    "split": _split,
    "split_with_sizes": _split,
    "unsafe_split": _split,
    "unsafe_chunk": lambda x, chunks, dim=0: f.chunk(x, chunks, dim),
    "chunk": lambda x, chunks, dim=0: f.chunk(x, chunks, dim),
    "unbind": lambda x, dim=0: [x[_along(x, dim, i)] for i in range(x.shape[dim])],
    "cat": lambda xs, dim=0: f.concatenate([x for x in xs if tuple(x.shape) != (0,)], dim),
    "concat": lambda xs, dim=0: f.concatenate(xs, dim),
    "stack": lambda xs, dim=0: f.stack(xs, dim),
    "flip": lambda x, dims: f.flip(x, tuple(dims)),
    "roll": _roll,
    "pad": _pad,
    "constant_pad_nd": _pad,
    "index": _index,
    "index_select": lambda x, dim, index: f.take(x, index, axis=dim),
    "gather": lambda x, dim, index, sparse_grad=False: f.gather(x, index, dim),
    "embedding": _embedding,
    "matmul": product,
    "mm": f.matmul,
    "bmm": f.matmul,
    "mv": f.matmul,
    "dot": f.matmul,
    "addmm": _addmm,
    "baddbmm": _addmm,
    "linear": _linear,
    "outer": f.outer,
    "one_hot": lambda ids, count: ops.convert(f.one_hot(ids, count), ids.dtype),
}

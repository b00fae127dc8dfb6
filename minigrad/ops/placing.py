"""Operators behind x[key] = value: a copy with some elements replaced.

In the dynamic graph the copy is not made: the kernel writes into the memory of `x` itself.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.core import (
    Array,
    Dtype,
    Op,
    Sample,
    Shape,
    broadcast_shapes,
    fits,
    operator,
    show_shapes,
)
from minigrad.diagnostics.errors import DtypeError, ShapeError
from minigrad.ops.indexing import UNSLICES, Key, numpy_key, slice_, sliced_shape, take
from minigrad.ops.shape import reshape, sum_like
from minigrad.ops.subscript import Indices, get_item, parts_of


def _put_slice_shape(x: Shape, v: Shape, key: Key) -> Shape:
    part = sliced_shape(x, key)
    if not fits(broadcast_shapes("PutSlice", part, v), part):
        raise ShapeError("broadcast", op="PutSlice", shapes=show_shapes(part, v))
    return x


def _copy_or_out(out: Array | None, x: Array) -> Array:
    """Return the array to write to: a copy of x, or `out` filled with x."""
    if out is None:
        return np.array(x)
    if out is not x:
        np.copyto(out, x)
    return out


def _put_slice(out: Array | None, x: Array, v: Array, key: Key) -> Array:
    result = _copy_or_out(out, x)
    result[numpy_key(key)] = v
    return result if out is not None or result.ndim else result[()]


put_slice: Op = operator(
    "PutSlice",
    shape=_put_slice_shape,
    run=_put_slice,
    vjp=(
        lambda g, y, x, v, key: put_slice(g, 0, key=key),
        lambda g, y, x, v, key: sum_like(slice_(g, key=key), v),
    ),
    dtype=lambda *dtypes: dtypes[0],
    title=("replace a slice", "替换一个切片"),
    formula="{0}[…] ← {1}",
    samples=(
        *(Sample([shape, part], {"key": key}) for part, shape, key in UNSLICES),
        Sample([(4, 3), ()], {"key": ((1, 3, None),)}),
        Sample([(4, 3), (3,)], {"key": ((1, 3, None),)}),
    ),
)


def _put_shape(x: Shape, v: Shape, positions: Shape) -> Shape:
    if not fits(broadcast_shapes("Put", positions, v), positions):
        raise ShapeError("broadcast", op="Put", shapes=show_shapes(v, positions))
    return x


def _put_type(*dtypes: Dtype) -> Dtype:
    if dtypes[2].kind not in "iu":
        raise DtypeError("index_type", op="Put", value=dtypes[2])
    return dtypes[0]


def _put(out: Array | None, x: Array, v: Array, positions: Array) -> Array:
    result = _copy_or_out(out, x)
    result.flat[positions.ravel()] = np.broadcast_to(v, positions.shape).ravel()
    return result if out is not None or result.ndim else result[()]


def _put_values_vjp(g: Any, y: Any, x: Any, v: Any, positions: Any) -> Any:
    return sum_like(take(reshape(g, shape=(-1,)), positions), v)


put: Op = operator(
    "Put",
    shape=_put_shape,
    run=_put,
    vjp=(lambda g, y, x, v, positions: put(g, 0, positions), _put_values_vjp, None),
    dtype=_put_type,
    selectors=(2,),
    title=("replace elements, counted through all axes", "替换元素（位置按所有轴依次编号）"),
    formula="{0}[{2}] ← {1}",
    samples=(
        Sample([(3, 3), (2,), (2,)], integers=(2,)),  # no position is drawn twice
        Sample([(3, 3), (), (2,)], integers=(2,)),
    ),
)


def put_item(x: Any, key: Any, value: Any) -> tuple[Op, tuple[Any, ...], dict[str, Any]]:
    """Return the operator behind x[key] = value, its operands and its attributes.

    Positions that are data become numbers of elements: what x[key] gives when x counts them.
    """
    parts = parts_of(key)
    if not any(isinstance(part, Indices) for part in parts):
        return put_slice, (x, value), {"key": tuple(parts)}
    numbers = get_item(np.arange(x.size).reshape(x.shape), key)
    return put, (x, value, np.asarray(numbers)), {}

"""Export to ONNX of operators that rearrange, index and join."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from minigrad import ops
from minigrad.interop.onnx.names import LENGTHS
from minigrad.interop.onnx.writing.builder import (
    FIRST,
    LAST,
    OnnxGraphBuilder,
    has_known_shape,
    register_writer,
    shape_of,
)
from minigrad.interop.onnx.writing.elementwise import emit_reduction
from minigrad.ops.indexing import numpy_key
from minigrad.ops.placing import put, put_slice
from minigrad.ops.shape import positive_axes
from minigrad.static import Node


@register_writer(ops.reshape)
def _reshape(w: OnnxGraphBuilder, node: Node, xs: list[str]) -> Any:
    shape = node.attrs["shape"]
    if 0 in shape and -1 in shape:
        shape = shape_of(node) if has_known_shape(node) else shape
    return w.reshape(xs[0], w.ints(*shape) if shape else w.constant([], np.int64))


@register_writer(ops.reshape_like)
def _reshape_like(w: OnnxGraphBuilder, node: Node, xs: list[str]) -> Any:
    return w.reshape(xs[0], w.shape(node.inputs[1]))


@register_writer(ops.transpose)
def _transpose(w: OnnxGraphBuilder, node: Node, xs: list[str]) -> Any:
    axes, rank = node.attrs.get("axes"), w.rank(node.inputs[0])
    order = range(rank)[::-1] if axes is None else [a % rank for a in axes]
    return w.emit("Transpose", xs[0], perm=list(order))


@register_writer(ops.expand_dims)
def _expand_dims(w: OnnxGraphBuilder, node: Node, xs: list[str]) -> Any:
    return w.emit("Unsqueeze", xs[0], w.ints(node.attrs["axis"]))


@register_writer(ops.squeeze)
def _squeeze(w: OnnxGraphBuilder, node: Node, xs: list[str]) -> Any:
    axis = node.attrs.get("axis")
    if axis is None:
        return w.emit("Squeeze", xs[0])
    axes = (axis,) if isinstance(axis, int) else axis
    return w.emit("Squeeze", xs[0], w.ints(*axes)) if axes else w.emit("Identity", xs[0])


@register_writer(ops.broadcast_to)
def _broadcast_to(w: OnnxGraphBuilder, node: Node, xs: list[str]) -> Any:
    shape = [1 if n == -1 else n for n in node.attrs["shape"]]
    return w.emit("Expand", xs[0], w.ints(*shape) if shape else w.constant([], np.int64))


@register_writer(ops.broadcast_like)
def _broadcast_like(w: OnnxGraphBuilder, node: Node, xs: list[str]) -> Any:
    g, (source, like) = xs[0], node.inputs
    if not node.attrs.get("keepdims", True) and w.rank(source):
        axes = positive_axes("BroadcastLike", node.attrs.get("axis", ()), like.spec.shape or ())
        g = w.emit("Unsqueeze", g, w.ints(*axes)) if axes else g
    return w.emit("Expand", g, w.shape(like))


@register_writer(ops.sum_like)
def _sum_like(w: OnnxGraphBuilder, node: Node, xs: list[str]) -> Any:
    g, like = node.inputs
    lead = w.rank(g) - w.rank(like)
    pairs = list(enumerate(zip((g.spec.shape or ())[lead:], like.spec.shape or (), strict=True)))
    if all(m is n or (isinstance(n, int) and (m == n or n == 1)) for _, (m, n) in pairs):
        axes = [*range(lead), *(lead + i for i, (m, n) in pairs if n == 1 and m != 1)]
        return w.reshape(emit_reduction(w, "ReduceSum", xs[0], axes, True), w.shape(like))
    # Which axes were stretched turns out when the graph runs.
    ours = w.emit("Concat", w.ints(*[1] * lead), w.shape(like), axis=0) if lead else w.shape(like)
    kept = w.emit("Not", w.emit("Equal", ours, w.shape(g)))
    axes_then = w.emit("Squeeze", w.emit("NonZero", kept), w.ints(0))
    total = w.emit("ReduceSum", xs[0], axes_then, keepdims=1, noop_with_empty_axes=1)
    return w.reshape(total, w.shape(like))


@register_writer(ops.full_like)
def _full_like(w: OnnxGraphBuilder, node: Node, xs: list[str]) -> Any:
    return w.emit("Expand", w.like(node.attrs["value"], node), w.shape(node.inputs[0]))


@register_writer(ops.pad)
def _pad(w: OnnxGraphBuilder, node: Node, xs: list[str]) -> Any:
    widths = node.attrs["widths"]
    pads = w.ints(*(a for a, _ in widths), *(b for _, b in widths))
    return w.emit("Pad", xs[0], pads, w.like(node.attrs.get("value", 0), node))


# ---- Slices -------------------------------------------------------------------------------------


def _expand_key(key: Any, rank: int) -> list[Any]:
    """Expand a key to an item for each axis, and None for each new one."""
    count = sum(item is not None and item != "..." for item in key)
    place = key.index("...") if "..." in key else len(key)
    full = (None, None, None)
    return [*key[:place], *[full] * (rank - count), *key[place + 1 :]]


@register_writer(ops.slice_)
def _slice(w: OnnxGraphBuilder, node: Node, xs: list[str]) -> Any:
    return _emit_slice(w, xs[0], node.attrs["key"], w.rank(node.inputs[0]))


def _emit_slice(w: OnnxGraphBuilder, x: str, key: Any, rank: int) -> str:
    y, axis = x, 0
    bounds: list[tuple[int, int, int, int]] = []
    gone, new, place = [], [], 0
    for item in _expand_key(key, rank):
        if item is None:
            new.append(place)
            place += 1
            continue
        if isinstance(item, tuple):
            start, stop, step = item
            step = 1 if step is None else step
            if item[:2] != (None, None) or step != 1:
                ends = (0, LAST) if step > 0 else (LAST, FIRST)
                start, stop = (
                    e if v is None else v for v, e in zip((start, stop), ends, strict=True)
                )
                bounds.append((start, stop, axis, step))
            place += 1
        else:
            bounds.append((item, LAST if item == -1 else item + 1, axis, 1))
            gone.append(axis)
        axis += 1
    if bounds:
        y = w.emit("Slice", y, *(w.ints(*row) for row in zip(*bounds, strict=True)))
    y = w.emit("Squeeze", y, w.ints(*gone)) if gone else y
    y = w.emit("Unsqueeze", y, w.ints(*new)) if new else y
    return str(y if y != x else w.emit("Identity", y))


@register_writer(ops.unslice)
def _unslice(w: OnnxGraphBuilder, node: Node, xs: list[str]) -> Any:
    """Write the gradient of a slice: gather from g along each axis, padded with a zero."""
    g, x = xs[0], node.inputs[1]
    items = _expand_key(node.attrs["key"], w.rank(x))
    new, axis = [], 0
    for item in items:
        if not isinstance(item, int):
            if item is None:
                new.append(axis)
            axis += 1
    g = w.emit("Squeeze", g, w.ints(*new)) if new else g
    kept = [item for item in items if item is not None]
    single = [i for i, item in enumerate(kept) if isinstance(item, int)]
    g = w.emit("Unsqueeze", g, w.ints(*single)) if single else g
    for i, item in enumerate(kept):
        if item != (None, None, None):
            g = _scatter_axis(w, g, i, item, x)
    return g if g != xs[0] else w.emit("Identity", g)


def _scatter_axis(w: OnnxGraphBuilder, g: str, axis: int, item: Any, x: Node) -> str:
    """Spread g along an axis of x; its positions may be known at run time only."""
    rank = w.rank(x)
    widths = [0] * (2 * rank)
    widths[rank + axis] = 1
    longer = w.emit("Pad", g, w.ints(*widths))
    key = item if isinstance(item, tuple) else (item, None if item == -1 else item + 1, None)
    n = (x.spec.shape or ())[axis]
    if isinstance(n, int):
        places = np.arange(n)[slice(*key)]
        source = np.full(n, len(places))
        source[places] = np.arange(len(places))
        return str(w.emit("Gather", longer, w.constant(source, np.int64), axis=axis))
    length = w.emit("Gather", w.shape(x), w.ints(axis))
    chosen = _emit_slice(w, _emit_range(w, length), (key,), 1)
    count = w.emit("Shape", chosen)
    none = w.emit("Expand", count, length)
    place = w.emit("ScatterElements", none, chosen, _emit_range(w, count), axis=0)
    return str(w.emit("Gather", longer, place, axis=axis))


def _emit_range(w: OnnxGraphBuilder, count: str) -> str:
    """Write the numbers 0, 1, 2, … up to a count."""
    zero, one = w.constant(0, np.int64), w.constant(1, np.int64)
    return str(w.emit("Range", zero, w.reshape(count, w.constant([], np.int64)), one))


@register_writer(put_slice)
def _put_slice(w: OnnxGraphBuilder, node: Node, xs: list[str]) -> Any:
    x = node.inputs[0]
    if has_known_shape(x):
        numbers = np.arange(math.prod(shape_of(x))).reshape(shape_of(x))
        places = w.constant(numbers[numpy_key(node.attrs["key"])], np.int64)
    else:
        all_ = w.reshape(_emit_range(w, w.emit("Size", xs[0])), w.shape(x))
        places = _emit_slice(w, all_, node.attrs["key"], w.rank(x))
    return _emit_put(w, x, xs[0], xs[1], places)


@register_writer(put)
def _put(w: OnnxGraphBuilder, node: Node, xs: list[str]) -> Any:
    return _emit_put(w, node.inputs[0], xs[0], xs[1], w.cast(xs[2], np.int64))


def _emit_put(w: OnnxGraphBuilder, x: Node, name: str, values: str, places: str) -> str:
    shape = w.emit("Shape", places)
    flat = w.reshape(name, w.ints(-1))
    updates = w.reshape(w.emit("Expand", values, shape), w.ints(-1))
    y = w.emit("ScatterElements", flat, w.reshape(places, w.ints(-1)), updates, axis=0)
    return w.reshape(y, w.shape(x))


# ---- Positions that are data --------------------------------------------------------------------


def _as_int64(w: OnnxGraphBuilder, x: str, node: Node) -> str:
    return x if node.dtype == np.int64 else w.cast(x, np.int64)


def _join_positions(w: OnnxGraphBuilder, node: Node, xs: list[str], first: int) -> str:
    """Join positions for several axes into one operand, along its last axis."""
    sources = node.inputs[first:]
    names = [_as_int64(w, x, s) for x, s in zip(xs[first:], sources, strict=True)]
    if len({s.spec.shape for s in sources}) > 1:
        zero = w.constant(0, np.int64)
        all_ = names[0]
        for other in names[1:]:
            all_ = w.emit("Add", all_, w.emit("Mul", other, zero))
        names = [w.emit("Expand", n, w.emit("Shape", all_)) for n in names]
    return str(w.emit("Concat", *(w.emit("Unsqueeze", n, w.ints(-1)) for n in names), axis=-1))


def _axes_to_front(rank: int, axis: int, count: int) -> list[int]:
    """Return the order of axes that moves `count` of them, from `axis` on, to the front."""
    moved = list(range(axis, axis + count))
    return moved + [i for i in range(rank) if i not in moved]


@register_writer(ops.take)
def _take(w: OnnxGraphBuilder, node: Node, xs: list[str]) -> Any:
    x, count = node.inputs[0], len(node.inputs) - 1
    rank = w.rank(x)
    axis = node.attrs.get("axis", 0) % rank
    if count == 1:
        return w.emit("Gather", xs[0], _as_int64(w, xs[1], node.inputs[1]), axis=axis)
    order = _axes_to_front(rank, axis, count)
    y = w.emit("GatherND", w.emit("Transpose", xs[0], perm=order), _join_positions(w, node, xs, 1))
    inner = w.rank(node) - (rank - count)
    back = [*range(inner, inner + axis), *range(inner), *range(inner + axis, w.rank(node))]
    return w.emit("Transpose", y, perm=back)


@register_writer(ops.add_at)
def _add_at(w: OnnxGraphBuilder, node: Node, xs: list[str]) -> Any:
    g, x = node.inputs[:2]
    count, rank = len(node.inputs) - 2, w.rank(x)
    axis = node.attrs.get("axis", 0) % rank
    order = _axes_to_front(rank, axis, count)
    inner = w.rank(g) - (rank - count)
    turn = [*range(axis, axis + inner), *range(axis), *range(axis + inner, w.rank(g))]
    updates = w.emit("Transpose", xs[0], perm=turn) if axis else xs[0]
    zeros = w.emit("Expand", w.like(0, g), w.shape(x))
    zeros = w.emit("Transpose", zeros, perm=order) if axis else zeros
    places = _join_positions(w, node, xs, 2)
    y = w.emit("ScatterND", zeros, places, updates, reduction="add")
    return w.emit("Transpose", y, perm=np.argsort(order).tolist()) if axis else y


@register_writer(ops.gather)
def _gather(w: OnnxGraphBuilder, node: Node, xs: list[str]) -> Any:
    places = _as_int64(w, xs[1], node.inputs[1])
    return w.emit("GatherElements", xs[0], places, axis=int(node.attrs["axis"]))


@register_writer(ops.scatter_add)
def _scatter_add(w: OnnxGraphBuilder, node: Node, xs: list[str]) -> Any:
    zeros = w.emit("Expand", w.like(0, node), w.shape(node.inputs[1]))
    places = _as_int64(w, xs[2], node.inputs[2])
    axis = int(node.attrs["axis"])
    return w.emit("ScatterElements", zeros, places, xs[0], axis=axis, reduction="add")


# ---- Joining ------------------------------------------------------------------------------------


@register_writer(ops.concatenate)
def _concatenate(w: OnnxGraphBuilder, node: Node, xs: list[str]) -> Any:
    return w.emit("Concat", *xs, axis=int(node.attrs.get("axis", 0)))


@register_writer(ops.stack)
def _stack(w: OnnxGraphBuilder, node: Node, xs: list[str]) -> Any:
    axis = node.attrs.get("axis", 0) % w.rank(node)
    return w.emit("Concat", *(w.emit("Unsqueeze", x, w.ints(axis)) for x in xs), axis=axis)


@register_writer(ops.piece)
def _piece(w: OnnxGraphBuilder, node: Node, xs: list[str]) -> Any:
    axis, index = node.attrs.get("axis", 0) % w.rank(node.inputs[0]), node.attrs["index"]
    lengths = [w.emit("Gather", w.shape(x), w.ints(axis)) for x in node.inputs[1 : index + 2]]
    start: Any = w.ints(0)
    for length in lengths[:-1]:
        start = w.emit("Add", start, length)
    return w.emit("Slice", xs[0], start, w.emit("Add", start, lengths[-1]), w.ints(axis))


# ---- Computed lengths ---------------------------------------------------------------------------


def _emit_lengths(w: OnnxGraphBuilder, node: Node) -> str:
    """Write the lengths that the attribute `shape` describes, as a value."""

    def one(length: Any) -> str:
        if isinstance(length, int):
            return w.ints(length)
        if len(length) == 2:
            return str(w.emit("Gather", w.shape(node.inputs[length[0]]), w.ints(length[1])))
        return str(w.emit(LENGTHS[length[0]], one(length[1]), one(length[2])))

    found = [one(length) for length in node.attrs["shape"]]
    return str(w.emit("Concat", *found, axis=0)) if found else w.constant([], np.int64)


@register_writer(ops.lengths_of)
def _lengths_of(w: OnnxGraphBuilder, node: Node, xs: list[str]) -> Any:
    return w.emit("Identity", _emit_lengths(w, node))


@register_writer(ops.reshape_by)
def _reshape_by(w: OnnxGraphBuilder, node: Node, xs: list[str]) -> Any:
    return w.reshape(xs[0], _emit_lengths(w, node))


@register_writer(ops.broadcast_by)
def _broadcast_by(w: OnnxGraphBuilder, node: Node, xs: list[str]) -> Any:
    return w.emit("Expand", xs[0], _emit_lengths(w, node))

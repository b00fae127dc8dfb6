"""ONNX operators that rearrange, join, split, repeat and pad."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from minigrad import ops
from minigrad.interop.onnx.call import OnnxCall, arange, broadcast, operator, reshape
from minigrad.interop.onnx.lengths import Lengths, combine, lengths_of, product
from minigrad.interop.onnx.reductions import flatten_to_2d
from minigrad.interop.onnx.tensors import array_of

FULL = (None, None, None)


@operator("Constant")
def _constant(call: OnnxCall) -> Any:
    if "value" in call.attrs:
        return array_of(call.attrs["value"])[()]
    for name in ("value_float", "value_floats", "value_int", "value_ints"):
        if name in call.attrs:
            kind = np.float32 if "float" in name else np.int64
            return np.array(call.attrs[name], kind)[()]
    raise call.refuse(", ".join(call.attrs))


@operator("Shape")
def _shape(call: OnnxCall) -> Any:
    found = call.shape()
    return Lengths(found[call.attr("start", 0) : call.attr("end", len(found))])


@operator("Size")
def _size(call: OnnxCall) -> Any:
    return Lengths((product(call.shape()),), single=True)


@operator("Reshape")
def _reshape(call: OnnxCall) -> Any:
    x = call.ranked()
    target = list(call.lengths(1) if call.version >= 5 else call.attr("shape"))
    lengths = call.shape()
    if not call.attr("allowzero", 0):
        for i, n in enumerate(target):
            if isinstance(n, int) and n == 0:
                call.expect(i < len(lengths), f"shape {target}")
                target[i] = lengths[i]
    elif 0 in target and -1 in target:
        raise call.refuse("allowzero=1")
    if -1 in target and 0 in lengths:  # NumPy cannot say how often 0 goes into 0
        others = [n for n in target if n != -1]
        target[target.index(-1)] = 0 if 0 not in others else -1
    return reshape(x, target)


@operator("Flatten")
def _flatten(call: OnnxCall) -> Any:
    axis, rank = call.attr("axis", 1), call.rank()
    return flatten_to_2d(call, call[0], axis + rank if axis < 0 else axis)


@operator("Transpose")
def _transpose(call: OnnxCall) -> Any:
    order = call.attr("perm")
    return ops.transpose(call[0], axes=tuple(order) if order else None)


@operator("Squeeze")
def _squeeze(call: OnnxCall) -> Any:
    axes = call.axes()
    return ops.squeeze(call[0], **({} if axes is None else {"axis": tuple(axes)}))


@operator("Unsqueeze")
def _unsqueeze(call: OnnxCall) -> Any:
    axes, x = call.axes() or [], call.ranked()
    rank = call.rank() + len(axes)
    for axis in sorted(a % rank for a in axes):
        x = ops.expand_dims(x, axis=axis)
    return x


@operator("Concat")
def _concat(call: OnnxCall) -> Any:
    return ops.concatenate(*call.all(), axis=int(call.attr("axis", 1)))


@operator("Split")
def _split(call: OnnxCall) -> Any:
    x, axis = call.ranked(), call.axis(0)
    sizes = call.ints(1) if call.given(1) else call.attr("split")
    if sizes is None:
        n = call.known_shape()[axis]
        count = call.attr("num_outputs", len(call.node.output))
        each = -(-n // count)
        sizes = [max(0, min(each, n - i * each)) for i in range(count)]
    parts, start = [], 0
    for size in sizes:
        parts.append(ops.slice_(x, key=(*[FULL] * axis, (start, start + int(size), None))))
        start += int(size)
    return tuple(parts)


@operator("Slice")
def _slice(call: OnnxCall) -> Any:
    x, rank = call.ranked(), call.rank()
    if call.version < 10:
        starts, stops = call.attr("starts"), call.attr("ends")
        axes, steps = call.attr("axes"), None
    else:
        starts, stops = call.lengths(1), call.lengths(2)
        axes, steps = call.ints(3), call.ints(4)
    axes = list(range(len(starts))) if axes is None else axes
    steps = [1] * len(starts) if steps is None else steps
    key: list[Any] = [FULL] * rank
    for axis, start, stop, step in zip(axes, starts, stops, steps, strict=True):
        if isinstance(start, int) and isinstance(stop, int):
            key[axis % rank] = _slice_bounds(start, stop, step)
        else:
            x = _open_slice(call, x, axis % rank, start, stop, step)
    return ops.slice_(x, key=tuple(key)) if any(k != FULL for k in key) else x


def _slice_bounds(start: int, stop: int, step: int) -> Any:
    """Convert ONNX slice bounds to NumPy's; an unbounded stop becomes None."""
    big = 1 << 62
    low = None if stop <= -big or (step < 0 and stop < -(1 << 31) + 2) else stop
    high = None if step > 0 and stop >= (1 << 31) - 1 else low
    return max(start, -big), high if step > 0 else low, step


def _open_slice(call: OnnxCall, x: Any, axis: int, start: Any, stop: Any, step: int) -> Any:
    """Slice between bounds that are known at run time only: take the elements there."""
    call.expect(step > 0, f"steps={step}")
    n = call.shape()[axis]
    first, last = (
        combine("max", combine("+", n, b), 0) if isinstance(b, int) and b < 0 else b
        for b in (start, stop)
    )
    first, last = combine("min", first, n), combine("min", last, n)
    apart = combine("+", combine("-", last, first), step - 1)
    count = combine("max", combine("/", apart, step), 0)
    return ops.take(x, arange(call.reader, first, count, step), axis=axis)


@operator("Expand")
def _expand(call: OnnxCall) -> Any:
    x, target = call.ranked(), list(call.lengths(1))
    lengths = call.shape()
    target = [1] * (len(lengths) - len(target)) + target
    lead = len(target) - len(lengths)
    for i, n in enumerate(lengths, lead):
        if isinstance(target[i], int) and target[i] == 1:
            target[i] = n
    return broadcast(x, target, call.reader)


@operator("Tile")
def _tile(call: OnnxCall) -> Any:
    x, lengths = call.ranked(), call.shape()
    repeats = call.lengths(1)
    inner: list[Any] = [m for n in lengths for m in (1, n)]
    target = [m for r, n in zip(repeats, lengths, strict=True) for m in (r, n)]
    result = [combine("*", r, n) for r, n in zip(repeats, lengths, strict=True)]
    return reshape(broadcast(reshape(x, inner), target, call.reader), result)


@operator("ConstantOfShape")
def _constant_of_shape(call: OnnxCall) -> Any:
    tensor = call.attr("value")
    value = np.zeros(1, np.float32) if tensor is None else array_of(tensor)
    lengths = call.lengths(0)
    known = [n for n in lengths if isinstance(n, int)]
    if len(known) == len(lengths) and math.prod(known) > 1 << 28:
        raise call.refuse(f"shape {lengths}")
    return broadcast(value.reshape(()), lengths, call.reader)


@operator("Range")
def _range(call: OnnxCall) -> Any:
    xs = [call.raw(i) for i in range(3)]
    if any(isinstance(x, Lengths) for x in xs):
        start, stop = call.lengths(0)[0], call.lengths(1)[0]
        step = int(call.constant(2))
        apart = combine("-", stop, start)
        count = combine("/", combine("+", apart, step - 1), step)
        return arange(call.reader, start, count, step)
    bounds = [np.ravel(call.constant(i))[0] for i in range(3)]
    count = max(0, math.ceil((float(bounds[1]) - float(bounds[0])) / float(bounds[2])))
    call.expect(count < 1 << 28, f"{count} elements")
    numbers = bounds[0] + np.arange(count).astype(bounds[0].dtype) * bounds[2]
    return numbers.astype(bounds[0].dtype)


@operator("Pad")
def _pad(call: OnnxCall) -> Any:
    x, rank, mode = call.ranked(), call.rank(), call.attr("mode", "constant")
    flat = (call.ints(1) if call.version >= 11 else call.attr("pads")) or []
    axes = call.ints(3) if call.version >= 18 else None
    axes = list(range(rank)) if axes is None else [a % rank for a in axes]
    pairs = [(0, 0)] * rank
    for i, axis in enumerate(axes):
        pairs[axis] = flat[i], flat[i + len(axes)]
    for axis, (before, after) in enumerate(pairs):
        if before < 0 or after < 0:  # what is negative is cut off
            x = ops.slice_(x, key=(*[FULL] * axis, (max(-before, 0), min(after, 0) or None, None)))
    widths = tuple((max(a, 0), max(b, 0)) for a, b in pairs)
    call.expect(max(map(max, widths), default=0) < 1 << 24, f"pads {widths}")
    if not any(map(any, widths)):
        return x
    if mode == "constant":
        value = call.constant(2) if call.version >= 11 else call.attr("value", 0.0)
        return ops.pad(x, widths=widths, value=0 if value is None else np.ravel(value)[0].item())
    for axis, (before, after) in enumerate(widths):
        if before or after:
            positions = _padding_sources(call, lengths_of(x)[axis], before, after, mode)
            x = ops.take(x, positions, axis=axis)
    return x


def _padding_sources(call: OnnxCall, n: Any, before: int, after: int, mode: str) -> Any:
    """Return the source positions for padding with copies along an axis, which may be open."""
    if isinstance(n, int):
        return np.pad(np.arange(n), (before, after), mode=mode)  # type: ignore[call-overload]
    last = Lengths((combine("-", n, 1),), single=True).node()
    place = arange(call.reader, -before, combine("+", n, before + after))
    if mode == "edge":
        return ops.maximum(ops.minimum(place, last), 0)
    call.expect(mode in ("reflect", "wrap"), f"mode={mode}")
    if mode == "wrap":
        return ops.mod(place, last + 1)
    return last - ops.abs(last - ops.abs(place))


@operator("DepthToSpace", "SpaceToDepth")
def _depth_to_space(call: OnnxCall) -> Any:
    x, b = call.ranked(), int(call.attr("blocksize"))
    n, c, h, w = call.shape()
    call.expect(isinstance(c, int), "shape ?")
    if call.name == "SpaceToDepth":
        tall, wide = combine("/", h, b), combine("/", w, b)
        crd = call.attr("mode", "DCR") == "CRD"
        order = (0, 1, 3, 5, 2, 4) if crd else (0, 3, 5, 1, 2, 4)
        parts = ops.transpose(reshape(x, [n, c, tall, b, wide, b]), axes=order)
        return reshape(parts, [n, c * b * b, tall, wide])
    rest = c // (b * b)
    crd = call.attr("mode", "DCR") == "CRD"
    form = [n, rest, b, b, h, w] if crd else [n, b, b, rest, h, w]
    parts = ops.transpose(reshape(x, form), axes=(0, 1, 4, 2, 5, 3) if crd else (0, 3, 4, 1, 5, 2))
    return reshape(parts, [n, rest, combine("*", h, b), combine("*", w, b)])


@operator("Trilu")
def _trilu(call: OnnxCall) -> Any:
    x, k = call.ranked(), int(np.ravel(call.constant(1, np.zeros(1)))[0])
    rows, columns = call.shape()[-2:]
    down = ops.expand_dims(arange(call.reader, 0, rows), axis=1)
    right = arange(call.reader, 0, columns)
    kept = (right - down) >= k if call.attr("upper", 1) else (right - down) <= k
    return ops.where(kept, x, np.zeros((), x.dtype)[()])


@operator("EyeLike")
def _eye_like(call: OnnxCall) -> Any:
    dtype = call.dtype("dtype") if call.attr("dtype") else call[0].dtype
    rows, columns = call.known_shape()
    return np.eye(rows, columns, int(call.attr("k", 0)), dtype=dtype)


@operator("OneHot")
def _one_hot(call: OnnxCall) -> Any:
    places, depth = call.ranked(), int(np.ravel(call.constant(1))[0])
    axis = int(call.attr("axis", -1))
    rank = call.rank() + 1
    axis %= rank
    call.expect(0 <= depth < 1 << 24, f"depth {depth}")
    numbers = np.arange(depth).reshape([-1 if i == axis else 1 for i in range(rank)])
    places = ops.cast(places, dtype=np.dtype(np.int64))
    places = ops.where(places < 0, places + depth, places)
    values = call[2]
    off, on = (ops.slice_(values, key=(i,)) for i in (0, 1))
    return ops.where(ops.equal(ops.expand_dims(places, axis=axis), numbers), on, off)


# ---- Sequences: lists of values, which are gone when the graph is built ------------------------


@operator("SequenceConstruct", "SequenceEmpty")
def _sequence(call: OnnxCall) -> Any:
    return (call.all(),)


@operator("SequenceAt")
def _sequence_at(call: OnnxCall) -> Any:
    return _sequence_operand(call)[int(call.constant(1))]


@operator("SequenceLength")
def _sequence_length(call: OnnxCall) -> Any:
    return np.int64(len(_sequence_operand(call)))


@operator("SequenceInsert", "SequenceErase")
def _sequence_insert_or_erase(call: OnnxCall) -> Any:
    values, insert = list(_sequence_operand(call)), call.name == "SequenceInsert"
    place = call.constant(2 if insert else 1)
    if insert:
        values.insert(len(values) if place is None else int(place), call[1])
    else:
        del values[-1 if place is None else int(place)]
    return (values,)


@operator("ConcatFromSequence")
def _concat_from_sequence(call: OnnxCall) -> Any:
    join = ops.stack if call.attr("new_axis", 0) else ops.concatenate
    return join(*_sequence_operand(call), axis=int(call.attr("axis")))


@operator("SplitToSequence")
def _split_to_sequence(call: OnnxCall) -> Any:
    x, axis = call.ranked(), call.axis(0)
    n = call.known_shape()[axis]
    given = call.constant(1)
    each = 1 if given is None else int(given) if given.ndim == 0 else 0
    sizes = [min(each, n - i) for i in range(0, n, each)] if each else [int(i) for i in given]
    parts, start = [], 0
    for size in sizes:
        part = ops.slice_(x, key=(*[FULL] * axis, (start, start + size, None)))
        kept = given is not None or call.attr("keepdims", 1)
        parts.append(part if kept else ops.squeeze(part, axis=axis))
        start += size
    return (parts,)


def _sequence_operand(call: OnnxCall) -> list[Any]:
    values = call.raw(0)
    if not isinstance(values, list):
        raise call.refuse("sequence")
    return values


@operator("OptionalHasElement")
def _has_element(call: OnnxCall) -> Any:
    return np.bool_(call.given(0))


@operator("OptionalGetElement", "Optional")
def _optional(call: OnnxCall) -> Any:
    x = call.raw(0)
    return (x,) if isinstance(x, list) else x

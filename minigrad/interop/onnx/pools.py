"""ONNX pooling operators."""

from __future__ import annotations

import itertools
import math
from functools import reduce
from typing import Any

import numpy as np

from minigrad import ops
from minigrad.interop.onnx.call import OnnxCall, arange, operator, reshape
from minigrad.interop.onnx.convolutions import pad, windows_of
from minigrad.interop.onnx.lengths import product
from minigrad.ops.corners import at_least
from minigrad.ops.placing import put
from minigrad.ops.windows import along


@operator("MaxPool", "AveragePool", "LpPool")
def _pool(call: OnnxCall) -> Any:
    x, size = call.ranked(), list(call.attr("kernel_shape"))
    lengths = call.shape()[2:]
    strides, dilations, pads = windows_of(call, size, lengths)
    single = call.name != "MaxPool" or len(call.node.output) < 2
    if call.attr("ceil_mode", 0):
        pads = [
            _ceil_padding(call, *row)
            for row in zip(lengths, size, strides, dilations, pads, strict=True)
        ]  # fmt: skip
    y = _build_pool(call, x, size, strides, dilations, pads)
    if single:
        return y
    return y, _max_indices(call, x, size, strides, dilations, pads)


def _ceil_padding(
    call: OnnxCall, n: Any, k: int, step: int, apart: int, pad: tuple[int, int]
) -> tuple[int, int]:
    """Return the padding, extended at the end for the last window of a rounded-up count."""
    call.expect(isinstance(n, int), "ceil_mode=1")
    wide = (k - 1) * apart + 1
    count = -(-(n + sum(pad) - wide) // step) + 1
    if (count - 1) * step >= n + pad[0]:
        count -= 1  # it would begin in the padding
    return pad[0], pad[1] + max(0, (count - 1) * step + wide - n - sum(pad))


def _build_pool(
    call: OnnxCall, x: Any, size: Any, strides: Any, dilations: Any, pads: Any
) -> Any:  # fmt: skip
    plain = len(size) == 2 and all(d == 1 for d in dilations) and x.dtype.kind == "f"
    even = all(a == b and 2 * a <= k for (a, b), k in zip(pads, size, strict=True))
    options: dict[str, Any] = {"kernel_size": tuple(size), "stride": tuple(strides)}
    if call.name == "MaxPool":
        if plain and even:
            framed_options = {"padding": tuple(a for a, _ in pads)} if any(map(any, pads)) else {}
            return ops.max_pool2d(x, **options, **framed_options)
        lowest = -math.inf if x.dtype.kind == "f" else np.iinfo(x.dtype).min
        return reduce(at_least, _window_values(pad(x, pads, lowest), size, strides, dilations))
    frame = pad(x, pads)
    if call.name == "LpPool":
        p = call.attr("p", 2)
        powers = [ops.pow(ops.abs(t), p) for t in _window_values(frame, size, strides, dilations)]
        return ops.pow(reduce(ops.add, powers), 1 / p)
    if plain:
        y = ops.avg_pool2d(frame, **options)
    else:
        y = reduce(ops.add, _window_values(frame, size, strides, dilations)) / math.prod(size)
    return y * _mean_factor(call, size, strides, dilations, pads) if any(map(any, pads)) else y


def _mean_factor(call: OnnxCall, size: Any, strides: Any, dilations: Any, pads: Any) -> Any:
    """Return the factor for means that leave out the padding, or a part of it."""
    lengths = call.known_shape()[2:] if any(map(any, pads)) else ()
    ones = np.ones((1, 1, *lengths), np.float32)
    if call.attr("count_include_pad", 0):
        flat = list(call.attr("pads", [0] * (2 * len(size))))
        own = [(flat[i], flat[i + len(size)]) for i in range(len(size))]
        if call.attr("auto_pad", "NOTSET") != "NOTSET":
            own = list(pads)
        ones = pad(ones, own, 1)  # what rounding up adds is left out
        pads = [(0, b - c) for (_, b), (_, c) in zip(pads, own, strict=True)]
    taps = _window_values(pad(ones, pads), size, strides, dilations)
    return math.prod(size) / np.maximum(reduce(ops.add, taps), 1)


def _window_values(frame: Any, size: Any, strides: Any, dilations: Any) -> list[Any]:
    """Return for each element of the window its values at all window positions."""
    lengths = frame.shape[-len(size) :]
    if None in lengths:
        raise ValueError("shape ?")
    counts = [
        (n - (k - 1) * d - 1) // s + 1
        for n, k, s, d in zip(lengths, size, strides, dilations, strict=True)
    ]
    found = []
    for offset in itertools.product(*map(range, size)):
        key = [
            along(i * d, s, c)
            for i, d, s, c in zip(offset, dilations, strides, counts, strict=True)
        ]
        found.append(ops.slice_(frame, key=("...", *((k.start, k.stop, k.step) for k in key))))
    return found


def _max_indices(call: OnnxCall, x: Any, size: Any, strides: Any, dilations: Any, pads: Any) -> Any:
    """Return the flat index of each window's largest element, counted through all axes."""
    shape = list(call.shape())
    rank, turn = len(shape), bool(call.attr("storage_order", 0))
    order = [*range(rank - 2), rank - 1, rank - 2] if turn else list(range(rank))
    numbers = reshape(arange(call.reader, 0, product(shape)), [shape[i] for i in order])
    numbers = ops.transpose(numbers, axes=tuple(order))
    lowest = -math.inf if x.dtype.kind == "f" else np.iinfo(x.dtype).min
    taps = ops.stack(*_window_values(pad(x, pads, lowest), size, strides, dilations), axis=0)
    where = ops.stack(*_window_values(pad(numbers, pads), size, strides, dilations), axis=0)
    chosen = ops.expand_dims(ops.argmax(taps, axis=0), axis=0)
    return ops.squeeze(ops.gather(where, chosen, axis=0), axis=0)


@operator("MaxUnpool")
def _max_unpool(call: OnnxCall) -> Any:
    size = list(call.attr("kernel_shape"))
    strides, _, pads = windows_of(call, size, call.shape()[2:])
    shape = call.known_shape()
    lengths = [
        (n - 1) * s - sum(p) + k
        for n, s, p, k in zip(shape[2:], strides, pads, size, strict=True)
    ]  # fmt: skip
    full = (*shape[:2], *lengths)
    y = put(np.zeros(full, call[0].dtype), call[0], call[1])
    target = call.ints(2)
    if target is None or tuple(target) == full:
        return y
    return ops.pad(y, widths=tuple((0, m - n) for m, n in zip(target, full, strict=True)))


@operator("GlobalAveragePool", "GlobalMaxPool")
def _global_pool(call: OnnxCall) -> Any:
    x, axes = call.ranked(), tuple(range(2, call.rank()))
    if call.name == "GlobalAveragePool":
        return ops.mean(x, axis=axes, keepdims=True)
    for axis in reversed(axes):  # of equal elements the first gets the gradient, row by row
        x = ops.gather(x, ops.argmax(x, axis=axis, keepdims=True), axis=axis)
    return x

"""ONNX convolutions of rows, images and volumes, and transposed ones."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from minigrad import ops
from minigrad.interop.onnx.call import OnnxCall, broadcast, operator, reshape
from minigrad.interop.onnx.lengths import combine, lengths_of
from minigrad.nn.functional import dilated
from minigrad.ops.lengths import Length
from minigrad.ops.windows import along

FULL = (None, None, None)

# ---- Windows ------------------------------------------------------------------------------------


def windows_of(call: OnnxCall, size: Sequence[int], lengths: Sequence[Length]) -> tuple[Any, ...]:
    """Return strides, dilations, and pairs of paddings along the axes of the images."""
    n = len(size)
    strides = list(call.attr("strides", [1] * n))
    dilations = list(call.attr("dilations", [1] * n))
    flat = list(call.attr("pads", [0] * (2 * n)))
    pads = [(flat[i], flat[i + n]) for i in range(n)]
    auto = call.attr("auto_pad", "NOTSET")
    if auto in ("SAME_UPPER", "SAME_LOWER"):
        for i, length in enumerate(lengths):
            wide = (size[i] - 1) * dilations[i] + 1
            if isinstance(length, int):
                total = max((-(-length // strides[i]) - 1) * strides[i] + wide - length, 0)
            else:
                call.expect(strides[i] == 1, f"auto_pad={auto}")
                total = wide - 1
            small, large = total // 2, total - total // 2
            pads[i] = (small, large) if auto == "SAME_UPPER" else (large, small)
    elif auto == "VALID":
        pads = [(0, 0)] * n
    return strides, dilations, pads


def _with_height(x: Any, dims: int) -> Any:
    """Turn a row of pixels into an image of height 1."""
    return ops.expand_dims(x, axis=2) if dims == 1 else x


def _without_height(y: Any, dims: int) -> Any:
    return ops.squeeze(y, axis=2) if dims == 1 else y


def pad(x: Any, pads: Sequence[tuple[int, int]], value: float = 0) -> Any:
    """Pad x by these widths along its last axes."""
    if not any(map(any, pads)):
        return x
    lead = len(x.shape) - len(pads)
    return ops.pad(x, widths=((0, 0),) * lead + tuple(pads), value=value)


def convolve(call: OnnxCall, x: Any, w: Any) -> Any:
    """Build a convolution of rows, images or volumes from the call's attributes."""
    shape = lengths_of(w)
    call.expect(all(isinstance(n, int) for n in shape[2:]), f"kernels {shape[2:]}")
    dims = len(shape) - 2
    call.expect(dims in (1, 2, 3), f"{dims} axes")
    strides, dilations, pads = windows_of(call, shape[2:], call.shape()[2:])
    if dims == 3:
        return _conv3d(call, pad(x, pads), w, strides, dilations)
    if dims == 1:
        strides, dilations, pads = [1, *strides], [1, *dilations], [(0, 0), *pads]
    x, w = _with_height(x, dims), dilated(_with_height(w, dims), dilations)
    groups, how = int(call.attr("group", 1)), {"stride": tuple(strides)}
    even = all(a == b for a, b in pads)
    options: dict[str, Any] = {**how, "padding": tuple(a for a, _ in pads) if even else 0}
    if groups > 1:
        options["groups"] = groups
    return _without_height(ops.conv2d(x if even else pad(x, pads), w, **options), dims)


def _conv3d(call: OnnxCall, x: Any, w: Any, strides: Any, dilations: Any) -> Any:
    """Build a 3-D convolution as a sum of 2-D ones, one for each depth slice of the kernels."""
    n, c, deep, tall, wide = lengths_of(x)
    depth = w.shape[2]
    call.expect(isinstance(deep, int), "shape ?")
    count = (deep - (depth - 1) * dilations[0] - 1) // strides[0] + 1
    options: dict[str, Any] = {"stride": tuple(strides[1:])}
    if call.attr("group", 1) > 1:
        options["groups"] = int(call.attr("group"))
    total: Any = None
    for i in range(depth):
        part = along(i * dilations[0], strides[0], count)
        layers = ops.slice_(x, key=(FULL, FULL, (part.start, part.stop, part.step)))
        images = ops.transpose(layers, axes=(0, 2, 1, 3, 4))
        images = reshape(images, [combine("*", n, count), c, tall, wide])
        kernels = dilated(ops.slice_(w, key=(FULL, FULL, i)), dilations[1:])
        y = ops.conv2d(images, kernels, **options)
        total = y if total is None else total + y
    _, k, rows, columns = lengths_of(total)
    return ops.transpose(reshape(total, [n, count, k, rows, columns]), axes=(0, 2, 1, 3, 4))


@operator("Conv")
def _conv(call: OnnxCall) -> Any:
    y = convolve(call, call.ranked(), call[1])
    return y if not call.given(2) else y + per_channel(call[2], call.rank())


def per_channel(value: Any, rank: int) -> Any:
    """Reshape one number for each channel so that it broadcasts along axis 1."""
    return ops.reshape(value, shape=(-1, *[1] * (rank - 2)))


@operator("ConvTranspose")
def _conv_transpose(call: OnnxCall) -> Any:
    """Build a transposed convolution: a convolution's input gradient, without the padding."""
    x, w = call.ranked(), call[1]
    shape, lengths = call.known_shape(1), call.shape()[2:]
    dims, groups = len(shape) - 2, int(call.attr("group", 1))
    call.expect(dims in (1, 2), f"{dims} axes")
    strides, dilations, pads = windows_of(call, shape[2:], lengths)
    extra = list(call.attr("output_padding", [0] * dims))
    grown: list[Length] = [
        combine("+", combine("*", combine("-", n, 1), s), (k - 1) * d + 1 + e)
        for n, s, k, d, e in zip(lengths, strides, shape[2:], dilations, extra, strict=True)
    ]
    pads = _output_pads(call, pads, lengths, strides, grown)
    if dims == 1:
        grown, strides, dilations = [1, *grown], [1, *strides], [1, *dilations]
        pads = [(0, 0), *pads]
    x, w = _with_height(x, dims), dilated(_with_height(w, dims), dilations)
    corner = ops.slice_(x, key=(FULL, (0, 1, None), (0, 1, None), (0, 1, None)))
    n = lengths_of(corner)[0]
    like = broadcast(corner, [n, shape[1] * groups, *grown], call.reader)
    # Rows that are added beyond the reach of the strides: there is no window.
    missing = [max(e, 0) // s for e, s in zip(extra, strides[-dims:], strict=True)]
    x = pad(x, [(0, 0)] * (2 - dims) + [(0, m) for m in missing])
    options: dict[str, Any] = {"stride": tuple(strides)}
    if groups > 1:
        options["groups"] = groups
    y = ops.conv2d_input(x, w, like, **options)
    y = pad(y, [(max(-a, 0), max(-b, 0)) for a, b in pads])
    cut = tuple((max(a, 0), -b if b > 0 else None, None) for a, b in pads)
    y = _without_height(ops.slice_(y, key=(FULL, FULL, *cut)), dims)
    return y if not call.given(2) else y + per_channel(call[2], call.rank())


def _output_pads(call: OnnxCall, pads: Any, lengths: Any, strides: Any, grown: Any) -> Any:
    """Return the paddings that produce the requested output shape."""
    sizes, auto = call.attr("output_shape"), call.attr("auto_pad", "NOTSET")
    if sizes is None and not auto.startswith("SAME"):
        return pads
    call.expect(all(isinstance(n, int) for n in lengths), "shape ?")
    if sizes is None:
        sizes = [n * s for n, s in zip(lengths, strides, strict=True)]
    totals = [m - n for m, n in zip(grown, sizes[-len(grown) :], strict=True)]
    halves = [(t // 2, t - t // 2) for t in totals]
    return [(a, b) if auto == "SAME_UPPER" else (b, a) for a, b in halves]


@operator("Col2Im")
def _col2im(call: OnnxCall) -> Any:
    """Add each column to its patch: a transposed convolution with one-hot kernels."""
    size, block = call.ints(1) or [], call.ints(2) or []
    call.expect(len(block) == 2, f"{len(block)} axes")
    strides, dilations, pads = windows_of(call, block, size)
    n, rows, _ = call.shape()
    area = math.prod(block)
    call.expect(isinstance(rows, int), "shape ?")
    channels = rows // area
    wide = [(k - 1) * d + 1 for k, d in zip(block, dilations, strict=True)]
    grown = [m + sum(p) for m, p in zip(size, pads, strict=True)]
    places = [(m - k) // s + 1 for m, k, s in zip(grown, wide, strides, strict=True)]
    g = reshape(call[0], [combine("*", n, channels), area, *places])
    w = dilated(np.eye(area, dtype=g.dtype).reshape(area, 1, *block), dilations)
    corner = ops.slice_(g, key=(FULL, (0, 1, None), (0, 1, None), (0, 1, None)))
    like_ = ops.broadcast_to(corner, shape=(-1, 1, *grown))
    y = ops.conv2d_input(g, w, like_, stride=tuple(strides))
    cut = tuple((a, -b if b else None, None) for a, b in pads)
    return reshape(ops.slice_(y, key=(FULL, FULL, *cut)), [n, channels, *size])

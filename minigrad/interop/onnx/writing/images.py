"""Export to ONNX of operators on images and their gradients."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad import ops
from minigrad.interop.onnx.writing.builder import OnnxGraphBuilder, register_writer
from minigrad.ops.pool import pool_window
from minigrad.ops.windows import Window
from minigrad.static import Node


def _window(w: OnnxGraphBuilder, node: Node, kernels: Node) -> Window:
    size = tuple(w.length(kernels, i) for i in (2, 3))
    return Window.of(node.op.name, size, **node.attrs)


def _pad_list(window: Window) -> list[int]:
    return [a for a, _ in window.pads] + [b for _, b in window.pads]


@register_writer(ops.conv2d)
def _conv(w: OnnxGraphBuilder, node: Node, xs: list[str]) -> Any:
    window = _window(w, node, node.inputs[1])
    options: dict[str, Any] = {
        "pads": _pad_list(window),
        "strides": list(window.stride),
        "group": window.groups,
    }
    return w.emit("Conv", *xs, kernel_shape=list(window.size), **options)


@register_writer(ops.conv2d_input)
def _conv_input(w: OnnxGraphBuilder, node: Node, xs: list[str]) -> Any:
    """Write conv2d's input gradient; output_padding adds what no window reached."""
    kernels, x = node.inputs[1:]
    window = _window(w, node, kernels)
    lengths = [w.length(x, i) for i in (2, 3)]
    rest = [
        (n + sum(pad) - k) % s
        for n, pad, k, s in zip(lengths, window.pads, window.size, window.stride, strict=True)
    ]
    options: dict[str, Any] = {"strides": list(window.stride), "group": window.groups}
    options |= {"pads": _pad_list(window), "output_padding": rest}
    return w.emit("ConvTranspose", *xs[:2], kernel_shape=list(window.size), **options)


@register_writer(ops.conv2d_weight)
def _conv_weight(w: OnnxGraphBuilder, node: Node, xs: list[str]) -> Any:
    """Write conv2d's kernel gradient: Conv of images and gradients, batch and channels swapped."""
    kernels = node.inputs[2]
    window = _window(w, node, kernels)
    each = w.length(kernels, 1), w.length(kernels, 0) // window.groups
    parts = []
    for i in range(window.groups):
        images, slopes = xs[1], xs[0]
        if window.groups > 1:
            images = _slice_channels(w, images, i, each[0])
            slopes = _slice_channels(w, slopes, i, each[1])
        turned = [w.emit("Transpose", v, perm=[1, 0, 2, 3]) for v in (images, slopes)]
        y = w.emit("Conv", *turned, pads=_pad_list(window), dilations=list(window.stride))
        y = w.emit("Slice", y, w.ints(0, 0), w.ints(*window.size), w.ints(2, 3))
        parts.append(w.emit("Transpose", y, perm=[1, 0, 2, 3]))
    return parts[0] if len(parts) == 1 else w.emit("Concat", *parts, axis=0)


def _slice_channels(w: OnnxGraphBuilder, x: str, i: int, count: int) -> str:
    return str(w.emit("Slice", x, w.ints(i * count), w.ints((i + 1) * count), w.ints(1)))


# ---- Pooling ------------------------------------------------------------------------------------


def _pool_options(node: Node) -> tuple[Window, dict[str, Any]]:
    window = pool_window(node.op.name, **node.attrs)
    options = {"kernel_shape": list(window.size), "strides": list(window.stride)}
    return window, {**options, "pads": _pad_list(window)}


@register_writer(ops.max_pool2d)
def _max_pool(w: OnnxGraphBuilder, node: Node, xs: list[str]) -> Any:
    return w.emit("MaxPool", xs[0], **_pool_options(node)[1])


@register_writer(ops.avg_pool2d)
def _avg_pool(w: OnnxGraphBuilder, node: Node, xs: list[str]) -> Any:
    return w.emit("AveragePool", xs[0], count_include_pad=1, **_pool_options(node)[1])


def _max_indices(w: OnnxGraphBuilder, node: Node, x: str) -> str:
    """Write the flat index of each window's first maximum, counted through all images."""
    _, places = w.emit("MaxPool", x, outputs=2, **_pool_options(node)[1])
    return w.reshape(places, w.ints(-1))


@register_writer(ops.max_pool2d_input)
def _max_pool_input(w: OnnxGraphBuilder, node: Node, xs: list[str]) -> Any:
    x = node.inputs[2]
    zeros = w.emit("Expand", w.like(0, node), w.emit("Reshape", w.emit("Size", xs[2]), w.ints(1)))
    slopes = w.reshape(xs[0], w.ints(-1))
    places = _max_indices(w, node, xs[2])
    y = w.emit("ScatterElements", zeros, places, slopes, axis=0, reduction="add")
    return w.reshape(y, w.shape(x))


@register_writer(ops.max_pool2d_pick)
def _max_pool_pick(w: OnnxGraphBuilder, node: Node, xs: list[str]) -> Any:
    flat = w.reshape(xs[0], w.ints(-1))
    return w.reshape(w.emit("Gather", flat, _max_indices(w, node, xs[2])), w.shape(node.inputs[1]))


@register_writer(ops.avg_pool2d_input)
def _avg_pool_input(w: OnnxGraphBuilder, node: Node, xs: list[str]) -> Any:
    """Write avg_pool's input gradient as a transposed convolution with equal weights."""
    x, (window, options) = node.inputs[1], _pool_options(node)
    area = window.size[0] * window.size[1]
    lengths = [w.length(x, i) for i in (2, 3)]
    rest = [
        (n + sum(pad) - k) % s
        for n, pad, k, s in zip(lengths, window.pads, window.size, window.stride, strict=True)
    ]
    places = [w.length(node.inputs[0], i) for i in (2, 3)]
    images = w.reshape(xs[0], w.ints(-1, 1, *places))
    ones = w.constant(np.full((1, 1, *window.size), 1 / area), node.dtype)
    y = w.emit("ConvTranspose", images, ones, output_padding=rest, **options)
    return w.reshape(y, w.shape(x))

"""Normalisations of ONNX."""

from __future__ import annotations

from functools import reduce
from typing import Any

from minigrad import ops
from minigrad.interop.onnx.call import OnnxCall, operator
from minigrad.interop.onnx.convolutions import per_channel
from minigrad.interop.onnx.elementwise import cast_like
from minigrad.ops.corners import root

FULL = (None, None, None)

# ---- Normalisations -----------------------------------------------------------------------------


@operator("BatchNormalization")
def _batch_norm(call: OnnxCall) -> Any:
    x, rank, eps = call.ranked(), call.rank(), call.attr("epsilon", 1e-5)
    scale, bias, mean, variance = (call[i] for i in range(1, 5))
    if not call.attr("training_mode", 0):
        root = ops.sqrt(variance + variance.dtype.type(eps))
        centred = x - per_channel(mean, rank)
        y = centred / per_channel(root, rank) * per_channel(scale, rank) + per_channel(bias, rank)
        return cast_like(x, y)
    axes = (0, *range(2, rank))
    seen = ops.mean(x, axis=axes)
    spread = ops.mean(_square(x - per_channel(seen, rank)), axis=axes)
    y = ops.normalize(x, axis=axes, eps=eps) * per_channel(scale, rank) + per_channel(bias, rank)
    m = call.attr("momentum", 0.9)
    return y, mean * m + seen * (1 - m), variance * m + spread * (1 - m)


def _square(x: Any) -> Any:
    return x * x


@operator("InstanceNormalization")
def _instance_norm(call: OnnxCall) -> Any:
    rank = call.rank()
    y = ops.normalize(call[0], axis=tuple(range(2, rank)), eps=call.attr("epsilon", 1e-5))
    return y * per_channel(call[1], rank) + per_channel(call[2], rank)


@operator("LayerNormalization")
def _layer_norm(call: OnnxCall) -> Any:
    x, axis, eps = call.ranked(), call.axis(-1), call.attr("epsilon", 1e-5)
    axes = tuple(range(axis, call.rank()))
    y = ops.normalize(x, axis=axes, eps=eps) * call[1]
    y = y + call[2] if call.given(2) else y
    if len(call.node.output) == 1:
        return y
    mean = ops.mean(x, axis=axes, keepdims=True)
    return y, mean, 1 / ops.sqrt(ops.mean(_square(x - mean), axis=axes, keepdims=True) + eps)


@operator("LRN")
def _lrn(call: OnnxCall) -> Any:
    x, size = call.ranked(), int(call.attr("size"))
    before = (size - 1) // 2
    channels = call.known_shape()[1] if isinstance(call.shape()[1], int) else 0
    widths = tuple((before, size - 1 - before) if i == 1 else (0, 0) for i in range(call.rank()))
    squares = ops.pad(x * x, widths=widths)
    parts = [ops.slice_(squares, key=(FULL, (i, i + channels, None))) for i in range(size)]
    around = reduce(ops.add, parts) * (call.attr("alpha", 1e-4) / size) + call.attr("bias", 1.0)
    return x / ops.pow(around, call.attr("beta", 0.75))


@operator("LpNormalization")
def _lp_norm(call: OnnxCall) -> Any:
    x, axis = call.ranked(), call.axis(-1)
    if call.attr("p", 2) == 1:
        size = ops.sum(ops.abs(x), axis=axis, keepdims=True)
    else:
        size = root(ops.sum(x * x, axis=axis, keepdims=True))
    nothing = ops.equal(size, 0)
    return ops.where(nothing, ops.full_like(x, value=0), x / ops.where(nothing, 1, size))

"""Operators of ONNX on quantised numbers: 8-bit numbers with a scale and a zero point."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad import ops
from minigrad.core import float32, int32
from minigrad.interop.onnx.call import OnnxCall, operator
from minigrad.interop.onnx.convolutions import convolve


def broadcast_along(call: OnnxCall, value: Any, axis: int, rank: int) -> Any:
    """Broadcast a parameter: one for all, for each position along the axis, or each block."""
    if value is None or len(value.shape) == 0 or value.shape == (1,):
        return value if value is None else ops.reshape(value, shape=())
    if len(value.shape) == 1:
        return ops.reshape(value, shape=tuple(-1 if i == axis % rank else 1 for i in range(rank)))
    block = int(call.attr("block_size", 0))
    length = call.known_shape()[axis]
    count = value.shape[axis]
    block = block or -(-length // count)
    places = np.minimum(np.arange(length) // block, count - 1)
    return ops.take(value, places, axis=axis % rank)


@operator("QuantizeLinear")
def _quantize(call: OnnxCall) -> Any:
    x, axis, rank = call.ranked(), int(call.attr("axis", 1)), call.rank()
    zero = call[2] if call.given(2) else None
    number = call.attr("output_dtype", 0) or 0
    if zero is None:
        dtype = call.dtype("output_dtype", 2) if number else np.dtype(np.uint8)
    else:
        dtype = zero.dtype
    call.expect(dtype.kind in "iu", str(dtype))
    scale = broadcast_along(call, call[1], axis, rank)
    if x.dtype.kind != "f":
        x = ops.cast(x, dtype=float32)
    return quantize(x / scale, broadcast_along(call, zero, axis, rank), dtype)


def quantize(x: Any, zero: Any, dtype: Any) -> Any:
    """Round x, add the zero point, and clip to the range of the data type."""
    y = ops.round(x)
    if zero is not None:
        y = y + ops.cast(zero, dtype=y.dtype)
    about = np.iinfo(dtype)
    return ops.cast(ops.clip(y, low=float(about.min), high=float(about.max)), dtype=dtype)


@operator("DequantizeLinear")
def _dequantize(call: OnnxCall) -> Any:
    x, axis, rank = call.ranked(), int(call.attr("axis", 1)), call.rank()
    scale = broadcast_along(call, call[1], axis, rank)
    y = ops.cast(x, dtype=int32)
    if call.given(2):
        y = y - ops.cast(broadcast_along(call, call[2], axis, rank), dtype=int32)
    return ops.cast(y, dtype=scale.dtype) * scale


def _sub_zero_point(x: Any, zero: Any) -> Any:
    """Subtract the zero point from x, as 32-bit integers."""
    x = ops.cast(x, dtype=int32)
    return x if zero is None else x - ops.cast(zero, dtype=int32)


def _optional(call: OnnxCall, i: int) -> Any:
    return call[i] if call.given(i) else None


@operator("MatMulInteger")
def _matmul_integer(call: OnnxCall) -> Any:
    a, b = call[0], call[1]
    rows = _optional(call, 2)
    if rows is not None and len(rows.shape) == 1 and rows.shape[0] != 1:
        rows = ops.expand_dims(rows, axis=-1)
    return ops.matmul(_sub_zero_point(a, rows), _sub_zero_point(b, _optional(call, 3)))


@operator("QLinearMatMul")
def _quantized_matmul(call: OnnxCall) -> Any:
    a, a_scale, a_zero, b, b_scale, b_zero, scale, zero = call.all()
    y = ops.matmul(_sub_zero_point(a, a_zero), _sub_zero_point(b, b_zero))
    y = ops.cast(y, dtype=float32) * (ops.cast(a_scale * b_scale / scale, dtype=float32))
    return quantize(y, zero, zero.dtype)


@operator("ConvInteger")
def _conv_integer(call: OnnxCall) -> Any:
    x = ops.cast(_sub_zero_point(call[0], _optional(call, 2)), dtype=np.dtype(np.float64))
    zero = _optional(call, 3)
    if zero is not None and len(zero.shape) == 1:  # one for each kernel
        zero = ops.reshape(zero, shape=(-1, *[1] * (call.rank(1) - 1)))
    w = ops.cast(_sub_zero_point(call[1], zero), dtype=np.dtype(np.float64))
    return ops.cast(convolve(call, x, w), dtype=int32)


@operator("QLinearConv")
def _quantized_conv(call: OnnxCall) -> Any:
    x, x_scale, x_zero, w, w_scale, w_zero, scale, zero = (call[i] for i in range(8))
    w_zero, w_scale = (
        ops.reshape(v, shape=(-1, 1, 1, 1)) if len(v.shape) == 1 else v for v in (w_zero, w_scale)
    )
    wide = np.dtype(np.float64)
    inner = (ops.cast(_sub_zero_point(v, z), dtype=wide) for v, z in ((x, x_zero), (w, w_zero)))
    y = convolve(call, *inner)
    if call.given(8):
        y = y + ops.reshape(ops.cast(call[8], dtype=wide), shape=(-1, 1, 1))
    w_scale = ops.reshape(w_scale, shape=(-1, 1, 1)) if len(w_scale.shape) else w_scale
    return quantize(ops.cast(y * (x_scale * w_scale / scale), dtype=float32), zero, zero.dtype)

"""PyTorch's operators that are whole layers: convolution, pooling, norms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from minigrad import functions as f
from minigrad import ops
from minigrad.interop.torch.numbers import Table
from minigrad.nn import functional as nn


def _pair(value: Any) -> Any:
    """Return a number for both axes, or two, from PyTorch's lists of one or two."""
    values = tuple(value) if isinstance(value, Sequence) and not isinstance(value, str) else value
    return values * 2 if isinstance(values, tuple) and len(values) == 1 else values


def _conv2d(
    x: Any,
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Any:
    if len(x.shape) == 3:
        return _unbatched(_conv2d, x, weight, bias, stride, padding, dilation, groups)
    if (
        max(_pair_of(dilation)) > FAR
        and _pair_of(stride) == (1, 1)
        and not isinstance(padding, str)
    ):
        return _dilated(x, weight, bias, _pair_of(padding), _pair_of(dilation), groups)
    return nn.conv2d(x, weight, bias, _pair(stride), _pair(padding), _pair(dilation), groups)


FAR = 4  # elements of a kernel that are further apart than this are not joined by zeros


def _dilated(x: Any, weight: Any, bias: Any, pads: Any, steps: Any, groups: int) -> Any:
    """Build a dilated convolution: pixels one dilation apart form images of their own."""
    (n, c, *lengths), (k, _, *window), (down, right) = x.shape, weight.shape, steps
    framed = [length + 2 * pad for length, pad in zip(lengths, pads, strict=True)]
    high, wide = (-(-length // step) for length, step in zip(framed, steps, strict=True))
    ends = (high * down - framed[0] + pads[0], wide * right - framed[1] + pads[1])
    x = f.pad(x, [(0, 0), (0, 0), *zip(pads, ends, strict=True)])
    x = f.transpose(f.reshape(x, (n, c, high, down, wide, right)), (3, 5, 0, 1, 2, 4))
    y = nn.conv2d(f.reshape(x, (down * right * n, c, high, wide)), weight, bias, groups=groups)
    y = f.transpose(f.reshape(y, (down, right, n, k, *y.shape[2:])), (2, 3, 4, 0, 5, 1))
    y = f.reshape(y, (n, k, y.shape[2] * down, y.shape[4] * right))
    high, wide = (z - (m - 1) * d for z, m, d in zip(framed, window, steps, strict=True))
    return y[:, :, :high, :wide]


def _unbatched(layer: Any, x: Any, *args: Any) -> Any:
    """Apply a layer for batches to a single image."""
    y = layer(f.expand_dims(x, 0), *args)
    return y if y is NotImplemented else f.squeeze(y, 0)


def _conv1d(
    x: Any,
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Any:
    if len(x.shape) == 2:
        return _unbatched(_conv1d, x, weight, bias, stride, padding, dilation, groups)
    wide = (_row(stride, 1), _row(padding, 0), _row(dilation, 1))
    y = nn.conv2d(f.expand_dims(x, 2), f.expand_dims(weight, 2), bias, *wide, groups)
    return f.squeeze(y, 2)


def _row(value: Any, other: int) -> Any:
    """Convert an option for one axis to one for an image of a single row."""
    if isinstance(value, str):
        return value
    return other, value if isinstance(value, int) else value[0]


def _conv_transpose(
    x: Any,
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    padding: Any = 0,
    output_padding: Any = 0,
    groups: int = 1,
    dilation: Any = 1,
) -> Any:
    """Build conv_transpose2d, which is the input gradient of a convolution."""
    stride, padding, more, apart = (
        _pair_of(v) for v in (stride, padding, output_padding, dilation)
    )
    if groups != 1 or apart != (1, 1) or len(x.shape) != 4:
        return NotImplemented
    shape = [x.shape[0], weight.shape[1]]
    for axis, (step, pad, extra) in enumerate(zip(stride, padding, more, strict=True), 2):
        shape.append((x.shape[axis] - 1) * step - 2 * pad + weight.shape[axis] + extra)
    images = np.zeros(shape, x.dtype)
    y = ops.conv2d_input(x, weight, images, stride=stride, padding=padding)
    return y if bias is None else y + f.reshape(bias, (-1, 1, 1))


def _pair_of(value: Any) -> tuple[int, int]:
    pair = _pair(value)
    return pair if isinstance(pair, tuple) else (pair, pair)


def _convolution(
    x: Any,
    weight: Any,
    bias: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
    transposed: bool,
    output_padding: Any,
    groups: int,
) -> Any:
    if transposed:
        return _conv_transpose(x, weight, bias, stride, padding, output_padding, groups, dilation)
    layer = {3: _conv1d, 4: _conv2d}.get(len(x.shape))
    if layer is None:
        return NotImplemented
    return layer(x, weight, bias, stride, padding, dilation, groups)


def _max_pool(
    x: Any, size: Any, stride: Any = (), padding: Any = 0, dilation: Any = 1, ceil: bool = False
) -> Any:
    if ceil or _pair_of(dilation) != (1, 1):
        return NotImplemented
    if len(x.shape) == 3:
        return _unbatched(_max_pool, x, size, stride, padding)
    return nn.max_pool2d(x, _pair(size), _pair(stride) or None, _pair(padding))


def _avg_pool(
    x: Any,
    size: Any,
    stride: Any = (),
    padding: Any = 0,
    ceil: bool = False,
    include_pad: bool = True,
    divisor: Any = None,
) -> Any:
    if ceil or divisor is not None or (not include_pad and _pair_of(padding) != (0, 0)):
        return NotImplemented
    if len(x.shape) == 3:
        return _unbatched(_avg_pool, x, size, stride, padding)
    return nn.avg_pool2d(x, _pair(size), _pair(stride) or None, _pair(padding))


def _adaptive_avg_pool(x: Any, size: Any) -> Any:
    size = _pair_of(size)
    if size == (1, 1):
        return f.mean(x, (-2, -1), True)
    if any(n % k for n, k in zip(x.shape[-2:], size, strict=True)):
        return NotImplemented
    return _avg_pool(x, tuple(n // k for n, k in zip(x.shape[-2:], size, strict=True)))


def _nearest(x: Any, size: Any, *scales: Any) -> Any:
    """Upsample by repeating pixels; NotImplemented unless factors are integers."""
    sizes = size
    if sizes is None:
        factors = next(s for s in scales if s is not None)
        sizes = [int(n * k) for n, k in zip(x.shape[2:], factors, strict=True)]
    for axis, n in enumerate(sizes, 2):
        if n % x.shape[axis]:
            return NotImplemented
        x = f.take(x, np.arange(n) // (n // x.shape[axis]), axis=axis)
    return x


# ---- Norms ----------------------------------------------------------------------------------


def _affine(y: Any, weight: Any, bias: Any) -> Any:
    """Multiply each channel (axis 1) by its weight and add its bias."""
    shape = (-1, *[1] * (len(y.shape) - 2))
    y = y if weight is None else y * f.reshape(weight, shape)
    return y if bias is None else y + f.reshape(bias, shape)


def _layer_norm(
    x: Any, shape: Any, weight: Any = None, bias: Any = None, eps: float = 1e-5, *_: Any
) -> Any:
    return nn.layer_norm(x, tuple(shape), weight, bias, eps)


def _rms_norm(x: Any, shape: Any, weight: Any = None, eps: Any = None) -> Any:
    axes = tuple(range(-len(shape), 0))
    eps = np.finfo(x.dtype).eps.item() if eps is None else eps
    y = x / f.sqrt(f.mean(x * x, axes, True) + eps)
    return y if weight is None else y * weight


def _group_norm(
    x: Any, groups: int, weight: Any = None, bias: Any = None, eps: float = 1e-5, *_: Any
) -> Any:
    parts = f.reshape(x, (x.shape[0], groups, -1))
    return _affine(f.reshape(ops.normalize(parts, axis=-1, eps=eps), x.shape), weight, bias)


def _native_group_norm(
    x: Any, weight: Any, bias: Any, n: int, channels: int, area: int, groups: int, eps: float
) -> Any:
    return _group_norm(x, groups, weight, bias, eps), None, None


def _instance_norm(
    x: Any,
    weight: Any,
    bias: Any,
    mean: Any,
    var: Any,
    use_input: bool,
    momentum: float,
    eps: float,
    *_: Any,
) -> Any:
    if not use_input:
        return _normalize(x, weight, bias, mean, var, eps)
    return _affine(ops.normalize(x, axis=tuple(range(2, len(x.shape))), eps=eps), weight, bias)


def _normalize(x: Any, weight: Any, bias: Any, mean: Any, var: Any, eps: float) -> Any:
    shape = (-1, *[1] * (len(x.shape) - 2))
    y = (x - f.reshape(mean, shape)) / f.sqrt(f.reshape(var, shape) + eps)
    return _affine(y, weight, bias)


def _batch_norm(
    x: Any,
    weight: Any,
    bias: Any,
    mean: Any,
    var: Any,
    training: bool,
    momentum: float,
    eps: float,
    *_: Any,
) -> Any:
    """Build batch_norm; training uses batch statistics, and running ones aren't returned."""
    if not training:
        return _normalize(x, weight, bias, mean, var, eps)
    axes = (0, *range(2, len(x.shape)))
    return _affine(ops.normalize(x, axis=axes, eps=eps), weight, bias)


def keep_first_result(layer: Any, count: int) -> Any:
    """Wrap a layer whose operator has further results, unused in the forward pass."""

    def several(*args: Any, **how: Any) -> Any:
        y = layer(*args, **how)
        return y if y is NotImplemented else (y, *[None] * (count - 1))

    return several


def _fixed_norm(x: Any, w: Any, b: Any, mean: Any, var: Any, momentum: float, eps: float) -> Any:
    return _normalize(x, w, b, mean, var, eps)


LAYERS: Table = {
    "conv2d": _conv2d,
    "conv1d": _conv1d,
    "convolution": _convolution,
    "conv_transpose2d": _conv_transpose,
    "max_pool2d": _max_pool,
    "max_pool2d_with_indices": keep_first_result(_max_pool, 2),
    "avg_pool2d": _avg_pool,
    "adaptive_avg_pool2d": _adaptive_avg_pool,
    "_adaptive_avg_pool2d": _adaptive_avg_pool,
    "upsample_nearest2d": _nearest,
    "layer_norm": _layer_norm,
    "native_layer_norm": keep_first_result(_layer_norm, 3),
    "rms_norm": _rms_norm,
    "group_norm": _group_norm,
    "native_group_norm": _native_group_norm,
    "instance_norm": _instance_norm,
    "batch_norm": _batch_norm,
    "native_batch_norm": keep_first_result(_batch_norm, 3),
    "_native_batch_norm_legit": keep_first_result(_batch_norm, 3),
    "_native_batch_norm_legit_functional": keep_first_result(_batch_norm, 5),
    "_native_batch_norm_legit_no_training": keep_first_result(_fixed_norm, 3),
}

"""Resizing: along each axis the result is a product with a matrix of weights, known beforehand."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from minigrad import ops
from minigrad.core import Array
from minigrad.interop.onnx.call import OnnxCall, broadcast, operator, reshape
from minigrad.interop.onnx.lengths import combine, lengths_of

Source = Callable[[Array], Array]


def _source_coordinates(mode: str, n: int, m: int, scale: float, roi: tuple[float, float]) -> Array:
    """Return the coordinates of the result's elements along the operand's axis."""
    i = np.arange(m, dtype=np.float64)
    start, end = roi
    size = scale * n
    forms: dict[str, Source] = {
        "asymmetric": lambda i: i / scale,
        "half_pixel": lambda i: (i + 0.5) / scale - 0.5,
        "pytorch_half_pixel": lambda i: (i + 0.5) / scale - 0.5 if m > 1 else 0 * i,
        "align_corners": lambda i: i * (n - 1) / (size - 1) if size > 1 else 0 * i,
        "half_pixel_symmetric": lambda i: (
            n / 2 * (1 - m / size) + (i + 0.5) / scale - 0.5
        ),
        "tf_half_pixel_for_nn": lambda i: (i + 0.5) / scale,
        "tf_crop_and_resize": lambda i: (
            start * (n - 1) + i * (end - start) * (n - 1) / (m - 1)
            if m > 1
            else 0 * i + (start + end) * (n - 1) / 2
        ),
    }  # fmt: skip
    return forms[mode](i)


def _cubic_kernel(x: Array, a: float) -> Array:
    x = np.abs(x)
    near = (a + 2) * x**3 - (a + 3) * x**2 + 1
    far = a * x**3 - 5 * a * x**2 + 8 * a * x - 4 * a
    return np.where(x <= 1, near, np.where(x < 2, far, 0.0))


def _linear_kernel(x: Array) -> Array:
    return np.maximum(0.0, 1 - np.abs(x))


def resize_matrix(call: OnnxCall, n: int, m: int, scale: float, roi: tuple[float, float]) -> Array:
    """Return the matrix (m, n) that resizes an axis of n elements to m."""
    mode, how = (
        call.attr("mode", "nearest"),
        call.attr("coordinate_transformation_mode", "half_pixel"),
    )
    if call.name == "Upsample" or call.version < 11:
        how = "asymmetric"
    at = _source_coordinates(how, n, m, scale, roi)
    result = np.zeros((m, n))
    if mode == "nearest":
        rounding: dict[str, Source] = {
            "round_prefer_floor": lambda x: np.ceil(x - 0.5),
            "round_prefer_ceil": lambda x: np.floor(x + 0.5),
            "floor": np.floor,
            "ceil": np.ceil,
        }
        old = call.version < 11
        chosen = "floor" if old else call.attr("nearest_mode", "round_prefer_floor")
        places = np.clip(rounding[chosen](at), 0, n - 1).astype(int)
        result[np.arange(m), places] = 1
    else:
        a = call.attr("cubic_coeff_a", -0.75)
        shape: Source = (lambda x: _cubic_kernel(x, a)) if mode == "cubic" else _linear_kernel
        shrink = min(1.0, scale) if call.attr("antialias", 0) else 1.0
        reach = math.ceil((2 if mode == "cubic" else 1) / shrink)
        base = np.floor(at).astype(int)
        for offset in range(-reach, reach + 1):
            place = base + offset
            share = shape((at - place) * shrink)
            if call.attr("exclude_outside", 0):
                share = np.where((place >= 0) & (place < n), share, 0)
            np.add.at(result, (np.arange(m), np.clip(place, 0, n - 1)), share)
        total = result.sum(1, keepdims=True)
        result /= np.where(total == 0, 1, total)
    return result


@operator("Resize", "Upsample")
def _resize(call: OnnxCall) -> Any:
    x, rank = call.ranked(), call.rank()
    old = call.version < 11
    at = (1, None) if old else (2, 3)
    scales = call.constant(at[0], call.attr("scales"))
    sizes = None if at[1] is None else call.ints(at[1])
    axes = [a % rank for a in call.attr("axes", range(rank))]
    shape = call.shape()
    rois: list[Any] = [(0.0, 1.0)] * len(axes)
    if call.attr("coordinate_transformation_mode") == "tf_crop_and_resize":
        flat = np.ravel(call.constant(1)).tolist()
        rois = list(zip(flat[: len(axes)], flat[len(axes) :], strict=True))
    plans: list[tuple[int, Any, float]] = []
    if sizes:
        found = _keep_aspect(call, axes, sizes)
        plans = [(axis, m, s) for axis, (m, s) in zip(axes, found, strict=True)]
    else:
        for axis, s in zip(axes, np.ravel(scales).tolist(), strict=True):
            n = shape[axis]
            plans.append((axis, math.floor(n * s) if isinstance(n, int) else n, s))
    y, outside = x, []
    for (axis, m, scale), roi in zip(plans, rois, strict=True):
        if (m == shape[axis] or not isinstance(shape[axis], int)) and scale == 1 and roi == (0, 1):
            continue
        if not isinstance(shape[axis], int):
            y = _repeat_open_axis(call, y, axis, scale)
            continue
        y = _resize_axis(call, y, axis, resize_matrix(call, shape[axis], m, scale, roi))
        how = _source_coordinates("tf_crop_and_resize", shape[axis], m, scale, roi)
        out = (how < 0) | (how > shape[axis] - 1)
        outside.append(out.reshape([-1 if i == axis else 1 for i in range(rank)]))
    if call.attr("coordinate_transformation_mode") == "tf_crop_and_resize" and outside:
        value = x.dtype.type(call.attr("extrapolation_value", 0.0))
        beyond = outside[0]
        for other in outside[1:]:
            beyond = beyond | other
        y = ops.where(beyond, value, y)
    return y


def _keep_aspect(call: OnnxCall, axes: list[int], sizes: list[int]) -> list[tuple[int, float]]:
    """Return lengths and scales, adjusted where the aspect ratio is to be kept."""
    lengths = [call.known_shape()[a] for a in axes]
    scales = [m / n for m, n in zip(sizes, lengths, strict=True)]
    policy = call.attr("keep_aspect_ratio_policy", "stretch")
    if policy == "stretch":
        return list(zip(sizes, scales, strict=True))
    one = min(scales) if policy == "not_larger" else max(scales)
    return [(math.floor(n * one + 0.5), one) for n in lengths]


def _repeat_open_axis(call: OnnxCall, x: Any, axis: int, scale: float) -> Any:
    """Resize an open axis by repeating each element; FormatError for other modes."""
    times = int(scale)
    for n in (2, 5):
        call.expect(times == scale and call.attr("mode", "nearest") == "nearest", "shape ?")
        same = resize_matrix(call, n, n * times, scale, (0, 1)).argmax(1)
        call.expect(bool(np.all(same == np.repeat(np.arange(n), times))), "shape ?")
    lengths: list[Any] = list(lengths_of(x))
    inner, whole = [*lengths], [*lengths]
    inner.insert(axis + 1, 1)
    wider = [*inner]
    wider[axis + 1] = times
    whole[axis] = combine("*", whole[axis], times)
    return reshape(broadcast(reshape(x, inner), wider, call.reader), whole)


def _resize_axis(call: OnnxCall, x: Any, axis: int, matrix: Array) -> Any:
    if call.attr("mode", "nearest") == "nearest":
        return ops.take(x, matrix.argmax(1), axis=axis)
    rank = len(x.shape)
    rows = matrix.astype(x.dtype if x.dtype.kind == "f" else np.float32)
    order = [i for i in range(rank) if i != axis] + [axis]
    y = ops.matmul(ops.transpose(x, axes=tuple(order)), rows, transpose_b=True)
    return ops.transpose(y, axes=tuple(np.argsort(order).tolist()))

"""ONNX operators that gather and scatter elements by position."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from minigrad import ops
from minigrad.interop.onnx.call import OnnxCall, operator, reshape
from minigrad.interop.onnx.lengths import product
from minigrad.ops.placing import put

FULL = (None, None, None)


@operator("Gather")
def _gather(call: OnnxCall) -> Any:
    x, places = call.ranked(), call[1]
    axis = call.axis(0)
    if isinstance(places, np.generic):
        return ops.slice_(x, key=(*[FULL] * axis, int(places)))
    return ops.take(x, places, axis=axis)


@operator("GatherElements")
def _gather_elements(call: OnnxCall) -> Any:
    x, axis = call.ranked(), call.axis(0)
    return ops.gather(x, _nonnegative_positions(call, axis), axis=axis)


def _nonnegative_positions(call: OnnxCall, axis: int) -> Any:
    """Count positions along an axis from its beginning, if its length is known."""
    places, n = call[1], call.shape()[axis]
    return ops.where(places < 0, places + n, places) if isinstance(n, int) else places


def _flat_indices(call: OnnxCall, axes: int, batch: int = 0) -> Any:
    """Return flat indices for positions along some axes, held in operand 1's last axis."""
    lengths = call.known_shape()[batch : batch + axes]
    places: Any = 0
    for i, n in enumerate(lengths):
        one = ops.slice_(call[1], key=("...", i))
        places = places * n + ops.where(one < 0, one + n, one)
    return places


@operator("GatherND")
def _gather_nd(call: OnnxCall) -> Any:
    batch, x = int(call.attr("batch_dims", 0)), call.ranked()
    shape, axes = call.known_shape(), call.known_shape(1)[-1]
    places = _flat_indices(call, axes, batch)
    lead = math.prod(shape[:batch])
    rest, each = shape[batch + axes :], math.prod(shape[batch : batch + axes])
    rows = ops.reshape(x, shape=(lead * each, *rest))
    if batch:
        form = call.known_shape(1)[:-1]
        offsets = np.arange(lead).reshape(*form[:batch], *[1] * (len(form) - batch)) * each
        places = places + offsets
    return ops.take(rows, places, axis=0)


def _scatter(call: OnnxCall, x: Any, values: Any, places: Any, how: str) -> Any:
    """Put values at flat indices of x, or reduce them with the elements there."""
    if how == "none":
        return put(x, values, places)
    flat_x, flat_values = (ops.reshape(v, shape=(-1,)) for v in (x, values))
    flat = ops.reshape(places, shape=(-1,))
    if how == "add":
        return x + ops.reshape_like(ops.scatter_add(flat_values, flat_x, flat, axis=0), x)
    count = product(call.known_shape(0)), product(call.known_shape(2))
    call.expect(count[0] * count[1] <= 1 << 24, f"reduction={how}")  # a table of all pairs
    numbers = np.arange(count[0])[:, None]
    hit = ops.equal(numbers, flat)
    neutral = {"mul": 1, "max": _extreme_value(x, -1), "min": _extreme_value(x, 1)}[how]
    table = ops.where(hit, flat_values, x.dtype.type(neutral))
    if how == "mul":
        return x * ops.reshape_like(ops.prod(table, axis=1), x)
    reduce, pair = (ops.max, ops.maximum) if how == "max" else (ops.min, ops.minimum)
    return pair(x, ops.reshape_like(reduce(table, axis=1), x))


def _extreme_value(x: Any, sign: int) -> Any:
    if x.dtype.kind == "f":
        return sign * np.inf
    about = np.iinfo(x.dtype)
    return about.max if sign > 0 else about.min


@operator("ScatterElements", "Scatter")
def _scatter_elements(call: OnnxCall) -> Any:
    axis, how = call.axis(0), call.attr("reduction", "none")
    if call.rank() == 1:
        return _scatter(call, call[0], call[2], _nonnegative_positions(call, 0), how)
    shape, form = call.known_shape(), call.known_shape(1)
    strides = [math.prod(shape[i + 1 :]) for i in range(len(shape))]
    grid = sum(
        (
            np.arange(n).reshape([-1 if j == i else 1 for j in range(len(form))]) * strides[i]
            for i, n in enumerate(form)
            if i != axis
        ),
        np.zeros(form, np.int64),
    )
    places = _nonnegative_positions(call, axis) * strides[axis] + grid
    return _scatter(call, call[0], call[2], places, how)


@operator("ScatterND")
def _scatter_nd(call: OnnxCall) -> Any:
    shape, axes = call.known_shape(), call.known_shape(1)[-1]
    size = math.prod(shape[axes:])
    places = _flat_indices(call, axes)
    inner = np.arange(size).reshape(shape[axes:])
    for _ in shape[axes:]:
        places = ops.expand_dims(places, axis=-1)
    return _scatter(call, call[0], call[2], places * size + inner, call.attr("reduction", "none"))


@operator("TensorScatter")
def _tensor_scatter(call: OnnxCall) -> Any:
    """Write values into a cache along an axis, from each sample's own position on."""
    axis = int(call.attr("axis", -2)) % call.rank()
    shape, form = call.known_shape(), call.known_shape(1)
    n, circular = shape[axis], call.attr("mode", "linear") == "circular"
    starts: Any = call[2] if call.given(2) else np.zeros(shape[0], np.int64)
    starts = ops.reshape(starts, shape=(-1, *[1] * (len(form) - 1)))
    along = np.arange(form[axis]).reshape([-1 if i == axis else 1 for i in range(len(form))])
    places = starts + along
    places = ops.mod(places, n) if circular else places
    strides = [math.prod(shape[i + 1 :]) for i in range(len(shape))]
    grid = np.zeros(form, np.int64)
    for i, m in enumerate(form):
        if i != axis:
            lane = np.arange(m).reshape([-1 if j == i else 1 for j in range(len(form))])
            grid = grid + lane * strides[i]
    return put(call[0], call[1], places * strides[axis] + grid)


@operator("Compress")
def _compress(call: OnnxCall) -> Any:
    chosen = np.flatnonzero(call.constant(1))
    if call.attr("axis") is None:
        return ops.take(reshape(call[0], [-1]), chosen, axis=0)
    return ops.take(call[0], chosen, axis=call.axis(0))


@operator("ReverseSequence")
def _reverse_sequence(call: OnnxCall) -> Any:
    x, lengths = call.ranked(), call[1]
    batch, time = int(call.attr("batch_axis", 1)), int(call.attr("time_axis", 0))
    return reverse_sequences(x, lengths, call.known_shape(), batch, time)


def reverse_sequences(x: Any, lengths: Any, shape: tuple[int, ...], batch: int, time: int) -> Any:
    """Reverse x along `time`, each sample up to its own length."""
    steps = np.arange(shape[time]).reshape([-1 if i == time else 1 for i in range(len(shape))])
    counts = ops.reshape(lengths, shape=tuple(-1 if i == batch else 1 for i in range(len(shape))))
    places = ops.where(ops.less(steps, counts), counts - 1 - steps, steps)
    return ops.gather(x, ops.broadcast_to(places, shape=shape), axis=time)

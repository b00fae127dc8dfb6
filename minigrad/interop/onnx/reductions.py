"""Operators of ONNX along axes: sums, extremes, running sums, orders."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from minigrad import ops
from minigrad.interop.onnx import lengths, names
from minigrad.interop.onnx.call import TABLE, OnnxCall, broadcast, operator, reshape
from minigrad.interop.onnx.elementwise import cast_like
from minigrad.ops.corners import root
from minigrad.ops.product import product


def _reduction_rule(reduce: Callable[..., Any]) -> Callable[[OnnxCall], Any]:
    """Make the rule for a reduction over some axes, or over all if none are named."""

    def rule(call: OnnxCall) -> Any:
        axes, x = call.axes(), call.ranked()
        if not axes and call.attr("noop_with_empty_axes", 0):
            return _reduce_no_axes(call.name, x)
        chosen = tuple(range(call.rank())) if not axes else tuple(axes)
        if not call.rank():
            return _reduce_no_axes(call.name, x)
        options = {"axis": chosen, "keepdims": bool(call.attr("keepdims", 1))}
        if call.name in EMPTY and any(call.shape()[a] == 0 for a in chosen):
            gone = {a % call.rank() for a in chosen}
            shape = [1 if i in gone else n for i, n in enumerate(call.shape())]
            if not options["keepdims"]:
                shape = [n for i, n in enumerate(shape) if i not in gone]
            value = np.asarray(EMPTY[call.name](x.dtype), x.dtype)
            return broadcast(value[()], shape, call.reader)
        return cast_like(x, reduce(x, **options))

    return rule


def _reduce_no_axes(name: str, x: Any) -> Any:
    """Reduce over no axis: some reductions change each element nevertheless."""
    steps: dict[str, Callable[[Any], Any]] = {
        "ReduceL1": ops.abs,
        "ReduceL2": ops.abs,
        "ReduceLogSum": ops.log,
        "ReduceSumSquare": lambda x: x * x,
    }
    return steps.get(name, lambda x: x)(x)


def _lowest(dtype: Any) -> Any:
    return -np.inf if dtype.kind == "f" else dtype.kind != "b" and np.iinfo(dtype).min


def _highest(dtype: Any) -> Any:
    return np.inf if dtype.kind == "f" else dtype.kind == "b" or np.iinfo(dtype).max


EMPTY = {"ReduceMax": _lowest, "ReduceMin": _highest}


def _prod(x: Any, axis: Any, keepdims: bool) -> Any:
    return product(x, axis, keepdims)


REDUCTIONS: dict[str, Callable[..., Any]] = {
    **{name: op for op, name in names.REDUCTIONS.items()},
    "ReduceProd": _prod,
    "ReduceL1": lambda x, **how: ops.sum(ops.abs(x), **how),
    "ReduceL2": lambda x, **how: root(ops.sum(x * x, **how)),
    "ReduceSumSquare": lambda x, **how: ops.sum(x * x, **how),
    "ReduceLogSum": lambda x, **how: ops.log(ops.sum(x, **how)),
}
TABLE.update({name: _reduction_rule(reduce) for name, reduce in REDUCTIONS.items()})


@operator("ArgMax", "ArgMin")
def _argmax(call: OnnxCall) -> Any:
    op = ops.argmax if call.name == "ArgMax" else ops.argmin
    axis, x = call.axis(0), call[0]
    options = {"axis": axis, "keepdims": bool(call.attr("keepdims", 1))}
    if not call.attr("select_last_index", 0):
        return op(x, **options)
    key = (*[(None, None, None)] * axis, (None, None, -1))
    last = ops.count(x, ops.sum(x, axis=axis))  # the length of the axis
    length = call.shape()[axis]
    last = length if isinstance(length, int) else ops.cast(last, dtype=np.dtype(np.int64))
    return last - 1 - op(ops.slice_(x, key=key), **options)


@operator("CumSum", "CumProd")
def _cumulative(call: OnnxCall) -> Any:
    x, reverse = call.ranked(), bool(call.attr("reverse", 0))
    axis = int(np.ravel(call.constant(1))[0]) % call.rank()
    whole = (None, None, None)
    if call.attr("exclusive", 0):  # one element later
        shape = call.known_shape()
        neutral = 0 if call.name == "CumSum" else 1
        key = (0, -1, None) if not reverse else (1, None, None)
        rest = ops.slice_(x, key=(*[whole] * axis, key)) if shape[axis] else x
        widths = [(0, 0)] * len(shape)
        widths[axis] = (0, 1) if reverse else (1, 0)
        x = ops.pad(rest, widths=tuple(widths), value=neutral) if shape[axis] else x
    if call.name == "CumSum":
        return cast_like(x, ops.cumsum(x, axis=axis, **({"reverse": True} if reverse else {})))
    return _running_product(call, x, axis, reverse)


def _running_product(call: OnnxCall, x: Any, axis: int, reverse: bool) -> Any:
    shape = call.known_shape()
    key = [(None, None, None)] * axis
    order = range(shape[axis])[::-1] if reverse else range(shape[axis])
    parts: list[Any] = []
    for i in order:
        part = ops.slice_(x, key=(*key, (i, i + 1, None)))
        parts.append(part if not parts else parts[-1] * part)
    return ops.concatenate(*(parts[::-1] if reverse else parts), axis=axis) if parts else x


@operator("TopK")
def _top_k(call: OnnxCall) -> Any:
    x, axis = call.ranked(), call.axis(-1)
    k = int(np.ravel(call.constant(1) if call.version >= 10 else call.attr("k"))[0])
    order = ops.argsort(x, axis=axis, descending=bool(call.attr("largest", 1)))
    key = (*[(None, None, None)] * axis, (0, k, None))
    places = ops.slice_(order, key=key)
    return ops.gather(x, places, axis=axis), places


@operator("Hardmax")
def _hardmax(call: OnnxCall) -> Any:
    x = call.ranked()
    axis = call.axis(-1 if call.version >= 13 else 1)
    shape = call.known_shape()
    place = ops.expand_dims(ops.argmax(x, axis=axis), axis=axis)
    numbers = np.arange(shape[axis]).reshape([-1 if i == axis else 1 for i in range(len(shape))])
    return ops.cast(ops.equal(place, numbers), dtype=x.dtype)


@operator("Softmax", "LogSoftmax")
def _softmax(call: OnnxCall) -> Any:
    op = ops.softmax if call.name == "Softmax" else ops.log_softmax
    if call.version >= 13:
        return op(call[0], axis=call.axis(-1))
    axis, x = call.axis(1), call.ranked()  # older versions: a matrix of two blocks of axes
    if axis == call.rank() - 1:
        return op(x, axis=axis)
    return ops.reshape_like(op(flatten_to_2d(call, x, axis), axis=1), x)


def flatten_to_2d(call: OnnxCall, x: Any, axis: int) -> Any:
    """Flatten x to a matrix: the axes before `axis`, and the others."""
    shape = call.shape()
    return reshape(x, [lengths.product(shape[:axis]), lengths.product(shape[axis:])])

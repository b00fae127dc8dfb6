"""Export to ONNX of elementwise operators and of those along axes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from minigrad import ops
from minigrad.interop.onnx.names import ELEMENTWISE, REDUCTIONS
from minigrad.interop.onnx.writing.builder import (
    TABLE,
    OnnxGraphBuilder,
    Rule,
    has_known_shape,
    register_writer,
    shape_of,
)
from minigrad.ops.shape import positive_axes
from minigrad.static import Node


def _direct_rule(name: str) -> Rule:
    return lambda w, node, xs: w.emit(name, *xs)


NAMES = ELEMENTWISE | dict.fromkeys((ops.stop_gradient, ops.print_value), "Identity")
TABLE.update({op: _direct_rule(name) for op, name in NAMES.items()})


@register_writer(ops.add, ops.mul)
def _add_or_mul(w: OnnxGraphBuilder, node: Node, xs: list[str]) -> Any:
    """Write addition or multiplication; for Booleans they are Or and And."""
    add = node.op is ops.add
    if node.dtype.kind == "b":
        return w.emit("Or" if add else "And", *xs)
    return w.emit(ELEMENTWISE[node.op], *xs)


@register_writer(ops.less, ops.greater, ops.less_equal, ops.greater_equal)
def _comparison(w: OnnxGraphBuilder, node: Node, xs: list[str]) -> Any:
    if node.inputs[0].dtype.kind == "b":
        xs = [w.cast(x, np.int32) for x in xs]
    return w.emit(ELEMENTWISE[node.op], *xs)


@register_writer(ops.not_equal)
def _not_equal(w: OnnxGraphBuilder, node: Node, xs: list[str]) -> Any:
    return w.emit("Not", w.emit("Equal", *xs))


@register_writer(ops.logical_and, ops.logical_or, ops.logical_xor, ops.logical_not)
def _logical(w: OnnxGraphBuilder, node: Node, xs: list[str]) -> Any:
    xs = [
        x if y.dtype.kind == "b" else w.cast(x, np.bool_)
        for x, y in zip(xs, node.inputs, strict=True)
    ]
    return w.emit(node.op.name, *xs)


@register_writer(ops.isnan)
def _isnan(w: OnnxGraphBuilder, node: Node, xs: list[str]) -> Any:
    return w.emit("IsNaN", xs[0] if node.inputs[0].dtype.kind == "f" else w.cast(xs[0], np.float32))


@register_writer(ops.cast)
def _cast(w: OnnxGraphBuilder, node: Node, xs: list[str]) -> Any:
    return w.cast(xs[0], node.dtype)


@register_writer(ops.log1p)
def _log1p(w: OnnxGraphBuilder, node: Node, xs: list[str]) -> Any:
    """Write log1p as x · log(1 + x) / ((1 + x) − 1), which is accurate near 0."""
    x, one = xs[0], w.like(1, node)
    u = w.emit("Add", x, one)
    d = w.emit("Sub", u, one)
    flat = w.emit("Equal", d, w.like(0, node))
    safe = w.emit("Where", flat, one, d)
    scaled = w.emit("Mul", w.emit("Log", u), w.emit("Div", x, safe))
    endless = w.emit("IsInf", u)
    return w.emit("Where", flat, x, w.emit("Where", endless, u, scaled))


@register_writer(ops.floor, ops.ceil, ops.round)
def _rounding(w: OnnxGraphBuilder, node: Node, xs: list[str]) -> Any:
    return w.emit(node.op.name if node.dtype.kind == "f" else "Identity", xs[0])


@register_writer(ops.gelu)
def _gelu(w: OnnxGraphBuilder, node: Node, xs: list[str]) -> Any:
    return w.emit("Gelu", xs[0], approximate=node.attrs.get("approximate", "none"))


@register_writer(ops.step)
def _step(w: OnnxGraphBuilder, node: Node, xs: list[str]) -> Any:
    return w.cast(w.emit("Greater", xs[0], w.like(0, node.inputs[0])), node.dtype)


@register_writer(ops.share_of_maximum)
def _share_of_maximum(w: OnnxGraphBuilder, node: Node, xs: list[str]) -> Any:
    parts = [w.cast(w.emit(name, *xs), node.dtype) for name in ("Less", "LessOrEqual")]
    lost = w.emit("Mul", w.emit("Add", *parts), w.like(0.5, node))
    return w.emit("Sub", w.like(1, node), lost)


@register_writer(ops.within)
def _within(w: OnnxGraphBuilder, node: Node, xs: list[str]) -> Any:
    low, high = node.attrs.get("low"), node.attrs.get("high")
    low = low if low is not None else -np.inf
    high = high if high is not None else np.inf
    x, wide = xs[0], node.inputs[0].dtype
    if wide.kind != "f":
        x, wide = w.cast(x, np.float64), np.dtype(np.float64)
    inside = w.emit(
        "And",
        w.emit("GreaterOrEqual", x, w.constant(low, wide)),
        w.emit("LessOrEqual", x, w.constant(high, wide)),
    )
    return w.cast(inside, node.dtype)


@register_writer(ops.clip)
def _clip(w: OnnxGraphBuilder, node: Node, xs: list[str]) -> Any:
    x = xs[0] if node.inputs[0].dtype == node.dtype else w.cast(xs[0], node.dtype)
    for option, name in (("low", "Max"), ("high", "Min")):
        bound = node.attrs.get(option)
        x = x if bound is None else w.emit(name, x, w.like(bound, node))
    return x if x != xs[0] else w.emit("Identity", x)


@register_writer(ops.floor_divide, ops.mod)
def _whole_division(w: OnnxGraphBuilder, node: Node, xs: list[str]) -> Any:
    a, b = xs
    if node.dtype.kind != "f":
        rest = w.emit("Mod", a, b)
    else:  # the remainder has the sign of the divisor
        zero = w.like(0, node)
        r = w.emit("Mod", a, b, fmod=1)
        apart = w.emit("Xor", w.emit("Less", r, zero), w.emit("Less", b, zero))
        apart = w.emit("And", apart, w.emit("Not", w.emit("Equal", r, zero)))
        rest = w.emit("Where", apart, w.emit("Add", r, b), r)
    if node.op is ops.mod:
        return rest
    quotient = w.emit("Div", w.emit("Sub", a, rest), b)
    return w.emit("Round", quotient) if node.dtype.kind == "f" else quotient


# ---- Along axes ---------------------------------------------------------------------------------

REDUCED = REDUCTIONS | {ops.all: "ReduceMin", ops.any: "ReduceMax"}


def axes_of(w: OnnxGraphBuilder, node: Node, default: Any = None) -> list[int]:
    x = node.inputs[0]
    w.rank(x)
    return list(positive_axes(node.op.name, node.attrs.get("axis", default), x.spec.shape or ()))


def emit_reduction(w: OnnxGraphBuilder, name: str, x: str, axes: list[int], keep: bool) -> str:
    """Write a reduction over some axes; over none, an Identity."""
    if not axes:
        return str(w.emit("Identity", x))
    return str(w.emit(name, x, w.ints(*axes), keepdims=int(keep)))


@register_writer(*REDUCED)
def _reduction(w: OnnxGraphBuilder, node: Node, xs: list[str]) -> Any:
    default = 0 if node.op is ops.prod else None
    axes, keep = axes_of(w, node, default), bool(node.attrs.get("keepdims"))
    if node.op not in (ops.all, ops.any):
        return emit_reduction(w, REDUCED[node.op], xs[0], axes, keep)
    x = w.cast(w.cast(xs[0], np.bool_), np.int32)
    return w.cast(emit_reduction(w, REDUCED[node.op], x, axes, keep), np.bool_)


@register_writer(ops.logsumexp)
def _logsumexp(w: OnnxGraphBuilder, node: Node, xs: list[str]) -> Any:
    """Write logsumexp: subtract the maximum, then add it back, unless it is infinite."""
    axes, keep = axes_of(w, node), bool(node.attrs.get("keepdims"))
    top = emit_reduction(w, "ReduceMax", xs[0], axes, True)
    top = w.emit("Where", w.emit("IsInf", top), w.like(0, node), top)
    total = emit_reduction(w, "ReduceSum", w.emit("Exp", w.emit("Sub", xs[0], top)), axes, True)
    y = w.emit("Add", w.emit("Log", total), top)
    return y if keep or not axes else w.emit("Squeeze", y, w.ints(*axes))


@register_writer(ops.argmax, ops.argmin)
def _argmax(w: OnnxGraphBuilder, node: Node, xs: list[str]) -> Any:
    axis, keep = node.attrs.get("axis"), bool(node.attrs.get("keepdims"))
    x, source = xs[0], node.inputs[0]
    if source.dtype.kind == "b":
        x = w.cast(x, np.int32)
    if axis is None:
        x = w.reshape(x, w.ints(-1))
        found = w.emit(node.op.name, x, axis=0, keepdims=int(keep))
        ones = w.ints(*[1] * w.rank(source)) if w.rank(source) else w.constant([], np.int64)
        return w.reshape(found, ones) if keep else found
    return w.emit(node.op.name, x, axis=int(axis), keepdims=int(keep))


@register_writer(ops.argsort)
def _argsort(w: OnnxGraphBuilder, node: Node, xs: list[str]) -> Any:
    axis = int(node.attrs.get("axis", -1))
    count = w.emit("Gather", w.shape(node.inputs[0]), w.ints(axis))
    largest = int(bool(node.attrs.get("descending")))
    _, places = w.emit("TopK", xs[0], count, outputs=2, axis=axis, largest=largest, sorted=1)
    return str(places)


@register_writer(ops.share_of_extreme)
def _share_of_extreme(w: OnnxGraphBuilder, node: Node, xs: list[str]) -> Any:
    axes, y = axes_of(w, node), xs[1]
    if not node.attrs.get("keepdims") and axes:
        y = w.emit("Unsqueeze", y, w.ints(*axes))
    hit = w.cast(w.emit("Equal", xs[0], y), node.dtype)
    return w.emit("Div", hit, emit_reduction(w, "ReduceSum", hit, axes, True))


@register_writer(ops.cumsum)
def _cumsum(w: OnnxGraphBuilder, node: Node, xs: list[str]) -> Any:
    axis = w.constant(node.attrs.get("axis", 0), np.int64)
    return w.emit("CumSum", xs[0], axis, reverse=int(bool(node.attrs.get("reverse"))))


@register_writer(ops.prod_of_others)
def _prod_of_others(w: OnnxGraphBuilder, node: Node, xs: list[str]) -> Any:
    """Write the product of all elements before each one times that of all after it."""
    x = node.inputs[0]
    axis = node.attrs.get("axis", 0) % w.rank(x)
    n = w.length(x, axis)
    parts = [
        w.emit("Slice", xs[0], w.ints(i), w.ints(i + 1), w.ints(axis)) for i in range(n)
    ]  # fmt: skip
    one = w.like(1, node)
    before, after = [one], [one]
    for part, behind in zip(parts, reversed(parts), strict=True):
        before.append(w.emit("Mul", before[-1], part))
        after.append(w.emit("Mul", after[-1], behind))
    found = [w.emit("Mul", before[i], after[n - 1 - i]) for i in range(n)]
    like = [w.emit("Expand", f, w.emit("Shape", p)) for f, p in zip(found, parts, strict=True)]
    return w.emit("Concat", *like, axis=axis) if n else w.emit("Identity", xs[0])


@register_writer(ops.count)
def _count(w: OnnxGraphBuilder, node: Node, xs: list[str]) -> Any:
    x, y = node.inputs
    if has_known_shape(x) and has_known_shape(y):
        n = math.prod(shape_of(x)) / max(math.prod(shape_of(y)), 1)
        return w.emit("Identity", w.like(n, node))
    sizes = [w.emit("Size", name) for name in xs]
    return w.cast(w.emit("Div", sizes[0], w.emit("Max", sizes[1], w.constant(1, np.int64))),
                  node.dtype)  # fmt: skip


@register_writer(ops.softmax, ops.log_softmax)
def _softmax(w: OnnxGraphBuilder, node: Node, xs: list[str]) -> Any:
    return w.emit(node.op.name, xs[0], axis=int(node.attrs.get("axis", -1)))


def one_hot(w: OnnxGraphBuilder, labels: str, scores: Node, dtype: Any) -> str:
    depth = w.emit("Gather", w.shape(scores), w.constant(-1, np.int64))
    numbers = w.emit("Range", w.constant(0, np.int64), depth, w.constant(1, np.int64))
    places = w.emit("Unsqueeze", w.cast(labels, np.int64), w.ints(-1))
    return w.cast(w.emit("Equal", places, numbers), dtype)


@register_writer(ops.one_hot)
def _one_hot(w: OnnxGraphBuilder, node: Node, xs: list[str]) -> Any:
    return one_hot(w, xs[0], node.inputs[1], node.dtype)


@register_writer(ops.binary_cross_entropy)
def _binary_cross_entropy(w: OnnxGraphBuilder, node: Node, xs: list[str]) -> Any:
    p, t = xs
    one, lowest = w.like(1, node), w.like(-100, node)
    rest = w.emit("Sub", one, p)
    yes, no = (w.emit("Max", w.emit("Log", x), lowest) for x in (p, rest))
    parts = w.emit("Mul", t, yes), w.emit("Mul", w.emit("Sub", one, t), no)
    return w.emit("Neg", w.emit("Add", *parts))


@register_writer(ops.softmax_cross_entropy)
def _softmax_cross_entropy(w: OnnxGraphBuilder, node: Node, xs: list[str]) -> Any:
    x = xs[0] if node.inputs[0].dtype == node.dtype else w.cast(xs[0], node.dtype)
    scores = w.emit("LogSoftmax", x, axis=-1)
    places = w.emit("Unsqueeze", w.cast(xs[1], np.int64), w.ints(-1))
    chosen = w.emit("GatherElements", scores, places, axis=-1)
    return w.emit("Neg", w.emit("Squeeze", chosen, w.ints(-1)))


@register_writer(ops.softmax_cross_entropy_gradient)
def _softmax_cross_entropy_gradient(w: OnnxGraphBuilder, node: Node, xs: list[str]) -> Any:
    y = w.emit("Softmax", xs[1], axis=-1)
    above = w.emit("Sub", y, one_hot(w, xs[2], node.inputs[1], node.dtype))
    return w.emit("Mul", above, w.emit("Unsqueeze", xs[0], w.ints(-1)))


@register_writer(ops.normalize)
def _normalize(w: OnnxGraphBuilder, node: Node, xs: list[str]) -> Any:
    axes = axes_of(w, node, -1)
    centred = w.emit("Sub", xs[0], emit_reduction(w, "ReduceMean", xs[0], axes, True))
    variance = emit_reduction(w, "ReduceMean", w.emit("Mul", centred, centred), axes, True)
    eps = w.like(node.attrs.get("eps", 1e-5), node)
    return w.emit("Div", centred, w.emit("Sqrt", w.emit("Add", variance, eps)))


@register_writer(ops.matmul)
def _matmul(w: OnnxGraphBuilder, node: Node, xs: list[str]) -> Any:
    """Write MatMul; a vector by a transposed matrix becomes 2-D, as runtimes may misfuse it."""
    ranks = [w.rank(x) for x in node.inputs]
    flags = [bool(node.attrs.get(f)) for f in ("transpose_a", "transpose_b")]
    turned = [flag and rank > 1 for flag, rank in zip(flags, ranks, strict=True)]
    sides, gone = [], []
    for i, (x, rank) in enumerate(zip(xs, ranks, strict=True)):
        if turned[i]:
            x = w.emit("Transpose", x, perm=[*range(rank - 2), rank - 1, rank - 2])
        if rank == 1 and turned[1 - i]:
            x = w.emit("Unsqueeze", x, w.ints(i))
            gone.append(-2 + i)
        sides.append(x)
    y = w.emit("MatMul", *sides)
    return w.emit("Squeeze", y, w.ints(*gone)) if gone else y

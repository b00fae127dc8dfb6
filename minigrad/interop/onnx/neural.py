"""Operators of ONNX that layers of networks are made of."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from functools import reduce
from typing import Any

import numpy as np

from minigrad import ops
from minigrad.interop.onnx.call import Call, operator, reshaped
from minigrad.interop.onnx.elementwise import like
from minigrad.interop.onnx.lengths import combined, lengths_of
from minigrad.ops.lengths import Length
from minigrad.ops.placing import put
from minigrad.ops.windows import along

FULL = (None, None, None)


@operator("MatMul")
def _matmul(call: Call) -> Any:
    return ops.matmul(call[0], call[1])


@operator("Gemm")
def _gemm(call: Call) -> Any:
    flags = {"transpose_a": call.attr("transA", 0), "transpose_b": call.attr("transB", 0)}
    y = ops.matmul(call[0], call[1], **{name: True for name, up in flags.items() if up})
    alpha, beta = call.attr("alpha", 1.0), call.attr("beta", 1.0)
    y = y if alpha == 1 else y * y.dtype.type(alpha)
    if not call.given(2):
        return y
    return y + (call[2] if beta == 1 else call[2] * call[2].dtype.type(beta))


@operator("Einsum")
def _einsum(call: Call) -> Any:
    """Every operand gets an axis for each letter; the product is summed over what is gone."""
    equation = call.attr("equation").replace(" ", "")
    left, _, right = equation.partition("->")
    terms, xs = left.split(","), call.all()
    rest = max(
        (len(x.shape) - len(t.replace("...", "")) for t, x in zip(terms, xs, strict=True)
         if "..." in t),
        default=0,
    )  # fmt: skip
    dots = "".join(chr(0x100 + i) for i in range(rest))
    terms = [_spelled(t, x, dots) for t, x in zip(terms, xs, strict=True)]
    if "->" not in equation:
        letters = "".join(terms)
        right = dots + "".join(sorted(c for c in {*letters} - {*dots} if letters.count(c) == 1))
    right = right.replace("...", dots)
    order = right + "".join(dict.fromkeys(c for t in terms for c in t if c not in right))
    y = reduce(ops.mul, [_aligned(x, t, order) for x, t in zip(xs, terms, strict=True)])
    gone = tuple(range(len(right), len(order)))
    return ops.sum(y, axis=gone) if gone else y


def _spelled(term: str, x: Any, dots: str) -> str:
    if "..." not in term:
        return term
    count = len(x.shape) - len(term.replace("...", ""))
    return term.replace("...", dots[len(dots) - count :])


def _aligned(x: Any, term: str, order: str) -> Any:
    """The axes of x in this order, with one of length 1 for each letter that it lacks."""
    for letter in dict.fromkeys(term):
        while term.count(letter) > 1:  # a diagonal
            i = term.index(letter)
            j = term.index(letter, i + 1)
            n = x.shape[i]
            same = np.eye(n).reshape([n if k in (i, j) else 1 for k in range(len(term))])
            x = ops.sum(ops.where(same == 1, x, 0), axis=j)
            term = term[:j] + term[j + 1 :]
    own = sorted(range(len(term)), key=lambda i: order.index(term[i]))
    x = ops.transpose(x, axes=tuple(own)) if len(term) > 1 else x
    for i, letter in enumerate(order):
        if letter not in term:
            x = ops.expand_dims(x, axis=i)
    return x


# ---- Windows ------------------------------------------------------------------------------------


def _windows(call: Call, size: Sequence[int], lengths: Sequence[Length]) -> tuple[Any, ...]:
    """Strides, dilations, and pairs of paddings along the axes of the images."""
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


def _images(x: Any, dims: int) -> Any:
    """A row of pixels is an image of height 1."""
    return ops.expand_dims(x, axis=2) if dims == 1 else x


def _row(y: Any, dims: int) -> Any:
    return ops.squeeze(y, axis=2) if dims == 1 else y


def framed(x: Any, pads: Sequence[tuple[int, int]], value: float = 0) -> Any:
    """x with these widths around its last axes."""
    if not any(map(any, pads)):
        return x
    lead = len(x.shape) - len(pads)
    return ops.pad(x, widths=((0, 0),) * lead + tuple(pads), value=value)


def _apart(w: Any, dilations: Sequence[int]) -> Any:
    """Kernels with zeros between their elements."""
    if all(d == 1 for d in dilations):
        return w
    lengths = [(n - 1) * d + 1 for n, d in zip(w.shape[2:], dilations, strict=True)]
    frame = np.zeros((*w.shape[:2], *lengths), w.dtype)
    return ops.unslice(w, frame, key=("...", *((None, None, d) for d in dilations)))


def convolved(call: Call, x: Any, w: Any) -> Any:
    """A convolution of rows or images, as the attributes of the call say."""
    shape = call.known_shape(1) if w is call.raw(1) else tuple(w.shape)
    dims = len(shape) - 2
    call.expect(dims in (1, 2, 3), f"{dims} axes")
    strides, dilations, pads = _windows(call, shape[2:], call.shape()[2:])
    if dims == 3:
        return _in_depth(call, framed(x, pads), w, strides, dilations)
    if dims == 1:
        strides, dilations, pads = [1, *strides], [1, *dilations], [(0, 0), *pads]
    x, w = _images(x, dims), _apart(_images(w, dims), dilations)
    groups, how = int(call.attr("group", 1)), {"stride": tuple(strides)}
    even = all(a == b for a, b in pads)
    options: dict[str, Any] = {**how, "padding": tuple(a for a, _ in pads) if even else 0}
    if groups > 1:
        options["groups"] = groups
    return _row(ops.conv2d(x if even else framed(x, pads), w, **options), dims)


def _in_depth(call: Call, x: Any, w: Any, strides: Any, dilations: Any) -> Any:
    """A convolution of volumes: for each layer of the kernels one of images, added up."""
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
        images = reshaped(images, [combined("*", n, count), c, tall, wide])
        kernels = _apart(ops.slice_(w, key=(FULL, FULL, i)), dilations[1:])
        y = ops.conv2d(images, kernels, **options)
        total = y if total is None else total + y
    _, k, rows, columns = lengths_of(total)
    return ops.transpose(reshaped(total, [n, count, k, rows, columns]), axes=(0, 2, 1, 3, 4))


@operator("Conv")
def _conv(call: Call) -> Any:
    y = convolved(call, call.ranked(), call[1])
    return y if not call.given(2) else y + per_channel(call[2], call.rank())


def per_channel(value: Any, rank: int) -> Any:
    """One number for each channel, along axis 1."""
    return ops.reshape(value, shape=(-1, *[1] * (rank - 2)))


@operator("ConvTranspose")
def _conv_transpose(call: Call) -> Any:
    """The gradient of a convolution for its images, and then the frame is cut off."""
    x, w = call.ranked(), call[1]
    shape, lengths = call.known_shape(1), call.shape()[2:]
    dims, groups = len(shape) - 2, int(call.attr("group", 1))
    call.expect(dims in (1, 2) and all(isinstance(n, int) for n in lengths), f"{dims} axes")
    strides, dilations, pads = _windows(call, shape[2:], lengths)
    extra = list(call.attr("output_padding", [0] * dims))
    wide = [(n - 1) * d + 1 for n, d in zip(shape[2:], dilations, strict=True)]
    full = [(n - 1) * s + k for n, s, k in zip(lengths, strides, wide, strict=True)]
    wanted = call.attr("output_shape")
    auto = call.attr("auto_pad", "NOTSET")
    if wanted is None and auto.startswith("SAME"):
        wanted = [n * s for n, s in zip(lengths, strides, strict=True)]
    if wanted is not None:
        totals = [f + e - n for f, e, n in zip(full, extra, wanted[-dims:], strict=True)]
        halves = [(t // 2, t - t // 2) for t in totals]
        pads = [(a, b) if auto == "SAME_UPPER" else (b, a) for a, b in halves]
    grown = [f + max(e, 0) for f, e in zip(full, extra, strict=True)]
    if dims == 1:
        grown, strides, dilations = [1, *grown], [1, *strides], [1, *dilations]
        pads = [(0, 0), *pads]
    x, w = _images(x, dims), _apart(_images(w, dims), dilations)
    corner = ops.slice_(x, key=(FULL, (0, 1, None), (0, 1, None), (0, 1, None)))
    like_ = ops.broadcast_to(corner, shape=(-1, shape[1] * groups, *grown))
    # More rows than the strides reach are added afterwards: no window lies there.
    reach = [(n - k) // s + 1 for n, k, s in zip(grown, w.shape[2:], strides, strict=True)]
    missing = [m - n for m, n in zip(reach, x.shape[2:], strict=True)]
    x = framed(x, [(0, m) for m in missing])
    options: dict[str, Any] = {"stride": tuple(strides)}
    if groups > 1:
        options["groups"] = groups
    y = ops.conv2d_input(x, w, like_, **options)
    y = framed(y, [(max(-a, 0), max(-b, 0)) for a, b in pads])
    cut = tuple((max(a, 0), -b if b > 0 else None, None) for a, b in pads)
    y = _row(ops.slice_(y, key=(FULL, FULL, *cut)), dims)
    return y if not call.given(2) else y + per_channel(call[2], call.rank())


@operator("MaxPool", "AveragePool", "LpPool")
def _pool(call: Call) -> Any:
    x, size = call.ranked(), list(call.attr("kernel_shape"))
    lengths = call.shape()[2:]
    strides, dilations, pads = _windows(call, size, lengths)
    single = call.name != "MaxPool" or len(call.node.output) < 2
    if call.attr("ceil_mode", 0):
        pads = [
            _up(call, *row)
            for row in zip(lengths, size, strides, dilations, pads, strict=True)
        ]  # fmt: skip
    y = _pooled(call, x, size, strides, dilations, pads)
    if single:
        return y
    return y, _places(call, x, size, strides, dilations, pads)


def _up(call: Call, n: Any, k: int, step: int, apart: int, pad: tuple[int, int]) -> tuple[int, int]:
    """The padding with as much behind as the last window, rounded up, needs."""
    call.expect(isinstance(n, int), "ceil_mode=1")
    wide = (k - 1) * apart + 1
    count = -(-(n + sum(pad) - wide) // step) + 1
    if (count - 1) * step >= n + pad[0]:
        count -= 1  # it would begin in the padding
    return pad[0], pad[1] + max(0, (count - 1) * step + wide - n - sum(pad))


def _pooled(
    call: Call, x: Any, size: Any, strides: Any, dilations: Any, pads: Any
) -> Any:  # fmt: skip
    plain = len(size) == 2 and all(d == 1 for d in dilations) and x.dtype.kind == "f"
    even = all(a == b and 2 * a <= k for (a, b), k in zip(pads, size, strict=True))
    options: dict[str, Any] = {"kernel_size": tuple(size), "stride": tuple(strides)}
    if call.name == "MaxPool":
        if plain and even:
            framed_options = {"padding": tuple(a for a, _ in pads)} if any(map(any, pads)) else {}
            return ops.max_pool2d(x, **options, **framed_options)
        lowest = -math.inf if x.dtype.kind == "f" else np.iinfo(x.dtype).min
        return reduce(ops.maximum, _taps(framed(x, pads, lowest), size, strides, dilations))
    frame = framed(x, pads)
    if call.name == "LpPool":
        p = call.attr("p", 2)
        powers = [ops.pow(ops.abs(t), p) for t in _taps(frame, size, strides, dilations)]
        return ops.pow(reduce(ops.add, powers), 1 / p)
    if plain:
        y = ops.avg_pool2d(frame, **options)
    else:
        y = reduce(ops.add, _taps(frame, size, strides, dilations)) / math.prod(size)
    return y * _share(call, size, strides, dilations, pads) if any(map(any, pads)) else y


def _share(call: Call, size: Any, strides: Any, dilations: Any, pads: Any) -> Any:
    """By how much more a mean counts that leaves the padding out, or part of it."""
    lengths = call.known_shape()[2:] if any(map(any, pads)) else ()
    ones = np.ones((1, 1, *lengths), np.float32)
    if call.attr("count_include_pad", 0):
        flat = list(call.attr("pads", [0] * (2 * len(size))))
        own = [(flat[i], flat[i + len(size)]) for i in range(len(size))]
        if call.attr("auto_pad", "NOTSET") != "NOTSET":
            own = list(pads)
        ones = framed(ones, own, 1)  # what rounding up adds is left out
        pads = [(0, b - c) for (_, b), (_, c) in zip(pads, own, strict=True)]
    taps = _taps(framed(ones, pads), size, strides, dilations)
    return math.prod(size) / np.maximum(reduce(ops.add, taps), 1)


def _taps(frame: Any, size: Any, strides: Any, dilations: Any) -> list[Any]:
    """For each element of the window what lies there at all places."""
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


def _places(call: Call, x: Any, size: Any, strides: Any, dilations: Any, pads: Any) -> Any:
    """Where the largest elements lie, numbered through all axes."""
    shape = call.known_shape()
    numbers = np.arange(math.prod(shape)).reshape(shape)
    if call.attr("storage_order", 0):
        order = (*range(len(shape) - 2), len(shape) - 1, len(shape) - 2)
        turned = np.arange(math.prod(shape)).reshape([shape[i] for i in order])
        numbers = turned.transpose(order)
    lowest = -math.inf if x.dtype.kind == "f" else np.iinfo(x.dtype).min
    taps = ops.stack(*_taps(framed(x, pads, lowest), size, strides, dilations), axis=0)
    where = np.stack(_taps(framed(numbers, pads), size, strides, dilations))
    chosen = ops.expand_dims(ops.argmax(taps, axis=0), axis=0)
    return ops.squeeze(ops.gather(where, chosen, axis=0), axis=0)


@operator("MaxUnpool")
def _max_unpool(call: Call) -> Any:
    size = list(call.attr("kernel_shape"))
    strides, _, pads = _windows(call, size, call.shape()[2:])
    shape = call.known_shape()
    lengths = [
        (n - 1) * s - sum(p) + k
        for n, s, p, k in zip(shape[2:], strides, pads, size, strict=True)
    ]  # fmt: skip
    full = (*shape[:2], *lengths)
    y = put(np.zeros(full, call[0].dtype), call[0], call[1])
    wanted = call.whole(2)
    if wanted is None or tuple(wanted) == full:
        return y
    return ops.pad(y, widths=tuple((0, m - n) for m, n in zip(wanted, full, strict=True)))


@operator("GlobalAveragePool", "GlobalMaxPool")
def _global_pool(call: Call) -> Any:
    op = ops.mean if call.name == "GlobalAveragePool" else ops.max
    return op(call.ranked(), axis=tuple(range(2, call.rank())), keepdims=True)


# ---- Normalisations -----------------------------------------------------------------------------


@operator("BatchNormalization")
def _batch_norm(call: Call) -> Any:
    x, rank, eps = call.ranked(), call.rank(), call.attr("epsilon", 1e-5)
    scale, bias, mean, variance = (call[i] for i in range(1, 5))
    if not call.attr("training_mode", 0):
        root = ops.sqrt(variance + variance.dtype.type(eps))
        centred = x - per_channel(mean, rank)
        y = centred / per_channel(root, rank) * per_channel(scale, rank) + per_channel(bias, rank)
        return like(x, y)
    axes = (0, *range(2, rank))
    seen = ops.mean(x, axis=axes)
    spread = ops.mean(_squared(x - per_channel(seen, rank)), axis=axes)
    y = ops.normalize(x, axis=axes, eps=eps) * per_channel(scale, rank) + per_channel(bias, rank)
    m = call.attr("momentum", 0.9)
    return y, mean * m + seen * (1 - m), variance * m + spread * (1 - m)


def _squared(x: Any) -> Any:
    return x * x


@operator("InstanceNormalization")
def _instance_norm(call: Call) -> Any:
    rank = call.rank()
    y = ops.normalize(call[0], axis=tuple(range(2, rank)), eps=call.attr("epsilon", 1e-5))
    return y * per_channel(call[1], rank) + per_channel(call[2], rank)


@operator("LayerNormalization")
def _layer_norm(call: Call) -> Any:
    x, axis, eps = call.ranked(), call.axis(-1), call.attr("epsilon", 1e-5)
    axes = tuple(range(axis, call.rank()))
    y = ops.normalize(x, axis=axes, eps=eps) * call[1]
    y = y + call[2] if call.given(2) else y
    if len(call.node.output) == 1:
        return y
    mean = ops.mean(x, axis=axes, keepdims=True)
    return y, mean, 1 / ops.sqrt(ops.mean(_squared(x - mean), axis=axes, keepdims=True) + eps)


@operator("LRN")
def _lrn(call: Call) -> Any:
    x, size = call.ranked(), int(call.attr("size"))
    before = (size - 1) // 2
    channels = call.known_shape()[1] if isinstance(call.shape()[1], int) else 0
    widths = tuple((before, size - 1 - before) if i == 1 else (0, 0) for i in range(call.rank()))
    squares = ops.pad(x * x, widths=widths)
    parts = [ops.slice_(squares, key=(FULL, (i, i + channels, None))) for i in range(size)]
    around = reduce(ops.add, parts) * (call.attr("alpha", 1e-4) / size) + call.attr("bias", 1.0)
    return x / ops.pow(around, call.attr("beta", 0.75))


@operator("LpNormalization")
def _lp_norm(call: Call) -> Any:
    x, axis = call.ranked(), call.axis(-1)
    if call.attr("p", 2) == 1:
        size = ops.sum(ops.abs(x), axis=axis, keepdims=True)
    else:
        size = ops.sqrt(ops.sum(x * x, axis=axis, keepdims=True))
    return ops.where(ops.equal(size, 0), ops.full_like(x, value=0), x / size)


@operator("Det")
def _det(call: Call) -> Any:
    """By the first row, for small matrices."""
    n = call.known_shape()[-1]
    call.expect(n <= 4, f"{n} × {n}")

    def minor(rows: tuple[int, ...], columns: tuple[int, ...]) -> Any:
        if not rows:
            return 1
        total: Any = 0
        for k, j in enumerate(columns):
            rest = (*columns[:k], *columns[k + 1 :])
            part = ops.slice_(call[0], key=("...", rows[0], j)) * minor(rows[1:], rest)
            total = total + part if k % 2 == 0 else total - part
        return total

    return minor(tuple(range(n)), tuple(range(n)))


@operator("Col2Im")
def _col2im(call: Call) -> Any:
    """Each column goes back to the patch it came from: a transposed convolution of units."""
    size, block = call.whole(1) or [], call.whole(2) or []
    call.expect(len(block) == 2, f"{len(block)} axes")
    strides, dilations, pads = _windows(call, block, size)
    n, rows, _ = call.shape()
    area = math.prod(block)
    call.expect(isinstance(rows, int), "shape ?")
    channels = rows // area
    wide = [(k - 1) * d + 1 for k, d in zip(block, dilations, strict=True)]
    grown = [m + sum(p) for m, p in zip(size, pads, strict=True)]
    places = [(m - k) // s + 1 for m, k, s in zip(grown, wide, strides, strict=True)]
    g = reshaped(call[0], [combined("*", n, channels), area, *places])
    w = _apart(np.eye(area, dtype=g.dtype).reshape(area, 1, *block), dilations)
    corner = ops.slice_(g, key=(FULL, (0, 1, None), (0, 1, None), (0, 1, None)))
    like_ = ops.broadcast_to(corner, shape=(-1, 1, *grown))
    y = ops.conv2d_input(g, w, like_, stride=tuple(strides))
    cut = tuple((a, -b if b else None, None) for a, b in pads)
    return reshaped(ops.slice_(y, key=(FULL, FULL, *cut)), [n, channels, *size])

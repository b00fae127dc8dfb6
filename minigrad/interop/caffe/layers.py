"""Caffe's layers: each is a function from its message and its bottoms to its tops."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from minigrad import functions, ops
from minigrad.core import Array, float32
from minigrad.dynamic.tensor import Tensor
from minigrad.functions.loss import cross_entropy
from minigrad.nn import functional
from minigrad.nn.layers import Dropout

Made = tuple[Any, ...]
LONGEST = 1 << 20  # pixels of an image along one side


@dataclass(frozen=True)
class Kind:
    """A layer type: its build function, allowed numbers of bottoms, number of tops (0: any)."""

    make: Callable[..., Made]
    bottoms: Sequence[int] = (1,)
    tops: int = 1


KINDS: dict[str, Kind] = {}


def layer(
    name: str, bottoms: Sequence[int] = (1,), tops: int = 1
) -> Callable[[Callable[..., Made]], Callable[..., Made]]:
    """Register a function that builds layers of this type."""

    def enter(make: Callable[..., Made]) -> Callable[..., Made]:
        KINDS[name] = Kind(make, bottoms, tops)
        return make

    return enter


def axis_of(net: Any, x: Any, axis: int, field: str = "axis") -> int:
    """Return an axis of x counted from 0; FormatError if x has no such axis."""
    if not -x.ndim <= axis < x.ndim:
        net.fail("caffe_value", field, value=axis, expected=f"-{x.ndim} … {x.ndim - 1}")
    return axis % int(x.ndim)


def pair(net: Any, p: Any, field: str, short: str, least: int) -> tuple[int, int]:
    """Return an option's height and width: one number, two, or two separate fields."""
    given = getattr(p, field)
    both = list(given) if not isinstance(given, int) else [given] * p.HasField(field)
    apart = [getattr(p, f"{short}_h"), getattr(p, f"{short}_w")]
    if p.HasField(f"{short}_h") or p.HasField(f"{short}_w"):
        both = apart
    found = tuple(both or [least]) * (2 if len(both) < 2 else 1)
    needed = field == "kernel_size" and not both
    if len(found) != 2 or min(found) < least or needed:
        net.fail("caffe_value", field, value=both, expected=f"≥ {least}")
    return found[0], found[1]


def scalar_if_equal(sizes: Any) -> Any:
    """Return a single number if both sizes are equal, as a user would write it."""
    return sizes[0] if sizes[0] == sizes[1] else sizes


def images(net: Any, x: Any) -> tuple[int, int, int]:
    """Return channels, height and width; FormatError unless they are known."""
    shape = x.shape
    if shape is None or len(shape) != 4 or None in shape[1:]:
        net.fail("caffe_images", "bottom", shape=shape)
    if max(shape[2:]) > LONGEST:
        net.fail("caffe_value", "bottom", value=shape, expected=f"… × {LONGEST} × {LONGEST}")
    return shape[1], shape[2], shape[3]


# ---- What enters ---------------------------------------------------------------------------------


@layer("Input", (0,), 0)
def inputs(net: Any, p: Any) -> Made:
    shapes: list[Any] = [tuple(s.dim) for s in p.input_param.shape]
    shapes = shapes * len(p.top) if len(shapes) == 1 else shapes or [None] * len(p.top)
    if len(shapes) != len(p.top):
        net.fail("caffe_value", "shape", value=len(shapes), expected=len(p.top))
    return tuple(net.input(name, s) for name, s in zip(p.top, shapes, strict=True))


@layer("Data", (0,), 0)
def data(net: Any, p: Any) -> Made:
    """Build inputs for images and their classes, which Caffe reads from a database."""
    first = net.input(p.top[0], None)
    batch = None if first.shape is None else first.shape[0]
    return (first, *(net.labels(name, batch) for name in p.top[1:2]))


# ---- Layers with parameters ----------------------------------------------------------------------


@layer("Convolution")
def convolution(net: Any, p: Any, x: Any) -> Made:
    c = p.convolution_param
    channels, *lengths = images(net, x)
    if c.axis != 1:
        net.fail("caffe_value", "axis", value=c.axis, expected=1)
    count, groups = c.num_output, c.group
    if count < 1:
        net.fail("caffe_value", "num_output", value=count, expected="1, 2, …")
    if groups < 1 or channels % groups or count % groups:
        net.fail("caffe_groups", "group", groups=groups, channels=channels, count=count)
    size = pair(net, c, "kernel_size", "kernel", 1)
    dilation = (list(c.dilation) or [1]) * (2 if len(c.dilation) < 2 else 1)
    if len(dilation) != 2 or min(dilation) < 1:
        net.fail("caffe_value", "dilation", value=dilation, expected="≥ 1")
    stride, frame = pair(net, c, "stride", "stride", 1), pair(net, c, "pad", "pad", 0)
    net.expect_size((channels, *(n + 2 * a for n, a in zip(lengths, frame, strict=True))))
    spread = [(n - 1) * d + 1 for n, d in zip(size, dilation, strict=False)]
    net.expect_numbers((count, channels // groups, *spread))  # zeros between are numbers, too
    how = {
        "stride": scalar_if_equal(stride),
        "padding": scalar_if_equal(frame),
        "dilation": scalar_if_equal(tuple(dilation)),
        "groups": groups,
    }
    weight = net.parameter("weight", (count, channels // groups, *size), c.weight_filler)
    bias = net.parameter("bias", (count,), c.bias_filler) if c.bias_term else None
    return (functional.conv2d(x, weight, bias, **how),)


@layer("InnerProduct")
def inner_product(net: Any, p: Any, x: Any) -> Made:
    c = p.inner_product_param
    axis, count = axis_of(net, x, c.axis), c.num_output
    lengths = x.shape[axis:]
    if count < 1:
        net.fail("caffe_value", "num_output", value=count, expected="1, 2, …")
    if None in lengths:
        net.fail("caffe_images", "bottom", shape=x.shape)
    size = math.prod(lengths)
    shape = (size, count) if c.transpose else (count, size)
    weight = net.parameter("weight", shape, c.weight_filler)
    bias = net.parameter("bias", (count,), c.bias_filler) if c.bias_term else None
    x = functions.flatten(x, axis) if len(lengths) > 1 else x
    y = ops.matmul(x, weight) if c.transpose else functional.linear(x, weight)
    return (y if bias is None else y + bias,)


@layer("BatchNorm")
def batch_norm(net: Any, p: Any, x: Any) -> Made:
    """Build batch normalization; Caffe stores sums, and their total weight as third blob."""
    c = p.batch_norm_param
    channels = x.shape[axis_of(net, x, 1, "bottom")]
    if channels is None:
        net.fail("caffe_images", "bottom", shape=x.shape)
    mean, variance, weight = (net.blob(s) for s in ((channels,), (channels,), (1,)))
    here = c.use_global_stats if c.HasField("use_global_stats") else net.phase == "TEST"
    if not here:
        return (functional.batch_norm(x, None, None, training=True, eps=c.eps),)
    if weight is None:  # nothing was seen yet: numbers stay as they are
        mean, variance, weight = np.zeros(channels), np.ones(channels), np.ones(1)
    scale = 0.0 if weight[0] == 0 else 1 / weight[0]
    seen = Tensor(np.asarray(mean * scale, float32), name="mean")
    spread = Tensor(np.asarray(variance * scale, float32), name="variance")
    return (functional.batch_norm(x, seen, spread, eps=c.eps),)


@layer("Scale", (1, 2))
def scale(net: Any, p: Any, x: Any, *factor: Any) -> Made:
    c = p.scale_param
    axis = axis_of(net, x, c.axis)
    count = factor[0].ndim if factor else x.ndim - axis if c.num_axes == -1 else c.num_axes
    shape = x.shape[axis : axis + count]
    if count < 0 or axis + count > x.ndim or (None in shape and (not factor or c.bias_term)):
        net.fail("caffe_value", "num_axes", value=count, expected=f"0 … {x.ndim - axis}")
    by = factor[0] if factor else net.parameter("weight", shape, c.filler, 1.0)
    ones = (1,) * (x.ndim - axis - count)

    def placed(value: Any) -> Any:
        """Reshape a value so that it broadcasts over the trailing axes of x."""
        return ops.reshape(value, shape=(*value.shape, *ones)) if ones else value

    y = x * placed(by)
    return (y + placed(net.parameter("bias", shape, c.bias_filler)) if c.bias_term else y,)


# ---- Windows -------------------------------------------------------------------------------------


@layer("Pooling")
def pooling(net: Any, p: Any, x: Any) -> Made:
    """Build pooling; Caffe rounds the window count up, so the last may exceed the edge."""
    c = p.pooling_param
    _, *lengths = images(net, x)
    if c.pool > 1:
        net.fail("caffe_value", "pool", value="STOCHASTIC", expected="MAX, AVE")
    size: Any = tuple(lengths) if c.global_pooling else pair(net, c, "kernel_size", "kernel", 1)
    step = pair(net, c, "stride", "stride", 1)
    frame = pair(net, c, "pad", "pad", 0)
    if any(a >= n for a, n in zip(frame, size, strict=True)):
        net.fail("caffe_value", "pad", value=frame, expected=f"< {size}")
    round_up = c.round_mode == 0
    over = [window_overhang(*z, round_up) for z in zip(lengths, size, step, frame, strict=True)]
    if any(o >= n for o, n in zip(over, size, strict=True)):  # a window of nothing
        net.fail("caffe_value", "stride", value=step, expected=f"≤ {size}")
    pool = functional.avg_pool2d if c.pool else functional.max_pool2d
    if not any(over) and all(2 * a <= n for a, n in zip(frame, size, strict=True)):
        return (pool(x, scalar_if_equal(size), scalar_if_equal(step), scalar_if_equal(frame)),)
    net.expect_size(
        (*x.shape[:2], *(n + 2 * a + o for n, a, o in zip(lengths, frame, over, strict=True)))
    )
    widths = [(0, 0), (0, 0), *((a, a + o) for a, o in zip(frame, over, strict=True))]
    y = pool(functions.pad(x, widths, 0.0 if c.pool else -math.inf), size, step)
    if c.pool:
        for axis, z in enumerate(zip(lengths, size, step, frame, over, strict=True)):
            if z[-1]:
                y = y * window_factors(*z).reshape((-1, 1) if axis == 0 else (1, -1))
    return (y,)


def window_overhang(length: int, size: int, step: int, frame: int, round_up: bool) -> int:
    """Return how far the last window exceeds the padded length, as Caffe counts windows."""
    rest = length + 2 * frame - size
    count = (-(-rest // step) if round_up else rest // step) + 1
    if frame and (count - 1) * step >= length + frame:
        count -= 1
    return max((count - 1) * step - rest, 0)


def window_factors(length: int, size: int, step: int, frame: int, over: int) -> Array:
    """Return factors for means over whole windows that exclude what is beyond the padding."""
    count = (length + 2 * frame + over - size) // step + 1
    result = np.ones(count, float32)
    result[-1] = size / (size - over)
    return result


@layer("LRN")
def lrn(net: Any, p: Any, x: Any) -> Made:
    """Build local response normalisation: divide x by a power of the nearby squares."""
    c = p.lrn_param
    channels, height, width = images(net, x)
    size = c.local_size
    if size % 2 == 0:
        net.fail("caffe_value", "local_size", value=size, expected="1, 3, 5, …")
    squares = x * x
    if c.norm_region == 1:  # within each channel, where Caffe has neither sums nor k
        mean = functional.avg_pool2d(squares, size, 1, size // 2)
        return (x * (1 + c.alpha * mean) ** -c.beta,)
    column = ops.reshape(squares, shape=(-1, 1, channels, height * width))
    mean = functional.avg_pool2d(column, (size, 1), 1, (size // 2, 0))
    mean = ops.reshape(mean, shape=(-1, channels, height, width))
    return (x * (c.k + c.alpha * mean) ** -c.beta,)


# ---- Element by element --------------------------------------------------------------------------


@layer("ReLU")
def relu(net: Any, p: Any, x: Any) -> Made:
    slope = p.relu_param.negative_slope
    return (functions.where(x > 0, x, x * slope) if slope else functional.relu(x),)


@layer("Sigmoid")
def sigmoid(net: Any, p: Any, x: Any) -> Made:
    return (functional.sigmoid(x),)


@layer("TanH")
def tanh(net: Any, p: Any, x: Any) -> Made:
    return (functional.tanh(x),)


@layer("Dropout")
def dropout(net: Any, p: Any, x: Any) -> Made:
    ratio = p.dropout_param.dropout_ratio
    if not 0 <= ratio < 1:
        net.fail("caffe_value", "dropout_ratio", value=ratio, expected="0 ≤ p < 1")
    drop = Dropout(ratio, seed=int(net.random.integers(1 << 31)))
    return (drop(x) if net.phase == "TRAIN" else x,)


@layer("Eltwise", range(2, 1 << 10))
def eltwise(net: Any, p: Any, x: Any, *others: Any) -> Made:
    c = p.eltwise_param
    factors = list(c.coeff)
    if factors and (c.operation != 1 or len(factors) != 1 + len(others)):
        net.fail("caffe_value", "coeff", value=len(factors), expected=1 + len(others))
    if any(y.shape != x.shape for y in others):
        net.fail("caffe_alike", "bottom", shapes=[v.shape for v in (x, *others)])
    terms = (
        [v if k == 1 else v * k for v, k in zip((x, *others), factors, strict=True)]
        if (factors)
        else [x, *others]
    )
    total = terms[0]
    for term in terms[1:]:
        total = (total * term, total + term, functions.maximum(total, term))[c.operation]
    return (total,)


# ---- Shapes, and what judges ---------------------------------------------------------------------


@layer("Flatten")
def flatten(net: Any, p: Any, x: Any) -> Made:
    c = p.flatten_param
    first, last = axis_of(net, x, c.axis), axis_of(net, x, c.end_axis, "end_axis")
    if first > last:
        net.fail("caffe_value", "end_axis", value=c.end_axis, expected=f"≥ {first}")
    return (functions.flatten(x, first, last),)


@layer("Concat", range(1, 1 << 10))
def concat(net: Any, p: Any, *xs: Any) -> Made:
    c = p.concat_param
    axis = c.concat_dim if c.HasField("concat_dim") else c.axis
    return (functions.concatenate(list(xs), axis_of(net, xs[0], axis)),)


@layer("Softmax")
def softmax(net: Any, p: Any, x: Any) -> Made:
    return (functional.softmax(x, axis_of(net, x, p.softmax_param.axis)),)


@layer("SoftmaxWithLoss", (2,))
def softmax_with_loss(net: Any, p: Any, x: Any, labels: Any) -> Made:
    """Build the mean cross-entropy over all positions that have a class."""
    c = p.loss_param
    if p.softmax_param.axis != 1 or c.HasField("ignore_label"):
        field = "ignore_label" if c.HasField("ignore_label") else "axis"
        net.fail("caffe_option", field, option=field)
    how = (
        c.normalization
        if c.HasField("normalization") or c.normalize or not c.HasField("normalize")
        else 2
    )
    loss = cross_entropy(x, labels)
    places = x.shape[2:]
    if how == 3 or (how == 2 and places):
        counted = x.shape[: 1 if how == 3 else 0] + places
        if None in counted:
            net.fail("caffe_images", "bottom", shape=x.shape)
        loss = loss * float(math.prod(counted))
    return (loss * p.loss_weight[0] if p.loss_weight and p.loss_weight[0] != 1 else loss,)


@layer("Accuracy", (2,))
def accuracy(net: Any, p: Any, x: Any, labels: Any) -> Made:
    """Build the share of images whose largest score is that of their class."""
    c = p.accuracy_param
    if c.top_k != 1 or c.HasField("ignore_label"):
        net.fail("caffe_option", "top_k", option="top_k" if c.top_k != 1 else "ignore_label")
    hit = ops.equal(functions.argmax(x, axis_of(net, x, c.axis)), labels)
    return (functions.mean(hit.astype(float32)),)

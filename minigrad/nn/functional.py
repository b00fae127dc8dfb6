"""The layers' computations as functions of arrays, tensors and graph nodes alike.

The names are those of torch.nn.functional, and so are the readings where frameworks differ;
whatever has parameters takes them as operands.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from minigrad import functions, ops
from minigrad.core import PublicShape, int64, show_shape
from minigrad.diagnostics import arguments, foreign
from minigrad.diagnostics.errors import ShapeError
from minigrad.diagnostics.messages import fill
from minigrad.diagnostics.source import here
from minigrad.dynamic.tensor import Tensor
from minigrad.functions import (
    binary_cross_entropy_with_logits,
    cross_entropy,
    gelu,
    l1_loss,
    mse_loss,
    nll_loss,
    relu,
    sigmoid,
    softplus,
    tanh,
)
from minigrad.hybrid.buffers import buffer_for, update_buffer
from minigrad.ops.arrange import as_operand
from minigrad.ops.windows import as_pair
from minigrad.static import Node

Lengths = int | tuple[int, int]  # one number for height and width, or one for each

__all__ = [
    "avg_pool2d",
    "batch_norm",
    "binary_cross_entropy_with_logits",
    "conv2d",
    "cross_entropy",
    "dropout",
    "embedding",
    "gelu",
    "l1_loss",
    "layer_norm",
    "linear",
    "log_softmax",
    "max_pool2d",
    "mse_loss",
    "nll_loss",
    "one_hot",
    "pad",
    "relu",
    "sigmoid",
    "softmax",
    "softplus",
    "tanh",
]


def softmax(x: Any, axis: int | None = None) -> Any:
    """Compute `mg.softmax`; the axis is optional for at most two axes.

    >>> import minigrad as mg
    >>> mg.nn.functional.softmax(mg.zeros(2, 2), dim=1).tolist()
    [[0.5, 0.5], [0.5, 0.5]]
    """
    return ops.softmax(x, axis=_axis("softmax", x, axis))


def log_softmax(x: Any, axis: int | None = None) -> Any:
    """Compute `mg.log_softmax`; the axis is optional for at most two axes.

    >>> import minigrad as mg
    >>> mg.nn.functional.log_softmax(mg.zeros(2, 1), dim=1).tolist()
    [[0.0], [0.0]]
    """
    return ops.log_softmax(x, axis=_axis("log_softmax", x, axis))


def _axis(name: str, x: Any, axis: int | None) -> int:
    """Return the axis; ArgumentError for more than two axes, where frameworks differ."""
    if axis is not None:
        return axis
    if as_operand(x).ndim > 2:
        one = f"{name}(x, dim={int(x.ndim != 3)})"
        raise arguments.two_readings(
            f"{name}(x)", "PyTorch", one, "TensorFlow", f"{name}(x, dim=-1)"
        )
    return -1


def one_hot(labels: Any, num_classes: int) -> Any:
    """Encode classes as `mg.one_hot` does, in PyTorch's data type: integers.

    >>> import minigrad as mg
    >>> mg.nn.functional.one_hot(mg.tensor([0, 2]), 3)
    tensor([[1, 0, 0],
            [0, 0, 1]])
    """
    return functions.one_hot(labels, num_classes, dtype=int64)


def pad(x: Any, widths: Sequence[int], mode: str = "constant", value: float = 0.0) -> Any:
    """Pad in PyTorch's order: (before, after) of the last axis, then of the one before it, ….

    Raises ArgumentError for another `mode` than "constant", and for widths in another form.

    >>> import minigrad as mg
    >>> mg.nn.functional.pad(mg.zeros(2, 3), (1, 1, 0, 2)).shape
    (4, 5)
    """
    x = as_operand(x)
    if mode != "constant":
        raise arguments.refuse("pad", "mode", mode, fill("expect_constant"))
    flat = arguments.lengths("pad", "widths", widths)
    if len(flat) % 2 or len(flat) > 2 * x.ndim or arguments.is_whole(widths):
        raise arguments.refuse("pad", "widths", widths, fill("expect_flat_widths"))
    pairs = list(zip(flat[::2], flat[1::2], strict=True))
    pairs += [(0, 0)] * (x.ndim - len(pairs))
    return functions.pad(x, pairs[::-1], 0.0 if value is None else value)


def linear(x: Any, weight: Any, bias: Any = None) -> Any:
    """Compute x @ weight.T + bias; weight is (out_features, in_features).

    >>> import minigrad as mg
    >>> mg.nn.functional.linear(mg.zeros(64, 784), mg.zeros(10, 784), mg.ones(10)).shape
    (64, 10)
    """
    y = ops.matmul(x, weight, transpose_b=True)
    return y if bias is None else y + bias


def conv2d(
    x: Any,
    weight: Any,
    bias: Any = None,
    stride: Lengths = 1,
    padding: Lengths | str = 0,
    dilation: Lengths = 1,
    groups: int = 1,
) -> Any:
    """Convolve images (n, channels, h, w) with kernels (kernels, channels, height, width).

    It is cross-correlation, as in PyTorch: kernels are not turned round. padding: rows and columns
    of zeros on each side, "valid" (none), or "same" (as many as keep height and width, for stride
    1). bias: (kernels,). dilation: how far apart the elements of a kernel lie; what is between
    counts as 0. groups: channels and kernels are parted, and convolved part by part; weight then
    has channels / groups of them. Raises ShapeError when a kernel does not fit or the channels
    differ.

    >>> import minigrad as mg
    >>> mg.conv2d(mg.zeros(2, 3, 16, 16), mg.zeros(8, 3, 3, 3), stride=2, padding=1).shape
    (2, 8, 8, 8)
    """
    x, weight = (
        as_operand(x),
        dilated(as_operand(weight), as_pair("Conv2d", "dilation", dilation, 1)),
    )
    how: dict[str, Any] = {"stride": stride, "padding": padding}
    y = ops.conv2d(x, weight, **how, **({} if groups == 1 else {"groups": groups}))
    return y if bias is None else y + _per_channel(bias, y, 4)


def dilated(weight: Any, apart: Sequence[int]) -> Any:
    """Insert rows and columns of zeros between the elements of kernels."""
    if {*apart} == {1}:
        return weight
    shape = _known("dilation", apart, weight, (0, 1, 2, 3))
    lengths = [(n - 1) * step + 1 for n, step in zip(shape[2:], apart, strict=True)]
    frame = np.zeros((*shape[:2], *lengths), weight.dtype)
    return ops.unslice(weight, frame, key=("...", *((None, None, step) for step in apart)))


def _known(option: str, value: Any, x: Any, axes: Sequence[int]) -> Any:
    """Return the shape of images or kernels; ShapeError if one of these lengths is unknown."""
    shape = x.shape
    if shape is None or len(shape) != 4 or None in [shape[a] for a in axes]:
        raise arguments.refuse("conv2d", option, value, fill("expect_known_lengths"))
    return shape


def max_pool2d(
    x: Any, kernel_size: Lengths, stride: Lengths | None = None, padding: Lengths = 0
) -> Any:
    """Return the largest element of each window of images (n, channels, h, w).

    stride: as kernel_size unless given. padding: at most half of the window; it is never the
    largest. The gradient goes to the first largest element of a window, row by row.

    >>> import minigrad as mg
    >>> mg.max_pool2d(mg.arange(16.0).reshape(1, 1, 4, 4), 2).tolist()
    [[[[5.0, 7.0], [13.0, 15.0]]]]
    """
    return ops.max_pool2d(x, kernel_size=kernel_size, stride=stride, padding=padding)


def avg_pool2d(
    x: Any, kernel_size: Lengths, stride: Lengths | None = None, padding: Lengths = 0
) -> Any:
    """Average each window of images (n, channels, h, w); zeros of the padding count.

    stride: as kernel_size unless given. padding: at most half of the window.

    >>> import minigrad as mg
    >>> mg.avg_pool2d(mg.arange(16.0).reshape(1, 1, 4, 4), 2).tolist()
    [[[[2.5, 4.5], [10.5, 12.5]]]]
    """
    return ops.avg_pool2d(x, kernel_size=kernel_size, stride=stride, padding=padding)


def dropout(
    x: Any, p: float = 0.5, training: bool = True, *, count: Any = None, seed: int = 0
) -> Any:
    """Set elements to 0 with probability p, and divide the others by 1 − p.

    Which ones is a function of the seed, of `count` (an integer that changes from call to call, a
    number or a graph's run counter) and of the number of elements: the same in both modes.
    Without `training` it is x. Raises ShapeError for a p that is no probability, ArgumentError
    without a count. (`mg.nn.Dropout` counts by itself.)

    >>> import minigrad as mg
    >>> (mg.dropout(mg.ones(1000), 0.25, count=1) == mg.dropout(mg.ones(1000), 0.25, count=1)).all()
    tensor(True)
    """
    if not training:
        return x
    if count is None:
        raise arguments.refuse("dropout", "count", None, fill("expect_count"))
    return ops.dropout(x, count, p=p, seed=seed)


def embedding(weight: Any, ids: Any) -> Any:
    """Pick the rows `ids` of weight (rows, features); the result is (*ids.shape, features).

    The other order, PyTorch's, is understood: the table is the one that is not of integers. Raises
    IndexRangeError for a row that does not exist, DtypeError for what is not integers.

    >>> import minigrad as mg
    >>> mg.embedding(mg.tensor([[0.0, 1.0], [2.0, 3.0]]), mg.tensor([1, 1, 0]))
    tensor([[2., 3.],
            [2., 3.],
            [0., 1.]])
    """
    weight, ids = as_operand(weight), as_operand(ids)
    if weight.dtype.kind in "iu" and ids.dtype.kind in "iu":
        ours = "mg.take(b, a, axis=0)", "mg.take(a, b, axis=0)"
        raise arguments.two_readings("embedding(a, b)", "PyTorch", ours[0], "minigrad", ours[1])
    if weight.dtype.kind in "iu":
        weight, ids = ids, weight
    return ops.take(weight, ids, axis=0)


def layer_norm(
    x: Any,
    normalized_shape: int | Sequence[int],
    weight: Any = None,
    bias: Any = None,
    eps: float = 1e-5,
) -> Any:
    """Normalize the last axes, of lengths `normalized_shape`, to mean 0 and variance 1.

    Then times weight plus bias, both of that shape, if they are given. Raises ShapeError for
    operands that end otherwise.

    >>> import minigrad as mg
    >>> mg.layer_norm(mg.tensor([[1.0, 3.0]]), 2, eps=0.0)
    tensor([[-1.,  1.]])
    """
    lengths = arguments.lengths("layer_norm", "normalized_shape", normalized_shape)
    x = as_operand(x)
    if not _ends_with(x.shape, lengths):
        shape, expected = show_shape(x.shape), show_shape(lengths)
        raise ShapeError(
            "norm_shape", op="layer_norm", shape=shape, expected=expected, defined=here()
        )
    y = ops.normalize(x, axis=tuple(range(-len(lengths), 0)), eps=eps)
    y = y if weight is None else y * weight
    return y if bias is None else y + bias


def batch_norm(
    x: Any,
    running_mean: Any,
    running_var: Any,
    weight: Any = None,
    bias: Any = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Any:
    """Normalize each channel (axis 1) to mean 0 and variance 1, times weight, plus bias.

    In training by the statistics of the batch; running_mean and running_var, tensors of shape
    (channels,) or None, then move towards them by the fraction `momentum` (the variance with n − 1
    in the denominator). Otherwise by these two, which stay as they are. In a static graph they are
    variables; see `mg.nn.updates` for who renews them. ShapeError for other channels, or for a
    single value a channel in training.

    >>> import minigrad as mg
    >>> mean, var = mg.zeros(1), mg.ones(1)
    >>> mg.batch_norm(mg.tensor([[1.0], [3.0]]), mean, var, training=True, eps=0.0).tolist()
    [[-1.0], [1.0]]
    >>> mean, var  # a tenth of the way to 2 and 2
    (tensor([0.2]), tensor([1.1]))
    """
    x = as_operand(x)
    given = [p for p in (running_mean, running_var, weight, bias) if p is not None]
    _expect_channels(x, given)
    if training:
        expect_several("batch_norm", x)
        axes = (0, *range(2, x.ndim))
        y = ops.normalize(x, axis=axes, eps=eps)
        if running_mean is not None and running_var is not None:
            _move_running(running_mean, running_var, x, axes, momentum)
    elif running_mean is None or running_var is None:
        raise arguments.refuse("batch_norm", "running_mean", None, fill("expect_statistics"))
    else:
        mean, variance = buffer_for(running_mean, x), buffer_for(running_var, x)
        y = (x - _per_channel(mean, x)) / _per_channel(ops.sqrt(variance + eps), x)
    y = y if weight is None else y * _per_channel(weight, x)
    return y if bias is None else y + _per_channel(bias, x)


def _expect_channels(x: Any, given: Sequence[Any]) -> None:
    """Raise ShapeError unless all have one number for each channel of x."""
    shape = show_shape(x.shape)
    if x.ndim < 2:
        expected = "2 axes (batch, channels) or more"
        raise ShapeError("rank", op="batch_norm", expected=expected, shape=shape, defined=here())
    for p in given:
        if len(p.shape) != 1 or (x.shape[1] is not None and p.shape[0] != x.shape[1]):
            found = show_shape(p.shape)
            raise ShapeError(
                "norm_channels", op="batch_norm", shape=shape, found=found, defined=here()
            )


def expect_several(name: str, x: Any) -> None:
    """Raise ShapeError if a channel has a single value, which has no variance."""
    others = [n for i, n in enumerate(x.shape) if i != 1]
    if None not in others and math.prod(others) == 1:
        raise ShapeError("one_value", op=name, shape=show_shape(x.shape), defined=here())


def _move_running(mean: Any, variance: Any, x: Any, axes: tuple[int, ...], momentum: float) -> None:
    """Move the running statistics a little towards those of x; no gradient flows here."""
    if isinstance(x, Tensor):
        x = x.detach()
    seen = ops.mean(x, axis=axes)
    centred = x - _per_channel(seen, x)
    n = ops.count(x, seen)
    spread = ops.mean(centred * centred, axis=axes) * (n / (n - 1))
    update_buffer(mean, x, lambda old: old * (1 - momentum) + seen * momentum)
    update_buffer(variance, x, lambda old: old * (1 - momentum) + spread * momentum)


def _per_channel(value: Any, x: Any, ndim: int | None = None) -> Any:
    """Place one number for each channel along axis 1 of x (which has `ndim` axes)."""
    ndim = x.ndim if ndim is None else ndim
    if isinstance(x, Node):
        value = x.graph.lift(value)
    return value if ndim == 2 else ops.reshape(value, shape=(-1, *[1] * (ndim - 2)))


def _ends_with(shape: PublicShape | None, lengths: tuple[int, ...]) -> bool:
    """Return whether these may be the last lengths of the shape."""
    if shape is None:
        return True
    pairs = zip(shape[-len(lengths) :], lengths, strict=False)
    return [n if m is None else m for m, n in pairs] == [*lengths]


foreign.answer_keywords(sys.modules[__name__])

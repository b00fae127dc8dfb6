"""Operators for choosing among classes: softmax, its logarithm, and the loss made of it."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.core import (
    Array,
    Dim,
    Dtype,
    Op,
    Sample,
    Shape,
    as_float,
    int64,
    into,
    operator,
    promote,
    public_shape,
)
from minigrad.diagnostics import arguments
from minigrad.diagnostics.errors import DtypeError, ShapeError
from minigrad.ops.define import PAIRS, elementwise
from minigrad.ops.elementwise import exp, log, log1p
from minigrad.ops.logic import where
from minigrad.ops.shape import broadcast_like, positive_axis, sum

__all__ = [
    "binary_cross_entropy",
    "log_softmax",
    "one_hot",
    "softmax",
    "softmax_cross_entropy",
    "softmax_cross_entropy_gradient",
]


def _axis_shape_rule(name: str) -> Any:
    def shape(x: Shape, axis: int = -1) -> Shape:
        positive_axis(name, axis, x)
        return x

    return shape


def _shifted(x: Array, axis: int) -> Array:
    """Subtract the maximum along the axis, so that exp can't overflow."""
    if not arguments.is_whole(axis) or not x.ndim:
        raise TypeError(axis)  # NumPy would go on; the shape rule says what is asked for
    return x - np.maximum.reduce(x, axis=axis, keepdims=True, initial=-np.inf)


def _softmax(out: Array, x: Array, axis: int = -1) -> Array:
    e = np.exp(_shifted(x, axis))
    return np.divide(e, np.add.reduce(e, axis=axis, keepdims=True), out=out)


def _log_softmax(out: Array, x: Array, axis: int = -1) -> Array:
    z = _shifted(x, axis)
    total = np.add.reduce(np.exp(z), axis=axis, keepdims=True)
    return np.subtract(z, np.log(total), out=out)


SCORES = (Sample([(2, 3)]), Sample([(3,)]), Sample([(2, 3, 4)], {"axis": 1}), Sample([(0, 3)]))

softmax = operator(
    "Softmax",
    shape=_axis_shape_rule("Softmax"),
    run=_softmax,
    vjp=(lambda g, y, x, axis=-1: y * (g - sum(g * y, axis=axis, keepdims=True)),),
    dtype=as_float,
    inputs=as_float,
    title=("softmax", "softmax"),
    formula="softmax({0})",
    samples=SCORES,
)
log_softmax = operator(
    "LogSoftmax",
    shape=_axis_shape_rule("LogSoftmax"),
    run=_log_softmax,
    vjp=(lambda g, y, x, axis=-1: g - exp(y) * sum(g, axis=axis, keepdims=True),),
    dtype=as_float,
    inputs=as_float,
    title=("logarithm of softmax", "softmax 的对数"),
    formula="log softmax({0})",
    samples=SCORES,
)


def _labels_dtype(name: str) -> Any:
    def dtype(*dtypes: Dtype) -> Dtype:
        if dtypes[-1].kind not in "iu":
            raise DtypeError("label_type", op=name, dtype=dtypes[-1])
        return as_float(dtypes[0])

    return dtype


def _loss_shape(x: Shape, labels: Shape) -> Shape:
    rows = x[:-1]
    known = all(
        m == n or isinstance(m, Dim) or isinstance(n, Dim)
        for m, n in zip(rows, labels, strict=False)
    )
    if not x or len(rows) != len(labels) or not known:
        shapes = public_shape(labels), public_shape(x)
        raise ShapeError("labels", op="SoftmaxCrossEntropy", labels=shapes[0], scores=shapes[1])
    return rows


def _label_positions(x: Array, labels: Array) -> Array:
    """Return the positions of the right classes' scores in the flattened scores."""
    rows = np.arange(0, x.size, max(x.shape[-1], 1))
    return rows + labels.reshape(-1).astype(np.intp, copy=False)


def _loss(out: Array, x: Array, labels: Array) -> Array:
    if x.shape[:-1] != labels.shape or labels.dtype.kind not in "iu":
        _labels_dtype("SoftmaxCrossEntropy")(x.dtype, labels.dtype)
        raise ShapeError("labels", op="SoftmaxCrossEntropy", labels=labels.shape, scores=x.shape)
    unsigned = labels.astype(np.uint64)  # what is below 0 becomes very large
    if np.maximum.reduce(unsigned, axis=None, initial=0) >= x.shape[-1] and labels.size:
        wrong = np.asarray(labels)[unsigned >= x.shape[-1]].flat[0]
        raise ShapeError("label_range", op="SoftmaxCrossEntropy", label=wrong, last=x.shape[-1] - 1)
    z = _shifted(x.astype(as_float(x.dtype), copy=False), -1)
    chosen = z.reshape(-1).take(_label_positions(z, labels)).reshape(labels.shape)
    total = np.log(np.add.reduce(np.exp(z, out=z), axis=-1))
    return total - chosen if out is None else np.subtract(total, chosen, out=out)


softmax_cross_entropy = operator(
    "SoftmaxCrossEntropy",
    shape=_loss_shape,
    run=_loss,
    vjp=(lambda g, y, x, t: softmax_cross_entropy_gradient(g, x, t), None),
    dtype=_labels_dtype("SoftmaxCrossEntropy"),
    inputs=None,
    title=("cross-entropy of softmax", "softmax 交叉熵"),
    formula="−log softmax({0})[{1}]",
    samples=(
        Sample([(4, 3), (4,)], integers=(1,)),
        Sample([(2, 2, 3), (2, 2)], integers=(1,)),
        Sample([(3,), ()], integers=(1,)),
    ),
)


def _gradient_type(g: Dtype, x: Dtype, labels: Dtype = int64) -> Dtype:
    return as_float(promote(g, x))


def _loss_gradient(out: Array, g: Array, x: Array, labels: Array) -> Array:
    y = _softmax(None, np.ascontiguousarray(x, _gradient_type(g.dtype, x.dtype)))
    y.reshape(-1)[_label_positions(y, labels)] -= 1
    return np.multiply(y, np.asarray(g, y.dtype)[..., None], out=out)


def _scores_gradient(x: Any, t: Any) -> Any:
    return softmax(x) - one_hot(t, x)


def _softmax_gradient(h: Any, g: Any, x: Any) -> Any:
    """Return the gradient of the scores through the softmax, each row weighted by its g."""
    y, weighted = softmax(x), h * broadcast_like(g, x, axis=-1, keepdims=False)
    return y * (weighted - sum(weighted * y, axis=-1, keepdims=True))


softmax_cross_entropy_gradient: Op = operator(
    "SoftmaxCrossEntropyGradient",
    shape=lambda g, x, t: x,
    run=_loss_gradient,
    vjp=(
        lambda h, y, g, x, t: sum(h * _scores_gradient(x, t), axis=-1),
        lambda h, y, g, x, t: _softmax_gradient(h, g, x),
        None,
    ),
    dtype=_gradient_type,
    inputs=as_float,
    selectors=(2,),
    title=("gradient of the cross-entropy of softmax", "softmax 交叉熵的梯度"),
    formula="(softmax({1}) − one_hot({2})) · {0}",
    samples=(
        Sample([(4,), (4, 3), (4,)], integers=(2,)),
        Sample([(2, 2), (2, 2, 3), (2, 2)], integers=(2,)),
        Sample([(), (3,), ()], integers=(2,)),
    ),
)


def _one_hot(out: Array, labels: Array, x: Any) -> Array:
    hot = np.asarray(labels)[..., None] == np.arange(x.shape[-1], dtype=int64)
    return into(out, hot.astype(x.dtype))


one_hot: Op = operator(
    "OneHot",
    shape=lambda t, x: (*t, x[-1]),
    run=_one_hot,
    vjp=(None, None),
    dtype=lambda *dtypes: dtypes[1],
    inputs=None,
    shape_only=(1,),
    title=("1 at the position of the class", "在类别位置上为 1"),
    formula="one_hot({0})",
    samples=(Sample([(4,), (4, 3)], integers=(0,)),),
)


LOWEST = -100.0  # logarithms that are bounded: that of 0 would be −infinity, and 0 times that NaN

SMALLEST = float(np.float32(1e-12))  # of p (1 − p), by which the slope is divided, as in PyTorch


def _binary_cross_entropy(out: Array, p: Array, t: Array) -> Array:
    yes, no = np.maximum(np.log(p), LOWEST), np.maximum(np.log1p(-p), LOWEST)
    return np.subtract((t - 1) * no, t * yes, out=out)


def _at_least(x: Any, bound: float) -> Any:
    return where(x < bound, bound, x)


binary_cross_entropy = elementwise(
    "BinaryCrossEntropy",
    _binary_cross_entropy,
    vjp=(
        lambda g, y, p, t: g * (p - t) / _at_least(p * (1 - p), SMALLEST),
        lambda g, y, p, t: g * (log1p(-p) - log(p)),
    ),
    dtype=as_float,
    inputs=as_float,
    title=("cross-entropy of two classes, with bounded logarithms", "二分类交叉熵，对数有下界"),
    formula="−{1} log {0} − (1 − {1}) log(1 − {0})",
    samples=tuple(Sample(s.shapes, low=0.2, high=1.0) for s in PAIRS),
)

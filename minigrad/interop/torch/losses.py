"""PyTorch's losses by our operators; `reduction` is 0 for none, 1 for mean, 2 for sum."""

from __future__ import annotations

import math
from typing import Any

from minigrad import functions as f
from minigrad import ops
from minigrad.interop.torch.layers import keep_first_result
from minigrad.interop.torch.numbers import Table


def _reduced(loss: Any, reduction: int) -> Any:
    return (loss, f.mean(loss) if reduction == 1 else f.sum(loss))[reduction > 0]


def _by_element(loss: Any) -> Any:
    return lambda x, target, reduction=1: _reduced(loss(x - target), reduction)


def _huber(x: Any, target: Any, reduction: int = 1, delta: float = 1.0) -> Any:
    gap = f.abs(x - target)
    inner = f.minimum(gap, delta)
    return _reduced(inner * (gap - inner * 0.5), reduction)


def _smooth(x: Any, target: Any, reduction: int = 1, beta: float = 1.0) -> Any:
    if beta == 0:
        return _reduced(f.abs(x - target), reduction)
    return _reduced(_huber(x, target, 0, beta) / beta, reduction)


def _cross_entropy(
    x: Any,
    target: Any,
    weight: Any = None,
    reduction: int = 1,
    ignore_index: int = -100,
    smoothing: float = 0.0,
) -> Any:
    if target.dtype.kind == "f":
        loss = -f.sum(target * f.log_softmax(x, _classes(x)), _classes(x))
        count = math.prod(loss.shape) or 1
        return (
            NotImplemented
            if weight is not None or smoothing
            else (f.sum(loss) / count if reduction == 1 else _reduced(loss, reduction))
        )
    if weight is not None or smoothing:
        return NotImplemented
    if ignore_index < 0 and len(x.shape) == 2:
        return _reduced(ops.softmax_cross_entropy(x, target), reduction)
    return _nll(f.log_softmax(x, _classes(x)), target, None, reduction, ignore_index)


def _masked_cross_entropy(
    x: Any,
    target: Any,
    weight: Any = None,
    reduction: int = 1,
    ignore_index: int = -100,
    smoothing: float = 0.0,
) -> Any:
    """Build cross entropy for labels of which some are to be ignored."""
    if weight is not None or smoothing:
        return NotImplemented
    return _nll(f.log_softmax(x, _classes(x)), target, None, reduction, ignore_index)


def ignores_labels(
    target: Any, weight: Any = None, reduction: Any = 1, ignored: int = -100
) -> bool:
    """Return whether some of these labels are to be ignored; arguments as of the operator."""
    return bool((target == ignored).any())


def _classes(x: Any) -> int:
    return min(1, len(x.shape) - 1)


def _nll(
    x: Any, target: Any, weight: Any = None, reduction: int = 1, ignore_index: int = -100
) -> Any:
    if weight is not None:
        return NotImplemented
    axis = _classes(x)
    known = target != ignore_index
    index = f.expand_dims(f.where(known, target, 0), axis)
    loss = -f.where(known, f.squeeze(f.gather(x, index, axis), axis), 0.0)
    if reduction != 1:
        return _reduced(loss, reduction)
    return f.sum(loss) / f.sum(f.cast(known, x.dtype))


def _binary(x: Any, target: Any, weight: Any = None, reduction: int = 1) -> Any:
    loss = ops.binary_cross_entropy(x, target)
    return _reduced(loss if weight is None else loss * weight, reduction)


def _binary_with_logits(
    x: Any, target: Any, weight: Any = None, pos_weight: Any = None, reduction: int = 1
) -> Any:
    if pos_weight is None:
        loss = f.softplus(x) - x * target
    else:
        loss = (1.0 - target) * x + (1.0 + (pos_weight - 1.0) * target) * f.softplus(-x)
    return _reduced(loss if weight is None else loss * weight, reduction)


LOSSES: Table = {
    "mse_loss": _by_element(lambda gap: gap * gap),
    "l1_loss": _by_element(f.abs),
    "huber_loss": _huber,
    "smooth_l1_loss": _smooth,
    "cross_entropy_loss": _cross_entropy,
    "cross_entropy_loss, ignoring": _masked_cross_entropy,
    "nll_loss": _nll,
    "nll_loss_nd": _nll,
    "nll_loss_forward": keep_first_result(_nll, 2),
    "binary_cross_entropy": _binary,
    "binary_cross_entropy_with_logits": _binary_with_logits,
}

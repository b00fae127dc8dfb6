"""Losses, for arrays, tensors and graph nodes alike."""

from __future__ import annotations

from typing import Any

from minigrad import ops
from minigrad.core import PublicShape, name_scope, show_shape
from minigrad.diagnostics.arguments import two_readings
from minigrad.diagnostics.errors import ShapeError
from minigrad.diagnostics.source import here
from minigrad.ops.arrange import as_operand

__all__ = ["binary_cross_entropy_with_logits", "cross_entropy", "l1_loss", "mse_loss", "nll_loss"]


def cross_entropy(scores: Any, labels: Any) -> Any:
    """Compute the mean cross-entropy between softmax(scores) and class numbers: a scalar.

    scores: (n, classes), not yet normalised; labels: (n,) integers from 0. With more axes the
    classes are axis 1, as in PyTorch: (n, classes, h, w) and (n, h, w). Raises ShapeError or
    DtypeError when the two do not belong together.

    >>> import minigrad as mg
    >>> round(mg.cross_entropy(mg.tensor([[2.0, 0.0]]), mg.tensor([0])).item(), 4)
    0.1269
    """
    scores, labels = _classes_last("cross_entropy", scores, labels)
    with name_scope("loss"):
        return ops.mean(ops.softmax_cross_entropy(scores, labels))


def nll_loss(log_probabilities: Any, labels: Any) -> Any:
    """Compute the mean of −log p of the right classes: after log_softmax, the cross-entropy.

    log_probabilities: (n, classes); labels: (n,) integers from 0; with more axes as for
    `cross_entropy`. Raises ShapeError, DtypeError, IndexRangeError. (torch.nn.functional.nll_loss.)

    >>> import minigrad as mg
    >>> mg.nll_loss(mg.log(mg.tensor([[0.5, 0.5], [0.5, 0.5]])), [0, 1])
    tensor(0.6931472)
    """
    x, labels = _classes_last("nll_loss", log_probabilities, labels)
    if x.shape is not None and not _may_be_equal(x.shape[:-1], labels.shape):
        shapes = show_shape(labels.shape), show_shape(x.shape)
        raise ShapeError(
            "labels", op="nll_loss", labels=shapes[0], scores=shapes[1], defined=here()
        )
    with name_scope("loss"):
        chosen = ops.gather(x, ops.expand_dims(labels, axis=-1), axis=-1)
        return -ops.mean(chosen)


def mse_loss(predictions: Any, targets: Any) -> Any:
    """Compute the mean squared difference; ShapeError unless both shapes are equal.

    >>> import minigrad as mg
    >>> mg.mse_loss(mg.tensor([1.0, 2.0]), [1.0, 4.0])
    tensor(2.)
    """
    x, t = _same_shape("mse_loss", predictions, targets)
    with name_scope("loss"):
        difference = ops.sub(x, t)
        return ops.mean(difference * difference)


def l1_loss(predictions: Any, targets: Any) -> Any:
    """Compute the mean absolute difference; ShapeError unless both shapes are equal.

    >>> import minigrad as mg
    >>> mg.l1_loss(mg.tensor([1.0, 5.0]), mg.tensor([2.0, 2.0])).item()
    2.0
    """
    x, t = _same_shape("l1_loss", predictions, targets)
    with name_scope("loss"):
        return ops.mean(ops.abs(ops.sub(x, t)))


def binary_cross_entropy_with_logits(scores: Any, targets: Any) -> Any:
    """Compute the mean cross-entropy between σ(scores) and probabilities from 0 to 1.

    Both have one shape: ShapeError if they do not. Large scores do not overflow.

    >>> import minigrad as mg
    >>> mg.binary_cross_entropy_with_logits(mg.tensor([0.0, 1000.0]), [1.0, 1.0])
    tensor(0.3465736)
    """
    x, t = _same_shape("binary_cross_entropy_with_logits", scores, targets)
    with name_scope("loss"):
        return ops.mean(ops.softplus(x) - x * t)  # −t log σ(x) − (1 − t) log σ(−x)


def _classes_last(name: str, scores: Any, labels: Any) -> tuple[Any, Any]:
    """Move axis 1 of the scores, that of the classes, to the end.

    ArgumentError if the classes seem to be last already, as in TensorFlow and JAX; ShapeError if
    the number of axes is unknown.
    """
    x, labels = as_operand(scores), as_operand(labels)
    if x.shape is None and (labels.shape is None or len(labels.shape) > 1):
        raise ShapeError("rank_unknown", op=name, name=x.name, defined=here())
    if x.shape is None or len(x.shape) < 3:
        return x, labels
    n, _, *others = x.shape
    if not _may_be_equal((n, *others), labels.shape) and _may_be_equal(x.shape[:-1], labels.shape):
        moved = f"mg.{name}(mg.transpose(x, {(0, x.ndim - 1, *range(1, x.ndim - 1))}), labels)"
        flat = f"mg.{name}(x.reshape(-1, {x.shape[-1]}), labels.reshape(-1))"
        form = f"{name}: {show_shape(x.shape)}, {show_shape(labels.shape)}"
        raise two_readings(form, "PyTorch", moved, "TensorFlow", flat)
    return ops.transpose(x, axes=(0, *range(2, x.ndim), 1)), labels


def _same_shape(name: str, x: Any, t: Any) -> tuple[Any, Any]:
    """Return both operands; ShapeError if their shapes differ: broadcasting pairs wrongly."""
    x, t = as_operand(x), as_operand(t)
    if not _may_be_equal(x.shape, t.shape):
        shape, expected = show_shape(t.shape), show_shape(x.shape)
        raise ShapeError("loss_shapes", op=name, shape=shape, expected=expected, defined=here())
    return x, t


def _may_be_equal(a: PublicShape | None, b: PublicShape | None) -> bool:
    """Return whether these may be the same shape, as far as is known."""
    if a is None or b is None:
        return True
    return len(a) == len(b) and all(
        m is None or n is None or m == n for m, n in zip(a, b, strict=True)
    )

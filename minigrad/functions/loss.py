"""Losses, for arrays, tensors and graph nodes alike."""

from __future__ import annotations

from typing import Any

from minigrad import ops
from minigrad.backprop import scoped


def cross_entropy(scores: Any, labels: Any) -> Any:
    """The mean cross-entropy between softmax(scores) and class numbers: one number.

    scores: (n, classes), not yet normalised; labels: (n,) integers from 0.
    Raises ShapeError or DtypeError when the two do not belong together.

    >>> import minigrad as mg
    >>> round(mg.cross_entropy(mg.tensor([[2.0, 0.0]]), mg.tensor([0])).item(), 4)
    0.1269
    """
    with scoped("loss"):
        return ops.mean(ops.softmax_cross_entropy(scores, labels))

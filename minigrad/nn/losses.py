"""Losses as layers: called with predictions and targets, they give the mean as one number."""

from __future__ import annotations

from typing import Any

from minigrad.nn import functional
from minigrad.nn.module import Module


class _Loss(Module):
    """A loss that is a function of predictions and targets."""

    compute: Any

    def forward(self, predictions: Any, targets: Any) -> Any:
        return self.compute(predictions, targets)


class CrossEntropyLoss(_Loss):
    """Cross-entropy between softmax of scores (n, classes) and class numbers (n,).

    >>> import minigrad as mg
    >>> mg.nn.CrossEntropyLoss()(mg.tensor([[0.0, 0.0]]), mg.tensor([1]))
    tensor(0.6931472)
    """

    compute = staticmethod(functional.cross_entropy)


class NLLLoss(_Loss):
    """The mean of −log p of the right classes; see `mg.nll_loss`.

    >>> import minigrad as mg
    >>> mg.nn.NLLLoss()(mg.tensor([[-1.0, -3.0]]), mg.tensor([1]))
    tensor(3.)
    """

    compute = staticmethod(functional.nll_loss)


class MSELoss(_Loss):
    """The mean of the squared differences.

    >>> import minigrad as mg
    >>> mg.nn.MSELoss()(mg.tensor([1.0, 2.0]), mg.tensor([1.0, 4.0]))
    tensor(2.)
    """

    compute = staticmethod(functional.mse_loss)


class L1Loss(_Loss):
    """The mean of the absolute differences.

    >>> import minigrad as mg
    >>> mg.nn.L1Loss()(mg.tensor([1.0, 2.0]), mg.tensor([1.0, 4.0]))
    tensor(1.)
    """

    compute = staticmethod(functional.l1_loss)


class BCEWithLogitsLoss(_Loss):
    """The mean cross-entropy between σ(scores) and probabilities.

    >>> import minigrad as mg
    >>> mg.nn.BCEWithLogitsLoss()(mg.tensor([0.0]), mg.tensor([1.0]))
    tensor(0.6931472)
    """

    compute = staticmethod(functional.binary_cross_entropy_with_logits)

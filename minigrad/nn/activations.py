"""Activation functions as layers."""

from __future__ import annotations

from typing import Any

from minigrad import ops
from minigrad.nn import functional
from minigrad.nn.module import Module


class ReLU(Module):
    """max(x, 0), element by element.

    >>> import minigrad as mg
    >>> mg.nn.ReLU()(mg.tensor([-1.0, 2.0]))
    tensor([0., 2.])
    """

    def forward(self, x: Any) -> Any:
        return ops.relu(x)


class Tanh(Module):
    """tanh(x), element by element.

    >>> import minigrad as mg
    >>> mg.nn.Tanh()(mg.tensor([0.0, 100.0]))
    tensor([0., 1.])
    """

    def forward(self, x: Any) -> Any:
        return ops.tanh(x)


class Sigmoid(Module):
    """1 / (1 + exp(−x)), element by element.

    >>> import minigrad as mg
    >>> mg.nn.Sigmoid()(mg.tensor([0.0, 100.0]))
    tensor([0.5, 1. ])
    """

    def forward(self, x: Any) -> Any:
        return ops.sigmoid(x)


class GELU(Module):
    """x Φ(x), element by element; approximate="tanh" is quicker and a little off.

    >>> import minigrad as mg
    >>> mg.nn.GELU()(mg.tensor([-100.0, 0.0, 100.0]))
    tensor([ -0.,   0., 100.])
    """

    def __init__(self, approximate: str = "none") -> None:
        super().__init__()
        self.approximate = approximate

    def forward(self, x: Any) -> Any:
        return ops.gelu(x, approximate=self.approximate)


class Softmax(Module):
    """Positive numbers that sum to 1 along an axis, which may be left out where there are two.

    >>> import minigrad as mg
    >>> mg.nn.Softmax()(mg.tensor([[0.0, 0.0], [200.0, 0.0]]))
    tensor([[0.5, 0.5],
            [1. , 0. ]])
    """

    def __init__(self, axis: int | None = None) -> None:
        super().__init__()
        self.axis = axis

    def forward(self, x: Any) -> Any:
        return functional.softmax(x, self.axis)

    def extra_repr(self) -> str:
        return f"axis={self.axis}"

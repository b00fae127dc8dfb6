"""Activation functions as layers."""

from __future__ import annotations

from typing import Any

from minigrad import ops
from minigrad.nn.module import Module


class ReLU(Module):
    """max(x, 0), element by element."""

    def forward(self, x: Any) -> Any:
        return ops.relu(x)


class Tanh(Module):
    """tanh(x), element by element."""

    def forward(self, x: Any) -> Any:
        return ops.tanh(x)


class Sigmoid(Module):
    """1 / (1 + exp(−x)), element by element."""

    def forward(self, x: Any) -> Any:
        return ops.sigmoid(x)


class GELU(Module):
    """x Φ(x), element by element; approximate="tanh" is quicker and a little off."""

    def __init__(self, approximate: str = "none") -> None:
        super().__init__()
        self.approximate = approximate

    def forward(self, x: Any) -> Any:
        return ops.gelu(x, approximate=self.approximate)


class Softmax(Module):
    """Positive numbers that sum to 1 along an axis."""

    def __init__(self, axis: int = -1) -> None:
        super().__init__()
        self.axis = axis

    def forward(self, x: Any) -> Any:
        return ops.softmax(x, axis=self.axis)

    def extra_repr(self) -> str:
        return f"axis={self.axis}"

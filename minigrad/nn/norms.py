"""Layers that bring values to a common scale: batch and layer normalisation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from minigrad.core import float32, show_shape
from minigrad.diagnostics.arguments import allocated, lengths, whole
from minigrad.diagnostics.errors import ShapeError
from minigrad.diagnostics.source import here
from minigrad.dynamic.tensor import Tensor
from minigrad.nn import functional
from minigrad.nn.module import Module
from minigrad.ops.arrange import as_operand


def _full(shape: Sequence[int], value: float, requires_grad: bool = True) -> Tensor:
    filled = allocated("parameters", tuple(shape), lambda known: np.full(known, value, float32))
    return Tensor(filled, requires_grad)


class LayerNorm(Module):
    """The last axes brought to mean 0 and variance 1, times weight, plus bias.

    normalized_shape: the lengths of those axes; weight (ones) and bias (zeros) have this shape.
    Raises ShapeError for operands that end otherwise. (J. Ba et al., arXiv:1607.06450.)

    >>> import minigrad as mg
    >>> mg.nn.LayerNorm(2, eps=0.0)(mg.tensor([[1.0, 3.0], [10.0, 30.0]]))
    tensor([[-1.,  1.],
            [-1.,  1.]], creator=Add)
    """

    def __init__(
        self, normalized_shape: int | Sequence[int], eps: float = 1e-5, affine: bool = True
    ) -> None:
        super().__init__()
        self.normalized_shape = lengths("LayerNorm", "normalized_shape", normalized_shape)
        self.eps = eps
        self.weight = _full(self.normalized_shape, 1) if affine else None
        self.bias = _full(self.normalized_shape, 0) if affine else None

    def forward(self, x: Any) -> Any:
        return functional.layer_norm(x, self.normalized_shape, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        return f"{self.normalized_shape}, eps={self.eps}"


class _BatchNorm(Module):
    """Each channel brought to mean 0 and variance 1 over the batch, times weight, plus bias.

    In training the statistics are those of the batch, and running_mean and running_var move
    towards them by the fraction `momentum` (the variance with n − 1 in the denominator, as in
    PyTorch). After `eval()` the running statistics are used, and stay as they are.
    In a static graph those two are variables; see `mg.nn.updates` for who renews them.
    (S. Ioffe, C. Szegedy, arXiv:1502.03167.)
    """

    ranks: tuple[int, ...] = ()  # the numbers of axes it takes
    running_mean: Tensor
    running_var: Tensor

    def __init__(
        self, num_features: int, eps: float = 1e-5, momentum: float = 0.1, affine: bool = True
    ) -> None:
        super().__init__()
        self.num_features = whole(type(self).__name__, "num_features", num_features)
        self.eps, self.momentum = eps, momentum
        self.weight = _full((num_features,), 1) if affine else None
        self.bias = _full((num_features,), 0) if affine else None
        self.register_buffer("running_mean", _full((num_features,), 0, False))
        self.register_buffer("running_var", _full((num_features,), 1, False))

    def forward(self, x: Any) -> Any:
        x = as_operand(x)
        name, shape = type(self).__name__, show_shape(x.shape)
        if x.ndim not in self.ranks:
            expected = " or ".join(map(str, self.ranks)) + " axes"
            raise ShapeError("rank", op=name, expected=expected, shape=shape, defined=here())
        if x.shape[1] not in (None, self.num_features):
            about: dict[str, Any] = {"expected": self.num_features, "shape": shape}
            raise ShapeError("features", op=name, **about, defined=here())
        if self.training:
            functional.expect_several(name, x)
        how = self.training, self.momentum, self.eps
        given = self.running_mean, self.running_var, self.weight, self.bias
        return functional.batch_norm(x, *given, *how)

    def extra_repr(self) -> str:
        return f"{self.num_features}, eps={self.eps}, momentum={self.momentum}"


def _described(what: str, example: str, result: str) -> str:
    """Write the docstring of a kind of batch normalization."""
    shown = f"    >>> import minigrad as mg\n    >>> {example}\n    {result}\n    "
    return f"{what}\n\n    {_BatchNorm.__doc__}\n{shown}"


class BatchNorm1d(_BatchNorm):
    __doc__ = _described(
        "Batch normalisation of (n, features) or (n, channels, length).",
        "mg.nn.BatchNorm1d(3)(mg.randn(8, 3)).shape",
        "(8, 3)",
    )
    ranks = (2, 3)


class BatchNorm2d(_BatchNorm):
    __doc__ = _described(
        "Batch normalisation of images (n, channels, h, w).",
        "mg.nn.BatchNorm2d(8)(mg.randn(64, 8, 16, 16)).shape",
        "(64, 8, 16, 16)",
    )
    ranks = (4,)

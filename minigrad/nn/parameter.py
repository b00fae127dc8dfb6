"""PyTorch's Parameter, a tensor that is trained; here that is every leaf with requires_grad."""

from __future__ import annotations

from typing import Any

from minigrad.dynamic.tensor import Tensor
from minigrad.functions.creation import tensor


class _Kind(type):
    """The metaclass that answers `isinstance`, as no tensor is made by this class."""

    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, Tensor) and value.requires_grad and value.is_leaf


class Parameter(metaclass=_Kind):
    """PyTorch's name for mg.tensor(data, requires_grad=requires_grad).

    `isinstance(x, Parameter)` tells whether x is trained: a tensor with requires_grad that no
    operator has made. DtypeError as for `mg.tensor`.

    >>> import minigrad as mg
    >>> weight = mg.nn.Parameter(mg.ones(2))
    >>> isinstance(weight, mg.nn.Parameter), isinstance(weight * 2, mg.nn.Parameter)
    (True, False)
    """

    def __new__(cls, data: Any, requires_grad: bool = True) -> Tensor:  # type: ignore[misc]
        return tensor(data, requires_grad=requires_grad)

"""PyTorch's tensors, where they differ: single numbers are weak, arrays asked for."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

import minigrad as mg
from minigrad.faces.face import followed

__all__ = ["Tensor", "of_torch"]


class Tensor(mg.Tensor):
    """A tensor of PyTorch; results of operators on it are of this class, too."""

    __slots__ = ()

    @classmethod
    def __torch_function__(
        cls,
        func: Any,
        types: tuple[type, ...],
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        """An operator; a tensor without axes takes the data type of those with axes beside it."""
        tensors = [x for x in args if isinstance(x, mg.Tensor)]
        if func.broadcasts and len({x.dtype for x in tensors}) > 1:
            args = tuple(weakened(x, tensors) for x in args)
        return super(Tensor, Tensor).__torch_function__(func, types, args, kwargs)

    def numpy(self) -> Any:
        """The values as an array that shares memory; RuntimeError if a gradient may be wanted."""
        if self.requires_grad:
            raise followed("numpy")
        return super().numpy()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return np.array(self.data, dtype=dtype) if copy else np.asarray(self.data, dtype=dtype)

    def detach(self) -> Any:
        """The same values without their history; memory is shared."""
        return as_torch(super().detach())


def weakened(x: Any, tensors: list[Any]) -> Any:
    """A single number in the type of the tensors with axes, if they are of its kind or a higher."""
    wide = [one.dtype for one in tensors if one.ndim]
    if not isinstance(x, mg.Tensor) or x.ndim or not wide:
        return x
    common = functools.reduce(np.promote_types, wide)
    order = "biuf"
    if common == x.dtype or order.index(common.kind) < order.index(x.dtype.kind):
        return x
    return mg.cast(x, common)


def as_torch(x: Any) -> Any:
    """A tensor as one of this face, anything else as it is."""
    if type(x) is mg.Tensor:
        x.__class__ = Tensor
    return type(x)(map(as_torch, x)) if type(x) in (list, tuple) else x


def of_torch(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that gives tensors of this face."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        return as_torch(function(*args, **kwargs))

    return call

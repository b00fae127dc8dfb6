"""PyTorch's tensors, where they differ: single numbers are weak, arrays asked for."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

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

    @property
    def grad_fn(self) -> Recorded | None:
        """The node that made this tensor; None where nothing was recorded."""
        return None if self.creator is None else Recorded(self.creator)


class Recorded(NamedTuple):
    """A node of the tape as PyTorch shows it."""

    node: Any

    def name(self) -> str:
        """The operator; of a leaf, that gradients are added up there."""
        return str(getattr(self.node, "op", "AccumulateGrad"))

    @property
    def next_functions(self) -> tuple[tuple[Recorded | None, int], ...]:
        """The nodes that it reads, in order; None where no gradient flows."""
        made = (isinstance(x, mg.Tensor) or hasattr(x, "op") for x in self.node.inputs)
        pairs = zip(self.node.inputs, made, strict=True)
        return tuple((Recorded(x) if known else None, 0) for x, known in pairs)


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

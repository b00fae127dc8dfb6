"""PyTorch's tensors, where they differ: single numbers are weak, `data` is a tensor."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

import minigrad as mg
from minigrad.faces.face import failed, followed

__all__ = ["Tensor", "of_torch"]

VIEWS = "BroadcastTo", "ExpandDims", "Reshape"
TYPES = {
    "float32": "FloatTensor",
    "float64": "DoubleTensor",
    "int32": "IntTensor",
    "int64": "LongTensor",
    "bool": "BoolTensor",
}


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
        if func.name in VIEWS:
            for x in tensors:
                x._shared_memory()  # of a single number, too, views share the memory
        if func.broadcasts and len({x.dtype for x in tensors}) > 1:
            args = tuple(weakened(x, tensors) for x in args)
        return super(Tensor, Tensor).__torch_function__(func, types, args, kwargs)

    def __getitem__(self, key: Any) -> Any:
        """Part of the elements; a single one shares its memory as well."""
        result = super().__getitem__(key)
        parts = key if isinstance(key, tuple) else (key,)
        single = len(parts) == self.ndim > 0 and all(type(part) is int for part in parts)
        return self._element(parts, result) if single else result

    def max(self, *other: Any, **options: Any) -> Any:
        """The largest element; along `dim` values and positions; or the larger of two tensors."""
        return super().max(*_tensors(other), **_along(other), **options)

    def min(self, *other: Any, **options: Any) -> Any:
        """The smallest element; along `dim` values and positions; or the smaller of two tensors."""
        return super().min(*_tensors(other), **_along(other), **options)

    def broadcast_to(self, *size: Any) -> Any:
        """The elements repeated to a shape, without a copy."""
        return mg.broadcast_to(self, size[0] if len(size) == 1 else size)

    def repeat(self, *sizes: Any) -> Any:
        """Copies of this tensor beside each other, so many along each axis."""
        return mg.tile(self, sizes[0] if len(sizes) == 1 else sizes)

    def squeeze(self, dim: Any = None) -> Any:
        """Without axes of length 1: all of them, or the one named if it is such an axis."""
        named = dim is not None and self.shape[dim] != 1
        return self if named else super().squeeze(dim)

    def type(self, dtype: Any = None) -> Any:
        """The name of the data type, as a class of old programs; or converted to another one."""
        if dtype is None:
            return f"torch.{TYPES[str(self.dtype)]}"
        names = {f"torch.{kind}": name for name, kind in TYPES.items()}
        return self.astype(names.get(dtype, dtype))

    def numpy(self) -> Any:
        """The values as an array that shares memory; RuntimeError if a gradient may be wanted."""
        if self.requires_grad:
            raise followed("numpy")
        return super().numpy()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return np.array(self._array, dtype=dtype) if copy else np.asarray(self._array, dtype=dtype)

    @property
    def data(self) -> Any:
        """The same values without their history, as a tensor that shares memory.

        What changes in place through it is noticed by `backward`; in PyTorch it is not.
        """
        return self.detach()

    @data.setter
    def data(self, value: Any) -> None:
        if not isinstance(value, mg.Tensor):
            raise failed(mg.DtypeError, "face_data", found=type(value).__name__)
        if self.requires_grad and value.dtype.kind != "f":
            raise failed(mg.DtypeError, "float_only", op="data", dtype=value.dtype)
        self._array = value._shared_memory()

    @property
    def grad(self) -> Any:
        """The accumulated gradient, None as long as none was computed."""
        return as_torch(super().grad)

    @grad.setter
    def grad(self, gradient: Any) -> None:
        mg.Tensor.grad.fset(self, gradient)  # type: ignore[attr-defined]

    def detach(self) -> Any:
        """The same values without their history; memory is shared."""
        return as_torch(super().detach())

    def new_zeros(self, *size: Any) -> Any:
        """Zeros of this data type."""
        return as_torch(mg.zeros(*size, dtype=self.dtype))

    def new_ones(self, *size: Any) -> Any:
        """Ones of this data type."""
        return as_torch(mg.ones(*size, dtype=self.dtype))

    def new_full(self, size: Any, fill_value: float) -> Any:
        """One number of this data type in every place."""
        return as_torch(mg.full(size, fill_value, self.dtype))

    def new_tensor(self, data: Any) -> Any:
        """A tensor of this data type."""
        return as_torch(mg.tensor(data, dtype=self.dtype))

    def new(self, *size: Any) -> Any:
        """In old programs: a tensor of this data type, from lengths or from a list."""
        listed = len(size) == 1 and isinstance(size[0], list)
        return self.new_tensor(size[0]) if listed else self.new_zeros(*size)

    def norm(self, p: float = 2, dim: Any = None, keepdim: bool = False) -> Any:
        """The length of the vector of all elements, or along an axis."""
        if p == 2:
            return mg.sqrt(mg.sum(self * self, axis=dim, keepdims=keepdim))
        return mg.sum(mg.abs(self) ** p, axis=dim, keepdims=keepdim) ** (1 / p)

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        return as_torch(super().__deepcopy__(memo))

    def __reduce__(self) -> Any:
        return _restored, super().__reduce__()

    def detach_(self) -> Any:
        """Forget the history of this tensor itself."""
        self.creator, self.requires_grad = None, False
        return self

    def register_hook(self, hook: Callable[[Any], Any]) -> Any:
        """Call hook(gradient) in every backward pass; what it returns takes its place."""
        return super().register_hook(of_torch_inside(hook))

    # ---- in place

    def add_(self, other: Any, deprecated: Any = None, *, alpha: float = 1) -> Any:
        """Add a multiple of another tensor: x.add_(y, alpha=2), in old programs x.add_(2, y)."""
        if deprecated is not None:
            other, alpha = deprecated, other
        return super().add_(_scaled(other, alpha))

    def sub_(self, other: Any, deprecated: Any = None, *, alpha: float = 1) -> Any:
        """Subtract a multiple of another tensor: x.sub_(y, alpha=2)."""
        if deprecated is not None:
            other, alpha = deprecated, other
        return super().sub_(_scaled(other, alpha))

    def addcmul_(self, a: Any, b: Any, deprecated: Any = None, *, value: float = 1) -> Any:
        """Add a multiple of a product: x.addcmul_(a, b, value=2), in old programs (2, a, b)."""
        if deprecated is not None:
            value, a, b = a, b, deprecated
        return super().add_(_scaled(a * b, value))

    def addcdiv_(self, a: Any, b: Any, deprecated: Any = None, *, value: float = 1) -> Any:
        """Add a multiple of a quotient: x.addcdiv_(a, b, value=2), in old programs (2, a, b)."""
        if deprecated is not None:
            value, a, b = a, b, deprecated
        return super().add_(_scaled(a / b, value))

    def lerp_(self, end: Any, weight: Any) -> Any:
        """Go this share of the way to another tensor."""
        return super().add_((end - self) * weight)

    def clamp_(self, min: float | None = None, max: float | None = None) -> Any:
        """Confine the elements between two bounds."""
        return super().clamp_(min, max)

    def abs_(self) -> Any:
        """Drop the signs."""
        return self.copy_(mg.abs(self))

    def log_(self) -> Any:
        """Take the natural logarithm."""
        return self.copy_(mg.log(self))

    def square_(self) -> Any:
        """Take the square."""
        return self.copy_(self * self)

    def sign_(self) -> Any:
        """Keep the signs alone."""
        return self.copy_(mg.sign(self))

    def round_(self) -> Any:
        """Round to whole numbers."""
        return self.copy_(mg.round(self))

    def masked_fill_(self, mask: Any, value: float) -> Any:
        """Write a number wherever the mask is true."""
        self[np.broadcast_to(np.asarray(mask, bool), self.shape)] = value
        return self

    def normal_(self, mean: float = 0.0, std: float = 1.0) -> Any:
        """Draw every element around a mean."""
        return self.copy_(mg.randn(*self.shape) * std + mean)

    def uniform_(self, low: float = 0.0, high: float = 1.0) -> Any:
        """Draw every element between two bounds."""
        return self.copy_(mg.rand(*self.shape) * (high - low) + low)

    def bernoulli_(self, p: Any = 0.5) -> Any:
        """Draw ones with probability p, else zeros."""
        return self.copy_(mg.cast(mg.rand(*self.shape) < p, self.dtype))

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


def _restored(restore: Callable[..., Any], parts: tuple[Any, ...]) -> Any:
    """A pickled leaf again."""
    return as_torch(restore(*parts))


def of_torch_inside(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that is called with tensors of this face."""

    @functools.wraps(function)
    def call(*args: Any) -> Any:
        return function(*map(as_torch, args))

    return call


def _scaled(x: Any, factor: Any) -> Any:
    return x if factor == 1 else x * factor


def _along(given: tuple[Any, ...]) -> dict[str, Any]:
    """x.max(1), x.max(1, True): the axis, and whether it stays."""
    whole = bool(given) and isinstance(given[0], (int, np.integer))
    return dict(zip(("dim", "keepdims"), given, strict=False)) if whole else {}


def _tensors(given: tuple[Any, ...]) -> tuple[Any, ...]:
    return () if _along(given) else given


def extreme(choose: Any, x: Any, dim: Any, keepdim: bool) -> Any:
    """`max` and `min`, by what stands in the second place."""
    if dim is None:
        return choose(x)
    whole = isinstance(dim, (int, np.integer))
    return choose(x, dim=dim, keepdims=keepdim) if whole else choose(x, dim)


def of_torch(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that gives tensors of this face, or writes into `out`."""

    @functools.wraps(function)
    def call(*args: Any, out: Any = None, **kwargs: Any) -> Any:
        if out is None:
            return as_torch(function(*args, **kwargs))
        for x in (out, *args):
            if getattr(x, "requires_grad", False) and mg.is_grad_enabled():
                raise failed(mg.GradientError, "face_out", op=function.__name__)
        return out.copy_(function(*args, **kwargs))

    return call

"""PyTorch's tensors where they differ from ours: scalars are weakly typed, `data` is a tensor."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

import minigrad as mg
from minigrad.faces.face import make_error, needs_grad_error

__all__ = ["Tensor", "returns_torch"]

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
        """Apply an operator; tensors without axes take the data type of those with axes."""
        tensors = [x for x in args if isinstance(x, mg.Tensor)]
        if func.name in VIEWS:
            for x in tensors:
                x._shared_memory()  # of a single number, too, views share the memory
        if func.broadcasts and len({x.dtype for x in tensors}) > 1:
            args = tuple(cast_scalar(x, tensors) for x in args)
        return super(Tensor, Tensor).__torch_function__(func, types, args, kwargs)

    def __getitem__(self, key: Any) -> Any:
        """Return part of the elements; even a single one shares memory with the tensor."""
        result = super().__getitem__(key)
        parts = key if isinstance(key, tuple) else (key,)
        single = len(parts) == self.ndim > 0 and all(type(part) is int for part in parts)
        return self._element(parts, result) if single else result

    def max(self, *other: Any, **options: Any) -> Any:
        """Return the maximum, (values, indices) along `dim`, or the larger of two tensors."""
        return super().max(*_tensors(other), **_dim_options(other), **options)

    def min(self, *other: Any, **options: Any) -> Any:
        """Return the minimum, (values, indices) along `dim`, or the smaller of two tensors."""
        return super().min(*_tensors(other), **_dim_options(other), **options)

    def broadcast_to(self, *size: Any) -> Any:
        """Repeat the elements to fill a shape, without a copy."""
        return mg.broadcast_to(self, size[0] if len(size) == 1 else size)

    def repeat(self, *sizes: Any) -> Any:
        """Tile copies of this tensor: a number of them along each axis."""
        return mg.tile(self, sizes[0] if len(sizes) == 1 else sizes)

    def squeeze(self, dim: Any = None) -> Any:
        """Remove all axes of length 1, or only `dim`, if it is one."""
        named = dim is not None and self.shape[dim] != 1
        return self if named else super().squeeze(dim)

    def type(self, dtype: Any = None) -> Any:
        """Return the dtype's old class name, such as torch.FloatTensor, or convert to another."""
        if dtype is None:
            return f"torch.{TYPES[str(self.dtype)]}"
        names = {f"torch.{kind}": name for name, kind in TYPES.items()}
        return self.astype(names.get(dtype, dtype))

    def numpy(self) -> Any:
        """Return an array that shares memory; RuntimeError if the tensor requires a gradient."""
        if self.requires_grad:
            raise needs_grad_error("numpy")
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
            raise make_error(mg.DtypeError, "face_data", found=type(value).__name__)
        if self.requires_grad and value.dtype.kind != "f":
            raise make_error(mg.DtypeError, "float_only", op="data", dtype=value.dtype)
        self._array = value._shared_memory()

    @property
    def grad(self) -> Any:
        """The accumulated gradient, None as long as none was computed."""
        return as_torch(super().grad)

    @grad.setter
    def grad(self, gradient: Any) -> None:
        mg.Tensor.grad.fset(self, gradient)  # type: ignore[attr-defined]

    def detach(self) -> Any:
        """Return the same values without their history; memory is shared."""
        return as_torch(super().detach())

    def new_zeros(self, *size: Any) -> Any:
        """Make a tensor of zeros of this data type."""
        return as_torch(mg.zeros(*size, dtype=self.dtype))

    def new_ones(self, *size: Any) -> Any:
        """Make a tensor of ones of this data type."""
        return as_torch(mg.ones(*size, dtype=self.dtype))

    def new_full(self, size: Any, fill_value: float) -> Any:
        """Make a tensor filled with one number, of this data type."""
        return as_torch(mg.full(size, fill_value, self.dtype))

    def new_tensor(self, data: Any) -> Any:
        """Make a tensor of this data type."""
        return as_torch(mg.tensor(data, dtype=self.dtype))

    def new(self, *size: Any) -> Any:
        """Make a tensor of this data type from lengths (zeros) or a list, as old programs do."""
        listed = len(size) == 1 and isinstance(size[0], list)
        return self.new_tensor(size[0]) if listed else self.new_zeros(*size)

    def norm(self, p: float = 2, dim: Any = None, keepdim: bool = False) -> Any:
        """Return the p-norm of all elements, or along an axis."""
        if p == 2:
            return mg.sqrt(mg.sum(self * self, axis=dim, keepdims=keepdim))
        return mg.sum(mg.abs(self) ** p, axis=dim, keepdims=keepdim) ** (1 / p)

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        return as_torch(super().__deepcopy__(memo))

    def __reduce__(self) -> Any:
        return _restored, super().__reduce__()

    def detach_(self) -> Any:
        """Drop the history of this tensor, in place."""
        self.creator, self.requires_grad = None, False
        return self

    def register_hook(self, hook: Callable[[Any], Any]) -> Any:
        """Call hook(gradient) in every backward pass; a returned value replaces the gradient."""
        return super().register_hook(takes_torch(hook))

    # ---- in place

    def add_(self, other: Any, deprecated: Any = None, *, alpha: float = 1) -> Any:
        """Add a multiple of another tensor: x.add_(y, alpha=2), in old programs x.add_(2, y)."""
        if deprecated is not None:
            other, alpha = deprecated, other
        return super().add_(_scale(other, alpha))

    def sub_(self, other: Any, deprecated: Any = None, *, alpha: float = 1) -> Any:
        """Subtract a multiple of another tensor: x.sub_(y, alpha=2)."""
        if deprecated is not None:
            other, alpha = deprecated, other
        return super().sub_(_scale(other, alpha))

    def addcmul_(self, a: Any, b: Any, deprecated: Any = None, *, value: float = 1) -> Any:
        """Add a multiple of a product: x.addcmul_(a, b, value=2), in old programs (2, a, b)."""
        if deprecated is not None:
            value, a, b = a, b, deprecated
        return super().add_(_scale(a * b, value))

    def addcdiv_(self, a: Any, b: Any, deprecated: Any = None, *, value: float = 1) -> Any:
        """Add a multiple of a quotient: x.addcdiv_(a, b, value=2), in old programs (2, a, b)."""
        if deprecated is not None:
            value, a, b = a, b, deprecated
        return super().add_(_scale(a / b, value))

    def lerp_(self, end: Any, weight: Any) -> Any:
        """Interpolate linearly towards another tensor, in place."""
        return super().add_((end - self) * weight)

    def clamp_(self, min: float | None = None, max: float | None = None) -> Any:
        """Clamp the elements between two bounds in place."""
        return super().clamp_(min, max)

    def abs_(self) -> Any:
        """Take the absolute values in place."""
        return self.copy_(mg.abs(self))

    def log_(self) -> Any:
        """Take the natural logarithm in place."""
        return self.copy_(mg.log(self))

    def square_(self) -> Any:
        """Square the elements in place."""
        return self.copy_(self * self)

    def sign_(self) -> Any:
        """Replace each element by its sign."""
        return self.copy_(mg.sign(self))

    def round_(self) -> Any:
        """Round to integers in place."""
        return self.copy_(mg.round(self))

    def masked_fill_(self, mask: Any, value: float) -> Any:
        """Write a number wherever the mask is true."""
        self[np.broadcast_to(np.asarray(mask, bool), self.shape)] = value
        return self

    def normal_(self, mean: float = 0.0, std: float = 1.0) -> Any:
        """Fill the tensor with normal random values."""
        return self.copy_(mg.randn(*self.shape) * std + mean)

    def uniform_(self, low: float = 0.0, high: float = 1.0) -> Any:
        """Fill the tensor with uniform random values in [low, high)."""
        return self.copy_(mg.rand(*self.shape) * (high - low) + low)

    def bernoulli_(self, p: Any = 0.5) -> Any:
        """Fill the tensor with ones with probability p, else zeros."""
        return self.copy_(mg.cast(mg.rand(*self.shape) < p, self.dtype))

    @property
    def grad_fn(self) -> GradNode | None:
        """The node that made this tensor; None if nothing was recorded."""
        return None if self.creator is None else GradNode(self.creator)


class GradNode(NamedTuple):
    """A node of the tape with PyTorch's attributes."""

    node: Any

    def name(self) -> str:
        """Return the operator's name, or AccumulateGrad for a leaf."""
        return str(getattr(self.node, "op", "AccumulateGrad"))

    @property
    def next_functions(self) -> tuple[tuple[GradNode | None, int], ...]:
        """The nodes of its operands, in order; None where no gradient flows."""
        made = (isinstance(x, mg.Tensor) or hasattr(x, "op") for x in self.node.inputs)
        pairs = zip(self.node.inputs, made, strict=True)
        return tuple((GradNode(x) if known else None, 0) for x, known in pairs)


def cast_scalar(x: Any, tensors: list[Any]) -> Any:
    """Cast a tensor without axes to the dtype of those with axes, if their kind isn't lower."""
    wide = [one.dtype for one in tensors if one.ndim]
    if not isinstance(x, mg.Tensor) or x.ndim or not wide:
        return x
    common = functools.reduce(np.promote_types, wide)
    order = "biuf"
    if common == x.dtype or order.index(common.kind) < order.index(x.dtype.kind):
        return x
    return mg.cast(x, common)


def as_torch(x: Any) -> Any:
    """Convert a tensor to this module's Tensor; return anything else unchanged."""
    if type(x) is mg.Tensor:
        x.__class__ = Tensor  # not a copy: a leaf's gradient belongs to the object the user holds
    return type(x)(map(as_torch, x)) if type(x) in (list, tuple) else x


def _restored(restore: Callable[..., Any], parts: tuple[Any, ...]) -> Any:
    """Restore a pickled leaf."""
    return as_torch(restore(*parts))


def takes_torch(function: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a function so that its arguments are this module's tensors."""

    @functools.wraps(function)
    def call(*args: Any) -> Any:
        return function(*map(as_torch, args))

    return call


def _scale(x: Any, factor: Any) -> Any:
    return x if factor == 1 else x * factor


def _dim_options(given: tuple[Any, ...]) -> dict[str, Any]:
    """Return the keyword arguments of x.max(1) or x.max(1, True): `dim` and `keepdims`."""
    whole = bool(given) and isinstance(given[0], (int, np.integer))
    return dict(zip(("dim", "keepdims"), given, strict=False)) if whole else {}


def _tensors(given: tuple[Any, ...]) -> tuple[Any, ...]:
    return () if _dim_options(given) else given


def max_or_min(choose: Any, x: Any, dim: Any, keepdim: bool) -> Any:
    """Compute `max` or `min` as the second argument says: none, an axis or a tensor."""
    if dim is None:
        return choose(x)
    whole = isinstance(dim, (int, np.integer))
    return choose(x, dim=dim, keepdims=keepdim) if whole else choose(x, dim)


def returns_torch(function: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a function so that it returns this module's tensors, or writes to `out`."""

    @functools.wraps(function)
    def call(*args: Any, out: Any = None, **kwargs: Any) -> Any:
        if out is None:
            return as_torch(function(*args, **kwargs))
        for x in (out, *args):
            if getattr(x, "requires_grad", False) and mg.is_grad_enabled():
                raise make_error(mg.GradientError, "face_out", op=function.__name__)
        return out.copy_(function(*args, **kwargs))

    return call

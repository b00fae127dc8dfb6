"""A compatibility layer for PyTorch: `import minigrad.faces.torch as torch`.

>>> import minigrad.faces.torch as torch
>>> x = torch.tensor(2.0, requires_grad=True)
>>> y = x * x + 3
>>> y.backward()
>>> y.item(), x.grad.item()
(7.0, 4.0)
"""

from __future__ import annotations

import functools
import math
import os
from typing import IO, Any, NamedTuple

import numpy as np

import minigrad as mg
from minigrad.faces.face import Compat
from minigrad.faces.ties import ops
from minigrad.faces.torch import autograd, cuda, func, jit, nn, optim, utils
from minigrad.faces.torch.tensors import Tensor, as_torch, max_or_min, returns_torch

__all__ = [
    "Tensor",
    "autograd",
    "cuda",
    "func",
    "jit",
    "load",
    "max",
    "min",
    "nn",
    "optim",
    "pi",
    "randint",
    "save",
    "sort",
    "topk",
    "utils",
]

pi = math.pi

ARRAYS = mg.Tensor, np.ndarray
MADE = "dtype=mg.float32, requires_grad=False, device='cpu'"
LIKE_US = "dtype=dtype, requires_grad=requires_grad"


def max(x: Any, dim: Any = None, keepdim: bool = False) -> Any:
    """Return the maximum, (values, indices) along `dim`, or the larger of two tensors."""
    return max_or_min(mg.max, x, dim, keepdim)


def min(x: Any, dim: Any = None, keepdim: bool = False) -> Any:
    """Return the minimum, (values, indices) along `dim`, or the smaller of two tensors."""
    return max_or_min(mg.min, x, dim, keepdim)


def _method(function: Any) -> Any:
    return functools.wraps(function)(
        lambda x, dim=None, keepdim=False: as_torch(function(x, dim, keepdim))
    )


setattr(Tensor, "max", _method(max))  # noqa: B010
setattr(Tensor, "min", _method(min))  # noqa: B010


def sort(x: Any, dim: int = -1, descending: bool = False) -> Sorted:
    """Sort values along an axis; return them with their original indices."""
    keys = -np.asarray(x._array) if descending else np.asarray(x._array)
    places = as_torch(mg.tensor(np.argsort(keys, dim, kind="stable")))
    return Sorted(mg.gather(x, places, dim), places)


def topk(x: Any, k: int, dim: int = -1) -> Sorted:
    """Return the k largest values along an axis, with their indices."""
    places = sort(x, dim, descending=True).indices
    places = mg.take(places, np.arange(k), dim)
    return Sorted(mg.gather(x, places, dim), places)


def compile_model(model: Any) -> Any:
    """Compile a function to a graph at its first call; without one, return the decorator."""
    return compile_model if model is None else returns_torch(mg.function(model))


class Sorted(NamedTuple):
    """Sorted values with their original indices."""

    values: Any
    indices: Any


def randint(low: int, high: Any, size: Any = None, dtype: Any = mg.int64) -> Any:
    """Draw integers in [low, high); `low` may be left out."""
    bounds = (low, high, *size) if size is not None else (0, low, *high)
    return as_torch(mg.randint(*bounds, dtype=dtype))


def save(obj: Any, f: str | os.PathLike[str] | IO[bytes]) -> None:
    """Write tensors by their names, such as a model's `state_dict()`, as arrays; nothing else."""
    if not isinstance(obj, dict) or not all(isinstance(x, ARRAYS) for x in obj.values()):
        raise face.error_for("save")
    arrays: dict[str, Any] = {str(name): np.asarray(mg.tensor(x)._array) for name, x in obj.items()}
    if isinstance(f, (str, os.PathLike)):
        with open(f, "wb") as file:
            np.savez(file, **arrays)
    else:
        np.savez(f, **arrays)


def load(f: str | os.PathLike[str] | IO[bytes], weights_only: bool = True) -> dict[str, mg.Tensor]:
    """Load the tensors that `save` wrote, by name; nothing in the file is executed."""
    with np.load(f, allow_pickle=False) as arrays:
        return {name: as_torch(mg.tensor(array)) for name, array in arrays.items()}


__getattr__ = face = Compat(
    "torch",
    "abs add all amax amin any argmax argmin bmm bool=bool_ broadcast_to cat ceil chunk clamp clip"
    " clone concat cos cumsum div double=float64 enable_grad eq erf exp flatten flip"
    " float=float32 float32 float64 floor floor_divide full_like ge gt inference_mode=no_grad"
    " int=int32 int32 int64 is_grad_enabled isnan le linspace log log1p log_softmax logical_and"
    " logical_not logical_or logical_xor logsumexp long=int64 lt manual_seed masked_fill matmul"
    " maximum mean minimum mm mul multiply ne neg negative no_grad numel ones_like outer permute"
    " pow prod relu reshape round set_grad_enabled sigmoid sign sin softmax sqrt square stack"
    " std sub subtract sum swapaxes t tanh tile transpose unbind unsqueeze var where zeros_like",
    calls={
        "allclose(a, b, rtol=1e-05, atol=1e-08)": (
            "bool(np.allclose(a.detach().numpy(), b.detach().numpy(), rtol, atol))"
        ),
        "arange(*bounds, dtype=None)": "mg.arange(*bounds, dtype=dtype)",
        "as_tensor(data, dtype=None)": "data if is_tensor(data) else mg.tensor(data, dtype=dtype)",
        "argsort(x, dim=-1, descending=False)": "sort(x, dim, descending).indices",
        "bernoulli(x)": "mg.cast(mg.rand(*x.shape) < x, x.dtype)",
        "broadcast_tensors(*tensors)": (
            "tuple(mg.broadcast_to(x, np.broadcast_shapes(*[x.shape for x in tensors]))"
            " for x in tensors)"
        ),
        "compile(model=None, **options)": "compile_model(model)",
        "device(type, index=None)": "on_cpu(type, type)",
        "equal(a, b)": "a.shape == b.shape and bool(mg.all(mg.equal(a, b)))",
        "dot(a, b)": "mg.sum(a * b)",
        f"empty(*size, {MADE})": f"on_cpu(mg.zeros(*size, {LIKE_US}), device)",
        "eye(n, m=None, *, dtype=mg.float32)": "mg.eye(n, m, dtype)",
        "from_numpy(array)": "mg.tensor(array)",
        f"full(size, fill_value, *, {MADE.replace('mg.float32', 'None')})": (
            "on_cpu(mg.full(size, fill_value, dtype, requires_grad), device)"
        ),
        "gather(x, dim, index)": "mg.gather(x, index, dim)",
        "get_num_threads()": "mg.get_num_threads() or 1",  # a number in any case
        "hstack(tensors)": "mg.concatenate(tensors, 1 if tensors[0].ndim > 1 else 0)",
        "is_tensor(x)": "is_tensor(x)",
        "isfinite(x)": "mg.abs(x) < np.inf",
        "isinf(x)": "mg.equal(mg.abs(x), np.inf)",
        "norm(x, dim=None)": "ops.corners.root(mg.sum(mg.square(x), axis=dim))",
        f"ones(*size, {MADE})": f"on_cpu(mg.ones(*size, {LIKE_US}), device)",
        f"rand(*size, {MADE})": f"on_cpu(mg.rand(*size, {LIKE_US}), device)",
        f"randn(*size, {MADE})": f"on_cpu(mg.randn(*size, {LIKE_US}), device)",
        "rand_like(x)": "mg.rand(*x.shape)",
        "randn_like(x)": "mg.randn(*x.shape)",
        "randperm(n)": "sort(mg.rand(n)).indices",
        "split(x, split_size_or_sections, dim=0)": (
            "mg.split(x, axis=dim, **parts(split_size_or_sections))"
        ),
        "squeeze(x, dim=None)": "mg.squeeze(x, dim) if dim is None or x.shape[dim] == 1 else x",
        "take(x, index)": "mg.take(x.flatten(), index)",
        "tensor(data, *, dtype=None, requires_grad=False, device='cpu')": (
            "on_cpu(mg.tensor(data, requires_grad, dtype), device)"
        ),
        "tril(x)": "mg.where(np.tril(np.ones(x.shape, bool)), x, 0)",
        "triu(x)": "mg.where(np.triu(np.ones(x.shape, bool)), x, 0)",
        "vstack(tensors)": (
            "mg.concatenate([mg.reshape(x, (-1, x.shape[-1])) for x in tensors], 0)"
        ),
        f"zeros(*size, {MADE})": f"on_cpu(mg.zeros(*size, {LIKE_US}), device)",
    },
    lacks={
        "torch.jit.trace(f, x)": "export fx",
        "graph.save(path)": "onnx",
        "torch.save(model.state_dict(), path)": "save",
        "torch.stack([f(x) for x in xs])": "vmap",
    },
    around=returns_torch,
    compile_model=compile_model,
    is_tensor=lambda x: isinstance(x, mg.Tensor),
    np=np,
    ops=ops,
    sort=sort,
)
__dir__ = face.names

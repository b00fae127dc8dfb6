"""What every operator is called in PyTorch and in JAX, or why it has no counterpart there.

A row is `name: (PyTorch, JAX)`. The functions take the operands in the order of the record, and
its attributes by name.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import torch
import torch.nn.functional as F
from jax import lax

jax.config.update("jax_enable_x64", True)

Function = Callable[..., Any]
Axis = int | Sequence[int] | None


# ---- Attributes in the other words ----------------------------------------------------------


def dims(x: Any, axis: Axis) -> tuple[int, ...]:
    """All axes for None, as a tuple otherwise."""
    return tuple(range(x.ndim)) if axis is None else (axis,) if isinstance(axis, int) else (*axis,)


def reduction(t: Function, j: Function) -> tuple[Function, Function]:
    return (
        lambda x, axis=None, keepdims=False: t(x, dim=dims(x, axis), keepdim=keepdims),
        lambda x, axis=None, keepdims=False: j(x, axis=dims(x, axis), keepdims=keepdims),
    )


def position(t: Function, j: Function) -> tuple[Function, Function]:
    return (
        lambda x, axis=None, keepdims=False: t(x, dim=axis, keepdim=keepdims),
        lambda x, axis=None, keepdims=False: j(x, axis=axis, keepdims=keepdims),
    )


def along(t: Function, j: Function) -> tuple[Function, Function]:
    return lambda x, axis=-1: t(x, dim=axis), lambda x, axis=-1: j(x, axis=axis)


def torch_dtype(dtype: Any) -> torch.dtype:
    return torch.from_numpy(np.empty(0, dtype)).dtype


def torch_key(key: Sequence[Any]) -> tuple[Any, ...]:
    """A slice of the record as Python writes it."""
    return tuple(
        slice(*item) if isinstance(item, tuple) else ... if item == "..." else item for item in key
    )


def turned(x: torch.Tensor, key: Sequence[Any]) -> torch.Tensor:
    """x[key], also with negative steps, which PyTorch does not have."""
    positions = torch.arange(x.numel()).reshape(x.shape).numpy()[torch_key(key)]
    return x.reshape(-1)[torch.from_numpy(np.array(positions))]


def pull_torch(f: Function, x: torch.Tensor, g: torch.Tensor) -> torch.Tensor:
    """The gradient of f at x, weighed with g, itself differentiable."""
    at = x if x.requires_grad else x.detach().requires_grad_()
    return torch.autograd.grad(f(at), at, g, create_graph=True)[0]


def pull_jax(f: Function, x: Any, g: Any) -> Any:
    return jax.vjp(f, x)[1](g)[0]


def zeros(x: Any) -> Any:
    """Where only the shape of an operand is read, its data must not matter."""
    return torch.zeros_like(x) if isinstance(x, torch.Tensor) else jnp.zeros_like(x)


# ---- Images ---------------------------------------------------------------------------------


def pair(value: Any) -> tuple[int, int]:
    return (value, value) if isinstance(value, int) else tuple(value)


def conv_torch(x: Any, w: Any, stride: Any = 1, padding: Any = 0, groups: int = 1) -> Any:
    if padding != "same":
        return F.conv2d(x, w, stride=stride, padding=padding, groups=groups)
    (height, width), halves = w.shape[2:], [(n - 1) // 2 for n in w.shape[2:]]
    frame = (halves[1], width - 1 - halves[1], halves[0], height - 1 - halves[0])
    padded = F.pad(x, frame)
    return F.conv2d(
        padded, w, stride=stride, groups=groups
    )  # PyTorch's "same", which warns of a copy


def conv_jax(x: Any, w: Any, stride: Any = 1, padding: Any = 0, groups: int = 1) -> Any:
    pads = padding.upper() if isinstance(padding, str) else [(n, n) for n in pair(padding)]
    return lax.conv_general_dilated(x, w, pair(stride), pads, feature_group_count=groups)


def max_torch(x: Any, kernel_size: Any, stride: Any = None, padding: Any = 0) -> Any:
    return F.max_pool2d(x, kernel_size, stride, padding)


def picked(h: Any, y: Any, x: Any, **attrs: Any) -> Any:
    """The elements of h where the windows of x are largest."""
    _, at = F.max_pool2d(
        x, attrs["kernel_size"], attrs.get("stride"), attrs.get("padding", 0), return_indices=True
    )
    return torch.gather(h.flatten(2), 2, at.flatten(2)).reshape(at.shape)


def avg_torch(x: Any, kernel_size: Any, stride: Any = None, padding: Any = 0) -> Any:
    return F.avg_pool2d(x, kernel_size, stride, padding)


def windowed(x: Any, start: Any, join: Any, attrs: dict[str, Any]) -> Any:
    size = pair(attrs["kernel_size"])
    stride = attrs.get("stride")
    steps = size if stride is None else pair(stride)
    pads = [(n, n) for n in pair(attrs.get("padding", 0))]
    return lax.reduce_window(x, start, join, (1, 1, *size), (1, 1, *steps), [(0, 0)] * 2 + pads)


def max_jax(x: Any, **attrs: Any) -> Any:
    return windowed(x, -np.inf, lax.max, attrs)


def avg_jax(x: Any, **attrs: Any) -> Any:
    height, width = pair(attrs["kernel_size"])
    return windowed(x, 0.0, lax.add, attrs) / (height * width)


# ---- Other operators that need a few words ----------------------------------------------------


def normalize_torch(x: Any, axis: Axis = -1, eps: float = 1e-5) -> Any:
    centred = x - x.mean(dims(x, axis), keepdim=True)
    variance = (centred * centred).mean(dims(x, axis), keepdim=True)
    return centred / torch.sqrt(variance + eps)


def normalize_jax(x: Any, axis: Axis = -1, eps: float = 1e-5) -> Any:
    variance = x.var(dims(x, axis), keepdims=True)
    return (x - x.mean(dims(x, axis), keepdims=True)) / jnp.sqrt(variance + eps)


def spread_out(g: Any, x: Any, axis: Axis = (), keepdims: bool = True) -> Any:
    """The gradient of a sum, in either framework."""
    if not keepdims:
        for i in sorted(a % x.ndim for a in dims(x, axis)):
            g = g[(slice(None),) * i + (None,)]
    return g.expand(x.shape) if isinstance(g, torch.Tensor) else jnp.broadcast_to(g, x.shape)


def sum_like_jax(g: Any, x: Any) -> Any:
    return pull_jax(lambda z: jnp.broadcast_to(z, g.shape), zeros(x), g)


def others_torch(x: Any, axis: int = 0) -> Any:
    rows = [
        torch.cat([x.narrow(axis, 0, i), x.narrow(axis, i + 1, x.shape[axis] - i - 1)], axis)
        for i in range(x.shape[axis])
    ]
    return torch.stack([torch.prod(row, axis) for row in rows], axis)


def others_jax(x: Any, axis: int = 0) -> Any:
    rows = [jnp.delete(x, i, axis) for i in range(x.shape[axis])]
    return jnp.stack([jnp.prod(row, axis) for row in rows], axis)


def cumsum_torch(x: Any, axis: int = 0, reverse: bool = False) -> Any:
    turn = (lambda z: torch.flip(z, (axis,))) if reverse else (lambda z: z)
    return turn(torch.cumsum(turn(x), dim=axis))


def matmul(product: Function) -> Function:
    def call(a: Any, b: Any, transpose_a: bool = False, transpose_b: bool = False) -> Any:
        a = a.swapaxes(-1, -2) if transpose_a and a.ndim > 1 else a
        b = b.swapaxes(-1, -2) if transpose_b and b.ndim > 1 else b
        return product(a, b)

    return call


def cross_entropy_jax(x: Any, labels: Any) -> Any:
    rows = jnp.take_along_axis(jax.nn.log_softmax(x), labels[..., None], axis=-1)
    return -rows[..., 0]


def cross_entropy_torch(x: Any, labels: Any) -> Any:
    rows = F.cross_entropy(x.reshape(-1, x.shape[-1]), labels.reshape(-1), reduction="none")
    return rows.reshape(labels.shape)


def above_labels_torch(g: Any, x: Any, labels: Any) -> Any:
    return (torch.softmax(x, -1) - F.one_hot(labels, x.shape[-1]).to(x.dtype)) * g[..., None]


def above_labels_jax(g: Any, x: Any, labels: Any) -> Any:
    hot = jax.nn.one_hot(labels, x.shape[-1], dtype=x.dtype)
    return (jax.nn.softmax(x) - hot) * g[..., None]


def shares(a: Any, b: Any) -> Any:
    return ((a > b) * 1.0 + (a >= b) * 1.0).to(torch.result_type(a, b)) / 2


def share_of_extreme(x: Any, y: Any, axis: Axis = None, keepdims: bool = False) -> Any:
    hit = (x == spread_out(y, x, axis, keepdims)).to(x.dtype)
    return hit / hit.sum(dims(x, axis), keepdim=True)


def inside(x: Any, low: Any = None, high: Any = None) -> Any:
    above = True if low is None else x >= low
    below = True if high is None else x <= high
    return torch.ones_like(x) * above * below


def clip_torch(x: Any, low: Any = None, high: Any = None) -> Any:
    return x.clone() if low is None and high is None else torch.clamp(x, low, high)


def squeeze_torch(x: Any, axis: Axis = None) -> Any:
    return torch.squeeze(x) if axis is None else torch.squeeze(x, dims(x, axis))


def pad_torch(x: Any, widths: Any, value: float = 0.0) -> Any:
    flat = [n for before_after in reversed(widths) for n in before_after]
    return F.pad(x, flat, value=value)


def full_torch(x: Any, value: Any, dtype: Any = None) -> Any:
    return torch.full_like(x, value, dtype=torch_dtype(dtype) if dtype else None)


def lead(axis: int, x: Any) -> tuple[Any, ...]:
    return (slice(None),) * (axis % x.ndim)


def take(x: Any, *indices: Any, axis: int = 0) -> Any:
    return x[(*lead(axis, x), *indices)]


def add_at_torch(g: Any, x: Any, *indices: Any, axis: int = 0) -> Any:
    return pull_torch(lambda z: take(z, *indices, axis=axis), zeros(x), g)


def add_at_jax(g: Any, x: Any, *indices: Any, axis: int = 0) -> Any:
    return jnp.zeros_like(x).at[(*lead(axis, x), *indices)].add(g)


def piece(g: Any, *xs: Any, index: int, axis: int = 0) -> Any:
    start = sum(x.shape[axis] for x in xs[:index])
    return g[(*lead(axis, g), slice(start, start + xs[index].shape[axis]))]


def put_slice_torch(x: Any, v: Any, key: Any) -> Any:
    """By the numbers of the elements, as negative steps are unknown to PyTorch."""
    at = np.arange(x.numel()).reshape(x.shape)[torch_key(key)]
    return put_torch(x, v, torch.from_numpy(np.array(at)))


def put_torch(x: Any, v: Any, positions: Any) -> Any:
    value = v.expand(positions.shape).reshape(-1)
    return x.reshape(-1).index_put((positions.reshape(-1),), value).reshape(x.shape)


def pick_rows(*xs: Any, rows: Any, where: Any = None, apart: bool = False) -> Any:
    if isinstance(rows[0], int):
        return xs[0][rows[0]]
    picked = torch.cat([x[torch.tensor(r)] for x, r in zip(xs, rows, strict=True)])
    if where is None:
        return picked
    order = torch.cat([torch.tensor(w) for w in where])
    return torch.zeros_like(picked).index_put((order,), picked)


def put_rows(x: Any, *gs: Any, rows: Any) -> Any:
    result = torch.zeros_like(x, dtype=gs[0].dtype)
    for g, r in zip(gs, rows, strict=True):
        result = result.index_put((torch.tensor(r),), g, accumulate=True)
    return result


def gather_jax(x: Any, indices: Any, axis: int) -> Any:
    """take_along_axis, where the other axes of the positions may be shorter."""
    cut = tuple(
        slice(n) if i != axis % x.ndim else slice(None) for i, n in enumerate(indices.shape)
    )
    return jnp.take_along_axis(x[cut], indices, axis=axis)


def scatter_jax(g: Any, x: Any, indices: Any, axis: int) -> Any:
    return pull_jax(lambda z: gather_jax(z, indices, axis), zeros(x), g)


# ---- The table ------------------------------------------------------------------------------

PEERS: dict[str, tuple[Function, Function | None]] = {
    # arithmetic
    "Add": (torch.add, jnp.add),
    "Sub": (torch.sub, jnp.subtract),
    "Mul": (torch.mul, jnp.multiply),
    "Div": (torch.div, jnp.true_divide),
    "Neg": (torch.neg, jnp.negative),
    "Pow": (torch.pow, jnp.power),
    "FloorDivide": (torch.floor_divide, jnp.floor_divide),
    "Mod": (torch.remainder, jnp.remainder),
    "Exp": (torch.exp, jnp.exp),
    "Log": (torch.log, jnp.log),
    "Log1p": (torch.log1p, jnp.log1p),
    "Sqrt": (torch.sqrt, jnp.sqrt),
    "Sin": (torch.sin, jnp.sin),
    "Cos": (torch.cos, jnp.cos),
    "Sign": (torch.sign, jnp.sign),
    "Abs": (torch.abs, jnp.abs),
    "Atan": (torch.atan, jnp.arctan),
    "Floor": (torch.floor, jnp.floor),
    "Ceil": (torch.ceil, jnp.ceil),
    "Round": (torch.round, jnp.round),
    "Maximum": (torch.maximum, jnp.maximum),
    "Minimum": (torch.minimum, jnp.minimum),
    "Clip": (clip_torch, lambda x, low=None, high=None: jnp.clip(x, low, high)),
    "Cast": (lambda x, dtype: x.to(torch_dtype(dtype)), lambda x, dtype: x.astype(dtype)),
    # activations
    "Tanh": (torch.tanh, jnp.tanh),
    "Sigmoid": (torch.sigmoid, jax.nn.sigmoid),
    "ReLU": (torch.relu, jax.nn.relu),
    "Step": (lambda x: torch.heaviside(x, torch.zeros_like(x)), lambda x: jnp.heaviside(x, 0.0)),
    "Softplus": (F.softplus, jax.nn.softplus),
    "Erf": (torch.erf, lax.erf),
    "GELU": (F.gelu, lambda x, approximate="none": jax.nn.gelu(x, approximate == "tanh")),
    # truth
    "Equal": (torch.eq, jnp.equal),
    "NotEqual": (torch.ne, jnp.not_equal),
    "Less": (torch.lt, jnp.less),
    "LessEqual": (torch.le, jnp.less_equal),
    "Greater": (torch.gt, jnp.greater),
    "GreaterEqual": (torch.ge, jnp.greater_equal),
    "And": (torch.logical_and, jnp.logical_and),
    "Or": (torch.logical_or, jnp.logical_or),
    "Xor": (torch.logical_xor, jnp.logical_xor),
    "Not": (torch.logical_not, jnp.logical_not),
    "IsNaN": (torch.isnan, jnp.isnan),
    "Where": (torch.where, jnp.where),
    # along axes
    "Sum": reduction(torch.sum, jnp.sum),
    "Mean": reduction(torch.mean, jnp.mean),
    "Max": reduction(torch.amax, jnp.max),
    "Min": reduction(torch.amin, jnp.min),
    "All": reduction(torch.all, jnp.all),
    "Any": reduction(torch.any, jnp.any),
    "LogSumExp": reduction(torch.logsumexp, jax.nn.logsumexp),
    "ArgMax": position(torch.argmax, jnp.argmax),
    "ArgMin": position(torch.argmin, jnp.argmin),
    "Prod": (
        lambda x, axis=0, keepdims=False: torch.prod(x, axis, keepdims),
        lambda x, axis=0, keepdims=False: jnp.prod(x, axis, keepdims=keepdims),
    ),
    "ProdOfOthers": (others_torch, others_jax),
    "ArgSort": (
        lambda x, axis=-1, descending=False: torch.argsort(
            x, dim=axis, descending=descending, stable=True
        ),
        lambda x, axis=-1, descending=False: jnp.argsort(x, axis=axis, descending=descending),
    ),
    "CumSum": (
        cumsum_torch,
        lambda x, axis=0, reverse=False: lax.cumsum(x, axis % x.ndim, reverse),
    ),
    "Softmax": along(torch.softmax, jax.nn.softmax),
    "LogSoftmax": along(torch.log_softmax, jax.nn.log_softmax),
    "Normalize": (normalize_torch, normalize_jax),
    "BinaryCrossEntropy": (
        lambda p, t: F.binary_cross_entropy(*torch.broadcast_tensors(p, t), reduction="none"),
        None,
    ),
    "SoftmaxCrossEntropy": (cross_entropy_torch, cross_entropy_jax),
    "SoftmaxCrossEntropyGradient": (above_labels_torch, above_labels_jax),
    "OneHot": (
        lambda labels, x: F.one_hot(labels, x.shape[-1]).to(x.dtype),
        lambda labels, x: jax.nn.one_hot(labels, x.shape[-1], dtype=x.dtype),
    ),
    # shape
    "Reshape": (lambda x, shape: x.reshape(shape), lambda x, shape: x.reshape(shape)),
    "ReshapeLike": (lambda g, x: g.reshape(x.shape), lambda g, x: g.reshape(x.shape)),
    "Transpose": (
        lambda x, axes=None: x.permute(axes or tuple(reversed(range(x.ndim)))),
        lambda x, axes=None: jnp.transpose(x, axes),
    ),
    "BroadcastLike": (spread_out, spread_out),
    "SumLike": (lambda g, x: g.sum_to_size(x.shape), sum_like_jax),
    "BroadcastTo": (lambda x, shape: x.expand(shape), None),
    "ExpandDims": (
        lambda x, axis: torch.unsqueeze(x, axis),
        lambda x, axis: jnp.expand_dims(x, axis),
    ),
    "Squeeze": (squeeze_torch, lambda x, axis=None: jnp.squeeze(x, axis)),
    "Concatenate": (
        lambda *xs, axis=0: torch.cat(xs, dim=axis),
        lambda *xs, axis=0: jnp.concatenate(xs, axis=axis),
    ),
    "Piece": (piece, piece),
    "Stack": (
        lambda *xs, axis=0: torch.stack(xs, dim=axis),
        lambda *xs, axis=0: jnp.stack(xs, axis=axis),
    ),
    "Pad": (
        pad_torch,
        lambda x, widths, value=0.0: jnp.pad(x, widths, constant_values=value),
    ),
    "FullLike": (full_torch, lambda x, value, dtype=None: jnp.full_like(x, value, dtype=dtype)),
    # positions
    "Slice": (lambda x, key: turned(x, key), lambda x, key: x[torch_key(key)]),
    "Unslice": (
        lambda g, x, key: pull_torch(lambda z: turned(z, key), zeros(x), g),
        lambda g, x, key: jnp.zeros_like(x).at[torch_key(key)].set(g),
    ),
    "Take": (take, take),
    "PutSlice": (put_slice_torch, lambda x, v, key: x.at[torch_key(key)].set(v)),
    "Put": (put_torch, lambda x, v, i: x.ravel().at[i].set(v).reshape(x.shape)),
    "PickRows": (pick_rows, None),
    "PutRows": (put_rows, None),
    "AddAt": (add_at_torch, add_at_jax),
    "Gather": (lambda x, i, axis: torch.gather(x, axis, i), gather_jax),
    "ScatterAdd": (lambda g, x, i, axis: torch.zeros_like(x).scatter_add(axis, i, g), scatter_jax),
    # matrices and images
    "MatMul": (matmul(torch.matmul), matmul(jnp.matmul)),
    "MatMulLeft": (
        lambda g, a, b, **f: pull_torch(lambda z: matmul(torch.matmul)(z, b, **f), zeros(a), g),
        lambda g, a, b, **f: pull_jax(lambda z: matmul(jnp.matmul)(z, b, **f), zeros(a), g),
    ),
    "MatMulRight": (
        lambda g, a, b, **f: pull_torch(lambda z: matmul(torch.matmul)(a, z, **f), zeros(b), g),
        lambda g, a, b, **f: pull_jax(lambda z: matmul(jnp.matmul)(a, z, **f), zeros(b), g),
    ),
    "Conv2d": (conv_torch, conv_jax),
    "Conv2dInput": (
        lambda g, w, x, **a: pull_torch(lambda z: conv_torch(z, w, **a), zeros(x), g),
        lambda g, w, x, **a: pull_jax(lambda z: conv_jax(z, w, **a), zeros(x), g),
    ),
    "Conv2dWeight": (
        lambda g, x, w, **a: pull_torch(lambda z: conv_torch(x, z, **a), zeros(w), g),
        lambda g, x, w, **a: pull_jax(lambda z: conv_jax(x, z, **a), zeros(w), g),
    ),
    "MaxPool2d": (max_torch, max_jax),
    "AvgPool2d": (avg_torch, avg_jax),
    "MaxPool2dInput": (
        lambda g, y, x, **a: pull_torch(lambda z: max_torch(z, **a), x, g),
        lambda g, y, x, **a: pull_jax(lambda z: max_jax(z, **a), x, g),
    ),
    "MaxPool2dPick": (picked, None),
    "AvgPool2dInput": (
        lambda g, x, **a: pull_torch(lambda z: avg_torch(z, **a), zeros(x), g),
        lambda g, x, **a: pull_jax(lambda z: avg_jax(z, **a), zeros(x), g),
    ),
    # what the gradient rules are made of
    "Identity": (lambda x: x.clone(), lambda x: x),
    "StopGradient": (lambda x: x.detach().clone(), lax.stop_gradient),
    "Count": (
        lambda x, y: torch.tensor(x.numel() / max(y.numel(), 1), dtype=x.dtype),
        lambda x, y: jnp.asarray(x.size / max(y.size, 1), x.dtype),
    ),
    "Within": (inside, None),
    "ShareOfMaximum": (shares, None),
    "ShareOfExtreme": (share_of_extreme, None),
}


# ---- Operators without a counterpart --------------------------------------------------------

EFFECT = "it keeps or changes state, or it is control flow: see test_oracle_control.py"
EXEMPT: dict[str, str] = {
    **dict.fromkeys(("Placeholder", "Variable", "Constant", "Assign", "Group"), EFFECT),
    **dict.fromkeys(("Initialize", "ReadValue", "RunCounter", "Output"), EFFECT),
    **dict.fromkeys(("Cond", "While", "Scan", "History"), EFFECT),
    "Print": "it hands its operand on, and what it writes is tested in test_control.py",
    "Assert": "it hands its operand on, or raises",
    "Fused": "it holds other operators, which are all compared: see test_passes_fusing.py",
    **dict.fromkeys(
        ("ReshapeBy", "BroadcastBy", "LengthsOf"),
        "elsewhere shapes are Python numbers: what they compute is tested in test_lengths.py",
    ),
    "Dropout": "each framework draws other numbers: only the share that is kept can be compared",
}

# What takes operands without elements here and not in PyTorch.
NEVER_EMPTY_IN_TORCH = {
    *("Conv2d", "Conv2dInput", "Conv2dWeight"),  # no kernels, or no channels
    *("MaxPool2d", "MaxPool2dInput", "MaxPool2dPick", "AvgPool2d", "AvgPool2dInput"),
}

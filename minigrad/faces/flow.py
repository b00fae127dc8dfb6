"""What TensorFlow 1 and TensorFlow 2 have in common: calls and image layout."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import minigrad as mg
from minigrad.faces import ties
from minigrad.faces.face import as_tuple
from minigrad.faces.ties import following, ops

# Where TensorFlow's own rules differ: of equal operands the first gets all; a negative base has no
# logarithm, and its exponent the gradient 0; a slope of 0 stays 0 where the root is 0; no gradient
# flows through what is rounded.
RULES: dict[Any, Any] = {
    **ties.FIRST,
    ops.pow: (
        lambda g, y, a, b: g * b * mg.pow(a, b - 1),
        lambda g, y, a, b: g * y * mg.log(mg.where(a > 0, a, 1)),
    ),
    ops.sqrt: (lambda g, y, x: mg.where(mg.equal(g, 0), 0, g / (2 * y)),),
    ops.floor: (None,),
    ops.ceil: (None,),
    ops.round: (None,),
    ops.floor_divide: (None, None),
}
FIRST, LAST = (0, 3, 1, 2), (0, 2, 3, 1)  # axes with channels first (here), and last (TensorFlow)


def gradients(ys: Any, xs: Any, grad_ys: Any = None) -> Any:
    """Return the gradients of nodes, by TensorFlow's rules."""
    with following(RULES):
        return mg.gradients(ys, xs, grad_ys)


def default_dtype(value: Any) -> Any:
    """Return int32 for Python integers, or None (minigrad's own choice) for anything else."""
    whole = not hasattr(value, "dtype") and np.asarray(value).dtype.kind == "i"
    return mg.int32 if whole else None


def stack_list(x: Any) -> Any:
    """Stack a list that holds nodes or tensors; return anything else unchanged."""
    values = (mg.Node, mg.Tensor)
    inside = isinstance(x, (list, tuple)) and any(isinstance(item, values) for item in x)
    return mg.stack(x) if inside else x


def split(value: Any, num_or_size_splits: Any, axis: int = 0) -> list[Any]:
    """Split into this number of equal parts, or into parts of these lengths."""
    if isinstance(num_or_size_splits, int):
        return mg.split(value, axis=axis, sections=num_or_size_splits)
    return mg.split(value, num_or_size_splits, axis)


def run_while(
    cond: Callable[..., Any],
    body: Callable[..., Any],
    loop_vars: Sequence[Any],
    max_steps: int | None,
) -> tuple[Any, ...]:
    """Run a while loop that passes each variable separately; return their final values."""
    first, *more = loop_vars
    if more:
        step = lambda *values: tuple(body(*values))  # noqa: E731
        return tuple(mg.while_loop(cond, step, tuple(loop_vars), max_steps))
    return (mg.while_loop(cond, lambda x: as_tuple(body(x))[0], first, max_steps),)


def conv2d(x: Any, filters: Any, strides: Sequence[int] | int = 1, padding: str = "VALID") -> Any:
    """Convolve (batch, height, width, channels) with filters (height, width, in, out)."""
    kernel = mg.transpose(filters, (3, 2, 0, 1))
    y = mg.conv2d(
        mg.transpose(x, FIRST), kernel, stride=height_width(strides), padding=padding.lower()
    )
    return mg.transpose(y, LAST)


def max_pool(x: Any, ksize: Sequence[int] | int, strides: Sequence[int] | int) -> Any:
    """Return the maximum of each full window of (batch, height, width, channels)."""
    y = mg.max_pool2d(mg.transpose(x, FIRST), height_width(ksize), height_width(strides))
    return mg.transpose(y, LAST)


def height_width(lengths: Sequence[int] | int) -> Any:
    """Return (height, width) of (1, height, width, 1); shorter forms stay unchanged."""
    return lengths if isinstance(lengths, int) else tuple(lengths)[-3:-1] or lengths


UNARY = "abs ceil cos erf exp floor log log1p logical_not negative round sigmoid sign sin sqrt"
UNARY += " square tanh"
BINARY = "add divide equal greater greater_equal less less_equal logical_and logical_or maximum"
BINARY += " minimum multiply not_equal pow subtract"
REDUCED = "x, axis=None, keepdims=False"
SHAPED = "shape, dtype=mg.float32"

MATHS = {
    **{f"{f}(x)": f"mg.{f}(x)" for f in UNARY.split()},
    **{f"{f}(a, b)": f"mg.{f}(a, b)" for f in BINARY.split()},
    **{
        f"reduce_{f}({REDUCED})": f"mg.{f}(x, axis=axis, keepdims=keepdims)"
        for f in ["all", "any", "logsumexp", "max", "mean", "min", "prod", "sum"]
    },
    "add_n(inputs)": "mg.sum(mg.stack(inputs), axis=0)",
    "argmax(input, axis=0)": "mg.argmax(input, axis)",
    "argmin(input, axis=0)": "mg.argmin(input, axis)",
}
CALLS = MATHS | {
    "cast(x, dtype)": "mg.cast(x, dtype)",
    "clip_by_value(x, min, max)": "mg.clip(x, min, max)",
    "concat(values, axis)": "mg.concatenate(values, axis)",
    "expand_dims(x, axis)": "mg.expand_dims(x, axis)",
    "eye(n, m=None)": "mg.eye(n, m)",
    "fill(dims, value)": "mg.full(tuple(dims), value)",
    "gather(params, indices, axis=0)": "mg.take(params, stack_list(indices), axis)",
    "identity(x)": "mg.clone(x)",
    "linspace(start, stop, num)": "mg.linspace(start, stop, num)",
    "matmul(a, b, transpose_a=False, transpose_b=False)": (
        "mg.matmul(a, b, transpose_a, transpose_b)"
    ),
    "one_hot(indices, depth)": "mg.one_hot(indices, depth)",
    "ones_like(x)": "mg.ones_like(x)",
    f"ones({SHAPED})": "mg.ones(shape, dtype=dtype)",
    "range(*bounds, dtype=None)": "mg.arange(*bounds, dtype=dtype or default_dtype(bounds))",
    "reshape(x, shape)": "mg.reshape(x, shape)",
    "squeeze(x, axis=None)": "mg.squeeze(x, axis)",
    "stack(values, axis=0)": "mg.stack(values, axis)",
    "tile(x, multiples)": "mg.tile(x, multiples)",
    "transpose(x, perm=None)": "mg.transpose(x, perm)",
    "where(condition, x=None, y=None)": "mg.where(condition, x, y)",
    "zeros_like(x)": "mg.zeros_like(x)",
    f"zeros({SHAPED})": "mg.zeros(shape, dtype=dtype)",
}
LOOPS = {
    "map_fn(fn, elems)": "mg.scan(lambda none, x: (none, fn(x)), 0.0, elems)[1]",
    "scan(fn, elems, initializer)": (
        "mg.scan(lambda carry, x: (fn(carry, x),) * 2, initializer, elems)[1]"
    ),
    "unstack(x, axis=0)": "mg.unbind(x, axis)",
}
ENTROPY = "-mg.sum(labels * mg.log_softmax(logits), axis=-1)"
NN = "bias_add=add embedding_lookup=embedding relu sigmoid softmax log_softmax softplus tanh"
NN_CALLS = {
    "sigmoid_cross_entropy_with_logits(labels, logits)": "mg.softplus(logits) - logits * labels",
    "softmax_cross_entropy_with_logits(labels, logits)": ENTROPY,
    # not a product with one-hot labels: 0 times the logarithm of 0 is NaN
    "sparse_softmax_cross_entropy_with_logits(labels, logits)": (
        "-mg.squeeze(mg.gather(mg.log_softmax(logits), mg.expand_dims(labels, -1), -1), -1)"
    ),
}


def unary_calls(names: str) -> dict[str, str]:
    """Return a table of one-operand calls from names, written as relu or theirs=ours."""
    pairs = (name.partition("=") for name in names.split())
    return {
        f"{theirs}(x, *more, **named)": f"mg.{ours or theirs}(x, *more, **named)"
        for theirs, _, ours in pairs
    }

"""Matrix products."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from minigrad.core import (
    Array,
    Dim,
    Op,
    Sample,
    Shape,
    broadcast_shapes,
    into,
    operator,
    show_shapes,
)
from minigrad.diagnostics.errors import ShapeError
from minigrad.ops.arrange import expand_dims
from minigrad.ops.shape import sum_like, transpose

__all__ = ["matmul", "matmul_left", "matmul_right"]


def _matmul_shape(
    a: Shape, b: Shape, transpose_a: bool = False, transpose_b: bool = False
) -> Shape:
    for s in (a, b):
        if not s:
            raise ShapeError("rank", op="MatMul", expected="1 axis or more", shape=())
    a_flip, b_flip = transpose_a and len(a) > 1, transpose_b and len(b) > 1
    rows, left = (a[-1], a[-2]) if a_flip else (a[-2] if len(a) > 1 else 1, a[-1])
    right, columns = (b[-1], b[-2]) if b_flip else (b[-2] if len(b) > 1 else b[0], b[-1])
    if left != right and not isinstance(left, Dim) and not isinstance(right, Dim):
        shapes = show_shapes(a, b)
        raise ShapeError("matmul", op="MatMul", shapes=shapes, left=left, right=right)
    batch = broadcast_shapes("MatMul", a[:-2], b[:-2])
    return (*batch, *((rows,) if len(a) > 1 else ()), *((columns,) if len(b) > 1 else ()))


def _flip(x: Array, flip: bool) -> Array:
    return x.swapaxes(-1, -2) if flip and x.ndim > 1 else x


def _materialize(x: Array) -> Array:
    """Copy repeated rows or columns: with such views NumPy bypasses BLAS and rounds otherwise."""
    return np.ascontiguousarray(x) if 0 in x.strides[-2:] else x


def _matmul(
    out: Array, a: Array, b: Array, transpose_a: bool = False, transpose_b: bool = False
) -> Array:
    if not 0 < a.ndim < 3 or not 0 < b.ndim < 3:  # dot would multiply by a single number
        a, b = _materialize(_flip(a, transpose_a)), _materialize(_flip(b, transpose_b))
        return np.matmul(a, b) if out is None else np.matmul(a, b, out=out)
    if transpose_a:
        a = a.T  # of a vector: itself
    if transpose_b:
        b = b.T
    if out is None:
        return a.dot(b)  # a third of the time of matmul on small matrices, a fifth for a column
    if out.ndim and out.flags.c_contiguous:
        return np.dot(a, b, out)
    return into(out, a.dot(b))


def _gradient_a(
    g: Any, y: Any, a: Any, b: Any, transpose_a: bool = False, transpose_b: bool = False
) -> Any:
    """Build da = g bᵀ; a vector is a matrix with one row (left) or one column (right)."""
    if a.shape is None or b.shape is None:
        return matmul_left(g, a, b, **flags_up(transpose_a, transpose_b))
    if b.ndim == 1:
        grad = _column(g) * b if a.ndim > 1 else g * b
        return _swap(grad) if transpose_a and a.ndim > 1 else grad
    if a.ndim == 1:
        return matmul(_row(g) if b.ndim > 2 else g, b, transpose_b=not transpose_b)
    if transpose_a:
        return matmul(b, g, transpose_a=transpose_b, transpose_b=True)
    return matmul(g, b, transpose_b=not transpose_b)


def _gradient_b(
    g: Any, y: Any, a: Any, b: Any, transpose_a: bool = False, transpose_b: bool = False
) -> Any:
    """Build db = aᵀ g."""
    if a.shape is None or b.shape is None:
        return matmul_right(g, a, b, **flags_up(transpose_a, transpose_b))
    if b.ndim == 1:
        if a.ndim == 1:
            return g * a
        if a.ndim > 2:
            return matmul(_column(g), a, transpose_a=True, transpose_b=transpose_a)
        return matmul(a, g, transpose_a=not transpose_a)
    if a.ndim == 1:
        return _column(g) * a if transpose_b else _column(a) * _row(g)
    if transpose_b:
        return matmul(g, a, transpose_a=True, transpose_b=transpose_a)
    return matmul(a, g, transpose_a=not transpose_a)


def flags_up(transpose_a: bool, transpose_b: bool) -> dict[str, bool]:
    """Return the flags that are set; leave the others out, as in a @ b."""
    flags = {"transpose_a": transpose_a, "transpose_b": transpose_b}
    return {name: True for name, up in flags.items() if up}


def _column(x: Any) -> Any:
    return expand_dims(x, axis=-1)


def _row(x: Any) -> Any:
    return expand_dims(x, axis=-2)


def _swap(x: Any) -> Any:
    return transpose(x, axes=(*range(x.ndim - 2), x.ndim - 1, x.ndim - 2))


def _count_products(y: tuple[int, ...], a: tuple[int, ...], b: tuple[int, ...]) -> int:
    """Count the multiplications: for each element of the result, the length of the summed axis."""
    if len(a) == 1:
        return math.prod(y) * a[0]
    rows = y[-1] if len(b) == 1 else y[-2]  # the axis of `a` that stays
    return math.prod(y) * (a[-1] if a[-2] == rows else a[-2])


SAMPLES = (
    Sample([(2, 3), (3, 4)]),
    Sample([(2, 3), (3,)]),
    Sample([(3,), (3, 4)]),
    Sample([(3,), (3,)]),
    Sample([(5, 2, 3), (3, 4)]),
    Sample([(2, 3), (5, 3, 4)]),
    Sample([(5, 2, 3), (3,)]),
    Sample([(3,), (5, 3, 4)]),
    Sample([(3, 2), (3, 4)], {"transpose_a": True}),
    Sample([(2, 3), (4, 3)], {"transpose_b": True}),
    Sample([(3, 2), (4, 3)], {"transpose_a": True, "transpose_b": True}),
    Sample([(3, 2), (3,)], {"transpose_a": True}),
    Sample([(3,), (4, 3)], {"transpose_b": True}),
)

matmul: Op = operator(
    "MatMul",
    shape=_matmul_shape,
    run=_matmul,
    vjp=(_gradient_a, _gradient_b),
    broadcasts=True,
    products=_count_products,
    title=("matrix product", "矩阵乘法"),
    formula="{0} @ {1}",
    samples=SAMPLES,
)


# ---- Gradients of operands whose number of axes is known in the run only ------------------------
#
# Σ g · (a @ b) is linear in each of g, a and b, and its derivatives are a product and these two. So
# the derivatives of these are again a product and these two.


def _rule_kernel(rule: Callable[..., Any], place: int) -> Callable[..., Array]:
    """Make a kernel that applies the rule to arrays and sums to the operand's shape."""

    def run(out: Array, g: Array, a: Any, b: Any, **flags: bool) -> Array:
        return sum_like.run(out, rule(g, None, a, b, **flags), (a, b)[place])

    return run


def _with_gradient(sample: Sample) -> Sample:
    a, b = sample.shapes
    g: Any = _matmul_shape(a, b, **sample.attrs)
    return Sample([g, a, b], sample.attrs)


def _matmul_gradient(name: str, rule: Callable[..., Any], place: int, **record: Any) -> Op:
    return operator(
        name,
        shape=lambda *shapes, transpose_a=False, transpose_b=False: shapes[1 + place],
        run=_rule_kernel(rule, place),
        dtype=lambda *dtypes: dtypes[0],
        inputs=None,
        shape_only=(1 + place,),
        samples=[*map(_with_gradient, SAMPLES)],
        **record,
    )


matmul_left: Op = _matmul_gradient(
    "MatMulLeft",
    _gradient_a,
    place=0,
    vjp=(
        lambda h, y, g, a, b, **flags: matmul(h, b, **flags),
        None,
        lambda h, y, g, a, b, **flags: matmul_right(g, h, b, **flags),
    ),
    title=("gradient of the left factor", "左因子的梯度"),
    formula="{0} @ {2}ᵀ",
)
matmul_right: Op = _matmul_gradient(
    "MatMulRight",
    _gradient_b,
    place=1,
    vjp=(
        lambda h, y, g, a, b, **flags: matmul(a, h, **flags),
        lambda h, y, g, a, b, **flags: matmul_left(g, a, h, **flags),
        None,
    ),
    title=("gradient of the right factor", "右因子的梯度"),
    formula="{1}ᵀ @ {0}",
)

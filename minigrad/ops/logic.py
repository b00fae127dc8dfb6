"""Operators that compare, combine truth values, and choose by them."""

from __future__ import annotations

import operator as py
from collections.abc import Callable
from typing import Any

import numpy as np

from minigrad.core import Array, Dtype, Op, Sample, always, bool_, into, promote
from minigrad.diagnostics.errors import DtypeError
from minigrad.ops.define import ANY, PAIRS, elementwise, infix

__all__ = [
    "equal",
    "greater",
    "greater_equal",
    "isnan",
    "less",
    "less_equal",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "not_equal",
    "where",
]


def _comparison(
    name: str, symbol: Callable[..., Any], ufunc: np.ufunc, title: tuple[str, str], sign: str
) -> Op:
    return infix(
        name,
        symbol,
        ufunc,
        vjp=(None, None),
        dtype=always(bool_),
        title=title,
        formula=f"{{0}} {sign} {{1}}",
        samples=PAIRS,
    )


equal = _comparison("Equal", py.eq, np.equal, ("equal", "等于"), "=")
not_equal = _comparison("NotEqual", py.ne, np.not_equal, ("not equal", "不等于"), "≠")
less = _comparison("Less", py.lt, np.less, ("less than", "小于"), "<")
less_equal = _comparison("LessEqual", py.le, np.less_equal, ("at most", "不大于"), "≤")
greater = _comparison("Greater", py.gt, np.greater, ("greater than", "大于"), ">")
greater_equal = _comparison("GreaterEqual", py.ge, np.greater_equal, ("at least", "不小于"), "≥")


def _logical(name: str, ufunc: np.ufunc, title: tuple[str, str], formula: str) -> Op:
    """Define a logical operator; a number is true unless it is 0, so NaN is true, as in NumPy."""
    return elementwise(
        name,
        ufunc,
        vjp=(None,) * ufunc.nin,
        dtype=always(bool_),
        inputs=None,
        title=title,
        formula=formula,
        samples=PAIRS if ufunc.nin == 2 else ANY,
    )


logical_and = _logical("And", np.logical_and, ("logical and", "逻辑与"), "{0} ∧ {1}")
logical_or = _logical("Or", np.logical_or, ("logical or", "逻辑或"), "{0} ∨ {1}")
logical_xor = _logical("Xor", np.logical_xor, ("exclusive or", "逻辑异或"), "{0} ⊻ {1}")
logical_not = _logical("Not", np.logical_not, ("logical not", "逻辑非"), "¬{0}")
isnan = elementwise(
    "IsNaN",
    np.isnan,
    vjp=(None,),
    dtype=always(bool_),
    inputs=None,
    title=("is it not a number", "是否为 NaN"),
    formula="isnan({0})",
    samples=ANY,
)


def expect_condition(op: str, dtype: Dtype) -> None:
    """Raise DtypeError unless these are bools."""
    if dtype != bool_:
        raise DtypeError("condition_type", op=op, dtype=dtype)


def _where_dtype(*dtypes: Dtype) -> Dtype:
    expect_condition("Where", dtypes[0])
    return promote(*dtypes[1:])


BITS: dict[Dtype, Any] = {np.dtype(np.float32): np.int32, np.dtype(np.float64): np.int64}
MANY = 600  # elements from which on masked bits beat np.where, up to ten times


def masked(x: Array, keep: Array) -> Array:
    """Return x where `keep` is true, else 0; unlike in a product, infinity and NaN leave no trace.

    `keep` has the shape of x.
    """
    bits = BITS.get(x.dtype)
    if bits is None or x.size < MANY:
        return np.where(keep, x, x.dtype.type(0))
    mask = np.negative(np.ascontiguousarray(keep).view(np.int8)).astype(bits)  # all bits, or none
    np.bitwise_and(mask, np.ascontiguousarray(x).view(bits), out=mask)
    return mask.view(x.dtype)


def is_zero(x: Array) -> bool:
    """Return whether this is the single number 0, without a sign."""
    return not (x.ndim or x or np.signbit(x))


def _where(out: Array, condition: Array, a: Array, b: Array) -> Array:
    if condition.dtype is not bool_:
        expect_condition("Where", condition.dtype)
    if condition.size >= MANY:  # a gradient that is masked
        if is_zero(b) and a.shape == condition.shape and a.dtype == b.dtype:
            return into(out, masked(a, condition))
        if is_zero(a) and b.shape == condition.shape and a.dtype == b.dtype:
            return into(out, masked(b, ~condition))
    result: Array = np.where(condition, a, b)
    if out is not None:
        np.copyto(out, result)
        return out
    return result if result.ndim else result[()]


where: Op = elementwise(
    "Where",
    _where,
    vjp=(
        None,
        # not g × condition: what is not chosen must stay out even if it is infinite
        lambda g, y, condition, a, b: where(condition, g, 0),
        lambda g, y, condition, a, b: where(condition, 0, g),
    ),
    dtype=_where_dtype,
    selectors=(0,),
    title=("choice by condition", "按条件选取"),
    formula="{0} ? {1} : {2}",
    samples=(
        Sample([(2, 3), (2, 3), (2, 3)], bools=(0,)),
        Sample([(3,), (2, 1), ()], bools=(0,)),
        Sample([(2, 1), (3,), (3,)], bools=(0,)),
        Sample([(), (), ()], bools=(0,)),
    ),
)

"""Arithmetic, powers, rounding, the larger and the smaller: on each element by itself."""

from __future__ import annotations

import operator as py
from typing import Any

import numpy as np

from minigrad.core import Array, Attrs, Dtype, Op, Sample, Spec, as_float, into
from minigrad.diagnostics.errors import NumericError
from minigrad.ops.arrange import full_like
from minigrad.ops.define import (
    ANY,
    PAIRS,
    POSITIVE,
    POSITIVE_PAIRS,
    counting,
    elementwise,
    infix,
    no_bools,
    smooth,
)
from minigrad.ops.logic import logical_and, where

__all__ = [
    "abs",
    "add",
    "atan",
    "cast",
    "ceil",
    "clip",
    "cos",
    "div",
    "exp",
    "floor",
    "floor_divide",
    "log",
    "log1p",
    "maximum",
    "minimum",
    "mod",
    "mul",
    "neg",
    "pow",
    "round",
    "share_of_maximum",
    "sign",
    "sin",
    "sqrt",
    "sub",
    "within",
]

add = infix(
    "Add",
    py.add,
    np.add,
    vjp=(lambda g, y, a, b: g, lambda g, y, a, b: g),
    title=("addition", "加法"),
    formula="{0} + {1}",
    samples=PAIRS,
)
sub = infix(
    "Sub",
    py.sub,
    np.subtract,
    vjp=(lambda g, y, a, b: g, lambda g, y, a, b: -g),
    dtype=no_bools("Sub", "what_difference"),
    title=("subtraction", "减法"),
    formula="{0} − {1}",
    samples=PAIRS,
)
mul = infix(
    "Mul",
    py.mul,
    np.multiply,
    vjp=(lambda g, y, a, b: g * b, lambda g, y, a, b: g * a),
    title=("multiplication", "乘法"),
    formula="{0} × {1}",
    samples=PAIRS,
)
div = infix(
    "Div",
    py.truediv,
    np.true_divide,
    vjp=(
        lambda g, y, a, b: g / b,
        lambda g, y, a, b: -g * y / b,  # d(a/b)/db = -a/b² = -y/b
    ),
    dtype=as_float,
    inputs=as_float,
    title=("division", "除法"),
    formula="{0} ÷ {1}",
    samples=POSITIVE_PAIRS,
)
neg = infix(
    "Neg",
    py.neg,
    np.negative,
    vjp=(lambda g, y, x: -g,),
    dtype=no_bools("Neg", "what_negative"),
    title=("negation", "取负"),
    formula="−{0}",
    samples=ANY,
)


def _zero_gradient(g: Any, *values: Any, **attrs: Any) -> Any:
    """Return the gradient of a step function: 0, which is not the same as no gradient."""
    return full_like(g, value=0)


def _base_gradient(g: Any, y: Any, a: Any, b: Any) -> Any:
    """Build b aᵇ⁻¹, which is 0 if b is 0, also at a = 0."""
    return g * b * pow(a, b - (b != 0))


def _exponent_gradient(g: Any, y: Any, a: Any, b: Any) -> Any:
    """Build aᵇ log a, from aᵇ = exp(b log a); 0 at a = 0 for b ≥ 0."""
    return g * y * log(where(logical_and(a == 0, b >= 0), 1, a))


pow: Op = elementwise(
    "Pow",
    np.power,
    vjp=(_base_gradient, _exponent_gradient),
    dtype=counting,
    inputs=counting,
    title=("power", "乘方"),
    formula="{0} ^ {1}",
    samples=POSITIVE_PAIRS,
)


def _whole_division(name: str, ufunc: np.ufunc, **record: Any) -> Op:
    """Define a division with remainder; floats follow IEEE 754, integers refuse 0."""

    def run(out: Array, a: Array, b: Array) -> Array:
        if b.dtype.kind != "f" and not np.all(b):
            raise NumericError("zero_division", op=name)
        return ufunc(a, b) if out is None else ufunc(a, b, out=out)

    return elementwise(name, run, dtype=counting, inputs=counting, **record)


DIVISIONS = tuple(Sample(s.shapes, low=1.1, high=2.9) for s in PAIRS)  # no multiples meet
floor_divide = _whole_division(
    "FloorDivide",
    np.floor_divide,
    vjp=(_zero_gradient, _zero_gradient),
    title=("quotient rounded down", "向下取整的商"),
    formula="⌊{0} ÷ {1}⌋",
    samples=DIVISIONS,
)
mod = _whole_division(
    "Mod",
    np.remainder,
    vjp=(lambda g, y, a, b: g, lambda g, y, a, b: -g * floor_divide(a, b)),  # a − b ⌊a/b⌋
    title=("remainder, with the sign of the divisor", "余数，符号与除数相同"),
    formula="{0} mod {1}",
    samples=DIVISIONS,
)
exp = smooth(
    "Exp", np.exp, vjp=(lambda g, y, x: g * y,), title=("exponential", "指数"), formula="exp({0})"
)
log: Op = smooth(
    "Log",
    np.log,
    vjp=(lambda g, y, x: g / x,),
    title=("natural logarithm", "自然对数"),
    formula="log({0})",
    samples=POSITIVE,
)
log1p = smooth(
    "Log1p",
    np.log1p,
    vjp=(lambda g, y, x: g / (x + 1),),
    title=("logarithm of 1 + x, accurate near 0", "1 + x 的对数，在 0 附近依然精确"),
    formula="log(1 + {0})",
    samples=POSITIVE,
)
sqrt = smooth(
    "Sqrt",
    np.sqrt,
    vjp=(lambda g, y, x: g / (2 * y),),
    title=("square root", "平方根"),
    formula="√{0}",
    samples=POSITIVE,
)
sin: Op = smooth(
    "Sin", np.sin, vjp=(lambda g, y, x: g * cos(x),), title=("sine", "正弦"), formula="sin({0})"
)
cos: Op = smooth(
    "Cos", np.cos, vjp=(lambda g, y, x: -g * sin(x),), title=("cosine", "余弦"), formula="cos({0})"
)
atan = smooth(
    "Atan",
    np.arctan,
    vjp=(lambda g, y, x: g / (x * x + 1),),
    title=("arc tangent", "反正切"),
    formula="arctan({0})",
)
sign = elementwise(
    "Sign",
    np.sign,
    vjp=(_zero_gradient,),
    dtype=no_bools("Sign", "what_sign"),
    title=("sign", "符号"),
    formula="sign({0})",
    samples=ANY,
)
abs = elementwise(
    "Abs",
    np.abs,
    vjp=(lambda g, y, x: g * sign(x),),
    title=("absolute value", "绝对值"),
    formula="|{0}|",
    samples=(Sample([(2, 3)], low=0.2), Sample([()], high=-0.2)),
)


def _rounding(name: str, ufunc: np.ufunc, title: tuple[str, str], formula: str) -> Op:
    """Define a rounding operator; its gradient is 0, and integers stay as they are."""

    def run(out: Array, x: Array) -> Array:
        whole = ufunc if x.dtype.kind == "f" else np.positive
        return whole(x) if out is None else whole(x, out=out)

    dtype = no_bools(name, "what_rounding")
    return elementwise(
        name, run, vjp=(_zero_gradient,), dtype=dtype, title=title, formula=formula, samples=ANY
    )


floor = _rounding("Floor", np.floor, ("round down", "向下取整"), "⌊{0}⌋")
ceil = _rounding("Ceil", np.ceil, ("round up", "向上取整"), "⌈{0}⌉")
round = _rounding(
    "Round", np.rint, ("round to the nearest, halves to even", "四舍六入五成双"), "round({0})"
)


def _share_kernel(out: Array, a: Array, b: Array) -> Array:
    lost = np.less(a, b).view(np.int8) + np.less_equal(a, b).view(np.int8)
    half = lost.astype(a.dtype)  # 2 where b is larger, 1 where they are equal
    half *= a.dtype.type(-0.5)
    return np.add(half, 1, out=out, dtype=a.dtype)


share_of_maximum = elementwise(
    "ShareOfMaximum",
    _share_kernel,
    vjp=(None, None),
    dtype=as_float,
    inputs=as_float,
    title=("1 where larger, ½ where equal, else 0", "较大处为 1，相等处为 ½，其余为 0"),
    formula="share({0} ≥ {1})",
    samples=PAIRS,
)
maximum = elementwise(
    "Maximum",
    np.maximum,
    vjp=(  # equal operands get half of the gradient each
        lambda g, y, a, b: where(a < b, 0, g * share_of_maximum(a, b)),
        lambda g, y, a, b: where(b < a, 0, g * share_of_maximum(b, a)),
    ),
    title=("the larger of two", "两者中较大的"),
    formula="max({0}, {1})",
    samples=PAIRS,
)
minimum = elementwise(
    "Minimum",
    np.minimum,
    vjp=(
        lambda g, y, a, b: where(b < a, 0, g * share_of_maximum(b, a)),
        lambda g, y, a, b: where(a < b, 0, g * share_of_maximum(a, b)),
    ),
    title=("the smaller of two", "两者中较小的"),
    formula="min({0}, {1})",
    samples=PAIRS,
)

Bound = float | None


def _clip_dtype(dtype: Dtype, low: Bound, high: Bound) -> Dtype:
    """Return the data type of a clip: integers between fractional bounds become floats."""
    return as_float(dtype) if isinstance(low, float) or isinstance(high, float) else dtype


def _clip_spec(specs: Any, attrs: Attrs) -> Spec:
    return Spec(specs[0].shape, _clip_dtype(specs[0].dtype, attrs.get("low"), attrs.get("high")))


def _clip(out: Array, x: Array, low: Bound = None, high: Bound = None) -> Array:
    if x.dtype.kind != "f":
        x = x.astype(_clip_dtype(x.dtype, low, high), copy=False)
    if low is None and high is None:
        return into(out, x.copy())
    if out is None:
        return x.clip(low, high)
    return np.clip(np.asarray(x), low, high, out=out)


def _within(out: Array, x: Array, low: Bound = None, high: Bound = None) -> Array:
    inside = np.ones(x.shape, np.bool_) if low is None else x >= low
    if high is not None:
        inside = inside & (x <= high)
    return into(out, inside.astype(x.dtype))


CLIPPED = (
    Sample([(2, 3)], {"low": -1.0, "high": 1.5}),
    Sample([(2, 3)], {"low": 0.0}),
    Sample([()], {"high": 0.5}),
    Sample([(4,)], {"low": None, "high": None}),
)
within = elementwise(
    "Within",
    _within,
    vjp=(None,),
    title=("1 between two bounds, else 0", "在上下界之间为 1，其余为 0"),
    formula="[low ≤ {0} ≤ high]",
    samples=CLIPPED,
)
clip = elementwise(
    "Clip",
    _clip,
    vjp=(lambda g, y, x, **bounds: where(within(x, **bounds) > 0, g, 0),),
    infer=_clip_spec,
    title=("confined between two bounds", "限制在上下界之间"),
    formula="clip({0})",
    samples=CLIPPED,
)


def _cast(out: Array, x: Array, dtype: Any) -> Array:
    return into(out, x.astype(dtype) if out is None else x)


cast: Op = elementwise(
    "Cast",
    _cast,
    vjp=(lambda g, y, x, dtype: cast(g, dtype=x.dtype),),
    inputs=None,
    title=("change of data type", "转换数据类型"),
    formula="cast({0})",
    samples=(Sample([(2, 3)], {"dtype": np.dtype(np.float64)}),),
)

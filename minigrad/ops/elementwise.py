"""Operators that work on each element by itself."""

from __future__ import annotations

import operator as py
from collections.abc import Callable
from typing import Any

import numpy as np

from minigrad.core import (
    Array,
    Op,
    Sample,
    Shape,
    always,
    as_float,
    bool_,
    broadcast_shapes,
    into,
    operator,
    promote,
)

PAIRS = (
    Sample([(2, 3), (2, 3)]),
    Sample([(2, 3), (3,)]),
    Sample([(2, 1), (1, 3)]),
    Sample([(), ()]),
)
POSITIVE = (Sample([(2, 3)], low=0.2), Sample([()], low=0.2))
ANY = (Sample([(2, 3)]), Sample([(0, 3)]), Sample([()]))


def ufunc_kernel(ufunc: np.ufunc) -> Callable[..., Array]:
    """A ufunc as a kernel; naming `out` costs a microsecond even when it is None."""

    def run(out: Array, *x: Array) -> Array:
        return ufunc(*x) if out is None else ufunc(*x, out=out)

    return run


def infix(name: str, symbol: Callable[..., Any], ufunc: np.ufunc, **record: Any) -> Op:
    """Define an operator that Python has a sign for.

    Without a place to write to, Python's own operator is used: it is exactly rounded as the ufunc
    is, and ten times faster on scalars.
    """

    def run(out: Array, *x: Array) -> Array:
        return symbol(*x) if out is None else ufunc(*x, out=out)

    return elementwise(name, run, symbol=symbol, **record)


def elementwise(name: str, run: Callable[..., Array], **record: Any) -> Op:
    """Define an operator whose operands are broadcast against each other."""

    def shape(*shapes: Shape, **attrs: Any) -> Shape:
        return shapes[0] if len(shapes) == 1 else broadcast_shapes(name, *shapes)

    return operator(name, shape=shape, run=run, broadcasts=True, elementwise=True, **record)


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
    samples=tuple(Sample(s.shapes, low=0.5) for s in PAIRS),
)
neg = infix(
    "Neg",
    py.neg,
    np.negative,
    vjp=(lambda g, y, x: -g,),
    title=("negation", "取负"),
    formula="−{0}",
    samples=ANY,
)
pow: Op = elementwise(
    "Pow",
    ufunc_kernel(np.power),
    vjp=(
        lambda g, y, a, b: g * b * pow(a, b - 1),
        lambda g, y, a, b: g * y * log(a),  # aᵇ = exp(b log a)
    ),
    title=("power", "乘方"),
    formula="{0} ^ {1}",
    samples=tuple(Sample(s.shapes, low=0.5) for s in PAIRS),
)
exp = elementwise(
    "Exp",
    ufunc_kernel(np.exp),
    vjp=(lambda g, y, x: g * y,),
    dtype=as_float,
    inputs=as_float,
    title=("exponential", "指数"),
    formula="exp({0})",
    samples=ANY,
)
log: Op = elementwise(
    "Log",
    ufunc_kernel(np.log),
    vjp=(lambda g, y, x: g / x,),
    dtype=as_float,
    inputs=as_float,
    title=("natural logarithm", "自然对数"),
    formula="log({0})",
    samples=POSITIVE,
)
sqrt = elementwise(
    "Sqrt",
    ufunc_kernel(np.sqrt),
    vjp=(lambda g, y, x: g / (2 * y),),
    dtype=as_float,
    inputs=as_float,
    title=("square root", "平方根"),
    formula="√{0}",
    samples=POSITIVE,
)
tanh = elementwise(
    "Tanh",
    ufunc_kernel(np.tanh),
    vjp=(lambda g, y, x: g * (1 - y * y),),
    dtype=as_float,
    inputs=as_float,
    title=("hyperbolic tangent", "双曲正切"),
    formula="tanh({0})",
    samples=ANY,
)


def _sigmoid(out: Array, x: Array) -> Array:
    e = np.exp(-np.abs(x))  # never overflows
    return np.divide(np.where(x >= 0, np.ones_like(e), e), 1 + e, out=out)


sigmoid = elementwise(
    "Sigmoid",
    _sigmoid,
    vjp=(lambda g, y, x: g * y * (1 - y),),
    dtype=as_float,
    inputs=as_float,
    title=("logistic sigmoid", "Sigmoid 函数"),
    formula="σ({0})",
    samples=ANY,
)


def _relu(out: Array, x: Array) -> Array:
    zero = x.dtype.type(0)
    return np.maximum(x, zero) if out is None else np.maximum(x, zero, out=out)


relu = elementwise(
    "ReLU",
    _relu,
    vjp=(lambda g, y, x: g * step(y),),  # the slope at 0 is taken as 0
    title=("rectified linear unit", "ReLU 激活函数"),
    formula="max({0}, 0)",
    samples=ANY,
)


def _step(out: Array, x: Array) -> Array:
    if out is not None:
        return np.greater(x, 0, out=out, casting="unsafe")
    return (x > 0).astype(x.dtype)


step: Op = elementwise(
    "Step",
    _step,
    vjp=(None,),
    title=("unit step: 1 where positive", "阶跃：正数为 1，其余为 0"),
    formula="[{0} > 0]",
    samples=ANY,
)
sign = elementwise(
    "Sign",
    ufunc_kernel(np.sign),
    vjp=(None,),
    inputs=lambda *dtypes: promote(*dtypes),
    title=("sign", "符号"),
    formula="sign({0})",
    samples=ANY,
)
abs = elementwise(
    "Abs",
    ufunc_kernel(np.abs),
    vjp=(lambda g, y, x: g * sign(x),),
    title=("absolute value", "绝对值"),
    formula="|{0}|",
    samples=(Sample([(2, 3)], low=0.2), Sample([()], high=-0.2)),
)


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

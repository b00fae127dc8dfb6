"""Operators that return their operand: as it is, without its gradient, printed, or checked."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from minigrad.core import Array, Dtype, Op, Sample, Shape, into, operator
from minigrad.diagnostics.errors import AssertionFailed
from minigrad.ops.elementwise import cast

__all__ = ["assert_true", "convert", "identity", "print_value", "stop_gradient"]

ONE = (Sample([(2, 3)]), Sample([()]))


def _same_shape(x: Shape, **attrs: Any) -> Shape:
    return x


def _view(out: Array | None, x: Array) -> Array:
    """Return a view, not `x` itself: a result must not be mistaken for a variable."""
    return into(out, x.view() if isinstance(x, np.ndarray) else x)


identity: Op = operator(
    "Identity",
    shape=_same_shape,
    run=_view,
    vjp=(lambda g, y, x: g,),
    inputs=None,
    title=("identity", "恒等"),
    formula="{0}",
    samples=ONE,
)
stop_gradient: Op = operator(
    "StopGradient",
    shape=_same_shape,
    run=_view,
    vjp=(None,),
    inputs=None,
    title=("stop of the gradient", "停止梯度"),
    formula="stop({0})",
    samples=ONE,
)


def convert(x: Any, dtype: Dtype) -> Any:
    """Cast x to another data type; no gradient flows through a cast to integers or bools."""
    if dtype.kind != "f" and getattr(x, "dtype", dtype).kind == "f":
        x = stop_gradient(x)
    return cast(x, dtype=dtype)


def _print(out: Array | None, x: Array, message: str = "") -> Array:
    array = np.asarray(x)
    text = np.array2string(array, separator=", ", threshold=20) if array.ndim else str(array[()])
    sys.stdout.write(f"{message}{' ' if message else ''}{text}\n")
    return _view(out, x)


print_value: Op = operator(
    "Print",
    shape=_same_shape,
    run=_print,
    vjp=(lambda g, y, x, message="": g,),
    inputs=None,
    impure=True,
    title=("print", "打印"),
    formula="print({0})",
    samples=ONE,
)


def _assert(out: Array | None, condition: Array, message: str = "") -> Array:
    if not np.all(condition):
        failed = int(np.size(condition) - np.count_nonzero(condition))
        raise AssertionFailed(
            "assertion", message=message, count=failed, shape=np.shape(condition), op="Assert"
        )
    return _view(out, condition)


assert_true: Op = operator(
    "Assert",
    shape=_same_shape,
    run=_assert,
    vjp=(None,),
    inputs=None,
    impure=True,
    title=("assertion", "断言"),
    formula="assert {0}",
    samples=(Sample([(2, 3)], low=1.0), Sample([()], low=1.0)),
)

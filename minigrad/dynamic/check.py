"""Gradient checks: compare gradients with central differences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from minigrad.core import as_array, float64
from minigrad.diagnostics.arguments import function, refuse
from minigrad.diagnostics.errors import GradientError
from minigrad.diagnostics.messages import fill
from minigrad.diagnostics.source import function_name, here
from minigrad.dynamic.backward import grad
from minigrad.dynamic.tensor import Tensor

__all__ = ["check_grads"]


def numerical_gradient(f: Callable[..., Any], xs: list[Any], index: int, step: float) -> Any:
    """Compute central differences of the scalar f(*xs) with respect to xs[index], in float64."""
    x = np.array(xs[index], dtype=float64)
    result = np.zeros_like(x)
    for i in np.ndindex(x.shape):
        values = []
        for shift in (step, -step):
            moved = x.copy()
            moved[i] += shift
            values.append(float(f(*xs[:index], moved, *xs[index + 1 :])))
        result[i] = (values[0] - values[1]) / (2 * step)
    return result


def check_grads(
    f: Callable[..., Any], *xs: Any, order: int = 1, tolerance: float = 1e-6, step: float = 1e-5
) -> float:
    """Compare the gradients of f at xs, up to `order`, with central differences in float64.

    f takes tensors and returns one; integers among xs are left alone. Returns the largest
    difference, relative to max(1, |gradient|); GradientError when it exceeds `tolerance`.

    >>> import minigrad as mg
    >>> mg.check_grads(lambda x: x * x + 3, 2.0, order=2) < 1e-6
    True
    """
    function("check_grads", "f", f)
    for x in xs:
        as_array(getattr(x, "_array", x), None, "check_grads")  # refuses what is not numbers
    given = [np.asarray(getattr(x, "_array", x)) for x in xs]
    arrays = [
        a if a.dtype.kind in "bu" or _is_labels(a, x) else a.astype(float64)
        for a, x in zip(given, xs, strict=True)
    ]
    return _check(f, arrays, order, 1, tolerance, step)


def _is_labels(array: Any, given: Any) -> bool:
    return array.dtype.kind == "i" and not isinstance(given, int)


def _check(
    f: Callable[..., Any], xs: list[Any], order: int, level: int, tolerance: float, step: float
) -> float:
    worst = 0.0
    weights = np.random.default_rng(level)
    y = f(*[Tensor(x) for x in xs])
    if not isinstance(y, Tensor):
        raise refuse("check_grads", "f(…)", y, fill("expect_result"))
    shape = y.shape
    seed = weights.standard_normal(shape)

    def total(*values: Any) -> Any:
        return (f(*[v if isinstance(v, Tensor) else Tensor(v) for v in values]) * seed).sum()

    for i, x in enumerate(xs):
        if x.dtype != float64:
            continue

        def gradient(*values: Any, i: int = i) -> Any:
            leaves = [v if isinstance(v, Tensor) else Tensor(v) for v in values]
            if leaves[i].is_leaf and not leaves[i].requires_grad:
                leaves[i] = Tensor(leaves[i]._array, requires_grad=True)
            y = total(*leaves)  # without history when f is linear and this is its gradient
            options = {"create_graph": True, "allow_unused": True}
            found = grad(y, leaves[i], **options) if y.requires_grad else None
            return Tensor(np.zeros(leaves[i].shape)) if found is None else found

        expected = numerical_gradient(lambda *v: total(*v).item(), xs, i, step)
        actual = np.asarray(gradient(*xs)._array)
        difference = np.max(np.abs(actual - expected) / np.maximum(1, np.abs(expected)), initial=0)
        worst = max(worst, float(difference))
        if not difference <= tolerance:
            raise GradientError(
                "check_grads",
                function=function_name(f),
                index=i,
                order=level,
                difference=float(difference),
                tolerance=tolerance,
                defined=here(),
            )
        if level < order:
            worst = max(worst, _check(gradient, xs, order, level + 1, tolerance, step))
    return worst

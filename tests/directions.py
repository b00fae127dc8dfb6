"""Check gradients along one direction of each operand, in place of element by element."""

from __future__ import annotations

from typing import Any

import covering
import numpy as np

import minigrad as mg


def check_gradients(f: Any, *xs: Any, order: int = 2, **how: Any) -> float:
    """Compare the derivatives of f along random directions with central differences.

    A wrong gradient is wrong along almost every direction, and a direction takes two calls of f
    where `mg.check_grads` takes two for each element. Slopes are compared for each operand alone,
    those of slopes along one line for all. With --all, each element is compared.
    """
    if covering.thorough:
        return mg.check_grads(f, *xs, order=order, **how)
    random = np.random.default_rng(0)
    lines = []
    for x in xs:
        start = np.asarray(x.data if isinstance(x, mg.Tensor) else x, np.float64)
        lines.append(
            (start, random.uniform(0.5, 1.5, start.shape) * random.choice((-1, 1), start.shape))
        )

    def along(*ts: Any) -> Any:
        return f(*[start + t * way for t, (start, way) in zip(ts, lines, strict=True)])

    zeros = [0.0] * len(xs)
    if len(xs) == 1 or order == 1:
        return mg.check_grads(along, *zeros, order=order, **how)
    slopes = mg.check_grads(along, *zeros, **how)
    return max(slopes, mg.check_grads(lambda t: along(*[t] * len(xs)), 0.0, order=order, **how))

"""The product of many matrices with one, as in layers of other systems' models."""

from __future__ import annotations

import math
from typing import Any

from minigrad import functions as f

MOST = 1 << 22  # numbers in the gradients of the one matrix, one for each of the many


def product(a: Any, b: Any, transpose_b: bool = False) -> Any:
    """Return the product of a matrix stack and a matrix; if large, of all rows at once.

    The gradient of the one is then a single product, too, and not the sum of a stack.
    """
    stack, size = a.shape[:-2], math.prod(b.shape)
    if len(b.shape) != 2 or math.prod(stack) == 1 or math.prod(stack) * size < MOST:
        return f.matmul(a, b, transpose_b=transpose_b)
    y = f.matmul(f.reshape(a, (-1, a.shape[-1])), b, transpose_b=transpose_b)
    return f.reshape(y, (*a.shape[:-1], y.shape[-1]))

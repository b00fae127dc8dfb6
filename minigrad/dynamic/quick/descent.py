"""The backward sweep over a tape where nobody listens: what is added up is written over."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from minigrad.dynamic.quick.ready import Ready, pushing
from minigrad.ops.rows import RowGradient

ndarray, add_arrays = np.ndarray, np.add


def descend(nodes: Sequence[Any], gradients: dict[Any, Any], drop: bool) -> None:
    """What `sweep` does, without its detours."""
    take = gradients.pop
    own: set[Any] = set()  # targets whose sum so far is an array that only we hold

    def add(target: Any, part: Any) -> None:
        before = gradients[target]
        if target in own:
            add_arrays(before, part, before)
            return
        total = gradients[target] = before + part
        if type(total) is ndarray:
            own.add(target)

    for node in reversed(nodes):
        g = take(node, None)
        if g is not None:
            g = g.dense() if type(g) is RowGradient else g
            kept = node._kept
            push = kept.push if type(kept) is Ready else pushing(kept.pull)
            push(g, node, gradients, add, drop)

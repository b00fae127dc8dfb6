"""The backward sweep without listeners; it accumulates in place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from minigrad.dynamic.fast_paths.prepared_ops import PreparedPullback, make_push
from minigrad.ops.rows import RowGradient

ndarray, add_arrays = np.ndarray, np.add


def sweep_in_place(nodes: Sequence[Any], gradients: dict[Any, Any], drop: bool) -> None:
    """Sweep over a tape as `backprop.sweep` does, without its general checks."""
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
            pullback = node._pullback
            prepared = type(pullback) is PreparedPullback
            push = pullback.push if prepared else make_push(pullback.pull)
            push(g, node, gradients, add, drop)

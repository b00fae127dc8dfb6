"""TensorFlow 1's sessions, each run of which draws new random numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

import minigrad as mg
from minigrad.faces.face import random_in_body_error

Draw = Callable[[int], Any]  # the numbers of one run, by how many there were before


class Session(mg.Session):
    """A session that runs a graph: `sess.run(fetches, feed_dict)`."""

    def __init__(self, target: Any = "", graph: mg.Graph | None = None, config: Any = None) -> None:
        super().__init__(target if isinstance(target, mg.Graph) else graph)
        self._runs: Counter[mg.Node] = Counter()

    def run(self, fetches: Any, feed_dict: Mapping[Any, Any] | None = None) -> Any:
        """Return the values of the fetches, in the same structure."""
        feeds = dict(feed_dict or {})
        for node, draw in random_draws(self.graph).items():
            feeds[node] = draw(self._runs[node])
            self._runs[node] += 1
        return super().run(fetches, feeds)


def random_draws(graph: mg.Graph) -> dict[mg.Node, Draw]:
    """Return the random nodes of a graph, each with its draw function."""
    found: dict[mg.Node, Draw] = vars(graph).setdefault("drawn", {})
    return found


def redraw_each_run(
    shape: Any, dtype: Any, seed: int | None, draw: Callable[[int | None], Any]
) -> mg.Node:
    """Make a node of random numbers, which `draw` generates from a seed or None."""
    graph = mg.get_default_graph()
    if hasattr(graph, "captures"):
        raise random_in_body_error("tf.random_normal")
    node = mg.placeholder(dtype, tuple(shape), name="random")
    random_draws(graph)[node] = lambda run: draw(None if seed is None else seed + (run << 32))
    return node

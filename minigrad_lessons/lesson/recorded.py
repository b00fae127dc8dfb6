"""One function recorded in both modes, to count what each of them builds: `recorded`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import zip_longest
from typing import Any

import numpy as np

import minigrad as mg
from minigrad.core.events import Recording

__all__ = ["recorded"]


def recorded(f: Callable[[Any], Any], inputs: Sequence[Any]) -> tuple[Recording, Recording]:
    """Record `f` on a tensor for each of these inputs, then as one graph for all of them.

    inputs: numbers or arrays of equally many axes. A length that differs among them stays open in
    the placeholder, and the graph runs for each of them. Raises what f and the runs raise.

    >>> import minigrad_lessons as lessons
    >>> [log.count("built", "Mul") for log in lessons.recorded(lambda x: x * x, [1.0, 2.0, 3.0])]
    [3, 1]
    """
    arrays = [np.asarray(value, np.float32) for value in inputs]
    lengths = zip_longest(*(array.shape for array in arrays))
    with mg.record() as dynamic:
        for array in arrays:
            f(mg.tensor(array, requires_grad=True))
    with mg.Graph(), mg.record() as static:
        x = mg.placeholder("x", shape=tuple(n[0] if len({*n}) == 1 else None for n in lengths))
        graph = mg.build_graph(x, f(x))
        for array in arrays:
            mg.run(graph, feed_dict={x: array})
    return dynamic, static

"""What minigrad trains, to be compared with what learners write: `trained`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

import minigrad as mg

__all__ = ["agreement", "trained"]

Weights = list[NDArray[Any]]


def trained(
    mode: str,
    loss: Callable[..., Any],
    start: Sequence[NDArray[Any]],
    inputs: Sequence[NDArray[Any]],
    *,
    steps: int = 60,
    rate: float = 0.5,
    momentum: float = 0.0,
) -> Weights:
    """Return the weights that SGD reaches from `start`, as a "dynamic" or a "static" graph.

    loss: takes the inputs, then the weights, as tensors or as nodes. KeyError for another mode.

    >>> import numpy as np
    >>> [w.item() for w in trained("static", lambda x, w: w * w, [np.array(4.0)], [np.zeros(1)])]
    [0.0]
    """
    way = {"dynamic": _train_dynamic, "static": _train_static}[mode]
    return way(loss, start, inputs, steps, {"lr": rate, "momentum": momentum})


def _train_dynamic(loss: Any, start: Any, inputs: Any, steps: int, options: Any) -> Weights:
    weights = [mg.tensor(w, requires_grad=True) for w in start]
    optimizer = mg.optim.SGD(weights, **options)
    for _ in range(steps):
        optimizer.zero_grad()
        loss(*map(mg.tensor, inputs), *weights).backward()
        optimizer.step()
    return [w.numpy() for w in weights]


def _train_static(loss: Any, start: Any, inputs: Any, steps: int, options: Any) -> Weights:
    with mg.Graph(), mg.Session() as session:
        fed = {mg.placeholder(shape=np.shape(x), dtype=x.dtype): x for x in inputs}
        weights = [mg.Variable(w, name=f"w{i}") for i, w in enumerate(start)]
        step = mg.optim.SGD(**options).minimize(loss(*fed, *weights))
        session.run(mg.global_variables_initializer())
        for _ in range(steps):
            session.run(step, feed_dict=fed)
        return list(session.run(weights))


def agreement(*runs: Sequence[NDArray[Any]], tolerance: float = 1e-6) -> list[tuple[bool, bool]]:
    """Return for each run whether its weights equal the first run's bits, and are within tolerance.

    Made for `lessons.table`. ValueError for runs of different lengths.

    >>> import numpy as np
    >>> agreement([np.array([0.3])], [np.array([0.1 + 0.2])])
    [(True, True), (False, True)]
    """
    return [_all_close([*zip(run, runs[0], strict=True)], tolerance) for run in runs]


def _all_close(pairs: Sequence[tuple[Any, Any]], tolerance: float) -> tuple[bool, bool]:
    bits = all(a.tobytes() == b.tobytes() for a, b in pairs)
    return bits, all(np.abs(a - b).max() < tolerance for a, b in pairs)

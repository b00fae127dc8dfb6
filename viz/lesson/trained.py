"""What minigrad trains in either mode, for a learner's engine to be compared with: `trained`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

import minigrad as mg

__all__ = ["trained"]

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
    """The weights that `mg.optim.SGD` reaches from `start`, as a "dynamic" or a "static" graph.

    loss: takes the inputs, then the weights, as tensors or as nodes. KeyError for another mode.

    >>> import numpy as np
    >>> [w.item() for w in trained("static", lambda x, w: w * w, [np.array(4.0)], [np.zeros(1)])]
    [0.0]
    """
    way = {"dynamic": _dynamic, "static": _static}[mode]
    return way(loss, start, inputs, steps, {"lr": rate, "momentum": momentum})


def _dynamic(loss: Any, start: Any, inputs: Any, steps: int, options: Any) -> Weights:
    weights = [mg.tensor(w, requires_grad=True) for w in start]
    optimizer = mg.optim.SGD(weights, **options)
    for _ in range(steps):
        optimizer.zero_grad()
        loss(*map(mg.tensor, inputs), *weights).backward()
        optimizer.step()
    return [w.numpy() for w in weights]


def _static(loss: Any, start: Any, inputs: Any, steps: int, options: Any) -> Weights:
    with mg.Graph(), mg.Session() as session:
        fed = {mg.placeholder(shape=np.shape(x), dtype=x.dtype): x for x in inputs}
        weights = [mg.Variable(w, name=f"w{i}") for i, w in enumerate(start)]
        step = mg.optim.SGD(**options).minimize(loss(*fed, *weights))
        session.run(mg.global_variables_initializer())
        for _ in range(steps):
            session.run(step, feed_dict=fed)
        return list(session.run(weights))

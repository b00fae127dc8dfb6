"""What minigrad trains, to be compared with what learners write: `trained`, `downhill`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

import minigrad as mg
from viz.lesson.answers import items_of

__all__ = ["agreement", "downhill", "trained"]

Weights = list[NDArray[Any]]
STEPS = 3  # downhill; in the second one, a speed is remembered for the first time


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


def agreement(*runs: Sequence[NDArray[Any]], tolerance: float = 1e-6) -> list[tuple[bool, bool]]:
    """Whether the weights of each run have the bits of the first one's, and are as near as that.

    Made for `viz.table`. ValueError for runs of different lengths.

    >>> import numpy as np
    >>> agreement([np.array([0.3])], [np.array([0.1 + 0.2])])
    [(True, True), (False, True)]
    """
    return [_agree([*zip(run, runs[0], strict=True)], tolerance) for run in runs]


def _agree(pairs: Sequence[tuple[Any, Any]], tolerance: float) -> tuple[bool, bool]:
    bits = all(a.tobytes() == b.tobytes() for a, b in pairs)
    return bits, all(np.abs(a - b).max() < tolerance for a, b in pairs)


def downhill(
    w: float, rate: float, share: float, rule: Callable[..., Any] | None = None
) -> dict[str, Any]:
    """Three steps from w down the hill w * w, whose gradient is 2 * w: what each of them gives.

    rule: called with an array of one weight, its gradient, its speed, with rate and share; gives
    the new weight and the new speed. Without one, `mg.optim.SGD` with that momentum goes. What is
    no pair is told by how many things it is, or as it is, and ends the way.

    >>> for name, fact in downhill(4.0, 0.125, 0.5).items():
    ...     print(f"{name}: {fact}")
    ...     if name == "step 2, new speed":
    ...         break
    step 1, results: 2
    step 1, new speed: 8.0
    step 1, new weight: 3.0
    step 1, changed in place: []
    step 2, results: 2
    step 2, new speed: 10.0
    """
    found: dict[str, Any] = {}
    go = rule or _by_minigrad(w, rate, share)
    weight, speed = np.array([w]), np.array([0.0])
    for i in range(1, STEPS + 1):
        given = {"w": weight, "g": 2 * weight, "speed": speed}
        before = {name: np.array(x) for name, x in given.items()}
        result = go(*given.values(), rate, share)
        results = items_of(result)
        found[f"step {i}, results"] = result if results is None else len(results)
        if results is None or len(results) != 2:
            break
        weight, speed = results
        found[f"step {i}, new speed"] = _alone(speed)
        found[f"step {i}, new weight"] = _alone(weight)
        changed = [name for name in given if not np.array_equal(given[name], before[name])]
        found[f"step {i}, changed in place"] = changed
    return found


def _by_minigrad(w: float, rate: float, share: float) -> Callable[..., Any]:
    """The rule of `mg.optim.SGD`, whose speed is read off the way that the weight has gone."""
    weight = mg.tensor(np.array([w]), requires_grad=True)
    optimizer = mg.optim.SGD([weight], lr=rate, momentum=share)

    def rule(was: Any, *_: Any) -> Any:
        optimizer.zero_grad()
        (weight * weight).sum().backward()
        optimizer.step()
        now = weight.numpy().copy()
        return now, (was - now) / rate

    return rule


def _alone(value: Any) -> Any:
    """The number in an array of one; anything else as it is."""
    one = isinstance(value, np.ndarray) and value.shape == (1,)
    return value.item() if one else value

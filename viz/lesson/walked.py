"""The gradients of a formula, node by node: `walked`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

import numpy as np

import minigrad as mg
from viz.film.others import other_film
from viz.page.player import Player

__all__ = ["walked"]


class Walked(dict[str, Any]):
    """Gradients by the names of the nodes; of another engine, `drawn` plays how it found them."""

    nodes: Mapping[str, Any] | None = None

    def drawn(self) -> Player | None:
        """A player of what that engine tells; None of minigrad's own gradients."""
        if self.nodes is None:
            return None
        names = {id(node): name for name, node in self.nodes.items()}
        return Player([other_film([self.nodes["y"]], names)]).at_backward()


def walked(
    formula: Callable[..., dict[str, Any]],
    seed: Any,
    numbers: Mapping[str, Any],
    engine: ModuleType | None = None,
) -> Walked:
    """The gradient of `y` for each node of a formula that it names, in the order of those names.

    formula: takes a node for each of `numbers`, by its name, and returns a dict of nodes, of which
    "y" is the result. seed: the gradient of y itself. engine: a learner's, whose `backward` is
    asked (a node that it has no gradient for is left out); without one, minigrad answers. KeyError
    for a formula without a "y".

    >>> def square(x):
    ...     return {"y": x * x, "x": x}
    >>> {name: float(g) for name, g in walked(square, 10.0, {"x": 3.0}).items()}
    {'y': 10.0, 'x': 60.0}
    """
    fed = {name: np.asarray(number, float) for name, number in numbers.items()}
    if engine is None:
        return _by_minigrad(formula, seed, fed)
    inputs = {name: engine.Node("Placeholder", name=name) for name in fed}
    nodes = formula(**inputs)
    y, seed = nodes["y"], np.asarray(seed)
    known = {inputs[name]: number for name, number in fed.items()}
    values = engine.run_in_order(engine.topological_order([y]), known)
    engine.note("passed back", y, (y, seed, seed))
    found = engine.backward(y, seed, values) or {}
    gradients = Walked({name: found[node] for name, node in nodes.items() if node in found})
    gradients.nodes = nodes
    return gradients


def _by_minigrad(
    formula: Callable[..., dict[str, Any]], seed: Any, fed: Mapping[str, Any]
) -> Walked:
    with mg.Graph():
        inputs = {k: mg.placeholder(k, shape=n.shape, dtype=n.dtype) for k, n in fed.items()}
        nodes = formula(**inputs)
        slopes = mg.gradients(nodes["y"], [*nodes.values()], np.asarray(seed))
        graph = mg.build_graph([*inputs.values()], list(slopes))
        return Walked(zip(nodes, mg.run(graph, feed_dict=fed), strict=True))

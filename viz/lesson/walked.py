"""Answers that show how they came about: `played`, and `walked`, the gradients of a formula."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

import numpy as np

import minigrad as mg
from viz.film.film import Track
from viz.film.others import other_film
from viz.page.player import Player
from viz.picture.others import is_other
from viz.picture.summary import Summary
from viz.words.text import row

__all__ = ["played", "walked"]


class Played(dict[str, Any]):
    """What an answer found, by names; a check that refuses it plays what its engine told."""

    nodes: Mapping[str, Any] | None = None
    runs: Mapping[str | None, list[Any]] | None = None  # if the engine holds other events by then

    def drawn(self, wrong: str | None = None) -> Player | None:
        """A player of the events that led to the last of the nodes; None where there is none.

        wrong: the node at which it opens, at the step that is wrong; or the name of what is to be
        played, where there are several runs.
        """
        if not self.nodes or not is_other([*self.nodes.values()][-1]):
            return None
        if self.runs is not None and wrong not in self.runs:
            return None
        events = None if self.runs is None else self.runs[wrong]
        names = {id(node): name for name, node in self.nodes.items()}
        film = other_film([[*self.nodes.values()][-1]], names, events)
        node = next((n for n in film.picture.nodes if n.label == wrong), None)
        entries = self._judged(film.tracks[node.id]) if node else []
        if not entries:
            return Player([film]).at_the_end()
        step, value = entries[-1]
        player = Player([film], row("check_wrong_here", name=wrong, value=value.told))
        player.index = step
        return player

    def _judged(self, track: Track) -> list[tuple[int, Summary]]:
        """What a check judges of a node, by the steps at which it came about."""
        return track.values


class Walked(Played):
    """Gradients by the names of the nodes."""

    def _judged(self, track: Track) -> list[tuple[int, Summary]]:
        return track.gradients


def played(found: Mapping[str, Any], **nodes: Any) -> Played:
    """What an answer found, with nodes of the learner's engine: where it is wrong, they are played.

    nodes: by the names that the player shows; it plays what led to the last of them.

    >>> from viz.lesson import my_engine
    >>> x = my_engine.Tensor(3.0, requires_grad=True)
    >>> answer = played({"value": 9.0}, x=x, y=x * x)
    >>> answer, answer.drawn().films[0].frames[1].caption[0]
    ({'value': 9.0}, 'run and recorded at once: y = x × x = 9')
    """
    told = Played(found)
    told.nodes = nodes
    return told


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
    gradients.nodes = {**{k: n for k, n in nodes.items() if k != "y"}, "y": y}
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

"""A recording as a film: frozen frames that say what lights up, what it is worth, and why.

Nothing is computed here that the engine did not compute: frames are made from recorded events.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

from minigrad.control import WHILE
from minigrad.core import BaseNode, Spec
from minigrad.core.events import Event, phase_of
from minigrad.diagnostics.errors import GraphError
from minigrad.dynamic.tape import TapeNode
from minigrad.dynamic.tensor import Tensor
from minigrad.ops.parts import Parts, output
from minigrad.static import Node
from viz.film.director import NOTHING_KNOWN, Director, Rounds
from viz.film.failure import failing_node, failure
from viz.film.film import Film, Frame
from viz.film.score import components
from viz.picture.picture import Picture, number
from viz.picture.summary import SHORT, summarize
from viz.words.progress import with_progress
from viz.words.text import Pair

__all__ = ["NOTHING_KNOWN", "Film", "Frame", "failed_film", "static_film", "still_film"]
__all__ += ["stopped_film", "summarize"]


def still_film(
    picture: Picture,
    note: Pair = ("", ""),
    values: Mapping[TapeNode, Any] = NOTHING_KNOWN,
    **look: Any,
) -> Film:
    """Return a film of one frame: the picture, with the formulas and the lines of its nodes.

    `note` is said beneath; `values` are what nodes of a tape hold; `look` are the fields of Film
    that say how it is drawn.
    """
    director = Director(picture)
    director.describe(values)
    return Film(picture, (Frame(note),), director.tracks, **look)


def stopped_film(error: GraphError, names: Mapping[int, str]) -> Film:
    """Return what existed when something could not be built; raise the error if nothing did."""
    found = failure(error, names)
    if found.picture is None:
        raise error
    return failed_film(found.picture, found.failed, error)


def failed_film(picture: Picture, failed: str, error: Exception) -> Film:
    """Return a still of what cannot run, with the node at which it fails."""
    director = Director(picture)
    director.describe()
    director.frames.clear()
    nodes = (x for x, i in picture.ids.items() if i == failed and isinstance(x, BaseNode))
    return director.failed(failed, next(nodes, None), error)


def film_and_steps(picture: Picture, events: Iterable[Event]) -> tuple[Film, list[int]]:
    """Return the film of recorded events, and how many steps it had before each of them."""
    director, steps = Director(picture), []
    events_list = list(events)
    leaves = {i: t for t, i in picture.ids.items() if isinstance(t, Tensor)}
    director.show_leaves((leaves[i], leaves[i]._array) for i in _initial_leaves(picture, leaves))
    later = _NodeContributions(director, events_list)
    for event in with_progress(events_list, "progress_events"):
        steps.append(len(director.frames))
        later.on_event(event)
        if event.node in picture.ids:
            _direct(director, event)
    later.built_so_far()
    return director.film(), steps


def _initial_leaves(picture: Picture, leaves: Iterable[str]) -> Iterable[str]:
    """Return the leaves of the first graph, and unread ones; others appear with their graph."""
    graphs = components(picture)
    readers = {x: graphs[n.id] for n in reversed(picture.nodes) for x in n.inputs}
    first = next((graphs[n.id] for n in picture.nodes if n.inputs), "")
    return (i for i in leaves if readers.get(i, first) == first)


def _direct(director: Director, event: Event) -> None:
    """Add the step for one event of a node in the picture."""
    node = event.node
    if event.kind == "built" and isinstance(node, Node):
        director.built(node)
    elif event.kind == "read" and isinstance(node, Node):
        director.read(node, event.value)
    elif event.kind == "step":
        director.began(node, event.position)
    elif event.kind == "forgotten":
        director.freed(node)
        if isinstance(node, Tensor):  # the next call is given another one
            director.show_leaves([(node, node._array)])
    elif event.kind in ("run", "called"):
        director.next_call()
        given = event.operands or [None if isinstance(x, Spec) else x for x in node.inputs]
        read = [(x if isinstance(x, Tensor) else (node, i)) for i, x in enumerate(node.inputs)]
        director.show_leaves(zip(read, given, strict=True))
        director.run(node, event.value, event.operands)
    elif event.kind == "contributed" and isinstance(event.source, TapeNode):
        if event.source not in director.picture.ids:
            return
        if event.source.op is output:  # handed on to the operator with several results
            director.handed_on(event.source, node)
            return
        upstream, part = event.operands or (None, None)
        director.contributed(event.source, node, event.position, upstream, part, event.value)


class _NodeContributions:
    """Contributions of a static graph: built as nodes first, worth something when these ran."""

    def __init__(self, director: Director, events: Sequence[Event]) -> None:
        self.director = director
        ids = director.picture.ids
        self.hidden = 0  # gradient nodes that were built since, and are not in the picture
        self.built: list[Event] = []
        self.values: dict[Any, Any] = {}
        self.waiting: dict[Any, list[Event]] = {}  # by the node of the sum
        self.kept_out = {
            e.node
            for e in events
            if isinstance(e.node, Node) and e.node not in ids and phase_of(e.node) == "backward"
        }

    def on_event(self, event: Event) -> None:
        if event.kind == "contributed" and isinstance(event.source, Node):
            self.add_event(event)
        elif event.kind == "built" and event.node in self.kept_out:
            self.hidden += 1
        elif event.kind in ("built", "run", "read"):
            self.built_so_far()
            self.values[event.node] = event.value
            for contribution in self.waiting.get(event.node, ()):
                contribute(self.director, contribution, self.values)

    def add_event(self, event: Event) -> None:
        """Note that a contribution was built; one without values is ignored."""
        ids = self.director.picture.ids
        if event.value is not None and event.source in ids and event.node in ids:
            self.built.append(event)
            part = event.operands[1]  # of several results: shown when the last of them is known
            last = [*part.parts.values()][-1] if isinstance(part, Parts) else event.value
            self.waiting.setdefault(last, []).append(event)

    def built_so_far(self) -> None:
        if self.hidden:
            self.director.gradients(self.hidden, self.built)
        self.hidden, self.built = 0, []


def contribute(director: Director, event: Event, values: Mapping[Any, Any]) -> None:
    """Add the step of a contribution built as nodes, with their values, if it is drawn."""
    source, target = event.source, event.node
    if source is None or source not in director.picture.ids or target not in director.picture.ids:
        return
    if isinstance(event.operands[1], Parts):
        director.handed_on(source, target)
        return
    upstream, part, total = (_gradient_value(x, values) for x in (*event.operands, event.value))
    director.contributed(source, target, event.position, upstream, part, total)


def _rounds(event: Event, ran: Mapping[Any, Any], ids: Mapping[Any, str]) -> Rounds:
    """Return what a loop passes back as a sum over its rounds, and its states' first gradients."""
    loop, result = event.source, event.operands[1]
    scan = result.inputs[0] if getattr(result, "op", None) is output else result
    if loop is None or loop.op is not WHILE or "body" not in getattr(scan, "attrs", ()):
        return None, {}
    made, count = scan.attrs["body"].outputs, loop.attrs["carries"]
    totals = [0, *ran.get(made[result.attrs.get("index", 0)], ())]
    shares = " + ".join(number(after - before) for before, after in pairwise(totals))
    whole = summarize(totals[-1])
    summed = replace(whole, short=shares.replace(" ", ""), text=f"{shares} = {whole.text}")
    few = event.position >= count and len(totals) > 2 and len(shares) < SHORT and "…" not in shares
    states = [x for x in loop.attrs["body"].inputs[:count] if x.dtype.kind == "f"]
    pairs = ((x, ran[y][0]) for x, y in zip(states, made, strict=False) if y in ran and x in ids)
    return summed if few else None, {ids[x]: summarize(value) for x, value in pairs}


def _gradient_value(x: Any, values: Mapping[Any, Any]) -> Any:
    """Return the value of a gradient node, or of one per result; None if unknown."""
    if isinstance(x, Parts):
        return Parts({key: values[part] for key, part in x.parts.items()})
    return values.get(x)


def static_film(
    picture: Picture,
    nodes: Sequence[Node],
    built: Sequence[Event],
    runs: Iterable[Sequence[Event]],
    extra: int = 0,
    error: GraphError | None = None,
    own: Iterable[Node] = (),
) -> Film:
    """Return the film of a static graph: every node is built, then the fed graph runs.

    `built` holds the contributions noted while the gradient nodes were built, `runs` each run
    of the forward nodes and the gradient nodes, `extra` how many gradient nodes there are, `error`
    what stopped the run, `own` the inputs that are outputs, too, and get no other gradient.
    """
    director = Director(picture)
    for node in nodes:
        director.built(node)
    if extra:
        director.gradients(extra, built)
    for ran in runs:
        known: dict[Any, list[Any]] = {}
        for event in with_progress(ran, "progress_events"):
            if event.kind in ("read", "run"):
                known.setdefault(event.node, []).append(event.value)
            if event.node in picture.ids:
                _direct(director, event)
        if error is not None:
            culprit = failing_node(error)
            return director.failed(picture.ids.get(culprit, ""), culprit, error)
        values = {node: found[-1] for node, found in known.items()}
        for event in built:
            director.rounds = _rounds(event, known, picture.ids)
            contribute(director, event, values)
        for node in own:
            director.seed(node, np.ones_like(values[node]))
    return director.film()

"""A recording as a film: frozen frames that say what lights up, what it is worth, and why.

Nothing is computed here that the engine did not compute: frames are made from recorded events.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from minigrad.core import BaseNode, Spec
from minigrad.core.events import Event
from minigrad.diagnostics.errors import GraphError
from minigrad.dynamic.tape import TapeNode
from minigrad.dynamic.tensor import Tensor
from minigrad.ops.parts import Parts, output
from minigrad.static import Node
from viz.film.director import Director
from viz.film.failure import failing_node, failure
from viz.film.film import Film, Frame, Track
from viz.picture.picture import Picture
from viz.picture.summary import Summary, summarize
from viz.words.text import Pair, row

NOTHING_KNOWN: Mapping[TapeNode, Any] = MappingProxyType({})

__all__ = [
    "Film",
    "Frame",
    "Summary",
    "Track",
    "event_film",
    "failed_film",
    "static_film",
    "still_film",
    "stopped_film",
    "summarize",
]


def still_film(
    picture: Picture,
    note: Pair = ("", ""),
    values: Mapping[TapeNode, Any] = NOTHING_KNOWN,
    **look: Any,
) -> Film:
    """A film of one frame: what there is, with the formulas and the lines of its nodes.

    `note` is said beneath; `values` are what nodes of a tape hold; `look` are the fields of Film
    that say how it is drawn.
    """
    director = Director(picture)
    director.describe()
    for node, value in values.items():
        if node in picture.ids:
            director.tracks[picture.ids[node]].values.append((0, summarize(value)))
    return Film(picture, (Frame(note),), director.tracks, **look)


def stopped_film(error: GraphError, names: Mapping[int, str]) -> Film:
    """What there was when something could not be built. Raises the error, if there was nothing."""
    found = failure(error, names)
    if found.picture is None:
        raise error
    return failed_film(found.picture, found.failed, error)


def failed_film(picture: Picture, failed: str, error: Exception) -> Film:
    """A still of what cannot run, with the node that it fails at."""
    director = Director(picture)
    director.describe()
    director.frames.clear()
    node = next(
        (x for x, i in picture.ids.items() if i == failed and isinstance(x, BaseNode)), None
    )
    return director.failed(failed, node, error)


def event_film(picture: Picture, events: Iterable[Event]) -> Film:
    """The film of recorded events in the order in which they happened.

    A contribution that was built as a node has no value yet, so it makes no frame; its nodes do.
    """
    director = Director(picture)
    ids = picture.ids
    director.show_leaves((t, t.data) for t in ids if isinstance(t, Tensor))
    for event in events:
        node = event.node
        if node is None or node not in ids:
            continue
        if event.kind == "built" and isinstance(node, Node):
            director.built(node)
        elif event.kind == "read" and isinstance(node, Node):
            director.read(node, event.value)
        elif event.kind == "step":
            director.began(node, event.position)
        elif event.kind == "forgotten":
            director.freed(node)
        elif event.kind in ("run", "called"):
            known = [None if isinstance(x, Spec) else x for x in node.inputs]
            given = event.operands or known
            constants = [(node, i) for i in range(len(given)) if (node, i) in ids]
            director.show_leaves((key, given[key[1]]) for key in constants)
            director.run(node, event.value, event.operands)
        elif (
            event.kind == "contributed"
            and event.source in ids
            and isinstance(event.source, TapeNode)
        ):
            upstream, part = event.operands or (None, None)
            if event.source.op is output:  # handed on to the operator with several results
                continue
            if not any(t.gradients for t in director.tracks.values()):
                director.seed(event.source, upstream)
            director.contributed(event.source, node, event.position, upstream, part, event.value)
    return director.film()


def _worth(x: Any, values: Mapping[Any, Any]) -> Any:
    """The value of a gradient node, or of one for each of several results."""
    if isinstance(x, Parts):
        return Parts({key: values[part] for key, part in x.parts.items()})
    return values[x]


def static_film(
    picture: Picture,
    nodes: Sequence[Node],
    built: Sequence[Event],
    ran: Sequence[Event],
    extra: int = 0,
    error: GraphError | None = None,
) -> Film:
    """The film of a static graph: every node is born, then the fed graph runs.

    `built` holds the contributions noted while the gradient nodes were built, `ran` the run of
    the forward nodes and the gradient nodes, `extra` how many gradient nodes there are, `error`
    what stopped the run.
    """
    director = Director(picture)
    for node in nodes:
        director.built(node)
    director.counts["built"] += extra
    if extra:
        sources = dict.fromkeys(picture.ids.get(x, "") for e in built for x in (e.source, e.node))
        director.add(Frame(row("step_gradients", count=extra), tuple(filter(None, sources))))
    values: dict[Any, Any] = {}
    for event in ran:
        if event.kind in ("read", "run"):
            values[event.node] = event.value
        if event.kind == "read" and isinstance(event.node, Node) and event.node in picture.ids:
            director.read(event.node, event.value)
        elif event.kind == "step" and event.node in picture.ids:
            director.began(event.node, event.position)
        elif event.kind == "run" and event.node in picture.ids:
            director.run(event.node, event.value, event.operands)
    if error is not None:
        culprit = failing_node(error)
        return director.failed(picture.ids.get(culprit, ""), culprit, error)
    for event in built:
        if event.node not in picture.ids or event.source is None or event.source not in picture.ids:
            continue
        if isinstance(event.operands[1], Parts):
            continue
        upstream, part, total = (_worth(x, values) for x in (*event.operands, event.value))
        if not any(t.gradients for t in director.tracks.values()):
            director.seed(event.source, upstream)
        director.contributed(event.source, event.node, event.position, upstream, part, total)
    return director.film()

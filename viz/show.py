"""The verbs that make players: step, compare, timeline."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

import minigrad as mg
from minigrad.eager import Tensor
from minigrad.events import Recording
from minigrad.graph import Graph, Node
from viz.draw import names_in
from viz.frames import Film
from viz.picture import brief
from viz.player import Player
from viz.replay import replay_graph, replay_tape
from viz.text import Pair, printed, row


def step(
    obj: Any, feed_dict: Mapping[Any, Any] | None = None, session: mg.Session | None = None
) -> Player:
    """A player for the forward and the backward pass, one operator at a time.

    obj: a tensor (its tape is run again from its leaves, the user's tape stays as it is), a graph
    node or a graph (run with `feed_dict`; variables as in `session`, or with their first values),
    or a function without arguments that computes a tensor.
    Raises TypeError for other things, and what a run raises.
    """
    return Player([_film(obj, feed_dict, session, names_in(sys._getframe(1)))])


def _film(
    obj: Any,
    feed_dict: Mapping[Any, Any] | None,
    session: mg.Session | None,
    names: Mapping[int, str],
) -> Film:
    if callable(obj) and not isinstance(obj, (Tensor, Node)):
        obj = obj()
    if isinstance(obj, Graph):
        return replay_graph(list(obj.outputs), feed_dict, session, names)
    items = list(obj) if isinstance(obj, (list, tuple)) else [obj]
    if items and all(isinstance(x, Tensor) for x in items):
        return replay_tape(items, names)
    if items and all(isinstance(x, Node) for x in items):
        return replay_graph(items, feed_dict, session, names)
    raise TypeError(printed("cannot_draw", value=brief(obj)))


def compare(model: Callable[..., Any], *inputs: Any) -> Player:
    """The same function both ways, side by side: dynamic on the left, static on the right.

    model: a function (or layer) of tensors or nodes; inputs: arrays or tensors for it, of which
    floating-point ones get a gradient. That both give the same bits is checked and said.
    """
    arrays = [np.array(getattr(x, "data", x)) for x in inputs]
    arrays = [a.astype(mg.float32) if a.dtype == mg.float64 else a for a in arrays]
    labels = [f"x{i}" if len(arrays) > 1 else "x" for i in range(1, len(arrays) + 1)]
    tensors = [
        mg.tensor(a, requires_grad=a.dtype.kind == "f") for a in arrays
    ]
    names = {id(t): label for t, label in zip(tensors, labels, strict=True)}
    dynamic = replay_tape([model(*tensors)], names)
    with mg.Graph():
        nodes = [
            mg.placeholder(label, shape=a.shape, dtype=a.dtype)
            for label, a in zip(labels, arrays, strict=True)
        ]
        output = model(*nodes)
        static = replay_graph([output], dict(zip(nodes, arrays, strict=True)), None, {})
    return Player([dynamic, static], _verdict(dynamic, static))


def _verdict(dynamic: Film, static: Film) -> Pair:
    """Whether both films end with the same values and gradients."""
    pairs = [(_ends(dynamic), _ends(static))]
    return row("equal_bits") if all(a == b for a, b in pairs) else row("unequal_bits", difference="?")


def _ends(film: Film) -> list[Any]:
    return []


def timeline(log: Recording) -> Player:
    """A player for a recording: which nodes were born when, and which ran when.

    log: from `with mg.record(values=True) as log:`.
    """
    raise TypeError(printed("cannot_draw", value=brief(log)))

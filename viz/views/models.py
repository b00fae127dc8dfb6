"""Models of the user's own, from other systems: both ways, and how far they are the original's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np

from minigrad.diagnostics.errors import GraphError
from minigrad.diagnostics.source import Location
from minigrad.interop.captured import TOLERANCE, Captured, Rule, gap
from minigrad.interop.models import beside, capture
from viz.film.film import Film
from viz.film.replay import replay_graph, replay_tape
from viz.page.player import Player
from viz.picture.aligning import alignment
from viz.words.text import Pair, Right, row
from viz.words.user import OWN, user

T = TypeVar("T")


def captured(model: Any, inputs: Sequence[Any]) -> Captured | None:
    """A model of the user's as a graph of ours; None for other things."""
    return _located(capture, model, inputs)


def _located(function: Callable[..., T], model: Any, inputs: Sequence[Any]) -> T:
    """What the function finds out about a model; an error that names no line names the user's."""
    try:
        return function(model, inputs)
    except GraphError as error:
        if error.ran is None or error.ran.filename.startswith(OWN):
            error.ran = user()
        raise


def verdict(model: Captured) -> Pair:
    """How far values and gradients are from the original's, and which operators call it."""
    gaps = model.gaps()
    right = max(gaps) <= TOLERANCE
    forward_only = _no_backward(model)
    key = "model_checked" if right else "model_differs"
    if right and forward_only:
        key = "model_checked_forward"
    values, gradients = (f"{gap:.1e}" if gap else "0" for gap in gaps)
    told = {"system": model.system, "values": values, "gradients": gradients}
    said = row(key, **told, allowed=f"{TOLERANCE:g}")
    if forward_only:
        said = f"{said[0]} {forward_only[0]}", f"{said[1]}{forward_only[1]}"
    if model.boxes:
        more = row("model_boxes", system=model.system, names=", ".join(model.boxes))
        said = f"{said[0]} {more[0]}", f"{said[1]}{more[1]}"
    if model.own_rules:
        names = ", ".join(map(_ruled, model.own_rules))
        more = row("model_own_rules", system=model.system, names=names)
        said = f"{said[0]} {more[0]}", f"{said[1]}{more[1]}"
    return Right(said) if right else said


def _ruled(rule: Rule) -> str:
    name, line = rule
    return name if line is None else f"{name} ({Location(*line).place})"


def _no_backward(model: Captured) -> Pair | None:
    """Why there is no backward pass, if there is none."""
    if model.refused is not None:
        reason, operator, line = model.refused.reason, model.refused.operator, model.refused.line
        if line is None:
            return row("model_refused", system=model.system, reason=reason)
        where = Location(*line).label
        told = {"operator": operator, "where": where, "reason": reason}
        return row("model_refused_at", system=model.system, **told)
    if all(y.dtype.kind != "f" for y in model.outputs):
        dtypes = ", ".join(dict.fromkeys(str(y.dtype) for y in model.outputs))
        return row("model_no_real_output", dtypes=dtypes)
    if not model.leaves:
        return row("model_no_real_input")
    return row("model_no_path") if all(g is None for g in model.gradients_here) else None


def compared(model: Any, inputs: Sequence[Any]) -> Player | None:
    """A PyTorch model as it runs, beside the graph captured of it; None for other things."""
    both = _located(beside, model, inputs)
    if both is None:
        return None
    graph, tensors = both
    names = frozenset(x.name for x in graph.feeds)
    dynamic = replay_tape(tensors, {}, {}, names)
    static = replay_graph(list(graph.outputs), graph.feeds, None, {})
    films = [_whole(dynamic).ticking(), _whole(static).ticking()]
    apart = _apart(*films)
    said = row("model_beside", difference=f"{apart:.1e}" if apart else "0")
    checked = verdict(graph)
    told = f"{checked[0]} {said[0]}", f"{checked[1]}{said[1]}"
    right = isinstance(checked, Right) and apart <= TOLERANCE
    links = [alignment(dynamic.picture, static.picture)]
    return Player(films, Right(told) if right else told, links)


def _whole(film: Film) -> Film:
    """The film, if the run in it came to its end; else the error that stopped it."""
    if film.error is not None:
        raise film.error
    return film


def _apart(dynamic: Film, static: Film) -> float:
    """How far what both end with is apart, outputs and gradients each of the largest magnitude."""
    sides = [{(k[0], k[-1]): v for k, v in film.results.items()} for film in (dynamic, static)]
    found = 0.0
    for kind in ("output", "gradient"):
        keys = [k for k in {**sides[0], **sides[1]} if k[0] == kind]
        left, right = ([_flat(side.get(k)) for k in keys] for side in sides)
        found = max(found, gap(left, right))
    return found


def _flat(x: Any) -> Any:
    return None if x is None else np.asarray(x)

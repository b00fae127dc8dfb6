"""Models from other systems, played both ways, and how closely they match the original."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

import numpy as np

from minigrad.diagnostics.errors import GraphError
from minigrad.diagnostics.source import Location
from minigrad.interop.captured import TOLERANCE, Captured, relative_gap
from minigrad.interop.models import beside, capture, with_loss_and_args
from viz.film.film import Film
from viz.film.replay import replay_graph, replay_tape
from viz.page.player import Player
from viz.picture.aligning import alignment
from viz.words.text import Pair, Right, row
from viz.words.user import OWN, user

T = TypeVar("T")


def try_capture(model: Any, inputs: Sequence[Any]) -> Captured | None:
    """Capture a user's model as a graph of this engine; return None for other things."""
    return _located(capture, model, inputs)


def _located(function: Callable[..., T], model: Any, inputs: Sequence[Any]) -> T:
    """Call the function on a model; an error without a line gets the line of the user's code."""
    try:
        return function(model, inputs)
    except GraphError as error:
        line = error.ran or error.defined
        if line is None or line.filename.startswith(OWN):
            error.ran = user()
        raise


def verdict(model: Captured) -> Pair:
    """Say how far values and gradients are from the original's, and which operators call it."""
    gaps = model.gaps()
    right = max(gaps) <= TOLERANCE
    forward_only = why_no_backward(model)
    precise = None if right else _gaps_in_float64(model)
    key = "model_checked" if right else "model_differs" if precise is None else "model_rounded"
    if right and forward_only:
        key = "model_checked_forward"
    fields = {"system": model.system, "values": _number(gaps[0]), "gradients": _number(gaps[1])}
    if precise is not None:
        fields |= {"exact_values": _number(precise[0]), "exact_gradients": _number(precise[1])}
    said = [row(key, **fields, allowed=f"{TOLERANCE:g}")]
    right = right or precise is not None
    said += [*([] if right else _where(model, *gaps)), *forward_only, *_remarks(model)]
    pair = _joined(said)
    return Right(pair) if right else pair


def _joined(sentences: Sequence[Pair]) -> Pair:
    """Join sentences, one after the other."""
    return " ".join(one for one, _ in sentences), "".join(other for _, other in sentences)


def _number(gap: float) -> str:
    return f"{gap:.1e}" if gap else "0"


def _gaps_in_float64(model: Captured) -> tuple[float, float] | None:
    """Return the gaps to the original in float64, if they show that rounding is the reason."""
    precise = model.about.precise()
    gaps = None if precise is None else precise.gaps()
    return gaps if gaps is not None and max(gaps) <= TOLERANCE else None


def _where(model: Captured, values: float, gradients: float) -> Iterator[Pair]:
    """Yield where it starts to differ from the original, if it does."""
    if values > TOLERANCE and (node := model.first_value_apart()) is not None:
        yield row(
            "model_value_from", op=node.op.name, layer=node.scope or "–", line=node.where.label
        )
    if gradients > TOLERANCE and (name := model.first_gradient_apart()) is not None:
        yield row("model_gradient_from", name=name)


def _remarks(model: Captured) -> Iterator[Pair]:
    """Yield the remarks about a model besides the numbers."""
    about, system = model.about, model.system
    yield from about.notes
    if about.recorded:
        yield row("model_recorded", system=system)
    if about.beside:
        yield row("model_returns_more", values=", ".join(about.beside))
    if about.lost and about.refused is None:
        yield row("model_lost", system=system, names=", ".join(about.lost))
    if about.hooks:
        yield row("model_hooks", names=", ".join(about.hooks))
    for names in about.tied:
        yield row("model_tied", names=" = ".join(names))
    if model.boxes:
        yield row("model_boxes", system=system, names=", ".join(model.boxes))
    if about.own_rules:
        found = ((name, line and Location(*line).place) for name, line in about.own_rules)
        names = ", ".join(f"{name} ({place})" if place else name for name, place in found)
        yield row("model_own_rules", system=system, names=names)


def why_no_backward(model: Captured) -> list[Pair]:
    """Return why there is no backward pass; an empty list if there is one."""
    if (refused := model.about.refused) is not None:
        fields = {"system": model.system, "reason": refused.reason}
        if refused.line is None:
            return [row("model_refused", **fields)]
        where = Location(*refused.line).label
        return [row("model_refused_at", operator=refused.operator, where=where, **fields)]
    if all(y.dtype.kind != "f" for y in model.outputs):
        dtypes = ", ".join(dict.fromkeys(str(y.dtype) for y in model.outputs))
        return [row("model_no_real_output", dtypes=dtypes)]
    if not model.leaves:
        return [row("model_no_real_input")]
    return [row("model_no_path")] if all(g is None for g in model.gradients_here) else []


def play_beside(model: Any, inputs: Sequence[Any]) -> Player | None:
    """Play a PyTorch model as it runs, beside the graph captured of it; None for other things."""
    both = _located(beside, *with_loss_and_args(model, inputs, {}, None))
    if both is None:
        return None
    graph, tensors = both
    graph.keep()
    dynamic = replay_tape(tensors, {}, {}, frozenset(x.name for x in graph.feeds))
    static = replay_graph(list(graph.outputs), graph.feeds, None, {})
    films = [_raise_if_failed(dynamic).timed(), _raise_if_failed(static).timed()]
    apart = _max_gap(*films)
    key = "model_beside_recorded" if graph.about.recorded else "model_beside"
    checked = verdict(graph)
    verdict_text = _joined([checked, row(key, difference=_number(apart))])
    right = isinstance(checked, Right) and apart <= TOLERANCE
    links = [alignment(dynamic.picture, static.picture)]
    return Player(films, Right(verdict_text) if right else verdict_text, links)


def _raise_if_failed(film: Film) -> Film:
    """Return the film if its run finished; raise the error that stopped it otherwise."""
    if film.error is not None:
        raise film.error
    return film


def _max_gap(dynamic: Film, static: Film) -> float:
    """Return the gap between both runs' results, relative to the largest output or gradient."""
    sides = [{(k[0], k[-1]): v for k, v in film.results.items()} for film in (dynamic, static)]
    found = 0.0
    for kind in ("output", "gradient"):
        keys = [k for k in {**sides[0], **sides[1]} if k[0] == kind]
        found_there = ([side.get(k) for k in keys] for side in sides)
        left, right = ([x if x is None else np.asarray(x) for x in some] for some in found_there)
        found = max(found, relative_gap(left, right))
    return found

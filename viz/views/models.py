"""Models of the user's own, from other systems: both ways, and how far they are the original's."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from minigrad.interop.captured import TOLERANCE, Captured, gap
from minigrad.interop.models import beside
from viz.film.film import Film
from viz.film.replay import replay_graph, replay_tape
from viz.page.player import Player
from viz.picture.aligning import alignment
from viz.words.text import Pair, Right, row


def verdict(model: Captured) -> Pair:
    """How far values and gradients are from the original's, and which operators call it."""
    gaps = model.gaps()
    right = max(gaps) <= TOLERANCE
    precise = None if right else _gaps_in_float64(model)
    key = "model_checked" if right else "model_differs" if precise is None else "model_rounded"
    if model.about.refused:
        key = "model_values"
    told = {"system": model.system, "values": _number(gaps[0]), "gradients": _number(gaps[1])}
    if precise is not None:
        told |= {"exact_values": _number(precise[0]), "exact_gradients": _number(precise[1])}
    said = [row(key, **told, allowed=f"{TOLERANCE:g}")]
    right = right or precise is not None
    said += [*([] if right else _where(model, *gaps)), *_about(model)]
    pair = " ".join(one for one, _ in said), "".join(other for _, other in said)
    return Right(pair) if right and not model.about.refused else pair


def _number(gap: float) -> str:
    return f"{gap:.1e}" if gap else "0"


def _gaps_in_float64(model: Captured) -> tuple[float, float] | None:
    """How far it is from the original in float64, if that shows that rounding is the reason."""
    precise = model.about.precise()
    gaps = None if precise is None else precise.gaps()
    return gaps if gaps is not None and max(gaps) <= TOLERANCE else None


def _where(model: Captured, values: float, gradients: float) -> Iterator[Pair]:
    """Where it starts to differ from the original, if it does."""
    if values > TOLERANCE and (node := model.first_value_apart()) is not None:
        yield row(
            "model_value_from", op=node.op.name, layer=node.scope or "–", line=node.where.label
        )
    if gradients > TOLERANCE and (name := model.first_gradient_apart()) is not None:
        yield row("model_gradient_from", name=name)


def _about(model: Captured) -> Iterator[Pair]:
    """What is to be said beside the numbers."""
    about, system = model.about, model.system
    if about.refused:
        yield row("model_refused_gradients", system=system, reason=about.refused)
    if about.lost:
        yield row("model_lost", system=system, names=", ".join(about.lost))
    if about.hooks:
        yield row("model_hooks", names=", ".join(about.hooks))
    for names in about.tied:
        yield row("model_tied", names=" = ".join(names))
    if model.boxes:
        yield row("model_boxes", system=system, names=", ".join(model.boxes))


def compared(model: Any, inputs: Sequence[Any]) -> Player | None:
    """A PyTorch model as it runs, beside the graph captured of it; None for other things."""
    both = beside(model, inputs)
    if both is None:
        return None
    captured, tensors = both
    names = frozenset(x.name for x in captured.feeds)
    dynamic = replay_tape(tensors, {}, {}, names)
    static = replay_graph(list(captured.outputs), captured.feeds, None, {})
    films = [_whole(dynamic).ticking(), _whole(static).ticking()]
    apart = _apart(*films)
    said = row("model_beside", difference=f"{apart:.1e}" if apart else "0")
    checked = verdict(captured)
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

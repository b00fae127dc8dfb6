"""A model of the user's own, seen whole: its modules with what ran in them and what came back."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from minigrad.diagnostics.errors import TraceError
from minigrad.diagnostics.source import function_name
from minigrad.interop.captured import Captured
from minigrad.interop.models import prepared
from minigrad.static import ancestors
from viz.explorer.content import Content
from viz.explorer.explorer import Explorer
from viz.explorer.witness import SOURCES, Witness
from viz.picture.picture import brief
from viz.views.models import captured, verdict
from viz.words.text import printed

FEW = 25  # operators of a model that is played one by one


def seen_whole(
    obj: Any,
    inputs: Sequence[Any],
    named: Mapping[str, Any],
    loss: Callable[[Any], Any] | None,
    focus: str = "",
    whole: bool | None = None,
) -> Explorer | Captured | None:
    """The explorer of a model of the user's; the captured model, where it is small; else None.

    whole: whether it is seen whole whatever its size. TypeError for a loss or keyword arguments of
    what is no model.
    """
    try:
        model = captured(*prepared(obj, inputs, named, loss))
    except TraceError as error:
        made = None if whole is False else stopped_explorer(obj, error, whole)
        if made is None:
            raise
        return made
    if model is None:
        if named or loss is not None:
            raise TypeError(printed("step_model_only", value=brief(obj)))
        return None
    if whole is False or (whole is None and not is_large(model)):
        return model
    return explorer_of(obj, model, focus)


def is_large(model: Captured) -> bool:
    """Whether a model has more operators than are surveyed one by one."""
    return sum(n.op not in SOURCES for n in ancestors(model.outputs)) > FEW


def explorer_of(obj: Any, model: Captured, focus: str = "") -> Explorer:
    """The explorer of a model that was captured; obj: the model itself, for its name.

    focus: the module that is open at first, "layer3.0"; ValueError if there is none.
    """
    content = Content(name_of(obj), model, Witness(model))
    return Explorer(content, verdict(model), focus)


def stopped_explorer(obj: Any, error: TraceError, whole: bool | None) -> Explorer | None:
    """The explorer of what ran before a model raised; None if little did, or nothing is known."""
    stopped = None if error.before is None else error.before()
    if stopped is None or (whole is None and not is_large(stopped.model)):
        return None
    content = Content(name_of(obj), stopped.model, Witness(stopped.model), stopped)
    content.data["failure"] = list(error.pair)
    made = Explorer(content)
    made.error = error
    return made


def name_of(obj: Any) -> str:
    """What a model is called: a module by its class, a function by its name."""
    named = function_name(obj) if hasattr(obj, "__name__") or hasattr(obj, "func") else ""
    return named if named and named != "<lambda>" else type(obj).__name__

"""A model of the user's own, seen whole: its modules with what ran in them and what came back."""

from __future__ import annotations

from typing import Any

from minigrad.diagnostics.errors import TraceError
from minigrad.diagnostics.source import function_name
from minigrad.interop.captured import Captured
from minigrad.static import ancestors
from viz.explorer.content import Content
from viz.explorer.explorer import Explorer
from viz.explorer.witness import SOURCES, Witness
from viz.views.models import verdict

FEW = 25  # operators of a model that is played one by one


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

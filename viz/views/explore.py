"""A model of the user's own, seen whole: its modules with what ran in them and what came back."""

from __future__ import annotations

from typing import Any

from minigrad.diagnostics.source import function_name
from minigrad.interop.captured import Captured
from viz.explorer.content import Content
from viz.explorer.explorer import Explorer
from viz.explorer.witness import Witness
from viz.views.models import verdict


def explorer_of(obj: Any, model: Captured) -> Explorer:
    """The explorer of a model that was captured; obj: the model itself, for its name."""
    content = Content(name_of(obj), model, Witness(model))
    return Explorer(content, verdict(model))


def name_of(obj: Any) -> str:
    """What a model is called: a module by its class, a function by its name."""
    named = function_name(obj) if hasattr(obj, "__name__") or hasattr(obj, "func") else ""
    return named if named and named != "<lambda>" else type(obj).__name__

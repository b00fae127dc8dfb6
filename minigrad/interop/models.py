"""Capture of a user's model, from any supported system."""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from minigrad.diagnostics.errors import TraceError
from minigrad.diagnostics.source import function_name, here
from minigrad.dynamic.tensor import Tensor
from minigrad.interop.captured import Captured

SYSTEMS = ("torch", "jax")


def _system_of(model: Any, inputs: Sequence[Any]) -> Any:
    """Return the module that captures such a model; None if it is of no supported system.

    Nothing is imported to find out: a model of a system is there only where the system is.
    """
    loaded = (f"minigrad.interop.{s}.capture" for s in SYSTEMS if s in sys.modules)
    systems = map(importlib.import_module, loaded)
    return next((system for system in systems if system.belongs(model, inputs)), None)


def capture(model: Any, inputs: Sequence[Any]) -> Captured | None:
    """Capture the model as a minigrad graph if it belongs to a supported system; else None."""
    system = _system_of(model, inputs)
    return None if system is None else system.capture(model, inputs)


def with_loss_and_args(
    model: Any, inputs: Sequence[Any], named: Mapping[str, Any], loss: Callable[[Any], Any] | None
) -> tuple[Any, Sequence[Any]]:
    """Return a model, followed by a loss if there is one, and its inputs by position.

    A model of no supported system is returned unchanged.
    """
    found = _system_of(model, (*inputs, *named.values()))
    if found is None:
        return model, inputs
    inputs = found.as_given(inputs)
    if named:
        named = dict(zip(named, found.as_given([*named.values()]), strict=True))
        model, inputs = _by_place(model, inputs, named)
    return (model if loss is None else found.with_loss(model, loss)), inputs


def _by_place(
    model: Any, inputs: Sequence[Any], named: Mapping[str, Any]
) -> tuple[Any, Sequence[Any]]:
    """Turn named arguments into positional ones; the others have their defaults."""
    bound = inspect.signature(getattr(model, "forward", model)).bind(*inputs, **named)
    given = bound.arguments
    last = max(
        (i for i, name in enumerate(bound.signature.parameters) if name in given), default=-1
    )
    parameters = list(bound.signature.parameters.values())[: last + 1]
    if all(p.kind == p.POSITIONAL_OR_KEYWORD for p in parameters):
        return model, [given.get(p.name, p.default) for p in parameters]
    count, keys = len(bound.args), list(bound.kwargs)

    def call(*xs: Any) -> Any:
        return model(*xs[:count], **dict(zip(keys, xs[count:], strict=True)))

    call.__name__ = function_name(model)
    kept = [p for p in parameters if p.name in given and not p.kind.name.startswith("VAR_")]
    kept = [p.replace(kind=p.POSITIONAL_OR_KEYWORD, default=p.empty) for p in kept]
    if len(kept) == count + len(keys):
        call.__signature__ = inspect.Signature(kept)  # type: ignore[attr-defined]
    return call, [*bound.args, *bound.kwargs.values()]


def beside(model: Any, inputs: Sequence[Any]) -> tuple[Captured, list[Tensor]] | None:
    """Capture a PyTorch model, with what its operators computed as they ran; else None.

    TraceError for a function of JAX, which has no tape.
    """
    system = _system_of(model, inputs)
    if system is not None and not hasattr(system, "both_ways"):
        raise TraceError("capture_one_way", system=system.SYSTEM, ran=here())
    return None if system is None else system.both_ways(model, inputs)

"""A model of the user's own, of whichever system it is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from minigrad.diagnostics.errors import TraceError
from minigrad.diagnostics.source import here
from minigrad.dynamic.tensor import Tensor
from minigrad.interop.captured import Captured
from minigrad.interop.jax import capture as jax
from minigrad.interop.torch import capture as torch

SYSTEMS = (torch, jax)


def capture(model: Any, inputs: Sequence[Any]) -> Captured | None:
    """The model as a graph of ours, if it belongs to a system that we know; else None.

    Nothing is imported to find out: a model of a system is there only where the system is.
    """
    return next((s.capture(model, inputs) for s in SYSTEMS if s.belongs(model, inputs)), None)


def beside(model: Any, inputs: Sequence[Any]) -> tuple[Captured, list[Tensor]] | None:
    """A PyTorch model captured, and what its operators computed as they ran; else None.

    TraceError for a function of JAX, which has no tape.
    """
    if not torch.belongs(model, inputs) and jax.belongs(model, inputs):
        raise TraceError("capture_one_way", system="JAX", ran=here())
    return torch.both_ways(model, inputs) if torch.belongs(model, inputs) else None

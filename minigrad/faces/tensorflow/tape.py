"""TensorFlow's gradients: `with tf.GradientTape() as tape:`."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any

import minigrad as mg
from minigrad.faces.face import tape_used_error
from minigrad.faces.flow import RULES
from minigrad.faces.tensorflow.tensors import NOW, Variable, as_tf, leaves, map_structure
from minigrad.faces.ties import following as by_rules

__all__ = ["GradientTape", "UnconnectedGradients"]


class UnconnectedGradients:
    """What the gradient for an unconnected source is: None, or 0."""

    NONE, ZERO = "none", "zero"


class GradientTape:
    """A tape that records computations from variables and watched tensors.

    persistent: whether `gradient` can be called more than once.
    """

    def __init__(self, persistent: bool = False, watch_accessed_variables: bool = True) -> None:
        self.persistent, self.watch_accessed_variables = persistent, watch_accessed_variables
        self._watched: list[Any] = []
        self._used = False

    def __enter__(self) -> GradientTape:
        NOW.tapes.append(self)
        return self

    def __exit__(self, *exc: object) -> None:
        NOW.tapes.remove(self)
        if not NOW.tapes:
            while NOW.marked:
                NOW.marked.pop().requires_grad_(False)

    def watch(self, tensor: Any) -> None:
        """Watch a tensor, or several, from now on; integer tensors have no gradient."""
        for x in leaves(tensor):
            if x.dtype.kind == "f":
                self._watched.append(x)
                if isinstance(x, mg.Tensor) and not x.requires_grad:
                    NOW.marked.append(x.requires_grad_())

    @contextlib.contextmanager
    def stop_recording(self) -> Iterator[None]:
        """Record nothing inside the block."""
        NOW.tapes.remove(self)
        try:
            yield
        finally:
            NOW.tapes.append(self)

    def gradient(
        self,
        target: Any,
        sources: Any,
        output_gradients: Any = None,
        unconnected_gradients: str = "none",
    ) -> Any:
        """Return the gradients of the target, or of several summed, arranged as the sources are.

        None where the target does not depend on a source that is watched, or 0 with
        `unconnected_gradients="zero"`. RuntimeError for a second time, unless it is persistent.
        """
        if self._used and not self.persistent:
            raise tape_used_error("GradientTape")
        self._used = True
        xs = [x for x in leaves(sources) if self._is_watched(x)]
        seeds = None if output_gradients is None else [*leaves(output_gradients)]
        found = dict(zip(map(id, xs), compute_gradients([*leaves(target)], xs, seeds), strict=True))
        zero = unconnected_gradients == "zero"

        def answer(x: Any) -> Any:
            g = found.get(id(x))
            return as_tf(mg.zeros_like(x)) if g is None and zero else g

        return map_structure(answer, sources)

    def _is_watched(self, x: Any) -> bool:
        """Return whether x is watched (explicitly or automatically) or has a recorded history."""
        if isinstance(x, Variable):
            accessed = self.watch_accessed_variables and x.trainable
            return accessed or any(x is one for one in self._watched)
        made = x.inputs if isinstance(x, mg.Node) else x.creator
        return bool(made) or any(x is one for one in self._watched)


def compute_gradients(
    ys: Sequence[Any], xs: Sequence[Any], seeds: Sequence[Any] | None
) -> list[Any]:
    """Return the gradients as this module's tensors; None if no y depends on an x."""
    given = [mg.ones_like(y) for y in ys] if seeds is None else seeds
    pairs = [(y, g) for y, g in zip(ys, given, strict=True) if has_history(y)]
    if not pairs or not xs:
        return [None] * len(xs)
    reached, weights = map(list, zip(*pairs, strict=True))
    again = {"retain_graph": True, "create_graph": bool(NOW.tapes), "allow_unused": True}
    with by_rules(RULES):
        return [*map(as_tf, mg.grad(reached, [*xs], weights, **again))]


def has_history(y: Any) -> bool:
    """Return whether y has a recorded history."""
    return isinstance(y, mg.Node) or bool(y.requires_grad) or y.creator is not None

"""Optimisers: one update rule, read by both modes.

A rule takes a parameter, its gradient and its slots, and returns the new parameter and slots. In
the dynamic graph `step()` runs it on arrays; in the static graph `minimize()` builds it from nodes
and ends in assign nodes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from minigrad import ops
from minigrad.backprop import gradients, scoped
from minigrad.build import assign, group
from minigrad.core import Array
from minigrad.errors import GradientError, GraphError
from minigrad.graph import Node
from minigrad.source import here
from minigrad.tape import recording


class Optimizer:
    """Changes parameters by their gradients. Sub-classes write `slots` and `rule`."""

    def __init__(self, params: Iterable[Any]) -> None:
        self.params = list(params)
        if not self.params:
            raise GraphError("no_parameters", op=type(self).__name__, defined=here())
        self._slots: dict[int, tuple[Array, ...]] = {}

    def slots(self, p: Any) -> dict[str, Array]:
        """The values kept for one parameter, by name, as they are at the start."""
        return {}

    def rule(self, p: Any, g: Any, *slots: Any) -> tuple[Any, ...]:
        """The new parameter and the new slots."""
        raise TypeError(f"{type(self).__name__} needs a method rule(self, p, g, *slots)")

    def zero_grad(self) -> None:
        """Forget the gradients of all parameters."""
        for p in self.params:
            p.zero_grad()

    def step(self) -> None:
        """Change every parameter that has a gradient, in place."""
        with recording(False):
            for i, p in enumerate(self.params):
                if p.grad is None:
                    continue
                kept = self._slots.get(i) or tuple(self.slots(p).values())
                new, *slots = self.rule(p.data, p.grad.data, *kept)
                p.copy_(new)
                self._slots[i] = tuple(slots)

    def minimize(self, loss: Node) -> Node:
        """A node that makes one training step when it is fetched: gradients, rule, assignments.

        GradientError when the loss depends on none of the parameters.
        """
        found = gradients(loss, [loss.graph.lift(p) for p in self.params])
        if all(g is None for g in found):
            name = type(self).__name__
            raise GradientError("no_parameter_used", op=name, defined=loss.where, ran=here())
        return self.apply_gradients(zip(found, self.params, strict=True))

    def apply_gradients(self, pairs: Iterable[tuple[Node | None, Any]]) -> Node:
        """A node that updates each parameter by its gradient node when it is fetched."""
        updates: list[Node] = []
        for g, p in pairs:
            if g is None:
                continue
            variable = g.graph.lift(p)
            with scoped(f"{type(self).__name__}/{variable.name}"):
                start = self.slots(variable)
                kept = [g.graph.variable(value, name) for name, value in start.items()]
                new = self.rule(variable, g, *kept)
                targets: Sequence[Node] = (variable, *kept)
                updates += [assign(v, n) for v, n in zip(targets, new, strict=True)]
        return group(*updates)


class SGD(Optimizer):
    """p ← p − lr · g, or with momentum v ← momentum · v + g and p ← p − lr · v.

    lr: learning rate, above 0; momentum: 0 (none) up to below 1.
    """

    def __init__(self, params: Iterable[Any], lr: float = 0.01, momentum: float = 0.0) -> None:
        super().__init__(params)
        self.lr, self.momentum = lr, momentum

    def slots(self, p: Any) -> dict[str, Array]:
        return {"velocity": _zeros(p)} if self.momentum else {}

    def rule(self, p: Any, g: Any, *slots: Any) -> tuple[Any, ...]:
        if not self.momentum:
            return (p - g * self.lr,)
        velocity = slots[0] * self.momentum + g
        return p - velocity * self.lr, velocity


class Adam(Optimizer):
    """Step sizes from running means of the gradient and of its square (Kingma and Ba, 2015).

    lr: step size, above 0; betas: decay of the two means; eps: added to the denominator.
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 0.001,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
    ) -> None:
        super().__init__(params)
        self.lr, self.betas, self.eps = lr, betas, eps

    def slots(self, p: Any) -> dict[str, Array]:
        return {"mean": _zeros(p), "square": _zeros(p), "time": p.dtype.type(0)}

    def rule(self, p: Any, g: Any, *slots: Any) -> tuple[Any, ...]:
        (mean, square, time), (b1, b2) = slots, self.betas
        time = time + 1
        mean = mean * b1 + g * (1 - b1)
        square = square * b2 + g * g * (1 - b2)
        unbiased = mean / (1 - ops.pow(b1, time))  # both means start at 0: undo that pull
        scale = ops.sqrt(square / (1 - ops.pow(b2, time))) + self.eps
        return p - unbiased / scale * self.lr, mean, square, time


def _zeros(p: Any) -> Array:
    return np.zeros(p.shape, p.dtype)[()]

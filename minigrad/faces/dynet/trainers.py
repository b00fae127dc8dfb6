"""DyNet's trainers: they change the parameters of a collection, and forget the gradients."""

from __future__ import annotations

import sys
from typing import Any

import minigrad as mg
from minigrad.faces.dynet.parameters import ParameterCollection, Parameters

__all__ = ["AdamTrainer", "MomentumSGDTrainer", "SimpleSGDTrainer", "Trainer"]


class Trainer:
    """Changes a collection by an optimiser of `mg.optim`; gradients are clipped at length 5.

    Parameters that a graph left out have the gradient 0, and so does what the optimiser makes of
    it; of tables only the rows change that were looked up.
    """

    optimiser: Any = None
    kind: Any = mg.optim.SGD

    def __init__(self, m: ParameterCollection, rate: float, **options: Any) -> None:
        self._collection, self._rate, self._options = m, rate, options
        self._clip, self._clips, self._updates = 5.0, 0, 0
        self._known: set[int] = set()

    @property
    def learning_rate(self) -> float:
        """The rate of the steps to come."""
        return self._rate

    @learning_rate.setter
    def learning_rate(self, rate: float) -> None:
        self._rate = rate
        if self.optimiser is not None:
            self.optimiser.lr = rate

    def set_clip_threshold(self, threshold: float) -> None:
        """The greatest length of all gradients together; not above 0: any."""
        self._clip = threshold

    def get_clip_threshold(self) -> float:
        """The greatest length of all gradients together."""
        return self._clip

    def restart(self, learning_rate: float | None = None) -> None:
        """Forget what was kept from step to step."""
        self.optimiser, self._known = None, set()
        self._rate = self._rate if learning_rate is None else learning_rate

    def status(self) -> None:
        """Print what happened since the last time."""
        found = f"[lr={self._rate:g} clips={self._clips} updates={self._updates}] "
        print(found, end="", file=sys.stderr)
        self._clips = self._updates = 0

    def update(self) -> None:
        """One step by the gradients that were gathered, which are forgotten."""
        changed = self._changed()
        if self._clip > 0:
            length = float(mg.optim.clip_grad_norm(changed, self._clip))
            self._clips += length > self._clip
        self._over(changed).step()
        self._updates += 1
        for tensor in changed:
            tensor.zero_grad()

    def _changed(self) -> list[Any]:
        """The tensors that change, each with a gradient; those of the others are forgotten."""
        found = []
        for held in self._collection.held():
            for tensor in held.tensors():
                if not held.is_updated():
                    tensor.zero_grad()
                    continue
                if tensor.grad is None and isinstance(held, Parameters):
                    tensor.grad = mg.zeros_like(tensor)
                found.append(tensor)
        return found

    def _over(self, tensors: list[Any]) -> Any:
        """The optimiser, which is told of tensors that it does not know."""
        new = [x for x in tensors if id(x) not in self._known]
        if self.optimiser is None:
            self.optimiser = self.kind(new, lr=self._rate, **self._options)
        elif new:
            self.optimiser.add_param_group({"params": new})
        self._known.update(map(id, new))
        return self.optimiser


class SimpleSGDTrainer(Trainer):
    """Gradient descent."""

    def __init__(self, m: ParameterCollection, learning_rate: float = 0.1) -> None:
        super().__init__(m, learning_rate)


class MomentumSGDTrainer(Trainer):
    """Gradient descent with a velocity."""

    def __init__(
        self, m: ParameterCollection, learning_rate: float = 0.01, mom: float = 0.9
    ) -> None:
        super().__init__(m, learning_rate, momentum=mom)


class AdamTrainer(Trainer):
    """Adam."""

    kind = mg.optim.Adam

    def __init__(
        self,
        m: ParameterCollection,
        alpha: float = 0.001,
        beta_1: float = 0.9,
        beta_2: float = 0.999,
        eps: float = 1e-8,
    ) -> None:
        super().__init__(m, alpha, betas=(beta_1, beta_2), eps=eps)

"""DyNet's trainers: they update the parameters of a collection, and clear the gradients."""

from __future__ import annotations

import sys
from typing import Any

import minigrad as mg
from minigrad.faces.dynet.parameters import ParameterCollection, Parameters

__all__ = ["AdamTrainer", "MomentumSGDTrainer", "SimpleSGDTrainer", "Trainer"]


class Trainer:
    """A trainer that updates a collection by an `mg.optim` optimiser; gradient norm at most 5.

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
        """The learning rate of the next steps."""
        return self._rate

    @learning_rate.setter
    def learning_rate(self, rate: float) -> None:
        self._rate = rate
        if self.optimiser is not None:
            self.optimiser.lr = rate

    def set_clip_threshold(self, threshold: float) -> None:
        """Set the maximum norm of all gradients together; 0 or less turns clipping off."""
        self._clip = threshold

    def get_clip_threshold(self) -> float:
        """Return the maximum norm of all gradients together."""
        return self._clip

    def restart(self, learning_rate: float | None = None) -> None:
        """Drop what is kept between steps, such as momentum; set the rate if one is given."""
        self.optimiser, self._known = None, set()
        self._rate = self._rate if learning_rate is None else learning_rate

    def status(self) -> None:
        """Print the updates since the last call."""
        found = f"[lr={self._rate:g} clips={self._clips} updates={self._updates}] "
        print(found, end="", file=sys.stderr)
        self._clips = self._updates = 0

    def update(self) -> None:
        """Take one step with the accumulated gradients, then clear them."""
        changed = self._tensors_to_update()
        if self._clip > 0:
            length = float(mg.optim.clip_grad_norm(changed, self._clip))
            self._clips += length > self._clip
        self._optimiser_for(changed).step()
        self._updates += 1
        for tensor in changed:
            tensor.zero_grad()

    def _tensors_to_update(self) -> list[Any]:
        """Return the tensors to change, each with a gradient; clear the gradients of the others."""
        found = []
        for held in self._collection.all_parameters():
            for tensor in held.trained_tensors():
                if not held.is_updated():
                    tensor.zero_grad()
                    continue
                if tensor.grad is None and isinstance(held, Parameters):
                    tensor.grad = mg.zeros_like(tensor)
                found.append(tensor)
        return found

    def _optimiser_for(self, tensors: list[Any]) -> Any:
        """Return the optimiser, after adding tensors that it doesn't know yet."""
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
    """Gradient descent with momentum."""

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

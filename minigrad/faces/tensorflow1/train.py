"""TensorFlow 1's optimisers: `tf.train.GradientDescentOptimizer(0.1).minimize(loss)`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import minigrad as mg
from minigrad.faces import flow
from minigrad.faces.face import Compat
from minigrad.faces.ties import following

__all__ = ["AdamOptimizer", "GradientDescentOptimizer", "MomentumOptimizer"]


class GradientDescentOptimizer:
    """An optimiser that adds its steps to the graph."""

    def __init__(self, learning_rate: float, **options: Any) -> None:
        self._options = {"lr": learning_rate, **options}

    def _over(self, variables: Sequence[mg.Node] | None) -> Any:
        return mg.optim.SGD(variables, **self._options)

    def minimize(self, loss: mg.Node, var_list: Sequence[mg.Node] | None = None) -> mg.Node:
        """Build a node that takes one optimiser step when it is fetched."""
        with following(flow.RULES):
            step: mg.Node = self._over(var_list).minimize(loss)
        return step


class MomentumOptimizer(GradientDescentOptimizer):
    """Gradient descent with momentum, as steps in the graph."""

    def __init__(self, learning_rate: float, momentum: float) -> None:
        super().__init__(learning_rate, momentum=momentum)


class AdamOptimizer(GradientDescentOptimizer):
    """Adam."""

    def __init__(
        self,
        learning_rate: float = 0.001,
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1e-8,
    ) -> None:
        super().__init__(learning_rate, betas=(beta1, beta2), eps=epsilon)

    def _over(self, variables: Sequence[mg.Node] | None) -> Any:
        return mg.optim.Adam(variables, **self._options)


__getattr__ = face = Compat(
    "tf.train", of="train", lacks={"graph.save(path, session=sess)": "Saver"}
)
__dir__ = face.names

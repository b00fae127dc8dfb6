"""Theano's gradients: `theano.gradient.grad`, which is `T.grad`, too."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, Literal

import minigrad as mg
from minigrad.faces import ties
from minigrad.faces.face import Compat, as_tuple
from minigrad.faces.theano.tensor.basic import TensorVariable, ancestors, on_variables
from minigrad.faces.ties import following

__all__ = ["DisconnectedInputError", "grad"]


class DisconnectedInputError(mg.GradientError, ValueError):
    """A gradient by a variable that the cost doesn't depend on."""


class NotOneNumber(mg.GradientError, TypeError):
    """A gradient of a cost that isn't a scalar."""


def grad(
    cost: Any,
    wrt: Any,
    consider_constant: Sequence[Any] | None = None,
    disconnected_inputs: Literal["raise", "warn", "ignore"] = "raise",
) -> Any:
    """Return the gradient of a scalar by a variable, or a list of gradients by several.

    consider_constant: through these no gradient goes. disconnected_inputs: what happens where the
    cost does not depend on a variable; the gradient there is 0, unless it is an error.
    """
    if cost.ndim:
        raise NotOneNumber("scalar_only", shape=cost.node.shape)
    targets = [x.node for x in as_tuple(wrt)]
    y = stop_gradients(cost.node, [x.node for x in consider_constant or ()])
    found = []
    with following(ties.FIRST | ties.EACH):
        slopes = mg.gradients(y, targets)
    for x, slope in zip(targets, slopes, strict=True):
        if slope is None:
            error = DisconnectedInputError("face_disconnected", name=x.name, defined=x.where)
            if disconnected_inputs == "raise":
                raise error
            if disconnected_inputs == "warn":
                warnings.warn(str(error), stacklevel=2)
        found.append(TensorVariable(mg.zeros_like(x) if slope is None else slope))
    return found if isinstance(wrt, (list, tuple)) else found[0]


def stop_gradients(y: mg.Node, constants: Sequence[mg.Node]) -> Any:
    """Return y rebuilt so that no gradient flows through `constants`."""
    new: dict[mg.Node, Any] = {x: mg.stop_gradient(x) for x in constants}
    for node in sorted(ancestors([y]), key=lambda x: x.order):
        if node not in new and not new.keys().isdisjoint(node.inputs):
            inputs = [new.get(x, x) for x in node.inputs]
            new[node] = node.graph.add(node.op, inputs, node.attrs)
    return new.get(y, y)


__getattr__ = face = Compat(
    "theano.gradient",
    calls={"disconnected_grad(x)": "mg.stop_gradient(x)", "zero_grad(x)": "mg.stop_gradient(x)"},
    lacks={
        "T.stack([T.grad(y[i], x) for i in range(3)])": "jacobian",
        "T.stack([T.grad(g[i], x) for i in range(3)])": "hessian",
        "T.grad(T.sum(y * v), x)": "Lop Rop",
    },
    around=on_variables,
)
__dir__ = face.names

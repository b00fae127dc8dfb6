"""The one backward sweep, which both modes use.

The gradient rules are the operators' own. On plain arrays the sweep computes numbers, on tensors
it records a new tape (higher orders), on nodes it builds gradient nodes.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from minigrad.backprop.rules import Contribution, Pull, plain
from minigrad.core import events
from minigrad.ops.rows import RowGradient


def sweep(
    nodes: Sequence[Any],
    gradients: dict[Any, Any],
    drop: bool = False,
    pull: Pull | None = None,
    keep: Container[Any] = (),
    adjust: Mapping[Any, Callable[[Any], Any]] = MappingProxyType({}),
) -> None:
    """Walk `nodes` (in the order built) backwards, and add up gradients in `gradients`.

    `pull(g, node)` gives the contributions to operands; without it, each node of a tape knows how.
    `adjust` holds functions that a node's gradient goes through before it is used. Gradients of
    nodes not in `keep` are dropped once used; with `drop`, so is what the tape saved.
    """
    for node in reversed(nodes):
        g = gradients.pop(node, None)
        if g is None:
            continue
        if type(g) is RowGradient:
            g = g.dense()
        if adjust and node in adjust:
            g = adjust[node](g)
        if keep and node in keep:
            gradients[node] = g
        parts = node._pullback.pull(g, node) if pull is None else pull(g, node)
        _hand_out(parts, node, g, gradients)
        if drop:
            node.release()
        del parts  # the last that holds those which were added up


def _hand_out(parts: Iterable[Contribution], node: Any, g: Any, gradients: dict[Any, Any]) -> None:
    """Add each part of a gradient to the gradient of its target."""
    for target, part, position in parts:
        total = part if target not in gradients else gradients[target] + part
        gradients[target] = total
        if events.listeners:
            values = plain(total), (plain(g), plain(part))
            events.emit("contributed", node.op, target, *values, node, position)

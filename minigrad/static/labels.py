"""Names that are all different, for nodes of which several may have one."""

from __future__ import annotations

from collections.abc import Iterable
from operator import attrgetter

from minigrad.ops import state
from minigrad.static.node import Node


def labels(nodes: Iterable[Node]) -> dict[Node, str]:
    """Return a label for each node; of several with one name only its holder keeps it.

    That is the newest placeholder or variable, so that a cell that ran again shows the names that
    it says; among other nodes the oldest. The others are numbered, the oldest first.
    """
    named = sorted(nodes, key=attrgetter("order"))
    holders: dict[str, Node] = {}
    for node in named:
        if node.name not in holders or node.op in DECLARED:
            holders[node.name] = node
    found, taken = {}, set(holders)
    counts = dict.fromkeys(holders, 0)
    for node in named:
        label = node.name
        while holders[node.name] is not node and label in taken:
            counts[node.name] += 1
            label = f"{node.name}_{counts[node.name]}"
        taken.add(label)
        found[node] = label
    return found


DECLARED = {state.placeholder, state.variable}

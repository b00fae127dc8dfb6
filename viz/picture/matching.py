"""Match the nodes of two drawings of the same computation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from viz.picture.boxes import Picture


def matching(one: Picture, other: Picture) -> dict[str, str]:
    """Map nodes of `other` to nodes of `one` that compute the same, from the outputs down.

    Two nodes belong together when they are of one operator, or both have no operands, and what
    reads them belongs together.

    >>> import minigrad as mg
    >>> from viz.picture.picture import picture
    >>> x = mg.tensor(2.0, requires_grad=True)
    >>> with mg.Graph():
    ...     p = mg.placeholder("p")
    ...     static = picture(p * p)
    >>> matching(picture(x * x), static)
    {'n2': 'n2', 'n1': 'n1'}
    """
    ops = [{n.id: n for n in p.nodes} for p in (one, other)]
    operands = [
        {(e.target, e.index): e.source for e in p.edges if e.id[0] not in "dl"}
        for p in (one, other)
    ]
    ends = [[n.id for n in p.nodes if n.is_output] for p in (one, other)]
    waiting = list(zip(*ends, strict=False))
    found: dict[str, str] = {}
    taken = set()
    while waiting:
        a, b = waiting.pop()
        left, right = ops[0][a], ops[1][b]
        leaves = not left.inputs and not right.inputs
        if b in found or a in taken or not (leaves or left.op == right.op):
            continue
        found[b] = a
        taken.add(a)
        keys = [((a, i), (b, i)) for i in range(max(len(left.inputs), len(right.inputs)))]
        waiting += [
            (operands[0][k], operands[1][m])
            for k, m in keys
            if k in operands[0] and m in operands[1]
        ]
    return found


def aligned(picture: Picture, order: Mapping[str, int]) -> Picture:
    """Return the picture with its nodes and arrows in another order, to be laid out so.

    order: the place of each node; what has none comes last, in the order that it had.
    """
    place = {n.id: (order.get(n.id, len(order)), i) for i, n in enumerate(picture.nodes)}
    nodes = tuple(sorted(picture.nodes, key=lambda n: place[n.id]))
    edges = tuple(sorted(picture.edges, key=lambda e: (place[e.target], e.index)))
    return replace(picture, nodes=nodes, edges=edges)

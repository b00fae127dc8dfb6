"""The order of nodes, by dependency."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from minigrad.diagnostics.errors import CycleError
from minigrad.diagnostics.source import here
from minigrad.static.node import Node


def dependency_order(outputs: Iterable[Node], replaced: Mapping[Node, Node]) -> list[Node]:
    """Order nodes after their (replaced) inputs; CycleError if there is no such order."""
    done: dict[Node, bool] = {}  # False while the node's inputs are being visited
    order: list[Node] = []
    path: list[Node] = []
    waiting: list[tuple[Node, bool]] = [(replaced.get(n, n), False) for n in outputs]
    while waiting:
        node, visited = waiting.pop()
        if visited:
            done[node] = True
            order.append(path.pop())
        elif node not in done:
            done[node] = False
            path.append(node)
            waiting.append((node, True))
            before = (*node.inputs, *node.controls)
            waiting.extend((replaced.get(x, x), False) for x in reversed(before))
        elif not done[node]:
            start = [n is node for n in path].index(True)  # == would build a node
            names = [n.name for n in path[start:]] + [node.name]
            raise CycleError("cycle", path=" → ".join(names), defined=node.where, ran=here())
    return order


def topological_orders(nodes: Sequence[Node]) -> Iterator[tuple[Node, ...]]:
    """Yield every order in which nodes follow what they depend on, first the given one.

    Nodes that depend on none of them wait for nothing: they come first in all orders.
    """
    given = {*nodes}
    before = {n: given & {*n.inputs, *n.controls} for n in nodes}
    order = [n for n in nodes if not before[n]]
    done = {*order}
    choices = [iter(nodes)]
    while choices:
        node = next((n for n in choices[-1] if n not in done and before[n] <= done), None)
        if node is not None:
            order.append(node)
            done.add(node)
            choices.append(iter(nodes))
            continue
        if len(order) == len(nodes):
            yield tuple(order)
        choices.pop()
        if choices:
            done.discard(order.pop())

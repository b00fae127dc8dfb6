"""Pictures of other engines, whose nodes name their operator and their inputs.

A node of another engine is anything with `op`, a name, and `inputs`, the nodes that it reads. If it
has them, `name`, `value`, `requires_grad` and `line` are shown, too. The engine that learners build
is such a one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import numpy as np

from minigrad.core import REGISTRY, show_shape
from viz.picture import formula
from viz.picture.boxes import Picture, PictureEdge, PictureNode
from viz.picture.repeats import grouped

KINDS = {"Placeholder": "input", "Variable": "variable", "Constant": "constant", "Leaf": "input"}


def is_foreign(x: Any) -> bool:
    """Return whether x is a node of another engine."""
    return isinstance(getattr(x, "op", None), str) and hasattr(x, "inputs")


def ancestors_of(
    outputs: Iterable[Any], read: Mapping[Any, tuple[Any, ...]] = MappingProxyType({})
) -> dict[Any, tuple[Any, ...]]:
    """Return all nodes that the outputs depend on, each after those it reads, with these.

    `read` says what nodes read when they were built, if they have dropped it since. A wrong engine
    may report a cycle; then one of its nodes comes before those it reads.
    """
    found: dict[Any, tuple[Any, ...]] = {}
    met = set()
    waiting = [(node, False) for node in reversed([*outputs])]
    while waiting:
        node, ready = waiting.pop()
        inputs = tuple(node.inputs) or read.get(node, ())
        if ready:
            found[node] = inputs
        elif node not in met:
            met.add(node)
            waiting += [(node, True), *((x, False) for x in reversed(inputs))]
    return found


def other_picture(
    nodes: Mapping[Any, tuple[Any, ...]], outputs: Iterable[Any], names: Mapping[int, str]
) -> Picture:
    """Return the picture of nodes with what they read, in this order."""
    ids = {node: f"n{i}" for i, node in enumerate(nodes, 1)}
    last = set(outputs)
    met: Counter[str] = Counter()
    boxes = []
    for node in nodes:
        box = _box(node, nodes, ids, names, node in last)
        if not box.name and met[node.op]:  # one more without a name: Mul_1
            box = replace(box, name=f"{node.op}_{met[node.op]}")
        met[node.op] += 1
        boxes.append(box)
    arrows = ((ids[x], ids[node], i) for node, read in nodes.items() for i, x in enumerate(read))
    edges = [PictureEdge(f"e{n}", *arrow) for n, arrow in enumerate(arrows, 1)]
    ran = any(read and node.value is not None for node, read in nodes.items())
    return grouped(Picture(tuple(boxes), tuple(edges), "dynamic" if ran else "static", ids))


def _box(
    node: Any,
    nodes: Mapping[Any, tuple[Any, ...]],
    ids: Mapping[Any, str],
    names: Mapping[int, str],
    is_output: bool,
) -> PictureNode:
    value, record = getattr(node, "value", None), REGISTRY.get(node.op)
    kind, name = KINDS.get(node.op, "operator"), getattr(node, "name", "") or names.get(id(node))
    fixed = not (node.op == "Leaf" and node.requires_grad)
    if fixed and kind != "operator" and not name and value is not None and np.size(value) == 1:
        kind, name = "constant", str(np.asarray(value).reshape(()))
    return PictureNode(
        id=ids[node],
        kind=kind,
        op=node.op,
        name=name or "",
        shape="" if value is None else show_shape(np.shape(value)),
        inputs=tuple(ids[x] for x in nodes[node]),
        is_output=is_output,
        line=getattr(node, "line", ""),
        title=record.title if record else ("", ""),
        sign=formula.sign(record) if record else "",
    )

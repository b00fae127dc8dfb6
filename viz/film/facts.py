"""What is known of a node apart from its values: formulas, what is kept, the line."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any

import numpy as np

from minigrad.backprop.rules import DATA
from minigrad.backprop.saved_for_backward import retained
from minigrad.core import BaseNode, Spec, TupleSpec
from minigrad.diagnostics.errors import GraphError
from minigrad.dynamic.tape import TapeNode
from minigrad.ops import state
from minigrad.static import Node
from viz.film.film import Facts
from viz.picture import formula
from viz.picture.picture import bodies_of
from viz.picture.summary import written
from viz.words.user import OWN


def spec_of(x: Any) -> Spec:
    if isinstance(x, Spec):
        return x
    if isinstance(x, Node):
        return x.spec
    if isinstance(x, TapeNode):
        return Spec(x.shape, x.dtype)
    if isinstance(x, tuple):
        return TupleSpec.of([spec_of(part) for part in x])
    data = np.asarray(getattr(x, "data", x))
    return Spec(data.shape, data.dtype)


def facts_of(
    node: BaseNode,
    spec: Spec,
    specs: Sequence[Spec],
    names: Sequence[str],
    targets: Collection[int] | None = None,
) -> Facts:
    """Return the facts about a node. `spec` is its result's, `specs` and `names` its operands'.

    The operands at `targets` get one; a tape knows them, a graph once it has gradients.
    """
    called = (node.op.name, *names)
    targets = node.pullback.wrt if isinstance(node, TapeNode) else targets
    may = [i for i, x in enumerate(node.inputs) if getattr(x, "op", None) is not state.constant]
    found = [
        (names[i], formula.local(node.op, i, (spec, *specs), node.attrs, called))
        for i in (may if targets is None else targets)
        if i < len(names)
    ]
    return Facts(
        formula.forward(node.op, names, node.attrs) if names else "",
        tuple(names),
        tuple(rule for rule in found if rule[1]),
        None if targets is None else reads_of_rules(node, targets, spec, specs, called),
        "" if node.where.filename.startswith(OWN) else node.where.label,
    )


def reads_of_rules(
    node: BaseNode, targets: Iterable[int], spec: Spec, specs: Sequence[Spec], called: Sequence[str]
) -> tuple[tuple[str, tuple[str, ...]], ...] | None:
    """Return which of the result and the operands the gradient rules read, and for which operands.

    `called` are the names of the result and of the operands. None where it cannot be known: a
    branch, a loop or a call keeps what is inside, some rules need shapes that are still open.
    """
    whom: dict[str, dict[str, None]] = {}
    if node.op.effect or bodies_of(node):
        return None
    for index in targets:
        mask = tuple(i == index for i in range(len(specs)))
        try:
            parts = retained(node.op, mask, (spec, *specs), node.attrs).usage
        except GraphError:
            return None
        for name, part in zip(called, parts, strict=True):
            if part == DATA:
                whom.setdefault(name, {})[called[index + 1]] = None
    return tuple((what, tuple(names)) for what, names in whom.items())


def filled_formula(node: BaseNode, names: Sequence[str], operands: Sequence[Any]) -> str:
    """Return the formula with names, and with numbers if they are short: x × x = 2 × 2."""
    text = formula.forward(node.op, names, node.attrs)
    values = [written(x) for x in operands]
    if not values or "" in values or values == list(names):
        return text
    numbers = formula.forward(node.op, values, node.attrs)
    return f"{text} = {numbers}" if numbers != text else text


def code_of(node: BaseNode) -> dict[str, Any]:
    """Return the line that made the node, split around the expression, and where it is."""
    where = node.where
    if where.filename.startswith(OWN):  # made here on behalf of the user, who has no line for it
        return {}
    first, last, _, _ = where.span
    return {"code": (where.place, *where.parts), "lines": (where.filename, first, last)}

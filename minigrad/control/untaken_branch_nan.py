"""Gradients that are NaN because of a branch that did not run: a warning with the line to move.

What is computed in front of a branch and used on one side of it only gets the gradient 0 when the
other side runs; where its slope is infinite, 0 times infinity is NaN. (So in JAX, and in
TensorFlow apart from its square root.)
"""

from __future__ import annotations

import contextlib
import functools
import io
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from operator import is_
from typing import Any

import numpy as np

from minigrad.backprop.rules import pull_back
from minigrad.control.flow import COND
from minigrad.core import silently
from minigrad.diagnostics.messages import choose, fill
from minigrad.static import Node, ancestors, without_listeners
from minigrad.static.handlers import WATCHES

Values = Mapping[Node, Any]


def gradient_branches(nodes: Sequence[Node]) -> list[Node]:
    """Return the branches among nodes that compute gradients, for `warn_of_nan` to check."""
    found = [n for n in nodes if n.op is COND]
    return found if found and any(map(_is_backward, nodes)) else []


def _is_backward(node: Node) -> bool:
    return "gradients" in node.scope.split("/")


def _one_sided_operands(conds: Iterable[Node]) -> list[tuple[Node, int]]:
    """Return branches with the operands that are computed before them but used on one side.

    The gradient of a branch is a branch on the same condition, which takes the same operands.
    """
    forward: dict[Any, Node] = {}  # by operands and line: a pass may have made another of one
    for cond in conds:
        others = cond.graph.nodes if _is_backward(cond) else [cond]
        alike = (n for n in others if n.op is COND and not _is_backward(n))
        same = (n for n in alike if all(map(is_, n.inputs, cond.inputs)))
        forward.update(((*map(id, n.inputs), n.code, n.lasti), n) for n in same)
    return [(c, i) for c in forward.values() for i in range(1, len(c.inputs)) if _one_sided(c, i)]


def _one_sided(cond: Node, i: int) -> bool:
    x = cond.inputs[i]
    return bool(x.inputs) and x.dtype.kind == "f" and sum(_used_sides(cond, i)) == 1


def _used_sides(cond: Node, i: int) -> list[bool]:
    """Return whether operand i is used if the condition is false, and if it is true."""
    bodies = [cond.attrs[side] for side in ("orelse", "then")]
    return [body.inputs[i - 1] in set(ancestors(body.outputs)) for body in bodies]


def warn_of_nan(
    conds: Iterable[Node],
    results: Iterable[Any],
    compute: Callable[[Sequence[Node]], Sequence[Any]],
) -> None:
    """Warn if a result is NaN and the side of a branch that did not run explains it.

    `compute` gives the values of other nodes in the same run.
    """
    if not any(_has_nan(x) for x in results):
        return
    found = _one_sided_operands(conds)
    nodes = ancestors([c.inputs[i] for c, i in found])
    conditions = [c.inputs[0] for c, _ in found]
    with without_listeners(), contextlib.redirect_stdout(io.StringIO()):  # it was printed before
        computed = compute([*nodes, *conditions])
    values = dict(zip([*nodes, *conditions], computed, strict=True))
    for cond, i in found:
        if not _used_sides(cond, i)[bool(values[cond.inputs[0]])]:
            for node in silently(list, _nan_prone_nodes(cond.inputs[i], values)):
                text = fill("nan_untaken", name=node.name, op=node.op, where=cond.where.label)
                where = node.where.filename, node.where.lineno
                warnings.warn_explicit(choose(text), RuntimeWarning, *where, registry=_warned_once)


def nan_watcher(nodes: Sequence[Node]) -> Callable[..., None] | None:
    """Return a check to call after each run of a program with these nodes, if any."""
    found = gradient_branches(nodes)
    return functools.partial(warn_of_nan, found) if found else None


WATCHES[COND] = nan_watcher
_warned_once: dict[Any, Any] = {}  # once for each line, unless warnings are asked for otherwise


def _nan_prone_nodes(x: Node, values: Values) -> Iterator[Node]:
    """Yield the nodes before x whose rules turn a gradient of 0 into NaN."""
    for node in ancestors([x]):
        operands = [values[v] for v in node.inputs]
        wrt = [i for i, v in enumerate(node.inputs) if v.dtype.kind == "f"]
        wrt = [i for i in wrt if node.op.has_rule(i)]
        if node.op.effect or node.op.infer or not wrt or any(map(_has_nan, operands)):
            continue
        y = values[node]
        parts = pull_back(node.op, wrt, np.zeros_like(y), (y, *operands), node.attrs)
        if any(part is not None and _has_nan(part) for part in parts):
            yield node


def _has_nan(x: Any) -> bool:
    return getattr(x, "dtype", np.dtype(bool)).kind == "f" and bool(np.isnan(x).any())

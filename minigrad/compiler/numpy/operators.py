"""One operator as calls: the NumPy function that it is, its expansion, or its own kernel."""

from __future__ import annotations

from collections.abc import Sequence

from minigrad.compiler.numpy import convolution
from minigrad.compiler.numpy import expand as plain
from minigrad.compiler.slots import CallList, Slot
from minigrad.core import Op
from minigrad.passes.regions import direct
from minigrad.static import Node

EXPANSIONS: dict[Op, plain.Expansion] = {**plain.EXPANSIONS, **convolution.EXPANSIONS}


def expand(calls: CallList, node: Node, out: Slot, operands: Sequence[Slot]) -> None:
    """Write the calls for one operator."""
    ufunc = direct(node)
    if ufunc is not None:
        calls.call(ufunc, *operands, out)
        return
    expansion = EXPANSIONS.get(node.op)
    allowed = node.op.elementwise or not calls.exact
    if expansion is not None and allowed and expansion(calls, node, out, operands):
        return
    given = [x.spec if i in node.op.shape_only else x for i, x in enumerate(operands)]
    calls.call(node.op.run, out, *given, **node.attrs)

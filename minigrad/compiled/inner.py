"""Bodies of branches and loops: planned like other graphs, where that changes no bit.

A body may get other shapes at every step, so it is planned for shapes that come a second time. The
text of a program shows a body as kernels that run one after the other, and promises the same bits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from minigrad import control, events, ops
from minigrad.compiled.layout import (
    RESHAPES,
    SOURCES,
    Layout,
    Shape,
    Specs,
    concrete_specs,
    kinds_of,
)
from minigrad.execute import Program as Interpreter
from minigrad.execute import Run
from minigrad.fused import FUSED
from minigrad.graph import Graph, bodies_of
from minigrad.ops import parts

MOST_PLANNED = 16  # choices of shapes; in a loop where they grow, later ones are not planned
# Beside element-wise operators: what gives contiguous results of contiguous operands. The order in
# memory is the order in which sums and products add up.
STEADY = {
    *(*SOURCES, *RESHAPES, ops.matmul, ops.sum, ops.mean, ops.sum_like, FUSED, parts.output),
    *(control.COND, control.WHILE, control.SCAN, control.HISTORY),
}


def is_steady(body: Graph) -> bool:
    """Whether planned calls give the bits that the kernels give, in it and in all that it holds."""
    waiting = [body]
    while waiting:
        for node in waiting.pop().nodes:
            if not (node.op.elementwise or node.op in STEADY) or node.op.impure:
                return False
            waiting += bodies_of(node.attrs).values()
    return True


class Inner(Interpreter):
    """A body as planned calls, while nobody listens; `bind` makes them for known shapes."""

    def __init__(self, body: Graph, bind: Callable[[Layout, Specs], Any]) -> None:
        super().__init__(body.outputs, body.inputs, body.effects)
        self._body, self._bind = body, bind
        self._bound: dict[tuple[Shape, ...], Any] = {}

    def compute(self, run: Run, given: Sequence[Any]) -> list[Any]:
        found = None
        if not events.listeners and self.outputs:
            found = self._found(tuple([x.shape for x in given]))
        if found is None or not all(x.flags.c_contiguous for x in given):
            return super().compute(run, given)
        results: list[Any] = found.run(dict(zip(self.given, given, strict=True)), {})
        return results

    def _found(self, shapes: tuple[Shape, ...]) -> Any:
        known = self._bound
        if shapes not in known:
            if len(known) < MOST_PLANNED:
                known[shapes] = None
        elif known[shapes] is None:
            specs = concrete_specs(self._body, dict(zip(self.given, shapes, strict=True)))
            layout = Layout(self._body, kinds_of(self._body, specs), specs)
            known[shapes] = self._bind(layout, specs)
        return known.get(shapes)

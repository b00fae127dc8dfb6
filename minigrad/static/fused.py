"""Several operators as one: a node that holds a small graph and runs as a single kernel.

A pass makes it. How it runs is up to the executor: one operator after the other (the reference,
the same bits), tile by tile while the data are in cache, or as one compiled loop.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from minigrad import ops
from minigrad.core import Array, Attrs, Op, Spec, TupleSpec, into, operator
from minigrad.ops import state
from minigrad.ops.parts import Parts
from minigrad.static import Body, Graph, Node, get_default_graph
from minigrad.static.gradients import gradients

Call = tuple[Callable[..., Array], Attrs, list[int]]


class _Calls:
    """A body as a flat list of calls on numbered values: inputs first, then one for each call."""

    def __init__(self, body: Graph) -> None:
        place = {x: i for i, x in enumerate(body.inputs)}
        self.constants: list[tuple[int, Array]] = []
        self.calls: list[tuple[int, Call]] = []
        for node in body.nodes:
            if node in place:
                continue
            i = place[node] = len(place)
            if node.op is state.constant:
                self.constants.append((i, node.attrs["value"]))
            else:
                sources = [place[x] for x in node.inputs]
                self.calls.append((i, (node.op.run, node.attrs, sources)))
        self.size = len(place)
        self.results = [place[x] for x in body.outputs]

    def run(self, arrays: Sequence[Array]) -> list[Array]:
        values: list[Any] = [*arrays, *[None] * (self.size - len(arrays))]
        for i, value in self.constants:
            values[i] = value
        for i, (kernel, attrs, sources) in self.calls:
            values[i] = kernel(None, *[values[k] for k in sources], **attrs)
        return [values[i] for i in self.results]


_calls: weakref.WeakKeyDictionary[Graph, _Calls] = weakref.WeakKeyDictionary()


def calls_of(body: Graph) -> _Calls:
    """Return the calls of a body, made once."""
    found = _calls.get(body)
    if found is None:
        found = _calls[body] = _Calls(body)
    return found


def _run(out: Array | None, *arrays: Array, body: Graph, kind: str) -> Any:
    results = calls_of(body).run(arrays)
    return into(out, results[0]) if len(results) == 1 else tuple(results)


def _spec(specs: Sequence[Spec], attrs: Attrs) -> Spec:
    """Infer the body's result for operands of these shapes by its operators' rules."""
    body: Graph = attrs["body"]
    if all(s is x.spec or s == x.spec for s, x in zip(specs, body.inputs, strict=True)):
        return TupleSpec.of([x.spec for x in body.outputs])
    known = dict(zip(body.inputs, specs, strict=True))
    for node in body.nodes:
        if node not in known:
            sources = [known[x] for x in node.inputs]
            known[node] = node.op.spec(sources, node.attrs) if sources else node.spec
    return TupleSpec.of([known[x] for x in body.outputs])


def _gradient(g: Any, y: Any, *xs: Any, wrt: Sequence[int], body: Graph, kind: str) -> list[Any]:
    """Build the body again, operator by operator, and its gradient."""
    graph = get_default_graph() if isinstance(get_default_graph(), Body) else y.graph
    inputs = [ops.identity(graph.lift(x)) for x in xs]  # one may have been made from another
    outputs = graph.inline(body, inputs, effects=False)
    seeds = Parts.of(g).parts
    ys, targets = [outputs[i] for i in seeds], [inputs[i] for i in wrt]
    found = gradients(ys, targets, list(seeds.values()))
    result: list[Any] = [None] * len(xs)
    for i, part in zip(wrt, found, strict=True):
        result[i] = part
    return result


FUSED: Op = operator(
    "Fused",
    shape=lambda *shapes, **attrs: None,
    infer=_spec,
    run=_run,
    vjp=_gradient,
    inputs=None,
    title=("fused operators", "融合算子"),
    formula="fused({0}, …)",
)


def region(nodes: Sequence[Node], outputs: Sequence[Node]) -> tuple[list[Node], Body]:
    """Return a body that computes `outputs` by these nodes, and its input nodes.

    `nodes` in an order in which they can be computed; constants of a single element move inside.
    """
    body, inside, inputs = Body(), dict[Node, Node](), list[Node]()
    members = set(nodes)
    for node in nodes:
        for x in node.inputs:
            if x in inside or x in members:
                continue
            if x.op is state.constant and np.size(x.attrs["value"]) == 1:
                inside[x] = body.add_copy(x, ())
            else:
                attrs: Attrs = {"shape": x.spec.shape, "dtype": x.spec.dtype}
                inside[x] = body.derived(state.placeholder, (), attrs, x, x.name, x.spec)
                inputs.append(x)
        inside[node] = body.add_copy(node, tuple([inside[x] for x in node.inputs]), node.spec)
    return inputs, body.finish([inside[x] for x in inputs], [inside[x] for x in outputs])

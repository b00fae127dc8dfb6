"""Recordings to step through: of a tape that exists already, or of a static graph with its feed."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import numpy as np

import minigrad as mg
from minigrad.core import BaseNode, Spec, apply, context
from minigrad.core.events import Event, phase_of
from minigrad.diagnostics.errors import GraphError
from minigrad.dynamic.backward import BackwardPass
from minigrad.dynamic.recording import recording
from minigrad.dynamic.tape import TapeNode
from minigrad.dynamic.tensor import Tensor
from minigrad.hybrid.tracing.calls import CallOp
from minigrad.ops import state
from minigrad.ops.parts import Parts, output
from minigrad.static import Graph, Node, ancestors, without_listeners
from minigrad.static.feeds import check_feeds
from minigrad.static.run import Interpreter
from viz.film.frames import Film, failed_film, film_and_steps, static_film, stopped_film
from viz.picture.picture import bodies_of, picture
from viz.words.text import choose, row

NOTHING_GIVEN: Mapping[Any, Any] = MappingProxyType({})


class LostOperand(TypeError):
    """A tape that cannot run again, since an operand of an operator is no longer there."""

    def __init__(self, key: str, op: object) -> None:
        self.pair = row(key, op=op)
        super().__init__(choose(self.pair))


def replay_tape(
    outputs: list[Tensor],
    names: Mapping[int, str],
    given: Mapping[Tensor, Any] = NOTHING_GIVEN,
    inputs: Collection[str] = (),
    calls: int = 1,
) -> Film:
    """Run the operations of a tape once more, from its leaves, and walk it back: recorded.

    `inputs` names the leaves that are drawn as inputs though they ask for a gradient. Each of
    several calls makes its own graph, replacing the one before, which is thrown away.

    The user's tape, tensors and gradients are not touched. The replay uses the present values of
    the leaves, or those in `given`. What cannot run again is a still with the reason.
    """
    lost = next(_nodes_with_loss(outputs), None)
    if lost is not None:
        drawn = picture(outputs, names, bodies=True)
        key = "cannot_step" if lost.saved is not None else "cannot_step_freed"
        return failed_film(drawn, drawn.ids[lost], LostOperand(key, op=lost.op))
    try:
        film = _replayed(outputs, names, given, calls)
    except GraphError as error:
        return stopped_film(error, names)
    return replace(film, picture=film.picture.with_inputs(inputs))


def _nodes_with_loss(outputs: list[Tensor]) -> Iterator[TapeNode]:
    """Yield the nodes with an operand that neither the tape nor anything else has kept."""
    for node in ancestors(t.creator for t in outputs if t.creator is not None):
        for i, x in enumerate(node.inputs):
            data = isinstance(x, Spec) and not isinstance(x, (BaseNode, Tensor))
            if data and _kept(node, i) is None:
                yield node


def _replayed(
    outputs: list[Tensor], names: Mapping[int, str], given: Mapping[Tensor, Any], calls: int
) -> Film:
    events: list[Event] = []
    ids: dict[Any, str] = {}
    for _ in range(calls):
        nodes = [x for x in ids if isinstance(x, (TapeNode, Tensor))]
        events += [Event(0, "forgotten", getattr(x, "op", None), x) for x in nodes]
        new: dict[Any, Any] = {t: Tensor(v, t.requires_grad, t.name) for t, v in given.items()}
        new_names = {id(new[t]): names.get(id(t), "") for t in given}
        with without_listeners(), recording(True), mg.record(values=True) as log:
            _run_again(outputs, names, new, new_names)
            again = [new.get(t.creator or t, t) for t in outputs]
            backward(again)
        ends = zip(again, outputs, strict=True)
        new_names.update((id(new_), names[id(old)]) for new_, old in ends if id(old) in names)
        drawn = picture(again, new_names, bodies=True)
        events += log.events
        ids |= drawn.ids  # the nodes of each call are the same boxes
    return film_and_steps(replace(drawn, ids=ids), events)[0].with_outputs(y._array for y in again)


def values(outputs: list[Tensor]) -> dict[TapeNode, Any]:
    """Recompute each node of a tape from the current leaves; return {} if it cannot run."""
    if next(_nodes_with_loss(outputs), None) is not None:
        return {}
    new: dict[Any, Any] = {}
    with without_listeners(), recording(True), contextlib.suppress(GraphError):
        _run_again(outputs, {}, new, {})
    return {x: y._array for x, y in new.items() if isinstance(x, TapeNode) and hasattr(y, "_array")}


def _run_again(
    outputs: list[Tensor], names: Mapping[int, str], new: dict[Any, Any], new_names: dict[int, str]
) -> None:
    """Run the operations of a tape in their order; `new` gets the twin of each, by the old one."""
    for node in ancestors(t.creator for t in outputs if t.creator is not None):
        operands = [_operand(node, i, x, new, new_names, names) for i, x in enumerate(node.inputs)]
        before, context.now.scope = context.now.scope, node.scope
        try:
            result = new[node] = _rerun(node, operands)
        finally:
            context.now.scope = before
        twin = result[0].creator.inputs[0] if isinstance(result, list) else result.creator
        new_names[id(twin)] = names.get(id(node), "")
        twin.retell(node.code, node.lasti)


def _rerun(node: TapeNode, operands: list[Any]) -> Any:
    """Apply the operation again; a call with several results returns those recorded."""
    if isinstance(node.op, CallOp):
        results = [y for y in node.op.call(operands) if y.creator is not None]
        return results if results[0].creator.op is output else results[0]
    if node.op is output:
        return next(y for y in operands[0] if y.creator.attrs == node.attrs)
    return apply(node.op, tuple(operands), node.attrs)


def _operand(
    node: TapeNode,
    index: int,
    x: Any,
    new: dict[Any, Any],
    new_names: dict[int, str],
    names: Mapping[int, str],
) -> Any:
    if isinstance(x, BaseNode):
        return new[x]
    if isinstance(x, Tensor):
        if x not in new:
            new[x] = Tensor(x._array, x.requires_grad, x.name)
            new_names[id(new[x])] = names.get(id(x), "")
        return new[x]
    return Tensor(_kept(node, index), name=getattr(x, "name", None)) if isinstance(x, Spec) else x


def _kept(node: TapeNode, index: int) -> Any:
    """Return the value of an operand that the tape kept, or None."""
    if node.saved is None:
        return None
    if isinstance(node.op, CallOp):
        operand = node.saved[0].operands[index]
        return None if isinstance(operand, Spec) else operand
    return node.saved[index + 1]


def backward(outputs: list[Tensor]) -> None:
    """Run one backward pass from all outputs, each element weighted 1, and keep no gradient."""
    ends = [y for y in outputs if y.requires_grad and y.dtype.kind == "f"]
    if any(y.creator is not None for y in ends):
        seeds = [np.ones(y.shape, y.dtype) for y in ends]
        BackwardPass(ends, create_graph=False).run(seeds, None, retain_graph=True)


def replay_graph(
    outputs: list[Node],
    feed_dict: Mapping[Any, Any] | None,
    session: Any,
    names: Mapping[int, str],
    given: Mapping[Node, Any] = NOTHING_GIVEN,
    backward: bool = True,
    calls: int = 1,
) -> Film:
    """Run a static graph with its gradients, recorded, in a separate graph; `calls` times.

    `given` are other values for some of the placeholders that are fed. Without `backward` it runs
    forward alone.
    Variables have the session's values, or their first ones. Nothing is added to the user's graph.
    A run that stops is shown as far as it got; where no gradients can be built, without them.
    Of a graph that holds gradient nodes itself, these are shown.
    """
    nodes = ancestors(outputs)
    graph = Graph()
    twin: dict[Node, Node] = {}
    for node in nodes:
        twin[node] = graph.add_copy(node, tuple(twin[x] for x in node.inputs))
        twin[node].controls = tuple(twin[x] for x in node.controls)
    forward, ends = graph.nodes, [twin[y] for y in outputs]
    fed = check_feeds(mg.build_graph([], outputs), feed_dict)
    feeds = {twin[k]: given.get(k, v) for k, v in fed.items() if k in twin}
    kept = {} if session is None else session.variables
    sources = [n for n in nodes if n.op is state.variable]
    variables = {twin[v]: kept.get(v, v.attrs["value"]) for v in sources}
    with without_listeners(), recording(True), graph, mg.record(values=True) as built:
        leaves = [n for n in forward if n.op in (state.placeholder, state.variable)]
        leaves = [n for n in leaves if n.dtype.kind == "f" and n.attrs.get("role") != "buffer"]
        drawn_back = any(phase_of(n) == "backward" for n in forward)  # they show it themselves
        sums = [y for y in ends if y.dtype.kind == "f"] if backward and not drawn_back else []
        problem = _differentiated(sums, leaves) if sums and leaves else None
    extra = 0 if problem is not None else built.counts.built
    contributed = [e for e in built.of_kind("contributed") if e.node in graph]  # not in bodies
    involved = [x for e in contributed for x in (*e.operands, e.value)]
    needed = [n for x in involved for n in (x.parts.values() if isinstance(x, Parts) else [x])]
    results, runs = [], []
    for _ in range(calls):
        with without_listeners(), mg.record(values=True) as ran:
            try:
                results = Interpreter([*ends, *needed])(feeds, variables)[: len(ends)]
            except GraphError as error:
                problem = error
        runs.append(ran.events)
    new_names = {id(twin[n]): names[id(n)] for n in nodes if id(n) in names}
    drawn = picture(ends, new_names, bodies=True)
    reached = {e.node for e in contributed}
    own = [y for y in dict.fromkeys(sums) if y in {*leaves} - reached]
    return static_film(drawn, forward, contributed, runs, extra, problem, own).with_outputs(results)


def numbers_of(run: Callable[[], Sequence[Any]], inputs: Sequence[Any]) -> Graph:
    """Return a graph of all numbers that the film of a run shows, gradients included.

    run: what computes, and returns the arrays of its results; inputs: those that it reads and that
    become placeholders. Of branches and loops there is what was run. GraphError for what cannot be
    in a graph.
    """
    with without_listeners(), recording(True), mg.record(values=True) as log:
        results = run()
    with without_listeners(), recording(True), Graph() as graph:
        known: dict[int, Any] = {
            id(x): mg.placeholder(f"input {k}", shape=x.shape, dtype=x.dtype)
            for k, x in enumerate(inputs)
        }
        placeholders = [*known.values()]
        for event in log.of_kind("run"):
            op, node, operands = event.op, event.node, event.operands
            if op is None or (id(event.value) in known and node is not None and bodies_of(node)):
                continue
            for x in operands:
                if getattr(x, "dtype", np.dtype(bool)).kind == "f" and id(x) not in known:
                    known[id(x)] = mg.Variable(x, dtype=x.dtype)
            read = tuple(known.get(id(x), x) for x in operands)
            known[id(event.value)] = apply(op, read, getattr(node, "attrs", {}))
        leaves = [n for n in graph.nodes if n.op in (state.placeholder, state.variable)]
        ends = [known[id(y)] for y in results if id(y) in known]
        _differentiated([y for y in ends if y.dtype.kind == "f"], leaves)
        return mg.build_graph(placeholders, graph.nodes)


def numbers_of_tape(outputs: list[Tensor], given: Mapping[Tensor, Any]) -> Graph:
    """Return a graph of all numbers that the film of a tape shows, from the leaves in `given`."""
    new: dict[Any, Any] = {t: Tensor(v, t.requires_grad, t.name) for t, v in given.items()}
    inputs = [t._array for t in new.values()]

    def run() -> list[Any]:
        _run_again(outputs, {}, new, {})
        return [new.get(t.creator or t, t)._array for t in outputs]

    return numbers_of(run, inputs)


def numbers_of_graph(
    outputs: list[Node], fed: Mapping[Any, Any], given: Mapping[Any, Any], session: Any = None
) -> Graph:
    """Return a graph of all numbers that a film of nodes shows, from the feeds in `given`."""
    kept = {} if session is None else session.variables
    variables = {
        v: kept.get(v, v.attrs["value"]) for v in ancestors(outputs) if v.op is state.variable
    }
    inputs = [*map(np.asarray, given.values())]
    feeds = {**fed, **dict(zip(given, inputs, strict=True))}
    return numbers_of(lambda: Interpreter(outputs)(feeds, variables), inputs)


def _differentiated(sums: list[Node], leaves: list[Node]) -> GraphError | None:
    """Build the gradients; returns what prevents it, if anything does."""
    try:
        mg.gradients(sums, leaves)
    except GraphError as error:
        return error
    return None

"""Running a graph: a flat list of steps, made once, then done again for every feed."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import attrgetter
from typing import Any

import numpy as np

from minigrad import control, events
from minigrad.arguments import refuse
from minigrad.core import (
    STOPS,
    Array,
    Op,
    Spec,
    explain,
    fits,
    public_shape,
    show_shape,
    show_shapes,
    silently,
    spec_of,
    wrapped,
)
from minigrad.errors import FeedError, GraphError, NotFedError, ShapeError, UninitializedError
from minigrad.graph import Graph, Node, ancestors, bodies_of
from minigrad.messages import fill
from minigrad.ops import parts, state
from minigrad.source import here
from minigrad.untaken import branches, warn_of_nan

__all__ = ["run"]

Variables = dict[Node, Array]


class Step:
    """One node of the program, and which results are no longer needed after it."""

    __slots__ = (
        "bodies",
        "handler",
        "keeps_history",
        "node",
        "place",
        "release",
        "sources",
        "target",
    )

    def __init__(
        self, node: Node, sources: list[int], target: int, release: tuple[int, ...]
    ) -> None:
        self.node, self.sources, self.target, self.release = node, sources, target, release
        self.handler = HANDLERS.get(node.op, _run_kernel)
        self.keeps_history = False
        self.place = 0, 1  # of a counter: see `places`
        bodies = bodies_of(node.attrs) if node.op in HANDLERS else {}  # a kernel runs its own
        self.bodies = {k: Program(v.outputs, v.inputs, v.effects) for k, v in bodies.items()}


def places(nodes: Iterable[Node]) -> dict[Node, tuple[int, int]]:
    """Of each counter which one it is among those of its layer, and of how many."""
    layers: dict[Any, list[Node]] = {}
    for node in nodes:
        if node.op is state.run_counter:
            layers.setdefault(node.attrs.get("layer"), []).append(node)
    found: dict[Node, tuple[int, int]] = {}
    for layer, uses in layers.items():
        order = sorted({0 if layer is None else n.attrs["use"] for n in uses})
        found.update((n, (order.index(n.attrs.get("use", 0)), len(order))) for n in uses)
    return found


def find_places(steps: Iterable[Step]) -> None:
    """Tell the steps of one program that count calls of layers where they stand."""
    counting = {step.node: step for step in steps if step.node.op is state.run_counter}
    for node, place in places(counting).items():
        counting[node].place = place


class Run:
    """What one run of a program works on: its feeds, its variables, the updates it will make."""

    def __init__(self, feeds: Mapping[Node, Array], variables: Variables, target: Any) -> None:
        self.feeds, self.variables, self.target = feeds, variables, target
        self.updates: Variables = {}
        self.histories: dict[Node, list[Any]] = {}  # the states that a loop went through


class Program:
    """A graph made ready to run: the reference executor.

    It runs every node of the graph as it stands, in the order built, by the kernels that the
    dynamic graph uses, so both modes give the same bits. A result is dropped after its last use.
    `given` are nodes whose values come from outside; what leads to them alone does not run.
    """

    def __init__(
        self, outputs: Sequence[Node], given: Sequence[Node] = (), effects: Sequence[Node] = ()
    ) -> None:
        self.outputs, self.given = tuple(outputs), tuple(given)
        known = set(self.given)
        self.nodes: list[Node] = ancestors([*self.outputs, *effects, *self.given], known)
        self.placeholders = [n for n in self.nodes if n.op is state.placeholder]
        slot = {node: i for i, node in enumerate(self.nodes)}
        last_use = dict(slot)
        for node in self.nodes:
            if node not in known:
                last_use.update((x, slot[node]) for x in node.inputs)
        last_use.update((x, len(slot)) for x in self.outputs)
        ends: dict[int, list[int]] = {}
        for node, end in last_use.items():
            ends.setdefault(end, []).append(slot[node])
        self._given_slots = [slot[x] for x in self.given]
        self._results = [slot[x] for x in self.outputs]
        self.steps = [
            Step(node, [slot[x] for x in node.inputs], i, tuple(ends.get(i, ())))
            for i, node in enumerate(self.nodes)
            if node not in known
        ]
        wanted = {n.inputs[0] for n in self.nodes if n.op is control.HISTORY}
        for step in self.steps:
            step.keeps_history = step.node in wanted
        find_places(self.steps)
        self._branches = branches(self.nodes) if control.COND in {n.op for n in self.nodes} else ()

    def __call__(self, feeds: Mapping[Node, Array], variables: Variables) -> list[Any]:
        """Run once. `variables` changes only if the whole run succeeded.

        Results share no memory with feeds, variables or constants.
        """
        if not self.outputs:
            return []
        run = Run(feeds, variables, self.outputs[0])
        results = silently(self.compute, run, [feeds[x] for x in self.given])
        if self._branches:
            changed = run.updates.values()
            warn_of_nan(self._branches, [*results, *changed], Program.computing(feeds, variables))
        variables.update(run.updates)
        return [own(x.op, value) for x, value in zip(self.outputs, results, strict=True)]

    @classmethod
    def computing(cls, feeds: Mapping[Node, Array], variables: Variables) -> Any:
        """The function that gives the values of nodes for these feeds, and changes nothing."""
        return lambda nodes: cls(nodes)(feeds, {**variables})

    def compute(self, run: Run, given: Sequence[Any]) -> list[Any]:
        """The outputs as they come, for these values of the given nodes."""
        values: list[Any] = [None] * len(self.nodes)
        for i, value in zip(self._given_slots, given, strict=True):
            values[i] = value
        for step in self.steps:
            values[step.target] = step.handler(run, step, [values[i] for i in step.sources])
            for i in step.release:
                values[i] = None
        return [values[i] for i in self._results]


def own(op: Op, value: Any) -> Any:
    """A result that the caller may change without touching anything of ours."""
    borrowed = op in HANDLERS or getattr(value, "base", None) is not None
    return value.copy()[()] if borrowed and isinstance(value, np.ndarray) else value


def _run_kernel(run: Run, step: Step, operands: list[Any]) -> Array:
    node, op = step.node, step.node.op
    try:
        value = op.run(None, *operands, **node.attrs)
    except GraphError as error:
        error.defined, error.ran = node.where, here()
        raise
    except STOPS as reason:
        found = explain(op, [spec_of(x) for x in operands], node.attrs, reason)
        found.defined, found.ran = node.where, here()
        raise found from None
    if events.listeners:
        events.emit("run", op, node, value, tuple(operands))
    return value


def expect_fed(node: Node, feeds: Mapping[Node, Array], target: Node) -> None:
    """NotFedError unless there is a value for this placeholder, which `target` needs."""
    if node not in feeds:
        namesake = next((x for x in feeds if x.name == node.name), None)
        raise NotFedError(
            "not_fed" if namesake is None else "not_fed_namesake",
            other="" if namesake is None else namesake.where.label,
            name=node.name,
            shape=show_shape(node.shape),
            dtype=node.dtype,
            target=target.name,
            defined=node.where,
            ran=here(),
        )


def _placeholder(run: Run, step: Step, operands: list[Any]) -> Array:
    expect_fed(step.node, run.feeds, run.target)
    return _read(step.node, run.feeds[step.node])


def value_of(node: Node, variables: Variables) -> Array:
    """The present value of a variable; UninitializedError if it has neither this nor its own."""
    if node in variables:
        return variables[node]
    if "role" not in node.attrs:
        raise UninitializedError(
            "uninitialized",
            name=node.name,
            shape=show_shape(node.shape),
            defined=node.where,
            ran=here(),
        )
    return node.attrs["value"]


def _variable(run: Run, step: Step, operands: list[Any]) -> Array:
    return _read(step.node, value_of(step.node, run.variables))


def _constant(run: Run, step: Step, operands: list[Any]) -> Array:
    return _read(step.node, step.node.attrs["value"])


def _read(node: Node, value: Array) -> Array:
    if events.listeners:
        events.emit("read", node.op, node, value)
    return value


def _assign(run: Run, step: Step, operands: list[Any]) -> Array:
    node, variable, value = step.node, step.node.inputs[0], operands[1]
    if value.shape != variable.shape:
        raise ShapeError(
            "assign_shape",
            op="Assign",
            name=variable.name,
            expected=show_shape(variable.shape),
            shape=value.shape,
            defined=node.where,
            ran=here(),
        )
    run.updates[variable] = own(node.op, value)  # a copy: `value` may be fetched, too
    if events.listeners:
        events.emit("run", node.op, node, value, tuple(operands))
    return value


def _initialize(run: Run, step: Step, operands: list[Any]) -> None:
    for variable in step.node.attrs["variables"]:
        run.updates[variable] = variable.attrs["value"].copy()


def _group(run: Run, step: Step, operands: list[Any]) -> None:
    return None


def _read_value(run: Run, step: Step, operands: list[Any]) -> Array:
    return run.updates.get(step.node.inputs[0], operands[0])


def _run_counter(run: Run, step: Step, operands: list[Any]) -> Array:
    count = run.variables.get(step.node, np.int64(0))
    run.updates[step.node] = count + np.int64(1)
    use, uses = step.place
    return _read(step.node, count * np.int64(uses) + np.int64(use))


def _output(run: Run, step: Step, operands: list[Any]) -> Array:
    return _read(step.node, operands[0][step.node.attrs["index"]])


def _cond(run: Run, step: Step, operands: list[Any]) -> Any:
    pred, *given = operands
    taken = step.bodies["then" if bool(pred) else "orelse"]
    return _ran(step.node, _one_or_all(taken.compute(_inner(run), given)), operands)


def _while(run: Run, step: Step, operands: list[Any]) -> Any:
    node, n = step.node, step.node.attrs["carries"]
    test, body, most = step.bodies["test"], step.bodies["body"], node.attrs["max_steps"]
    now, captured, states, count = operands[:n], operands[n:], [], 0
    inner = _inner(run)
    while (most is None or count < most) and bool(test.compute(inner, now + captured)[0]):
        _begin_step(node, count)
        if step.keeps_history:
            states.append(now)
        now = body.compute(inner, now + captured)
        count += 1
    if step.keeps_history:
        run.histories[node] = states
    return _ran(node, _one_or_all(now), operands)


def _scan(run: Run, step: Step, operands: list[Any]) -> Any:
    node, n, m = step.node, step.node.attrs["carries"], step.node.attrs["sequences"]
    body, inner = step.bodies["body"], _inner(run)
    now, sequences, captured = operands[:n], operands[n : n + m], operands[n + m :]
    if len({len(x) for x in sequences}) != 1:
        lengths = sorted(len(x) for x in sequences)
        raise ShapeError("scan_lengths", op="scan", lengths=lengths, defined=node.where, ran=here())
    times = range(len(sequences[0]))
    outputs: list[list[Any]] = []
    states: list[list[Any]] = []
    for count, t in enumerate(reversed(times) if node.attrs["reverse"] else times):
        _begin_step(node, count)
        if step.keeps_history:
            states.append(now)
        results = body.compute(inner, now + [x[t] for x in sequences] + captured)
        now = results[:n]
        outputs.append(results[n:])
    if node.attrs["reverse"]:
        outputs.reverse()
        states.reverse()
    if step.keeps_history:
        run.histories[node] = states
    stacked = [_stacked([y[i] for y in outputs], x) for i, x in enumerate(body.outputs[n:])]
    if not outputs:
        slices = [Spec(x.shape[1:], x.dtype) for x in sequences]
        specs = _as_built(body, [*map(spec_of, now), *slices, *map(spec_of, captured)])
        stacked = [_rows_of(specs[y]) for y in body.outputs[n:]]
    return _ran(node, _one_or_all([*now, *stacked]), operands)


def _as_built(body: Program, given: Sequence[Spec]) -> dict[Node, Spec]:
    """What a body would make of such values: its shape rules are asked, and nothing is run.

    What does not fit may not fit: states that no step has made (a history) have lengths of 0.
    """
    specs = dict(zip(body.given, given, strict=True))
    for node in body.nodes:
        if node not in specs:
            specs[node] = node.spec
            with contextlib.suppress(GraphError):
                if not node.op.effect:
                    specs[node] = node.op.spec([specs[x] for x in node.inputs], node.attrs)
    return specs


def _rows_of(like: Spec) -> Array:
    """No rows at all; an unknown length is 0."""
    lengths = [n if isinstance(n, int) else 0 for n in like.shape or ()]
    return np.zeros((0, *lengths), like.dtype)


def _history(run: Run, step: Step, operands: list[Any]) -> Array:
    loop, index = step.node.inputs[0], step.node.attrs["index"]
    states = [state[index] for state in run.histories[loop]]
    return _read(step.node, _stacked(states, loop.attrs["body"].inputs[index]))


def _inner(run: Run) -> Run:
    """The run of a body: it reads what it is given, and no variables."""
    return Run({}, {}, run.target)


def _stacked(values: list[Any], like: Node) -> Array:
    """The values of all steps along a new first axis; of no step, what is known of one."""
    if not values:
        return _rows_of(like.spec)
    try:
        return np.stack(values)
    except ValueError:
        shapes = show_shapes(*dict.fromkeys(x.shape for x in values))
        raise ShapeError("ragged_steps", op="loop", shapes=shapes, defined=like.where) from None


def _one_or_all(values: list[Any]) -> Any:
    return values[0] if len(values) == 1 else tuple(values)


def _begin_step(node: Node, count: int) -> None:
    if events.listeners:
        events.emit("step", node.op, node, None, (), None, count)


def _ran(node: Node, value: Any, operands: list[Any]) -> Any:
    if events.listeners:
        events.emit("run", node.op, node, value, tuple(operands))
    return value


HANDLERS: dict[Op, Callable[[Run, Step, list[Any]], Any]] = {
    state.placeholder: _placeholder,
    state.variable: _variable,
    state.constant: _constant,
    state.assign: _assign,
    state.initialize: _initialize,
    state.group: _group,
    state.read_value: _read_value,
    state.run_counter: _run_counter,
    parts.output: _output,
    control.COND: _cond,
    control.WHILE: _while,
    control.SCAN: _scan,
    control.HISTORY: _history,
}


def check_feeds(graph: Graph, feed_dict: Mapping[Any, Any] | None) -> dict[Node, Any]:
    """The fed values as arrays of the placeholders' types and shapes, or the error that says why.

    Keys are placeholders of the graph, or their names; it need not need them all.
    """
    if feed_dict is not None and not isinstance(feed_dict, Mapping):
        raise refuse("run", "feed_dict", feed_dict, fill("expect_feeds"))
    keyed = {_placeholder_of(graph, key): value for key, value in (feed_dict or {}).items()}
    return {node: _fed(node, value) for node, value in keyed.items()}


def _placeholder_of(graph: Graph, key: Any) -> Node:
    if isinstance(key, str):
        found = _newest(graph, key)
    else:
        found = key if isinstance(key, Node) and key.op is state.placeholder else None
    if found is not None and found.graph in origins(graph):
        return found
    shown = key.name if isinstance(key, Node) else repr(key)
    names = ", ".join(dict.fromkeys(n.name for n in graph.placeholders)) or "-"
    why = "feed_key" if found is None else "feed_foreign"
    raise FeedError(why, key=shown, names=names, ran=here())


def _newest(graph: Graph, name: str) -> Node | None:
    """The placeholder that holds a name; FeedError for what an older one of the name is called."""
    found = [n for n in graph.placeholders if n.name == name]
    if not found:
        older = next((n for n in graph.placeholders if graph.labels[n] == name), None)
        if older is not None:
            raise FeedError(
                "feed_older", key=name, name=older.name, defined=older.where, ran=here()
            )
    return max(found, key=attrgetter("order"), default=None)


def origins(graph: Graph) -> set[Graph]:
    """The graphs that the nodes of a graph may belong to: it may be cut out of another."""
    return {graph, *(x.graph for x in (*graph.inputs, *graph.outputs))}


def _fed(node: Node, value: Any) -> Array:
    about: dict[str, Any] = {"name": node.name, "defined": node.where, "ran": here()}
    try:
        given = np.asarray(value)
        if given.dtype.kind not in "fiub":
            raise TypeError(value)  # NumPy would make NaN of None, and drop imaginary parts
        if given.dtype.kind == "f" and node.dtype.kind != "f":
            raise FeedError("feed_type", expected=node.dtype, dtype=given.dtype, **about)
        array = np.ascontiguousarray(given, dtype=node.dtype).reshape(given.shape)
    except FeedError:
        raise
    except (TypeError, ValueError):
        brief = repr(value)[:60]
        raise FeedError("feed_value", value=brief, dtype=node.dtype, **about) from None
    if wrapped(given, array):
        raise FeedError("feed_range", expected=node.dtype, dtype=given.dtype, **about)
    if not fits(array.shape, node.spec.shape):
        shape, expected = show_shape(array.shape), show_shape(public_shape(node.spec.shape))
        raise FeedError("feed_shape", shape=shape, expected=expected, **about)
    return array[()] if array.ndim == 0 else array


def run(graph: Graph, feed_dict: Mapping[Any, Any] | None = None) -> Any:
    """Run a graph from `build_graph` once; keys of `feed_dict` are placeholders or their names.

    One output gives one array, a list gives a list. Parameters of layers have their values; those
    of `mg.Variable` need a Session, which keeps them. Raises NotFedError, FeedError,
    UninitializedError.

    >>> import minigrad as mg
    >>> x = mg.placeholder("x")
    >>> graph = mg.build_graph(x, x * x + 3)
    >>> float(mg.run(graph, {x: 2})), mg.run(graph, {x: [0, 1]}).tolist()
    (7.0, [3.0, 4.0])
    """
    if not isinstance(graph, Graph) or not graph.outputs:
        raise GraphError("no_outputs", ran=here())
    results = Program(graph.outputs, effects=graph.effects)(check_feeds(graph, feed_dict), {})
    return results[0] if graph.single else results

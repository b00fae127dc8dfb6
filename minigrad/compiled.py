"""The compiled executor: a graph as a flat list of calls into memory planned beforehand.

Nothing is looked up while it runs: each call is a function with its arrays. What changes from run
to run (feeds, variables, results) is put in its place first. All this is prepared for one choice
of input shapes.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from minigrad import events, ops
from minigrad.arguments import refuse
from minigrad.core import Array, Attrs, Spec, explain, spec_of
from minigrad.errors import GraphError
from minigrad.execute import HANDLERS, Run, Step, Variables, check_feeds, expect_fed
from minigrad.execute import Program as Interpreter
from minigrad.fused import FUSED
from minigrad.graph import Graph, Node
from minigrad.messages import fill
from minigrad.ops import parts, state
from minigrad.plan import Arena, Plan, Wanted, share_buffers
from minigrad.source import here
from minigrad.tiles import Region, Tiles, direct

SOURCES = (state.placeholder, state.variable, state.constant)
# The same elements in the same order: the result is the operand in another shape.
RESHAPES = (
    *(ops.reshape, ops.reshape_like, ops.expand_dims, ops.squeeze),
    *(ops.identity, ops.stop_gradient),
)
KEPT = 1 << 16  # bytes from which a result that nobody holds any more is written to again

Shape = tuple[int, ...]
Call = tuple[Callable[..., Any], list[Any], Attrs, Node]


def concrete_specs(graph: Graph, shapes: Mapping[Node, Shape]) -> dict[Node, Spec]:
    """What is known of every node once the shapes of the inputs are: by the operators' rules."""
    known: dict[Node, Spec] = {}
    for node in graph.nodes:
        if node in shapes:
            known[node] = Spec(shapes[node], node.dtype)
        elif node.inputs:
            try:
                known[node] = node.op.spec([known[x] for x in node.inputs], node.attrs)
            except GraphError as error:
                error.defined, error.ran = error.defined or node.where, here()
                raise
        else:
            known[node] = node.spec
    return known


class Layout:
    """What becomes of each node's value, and the plan of those that lie in the arena.

    source   fed, a variable or a constant
    alias    another value in another shape
    whole    a fused region with several results: not a value itself
    planned  in the arena
    result   in an array of its own, because the caller or a variable keeps it
    free     as it comes: numbers, and what has no known shape
    """

    def __init__(self, graph: Graph, specs: Mapping[Node, Spec], in_place: bool) -> None:
        self.graph, self.specs, self.in_place = graph, specs, in_place
        self.kind: dict[Node, str] = {}
        self.root: dict[Node, Node] = {}  # of an alias: whose elements it shows
        for node in graph.nodes:
            self.kind[node] = self._kind(node)
            self.root[node] = self.root[node.inputs[0]] if self.kind[node] == "alias" else node
        self.assigned = self._assigned()
        for x in (*graph.outputs, *self.assigned):
            if self.kind[self.root[x]] == "planned":
                self.kind[self.root[x]] = "result"
        self.plan = share_buffers(self._wanted())

    def shape(self, node: Node) -> Shape:
        return self.specs[node].shape  # type: ignore[return-value]

    def _kind(self, node: Node) -> str:
        if node.op in SOURCES:
            return "source"
        spec = self.specs[node]
        known = spec.shape is not None and all(isinstance(n, int) for n in spec.shape)
        if node.op is FUSED and type(spec) is not Spec:
            shapes = [s.shape for s in spec.parts]  # type: ignore[attr-defined]
            return "whole" if all(_is_known(s) for s in shapes) else "free"
        if node.op is parts.output and self.kind[node.inputs[0]] == "whole":
            return "planned"
        if node.op in RESHAPES and known:
            return "alias"
        usable = node.op not in HANDLERS and not node.op.impure
        return "planned" if usable and known and spec.shape != () else "free"

    def _assigned(self) -> dict[Node, Node]:
        """Values that become those of a variable, each of one: they are computed in its memory."""
        found: dict[Node, Node] = {}
        for node in self.graph.nodes:
            if node.op is state.assign:
                value = node.inputs[1]
                if self.kind[value] == "planned" and value not in found:
                    found[value] = node.inputs[0]
        returned = {self.root[x] for x in self.graph.outputs}
        return {x: v for x, v in found.items() if x not in returned}

    def _wanted(self) -> list[Wanted]:
        place = {node: i for i, node in enumerate(self.graph.nodes)}
        end = dict(place)
        for node, i in place.items():
            for x in node.inputs:
                end[self.root[x]] = max(end[self.root[x]], i)
        start = {n: place[n.inputs[0]] if n.op is parts.output else i for n, i in place.items()}
        return [
            Wanted(n, self.shape(n), start[n], end[n], self._overwritable(n))
            for n in sorted(self.graph.nodes, key=start.__getitem__)
            if self.kind[n] == "planned"
        ]

    def _overwritable(self, node: Node) -> tuple[Node, ...]:
        """Operands of an element-wise NumPy function that have the form of its result."""
        if not self.in_place or node.op.ufunc is None:
            return ()
        same = [x for x in node.inputs if self.kind[x] == "planned" and self._like(x, node)]
        roots = [self.root[y] for y in node.inputs]
        return tuple(x for x in same if sum(r is x for r in roots) == 1)

    def _like(self, a: Node, b: Node) -> bool:
        return self.specs[a].shape == self.specs[b].shape and a.dtype == b.dtype


def _is_known(shape: Any) -> bool:
    return shape is not None and all(isinstance(n, int) for n in shape)


class Bound:
    """A graph for one choice of input shapes: memory, and the calls that fill it."""

    def __init__(self, graph: Graph, shapes: Mapping[Node, Shape], in_place: bool = True) -> None:
        self.graph = graph
        self.layout = Layout(graph, concrete_specs(graph, shapes), in_place)
        self.plan: Plan = self.layout.plan
        self.arena = Arena(self.plan)
        self.fixed: dict[Node, Array] = {x.node: self.arena.array(x) for x in self.plan.lifetimes}
        self.uses: dict[Node, list[tuple[list[Any], int]]] = {n: [] for n in graph.nodes}
        self.views: dict[Node, list[Node]] = {n: [] for n in graph.nodes}
        self.calls: list[Call] = []
        self.values: dict[Node, Any] = {}  # what is not fixed, during a run
        self._spare: dict[Node, Array] = {}
        self._adopting = set(self.layout.assigned.values())
        self._returned: dict[Node, Array] = {}
        self._run = Run({}, {}, None)
        for node in graph.nodes:
            self._emit(node)

    # ---- Preparing --------------------------------------------------------------------------

    def _emit(self, node: Node) -> None:
        kind = self.layout.kind[node]
        if node.op is state.constant:
            self.fixed[node] = np.asarray(node.attrs["value"])
        elif kind == "alias":
            (x, *_) = node.inputs
            if x in self.fixed:
                self.fixed[node] = self.fixed[x].reshape(self.layout.shape(node))
            else:
                self.views[x].append(node)
        elif node.op is FUSED and kind != "free":
            self._emit_region(node)
        elif kind in ("planned", "result") and node.op is not parts.output:
            ufunc = direct(node)
            operands = [(x, self._operand(node, i, x)) for i, x in enumerate(node.inputs)]
            if ufunc is not None:
                self._call(ufunc, [*operands, (node, None)], {}, node)
            else:
                self._call(node.op.run, [(node, None), *operands], node.attrs, node)
        elif kind == "free":
            self._emit_free(node)

    def _operand(self, node: Node, i: int, x: Node) -> Any:
        """A Spec where only the shape is read, so that the data need not be there."""
        spec = self.layout.specs[x]
        return spec if i in node.op.shape_only and _is_known(spec.shape) else None

    def _call(
        self,
        function: Callable[..., Any],
        arguments: Sequence[tuple[Any, Any]],
        attrs: Attrs,
        node: Node,
    ) -> None:
        """Add a call; each argument is a node (or None) and, if it is known already, its value."""
        args: list[Any] = []
        for k, (x, value) in enumerate(arguments):
            if value is None and x in self.fixed:
                value = self.fixed[x]
            elif value is None:
                self.uses[x].append((args, k))
            args.append(value)
        self.calls.append((function, args, attrs, node))

    def _emit_region(self, node: Node) -> None:
        region = Region(node.attrs["body"])
        outputs = [node]
        if self.layout.kind[node] == "whole":
            readers = {
                n.attrs["index"]: n
                for n in self.graph.nodes
                if n.op is parts.output and n.inputs[0] is node
            }
            outputs = [readers[i] for i in range(len(region.body.outputs))]
        shape = self.layout.shape(outputs[0])
        shapes = [self.layout.shape(x) for x in node.inputs]
        alike = all(self.layout.shape(x) == shape for x in outputs)
        tiles = (
            Tiles(region, shape, shapes) if alike and node.attrs["kind"] == "elementwise" else None
        )
        if tiles is not None and tiles.count > 1:
            self._call(tiles, [(x, None) for x in (*outputs, *node.inputs)], {}, node)
        else:
            self._emit_steps(node, region, outputs)

    def _emit_steps(self, node: Node, region: Region, outputs: Sequence[Node]) -> None:
        """A region that fits into one tile: its operators are calls like all others."""
        body = region.body
        known = concrete_specs(
            body, {x: self.layout.shape(y) for x, y in zip(body.inputs, node.inputs, strict=True)}
        )
        scratch: dict[tuple[int, Any], Array] = {}

        def place(p: Any, inner: Node) -> tuple[Any, Any]:
            if p.kind == "input":
                return node.inputs[p.number], None
            if p.kind == "output":
                return outputs[p.number], None
            if p.kind == "constant":
                return None, region.constants[p.number]
            spec = known[inner]
            key = (p.number, spec.shape)
            if key not in scratch:
                scratch[key] = np.empty(spec.shape or (), spec.dtype)
            return None, scratch[key]

        for step in region.steps:
            operands = [place(p, x) for p, x in zip(step.sources, step.node.inputs, strict=True)]
            out = place(step.target, step.node)
            self._call(step.function, step.arguments(out, operands), step.attrs, node)
        for p, i in region.copies:
            inner = body.outputs[i]
            self._call(np.copyto, [(outputs[i], None), place(p, inner)], {}, node)

    def _emit_free(self, node: Node) -> None:
        """A value that is made anew at each run, and put where it is read."""
        if node.op is state.assign and self.layout.assigned.get(node.inputs[1]) is node.inputs[0]:
            self._call(self._adopt(node), [(node.inputs[1], None)], {}, node)
            return
        handler = HANDLERS.get(node.op)
        step = Step(node, [], 0, ()) if handler is not None else None
        if step is not None:
            step.keeps_history = any(
                n.inputs[0] is node for n in self.graph.nodes if n.op.name == "History"
            )

        def compute(*operands: Any) -> None:
            if step is not None and handler is not None:
                value = handler(self._run, step, list(operands))
            else:
                value = node.op.run(None, *operands, **node.attrs)
            self._set(node, value)

        self._call(
            compute, [(x, self._operand(node, i, x)) for i, x in enumerate(node.inputs)], {}, node
        )

    def _adopt(self, node: Node) -> Callable[[Array], None]:
        """The memory of a value becomes that of the variable, when the run has succeeded."""
        variable = node.inputs[0]

        def adopt(value: Array) -> None:
            self._run.updates[variable] = value
            self._set(node, value)
            if events.listeners:
                events.emit("run", state.assign, node, value, (value,))

        return adopt

    # ---- Running ----------------------------------------------------------------------------

    def _set(self, node: Node, value: Any) -> None:
        self.values[node] = value
        for args, i in self.uses[node]:
            args[i] = value
        for view in self.views[node]:
            shape = self.layout.shape(view)
            self._set(view, None if value is None else np.reshape(value, shape))

    def run(self, feeds: Mapping[Node, Array], variables: Variables) -> list[Any]:
        """Run once. Results share no memory with anything; variables change only at the end."""
        self._run = Run(feeds, variables, self.graph.outputs[0])
        self._prepare(feeds, variables)
        call: Call | None = None
        try:
            with np.errstate(all="ignore"):
                if events.listeners:
                    self._run_told()
                else:
                    for call in self.calls:
                        call[0](*call[1], **call[2])
        except GraphError as error:
            if call is not None:
                error.defined, error.ran = error.defined or call[3].where, error.ran or here()
            raise
        except (ValueError, IndexError, TypeError) as reason:
            if call is None:
                raise
            raise self._explained(call, reason) from None
        return self._finish(variables)

    def _explained(self, call: Call, reason: Exception) -> GraphError:
        node = call[3]
        specs = [spec_of(self.value(x)) for x in node.inputs]
        found = explain(node.op, specs, node.attrs, reason)
        found.defined, found.ran = node.where, here()
        return found

    def value(self, node: Node) -> Any:
        """The value of a node as it is now."""
        return self.fixed[node] if node in self.fixed else self.values[node]

    def _prepare(self, feeds: Mapping[Node, Array], variables: Variables) -> None:
        for node, kind in self.layout.kind.items():
            if node.op is state.placeholder:
                self._set(node, feeds[node])
            elif node.op is state.variable:
                self._set(node, variables[node])
            elif kind == "result":
                self._set(node, self._fresh(node))

    def _fresh(self, node: Node) -> Array:
        """Memory for a result: the variable's other array, or one that the caller let go."""
        spec = self.layout.specs[node]
        shape = self.layout.shape(node)
        if node in self.layout.assigned:
            variable = self.layout.assigned[node]
            spare = self._spare.pop(variable, None)
            return np.empty(shape, spec.dtype) if spare is None else spare
        old = self._returned.pop(node, None)
        if old is not None and sys.getrefcount(old) == 2:
            return old
        new = np.empty(shape, spec.dtype)
        if new.nbytes >= KEPT:
            self._returned[node] = new
        return new

    def _finish(self, variables: Variables) -> list[Any]:
        results = [self._own(x) for x in self.graph.outputs]
        for node, kind in self.layout.kind.items():
            if kind == "result":  # so that only the caller holds it
                self._set(node, None)
        for variable, value in self._run.updates.items():
            if variable in self._adopting:
                self._spare[variable] = variables[variable]
            variables[variable] = value
        return results

    def _own(self, node: Node) -> Any:
        value = self.value(node)
        mine = self.layout.kind[node] == "result" and node not in self.layout.assigned
        if mine or not isinstance(value, np.ndarray):
            return value
        return value.copy()[()]

    def _run_told(self) -> None:
        """Run, and tell listeners of each kernel; a fused region is one."""
        for i, (function, args, attrs, node) in enumerate(self.calls):
            function(*args, **attrs)
            last = i + 1 == len(self.calls) or self.calls[i + 1][3] is not node
            if last and node.op not in HANDLERS:  # handlers tell themselves
                operands = tuple(self.value(x) for x in node.inputs)
                whole = self.layout.kind[node] == "whole"
                events.emit("run", node.op, node, None if whole else self.value(node), operands)


class Program:
    """A graph made ready to run many times: `graph.compile()`.

    executor: "numpy" runs planned calls, "reference" one operator after the other. `plan`, `source`
    and `kernels` tell what it will do; they need shapes that are known, or a run.

    >>> import minigrad as mg
    >>> x = mg.placeholder("x", shape=(None, 3))
    >>> program = mg.build_graph(x, mg.tanh(x * 2 + 1)).compile()
    >>> program({x: [[0.0, 1.0, 2.0]]}).shape, program.kernels
    ((1, 3), 1)
    """

    def __init__(
        self, graph: Graph, optimize: bool = True, executor: str = "numpy", session: Any = None
    ) -> None:
        if executor not in EXECUTORS:
            known = ", ".join(EXECUTORS)
            raise GraphError("unknown_executor", name=executor, names=known, defined=here())
        if not isinstance(graph, Graph):
            raise refuse("Program", "graph", graph, fill("expect_graph"))
        self.graph = graph.optimize() if optimize else graph
        self.executor, self.optimized = executor, optimize
        variables = {v: np.array(v.attrs["value"])[()] for v in self.graph.variables}
        self.variables: Variables = variables if session is None else session.variables
        self._bound: dict[tuple[Shape, ...], Bound] = {}
        self._latest: Bound | None = None
        self._interpreter = Interpreter(self.graph.outputs, effects=self.graph.effects)

    def __call__(self, feed_dict: Mapping[Any, Any] | None = None) -> Any:
        """Run with these feeds, by placeholder or name; one array or a list, as built.

        Raises NotFedError, FeedError, and the errors of the operators with both lines.
        """
        feeds = check_feeds(self.graph, feed_dict)
        if self.executor == "reference":
            results = self._interpreter(feeds, self.variables)
        else:
            results = self.bind(feeds).run(feeds, self.variables)
        return results[0] if self.graph.single else results

    def bind(self, feeds: Mapping[Node, Array]) -> Bound:
        """The calls for feeds of these shapes: made once for each combination."""
        for node in self.graph.placeholders:
            expect_fed(node, feeds, self.graph.outputs[0])
        shapes = {node: np.shape(feeds[node]) for node in self.graph.placeholders}
        key = tuple(shapes.values())
        if key not in self._bound:
            if len(self._bound) >= MOST_BOUND:
                self._bound.pop(next(iter(self._bound)))
            self._bound[key] = Bound(self.graph, shapes, self.optimized)
        self._latest = self._bound[key]
        return self._latest

    @property
    def bound(self) -> Bound:
        """The calls of the latest run, or those for the declared shapes."""
        if self._latest is None:
            shapes = {node: node.shape for node in self.graph.placeholders}
            for node, shape in shapes.items():
                if shape is None or None in shape:
                    raise GraphError("open_plan", name=node.name, defined=node.where, ran=here())
            self._latest = Bound(self.graph, shapes, self.optimized)  # type: ignore[arg-type]
        return self._latest

    @property
    def plan(self) -> Plan:
        """Which values share which memory."""
        return self.bound.plan

    @property
    def kernels(self) -> int:
        """How many kernels a run starts; a fused region is one."""
        return len({id(n) for n in self.graph.nodes if n.op not in HANDLERS})


EXECUTORS = ("reference", "numpy")
MOST_BOUND = 16  # choices of input shapes that are kept ready


def _compile(graph: Graph, optimize: bool, executor: str, session: Any) -> Program:
    return Program(graph, optimize, executor, session)


Graph._compiler = _compile

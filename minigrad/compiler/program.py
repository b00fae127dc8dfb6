"""A graph made ready to run many times."""

from __future__ import annotations

import builtins
import functools
from collections.abc import Callable, Mapping
from dataclasses import replace
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from minigrad import passes
from minigrad.compiler.executors import EXECUTORS
from minigrad.compiler.js.writer import write as write_javascript
from minigrad.compiler.memory import DoubleBuffer
from minigrad.compiler.schedule.parallel import Costs, Parallel
from minigrad.compiler.schedule.schedule import Place, Schedule
from minigrad.compiler.specialized import SpecializedProgram
from minigrad.compiler.text.program import write_reference
from minigrad.control import COND
from minigrad.control.untaken_branch_nan import gradient_branches, warn_of_nan
from minigrad.core import Array, events
from minigrad.core.garbage import no_collection
from minigrad.core.locks import RunLock
from minigrad.diagnostics import foreign
from minigrad.diagnostics.arguments import expect, number, refuse, whole
from minigrad.diagnostics.errors import GraphError
from minigrad.diagnostics.messages import fill
from minigrad.diagnostics.source import here
from minigrad.passes.layout import Kinds, Layout, Shape, concrete_specs, kinds_of
from minigrad.passes.plan import Plan, Planner, plan_with, share_buffers
from minigrad.static import Graph, Node, bodies_of
from minigrad.static.feeds import check_feeds
from minigrad.static.handlers import HANDLERS, Variables, expect_fed
from minigrad.static.run import Interpreter

__all__ = ["Program", "compile"]

if TYPE_CHECKING:  # `minigrad.methods` adds these when it loads
    from minigrad.methods import ProgramMethods
else:
    ProgramMethods = object

MOST_DEVICES = 1024  # threads of a schedule
MOST_BOUND = 16  # choices of input shapes that are kept ready


class Program(ProgramMethods):
    """A graph made ready to run many times: `graph.compile()`.

    executor: "numpy" runs planned calls, "c" compiles kernels to C where there is a compiler and
    leaves the rest to NumPy, "reference" runs one operator after the other; "js" doesn't run here:
    its `source` is JavaScript for web pages, see `minigrad.compiler.js`. `plan`, `source` and
    `kernels` tell what it will do; they need shapes that are known, or a run. `variables` holds the
    values as they are now, in memory that later runs write to: copy what you want to keep.
    planner: a function that lays the values into the arena, in the place of ours. It takes two
    dictionaries, from nodes to the first and last step that need the value, and to its size in
    bytes; it returns one from nodes to offsets. Results and the bodies of loops stay ours, and so
    does a schedule, in which everything lies apart.

    Several threads may call it: as all runs work in the same memory, they wait for each other, and
    with `session` for all runs of that session. For runs side by side compile the graph once for
    each thread. A listener that calls it in the middle of a run gets a GraphError.

    >>> import minigrad as mg
    >>> x = mg.placeholder("x", shape=(None, 3))
    >>> program = mg.build_graph(x, mg.tanh(x * 2 + 1)).compile()
    >>> program({x: [[0.0, 1.0, 2.0]]}).shape, program.kernels
    ((1, 3), 1)
    """

    def __init__(
        self,
        graph: Graph,
        optimize: bool = True,
        executor: str = "numpy",
        session: Any = None,
        planner: Planner | None = None,
    ) -> None:
        if executor != REFERENCE and executor not in EXECUTORS:
            known = ", ".join([REFERENCE, *EXECUTORS])
            raise GraphError("unknown_executor", name=executor, names=known, defined=here())
        if not isinstance(graph, Graph):
            raise refuse("Program", "graph", graph, fill("expect_graph"))
        if planner is not None and (executor == REFERENCE or not callable(planner)):
            raise refuse("compile", "planner", planner, fill("expect_planner", executor=executor))
        self._planner = functools.partial(plan_with, planner) if planner else share_buffers
        self.graph = passes.optimize(graph) if optimize else graph
        self.executor, self.optimized = executor, optimize
        variables = {v: np.array(v.attrs["value"])[()] for v in self.graph.variables}
        self.variables: Variables = variables if session is None else session.variables
        self._turn: RunLock = RunLock() if session is None else session.turn
        self._branches = gradient_branches(graph.nodes) if COND in graph.operators else ()
        self._inputs = self.graph.placeholders
        self._known: dict[Any, tuple[Node, Any]] = {}  # what may be fed, by node or name
        for x in sorted(self._inputs, key=attrgetter("order")):  # the newest holds a name
            self._known[x] = self._known[x.name] = x, x.dtype
        self._layouts: dict[Kinds, Layout] = {}
        self._bound: dict[tuple[Shape, ...], SpecializedProgram] = {}
        self._pairs: dict[Node, DoubleBuffer] = {}
        self._latest: SpecializedProgram | None = None
        self._parallel: tuple[tuple[Shape, ...], Parallel] | None = None

    def __call__(self, feed_dict: Mapping[Any, Any] | None = None) -> Any:
        """Run with these feeds, by placeholder or name; return one array or a list, as built.

        Raises NotFedError, FeedError, and the errors of the operators with both lines.
        """
        if self.executor == JAVASCRIPT:
            raise GraphError("js_called", ran=here())
        with self._turn:
            feeds = self._unconverted(feed_dict)
            bound = None
            if feeds is not None:
                bound = self._bound.get(tuple([feeds[x].shape for x in self._inputs]))
            if feeds is None or bound is None:
                feeds = check_feeds(self.graph, feed_dict)
            if self.executor == REFERENCE:
                results = self._interpreter(feeds, self.variables)
            else:
                results = (bound or self.bind(feeds)).run(feeds, self.variables)
                self._latest = bound or self._latest
                if self._branches:
                    values = Interpreter.computing(feeds, self.variables)
                    warn_of_nan(self._branches, results, values)
            return results[0] if self.graph.single else results

    def _unconverted(self, feed_dict: Mapping[Any, Any] | None) -> dict[Node, Array] | None:
        """Return the feeds by placeholder if none needs a conversion, else None."""
        if type(feed_dict) is not dict or len(feed_dict) != len(self._inputs):
            return None
        found: dict[Node, Array] = {}
        for key, value in feed_dict.items():
            known = self._known.get(key)
            if known is None or type(value) is not np.ndarray:
                return None
            node, dtype = known
            if value.dtype is not dtype or not value.ndim or not value.flags.c_contiguous:
                return None
            found[node] = value
        return found if len(found) == len(self._inputs) else None

    @functools.cached_property
    def _interpreter(self) -> Interpreter:
        return Interpreter(self.graph.outputs, effects=self.graph.effects)

    def bind(self, feeds: Mapping[Node, Array]) -> SpecializedProgram:
        """Return the calls for feeds of these shapes, made once for each combination."""
        key = self._shapes_of(feeds)
        if key not in self._bound:
            if len(self._bound) >= MOST_BOUND:
                self._bound.pop(next(iter(self._bound)))
            self._bound[key] = self._specialize(key)
        self._latest = self._bound[key]
        return self._latest

    def _shapes_of(self, feeds: Mapping[Node, Array]) -> tuple[Shape, ...]:
        for node in self._inputs:
            expect_fed(node, feeds, self.graph.outputs[0])
        return tuple([np.shape(feeds[node]) for node in self._inputs])

    @no_collection()
    def _specialize(self, shapes: tuple[Shape, ...], apart: bool = False) -> SpecializedProgram:
        """Bind the graph to these shapes; whatever doesn't depend on sizes is reused."""
        specs = concrete_specs(self.graph, dict(zip(self._inputs, shapes, strict=True)))
        kinds = kinds_of(self.graph, specs)
        if kinds not in self._layouts:
            self._layouts[kinds] = Layout(self.graph, kinds, specs)
            if events.listeners:
                events.emit("compiled", None, self)
        chosen = EXECUTORS.get(self.executor, EXECUTORS["numpy"])
        bound = SpecializedProgram(
            self._layouts[kinds], specs, chosen, self._pairs, apart, self._planner
        )
        if events.listeners:
            events.emit("bound", None, self)
        return bound

    @property
    def bound(self) -> SpecializedProgram:
        """The calls of the latest run, or those for the declared shapes."""
        found: SpecializedProgram = self._turn.look(self._latest_bound)
        return found

    def _latest_bound(self) -> SpecializedProgram:
        if self._latest is None:
            for node in self._inputs:
                if node.shape is None or None in node.shape:
                    raise GraphError("open_plan", name=node.name, defined=node.where, ran=here())
            shapes: Any = tuple([node.shape for node in self._inputs])
            self._latest = self._bound[shapes] = self._specialize(shapes)
        return self._latest

    def schedule(
        self,
        devices: int = 2,
        costs: Costs | None = None,
        feed_dict: Mapping[Any, Any] | None = None,
        handover: float | None = None,
        place: Place | None = None,
    ) -> Schedule:
        """Schedule the kernels on devices (threads, at most 1024) by list scheduling.

        costs: seconds for each node, as a mapping (from nodes or names) or a function. Without
        them the kernels are timed, fed with `feed_dict` or with numbers made up, for the shapes of
        the latest run, and the schedule is tried: where more devices are not quicker, fewer are
        used. handover: seconds to hand a task to another thread; measured, or 0 for given costs.
        Measuring changes no variable, prints nothing, and lets BLAS use one thread.

        place: a scheduler of your own in the place of ours. Called with a dictionary of what each
        node waits for (in an order in which they can run), their seconds and the number of devices,
        it gives for each node its device, start and end. A hand-over is then not counted.

        Raises ArgumentError for bad devices and costs, GraphError for open shapes, costs that are
        missing, and loops that might not end when fed with numbers made up; VerifyError where what
        `place` gives is no schedule.

        >>> import minigrad as mg
        >>> x = mg.placeholder("x", shape=(3,))
        >>> program = mg.build_graph(x, mg.exp(x) @ mg.tanh(x)).compile()
        >>> schedule = program.schedule(devices=2, costs=lambda node: 1.0)
        >>> schedule.makespan, schedule.total, len(schedule.critical_path)
        (2.0, 3.0, 2)
        """
        devices = whole("schedule", "devices", devices, 1, MOST_DEVICES)
        if handover is not None:
            handover = float(number("schedule", "handover", handover))
        if place is not None and not callable(place):
            raise refuse("schedule", "place", place, fill("expect_function"))
        feeds = None if feed_dict is None else check_feeds(self.graph, feed_dict)
        found: Schedule = self._turn.run(self._scheduled, devices, costs, feeds, handover, place)
        return found

    def _scheduled(
        self,
        devices: int,
        costs: Costs | None,
        feeds: Mapping[Node, Array] | None,
        handover: float | None,
        place: Place | None,
    ) -> Schedule:
        if feeds is None:
            shapes: Any = [self.bound.specs[node].shape for node in self._inputs]
        else:
            shapes = self._shapes_of(feeds)
        parallel = self._parallel_tasks(tuple(shapes))
        schedule = parallel.schedule(devices, costs, feeds, handover, self.variables, place)
        return replace(schedule, runner=functools.partial(self._turn.run, self._run_on))

    def _parallel_tasks(self, shapes: tuple[Shape, ...]) -> Parallel:
        """Return the tasks for these shapes; those of the latest are kept."""
        if self._parallel is None or self._parallel[0] != shapes:
            self._parallel = shapes, Parallel(self._specialize(shapes, apart=True))
        return self._parallel[1]

    def _run_on(
        self, schedule: Schedule, feed_dict: Mapping[Any, Any] | None, scheduler: Any = None
    ) -> tuple[Any, Schedule]:
        if scheduler is not None:
            return self._run_on_dask(schedule, feed_dict, scheduler)
        feeds = check_feeds(self.graph, feed_dict)
        parallel = self._parallel_tasks(self._shapes_of(feeds))
        results, measured = parallel.run(schedule, feeds, self.variables)
        return (results[0] if self.graph.single else results), measured

    @property
    def plan(self) -> Plan:
        """The memory plan: which values share which memory."""
        return self.bound.plan

    @property
    def source(self) -> str:
        """The program as Python: one line for each call, with the node and the line it came from.

        The text defines `program(feeds, variables)`, and `load_source` gives it to you. It prints
        the list of calls that a run makes; a program with branches or loops runs as this text
        itself, unless a listener follows each call. It holds no name of the user's but as a string
        or in a comment. What the executor "c" has compiled comes before it, in C, and the Python is
        a comment there.

        >>> import minigrad as mg
        >>> with mg.Graph():
        ...     x = mg.placeholder("x", shape=(3,))
        ...     text = mg.build_graph(x, mg.tanh(x)).compile().source
        >>> print(*(line.split("#")[0].strip() for line in text.splitlines() if "tanh" in line))
        np.tanh(x, Tanh)
        """
        if self.executor == JAVASCRIPT:
            written: str = self._turn.look(self._javascript)
            return written
        text: str = self._turn.look(self._program_text)[0]
        annotate = None if self.executor == REFERENCE else self.bound.executor.annotate
        return annotate(self.bound.flat, text) if annotate else text

    def _javascript(self) -> str:
        bound = self.bound
        return write_javascript(bound.layout, bound.specs, bound.plan, self.variables)

    def load_source(self) -> Callable[..., list[Any]]:
        """Load the function `program(feeds, variables)` that the text of `source` defines.

        feeds, variables: dictionaries of arrays by name; new values of variables are put into the
        second. The results are those of the program itself, bit for bit. As in the program, calls
        from several threads wait for each other; the text alone leaves that to its caller.

        >>> import minigrad as mg
        >>> with mg.Graph():
        ...     x = mg.placeholder("x", shape=())
        ...     run = mg.build_graph(x, x * x + 3).compile().load_source()
        >>> run({"x": np.float32(2)}, {})
        [np.float32(7.0)]
        """
        text, constants = self._turn.look(self._program_text)
        scope: dict[str, Any] = {"constants": constants}
        exec(builtins.compile(text, "<program>", "exec"), scope)
        turn, program = RunLock(), scope["program"]

        @functools.wraps(program)
        def one_at_a_time(feeds: Any, variables: Any) -> list[Any]:
            found: list[Any] = turn.run(program, feeds, variables)
            return found

        return one_at_a_time

    def _program_text(self) -> tuple[str, dict[str, Any]]:
        if self.executor == REFERENCE:
            written = write_reference(self.graph, self._interpreter)
        else:
            written = self.bound.shown
        return written.shown, written.table.values

    @property
    def kernels(self) -> int:
        """The number of kernels; a fused region is one.

        A run starts each of them once, those within branches and loops as often as these run;
        `mg.record` counts that.
        """
        found: set[int] = set()
        waiting = [self.graph]
        while waiting:
            for node in waiting.pop().nodes:
                if node.op in HANDLERS:
                    waiting += bodies_of(node.attrs).values()
                else:
                    found.add(id(node))
        return len(found)


REFERENCE, JAVASCRIPT = "reference", "js"


def compile(
    graph: Graph,
    optimize: bool = True,
    executor: str = "numpy",
    session: Any = None,
    planner: Planner | None = None,
) -> Program:
    """Compile a graph into a program to run many times; see `mg.Program`.

    >>> import minigrad as mg
    >>> with mg.Graph():
    ...     x = mg.placeholder("x", shape=())
    ...     program = mg.compile(mg.build_graph(x, x * x + 3))
    >>> float(program({x: 2.0}))
    7.0
    """
    expect(isinstance(graph, Graph), compile, foreign.OF_GRAPHS["compile"].shown)
    return Program(graph, optimize, executor, session, planner)

"""The calls of a program as tasks: what each waits for, what it costs, and running them on threads.

One node is one task. It waits for the tasks whose results it reads, for its control dependencies,
and, where it prints, checks or touches a variable, for what came before in the order of the
program. A variable that is read gives its value from before the run: new values come into force
when the whole run has succeeded.
"""

from __future__ import annotations

import contextlib
import math
import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from minigrad import control
from minigrad.compiler.schedule.devices import Pool, TaskFailed, TaskSpan, handover_seconds
from minigrad.compiler.schedule.schedule import (
    Place,
    Schedule,
    Task,
    best_schedule,
    check_placement,
    list_schedule,
)
from minigrad.compiler.slots import KernelCall
from minigrad.compiler.specialized import SpecializedProgram
from minigrad.core import STOPS, Array, events, silence
from minigrad.core.threads import one_blas_thread
from minigrad.diagnostics.arguments import refuse
from minigrad.diagnostics.errors import GraphError
from minigrad.diagnostics.messages import fill
from minigrad.diagnostics.source import here
from minigrad.ops import state
from minigrad.static import Graph, Node
from minigrad.static.handlers import Variables

REPEATS = 5  # timed runs, of which the median counts; one before them warms up
TOUCH_VARIABLES = (state.assign, state.read_value, state.initialize)

Costs = Mapping[Any, float] | Callable[[Node], float]


class Parallel:
    """The tasks of a program for one choice of input shapes, in memory that they do not share."""

    def __init__(self, bound: SpecializedProgram) -> None:
        self.bound = bound
        self.calls: dict[Node, list[KernelCall]] = {}
        for call in bound.calls:
            self.calls.setdefault(call.node, []).append(call)
        self.after = self._dependencies()
        self.nodes = list(self.after)
        self.place = {node: i for i, node in enumerate(self.nodes)}
        self.followers: list[list[int]] = [[] for _ in self.nodes]
        for node, needed in self.after.items():
            for x in needed:
                self.followers[self.place[x]].append(self.place[node])
        self._measured: tuple[Mapping[Node, Array], dict[Node, float]] | None = None

    def _dependencies(self) -> dict[Node, tuple[Node, ...]]:
        """Return for each task those it waits for, through nodes without a call of their own."""
        reach: dict[Node, tuple[Node, ...]] = {}
        latest: dict[Any, Node] = {}
        found = {}
        for node in self.bound.layout.order:
            sources = [reach[x] for x in (*node.inputs, *node.controls)]
            for what in _effects(node):
                if what in latest:
                    sources.append((latest[what],))
                latest[what] = node
            needed = tuple(dict.fromkeys(x for some in sources for x in some))
            if node in self.calls:
                found[node] = needed
            reach[node] = (node,) if node in self.calls else needed
        return found

    # ---- Costs ------------------------------------------------------------------------------

    def schedule(
        self,
        devices: int,
        costs: Costs | None,
        feeds: Mapping[Node, Array] | None,
        delay: float | None,
        variables: Variables,
        place: Place | None = None,
    ) -> Schedule:
        """Return the best schedule for these costs; without costs, measure them and try it.

        With `place` it is the schedule that this function makes.
        """
        if costs is None:
            feeds, found = self._measure(feeds, variables)
        else:
            found = costs_by_node(costs, self.nodes)
        if place is not None:
            source = "measured" if costs is None else "given"
            return check_placement(self.after, found, devices, place, source)
        if feeds is None or costs is not None:
            return best_schedule(self.after, found, devices, delay or 0.0)
        delay = handover_seconds() if delay is None else delay
        schedule = best_schedule(self.after, found, devices, delay, "measured")
        return self.faster_of(schedule, feeds, variables)

    def _measure(
        self, feeds: Mapping[Node, Array] | None, variables: Variables
    ) -> tuple[Mapping[Node, Array], dict[Node, float]]:
        """Return the latest measurement, or measure now: the feeds and each task's seconds."""
        if self._measured is None or feeds is not None:
            feeds = sample_feeds(self.bound) if feeds is None else feeds
            self._measured = feeds, self.costs(feeds, variables)
        return self._measured

    def costs(self, feeds: Mapping[Node, Array], variables: Variables) -> dict[Node, float]:
        """Measure the seconds of each task: the median of a few sequential runs.

        Prints and assertions are left out, and no variable changes.
        """
        self.bound.begin(feeds, variables)
        with one_blas_thread():
            runs = [silence().run(self._time_once) for _ in range(REPEATS + 1)][1:]
        return {node: statistics.median(run[node] for run in runs) for node in self.calls}

    def _time_once(self) -> dict[Node, float]:
        found = {}
        for node in self.calls:
            start = time.perf_counter()
            try:
                self._perform(node, quiet=True)
            except (GraphError, *STOPS) as error:
                raise self._error_for(node, error) from None
            found[node] = time.perf_counter() - start
        return found

    def _perform(self, node: Node, quiet: bool = False) -> None:
        if quiet and node.op.impure:
            slots = self.bound.slots
            slots[node].set(slots[node.inputs[0]].array)
            return
        for call in self.calls[node]:
            self.bound.perform(call)
            if events.listeners and not quiet:
                self.bound.report(call)

    def _error_for(self, node: Node, error: BaseException) -> BaseException:
        known = isinstance(error, (GraphError, *STOPS))
        return self.bound.error_for(node, error) if known else error  # type: ignore[arg-type]

    # ---- On threads -------------------------------------------------------------------------

    def spans(self, schedule: Schedule, devices: int, quiet: bool = False) -> dict[Node, TaskSpan]:
        """Run all tasks on a pool, in the schedule's order; return when and where each ran."""
        nodes = self.nodes
        rank = {t.node: i for i, t in enumerate(schedule.tasks)}
        pool = Pool(
            lambda i: self._perform(nodes[i], quiet),
            [len(needed) for needed in self.after.values()],
            self.followers,
            [rank.get(node, len(rank)) for node in nodes],
        )
        try:
            with one_blas_thread():
                spans = pool.run(devices)
        except TaskFailed as failure:
            raise self._error_for(nodes[failure.task], failure.error) from None
        return dict(zip(nodes, spans, strict=True))

    def run(
        self, schedule: Schedule, feeds: Mapping[Node, Array], variables: Variables
    ) -> tuple[list[Any], Schedule]:
        """Run the schedule; return the results and the schedule as measured."""
        self.bound.begin(feeds, variables)
        with self.bound.held() if events.listeners else contextlib.nullcontext():
            spans = self.spans(schedule, max(schedule.used, 1))
            results = self.bound.finish(variables)
        return results, self._timed_schedule(schedule, spans)

    def _timed_schedule(self, schedule: Schedule, spans: Mapping[Node, TaskSpan]) -> Schedule:
        tasks = [Task(n, s.device, s.start, s.end, self.after[n]) for n, s in spans.items()]
        tasks.sort(key=lambda t: (t.start, t.end))
        return replace(schedule, tasks=tuple(tasks), costs="run", rehearsal=None)

    def faster_of(
        self, schedule: Schedule, feeds: Mapping[Node, Array], variables: Variables
    ) -> Schedule:
        """Return the schedule if its devices run faster than one, else the schedule for one.

        What prediction leaves out (a busy machine, kernels that keep the interpreter to
        themselves, memory that cores share) is in what was measured. No variable changes.
        """
        self.bound.begin(feeds, variables)
        runs: dict[int, list[Schedule]] = {1: [], max(schedule.used, 1): []}
        for _ in range(REPEATS):
            for devices, found in runs.items():
                spans = self.spans(schedule, devices, quiet=True)
                found.append(self._timed_schedule(schedule, spans))
        middle = {n: sorted(found, key=_makespan)[REPEATS // 2] for n, found in runs.items()}
        trials = tuple(
            replace(t, measured=middle[t.devices].makespan) if t.devices in middle else t
            for t in schedule.trials
        )
        best = min(middle, key=lambda n: middle[n].makespan)
        tasks = schedule.tasks
        if best < schedule.used:
            tasks = list_schedule(self.after, {t.node: t.cost for t in tasks}, best)
        return replace(schedule, tasks=tasks, trials=trials, rehearsal=middle[best])


def _makespan(schedule: Schedule) -> float:
    return schedule.makespan


def _effects(node: Node) -> list[Any]:
    """Return what this node must not overtake: earlier effects of the same kind."""
    found: list[Any] = []
    if node.op in TOUCH_VARIABLES:
        found += node.attrs.get("variables", ()) or node.inputs[:1]
    bodies = (v for v in node.attrs.values() if isinstance(v, Graph))
    if node.op.impure or any(body.effects for body in bodies):
        found.append("outside")
    return found


def sample_feeds(bound: SpecializedProgram) -> dict[Node, Array]:
    """Make values to measure with: numbers from 0 to 1, and 0 for integers.

    GraphError when there is a loop that might not end with them.
    """
    graph = bound.layout.graph
    _refuse_endless(graph)
    random = np.random.default_rng(0)
    found = {}
    for node in graph.placeholders:
        shape: Any = bound.specs[node].shape
        values = random.random(shape) if node.dtype.kind == "f" else np.zeros(shape)
        found[node] = np.asarray(values).astype(node.dtype)[()]
    return found


def _refuse_endless(graph: Graph) -> None:
    graphs = [graph]
    for inner in graphs:  # which grows meanwhile
        for node in inner.nodes:
            if node.op is control.WHILE and node.attrs["max_steps"] is None:
                raise GraphError("schedule_feeds", name=node.name, defined=node.where, ran=here())
            graphs += [v for v in node.attrs.values() if isinstance(v, Graph)]


def costs_by_node(costs: Costs, nodes: list[Node]) -> dict[Node, float]:
    """Return each task's seconds by a mapping (from nodes or names) or a function."""
    if isinstance(costs, Mapping):
        named = {getattr(key, "name", key): value for key, value in costs.items()}
        missing = [n.name for n in nodes if n.name not in named]
        if missing:
            names = ", ".join(missing[:20])
            raise GraphError("schedule_costs", names=names, count=len(missing), ran=here())
        found = {n: named[n.name] for n in nodes}
    elif callable(costs):
        found = {n: costs(n) for n in nodes}
    else:
        raise refuse("schedule", "costs", costs, fill("expect_costs"))
    for node, cost in found.items():
        number = isinstance(cost, (int, float, np.number)) and not isinstance(cost, bool)
        if not (number and cost >= 0 and math.isfinite(cost)):
            raise refuse("schedule", f"costs[{node.name}]", cost, fill("expect_costs"))
    return {node: float(cost) for node, cost in found.items()}

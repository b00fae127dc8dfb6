"""Schedules: which device runs which kernel when, and why it cannot be done sooner.

List scheduling: whenever a device is free it takes, of the kernels whose operands are ready, the
one with the longest path of work still behind it (R. L. Graham, Bounds on multiprocessing timing
anomalies, 1969). Devices are alike, and see the same memory.
"""

from __future__ import annotations

import heapq
import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

from minigrad.diagnostics.errors import VerifyError
from minigrad.diagnostics.messages import Pair, choose, fill
from minigrad.static import Node

__all__ = ["Schedule"]

ROUNDING = 1e-9  # relative: sums of the same costs in another order
SHOWN = 40  # tasks in the text form
EACH = 64  # numbers of devices up to which each is tried; beyond, every doubled one
# For each node its device, start and end, from what each waits for, the costs, and the devices.
Place = Callable[
    [dict[Node, tuple[Node, ...]], dict[Node, float], int], Mapping[Node, tuple[int, float, float]]
]
# What is said of a schedule, by where the lengths of its tasks come from.
SUMMARY = {"given": "schedule_given", "measured": "schedule_measured", "run": "schedule_run"}


@dataclass(frozen=True, slots=True, eq=False)
class Task:
    """One kernel of a schedule: its node, the device, its first and last moment in seconds.

    `after` are the nodes whose tasks it waits for: because it reads their results, or because of
    control dependencies and the order of effects.
    """

    node: Node
    device: int
    start: float
    end: float
    after: tuple[Node, ...] = ()

    @property
    def cost(self) -> float:
        """The duration in seconds."""
        return self.end - self.start


@dataclass(frozen=True, slots=True)
class Trial:
    """The results for one number of devices: the predicted makespan and a measured one.

    `measured` is None where nothing was run: costs that were given are believed.
    """

    devices: int
    predicted: float
    measured: float | None = None


@dataclass(frozen=True, slots=True)
class Bounds:
    """Lower and upper bounds of the makespan, in seconds."""

    path: float
    share: float
    total: float


@dataclass(frozen=True, eq=False, repr=False)
class Schedule:
    """Tasks on devices, predicted or measured: `program.schedule(devices=2)`.

    tasks     in the order of their starts
    devices   how many there are to choose from
    handover  seconds that it takes to hand a task to one of several threads
    trials    what was found for each number of devices; the best of them is used
    costs     where the lengths of the tasks come from: "given"; "measured", one by one;
              "run", side by side
    rehearsal how it went when it was tried, if it was

    >>> import minigrad as mg
    >>> x, Exp = mg.placeholder("x", shape=(3,)), mg.REGISTRY["Exp"]
    >>> program = mg.build_graph(x, mg.exp(x) @ mg.sin(x)).compile()
    >>> schedule = program.schedule(devices=2, costs=lambda node: 2 if node.op is Exp else 1)
    >>> [(task.node.op.name, task.device, task.start, task.end) for task in schedule.tasks]
    [('Exp', 0, 0.0, 2.0), ('Sin', 1, 0.0, 1.0), ('MatMul', 0, 2.0, 3.0)]
    """

    tasks: tuple[Task, ...]
    devices: int
    handover: float = 0.0
    trials: tuple[Trial, ...] = ()
    costs: str = "given"
    runner: Callable[..., Any] | None = None
    rehearsal: Schedule | None = None

    @cached_property
    def makespan(self) -> float:
        """Seconds from the start to the end of the last task."""
        return max((t.end for t in self.tasks), default=0.0)

    @cached_property
    def total(self) -> float:
        """The work of all tasks in seconds: what one device would need."""
        return sum(t.cost for t in self.tasks)

    @property
    def used(self) -> int:
        """The number of devices that run anything."""
        return used_by(self.tasks)

    @property
    def utilisation(self) -> float:
        """The part of the time, from 0 to 1, in which the devices work, taken over all of them."""
        return self.total / (self.makespan * self.devices) if self.makespan else 0.0

    @cached_property
    def _waits(self) -> tuple[dict[Node, tuple[Node, ...]], dict[Node, float], dict[Node, float]]:
        """What each task waits for, its cost, and the longest path from its start to the end."""
        after, costs = {t.node: t.after for t in self.tasks}, {t.node: t.cost for t in self.tasks}
        return after, costs, remaining([*after], after, costs)

    @cached_property
    def critical_path(self) -> tuple[Node, ...]:
        """The chain of tasks that takes longest, in order: the makespan is never less."""
        after, _, rest = self._waits
        followers = _followers(after)
        path, ready = list[Node](), [n for n, needed in after.items() if not needed]
        while ready:
            path.append(max(ready, key=rest.__getitem__))
            ready = followers[path[-1]]
        return tuple(path)

    @cached_property
    def critical(self) -> set[Node]:
        """The tasks on any of the longest chains: several may be equally long."""
        (after, costs, rest), least = self._waits, self.length * (1 - ROUNDING)
        until = remaining([*after][::-1], _followers(after), costs)
        return {n for n in costs if until[n] - costs[n] + rest[n] >= least}

    @cached_property
    def length(self) -> float:
        """The length of the critical path in seconds."""
        return sum(self._waits[1][n] for n in self.critical_path)

    @property
    def bounds(self) -> Bounds:
        """The critical path, the work shared evenly by all devices, and the work of one."""
        return Bounds(self.length, self.total / self.devices, self.total)

    @property
    def gantt(self) -> tuple[tuple[Task, ...], ...]:
        """The tasks of each device, in order."""
        rows: list[list[Task]] = [[] for _ in range(self.devices)]
        for task in self.tasks:
            rows[task.device].append(task)
        return tuple(map(tuple, rows))

    def run(
        self, feed_dict: Mapping[Any, Any] | None = None, scheduler: Any = None
    ) -> tuple[Any, Schedule]:
        """Run the program on as many threads as devices are used.

        Whichever thread is free takes the next task that is ready, in the schedule's order.
        Returns what the program returns, bit for bit, and the schedule as it was measured. Every
        value has memory of its own: in the arena of the program a value may lie where another one
        was that is no longer needed, and on several threads that is not known beforehand.
        scheduler: what `compute` of Dask takes, "threads", "processes" or the client of a cluster;
        then Dask decides which of its workers runs which kernel, with the extra `dask`.
        Raises what the program raises.

        >>> import minigrad as mg
        >>> x = mg.placeholder("x", shape=(3,))
        >>> program = mg.build_graph(x, mg.exp(x).sum() + mg.tanh(x).sum()).compile()
        >>> result, measured = program.schedule(devices=2).run({x: [0.0, 0.0, 0.0]})
        >>> float(result), len(measured.tasks)
        (3.0, 5)
        """
        if self.runner is None:
            raise VerifyError("schedule_bare")
        result: tuple[Any, Schedule] = self.runner(self, feed_dict, scheduler)
        return result

    def verify(self) -> None:
        """Check that no task starts before it can, and that the makespan keeps its bounds.

        Raises VerifyError, which would be a mistake of ours.
        """
        end = {t.node: t.end for t in self.tasks}
        free = [0.0] * self.devices
        for t in self.tasks:
            ready = max([free[t.device], *(end[x] for x in t.after)])
            if not ready <= t.start <= t.end:
                raise VerifyError("schedule_order", name=t.node.name, start=t.start, ready=ready)
            free[t.device] = t.end
        most, low = self.makespan, max(self.bounds.path, self.bounds.share)
        high = self.total if self.costs != "run" else most
        if not low * (1 - ROUNDING) <= most <= high * (1 + ROUNDING):
            raise VerifyError("schedule_bounds", low=low, makespan=most, high=high)

    @property
    def pair(self) -> Pair:
        """The schedule as text, in English and in Chinese."""
        limits = {name: seconds(value) for name, value in asdict(self.bounds).items()}
        limits |= {"nodes": f"{len(self.critical)}", "used": f"{self.utilisation:.0%}"}
        about = {"tasks": len(self.tasks), "devices": self.devices, "used": self.used}
        rows = [
            fill(SUMMARY[self.costs], makespan=seconds(self.makespan), **about),
            fill("schedule_limits", **limits),
        ]
        rows += [self._trial_text(t) for t in self.trials if len(self.trials) > 1]
        rows.append(fill("schedule_head"))
        for t in self.tasks[:SHOWN]:
            mark = "*" if t.node in self.critical else " "
            line = f"{mark} {t.device}  {seconds(t.start):>8}  {seconds(t.cost):>8}  {t.node.name}"
            rows.append((line, line))
        if len(self.tasks) > SHOWN:
            rows.append(fill("schedule_more", count=len(self.tasks) - SHOWN))
        english, chinese = zip(*rows, strict=True)
        return "\n".join(english), "\n".join(chinese)

    def _trial_text(self, trial: Trial) -> Pair:
        key = "schedule_trial" if trial.measured is None else "schedule_tried"
        about: dict[str, Any] = {"devices": trial.devices, "predicted": seconds(trial.predicted)}
        if trial.measured is not None:
            about["measured"] = seconds(trial.measured)
        return fill(key, **about)

    def __str__(self) -> str:
        return choose(self.pair)

    __repr__ = __str__


def seconds(value: float) -> str:
    """Format a time with a fitting unit.

    >>> [seconds(x) for x in (0, 3.2e-7, 0.0000456, 0.01234, 2)]
    ['0', '0.3 µs', '45.6 µs', '12.3 ms', '2 s']
    """
    if value == 0:
        return "0"
    if value < 1e-3:
        return f"{value * 1e6:.1f} µs"
    return f"{value * 1e3:.3g} ms" if value < 1 else f"{value:.4g} s"


def remaining(
    nodes: Sequence[Node], after: Mapping[Node, Sequence[Node]], costs: Mapping[Node, float]
) -> dict[Node, float]:
    """Return for each node the longest path from its start to the end of everything."""
    rest = dict(costs)
    for node in reversed(nodes):
        for x in after[node]:
            rest[x] = max(rest[x], costs[x] + rest[node])
    return rest


def _followers(after: Mapping[Node, Sequence[Node]]) -> dict[Node, list[Node]]:
    found: dict[Node, list[Node]] = defaultdict(list)
    for node, needed in after.items():
        for x in needed:
            found[x].append(node)
    return found


def list_schedule(
    after: Mapping[Node, tuple[Node, ...]],
    costs: Mapping[Node, float],
    devices: int,
    handover: float = 0.0,
) -> tuple[Task, ...]:
    """Place the tasks on this many devices; each waits for a hand-over where there are several.

    `after` holds for each node, in an order in which they can be run, what it waits for.
    """
    nodes = list(after)
    rank = {node: i for i, node in enumerate(nodes)}
    rest, followers = remaining(nodes, after, costs), _followers(after)
    waits = {node: len(needed) for node, needed in after.items()}
    ready = [(-rest[n], rank[n]) for n in nodes if not waits[n]]
    heapq.heapify(ready)
    idle, running = list(range(devices)), list[tuple[float, int, int]]()
    now, delay, tasks = 0.0, handover if devices > 1 else 0.0, list[Task]()
    while ready or running:
        while ready and idle:
            node, device = nodes[heapq.heappop(ready)[1]], heapq.heappop(idle)
            start = now + delay
            tasks.append(Task(node, device, start, start + costs[node], after[node]))
            heapq.heappush(running, (start + costs[node], device, rank[node]))
        now = running[0][0]
        while running and running[0][0] == now:
            _, device, i = heapq.heappop(running)
            heapq.heappush(idle, device)
            for x in followers[nodes[i]]:
                waits[x] -= 1
                if not waits[x]:
                    heapq.heappush(ready, (-rest[x], rank[x]))
    return tuple(tasks)


def used_by(tasks: Iterable[Task]) -> int:
    """Count the devices that these tasks run on."""
    return len({t.device for t in tasks})


def _end_time(tasks: Iterable[Task]) -> float:
    return max((t.end for t in tasks), default=0.0)


def best_schedule(
    after: Mapping[Node, tuple[Node, ...]],
    costs: Mapping[Node, float],
    devices: int,
    handover: float = 0.0,
    source: str = "given",
) -> Schedule:
    """Return the schedule with the least makespan on at most `devices` devices.

    One device hands nothing over, so the makespan never exceeds the total work. Beyond as many
    devices as can be busy at once nothing changes; beyond EACH not every number is tried.
    """
    free = list_schedule(after, costs, max(len(after), 1), handover)
    widest = min(devices, max(used_by(free), 2))  # two already hand tasks over
    doubled = [EACH << i for i in range(1, widest.bit_length()) if EACH << i < widest]
    numbers = [*range(1, min(devices, EACH) + 1), *doubled, widest]
    tried = {n: list_schedule(after, costs, n, handover) for n in sorted(numbers) if n <= widest}
    found = {n: tried[min(n, widest)] for n in numbers}
    best = min(tried.values(), key=_end_time)
    found[used_by(best) or 1] = best
    trials = tuple(Trial(n, _end_time(tasks)) for n, tasks in sorted(found.items()))
    schedule = Schedule(best, devices, handover, trials, source)
    schedule.verify()
    return schedule


def check_placement(
    after: Mapping[Node, tuple[Node, ...]],
    costs: Mapping[Node, float],
    devices: int,
    place: Place,
    source: str = "given",
) -> Schedule:
    """Return the schedule that a function makes; VerifyError if it isn't valid."""
    plan = place(dict(after), dict(costs), devices)
    tasks = []
    for node, cost in costs.items():
        try:
            device, start, end = plan[node]
            near = math.isclose(end - start, cost, rel_tol=ROUNDING, abs_tol=ROUNDING * abs(end))
            fits = device in range(devices) and near
        except (KeyError, TypeError, ValueError):
            fits = False
        if not fits:
            shown = seconds(cost)
            raise VerifyError("schedule_place", name=node.name, last=devices - 1, cost=shown)
        tasks.append(Task(node, int(device), float(start), float(end), after[node]))
    tasks.sort(key=lambda t: (t.start, t.end))
    schedule = Schedule(tuple(tasks), devices, costs=source)
    schedule.verify()
    return schedule

"""A plan of named jobs on workers, as facts that a check compares: `planned`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import ModuleType
from typing import Any, NamedTuple

from minigrad.compiler.schedule.schedule import Schedule, Task, list_schedule
from viz.charts.chart import Chart
from viz.charts.schedule import schedule

__all__ = ["planned"]


class Job(NamedTuple):
    """What a bar is called."""

    name: str


class Planned(dict[str, Any]):
    """What is to be known of a plan, by names."""

    chart: Chart | None = None

    def drawn(self, wrong: str | None = None) -> Chart | None:
        """The plan as bars, if it is another engine's and has places that can be drawn."""
        return self.chart


def planned(
    waits: Mapping[str, Sequence[str]],
    seconds: Mapping[str, float],
    workers: int,
    engine: ModuleType | None = None,
) -> Planned:
    """Jobs left out; for each other what it starts before the end of, and what shares its worker.

    Then its seconds, and last by how much the whole takes longer than list scheduling. waits: the
    jobs that each job waits for; each job stands after those. engine: a learner's, whose `schedule`
    makes the plan; without one, minigrad does. Where a check finds the facts of an engine wrong,
    its plan is drawn.

    >>> facts = planned({"load": [], "train": ["load"]}, {"load": 1, "train": 3}, 2)
    >>> for name, fact in list(facts.items())[4:]:
    ...     print(f"{name}: {fact}")
    train, starts before the end of: []
    train, shares its worker with: []
    train, seconds: 3.0
    all, longer than list scheduling by: 0
    """
    after: Any = {job: tuple(waits[job]) for job in waits}
    best: Any = {t.node: (t.device, t.start, t.end) for t in list_schedule(after, seconds, workers)}  # type: ignore[arg-type]
    copied = {job: list(waits[job]) for job in waits}, dict(seconds)
    plan = engine.schedule(*copied, workers) if engine else best
    found = Planned({"left out of the plan": [job for job in waits if job not in plan]})
    found |= {name: x for job in waits if job in plan for name, x in _facts(job, plan, waits)}
    found["all, longer than list scheduling by"] = max(0, _length(plan) - _length(best))
    for job in waits:
        if job in plan and plan[job][0] not in range(workers):
            found[f"{job} on a worker that is not there"] = plan[job][0]
    found.chart = _chart(plan, waits, workers) if engine else None
    return found


def _length(plan: Mapping[str, Any]) -> float:
    return max((end for _, _, end in plan.values()), default=0.0)


def _facts(
    job: str, plan: Mapping[str, Any], waits: Mapping[str, Sequence[str]]
) -> Iterator[tuple[str, Any]]:
    worker, start, end = plan[job]
    yield f"{job}, starts before the end of", [x for x in waits[job] if _end(plan, x) > start]
    there = [x for x in plan if x != job and plan[x][0] == worker]
    yield (
        f"{job}, shares its worker with",
        [x for x in there if plan[x][1] < end and start < plan[x][2]],
    )
    yield f"{job}, seconds", end - start


def _end(plan: Mapping[str, Any], job: str) -> float:
    return float(plan[job][2]) if job in plan else float("inf")


def _chart(
    plan: Mapping[str, Any], waits: Mapping[str, Sequence[str]], workers: int
) -> Chart | None:
    jobs = [job for job in waits if job in plan]
    placed = [plan[job] for job in jobs]
    if not all(place in range(workers) and 0 <= start <= end for place, start, end in placed):
        return None
    bars: Any = {job: Job(job) for job in jobs}  # in the place of nodes
    tasks = []
    for job in jobs:
        worker, start, end = plan[job]
        after = tuple(bars[x] for x in waits[job] if x in bars)
        tasks.append(Task(bars[job], worker, start, end, after))
    return schedule(Schedule(tuple(tasks), workers))
